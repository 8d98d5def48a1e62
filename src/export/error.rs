//! Why an export failed.

use crate::lake::LakeError;
use crate::table::TableError;
use std::io;
use std::path::{Path, PathBuf};

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The lake.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// A file of the lake.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The target's disk.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The lake has no snapshot.
    #[error("the lake {lake} has no snapshot yet")]
    NoSnapshot {
        /// The lake.
        lake: String,
    },
    /// The snapshot does not have the table.
    #[error("snapshot {snapshot} has no table {table}; it has {}", known.join(", "))]
    NoTable {
        /// The snapshot.
        snapshot: u64,
        /// The table asked for.
        table: String,
        /// The tables of the snapshot.
        known: Vec<String>,
        /// The table with the nearest name, if one is near.
        near: Option<String>,
    },
    /// The target is a file instead of a folder, or a folder instead of a file.
    #[error("{} is a {found}; a {wanted} is wanted", path.display())]
    WrongTarget {
        /// The target.
        path: PathBuf,
        /// Its kind.
        found: &'static str,
        /// The kind that the export writes.
        wanted: &'static str,
    },
    /// Another export made the same version first.
    #[error("another export made version {version} of {} at the same time", path.display())]
    Overtaken {
        /// The version.
        version: u64,
        /// The target.
        path: PathBuf,
    },
    /// The `duckdb` program cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    NoDuckdb {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The `duckdb` program failed.
    #[error("{} failed: {reason}", program.display())]
    Duckdb {
        /// The program.
        program: PathBuf,
        /// What it printed.
        reason: String,
    },
    /// The target was not made by an export of this lake.
    #[error("{} is not what this lake exported: {what}", path.display())]
    Foreign {
        /// The target.
        path: PathBuf,
        /// The difference.
        what: String,
    },
}

impl ExportError {
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}
