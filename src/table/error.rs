//! What can be wrong with a batch or a file of a table.

use arrow::datatypes::DataType;
use parquet::errors::ParquetError;
use std::path::{Path, PathBuf};

/// A batch or a file that is not what its table says, or that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A column of the table is not there.
    #[error("{place} has no column {column}")]
    MissingColumn {
        /// Table, or file.
        place: String,
        /// Name of the column.
        column: String,
    },
    /// A column is not one of the table's.
    #[error("{place} has a column {column} that its table does not know")]
    UnknownColumn {
        /// Table, or file.
        place: String,
        /// Name of the column.
        column: String,
    },
    /// A column is at another position than in the table.
    #[error("{place} has column {found} where its table has {expected}")]
    ColumnOrder {
        /// Table, or file.
        place: String,
        /// The column of the table.
        expected: String,
        /// The column found there.
        found: String,
    },
    /// A column has another type, or is nullable where the table's is not, or the reverse.
    #[error("column {column} of {place} is {found}, and must be {expected}")]
    ColumnType {
        /// Table, or file.
        place: String,
        /// Name of the column.
        column: String,
        /// Type by the column dictionary.
        expected: String,
        /// Type found.
        found: String,
    },
    /// A column has a type that the lake does not write.
    #[error("column {column} is {found}, which the lake does not store")]
    UnsupportedType {
        /// Name of the column.
        column: String,
        /// Its type.
        found: DataType,
    },
    /// A null in a column that has none.
    #[error("column {column} of {place} is null in {nulls} rows, and may not be null")]
    Null {
        /// Table, or file.
        place: String,
        /// Name of the column.
        column: String,
        /// Rows that are null.
        nulls: usize,
    },
    /// A value that the column's meaning does not cover.
    #[error("column {column}, row {row}: {value} is {problem}")]
    Value {
        /// Name of the column.
        column: String,
        /// Row of the batch, from 0.
        row: usize,
        /// The value.
        value: String,
        /// What it is instead.
        problem: &'static str,
    },
    /// Rows are not in the order of the file.
    #[error("row {row} of {} is out of order by {order}; sort the rows before writing", path.display())]
    Unsorted {
        /// The file.
        path: PathBuf,
        /// Row of the file, from 0.
        row: u64,
        /// The sort columns.
        order: String,
    },
    /// A file of a newer schema than this program knows.
    #[error(
        "{} has schema version {found}, and this program knows versions up to {known}",
        path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Version in the file.
        found: String,
        /// Newest version known.
        known: u32,
    },
    /// The disk reported an error.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not Parquet, is incomplete, or could not be encoded.
    #[error("cannot {action} {} as Parquet", path.display())]
    Parquet {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: ParquetError,
    },
    /// Arrow could not build, join or sort a batch.
    #[error("cannot {action} rows of {place}")]
    Arrow {
        /// What was tried.
        action: &'static str,
        /// Table, or file.
        place: String,
        /// The cause.
        source: arrow::error::ArrowError,
    },
}

impl TableError {
    pub(super) fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    /// A Parquet failure; an I/O failure where an I/O error caused it.
    pub(super) fn parquet(action: &'static str, path: &Path, source: ParquetError) -> Self {
        let path = path.to_owned();
        match source {
            ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
                Ok(source) => Self::Io { action, path, source: *source },
                Err(cause) => Self::Parquet { action, path, source: ParquetError::External(cause) },
            },
            source => Self::Parquet { action, path, source },
        }
    }

    pub(super) fn arrow(
        action: &'static str,
        place: impl Into<String>,
        source: arrow::error::ArrowError,
    ) -> Self {
        Self::Arrow { action, place: place.into(), source }
    }
}
