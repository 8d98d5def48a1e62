//! The lake: snapshots of Parquet files, each made whole or not at all.
//!
//! ```text
//! <root>/
//!   current -> snapshots/000042      what readers open; swapped by rename
//!   commits/000042.json              the truth: created once, never changed
//!   snapshots/000042/<table>/…       only Parquet; unchanged files are hard links to the snapshot before
//!   runs/<run_id>/raw/               pages as received
//!   runs/<run_id>/staged/            a snapshot being made
//!   state/lock                       who writes
//! ```
//!
//! The order of a run: raw page archived → rows spilled → months merged into staged files (each synced, re-opened,
//! checked) → files linked into a snapshot folder under a temporary name → that folder renamed → commit created if
//! absent → `current` swapped. A kill between any two leaves the old snapshot whole, and the next lock clears what
//! was left behind; from the commit on, the new snapshot is the lake, and the next lock moves `current` to it.
//!
//! | file | knows |
//! | --- | --- |
//! | `path` | names and folders, and what never becomes one |
//! | `storage` | every operation that changes the disk |
//! | `part` | one Parquet file |
//! | `manifest` | what a commit says |
//! | `lock` | one writer, and repair |
//! | `spill` | observed filings on their way to their month |
//! | `month` | existing and observed filings of one month → the new month, and what changed |
//! | `moved` | businesses whose filing month changed |
//! | `change` | rows of the `changes` table |
//! | `upsert` | the same for the other tables, by key |
//! | `plain` | types that every reader knows |
//! | `staging` | a snapshot being made |
//! | `filings` | the merge of filings into it |
//! | `publish` | the commit |
//! | `verify` | files against their commit |
//! | `raw` | pages as received |
//! | `run` | what a run is, and how it ended |

mod change;
mod error;
#[cfg(test)]
mod fault;
mod filings;
mod lock;
mod manifest;
mod month;
mod moved;
mod part;
mod path;
mod plain;
mod publish;
mod raw;
#[cfg(test)]
mod rows_for_tests;
mod run;
mod spill;
mod staging;
mod storage;
#[cfg(test)]
mod tests;
mod upsert;
mod verify;

pub use error::LakeError;
pub use lock::{LakeLock, Repair};
pub use manifest::{Commit, FORMAT_VERSION, FileEntry, TableManifest};
pub use path::Month;
pub use publish::CommitInfo;
pub use raw::{RawArchive, RawPage};
pub use run::{Quarantine, RunDir, RunRecord};
pub use staging::{Staging, TableDelta};
pub use verify::{Problem, VerifyReport};

use path::Layout;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use storage::Storage;

/// A lake on the local disk.
#[derive(Debug, Clone)]
pub struct Lake {
    layout: Layout,
    storage: Storage,
}

impl Lake {
    /// The lake at `root`. A missing folder is an empty lake; nothing is written before [`Lake::lock`].
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`] when `root` is something else than a folder; [`LakeError::Newer`] and
    /// [`LakeError::Damaged`] about the newest commit.
    pub fn open(root: &Path) -> Result<Self, LakeError> {
        Self::open_on(root, Storage::default())
    }

    fn open_on(root: &Path, storage: Storage) -> Result<Self, LakeError> {
        match fs::metadata(root) {
            Ok(found) if !found.is_dir() => {
                let source = io::Error::from(io::ErrorKind::NotADirectory);
                return Err(LakeError::Storage { op: "open", path: root.to_path_buf(), source });
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(LakeError::Storage { op: "open", path: root.to_path_buf(), source: error });
            }
            _ => {}
        }
        let lake = Self { layout: Layout { root: root.to_path_buf() }, storage };
        lake.current()?;
        Ok(lake)
    }

    /// Folder of the lake.
    pub fn root(&self) -> &Path {
        &self.layout.root
    }

    /// The newest commit; none in an empty lake.
    pub fn current(&self) -> Result<Option<Commit>, LakeError> {
        self.commits()?.last().map(|snapshot| self.commit(*snapshot)).transpose()
    }

    /// The commit of a snapshot.
    ///
    /// # Errors
    ///
    /// [`LakeError::NoSnapshot`]; [`LakeError::Newer`] when a newer sunlake wrote it; [`LakeError::Damaged`].
    pub fn commit(&self, snapshot: u64) -> Result<Commit, LakeError> {
        let path = self.layout.commit(snapshot);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LakeError::NoSnapshot { snapshot });
            }
            other => other.map_err(LakeError::storage("read", &path))?,
        };
        let commit = Commit::decode(&bytes, &path)?;
        if commit.snapshot != snapshot {
            return Err(LakeError::damaged(&path, format!("it speaks of snapshot {}", commit.snapshot)));
        }
        Ok(commit)
    }

    /// Numbers of all commits, oldest first.
    pub fn commits(&self) -> Result<Vec<u64>, LakeError> {
        let names = storage::names(&self.layout.commits())?;
        let mut numbers: Vec<u64> =
            names.iter().filter_map(|name| path::parse_snapshot(name.strip_suffix(".json")?)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Folder of a snapshot's tables.
    pub fn snapshot_dir(&self, snapshot: u64) -> PathBuf {
        self.layout.snapshot(snapshot)
    }

    /// Folder of a run.
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`] when the id may not become a folder.
    pub fn run_dir(&self, run_id: &str) -> Result<PathBuf, LakeError> {
        path::check_run_id(run_id)?;
        Ok(self.layout.run(run_id))
    }

    /// Folder of what outlives a run without being data: the lock, the budget ledger.
    pub fn state_dir(&self) -> PathBuf {
        self.layout.state()
    }

    /// Deletes the folders of old snapshots; their commits stay as history. The newest is never deleted.
    ///
    /// Files that other snapshots share stay, since each snapshot has its own link. Returns what was deleted.
    pub fn prune(&self, _lock: &LakeLock, snapshots: &BTreeSet<u64>) -> Result<Vec<u64>, LakeError> {
        let newest = self.commits()?.last().copied();
        let mut pruned = Vec::new();
        for snapshot in snapshots.iter().copied().filter(|snapshot| Some(*snapshot) != newest) {
            let dir = self.layout.snapshot(snapshot);
            if dir.is_dir() {
                self.storage.remove_dir_all(&dir)?;
                pruned.push(snapshot);
            }
        }
        Ok(pruned)
    }
}
