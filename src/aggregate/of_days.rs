//! Aggregates of the filings of some days: only the months of those days are read.
//!
//! A line in the head of a file says so, by a condition on the table `days`. The SQL itself must leave out other days:
//!
//! ```sql
//! -- Of days: days_ago >= 0 AND days_ago < 365
//! ```

use super::answer::rows_of;
use super::error::AggregateError;
use super::tables::{SnapshotFiles, month_of_file};
use crate::table::Table;
use std::collections::BTreeSet;
use std::path::Path;

/// The tables, of the filings only those of months that have a day of the condition.
pub(super) fn tables_of_days(
    name: &str,
    condition: &str,
    tables: &SnapshotFiles,
) -> Result<SnapshotFiles, AggregateError> {
    let months = months_of(name, condition, tables)?;
    let is_read = |file: &Path| month_of_file(file).is_none_or(|month| months.contains(&month.to_string()));
    let mut tables = tables.clone();
    if let Some(files) = tables.get_mut(Table::Filings.name()) {
        // A file without rows has the columns all the same.
        let first = files.first().cloned();
        files.retain(|file| is_read(file));
        if files.is_empty() {
            files.extend(first);
        }
    }
    Ok(tables)
}

fn months_of(
    name: &str,
    condition: &str,
    tables: &SnapshotFiles,
) -> Result<BTreeSet<String>, AggregateError> {
    let sql = format!("SELECT DISTINCT filed_month FROM days WHERE {condition}");
    let rows = rows_of(name, &sql, tables)?;
    let months = rows.column("filed_month").and_then(|column| column.str());
    let months = months.map_err(|error| AggregateError::of_sql(name, error))?;
    Ok(months.iter().flatten().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::super::tiny_lake::{TinyLake, row};
    use super::*;

    #[test]
    fn months_without_a_day_of_the_condition_are_not_read() {
        let day = |day| row([("filed_date", day), ("listed", "true")]);
        let old = TinyLake::of([(Table::Filings, vec![day("2026-05-30")])]);
        let mut lake =
            TinyLake::of([(Table::Filings, vec![day("2026-05-30"), day("2026-07-31"), day("2026-07-30")])]);
        let folder = |month: &str| lake.dir.path().join(format!("filed_month={month}"));
        let files = ["2026-05", "2026-07"].map(|month| folder(month).join("part.parquet"));
        for (file, from) in files.iter().zip([&old, &lake]) {
            std::fs::create_dir(file.parent().expect("a folder")).expect("a folder");
            std::fs::copy(&from.tables["filings"][0], file).expect("a copy");
        }
        lake.tables.insert("filings".to_owned(), files.to_vec());
        let read = |condition: &str| {
            tables_of_days("mine", condition, &lake.tables).expect("days")["filings"].clone()
        };
        assert_eq!(read("days_ago >= 0 AND days_ago < 10"), files[1..]);
        assert_eq!(read("days_ago >= 0 AND days_ago < 365"), files);
        assert_eq!(read("days_ago > 365"), files[..1], "one file has the columns");
        let error = tables_of_days("mine", "ago < 3", &lake.tables).expect_err("no such column");
        assert!(error.to_string().contains("mine.sql"), "{error}");
    }
}
