//! The repair of single files. `pipeline::maintain::repair` decides what is done with which.

use super::verify::{Problem, ProblemKind};
use crate::lake::backend::disk::{self, FileState, TEMPORARY, check_digest, file_state};
use crate::lake::backend::protocol::kept_copy;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Layout, RAW, RECORD};
use crate::lake::format::manifest::{Commit, FileEntry, object_name};
use crate::lake::handle::Lake;
use crate::lake::snapshot::write_lock::LakeLock;
use jiff::Timestamp;
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
        let Some(folder) = old.parent() else { return Ok(()) };
        let staged = self.layout.snapshots().join(format!("{TEMPORARY}repaired"));
        self.storage.remove_file(&staged)?;
        self.storage.link(file, &staged)?;
        self.storage.create_durable_dir_all(folder)?;
        self.storage.rename(&staged, old)?;
        self.storage.sync_dir(folder)
    }

    /// Repairs a file that needs no rows: a commit, a mark, a file of a run. Returns what was done; none where nothing can
    /// be done.
    pub(crate) fn repair_small_file(
        &self,
        _lock: &LakeLock,
        problem: &Problem,
        now: Timestamp,
    ) -> Result<Option<String>, LakeError> {
        let done = match &problem.kind {
            ProblemKind::Tables => return Ok(None),
            ProblemKind::Commit(snapshot) => {
                self.backend.download_run_records(usize::MAX)?;
                let copy = kept_copy(self.backend.as_ref(), &self.layout, *snapshot)?;
                let Some(bytes) = copy else { return Ok(None) };
                self.backend.write(&Layout::commit_name(*snapshot), &bytes)?;
                "written again from the copy in its run's folder".to_owned()
            }
            ProblemKind::Pending(snapshot) => {
                let name = Layout::pending_name(*snapshot);
                if let Some(bytes) = self.backend.read(&name)? {
                    self.backend.write(&format!("{name}.damaged"), &bytes)?;
                }
                self.backend.remove(&name)?;
                "the snapshot pending review is dropped; the next run makes it again".to_owned()
            }
            ProblemKind::Mark(mark, snapshot) => {
                self.renew_mark(*mark, *snapshot, now)?;
                "written again; only its name matters".to_owned()
            }
            ProblemKind::Record(run_id) => {
                self.quarantine_file(&problem.path)?;
                format!("quarantined as {RECORD}.damaged; run {run_id} is no longer known")
            }
            ProblemKind::RunFile(run_id, file) => self.repair_run_file(run_id, file, &problem.path)?,
        };
        Ok(Some(done))
    }

    /// Keeps the intact pages of a damaged raw file; quarantines any other file of a run.
    fn repair_run_file(&self, run_id: &str, file: &str, path: &Path) -> Result<String, LakeError> {
        let run = self.run(run_id)?;
        let Some(mut record) = run.record()? else { return Ok("its run is not known".to_owned()) };
        let is_raw = file.starts_with(&format!("{RAW}/"));
        let done = match path.is_file() {
            true if is_raw => {
                for known in record.files.iter_mut().filter(|known| known.path == file) {
                    (known.bytes, known.blake3) = disk::digest(path)?;
                }
                "its damaged pages are lost, the others are kept; no snapshot needs them"
            }
            true => {
                self.quarantine_file(path)?;
                record.files.retain(|known| known.path != file);
                "quarantined; no snapshot needs it"
            }
            false => {
                record.files.retain(|known| known.path != file);
                "it is lost; no snapshot needs it"
            }
        };
        run.write_record(&record)?;
        Ok(done.to_owned())
    }

    fn quarantine_file(&self, path: &Path) -> Result<(), LakeError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.storage.rename(path, &path.with_file_name(format!("{name}.damaged")))
    }
}

/// The commit; none if it is damaged.
fn readable(commit: Result<Commit, LakeError>) -> Result<Option<Commit>, LakeError> {
    match commit {
        Err(LakeError::Damaged { .. }) => Ok(None),
        other => other.map(Some),
    }
}
