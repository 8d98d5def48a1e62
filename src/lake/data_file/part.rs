//! One Parquet file of a snapshot: written, opened again, checked. [`crate::table`] knows its layout.

use crate::contract::eastern::day_of_epoch;
use crate::lake::backend::disk::{self, Storage, StoredFile};
use crate::lake::error::LakeError;
use crate::table::{self, FileLayout, FilingColumns, Footer, ParquetFile, Sink, Table};
use arrow::array::AsArray;
use arrow::compute;
use arrow::datatypes::{Date32Type, SchemaRef};
use arrow::record_batch::RecordBatch;
use jiff::civil::Date;
use std::io;
use std::path::Path;

/// Facts about a written and checked file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartInfo {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) blake3: String,
    pub(crate) min_filed_date: Option<Date>,
    pub(crate) max_filed_date: Option<Date>,
}

impl Sink for StoredFile {
    fn sync(&mut self) -> io::Result<()> {
        StoredFile::sync(self).map_err(|error| match error {
            LakeError::Storage { source, .. } => source,
            other => io::Error::other(other),
        })
    }
}

/// Writes sorted rows to `path`, syncs the file, opens it again and checks it. `table` is none for an aggregate.
///
/// The same rows and key values give the same bytes.
pub(crate) fn write_part(
    storage: &Storage,
    table: Option<Table>,
    rows: &RecordBatch,
    path: &Path,
    key_values: &[(&str, String)],
) -> Result<PartInfo, LakeError> {
    let layout = match table {
        Some(table) => FileLayout::from(table),
        None => FileLayout::new(rows.schema())?,
    };
    let mut file = ParquetFile::on(storage.create(path)?, layout, path, key_values)?;
    file.write(rows)?;
    let written = file.finish()?;
    let info = inspect_part(path)?;
    if (info.rows, info.bytes) != (written.rows, written.bytes) {
        let what = format!("{} rows written, {} found", written.rows, info.rows);
        return Err(LakeError::damaged(path, what));
    }
    let (min_filed_date, max_filed_date) = filed_dates(rows);
    Ok(PartInfo { min_filed_date, max_filed_date, ..info })
}

/// Rows, size and digest of a file on the disk. An unreadable footer is an error.
fn inspect_part(path: &Path) -> Result<PartInfo, LakeError> {
    let (bytes, blake3) = disk::digest(path)?;
    let rows = Footer::open(path)?.rows();
    Ok(PartInfo { rows, bytes, blake3, min_filed_date: None, max_filed_date: None })
}

/// The oldest and the newest filing date of rows; none without that column.
pub(crate) fn filed_dates(rows: &RecordBatch) -> (Option<Date>, Option<Date>) {
    let dates = rows.column_by_name("filed_date").and_then(|column| column.as_primitive_opt::<Date32Type>());
    (dates.and_then(compute::min).and_then(day_of_epoch), dates.and_then(compute::max).and_then(day_of_epoch))
}

/// The columns of a file, from its footer.
pub(crate) fn read_schema(path: &Path) -> Result<SchemaRef, LakeError> {
    Ok(Footer::open(path)?.schema().clone())
}

/// The description in an aggregate's file; empty without one.
pub(crate) fn about(path: &Path) -> Result<String, LakeError> {
    Ok(Footer::open(path)?.key_value(table::ABOUT_KEY).unwrap_or_default().to_owned())
}

/// All rows of a file, with all columns or the named ones.
pub(crate) fn read_part(path: &Path, projection: Option<&[&str]>) -> Result<RecordBatch, LakeError> {
    Ok(table::read_batch(path, projection)?)
}

/// The business id of every filing in a file.
pub(crate) fn business_ids(path: &Path) -> Result<Vec<i64>, LakeError> {
    let rows = read_part(path, Some(&["business_id"]))?;
    Ok(FilingColumns::new(&rows).business_id()?.values().to_vec())
}

/// Which of `ids` (sorted) are in the file. Footer and bloom filters exclude most files before a column is read.
pub(crate) fn ids_in_part(path: &Path, ids: &[i64]) -> Result<Vec<i64>, LakeError> {
    if !Footer::open(path)?.may_hold_any("business_id", ids)? {
        return Ok(Vec::new());
    }
    let mut found = business_ids(path)?;
    found.retain(|id| ids.binary_search(id).is_ok());
    found.sort_unstable();
    Ok(found)
}

/// Whether a text column may contain a value, by the minimum and maximum of its row groups.
pub(crate) fn may_hold_text(path: &Path, name: &str, value: &str) -> Result<bool, LakeError> {
    Ok(Footer::open(path)?.may_hold_text(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::rows_for_tests::{filing, filings};

    #[test]
    fn same_rows_give_the_same_bytes() -> Result<(), LakeError> {
        let dir = tempfile::tempdir().expect("a folder");
        let rows = filings(&[filing(7, "2026-11-03"), filing(9, "2026-11-02")]);
        let write = |name: &str, snapshot: &str| {
            let path = dir.path().join(name);
            let key_values = [("sunlake.snapshot", snapshot.to_owned())];
            write_part(&Storage::default(), Some(Table::Filings), &rows, &path, &key_values)
        };
        let (one, two, three) = (write("a", "1")?, write("b", "1")?, write("c", "2")?);
        assert_eq!(one, two);
        assert_ne!(one.blake3, three.blake3);
        assert_eq!(one.min_filed_date, Some(jiff::civil::date(2026, 11, 2)));
        assert_eq!(read_part(&dir.path().join("a"), None)?, rows);
        Ok(())
    }

    #[test]
    fn few_and_many_ids_are_found() -> Result<(), LakeError> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("part");
        let rows: Vec<_> = (0..200).rev().map(|at| filing(1000 + at * 2, "2026-11-03")).collect();
        write_part(&Storage::default(), Some(Table::Filings), &filings(&rows), &path, &[])?;
        assert_eq!(ids_in_part(&path, &[1, 1001, 1004, 5000])?, [1004]);
        assert_eq!(ids_in_part(&path, &[1, 999, 5000])?, Vec::<i64>::new());
        let many: Vec<i64> = (900..1100).collect();
        assert_eq!(ids_in_part(&path, &many)?.len(), 50);
        Ok(())
    }
}
