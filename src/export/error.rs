//! Why an export failed.

use crate::contract::hint::{MAKE_SNAPSHOT, NEAR, nearest, of_io};
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
    /// A file of the target that cannot be read.
    #[error("cannot read {path}: {1}", path = .0.display())]
    Read(PathBuf, #[source] io::Error),
    /// A file that the target's disk does not take.
    #[error("cannot write {path}: {1}", path = .0.display())]
    Write(PathBuf, #[source] io::Error),
    /// The lake, by its address, has no snapshot.
    #[error("the lake {0} has no snapshot yet")]
    NoSnapshot(String),
    /// The snapshot does not have the table. It has those of `known`.
    #[error("snapshot {snapshot} has no table {table}")]
    #[expect(missing_docs, reason = "the message says what each field is")]
    NoTable { snapshot: u64, table: String, known: Vec<String> },
    /// Businesses are chosen, and the named table has none.
    #[error("the rows of {0} are not of businesses, and a condition chooses businesses")]
    NoBusinesses(String),
    /// The target is a file instead of a folder, or a folder instead of a file.
    #[error("{} is a {found}; a {wanted} is wanted", path.display())]
    #[expect(missing_docs, reason = "the message says what each field is")]
    WrongTarget { path: PathBuf, found: &'static str, wanted: &'static str },
    /// What an export would replace was not made by one.
    #[error("{} was not made by this command: {what}", path.display())]
    #[expect(missing_docs, reason = "the message says what each field is")]
    NotMade { path: PathBuf, what: String },
    /// Another export made the same version of the target first.
    #[error("another export made version {0} of {path} at the same time", path = .1.display())]
    Overtaken(u64, PathBuf),
    /// The `duckdb` program cannot be started.
    #[error("cannot start {program}: {1}", program = .0.display())]
    NoDuckdb(PathBuf, #[source] io::Error),
    /// The `duckdb` program failed, and printed the reason.
    #[error("{program} failed: {1}", program = .0.display())]
    Duckdb(PathBuf, String),
    /// The target was not made by an export of this lake; the text says the difference.
    #[error("{path} is not what this lake exported: {1}", path = .0.display())]
    Foreign(PathBuf, String),
}

impl ExportError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Lake(error) => return error.hint(),
            Self::Table(error) => return error.hint(),
            Self::Read(_, source) | Self::Write(_, source) => return of_io(source),
            Self::NoSnapshot(_) => MAKE_SNAPSHOT,
            Self::NoTable { table, known, .. } => {
                let near = nearest(table, known.iter().map(String::as_str), NEAR);
                let all = || format!("it has {}", known.join(", "));
                return Some(near.map_or_else(all, |near| format!("did you mean {near}?")));
            }
            Self::NoBusinesses(table) => {
                return Some(format!(
                    "for a part of it: sunlake query \"SELECT * FROM {table} WHERE ...\" -o {table}.csv"
                ));
            }
            Self::NotMade { .. } => "export to another path, or replace it with --force",
            Self::Overtaken(..) => "run the same command again",
            Self::NoDuckdb(..) => {
                "install DuckDB's command line program (https://duckdb.org, or `pip install duckdb-cli`), \
                 or give its path with --duckdb"
            }
            Self::Foreign(..) => "export to another folder",
            Self::WrongTarget { .. } | Self::Duckdb(..) => return None,
        };
        Some(hint.to_owned())
    }

    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Read(path, source)
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write(path, source)
    }
}
