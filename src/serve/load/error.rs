//! Why a snapshot cannot be loaded.

use crate::lake::LakeError;
use crate::serve::index::IndexError;
use crate::table::TableError;
use parquet::errors::ParquetError;
use std::path::{Path, PathBuf};

/// Why a snapshot cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A folder or file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is not Parquet, or damaged.
    #[error("cannot read {path} as Parquet: {source}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: ParquetError,
    },
    /// A file is not what was committed.
    #[error(transparent)]
    Unsound(#[from] LakeError),
    /// A column is missing or has another type.
    #[error("{path} has no column {column:?} of the type in its table; it was written with another schema")]
    Column {
        /// The file.
        path: PathBuf,
        /// Name on disk.
        column: &'static str,
    },
    /// The rows of a file are not those of its table.
    #[error("cannot read the rows of {path}: {source}")]
    Table {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Box<TableError>,
    },
    /// The folder has no filings.
    #[error("{0} has no filings folder; is it a snapshot of a lake?")]
    NoFilings(PathBuf),
    /// The rows contradict each other.
    #[error("cannot index the filings of {path}: {source}")]
    Rows {
        /// The snapshot.
        path: PathBuf,
        /// The cause.
        source: IndexError,
    },
}

impl LoadError {
    pub(super) fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }

    pub(super) fn damaged(path: &Path, source: ParquetError) -> Self {
        Self::Damaged { path: path.to_owned(), source }
    }

    pub(super) fn table(path: &Path, error: TableError) -> Self {
        match error {
            TableError::Io { source, .. } => Self::unreadable(path, source),
            TableError::Parquet { source, .. } => Self::damaged(path, source),
            TableError::Arrow { source, .. } => Self::damaged(path, source.into()),
            source => Self::Table { path: path.to_owned(), source: source.into() },
        }
    }
}
