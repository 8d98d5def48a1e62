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
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// A file is not Parquet, or damaged.
    #[error("cannot read {0} as Parquet: {1}")]
    Damaged(PathBuf, #[source] ParquetError),
    /// A file is not what was committed.
    #[error(transparent)]
    Unsound(#[from] LakeError),
    /// A column of a file is missing or has another type.
    #[error("{0} has no column {1:?} of the type in its table; it was written with another schema")]
    Column(PathBuf, &'static str),
    /// The rows of a file are not those of its table.
    #[error("cannot read the rows of {0}: {1}")]
    Table(PathBuf, #[source] Box<TableError>),
    /// The folder has no filings.
    #[error("{0} has no filings folder; is it a snapshot of a lake?")]
    NoFilings(PathBuf),
    /// The rows of a snapshot contradict each other.
    #[error("cannot index the filings of {0}: {1}")]
    Rows(PathBuf, #[source] IndexError),
}

impl LoadError {
    pub(super) fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Self::Unreadable(path.to_owned(), source)
    }

    pub(super) fn damaged(path: &Path, source: ParquetError) -> Self {
        Self::Damaged(path.to_owned(), source)
    }

    pub(super) fn table(path: &Path, error: TableError) -> Self {
        match error {
            TableError::Io { source, .. } => Self::unreadable(path, source),
            TableError::Parquet { source, .. } => Self::damaged(path, source),
            TableError::Arrow { source, .. } => Self::damaged(path, source.into()),
            source => Self::Table(path.to_owned(), source.into()),
        }
    }
}
