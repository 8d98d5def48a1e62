//! The lake: snapshots of Parquet files. A snapshot appears complete or not at all.
//!
//! ```text
//! <root>/
//!   current -> snapshots/000042      the snapshot that readers open; replaced by rename
//!   commits/000042.json              the truth: created once, never changed
//!   snapshots/000042/<table>/…       only Parquet; unchanged files are hard links to the snapshot before
//!   catalog/                         descriptions of the newest snapshot for other programs
//!   runs/<run_id>/raw/               pages as received
//!   runs/<run_id>/staged/            a snapshot in the making
//!   held/000043.json                 the commit of a snapshot that is pending review
//!   pins/ pruned/                    marks on snapshots; copies/ has each again
//!   state/lock                       the lock of the one writer
//!   state/probed                     in an object store: the store that was tried before its first commit
//! ```
//!
//! The technique is optimistic commit by put-if-absent, as Delta Lake and `object_store` do it, with
//! write-audit-publish for snapshots that fail a check. The order of a run:
//!
//! 1. Archive each raw page.
//! 2. Spill rows, then merge them by month into staged files. Sync, reopen and check each file.
//! 3. Link the files into a snapshot folder under a temporary name, and rename that folder.
//! 4. Create the commit if it is absent. From here the new snapshot is the lake.
//! 5. Replace `current`.
//!
//! After a kill before step 4 the old snapshot is unchanged, and the next lock deletes the leftovers. After a kill before
//! step 5 the next lock points `current` to the new snapshot.
//!
//! # Files, in reading order
//!
//! - `error`: what can fail, and what a caller does about it
//! - `format`: names, commits and other small files of a lake
//! - `backend`: where a lake is stored: a folder, or an object store with a working copy
//! - `handle`: an open lake
//! - `probe`: the write lock for commits, and the trial of a store before the first one
//! - `catalog`: the descriptions of the newest snapshot, and the list of their digests
//! - `data_file`: one Parquet file of a lake
//! - `run`: the folder of a run: its record, raw pages and quarantine
//! - `snapshot`: snapshots: made, committed, read, compared, pruned
//! - `merge`: observed rows and existing rows become the new files of a table
//! - `integrity`: verification of a lake, and its repair

mod backend;
mod catalog;
mod data_file;
mod error;
mod format;
mod handle;
mod integrity;
mod merge;
mod probe;
#[cfg(test)]
mod rows_for_tests;
mod run;
mod snapshot;
#[cfg(test)]
mod tests;

pub use backend::prefix::{Prefix, PrefixFile};
pub use backend::url::{CLOUD_VARIABLES, is_address};
pub use error::LakeError;
pub use format::layout::Month;
pub(crate) use format::layout::folder_of;
pub use format::manifest::{Commit, FORMAT_VERSION, FileEntry, INVENTED, TableManifest};
pub use format::run_record::{RunFile, RunRecord, new_run_id};
pub use handle::{Lake, LakeOptions};
pub(crate) use handle::{holds_lake, is_lake_folder};
pub use integrity::problem::{Problem, VerifyReport};
pub(crate) use integrity::repair::DamagedFile;
pub use merge::losses::Losses;
pub use merge::partition::{MonthPart, PartWriter};
pub use run::page_archive::{RawArchive, RawPage};
pub use run::quarantine::Quarantine;
pub use run::run_dir::RunDir;
pub use snapshot::changed_months::MonthFiles;
pub use snapshot::commit::CommitInfo;
pub use snapshot::diff::{DiffKind, Example, SnapshotDiff, TableDiff};
pub use snapshot::history::{SnapshotEntry, SnapshotState};
pub use snapshot::prune::{PruneRules, Pruning};
pub use snapshot::retention::Retention;
pub use snapshot::staging::{Base, Staging, TableDelta};
pub use snapshot::verified_read::{Snapshot, check_snapshot_folder};
pub use snapshot::write_lock::LakeLock;
