//! Schemas of the files: with and without Parquet's field ids, and checked.

use super::error::TableError;
use arrow_schema::{Field, Fields, Schema, SchemaRef};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;
use std::collections::HashMap;
use std::sync::Arc;

/// A schema whose columns carry Parquet's field ids, counted from 1.
pub(super) fn with_field_ids(schema: &Schema) -> SchemaRef {
    let with_id = |(id, field): (usize, &Arc<Field>)| {
        let id = (PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string());
        Arc::new(field.as_ref().clone().with_metadata(HashMap::from([id])))
    };
    Arc::new(Schema::new((1..).zip(schema.fields()).map(with_id).collect::<Fields>()))
}

/// A schema without what Parquet says of its columns: batches of equal columns are equal.
pub(super) fn without_field_ids(fields: &Fields) -> SchemaRef {
    let plain = |field: &Arc<Field>| Arc::new(field.as_ref().clone().with_metadata(HashMap::new()));
    Arc::new(Schema::new(fields.iter().map(plain).collect::<Fields>()))
}

/// Checks that a schema is another one column by column: names, order, types, nullability.
///
/// Metadata does not count. `place` names the table or file in errors.
pub fn check_schema(found: &Schema, expected: &Schema, place: &str) -> Result<(), TableError> {
    let failed = |what: String| Err(TableError::Schema { place: place.to_owned(), what });
    for field in expected.fields() {
        if found.index_of(field.name()).is_err() {
            return Err(TableError::no_column(place.to_owned(), field.name()));
        }
    }
    for field in found.fields() {
        if expected.index_of(field.name()).is_err() {
            return failed(format!("{place} has a column {} that its table does not know", field.name()));
        }
    }
    for (found, expected) in found.fields().iter().zip(expected.fields()) {
        let name = expected.name();
        if found.name() != name {
            return failed(format!("{place} has column {} where its table has {name}", found.name()));
        }
        if found.data_type() != expected.data_type() || found.is_nullable() != expected.is_nullable() {
            let (found, expected) = (type_words(found), type_words(expected));
            return failed(format!("column {name} of {place} is {found}, and must be {expected}"));
        }
    }
    Ok(())
}

fn type_words(field: &Field) -> String {
    let null = if field.is_nullable() { ", nullable" } else { ", never null" };
    format!("{}{null}", field.data_type())
}
