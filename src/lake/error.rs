//! What can go wrong in the lake, told apart by what a caller does about it.

use crate::table::TableError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A failure of the lake.
#[derive(Debug, Error)]
pub enum LakeError {
    /// The disk refused: full, read-only, gone, no permission.
    #[error("cannot {op} {}: {source}", path.display())]
    Storage {
        /// What was tried, as a verb.
        op: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The object store refused, or could not be reached.
    #[error("cannot {op} {url}: {what}")]
    Remote {
        /// What was tried, as a verb.
        op: &'static str,
        /// On what, without credentials.
        url: String,
        /// What the store or the network said.
        what: String,
    },
    /// An address that leads to no lake.
    #[error("{address} is no address of a lake: {what}")]
    Address {
        /// As given, without credentials.
        address: String,
        /// What is wrong with it.
        what: String,
    },
    /// Another run holds the lake.
    #[error("another run holds the lake ({holder})")]
    Held {
        /// What the holder wrote about itself.
        holder: String,
    },
    /// Another writer committed this snapshot first.
    #[error("snapshot {snapshot} was committed by another writer in the meantime")]
    Conflict {
        /// Number of the snapshot that both wanted to make.
        snapshot: u64,
    },
    /// The snapshot is committed, yet readers could not be led to it.
    #[error("snapshot {snapshot} is committed, but readers are not led to it yet")]
    NotShown {
        /// The committed snapshot.
        snapshot: u64,
        /// Why not.
        source: Box<LakeError>,
    },
    /// A newer sunlake wrote this.
    #[error("{} has {what} {found}, this sunlake knows {known} at most", path.display())]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// Which version it is about.
        what: &'static str,
        /// What the file says.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// The lake has no such snapshot.
    #[error("the lake has no snapshot {snapshot}")]
    NoSnapshot {
        /// The number asked for.
        snapshot: u64,
    },
    /// The snapshot's tables were deleted by a rule.
    #[error("snapshot {snapshot} was pruned: its commit is history, its tables are gone")]
    Pruned {
        /// The number asked for.
        snapshot: u64,
    },
    /// The snapshot is not one that a check held.
    #[error("snapshot {snapshot} is not held")]
    NotHeld {
        /// The number asked for.
        snapshot: u64,
    },
    /// A snapshot that is held cannot follow the one it was made from any more.
    #[error(
        "snapshot {snapshot} is held on top of {}, but the lake has moved on to {}",
        number(*parent), number(*newest)
    )]
    Overtaken {
        /// The held one.
        snapshot: u64,
        /// The one it was made from.
        parent: Option<u64>,
        /// The newest one.
        newest: Option<u64>,
    },
    /// A file is not what the lake wrote.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A name that may not become part of a path.
    #[error("{name:?} is not a {what}")]
    Name {
        /// What it should have been.
        what: &'static str,
        /// What it was.
        name: String,
    },
    /// Rows that do not have the columns of their table.
    #[error("rows do not fit table {table}: {what}")]
    Schema {
        /// The table.
        table: String,
        /// The difference.
        what: String,
    },
    /// Rows that Arrow could not handle.
    #[error("cannot {op}: {source}")]
    Arrow {
        /// What was tried.
        op: &'static str,
        /// What Arrow said.
        source: arrow::error::ArrowError,
    },
}

/// A snapshot as a sentence names it.
fn number(snapshot: Option<u64>) -> String {
    snapshot.map_or("nothing".to_owned(), |number| format!("snapshot {number}"))
}

impl LakeError {
    /// For `map_err`: a refusal of the disk.
    pub(super) fn storage(op: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Storage { op, path, source }
    }

    /// For `map_err`: rows Arrow could not handle.
    pub(super) fn arrow(op: &'static str) -> impl FnOnce(arrow::error::ArrowError) -> Self {
        move |source| Self::Arrow { op, source }
    }

    /// A file that is not what the lake wrote.
    pub(super) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_path_buf(), what: what.into() }
    }
}

impl From<TableError> for LakeError {
    fn from(error: TableError) -> Self {
        let what = error.to_string();
        match error {
            TableError::Io { action, path, source } => Self::Storage { op: action, path, source },
            TableError::Parquet { path, source, .. } => Self::Damaged { path, what: source.to_string() },
            TableError::Arrow { action: "read", place, source } => {
                Self::Damaged { path: PathBuf::from(place), what: source.to_string() }
            }
            TableError::Arrow { action, source, .. } => Self::Arrow { op: action, source },
            TableError::NewerSchema { path, found, known } => {
                let found = found.parse().unwrap_or(u32::MAX);
                Self::Newer { path, what: "schema version", found, known }
            }
            TableError::MissingColumn { place, .. }
            | TableError::UnknownColumn { place, .. }
            | TableError::ColumnOrder { place, .. }
            | TableError::ColumnType { place, .. }
            | TableError::Null { place, .. } => Self::Schema { table: place, what },
            TableError::UnsupportedType { column, .. } | TableError::Value { column, .. } => {
                Self::Schema { table: format!("with column {column}"), what }
            }
            TableError::Unsorted { path, .. } => Self::Damaged { path, what },
        }
    }
}
