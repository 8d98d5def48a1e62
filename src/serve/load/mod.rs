//! A snapshot folder of the lake → an index.
//!
//! | file | knows |
//! | --- | --- |
//! | `files.rs` | which files a snapshot has |
//! | `filings.rs`, `batch.rs` | filings, a column at a time; columns by name and type |
//! | `rows.rs` | rows of the other tables, one at a time |
//! | `details.rs`, `lists.rs` | what look-ups gave; the API's lists |

mod batch;
mod details;
mod files;
mod filings;
mod lists;
mod rows;

use super::index::Index;
use super::index::builder::{IndexBuilder, IndexError};
use crate::lake::LakeError;
use crate::table::{Table, TableError};
use parquet::errors::ParquetError;
use std::path::{Path, PathBuf};

/// Why a snapshot could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A folder or file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not Parquet, or damaged.
    #[error("{path} is not a sound Parquet file: {source}")]
    Damaged {
        /// Where.
        path: PathBuf,
        /// Why.
        source: ParquetError,
    },
    /// A file is not what was committed.
    #[error(transparent)]
    Unsound(#[from] LakeError),
    /// A column is missing or has another type.
    #[error("{path} has no column {column:?} of type {wanted}; it was written with another schema")]
    Column {
        /// Where.
        path: PathBuf,
        /// Name on disk.
        column: &'static str,
        /// The type asked for.
        wanted: &'static str,
    },
    /// The rows of a file are not those of its table.
    #[error("the rows of {path} are not those of its table: {source}")]
    Table {
        /// Where.
        path: PathBuf,
        /// Why.
        source: Box<TableError>,
    },
    /// The folder has no filings.
    #[error("{0} has no filings folder; is it a snapshot of a lake?")]
    NoFilings(PathBuf),
    /// The rows contradict each other.
    #[error("the filings of {path} make no index: {source}")]
    Rows {
        /// The snapshot.
        path: PathBuf,
        /// Why.
        source: IndexError,
    },
}

impl LoadError {
    fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }

    fn damaged(path: &Path, source: ParquetError) -> Self {
        Self::Damaged { path: path.to_owned(), source }
    }
}

/// Loads a snapshot: its filings, and whatever it has of details, officers, counties and industries.
///
/// # Errors
/// [`LoadError`], naming the file.
pub fn load_snapshot(snapshot: &Path) -> Result<Index, LoadError> {
    let mut builder = IndexBuilder::default();
    if !files::folder(snapshot, Table::Filings).is_dir() {
        return Err(LoadError::NoFilings(snapshot.to_owned()));
    }
    builder.set_identity(files::identity(snapshot)?);
    filings::load_filings(snapshot, &mut builder)?;
    details::load_details(snapshot, &mut builder)?;
    details::load_officers(snapshot, &mut builder)?;
    builder.set_counties(lists::load_counties(snapshot)?);
    let industries = lists::load_industries(snapshot)?;
    if !industries.sectors.is_empty() {
        builder.set_industries(industries);
    }
    builder.finish().map_err(|source| LoadError::Rows { path: snapshot.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Row, filing, write_table as write};
    use super::super::index::CountyName;
    use super::*;
    use crate::contract::id::BusinessIdParam;
    use jiff::civil::date;

    #[test]
    fn a_snapshot_is_read_with_its_newest_lists_and_vanished_rows_are_found_by_id_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = folder.path();
        let july = [filing("2", "2026-07-31", "true"), filing("3", "2026-07-31", "false")];
        write(snapshot, Table::Filings, "filed_month=2026-07/part-a.parquet", &july);
        let june = [filing("1", "2026-06-30", "true")];
        write(snapshot, Table::Filings, "filed_month=2026-06/part-b.parquet", &june);
        write(
            snapshot,
            Table::Details,
            "d.parquet",
            &[Row::from([("business_id", "1"), ("officer_count", "1")])],
        );
        let officer = Row::from([("business_id", "1"), ("name", "A"), ("title", "MGR")]);
        write(snapshot, Table::Officers, "o.parquet", &[officer]);
        let county = |day, key| Row::from([("observed_on", day), ("key", key), ("name", key)]);
        write(
            snapshot,
            Table::Counties,
            "c.parquet",
            &[county("2026-07-30", "OLD"), county("2026-07-31", "BAY")],
        );
        let kind = |kind| Row::from([("observed_on", "2026-07-31"), ("sector", "food"), ("type", kind)]);
        write(snapshot, Table::IndustryTypes, "i.parquet", &[kind("food.cafe"), kind("food.bar")]);

        let index = load_snapshot(snapshot).expect("an index");
        assert_eq!((index.rows(), index.listed_on(date(2026, 7, 31))), (3, 1));
        assert_eq!(index.listed_on(date(2026, 6, 30)), 1);
        let row = |id| index.row_of_id(BusinessIdParam::parse(id).expect("an id"));
        assert_eq!(row("3").map(|row| index.columns.ids[row as usize]), Some(3));
        assert_eq!(index.officers_of(row("1").expect("a row")), Some("[{\"name\":\"A\",\"title\":\"MGR\"}]"));
        assert!(index.detail_json(row("1").expect("a row")).is_some());
        assert!(index.detail_json(row("2").expect("a row")).is_none());
        assert_eq!(index.county_names, [CountyName { key: "BAY".to_owned(), name: "BAY".to_owned() }]);
        assert_eq!(index.industries().sectors[0].types, ["food.bar", "food.cafe"]);
        assert_eq!(index.stats(date(2026, 7, 31)).updated_at, "2026-07-31T16:00:00Z");
        assert_eq!(index.stats(date(2026, 7, 31)).businesses_total, 2);
    }

    #[test]
    fn what_is_no_snapshot_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(load_snapshot(folder.path()), Err(LoadError::NoFilings(_))));
        let twice = [filing("2", "2026-07-31", "true"), filing("2", "2026-07-30", "true")];
        write(folder.path(), Table::Filings, "f.parquet", &twice);
        let error = load_snapshot(folder.path()).expect_err("a duplicate");
        assert!(error.to_string().contains("business 2 occurs twice"), "{error}");
        std::fs::write(folder.path().join("filings/f.parquet"), "no parquet").expect("written");
        assert!(matches!(load_snapshot(folder.path()), Err(LoadError::Damaged { .. })));
    }
}
