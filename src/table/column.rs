//! A column of a table: name, type, null and meaning.

use super::error::TableError;
use super::tables::Table;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::sync::Arc;

/// The types on disk. Spark, pandas and `DuckDB` read all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "`data_type` says what each is")]
pub enum ColumnKind {
    Int32,
    Int64,
    Text,
    Boolean,
    /// Float of 64 bits.
    Double,
    /// Calendar day.
    Date,
    /// Instant in UTC, microseconds.
    Timestamp,
}

impl ColumnKind {
    /// The Arrow type.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Text => DataType::Utf8,
            Self::Boolean => DataType::Boolean,
            Self::Double => DataType::Float64,
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }
}

/// One column of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name on disk.
    pub name: &'static str,
    /// Type on disk.
    pub kind: ColumnKind,
    /// Whether it may be null.
    pub nullable: bool,
    /// What it says, with unit and source where needed.
    pub meaning: &'static str,
}

/// Meanings that columns of several tables share.
pub(super) const BUSINESS_ID: &str = "the digits of the service id";
pub(super) const EXTRA: &str =
    "JSON object of fields that no column can hold, as sent; null when there are none";
pub(super) const FETCHED_AT: &str = "when the API gave it";
pub(super) const OBSERVED_ON: &str = "Eastern day on which the API said this";
pub(super) const SOURCE_DATE: &str = "date of the file that has it";
pub(super) const SOURCE_RANK: &str = "of files of one date: 0 quarterly set, 1 daily records, 2 daily events";

impl Column {
    /// This column of a batch as an array of its type.
    ///
    /// # Errors
    ///
    /// [`TableError::Schema`] for a column that is missing or has another type, and for a null in a column that has none.
    pub(super) fn of<A: Array + 'static>(self, batch: &RecordBatch, table: Table) -> Result<&A, TableError> {
        let (name, place) = (self.name, format!("table {}", table.name()));
        let Some(array) = batch.column_by_name(name) else {
            return Err(TableError::no_column(place, name));
        };
        let expected = self.kind.data_type();
        let typed = array.as_any().downcast_ref::<A>().filter(|_| *array.data_type() == expected);
        let Some(typed) = typed else {
            let what = format!("column {name} of {place} is {}, and must be {expected}", array.data_type());
            return Err(TableError::Schema { place, what });
        };
        let nulls = typed.null_count();
        if nulls > 0 && !self.nullable {
            let what = format!("column {name} of {place} is null in {nulls} rows, and may not be null");
            return Err(TableError::Schema { place, what });
        }
        Ok(typed)
    }
}

/// The Arrow schema of columns.
pub(super) fn schema_of(columns: &[Column]) -> SchemaRef {
    let field = |column: &Column| Field::new(column.name, column.kind.data_type(), column.nullable);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}
