//! The errors of the lake. Each variant is one way in which a caller reacts.

use crate::table::TableError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of the lake.
#[derive(Debug, Error)]
pub enum LakeError {
    /// An operation of the disk failed: full, read-only, gone, no permission.
    #[error("cannot {op} {}: {source}", path.display())]
    Storage {
        /// The operation, as a verb.
        op: &'static str,
        /// Path of the operation.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A request to the object store failed, or the store cannot be reached.
    #[error("cannot {op} {url}: {what}")]
    Remote {
        /// The operation, as a verb.
        op: &'static str,
        /// Address of the object, without credentials.
        url: String,
        /// The error of the store or the network.
        what: String,
    },
    /// An address that cannot be one of a lake.
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
        /// The holder's text: its run, process and host.
        holder: String,
    },
    /// Another writer committed this snapshot first.
    #[error("snapshot {snapshot} was committed by another writer first")]
    Conflict {
        /// The snapshot that both tried to commit.
        snapshot: u64,
    },
    /// The snapshot is committed, but the pointer that readers follow could not be advanced.
    #[error("snapshot {snapshot} is committed, but readers do not see it yet")]
    NotShown {
        /// The committed snapshot.
        snapshot: u64,
        /// Why the pointer stayed.
        source: Box<LakeError>,
    },
    /// A newer sunlake wrote this.
    #[error("{} has {what} {found}, this sunlake knows {known} at most", path.display())]
    Newer {
        /// The file with that version.
        path: PathBuf,
        /// Kind of version.
        what: &'static str,
        /// The version in the file.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// The lake has no such snapshot.
    #[error("the lake has no snapshot {snapshot}")]
    NoSnapshot {
        /// The number asked for.
        snapshot: u64,
    },
    /// The snapshot's tables were deleted by a retention rule.
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
    /// A pending snapshot cannot be published: another snapshot was published since it was made.
    #[error(
        "snapshot {snapshot} is held on top of {}, but the lake has moved on to {}",
        number(*parent), number(*newest)
    )]
    Overtaken {
        /// The pending one.
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
    /// An operation of Arrow failed.
    #[error("cannot {op}: {source}")]
    Arrow {
        /// What was tried.
        op: &'static str,
        /// What Arrow said.
        source: arrow::error::ArrowError,
    },
}

/// A snapshot in an error message.
fn number(snapshot: Option<u64>) -> String {
    snapshot.map_or("nothing".to_owned(), |number| format!("snapshot {number}"))
}

impl LakeError {
    /// For `map_err`: an error of the disk.
    pub(super) fn storage(op: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Storage { op, path, source }
    }

    /// For `map_err`: an error of Arrow.
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
