//! One Parquet file of a lake: written, opened again, checked; and the rows in it. [`crate::table`] knows its layout.

use crate::contract::eastern::day_of_epoch;
use crate::lake::backend::disk::{self, Storage};
use crate::lake::error::LakeError;
use crate::lake::format::manifest::Digest;
use crate::table::{self, FilingColumns, Footer, Table, write_parquet};
use arrow_array::cast::AsArray;
use arrow_array::types::Date32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use jiff::civil::Date;
use std::path::Path;

/// Writes sorted rows to `path`, opens the file again and checks it. Returns its size and digest.
/// `table` is none for an aggregate.
///
/// The same rows and key values give the same bytes.
pub(super) fn write_part(
    storage: &Storage,
    table: Option<Table>,
    rows: &RecordBatch,
    path: &Path,
    key_values: &[(&str, String)],
) -> Result<Digest, LakeError> {
    let bytes = write_parquet(storage.create(path)?, table, rows, path, key_values)?;
    let (written, digest) = (rows.num_rows() as u64, disk::digest(path)?);
    let found = Footer::open(path)?.rows();
    if (found, digest.bytes) != (written, bytes) {
        return Err(LakeError::damaged(path, format!("{written} rows written, {found} found")));
    }
    Ok(digest)
}

/// The oldest and the newest filing date of rows; none without that column.
pub(super) fn filed_dates(rows: &RecordBatch) -> (Option<Date>, Option<Date>) {
    let dates = rows.column_by_name("filed_date").and_then(|column| column.as_primitive_opt::<Date32Type>());
    let known = || dates.into_iter().flatten().flatten();
    (known().min().and_then(day_of_epoch), known().max().and_then(day_of_epoch))
}

pub(super) fn business_ids(path: &Path) -> Result<Vec<i64>, LakeError> {
    let rows = table::read_batch(path, Some(&["business_id"]))?;
    Ok(FilingColumns::new(&rows).business_id()?.values().to_vec())
}

/// Which of `ids` (sorted) are in the file. Footer and bloom filters exclude most files before a column is read.
pub(super) fn ids_in_part(path: &Path, ids: &[i64]) -> Result<Vec<i64>, LakeError> {
    if !Footer::open(path)?.may_hold_any("business_id", ids)? {
        return Ok(Vec::new());
    }
    let mut found = business_ids(path)?;
    found.retain(|id| ids.binary_search(id).is_ok());
    Ok(found)
}

pub(super) fn column<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, LakeError> {
    rows.column_by_name(name).ok_or_else(|| LakeError::Schema {
        table: "of the lake".to_owned(),
        what: format!("column {name} is missing"),
    })
}

/// Refuses rows with a type that Spark, pandas or `DuckDB` does not read.
pub(super) fn check_plain_types(table: &str, rows: &RecordBatch) -> Result<(), LakeError> {
    match rows.schema_ref().fields().iter().find(|field| !is_plain(field.data_type())) {
        None => Ok(()),
        Some(field) => Err(LakeError::Schema {
            table: table.to_owned(),
            what: format!("column {} is {}, which not every reader knows", field.name(), field.data_type()),
        }),
    }
}

fn is_plain(kind: &DataType) -> bool {
    match kind {
        DataType::Boolean | DataType::Int32 | DataType::Int64 | DataType::Float64 => true,
        DataType::Utf8 | DataType::Date32 => true,
        DataType::Timestamp(TimeUnit::Microsecond, zone) => zone.as_deref() == Some("UTC"),
        _ => false,
    }
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
        assert_eq!(filed_dates(&rows).0, Some(jiff::civil::date(2026, 11, 2)));
        assert_eq!(table::read_batch(&dir.path().join("a"), None)?, rows);
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
