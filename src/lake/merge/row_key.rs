//! Rows compared by some of their columns, and single values as text.

use crate::lake::data_file::column;
use crate::lake::error::LakeError;
use crate::table::{Table, cell};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_row::{RowConverter, Rows, SortField};

/// First half of a blake3 digest: two of 10^9 rows share one with a chance below 10^-20.
pub(crate) type Digest = [u8; 16];

/// The key of each row of a table, comparable.
pub(crate) fn keys(table: Table, rows: &RecordBatch) -> Result<Rows, LakeError> {
    comparable(rows, table.key())
}

/// A digest of each row's values in these columns.
pub(crate) fn digests(rows: &RecordBatch, names: &[&str]) -> Result<Vec<Digest>, LakeError> {
    let digest = |row: arrow_row::Row<'_>| {
        let mut digest = Digest::default();
        digest.copy_from_slice(&blake3::hash(row.data()).as_bytes()[..16]);
        digest
    };
    Ok(comparable(rows, names)?.iter().map(digest).collect())
}

fn comparable(rows: &RecordBatch, names: &[&str]) -> Result<Rows, LakeError> {
    let columns =
        names.iter().map(|name| column(rows, name).cloned()).collect::<Result<Vec<ArrayRef>, _>>()?;
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
    let rows = RowConverter::new(fields).and_then(|converter| converter.convert_columns(&columns));
    rows.map_err(LakeError::arrow("compare rows"))
}

/// A value as text; none for null.
pub(crate) fn value_text(column: &ArrayRef, row: usize) -> Result<Option<String>, LakeError> {
    Ok(cell(column, row)?.map(|cell| cell.to_string()))
}

/// Keys of a table's rows, as digests.
#[derive(Default)]
pub(crate) struct SeenKeys(Vec<Digest>);

impl SeenKeys {
    pub(crate) fn add(&mut self, table: Table, rows: &RecordBatch) -> Result<(), LakeError> {
        self.0.extend(digests(rows, table.key())?);
        Ok(())
    }

    /// Number of rows whose key was seen before.
    pub(crate) fn count_repeated(mut self) -> usize {
        self.0.sort_unstable();
        self.0.windows(2).filter(|pair| pair[0] == pair[1]).count()
    }
}
