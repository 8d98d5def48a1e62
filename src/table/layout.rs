//! How a Parquet file of the lake is laid out: schema, order, bloom filters.

use super::error::TableError;
use super::tables::Table;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// Schema, sort order and bloom filters of one file; of a table, or of an aggregate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLayout {
    schema: SchemaRef,
    sort: Vec<(String, bool)>,
    bloom: Vec<String>,
    distinct: Vec<String>,
}

impl FileLayout {
    /// A layout of any schema of stored types. `sort` names columns and whether they descend.
    ///
    /// # Errors
    ///
    /// [`TableError::UnsupportedType`], and [`TableError::MissingColumn`] for a sort or bloom column that the
    /// schema does not have.
    pub fn new(schema: SchemaRef, sort: &[(&str, bool)], bloom: &[&str]) -> Result<Self, TableError> {
        for field in schema.fields() {
            if !is_stored(field.data_type()) {
                let (column, found) = (field.name().clone(), field.data_type().clone());
                return Err(TableError::UnsupportedType { column, found });
            }
        }
        for name in sort.iter().map(|(name, _)| name).chain(bloom) {
            if schema.index_of(name).is_err() {
                return Err(TableError::MissingColumn {
                    place: "the schema".to_owned(),
                    column: (*name).to_owned(),
                });
            }
        }
        let sort = sort.iter().map(|(name, descends)| ((*name).to_owned(), *descends)).collect();
        let bloom = bloom.iter().map(|name| (*name).to_owned()).collect();
        Ok(Self { schema, sort, bloom, distinct: Vec::new() })
    }

    /// The schema of every batch and of the file.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The order of rows: columns, and whether they descend. Nulls come last.
    pub fn sort(&self) -> &[(String, bool)] {
        &self.sort
    }

    /// Columns with a bloom filter.
    pub fn bloom(&self) -> &[String] {
        &self.bloom
    }

    /// Columns whose values rarely repeat. They get no dictionary.
    pub fn distinct(&self) -> &[String] {
        &self.distinct
    }
}

impl From<Table> for FileLayout {
    fn from(table: Table) -> Self {
        Self {
            schema: table.schema(),
            sort: table.sort().iter().map(|(name, descends)| ((*name).to_owned(), *descends)).collect(),
            bloom: table.bloom().iter().map(|name| (*name).to_owned()).collect(),
            distinct: table.distinct().iter().map(|name| (*name).to_owned()).collect(),
        }
    }
}

/// Whether the lake stores a type: what the column dictionary uses, and `Float64` for shares of aggregates.
fn is_stored(kind: &DataType) -> bool {
    match kind {
        DataType::Int32
        | DataType::Int64
        | DataType::Utf8
        | DataType::Boolean
        | DataType::Date32
        | DataType::Float64 => true,
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) => zone.as_ref() == "UTC",
        _ => false,
    }
}

/// Checks that a schema is another one column by column: names, order, types, nullability.
///
/// Metadata does not count. `place` names the table or file in errors.
pub fn check_schema(found: &Schema, expected: &Schema, place: &str) -> Result<(), TableError> {
    let (place, column) = (|| place.to_owned(), |field: &Field| field.name().clone());
    for field in expected.fields() {
        if found.index_of(field.name()).is_err() {
            return Err(TableError::MissingColumn { place: place(), column: column(field) });
        }
    }
    for field in found.fields() {
        if expected.index_of(field.name()).is_err() {
            return Err(TableError::UnknownColumn { place: place(), column: column(field) });
        }
    }
    for (found, expected) in found.fields().iter().zip(expected.fields()) {
        if found.name() != expected.name() {
            let (expected, found) = (column(expected), column(found));
            return Err(TableError::ColumnOrder { place: place(), expected, found });
        }
        let same = found.data_type() == expected.data_type() && found.is_nullable() == expected.is_nullable();
        if !same {
            return Err(TableError::ColumnType {
                place: place(),
                column: column(expected),
                expected: type_words(expected),
                found: type_words(found),
            });
        }
    }
    Ok(())
}

fn type_words(field: &Field) -> String {
    let null = if field.is_nullable() { ", nullable" } else { ", never null" };
    format!("{}{null}", field.data_type())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn types_that_other_tools_do_not_read_are_not_stored() {
        for kind in [DataType::UInt32, DataType::LargeUtf8, DataType::Utf8View, DataType::Date64] {
            let schema = Arc::new(Schema::new(vec![Field::new("n", kind.clone(), false)]));
            let error = FileLayout::new(schema, &[], &[]).expect_err("no stored type");
            assert!(matches!(error, TableError::UnsupportedType { found, .. } if found == kind));
        }
        let schema = Arc::new(Schema::new(vec![Field::new("share", DataType::Float64, true)]));
        assert!(FileLayout::new(schema.clone(), &[("share", true)], &[]).is_ok());
        assert!(FileLayout::new(schema, &[("part", true)], &[]).is_err());
    }
}
