//! Column types that every reader of a lake knows.

use crate::lake::error::LakeError;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, TimeUnit};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The same rows in types that Spark, pandas and `DuckDB` read.
pub(crate) fn plain_types(table: &str, rows: &RecordBatch) -> Result<RecordBatch, LakeError> {
    // A number out of range is an error, not a null.
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let mut fields: Vec<FieldRef> = Vec::new();
    let mut columns = Vec::new();
    for (field, column) in rows.schema_ref().fields().iter().zip(rows.columns()) {
        let kind = plain_type(field.data_type()).ok_or_else(|| LakeError::Schema {
            table: table.to_owned(),
            what: format!("column {} is {}, which not every reader knows", field.name(), field.data_type()),
        })?;
        columns.push(cast_with_options(column, &kind, &strict).map_err(LakeError::arrow("widen a column"))?);
        fields.push(Arc::new(Field::new(field.name(), kind, field.is_nullable())));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(LakeError::arrow("widen a column"))
}

fn plain_type(kind: &DataType) -> Option<DataType> {
    let plain = match kind {
        DataType::Boolean | DataType::Int32 | DataType::Int64 | DataType::Float64 => kind.clone(),
        DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16 => DataType::Int32,
        DataType::UInt32 | DataType::UInt64 => DataType::Int64,
        DataType::Float16 | DataType::Float32 => DataType::Float64,
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => DataType::Float64,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Date32 | DataType::Date64 => DataType::Date32,
        DataType::Timestamp(..) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DataType::Dictionary(_, values) => plain_type(values)?,
        _ => return None,
    };
    Some(plain)
}
