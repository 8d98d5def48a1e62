//! Columns of rows by name, and the checks of rows against their table.

use crate::lake::error::LakeError;
use crate::table::{self, Table};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, Int64Type, Schema};
use arrow::record_batch::RecordBatch;

/// The rows, sorted as their table is.
pub(crate) fn sorted(table: Table, rows: &RecordBatch) -> Result<RecordBatch, LakeError> {
    Ok(table::sort_batch(table, rows)?)
}

/// A 64-bit column by name.
pub(crate) fn int64<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a Int64Array, LakeError> {
    let array: &ArrayRef = column(rows, name)?;
    array.as_primitive_opt::<Int64Type>().ok_or_else(|| wrong_type(name, array.data_type()))
}

/// A column by name.
pub(crate) fn column<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, LakeError> {
    rows.column_by_name(name).ok_or_else(|| LakeError::Schema {
        table: "of the lake".to_owned(),
        what: format!("column {name} is missing"),
    })
}

/// The error for a column of an unexpected type.
pub(crate) fn wrong_type(name: &str, found: &DataType) -> LakeError {
    LakeError::Schema { table: "of the lake".to_owned(), what: format!("column {name} is {found}") }
}

/// Checks that rows have exactly the columns of their table.
pub(crate) fn check_schema(table: Table, found: &Schema) -> Result<(), LakeError> {
    Ok(table::check_schema(found, &table.schema(), table.name())?)
}
