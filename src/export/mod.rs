//! A snapshot for programs that are not sunlake: the catalogue beside it, and copies in other forms.
//!
//! | file | knows |
//! | --- | --- |
//! | [`catalog`] | `datapackage.json`, `TABLES.md`, `views.sql` |
//! | [`csv`] | one text file a table, safe to open in a spreadsheet |
//! | [`delta`] | a Delta Lake table of `filings`, one version a snapshot |
//! | [`duckdb`] | one database file, made by the `duckdb` program |
//! | `described` | tables and columns of a snapshot, in words |
//! | `outlet` | files outside the lake, whole or not there |
//!
//! What is read is first compared with its commit; what is written gets its name when it is whole.

pub mod catalog;
pub mod csv;
pub mod delta;
mod described;
pub mod duckdb;
mod outlet;

use crate::lake::{Commit, Lake, LakeError};
use crate::table::TableError;
use std::io;
use std::path::{Path, PathBuf};

/// Why an export did not come about.
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
        /// What the system said.
        source: io::Error,
    },
    /// What was asked for is not in the lake, or the target is something else.
    #[error("{0}")]
    Asked(String),
    /// The `duckdb` program is not there.
    #[error(
        "cannot start {}: {source}; install DuckDB's command line program (https://duckdb.org, or `pip install duckdb-cli`), or name it with --duckdb",
        program.display()
    )]
    NoDuckdb {
        /// What was to be started.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The `duckdb` program ended with an error.
    #[error("{} failed: {said}", program.display())]
    Duckdb {
        /// What was started.
        program: PathBuf,
        /// What it said.
        said: String,
    },
    /// The target is not what this export made.
    #[error("{} is not what this lake exported: {what}", path.display())]
    Foreign {
        /// The target.
        path: PathBuf,
        /// Why not.
        what: String,
    },
}

impl ExportError {
    fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}

/// The commit of a snapshot whose files are there, held or not; by default the newest that readers see.
///
/// # Errors
/// [`ExportError::Asked`] for a lake without a snapshot; what the lake says, [`LakeError::Pruned`] of one that is gone.
pub fn snapshot(lake: &Lake, number: Option<u64>) -> Result<Commit, ExportError> {
    match number {
        Some(number) => Ok(lake.present_or_pending(number)?),
        None => lake.current()?.ok_or_else(|| {
            ExportError::Asked(format!("the lake {lake} has no snapshot yet; `sunlake run` makes one"))
        }),
    }
}
