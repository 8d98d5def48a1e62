//! SQL whose plain counts are tables in memory, counted before it runs.

use super::plain::{Key, plain_counts};
use super::rows::{Counter, count_rows};
use crate::aggregate::empty_join::{WithoutRows, joins_no_rows};
use crate::aggregate::error::AggregateError;
use crate::aggregate::meaning::execute;
use crate::aggregate::tables::{SnapshotFiles, Tables, collect, register_tables};
use crate::table::{Table, TableError};
use polars::error::PolarsError;
use polars::frame::DataFrame;
use polars::prelude::{Column, DataType, IntoLazy as _, LazyFrame, NamedFrom as _, Series};
use polars::sql::extract_table_identifiers;
use std::collections::BTreeMap;

/// Files of this size together are read at once, which takes up to half the time: about 1.3 million rows of an aggregate, or 70,000
/// filings.
const MOST_IN_MEMORY: u64 = 2 << 20;

/// The rows of a query, in the types of the SQL engine.
pub(in crate::aggregate) fn rows_of(
    name: &str,
    sql: &str,
    tables: &SnapshotFiles,
) -> Result<DataFrame, AggregateError> {
    let failed = |error| AggregateError::Sql { aggregate: name.to_owned(), error };
    let unreadable = |error: TableError| PolarsError::ComputeError(error.to_string().into());
    if joins_no_rows(sql, tables).map_err(unreadable).map_err(failed)? {
        let mut context = register_tables(name, sql, &WithoutRows(tables))?;
        return execute(&mut context, sql).and_then(LazyFrame::collect).map_err(failed);
    }
    let (sql, counted) = with_counts(sql, tables).map_err(failed)?;
    let mut context = register_tables(name, &sql, &counted)?;
    let query = execute(&mut context, &sql).map_err(failed)?;
    let bytes = bytes_read(&sql, tables).map_err(failed)?;
    if bytes <= MOST_IN_MEMORY { query.collect() } else { collect(query) }.map_err(failed)
}

/// Size of the files that a query reads.
fn bytes_read(sql: &str, tables: &SnapshotFiles) -> Result<u64, PolarsError> {
    let names = extract_table_identifiers(sql, false, true)?;
    let files = names.iter().filter_map(|name| tables.get(name)).flatten();
    files.map(|file| Ok(std::fs::metadata(file)?.len())).sum()
}

/// The tables of a snapshot, and counts of its filings.
struct WithCounts<'t> {
    tables: &'t SnapshotFiles,
    counts: BTreeMap<String, DataFrame>,
}

/// The SQL with a table in place of each plain count, and the tables.
fn with_counts<'t>(sql: &str, tables: &'t SnapshotFiles) -> Result<(String, WithCounts<'t>), PolarsError> {
    let mut replaced = sql.to_owned();
    let mut counts = BTreeMap::new();
    let files = tables.get(Table::Filings.name()).map_or(&[][..], Vec::as_slice);
    let found = if files.is_empty() { Vec::new() } else { plain_counts(sql) };
    // From the end, so that the places before stay.
    for (at, count) in found.iter().enumerate().rev() {
        let name = format!("counted_filings_{at}");
        let failed = |error| PolarsError::ComputeError(format!("{error}").into());
        let counted = count_rows(files, &count.keys).map_err(failed)?;
        replaced.replace_range(count.place.clone(), &format!("SELECT * FROM {name}"));
        counts.insert(name, frame(&count.keys, &counted)?);
    }
    Ok((replaced, WithCounts { tables, counts }))
}

impl Tables for WithCounts<'_> {
    fn scan(&self, table: &str) -> Option<Result<LazyFrame, PolarsError>> {
        match self.counts.get(table) {
            Some(counted) => Some(Ok(counted.clone().lazy())),
            None => self.tables.scan(table),
        }
    }

    fn names(&self) -> Vec<&str> {
        self.tables.names()
    }
}

fn frame(keys: &[Key], counted: &Counter<'_>) -> Result<DataFrame, PolarsError> {
    let column = |(at, key): (usize, &Key)| match key {
        Key::Day => {
            Series::new(key.name().into(), counted.days(at).collect::<Vec<_>>()).cast(&DataType::Date)
        }
        Key::Month | Key::Text(_) => {
            Ok(Series::new(key.name().into(), counted.texts(at).collect::<Vec<_>>()))
        }
    };
    let mut columns: Vec<Column> =
        keys.iter().enumerate().map(|key| column(key).map(Column::from)).collect::<Result<_, _>>()?;
    columns.push(Series::new("filings".into(), counted.rows().collect::<Vec<_>>()).into());
    DataFrame::new_infer_height(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::tiny_lake::{TinyLake, row};

    const MONTH: &str = "SUBSTR(CAST(f.filed_date AS STRING), 1, 7)";

    /// A lake of several files, in which days, counties and ZIP codes repeat, some null.
    fn lake() -> TinyLake {
        let filing = |at: usize| {
            let day = format!("2026-{:02}-{:02}", 12 - at / 40, 28 - at % 3);
            let mut cells =
                row([("filed_date", &day), ("listed", if at.is_multiple_of(11) { "false" } else { "true" })]);
            if !at.is_multiple_of(3) {
                cells.insert("county", ["Bay", "Lee", "Duval"][at % 5 % 3].to_owned());
            }
            cells.insert("zip", format!("3{}", at % 2));
            cells
        };
        let mut all = TinyLake::of([(Table::Filings, Vec::new())]);
        let mut files = Vec::new();
        for part in 0..5 {
            let lake = TinyLake::of([(Table::Filings, (part * 60..part * 60 + 60).map(filing).collect())]);
            let to = all.dir.path().join(format!("part-{part}.parquet"));
            std::fs::copy(&lake.tables["filings"][0], &to).expect("a copy");
            files.push(to);
        }
        all.tables.insert("filings".to_owned(), files);
        all
    }

    #[test]
    fn a_plain_count_gives_what_the_engine_gives() {
        let lake = lake();
        let month = (format!("{MONTH} AS filed_month"), MONTH, "f.filed_month");
        for (column, by, name) in [("f.filed_date".to_owned(), "f.filed_date", "f.filed_date"), month] {
            let of = |listed| {
                format!(
                    "WITH a AS (SELECT {column}, f.county, f.zip, COUNT(*) AS filings FROM filings f {listed} \
                     GROUP BY {by}, f.county, f.zip) \
                     SELECT {name}, f.county, f.zip, CAST(f.filings AS BIGINT) AS filings FROM a f \
                     ORDER BY {name}, f.county, f.zip"
                )
            };
            // The engine runs every other form.
            let (counted, by_engine) = (of("WHERE f.listed"), of("WHERE f.listed AND TRUE"));
            assert_eq!((plain_counts(&counted).len(), plain_counts(&by_engine).len()), (1, 0));
            let [counted, ran] = [counted, by_engine].map(|sql| {
                let file = lake.run("mine", &sql).expect("runs");
                assert!((20..272).contains(&file.rows), "{} rows of which some repeat", file.rows);
                std::fs::read(&file.path).expect("bytes")
            });
            assert!(counted == ran, "{name}");
        }
    }

    #[test]
    fn the_shipped_aggregates_of_filings_are_counted_so() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/aggregates");
        let shipped = crate::aggregate::run::load_aggregates(&folder).expect("the shipped ones");
        let counted = shipped.iter().filter(|(_, sql)| plain_counts(sql).len() == 1);
        let names: Vec<&str> = counted.map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["city_month", "county_type_day", "sector_county_month", "zip3_month"]);
    }
}
