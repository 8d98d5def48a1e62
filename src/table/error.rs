//! What can be wrong with a batch or a file of a table.

use crate::contract::hint::{NEWER_SUNLAKE, of_io};
use arrow_schema::DataType;
use parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};

/// Hint of an error about a damaged or missing file.
pub(crate) const REPAIR: &str = "repair the lake: `sunlake verify --repair`";

/// The hint of a file that cannot be used: one of a table that is missing can be repaired.
pub(crate) fn of_lake_file(path: &Path, source: &io::Error) -> Option<String> {
    let is_table = path.extension().is_some_and(|found| found == "parquet");
    let is_lost = is_table && source.kind() == io::ErrorKind::NotFound;
    if is_lost { Some(REPAIR.to_owned()) } else { of_io(source) }
}

/// A batch or a file that is not what its table says, or that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum TableError {
    /// The columns of a batch or a file are not those of its table; the text says how.
    #[error("{what}")]
    Schema { place: String, what: String },
    /// A column has a type that is not written as text.
    #[error("column {column} is {found}, which the lake does not store")]
    UnsupportedType { column: String, found: DataType },
    /// A value that the column's meaning does not cover.
    #[error("column {column}, row {row}: {value} is {problem}")]
    Value { column: String, row: usize, value: String, problem: &'static str },
    /// Rows are not in the order of the file.
    #[error("row {row} of {} is out of order by {order}; sort the rows before writing", path.display())]
    Unsorted { path: PathBuf, row: u64, order: String },
    /// A file of a newer schema than this program knows.
    #[error(
        "{} has schema version {found}, and this program knows versions up to {known}",
        path.display()
    )]
    NewerSchema { path: PathBuf, found: String, known: u32 },
    /// The disk reported an error.
    #[error("cannot {action} {}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// The file is not Parquet, is incomplete, or could not be encoded.
    #[error("cannot {action} {} as Parquet", path.display())]
    Parquet { action: &'static str, path: PathBuf, source: ParquetError },
    /// Arrow could not build, join or sort a batch.
    #[error("cannot {action} rows of {place}")]
    Arrow { action: &'static str, place: String, source: arrow_schema::ArrowError },
}

impl TableError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Io { path, source, .. } => return of_lake_file(path, source),
            Self::NewerSchema { .. } => NEWER_SUNLAKE,
            Self::UnsupportedType { .. } => "cast the column to an integer, text, date or UTC timestamp",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    pub(super) fn no_column(place: String, column: &str) -> Self {
        let what = format!("{place} has no column {column}");
        Self::Schema { place, what }
    }

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

    pub(crate) fn arrow(
        action: &'static str,
        place: impl Into<String>,
        source: arrow_schema::ArrowError,
    ) -> Self {
        Self::Arrow { action, place: place.into(), source }
    }
}
