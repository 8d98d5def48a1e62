//! Damage put right, piece by piece. Who decides what to do with which piece is `pipeline::repair`.

use super::problem::{About, Problem};
use crate::lake::backend::commit_copy::kept_copy;
use crate::lake::backend::disk;
use crate::lake::backend::disk::{FileState, TEMPORARY, check_digest, file_state};
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::{Layout, Mark, RAW, RECORD};
use crate::lake::format::manifest::{Commit, FileEntry};
use crate::lake::handle::Lake;
use crate::lake::snapshot::staging::Staging;
use crate::lake::snapshot::write_lock::LakeLock;
use crate::table::Table;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file of a snapshot that is not what its commit says.
#[derive(Debug, Clone)]
pub(crate) struct DamagedFile {
    pub(crate) snapshot: u64,
    pub(crate) table: String,
    pub(crate) entry: FileEntry,
    /// On this machine.
    pub(crate) path: PathBuf,
    /// Where a person finds it.
    pub(crate) at_home: PathBuf,
}

impl Lake {
    /// Every file of a kept or held snapshot that is missing or is not what its commit says, oldest snapshot first. A disk or a
    /// store that fails has not said so of any file: that is an error.
    pub(crate) fn damaged_files(&self) -> Result<Vec<DamagedFile>, LakeError> {
        let mut damaged = Vec::new();
        for commit in self.readable_commits()? {
            let dir = self.snapshot_dir(commit.snapshot);
            for (table, manifest) in &commit.tables {
                for entry in &manifest.files {
                    if self.backend.file_state(&commit, entry)? == FileState::Intact {
                        continue;
                    }
                    let path = dir.join(&entry.path);
                    damaged.push(DamagedFile {
                        snapshot: commit.snapshot,
                        table: table.clone(),
                        entry: entry.clone(),
                        at_home: self.at_home(&commit, &path),
                        path,
                    });
                }
            }
        }
        Ok(damaged)
    }

    /// Commits of kept and held snapshots that can be read, oldest first.
    pub(crate) fn readable_commits(&self) -> Result<Vec<Commit>, LakeError> {
        let mut commits = Vec::new();
        for snapshot in self.kept_snapshots()? {
            commits.extend(readable(self.commit(snapshot))?);
        }
        for snapshot in self.held_snapshots()? {
            commits.extend(readable(self.held_commit(snapshot))?);
        }
        commits.sort_by_key(|commit| commit.snapshot);
        Ok(commits)
    }

    /// A sound file with the same content on this machine, and its snapshot: another one or, of a lake in an object store,
    /// the same one in the working copy.
    pub(crate) fn twin_of(&self, damaged: &DamagedFile) -> Result<Option<(u64, PathBuf)>, LakeError> {
        for commit in self.readable_commits()? {
            let files = commit.tables.values().flat_map(|table| &table.files);
            for entry in files.filter(|entry| entry.blake3 == damaged.entry.blake3) {
                let path = self.snapshot_dir(commit.snapshot).join(&entry.path);
                if file_state(&path, entry)? == FileState::Intact {
                    return Ok(Some((commit.snapshot, path)));
                }
            }
        }
        Ok(None)
    }

    /// The commit that first named a file: that of the run which wrote it.
    pub(crate) fn maker_of(&self, entry: &FileEntry) -> Result<Option<Commit>, LakeError> {
        for snapshot in self.commits()? {
            let Some(commit) = readable(self.commit(snapshot))? else { continue };
            let mut files = commit.tables.values().flat_map(|table| &table.files);
            if files.any(|known| known.blake3 == entry.blake3) {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// Puts a sound file in the place of a damaged one, in one step.
    pub(crate) fn put_in_place(
        &self,
        _lock: &LakeLock,
        damaged: &DamagedFile,
        sound: &Path,
    ) -> Result<(), LakeError> {
        check_digest(sound, &damaged.entry)?;
        // Where the store alone has it damaged, the working copy keeps its own.
        if file_state(&damaged.path, &damaged.entry)? != FileState::Intact {
            self.lay_over(sound, &damaged.path)?;
        }
        let snapshot = damaged.entry.origin_snapshot.unwrap_or(damaged.snapshot);
        let name = format!("snapshots/{}/{}", layout::snapshot_name(snapshot), damaged.entry.path);
        self.backend.upload(&damaged.path, &name)
    }

    /// Puts a second name of a file, or a copy, in the place of another file.
    fn lay_over(&self, file: &Path, place: &Path) -> Result<(), LakeError> {
        let Some(folder) = place.parent() else { return Ok(()) };
        let staged = self.layout.snapshots().join(format!("{TEMPORARY}mended"));
        self.storage.remove_file(&staged)?;
        self.storage.link(file, &staged)?;
        self.storage.create_durable_dir_all(folder)?;
        self.storage.rename(&staged, place)?;
        self.storage.sync_dir(folder)
    }

    /// Begins a new snapshot on top of the newest one, without these files.
    pub(crate) fn stage_without(&self, run_id: &str, lost: &[DamagedFile]) -> Result<Staging, LakeError> {
        let digests: BTreeSet<&str> = lost.iter().map(|file| file.entry.blake3.as_str()).collect();
        let parent = self.current()?;
        let base = parent.clone().map(|mut commit| {
            for manifest in commit.tables.values_mut() {
                manifest.files.retain(|file| !digests.contains(file.blake3.as_str()));
                manifest.rows = manifest.files.iter().map(|file| file.rows).sum();
            }
            commit
                .tables
                .retain(|table, manifest| Table::from_name(table).is_some() || !manifest.files.is_empty());
            commit
        });
        self.stage_from(run_id, self.next_snapshot()?, parent, base)
    }

    /// Writes a damaged commit again from the copy in its run's folder; false where there is no sound copy.
    pub(crate) fn restore_commit(&self, _lock: &LakeLock, snapshot: u64) -> Result<bool, LakeError> {
        self.backend.download_run_records(usize::MAX)?;
        let copy = kept_copy(self.backend.as_ref(), &self.layout, snapshot)?;
        let Some(bytes) = copy else { return Ok(false) };
        self.backend.write(&Layout::commit_name(snapshot), &bytes)?;
        Ok(true)
    }

    /// Puts right what needs no rows: marks and the records of runs. Says what was done; none where nothing can be.
    pub(crate) fn mend_small(
        &self,
        lock: &LakeLock,
        problem: &Problem,
        now: Timestamp,
    ) -> Result<Option<String>, LakeError> {
        match &problem.about {
            About::Tables => Ok(None),
            About::Commit(snapshot) => {
                let restored = self.restore_commit(lock, *snapshot)?;
                Ok(restored.then(|| "written again from the copy in its run's folder".to_owned()))
            }
            About::Held(snapshot) => {
                let name = Layout::held_name(*snapshot);
                if let Some(bytes) = self.backend.read(&name)? {
                    self.backend.write(&format!("{name}.damaged"), &bytes)?;
                }
                self.backend.remove(&name)?;
                Ok(Some("the held snapshot is given up; the next run makes it again".to_owned()))
            }
            About::Mark(folder, snapshot) => {
                for mark in Mark::ALL.into_iter().filter(|mark| mark.folder() == *folder) {
                    self.renew_mark(mark, *snapshot, now)?;
                }
                Ok(Some("written again; its name says all that counts".to_owned()))
            }
            About::Record(run_id) => {
                self.set_aside(&problem.path)?;
                Ok(Some(format!("set aside as {RECORD}.damaged; run {run_id} is no longer known")))
            }
            About::RunFile(run_id, file) => self.mend_run_file(run_id, file, &problem.path).map(Some),
        }
    }

    /// Raw pages that are sound go on counting; anything else that a run left is set aside.
    fn mend_run_file(&self, run_id: &str, file: &str, path: &Path) -> Result<String, LakeError> {
        let run = self.run(run_id)?;
        let Some(mut record) = run.record()? else { return Ok("its run is not known".to_owned()) };
        let is_raw = file.starts_with(&format!("{RAW}/"));
        let said = match path.is_file() {
            true if is_raw => {
                for known in record.files.iter_mut().filter(|known| known.path == file) {
                    (known.bytes, known.blake3) = disk::digest(path)?;
                }
                "its damaged pages are lost, the others go on counting; no snapshot needs them"
            }
            true => {
                self.set_aside(path)?;
                record.files.retain(|known| known.path != file);
                "set aside; no snapshot needs it"
            }
            false => {
                record.files.retain(|known| known.path != file);
                "it is gone; no snapshot needs it"
            }
        };
        run.write_record(&record)?;
        Ok(said.to_owned())
    }

    fn set_aside(&self, path: &Path) -> Result<(), LakeError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.storage.rename(path, &path.with_file_name(format!("{name}.damaged")))
    }
}

/// A commit unless it is damaged.
fn readable(commit: Result<Commit, LakeError>) -> Result<Option<Commit>, LakeError> {
    match commit {
        Err(LakeError::Damaged { .. }) => Ok(None),
        other => other.map(Some),
    }
}
