//! What the commit protocol asks of the place that stores a lake, and the copy of each commit in its run's folder.

use super::disk::{self, FileState};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{self, COMMITS, Layout, snapshot_name};
use crate::lake::format::manifest::{Commit, Digest, FileEntry, StagedFile};
use crate::lake::format::run_record::RunFile;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// What a recovery changed after a killed run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Repair {
    /// Unfinished files and folders that were deleted.
    pub(crate) removed: Vec<PathBuf>,
    /// The committed snapshot that `current` or `latest.json` now points to.
    pub(crate) shown: Option<u64>,
}

/// The store of a lake. Methods with a body are the hooks of an object store, whose working copy mirrors it; a folder
/// needs none of them.
pub(crate) trait Backend: fmt::Debug + Send + Sync {
    /// Address of the object store, without credentials; none for a folder.
    fn remote_url(&self) -> Option<String> {
        None
    }

    /// What distinguishes this object store and its settings from others; none for a folder.
    fn place(&self) -> Option<String> {
        None
    }

    /// Looks for commits of other machines.
    fn refresh(&self) -> Result<(), LakeError> {
        Ok(())
    }

    /// Makes files of a snapshot available in its local folder, checked against the commit: all, or those of one table.
    fn download_files(&self, _commit: &Commit, _table: Option<&str>) -> Result<(), LakeError> {
        Ok(())
    }

    /// Downloads the records of the newest `most` runs of other machines.
    fn download_run_records(&self, _most: usize) -> Result<(), LakeError> {
        Ok(())
    }

    /// Downloads the raw pages of a run. Returns the names of the chunks in the store; none for a folder.
    fn download_pages(&self, _run_id: &str) -> Result<Option<BTreeSet<String>>, LakeError> {
        Ok(None)
    }

    /// Uploads a finished local file under a name in the lake.
    fn upload(&self, _file: &Path, _name: &str) -> Result<(), LakeError> {
        Ok(())
    }

    /// Number of the newest commit; none in an empty lake.
    fn newest(&self) -> Result<Option<u64>, LakeError> {
        Ok(self.commits()?.last().copied())
    }

    /// Numbers of all commits, oldest first.
    fn commits(&self) -> Result<BTreeSet<u64>, LakeError> {
        self.numbers("commits")
    }

    /// The snapshot numbers in the names of a folder's files.
    fn numbers(&self, folder: &str) -> Result<BTreeSet<u64>, LakeError> {
        Ok(layout::snapshot_numbers(&self.names(folder)?))
    }

    /// The commit file of a snapshot, from the working copy if that has it; none where there is no such commit.
    fn read_commit(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError> {
        self.read(&Layout::commit_name(snapshot))
    }

    /// Compares the stored file with its entry, ignoring the working copy. An intact file is in its local folder
    /// afterwards; otherwise the local folder does not change.
    fn file_state(&self, commit: &Commit, entry: &FileEntry) -> Result<FileState, LakeError>;

    /// Puts the files of a coming snapshot where its commit will name them. Nobody reads them before the commit.
    fn stage_files(&self, snapshot: u64, run_id: &str, files: &[&StagedFile]) -> Result<(), LakeError>;

    /// Creates a commit; `false` when another writer created it first.
    fn create_commit(&self, snapshot: u64, bytes: &[u8]) -> Result<bool, LakeError> {
        self.create(&Layout::commit_name(snapshot), bytes)
    }

    /// Deletes the staged files of a commit that failed. The next recovery deletes what stays.
    fn abort(&self, snapshot: u64, files: &[&StagedFile]);

    /// Points readers to this snapshot.
    fn advance_pointer(&self, commit: &Commit) -> Result<(), LakeError>;

    /// Local path of the pointer.
    fn pointer(&self) -> PathBuf;

    /// Whether the pointer does not lead readers to the newest commit.
    fn is_pointer_stale(&self, newest: u64) -> Result<bool, LakeError>;

    /// The snapshot that the pointer names; none where it is missing or damaged.
    fn pointed_to(&self) -> Result<Option<u64>, LakeError>;

    /// The name in the lake of a run's file.
    fn run_file_name(&self, run_id: &str, file: &RunFile) -> String {
        format!("runs/{run_id}/{}", file.path)
    }

    /// The digest of a file by its name, ignoring the working copy; none where it is missing.
    fn digest(&self, name: &str) -> Result<Option<Digest>, LakeError>;

    /// Deletes the files of snapshots that no kept snapshot names; their commits stay. The snapshots are marked as
    /// pruned or were never published.
    fn drop_snapshots(&self, snapshots: &BTreeSet<u64>) -> Result<(), LakeError>;

    /// Repairs what a killed writer left. Only the holder of the lock calls this.
    fn recover(&self) -> Result<Repair, LakeError>;

    /// Reads a small file of the lake by its name, for example `catalog/TABLES.md`; none where there is none.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, LakeError>;

    /// Replaces a small file atomically.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), LakeError>;

    /// Creates a small file atomically; `false` when it exists.
    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, LakeError>;

    /// Deletes a small file; a missing one is no error.
    fn remove(&self, name: &str) -> Result<(), LakeError>;

    /// Deletes a folder with its content; a missing one is no error.
    fn remove_folder(&self, name: &str) -> Result<(), LakeError>;

    /// Names of the files in a folder, sorted; empty where the folder is missing.
    fn names(&self, folder: &str) -> Result<Vec<String>, LakeError>;
}

/// Name in the lake of the copy of a commit in its run's folder.
pub(crate) fn copy_name(run_id: &str, snapshot: u64) -> String {
    format!("runs/{run_id}/{COMMITS}/{}.json", snapshot_name(snapshot))
}

/// The copy of a commit in its run's folder; none where no run has an intact one. A killed run's snapshot number is given
/// again, so 2 runs may have a copy: the one committed later counts.
pub(crate) fn kept_copy(
    backend: &dyn Backend,
    layout: &Layout,
    snapshot: u64,
) -> Result<Option<Vec<u8>>, LakeError> {
    let mut newest: Option<(Timestamp, Vec<u8>)> = None;
    for run_id in disk::names(&layout.runs())?.iter().filter(|name| layout::check_run_id(name).is_ok()) {
        let name = copy_name(run_id, snapshot);
        let path = layout.root.join(&name);
        let intact = |bytes: Vec<u8>| {
            let commit = Commit::decode(&bytes, &path).ok().filter(|commit| commit.snapshot == snapshot)?;
            Some((commit.committed_at, bytes))
        };
        let found = match disk::read(&path)?.and_then(intact) {
            Some(local) => Some(local),
            None => backend.read(&name)?.and_then(intact),
        };
        newest = newest.max(found);
    }
    Ok(newest.map(|(_, bytes)| bytes))
}
