//! A batch whose columns are asked for by name and type.

use super::LoadError;
use arrow::array::{
    BooleanArray, Date32Array, DictionaryArray, Int64Array, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::Int32Type;
use arrow::record_batch::RecordBatch;
use std::path::Path;

/// A batch, and the file that an error names.
pub(super) struct NamedBatch<'a> {
    pub(super) batch: &'a RecordBatch,
    pub(super) path: &'a Path,
}

impl NamedBatch<'_> {
    pub(super) fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    pub(super) fn no_column(&self, column: &'static str, wanted: &'static str) -> LoadError {
        LoadError::Column { path: self.path.to_owned(), column, wanted }
    }

    pub(super) fn dictionary(&self, name: &'static str) -> Result<&DictionaryArray<Int32Type>, LoadError> {
        self.column(name, "Utf8")
    }

    pub(super) fn text(&self, name: &'static str) -> Result<&StringArray, LoadError> {
        self.column(name, "Utf8")
    }

    pub(super) fn int64(&self, name: &'static str) -> Result<&Int64Array, LoadError> {
        self.column(name, "Int64")
    }

    pub(super) fn date(&self, name: &'static str) -> Result<&Date32Array, LoadError> {
        self.column(name, "Date32")
    }

    pub(super) fn boolean(&self, name: &'static str) -> Result<&BooleanArray, LoadError> {
        self.column(name, "Boolean")
    }

    pub(super) fn timestamp(&self, name: &'static str) -> Result<&TimestampMicrosecondArray, LoadError> {
        self.column(name, "Timestamp(µs)")
    }

    fn column<T: 'static>(&self, column: &'static str, wanted: &'static str) -> Result<&T, LoadError> {
        let found = self.batch.column_by_name(column).and_then(|array| array.as_any().downcast_ref());
        found.ok_or_else(|| self.no_column(column, wanted))
    }
}
