//! Reads the SQL files of a folder, runs one over a snapshot's files and writes the result.
//!
//! A line in the head of a file says to what its aggregate adds up; both sides are SQL that returns one integer:
//!
//! ```sql
//! -- Adds up: SELECT SUM(filings) FROM agg_county_type_day equals SELECT COUNT(*) FROM filings WHERE listed
//! ```

use super::answer::rows_of;
use super::error::AggregateError;
use super::of_days::tables_of_days;
use super::tables::SnapshotFiles;
use polars::frame::DataFrame;
use polars::prelude::DataType;
use std::path::{Path, PathBuf};

/// A written aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregateFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its rows.
    pub rows: u64,
}

/// Runs one aggregate over the files of the snapshot's tables and writes `<out>/agg_<name>.parquet`.
///
/// Only the tables that the SQL names must exist. The same tables give the same bytes.
pub fn run_aggregate(
    name: &str,
    sql: &str,
    tables: &SnapshotFiles,
    out: &Path,
) -> Result<AggregateFile, AggregateError> {
    write_result(name, result_of(name, sql, tables)?, out)
}

/// The rows of an aggregate.
pub(super) fn result_of(name: &str, sql: &str, tables: &SnapshotFiles) -> Result<DataFrame, AggregateError> {
    let head = head_comment(sql);
    let days = head.lines().find_map(|line| line.strip_prefix(OF_DAYS));
    let some_days = days.map(|days| tables_of_days(name, days, tables)).transpose()?;
    rows_of(name, sql, some_days.as_ref().unwrap_or(tables))
}

/// Writes `<out>/agg_<name>.parquet`.
pub(super) fn write_result(
    name: &str,
    mut rows: DataFrame,
    out: &Path,
) -> Result<AggregateFile, AggregateError> {
    let path = out.join(format!("{TABLE_PREFIX}{name}.parquet"));
    let rows = super::on_disk::write(&mut rows, &path)?;
    Ok(AggregateFile { path, rows })
}

/// Prefix of every aggregate's table name.
pub(crate) const TABLE_PREFIX: &str = "agg_";

/// The aggregates of a folder: name and SQL of each `*.sql` file, by name. Other files are ignored.
pub fn load_aggregates(dir: &Path) -> Result<Vec<(String, String)>, AggregateError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| AggregateError::Unreadable { path, source }
    };
    let mut aggregates = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(unreadable(dir))? {
        let path = entry.map_err(unreadable(dir))?.path();
        if path.extension().is_none_or(|extension| extension != "sql") {
            continue;
        }
        let name = aggregate_name(&path)?;
        let sql = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        // A byte order mark is not SQL.
        aggregates.push((name, sql.trim_start_matches('\u{feff}').to_owned()));
    }
    aggregates.sort();
    Ok(aggregates)
}

/// The comment at the head of an aggregate's SQL without its `--`: a question, then its columns.
pub(crate) fn head_comment(sql: &str) -> String {
    let lines = sql.lines().map_while(|line| line.strip_prefix("--"));
    let plain = lines.map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    plain.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn aggregate_name(path: &Path) -> Result<String, AggregateError> {
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    let name = path.file_stem().and_then(|stem| stem.to_str()).filter(is_name);
    name.map(str::to_owned).ok_or_else(|| AggregateError::BadName { path: path.to_owned() })
}

const OF_DAYS: &str = "Of days: ";
const HEAD: &str = "-- Adds up: ";
const BETWEEN: &str = " equals ";

/// The two sides of an aggregate's sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) aggregate: i64,
    pub(crate) source: i64,
}

/// Both sides of an aggregate's sum; none where its SQL has no such line. `tables` are the snapshot's, with the aggregate
/// among them.
pub(crate) fn check_sum(
    name: &str,
    sql: &str,
    tables: &SnapshotFiles,
) -> Result<Option<Sum>, AggregateError> {
    let line = sql.lines().map_while(|line| line.starts_with("--").then_some(line));
    let sides = line.filter_map(|line| line.strip_prefix(HEAD)?.split_once(BETWEEN)).next();
    let Some((aggregate, source)) = sides else { return Ok(None) };
    Ok(Some(Sum { aggregate: number(name, aggregate, tables)?, source: number(name, source, tables)? }))
}

fn number(name: &str, sql: &str, tables: &SnapshotFiles) -> Result<i64, AggregateError> {
    let result = rows_of(name, sql, tables)?;
    let column = result.columns().first().map(|column| column.cast(&DataType::Int64)).transpose();
    let column = column.map_err(|error| AggregateError::of_sql(name, error))?;
    // An empty aggregate has no sum.
    Ok(column.and_then(|column| column.i64().ok().and_then(|cells| cells.first())).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::tiny_lake::{TinyLake, row};
    use crate::table::Table;
    use std::collections::BTreeMap;

    #[test]
    fn missing_table_is_named_with_the_file_that_reads_it() {
        let lake = TinyLake::default();
        let error = lake.run("mine", "SELECT x FROM nowhere").expect_err("no such table");
        assert!(
            matches!(&error, AggregateError::MissingTable { table, .. } if table == "nowhere"),
            "{error}"
        );
        assert!(error.to_string().contains("mine.sql"), "{error}");
        assert!(error.hint().is_some_and(|known| known.contains("filings")), "says what there is");
    }

    #[test]
    fn table_without_files_is_missing() {
        let lake = TinyLake::default();
        let tables = BTreeMap::from([("filings".to_owned(), Vec::new())]);
        let error =
            run_aggregate("mine", "SELECT id FROM filings", &tables, lake.dir.path()).expect_err("no files");
        assert!(matches!(error, AggregateError::MissingTable { .. }), "{error}");
    }

    #[test]
    fn wrong_sql_names_its_file() {
        let lake = TinyLake::default();
        for sql in
            ["SELEKT 1", "SELECT nothing FROM filings", "", "SELECT 1 FROM filings; SELECT 2 FROM filings"]
        {
            let error = lake.run("broken", sql).expect_err(sql);
            assert!(error.to_string().contains("broken.sql"), "{error}");
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            let error = error.of_folder(Path::new("pipelines/aggregates"));
            assert!(error.to_string().contains("pipelines/aggregates/broken.sql"), "{error}");
        }
    }

    #[test]
    fn folder_gives_sql_files_by_name_and_refuses_other_names() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text) in [("b_2.sql", "two"), ("a.sql", "one"), ("README.md", "no")] {
            std::fs::write(dir.path().join(name), text).expect("a file");
        }
        let pair = |name: &str, sql: &str| (name.to_owned(), sql.to_owned());
        assert_eq!(load_aggregates(dir.path()).expect("names"), [pair("a", "one"), pair("b_2", "two")]);
        std::fs::write(dir.path().join("Top-10.sql"), "x").expect("a file");
        let error = load_aggregates(dir.path()).expect_err("a bad name");
        assert!(error.to_string().contains("Top-10.sql"), "{error}");
        assert!(matches!(load_aggregates(&dir.path().join("no")), Err(AggregateError::Unreadable { .. })));
    }

    #[test]
    fn same_tables_give_the_same_bytes_whatever_the_order_of_groups() {
        let of_city = |at: i32| row([("city", format!("City {at}").as_str()), ("filed_date", "2026-07-31")]);
        let lake = TinyLake::of([(Table::Filings, (0..400).map(of_city).collect())]);
        for (what, sql) in [
            ("sums of floats", "SELECT SUM(x * x) AS a, AVG(x) AS b, STDDEV(x) AS c FROM parts"),
            (
                "sums of some",
                "SELECT SQRT(SUM(CASE WHEN x > 3 THEN x * x END)) AS a FROM parts WHERE n < 400",
            ),
            ("sums of groups", "SELECT n, SUM(x * x) AS a, AVG(x) AS b FROM parts GROUP BY n"),
            (
                "windows",
                "SELECT city, SUM(x) OVER () AS a, AVG(x) OVER (ORDER BY n) AS b FROM parts ORDER BY city",
            ),
            ("equal rows in order", "SELECT city FROM parts ORDER BY n"),
            ("the first of equal rows", "SELECT city FROM parts ORDER BY n LIMIT 7"),
            ("no order", "SELECT DISTINCT p.city FROM parts p JOIN parts q ON p.n = q.n"),
        ] {
            let parts = "WITH parts AS (SELECT city, COUNT(*) AS n, LN(CAST(SUBSTR(city, 6) AS DOUBLE) + 0.1) AS x \
                         FROM filings GROUP BY city)";
            let sql = format!("{parts} {sql}");
            let read = || std::fs::read(lake.run("mine", &sql).expect("runs").path).expect("bytes");
            let first = read();
            assert!((0..10).all(|_| read() == first), "{what}");
        }
    }
}
