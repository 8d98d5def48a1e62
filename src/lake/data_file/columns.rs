//! Columns of rows by name, and the checks of rows against their table.

use crate::lake::error::LakeError;
use crate::table::{self, Table};
use arrow::array::ArrayRef;
use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;

/// The rows, sorted as their table is.
pub(crate) fn sorted(table: Table, rows: &RecordBatch) -> Result<RecordBatch, LakeError> {
    Ok(table::sort_batch(table, rows)?)
}

/// A column by name.
pub(crate) fn column<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, LakeError> {
    rows.column_by_name(name).ok_or_else(|| LakeError::Schema {
        table: "of the lake".to_owned(),
        what: format!("column {name} is missing"),
    })
}

/// Checks that rows have exactly the columns of their table.
pub(crate) fn check_schema(table: Table, found: &Schema) -> Result<(), LakeError> {
    Ok(table::check_schema(found, &table.schema(), table.name())?)
}
