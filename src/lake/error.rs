//! The errors of the lake. Each variant is one way in which a caller reacts.

use super::backend::http_way::UNTRUSTED;
use crate::contract::hint::{NEWER_SUNLAKE, TRUST};
use crate::table::TableError;
use crate::table::{REPAIR, of_lake_file};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of the lake.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum LakeError {
    /// An operation of the disk failed: full, read-only, gone, no permission.
    #[error("cannot {op} {}: {source}", path.display())]
    Storage { op: &'static str, path: PathBuf, source: io::Error },
    /// A request to the object store failed, or the store cannot be reached.
    #[error("cannot {op} {url}: {what}")]
    Remote { op: &'static str, url: String, what: String },
    /// The place of the lake breaks a guarantee that commits need.
    #[error("{place} cannot keep a lake: {what}")]
    Unreliable { place: String, what: String },
    /// An address that cannot be one of an object store.
    #[error("{address} is no address of an object store: {what}")]
    Address { address: String, what: String },
    /// A variable of an object store that cannot be used. Its value may contain a secret.
    #[error("{name} is not {what}")]
    Setting { name: String, what: &'static str },
    /// Another run holds the lake.
    #[error("another run holds the lake ({holder})")]
    Held { holder: String },
    /// Another writer committed this snapshot first.
    #[error("snapshot {snapshot} was committed by another writer first")]
    Conflict { snapshot: u64 },
    /// The snapshot is committed, but the pointer that readers follow could not be advanced.
    #[error("snapshot {snapshot} is committed, but readers do not see it yet")]
    NotShown { snapshot: u64, source: Box<LakeError> },
    /// A newer sunlake wrote this.
    #[error("{} has {what} {found}, this sunlake knows {known} at most", path.display())]
    Newer { path: PathBuf, what: &'static str, found: u32, known: u32 },
    /// The lake has no such snapshot.
    #[error("the lake has no snapshot {snapshot}")]
    NoSnapshot { snapshot: u64 },
    /// The snapshot's tables were deleted by a retention rule.
    #[error("snapshot {snapshot} was pruned: its commit is history, its tables are gone")]
    Pruned { snapshot: u64 },
    /// The snapshot is not pending review.
    #[error("snapshot {snapshot} is not pending review")]
    NotHeld { snapshot: u64 },
    /// A pending snapshot cannot be published: another snapshot was published since it was made.
    #[error(
        "snapshot {snapshot} is pending review and follows {}, but the newest is {}",
        number(*parent), number(*newest)
    )]
    Overtaken { snapshot: u64, parent: Option<u64>, newest: Option<u64> },
    /// A folder has the name of the link to the newest snapshot, and is not a copy of that snapshot.
    #[error("{} is a folder with other files than the newest snapshot, where the lake has a link", path.display())]
    InTheWay { path: PathBuf },
    /// A file is not what the lake wrote.
    #[error("{} is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    /// A name that may not become part of a path.
    #[error("{name:?} is not a {what}")]
    Name { what: &'static str, name: String },
    /// Rows that do not have the columns of their table.
    #[error("rows do not fit table {table}: {what}")]
    Schema { table: String, what: String },
    /// An operation of Arrow failed.
    #[error("cannot {op}: {source}")]
    Arrow { op: &'static str, source: arrow_schema::ArrowError },
}

fn number(snapshot: Option<u64>) -> String {
    snapshot.map_or("nothing".to_owned(), |number| format!("snapshot {number}"))
}

impl LakeError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Storage { path, source, .. } => return of_lake_file(path, source),
            // Its certificate could not be trusted.
            Self::Remote { what, .. } if what.contains(UNTRUSTED) => TRUST,
            Self::Unreliable { .. } => {
                "use a store that creates an object only if it is absent (Amazon S3, Google Cloud Storage, Azure, Cloudflare R2, MinIO), \
                 or a lake in a folder of this machine"
            }
            Self::Address { .. } => "give a path, or s3://, gs:// or az:// with bucket and name",
            Self::Setting { .. } => "correct the variable, or unset it",
            Self::Held { .. } => "wait until the other run ends, or stop it",
            Self::Conflict { .. } => "run again: the next run continues from the newer snapshot",
            Self::NotShown { .. } => "run the pipeline again: the next run repairs this",
            Self::Newer { .. } => NEWER_SUNLAKE,
            Self::NoSnapshot { .. } | Self::Pruned { .. } | Self::NotHeld { .. } => {
                "list the snapshots: `sunlake snapshot list`"
            }
            Self::Overtaken { .. } => "run the pipeline again: the next run reads the same changes",
            Self::InTheWay { path } => {
                let (path, above) = (path.display(), path.parent().unwrap_or(path).display());
                return Some(format!(
                    "move the folder out of the lake: mv {path} {above}-copy; then {REPAIR}"
                ));
            }
            Self::Damaged { .. } => REPAIR,
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Whether the disk of this machine has no room, or a quota is used up.
    pub(crate) fn is_full_disk(&self) -> bool {
        let is_full = |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        matches!(self, Self::Storage { source, .. } if is_full(source.kind()))
    }

    /// For `map_err`: an error of the disk.
    pub(super) fn storage(op: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Storage { op, path, source }
    }

    /// For `map_err`: an error of Arrow.
    pub(super) fn arrow(op: &'static str) -> impl FnOnce(arrow_schema::ArrowError) -> Self {
        move |source| Self::Arrow { op, source }
    }

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
            TableError::Schema { place, what } => Self::Schema { table: place, what },
            TableError::UnsupportedType { column, .. } | TableError::Value { column, .. } => {
                Self::Schema { table: format!("with column {column}"), what }
            }
            TableError::Unsorted { path, .. } => Self::Damaged { path, what },
        }
    }
}
