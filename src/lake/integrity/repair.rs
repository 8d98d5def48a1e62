//! The repair of the files of snapshots. `pipeline::maintain::repair` decides what is done with which.

use crate::lake::backend::disk::{FileState, TEMPORARY, check_digest, file_state};
use crate::lake::error::LakeError;
use crate::lake::format::layout::folder_of;
use crate::lake::format::manifest::{Commit, FileEntry, object_name};
use crate::lake::handle::Lake;
use crate::lake::snapshot::write_lock::LakeLock;
use std::path::{Path, PathBuf};

/// A file of a snapshot that is not what its commit says.
#[derive(Debug, Clone)]
pub(crate) struct DamagedFile {
    pub(crate) snapshot: u64,
    pub(crate) table: String,
    pub(crate) entry: FileEntry,
    pub(crate) path: PathBuf,
    /// Where a user finds it.
    pub(crate) user_path: PathBuf,
}

impl Lake {
    /// Every file of a kept or pending snapshot that is missing or not what its commit says, oldest snapshot first.
    pub(crate) fn damaged_files(&self) -> Result<Vec<DamagedFile>, LakeError> {
        let mut damaged = Vec::new();
        for commit in self.readable_commits()? {
            let dir = self.layout.snapshot(commit.snapshot);
            for (table, manifest) in &commit.tables {
                for entry in &manifest.files {
                    if self.backend.file_state(&commit, entry)? != FileState::Intact {
                        damaged.push(DamagedFile {
                            snapshot: commit.snapshot,
                            table: table.clone(),
                            entry: entry.clone(),
                            path: dir.join(&entry.path),
                            user_path: self.open_snapshot(&commit).path_for_user(entry),
                        });
                    }
                }
            }
        }
        Ok(damaged)
    }

    /// Commits of kept and pending snapshots that can be read, oldest first.
    fn readable_commits(&self) -> Result<Vec<Commit>, LakeError> {
        let mut commits = Vec::new();
        for snapshot in self.kept_snapshots()? {
            commits.extend(readable(self.commit(snapshot))?);
        }
        for snapshot in self.pending_snapshots()? {
            commits.extend(readable(self.pending_commit(snapshot))?);
        }
        commits.sort_by_key(|commit| commit.snapshot);
        Ok(commits)
    }

    /// A local file with the content that a damaged one should have, and its snapshot: another snapshot or, for a lake in
    /// an object store, the same one in the working copy.
    pub(crate) fn intact_copy(&self, damaged: &DamagedFile) -> Result<Option<(u64, PathBuf)>, LakeError> {
        for commit in self.readable_commits()? {
            for entry in commit.files(None).filter(|entry| entry.blake3 == damaged.entry.blake3) {
                let path = self.layout.snapshot(commit.snapshot).join(&entry.path);
                if file_state(&path, entry)? == FileState::Intact {
                    return Ok(Some((commit.snapshot, path)));
                }
            }
        }
        Ok(None)
    }

    /// The oldest commit with a file: that of the run which wrote it.
    pub(crate) fn origin_commit(&self, entry: &FileEntry) -> Result<Option<Commit>, LakeError> {
        for snapshot in self.commits()? {
            let commit = readable(self.commit(snapshot))?;
            let has_it = |commit: &Commit| commit.files(None).any(|known| known.blake3 == entry.blake3);
            if commit.as_ref().is_some_and(has_it) {
                return Ok(commit);
            }
        }
        Ok(None)
    }

    /// Replaces a damaged file by an intact one, atomically.
    pub(crate) fn replace_damaged(
        &self,
        _lock: &LakeLock,
        damaged: &DamagedFile,
        intact: &Path,
    ) -> Result<(), LakeError> {
        check_digest(intact, &damaged.entry)?;
        // If only the object store has it damaged, the working copy keeps its own.
        if file_state(&damaged.path, &damaged.entry)? != FileState::Intact {
            self.replace_by_link(intact, &damaged.path)?;
        }
        let snapshot = damaged.entry.origin_snapshot.unwrap_or(damaged.snapshot);
        self.backend.upload(&damaged.path, &object_name(snapshot, &damaged.entry))
    }

    /// Replaces the file `old` by a hard link to `file`, or by a copy.
    fn replace_by_link(&self, file: &Path, old: &Path) -> Result<(), LakeError> {
        let folder = folder_of(old);
        let staged = self.layout.snapshots().join(format!("{TEMPORARY}repaired"));
        self.storage.remove_file(&staged)?;
        self.storage.link(file, &staged)?;
        self.storage.create_durable_dir_all(folder)?;
        self.storage.rename(&staged, old)?;
        self.storage.sync_dir(folder)
    }
}

/// The commit; none if it is damaged.
pub(super) fn readable(commit: Result<Commit, LakeError>) -> Result<Option<Commit>, LakeError> {
    match commit {
        Err(LakeError::Damaged { .. }) => Ok(None),
        other => other.map(Some),
    }
}
