//! The lake: snapshots of Parquet files, each made whole or not at all.
//!
//! ```text
//! <root>/
//!   current -> snapshots/000042      what readers open; swapped by rename
//!   commits/000042.json              the truth: created once, never changed
//!   snapshots/000042/<table>/…       only Parquet; unchanged files are hard links to the snapshot before
//!   catalog/                         what others read about the newest snapshot
//!   runs/<run_id>/raw/               pages as received
//!   runs/<run_id>/staged/            a snapshot being made
//!   held/000043.json                 the commit of a snapshot that a check held
//!   pins/ pruned/                    marks on snapshots
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
//! | `home` | what the commit protocol asks of the place of a lake |
//! | `folder` | that place as a folder of the local disk |
//! | `bucket` | that place as an object store, with a working copy |
//! | `storage` | every operation that changes the disk |
//! | `objects` | every request to an object store |
//! | `address` | which store an address means |
//! | `part` | one Parquet file |
//! | `manifest` | what a commit says |
//! | `lock` | one writer, and repair |
//! | `spill` | observed filings on their way to their month |
//! | `observed` | which of them are the newest |
//! | `month` | existing and observed filings of one month → the new month, and what changed |
//! | `moved` | businesses whose filing month changed |
//! | `change` | rows of the `changes` table |
//! | `upsert` | the same for the other tables, by key |
//! | `plain` | types that every reader knows |
//! | `staging` | a snapshot being made |
//! | `filings` | the merge of filings into it |
//! | `publish` | the commit |
//! | `held` | a snapshot that a check kept from readers |
//! | `restore` | an old snapshot published again |
//! | `history` | how every snapshot stands |
//! | `mark` | pinned, pruned |
//! | `retention` | which snapshots stay |
//! | `prune` | what goes, and its going |
//! | `diff` | rows that differ between two snapshots |
//! | `inspect` | what the checks look at before publishing |
//! | `sound` | files handed out only as they were committed |
//! | `seal` | small files that tell when they are damaged |
//! | `verify` | files against their commit |
//! | `audit` | the whole lake against what was written |
//! | `mend` | damage put right, piece by piece |
//! | `raw` | pages as received |
//! | `run` | what a run is, and how it ended |

mod backend;
mod data_file;
mod error;
mod format;
mod integrity;
mod merge;
#[cfg(test)]
mod rows_for_tests;
mod run;
mod snapshot;
#[cfg(test)]
mod tests;

pub use backend::url::{CLOUD_VARIABLES, is_address};
pub use error::LakeError;
pub use format::layout::Month;
pub use format::manifest::{Commit, FORMAT_VERSION, FileEntry, TableManifest};
pub(crate) use integrity::repair::DamagedFile;
pub use integrity::verify::{Problem, VerifyReport};
pub use run::page_archive::{RawArchive, RawPage};
pub use run::{Quarantine, RunDir, RunFile, RunRecord};
pub use snapshot::changed_months::MonthFiles;
pub use snapshot::commit::CommitInfo;
pub use snapshot::diff::{DiffKind, Example, SnapshotDiff, TableDiff};
pub use snapshot::history::{SnapshotEntry, Standing};
pub use snapshot::prune::{PruneRules, Pruning};
pub use snapshot::retention::{Kept, Retention};
pub use snapshot::staging::{Staging, TableDelta};
pub use snapshot::verified_read::check_snapshot_folder;
pub use snapshot::write_lock::{LakeLock, Repair};

use crate::table::{Table, Upgrades};
use arrow::record_batch::RecordBatch;
use backend::Home;
use backend::disk::Storage;
use backend::local::Folder;
use backend::object_client::Objects;
use backend::remote::Bucket;
use format::layout::Layout;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A lake: in a folder, or in an object store with a folder as its working copy.
#[derive(Debug, Clone)]
pub struct Lake {
    layout: Layout,
    storage: Storage,
    home: Arc<dyn Home>,
    upgrades: Upgrades,
}

impl fmt::Display for Lake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.home.shown())
    }
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

    /// As [`Lake::open`], whatever the newest commit looks like: for a verification and a repair.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`] when `root` is something else than a folder.
    pub fn open_as_it_is(root: &Path) -> Result<Self, LakeError> {
        Self::at(root, Storage::default())
    }

    fn open_on(root: &Path, storage: Storage) -> Result<Self, LakeError> {
        let lake = Self::at(root, storage)?;
        lake.current()?;
        Ok(lake)
    }

    fn at(root: &Path, storage: Storage) -> Result<Self, LakeError> {
        check_folder(root)?;
        let layout = Layout { root: root.to_path_buf() };
        let folder = Folder { layout: layout.clone(), storage: storage.clone() };
        Ok(Self { layout, storage, home: Arc::new(folder), upgrades: Upgrades::SHIPPED })
    }

    /// The lake at an address (`s3://…`, `gs://…`, `az://…`), with the folder `work` of this machine as its working
    /// copy. `variables` are those of the environment that begin as [`CLOUD_VARIABLES`]: keys, regions, endpoints.
    ///
    /// # Errors
    ///
    /// [`LakeError::Address`]; [`LakeError::Remote`] when the store cannot be reached, or refuses; what [`Lake::open`]
    /// says of the folder and of the newest commit.
    pub fn open_at(address: &str, work: &Path, variables: &[(String, String)]) -> Result<Self, LakeError> {
        Self::open_in(backend::url::open(address, variables)?, work, Storage::default())
    }

    /// As [`Lake::open_at`], whatever the newest commit looks like: for a verification and a repair.
    ///
    /// # Errors
    ///
    /// As [`Lake::open_at`], the newest commit apart.
    pub fn open_at_as_it_is(
        address: &str,
        work: &Path,
        variables: &[(String, String)],
    ) -> Result<Self, LakeError> {
        Self::found_in(backend::url::open(address, variables)?, work, Storage::default())
    }

    fn open_in(objects: Objects, work: &Path, storage: Storage) -> Result<Self, LakeError> {
        let lake = Self::found_in(objects, work, storage)?;
        lake.current()?;
        Ok(lake)
    }

    fn found_in(objects: Objects, work: &Path, storage: Storage) -> Result<Self, LakeError> {
        check_folder(work)?;
        let layout = Layout { root: work.to_path_buf() };
        let folder = Folder { layout: layout.clone(), storage: storage.clone() };
        let home = Arc::new(Bucket::new(folder, objects));
        let lake = Self { layout, storage, home, upgrades: Upgrades::SHIPPED };
        lake.refresh()?;
        Ok(lake)
    }

    /// Folder of the lake; of a lake in an object store, its working copy.
    pub fn root(&self) -> &Path {
        &self.layout.root
    }

    /// The newest commit; none in an empty lake.
    pub fn current(&self) -> Result<Option<Commit>, LakeError> {
        self.home.newest()?.map(|snapshot| self.commit(snapshot)).transpose()
    }

    /// Looks for what others committed to an object store since this lake was opened. A folder needs no such look.
    ///
    /// # Errors
    ///
    /// [`LakeError::Remote`].
    pub fn refresh(&self) -> Result<(), LakeError> {
        self.home.refresh()
    }

    /// The commit of a snapshot.
    ///
    /// # Errors
    ///
    /// [`LakeError::NoSnapshot`]; [`LakeError::Newer`] when a newer sunlake wrote it; [`LakeError::Damaged`].
    pub fn commit(&self, snapshot: u64) -> Result<Commit, LakeError> {
        self.decoded(snapshot, self.home.read_commit(snapshot)?)
    }

    /// As [`Lake::commit`], as it lies at home now: for a verification.
    fn commit_at_home(&self, snapshot: u64) -> Result<Commit, LakeError> {
        self.decoded(snapshot, self.home.read_commit_anew(snapshot)?)
    }

    fn decoded(&self, snapshot: u64, bytes: Option<Vec<u8>>) -> Result<Commit, LakeError> {
        let bytes = bytes.ok_or(LakeError::NoSnapshot { snapshot })?;
        let path = self.home_path(&self.layout.commit(snapshot));
        let commit = Commit::decode(&bytes, &path)?;
        if commit.snapshot != snapshot {
            return Err(LakeError::damaged(&path, format!("it speaks of snapshot {}", commit.snapshot)));
        }
        Ok(commit)
    }

    /// Whether the lake lies in an object store, and its folder is a working copy.
    fn is_in_store(&self) -> bool {
        self.to_string() != self.root().display().to_string()
    }

    /// Where a person finds what has this path on this machine: in an object store, not in the working copy.
    fn home_path(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(self.root()) {
            Ok(inside) if self.is_in_store() => Path::new(&self.to_string()).join(inside),
            _ => path.to_path_buf(),
        }
    }

    /// Numbers of all commits, oldest first.
    pub fn commits(&self) -> Result<Vec<u64>, LakeError> {
        self.home.commits()
    }

    /// Paths of the files of a table in a snapshot, none when it has no such table. What an object store holds is
    /// brought first, and is as the commit says when it is given out.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`], [`LakeError::Remote`], [`LakeError::Damaged`].
    pub fn table_files(&self, commit: &Commit, table: &str) -> Result<Vec<PathBuf>, LakeError> {
        self.home.bring(commit, Some(table))?;
        Ok(commit.table_files(&self.snapshot_dir(commit.snapshot), table))
    }

    /// Folder of a snapshot with all of its tables, brought first where it lies in an object store.
    ///
    /// # Errors
    ///
    /// As [`Lake::table_files`].
    pub fn whole_snapshot(&self, commit: &Commit) -> Result<PathBuf, LakeError> {
        self.home.bring(commit, None)?;
        Ok(self.snapshot_dir(commit.snapshot))
    }

    /// Replaces a small file of the lake by its name in it, say `catalog/TABLES.md`, whole: a reader sees the old one
    /// or the new one. Gives its path on this machine.
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`] for a name that leads out of the lake; [`LakeError::Storage`], [`LakeError::Remote`].
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, LakeError> {
        format::layout::check_file_name(name)?;
        self.home.write(name, bytes)?;
        Ok(self.layout.root.join(name))
    }

    /// Tries what a commit needs of the lake's home: a file is written, read back, refused a second creation and
    /// deleted. `token` makes the name of that file, and must be new each time.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`] when the home does not keep what commits rely on; [`LakeError::Storage`],
    /// [`LakeError::Remote`], [`LakeError::Name`].
    pub fn probe(&self, token: &str) -> Result<(), LakeError> {
        format::layout::check_run_id(token)?;
        self.home.probe(&format!("state/probe-{token}"))
    }

    /// Folder of a snapshot's tables on this machine. Of a lake in an object store it holds what was brought:
    /// [`Lake::table_files`] and [`Lake::whole_snapshot`] bring first.
    pub fn snapshot_dir(&self, snapshot: u64) -> PathBuf {
        self.layout.snapshot(snapshot)
    }

    /// The snapshot that `current` shows; none where nothing is shown that way, as in an object store.
    pub fn shown(&self) -> Option<u64> {
        Layout::shown_by(&fs::read_link(self.layout.current()).ok()?)
    }

    /// Folder of a run.
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`] when the id may not become a folder.
    pub fn run_dir(&self, run_id: &str) -> Result<PathBuf, LakeError> {
        format::layout::check_run_id(run_id)?;
        Ok(self.layout.run(run_id))
    }

    /// Folder of what outlives a run without being data: the lock, the budget ledger.
    pub fn state_dir(&self) -> PathBuf {
        self.layout.state()
    }

    /// Rows of a table that a commit of schema version `from` names, in today's columns.
    pub(crate) fn upgraded(
        &self,
        table: Table,
        from: u32,
        rows: RecordBatch,
    ) -> Result<RecordBatch, LakeError> {
        let failed = |error: crate::table::TableError| LakeError::Schema {
            table: table.name().to_owned(),
            what: error.to_string(),
        };
        self.upgrades.apply(table, from, rows).map_err(failed)
    }
}

fn check_folder(root: &Path) -> Result<(), LakeError> {
    let source = match fs::metadata(root) {
        Ok(found) if !found.is_dir() => io::Error::from(io::ErrorKind::NotADirectory),
        Err(error) if error.kind() != io::ErrorKind::NotFound => error,
        _ => return Ok(()),
    };
    Err(LakeError::storage("open", root)(source))
}
