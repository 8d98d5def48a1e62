//! Aggregates whose rows of a month come from the filings of that month alone: only months that changed are computed again.
//!
//! A line in the head of a file says so:
//!
//! ```sql
//! -- By month: only months whose filings changed are computed again
//! ```
//!
//! Its SQL reads `filings` alone. Its first column is the month (`YYYY-MM`) or the day, and its rows are ordered by that column
//! first, newest first.

use super::dialect::tables_named;
use super::error::AggregateError;
use super::on_disk;
use super::run::{AggregateFile, TABLE_PREFIX, head_comment, result_of, write_result};
use super::tables::SnapshotFiles;
use crate::table::Table;
use polars::error::PolarsError;
use polars::frame::DataFrame;
use polars::prelude::{DataType, SortMultipleOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const HEAD: &str = "By month: ";

/// Digest by which a later run knows that an aggregate was computed by the same SQL and the same program.
pub(crate) fn digest(sql: &str) -> String {
    let text = [env!("CARGO_PKG_VERSION"), sql].join("\n");
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Whether only months that changed need to be computed again.
pub(crate) fn is_by_month(sql: &str) -> bool {
    let reads = tables_named(sql).unwrap_or_default();
    let is_table = |name: &str| name.starts_with(TABLE_PREFIX) || Table::from_name(name).is_some();
    let reads_filings_alone = reads.iter().all(|table| table == "filings" || !is_table(table));
    reads_filings_alone && head_comment(sql).lines().any(|line| line.starts_with(HEAD))
}

/// Computes the months that changed, and takes the rows of the others from `before`, the aggregate's file in the parent snapshot.
/// `changed`: months (`YYYY-MM`) with their files of filings now. Gives the same bytes as `run_aggregate` over all filings.
pub(crate) fn run_changed_months(
    name: &str,
    sql: &str,
    before: &Path,
    changed: &BTreeMap<String, Vec<PathBuf>>,
    out: &Path,
) -> Result<AggregateFile, AggregateError> {
    let failed = |error: PolarsError| AggregateError::of_sql(name, error);
    let months: BTreeSet<&str> = changed.keys().map(String::as_str).collect();
    let mut rows = without(on_disk::read(before)?, &months).map_err(failed)?;
    let filings: Vec<PathBuf> = changed.values().flatten().cloned().collect();
    if !filings.is_empty() {
        let tables = SnapshotFiles::from([("filings".to_owned(), filings)]);
        let computed = result_of(name, sql, &tables)?;
        rows.vstack_mut(&computed).map_err(failed)?;
    }
    write_result(name, newest_first(rows).map_err(failed)?, out)
}

/// The rows of the other months.
fn without(rows: DataFrame, months: &BTreeSet<&str>) -> Result<DataFrame, PolarsError> {
    let Some(first) = rows.columns().first() else { return Ok(rows) };
    let text = first.cast(&DataType::String)?;
    let is_kept =
        |cell: Option<&str>| !cell.and_then(|text| text.get(..7)).is_some_and(|month| months.contains(month));
    rows.filter(&text.str()?.iter().map(is_kept).collect())
}

/// The rows by month or day. A month has all its rows from one place, so that their order stays.
fn newest_first(rows: DataFrame) -> Result<DataFrame, PolarsError> {
    let Some(first) = rows.get_column_names().first().map(|name| (*name).clone()) else { return Ok(rows) };
    let order = SortMultipleOptions::default().with_order_descending(true).with_maintain_order(true);
    rows.sort([first], order)
}

#[cfg(test)]
mod tests {
    use super::super::tiny_lake::{TinyLake, row};
    use super::*;
    use crate::aggregate::run::load_aggregates;

    /// A lake with one filing on each day, in its county.
    fn lake(filings: &[(&str, &str)]) -> TinyLake {
        let filing = |(day, county): &(&str, &str)| {
            row([("filed_date", *day), ("county", *county), ("entity_type", "llc"), ("listed", "true")])
        };
        TinyLake::of([(Table::Filings, filings.iter().map(filing).collect())])
    }

    #[test]
    fn months_that_changed_and_the_others_give_the_bytes_of_a_full_computation() {
        let before =
            [("2026-05-30", "Bay"), ("2026-06-01", "Bay"), ("2026-06-02", "Lee"), ("2026-07-09", "")];
        let june = [("2026-06-03", "Lee"), ("2026-06-02", "Lee"), ("2026-06-02", "Duval")];
        let after = [&before[..1], &june, &before[3..]].concat();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/aggregates");
        let shipped = load_aggregates(&folder).expect("the shipped ones");
        let mut compared = 0;
        for (name, sql) in shipped.iter().filter(|(_, sql)| is_by_month(sql)) {
            let old = lake(&before).run(name, sql).map(|file| std::fs::read(file.path).expect("a file"));
            let (new, of_june) = (lake(&after), lake(&june));
            let full = std::fs::read(new.run(name, sql).expect(name).path).expect("a file");
            let kept = new.dir.path().join("before.parquet");
            std::fs::write(&kept, old.expect(name)).expect("a file");
            let changed = BTreeMap::from([("2026-06".to_owned(), of_june.tables["filings"].clone())]);
            let again = run_changed_months(name, sql, &kept, &changed, new.dir.path()).expect(name);
            assert_eq!(std::fs::read(again.path).expect("a file"), full, "{name}");
            compared += 1;
        }
        assert_eq!(compared, 4, "aggregates by month");
    }

    #[test]
    fn a_month_without_filings_leaves_no_rows() {
        let sql = "-- By month: yes\nSELECT filed_date, COUNT(*) AS filings FROM filings GROUP BY filed_date ORDER BY filed_date DESC";
        let lake = lake(&[("2026-06-01", "Bay"), ("2026-05-01", "Bay")]);
        let before = lake.run("mine", sql).expect("rows").path;
        let changed = BTreeMap::from([("2026-06".to_owned(), Vec::new())]);
        let left = run_changed_months("mine", sql, &before, &changed, lake.dir.path()).expect("rows");
        assert_eq!(left.rows, 1);
    }

    #[test]
    fn sql_that_reads_another_table_is_computed_from_all_filings() {
        let head = "-- What?\n-- By month: only months whose filings changed are computed again\n";
        let is_by_month = |sql: &str| is_by_month(&format!("{head}{sql}"));
        assert!(is_by_month("WITH a AS (SELECT * FROM filings) SELECT * FROM a"));
        assert!(!is_by_month("SELECT * FROM filings f JOIN days d ON d.filed_date = f.filed_date"));
        assert!(!is_by_month("SELECT * FROM agg_city_month"));
        assert!(!super::is_by_month("SELECT * FROM filings"));
    }
}
