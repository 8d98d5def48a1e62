//! Bringing the types that query engines give to the types that the lake stores.

use super::TableError;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, Schema, TimeUnit, TimestampMicrosecondType};
use arrow::error::ArrowError;
use std::sync::Arc;

/// A batch with its columns cast to stored types: integers to 32 or 64 bits signed, floats to 64 bits, texts to
/// `Utf8`, days to `Date32`, instants to microseconds in UTC. Instants without a zone count as UTC.
///
/// # Errors
///
/// [`TableError::UnsupportedType`] for a type without a stored one, [`TableError::Arrow`] for a value that the
/// stored type cannot hold.
pub fn stored_batch(batch: &RecordBatch) -> Result<RecordBatch, TableError> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let Some(kind) = stored_type(field.data_type()) else {
            let (column, found) = (field.name().clone(), field.data_type().clone());
            return Err(TableError::UnsupportedType { column, found });
        };
        let place = || format!("column {}", field.name());
        columns.push(cast(column, &kind).map_err(|source| TableError::arrow("cast", place(), source))?);
        fields.push(Field::new(field.name(), kind, field.is_nullable()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|source| TableError::arrow("cast", "a batch", source))
}

/// The type the lake stores for a type, if any.
fn stored_type(kind: &DataType) -> Option<DataType> {
    Some(match kind {
        DataType::Boolean => DataType::Boolean,
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => {
            DataType::Int32
        }
        DataType::Int64 | DataType::UInt32 | DataType::UInt64 => DataType::Int64,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => DataType::Float64,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Date32 | DataType::Date64 => DataType::Date32,
        DataType::Timestamp(_, _) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DataType::Dictionary(_, values) => stored_type(values)?,
        _ => return None,
    })
}

fn cast(column: &ArrayRef, kind: &DataType) -> Result<ArrayRef, ArrowError> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    let DataType::Timestamp(_, zone) = column.data_type() else {
        return cast_with_options(column, kind, &options);
    };
    // The instant stays, only its name of a zone becomes UTC; a cast between zones needs a table of zones.
    let micros = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
    let micros = cast_with_options(column, &micros, &options)?;
    Ok(Arc::new(micros.as_primitive::<TimestampMicrosecondType>().clone().with_timezone("UTC")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::FileLayout;
    use arrow::array::{
        Date64Array, DictionaryArray, Float32Array, Int64Array, LargeStringArray, NullArray, StringViewArray,
        TimestampMillisecondArray, UInt8Array, UInt32Array, UInt64Array,
    };
    use arrow::datatypes::Int8Type;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter(columns).expect("a batch")
    }

    #[test]
    fn what_engines_give_becomes_what_the_lake_stores() {
        let words: DictionaryArray<Int8Type> = vec!["llc", "llc"].into_iter().collect();
        let given = batch(vec![
            ("u8", Arc::new(UInt8Array::from(vec![255, 0])) as ArrayRef),
            ("u32", Arc::new(UInt32Array::from(vec![Some(u32::MAX), None]))),
            ("f32", Arc::new(Float32Array::from(vec![0.5, 1.0]))),
            ("large", Arc::new(LargeStringArray::from(vec!["a", "b"]))),
            ("view", Arc::new(StringViewArray::from(vec!["a", "b"]))),
            ("words", Arc::new(words)),
            ("day", Arc::new(Date64Array::from(vec![86_400_000, 0]))),
            ("naive", Arc::new(TimestampMillisecondArray::from(vec![1, 2]))),
            (
                "zoned",
                Arc::new(TimestampMillisecondArray::from(vec![1, 2]).with_timezone("America/New_York")),
            ),
        ]);
        let stored = stored_batch(&given).expect("stored types");
        assert!(FileLayout::new(stored.schema(), &[], &[]).is_ok());
        assert_eq!(stored_batch(&stored).expect("once more"), stored);
        let numbers = stored.column(1).as_any().downcast_ref::<Int64Array>().expect("64 bits");
        assert_eq!(numbers, &Int64Array::from(vec![Some(i64::from(u32::MAX)), None]));
        for instants in [7, 8] {
            let instants = stored.column(instants).as_primitive::<TimestampMicrosecondType>();
            assert_eq!(instants.values().to_vec(), [1_000, 2_000]);
        }
    }

    #[test]
    fn what_does_not_fit_is_told_and_not_nulled() {
        let far = batch(vec![("n", Arc::new(UInt64Array::from(vec![u64::MAX])) as ArrayRef)]);
        assert!(matches!(stored_batch(&far), Err(TableError::Arrow { .. })));
        let nothing = batch(vec![("n", Arc::new(NullArray::new(1)) as ArrayRef)]);
        assert!(matches!(stored_batch(&nothing), Err(TableError::UnsupportedType { .. })));
    }
}
