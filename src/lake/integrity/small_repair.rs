//! The repair of files without rows: commits, marks, the pointer, and the files of runs.

use super::problem::{Problem, ProblemKind};
use super::repair::readable;
use crate::lake::backend::disk;
use crate::lake::backend::protocol::{copy_name, kept_copy};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{DAMAGED, Layout, RAW, RECORD};
use crate::lake::format::manifest::{Commit, Digest};
use crate::lake::format::run_record::RunFile;
use crate::lake::handle::Lake;
use crate::lake::snapshot::write_lock::LakeLock;
use jiff::Timestamp;

type Repaired = Result<Option<String>, LakeError>;

const PAGES_LEFT: &str = "its damaged pages are lost, the others are kept; no snapshot needs them";

impl Lake {
    /// Repairs a file that needs no rows. Returns what was done; none where nothing can be done, or rows are needed.
    pub(crate) fn repair_small_file(&self, _lock: &LakeLock, problem: &Problem, now: Timestamp) -> Repaired {
        match &problem.kind {
            ProblemKind::Tables
            | ProblemKind::Orphan
            | ProblemKind::KnownLoss
            | ProblemKind::Unproven
            | ProblemKind::OpenRun
            | ProblemKind::Catalog => Ok(None),
            ProblemKind::Commit(snapshot) => self.restore_commit(&Layout::commit_name(*snapshot), *snapshot),
            ProblemKind::CommitCopy(snapshot) => self.copy_commit_again(*snapshot),
            ProblemKind::Pending(snapshot) => self.restore_or_drop_pending(*snapshot, now),
            ProblemKind::Pointer(snapshot) => {
                self.backend.advance_pointer(&self.commit(*snapshot)?)?;
                Ok(Some(format!("it leads to snapshot {snapshot} again")))
            }
            ProblemKind::Mark(mark, snapshot) => {
                self.renew_mark(*mark, *snapshot, now)?;
                Ok(Some("written again; only its name matters".to_owned()))
            }
            ProblemKind::Record(run_id) => self.restore_record(run_id, now),
            ProblemKind::RunFile(run_id, file) => self.repair_run_file(run_id, file),
            ProblemKind::Unrecorded(run_id, file) => self.set_aside_unrecorded(run_id, file),
        }
    }

    fn restore_commit(&self, name: &str, snapshot: u64) -> Repaired {
        self.backend.download_run_records(usize::MAX)?;
        let copy = kept_copy(self.backend.as_ref(), &self.layout, snapshot)?;
        let Some(bytes) = copy else { return Ok(None) };
        self.backend.write(name, &bytes)?;
        Ok(Some("written again from the copy in its run's folder".to_owned()))
    }

    fn copy_commit_again(&self, snapshot: u64) -> Repaired {
        let pending = Layout::pending_name(snapshot);
        let bytes = match self.backend.read(&Layout::commit_name(snapshot))? {
            None => self.backend.read(&pending)?,
            found => found,
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let commit = self.decoded(snapshot, Some(bytes.clone()), &self.layout.commit(snapshot));
        // Else commit and copy are lost.
        let Some(commit) = readable(commit)? else { return Ok(None) };
        self.backend.write(&copy_name(&commit.run_id, snapshot), &bytes)?;
        Ok(Some("written again from the commit".to_owned()))
    }

    /// A snapshot that is pending review is dropped if its commit has no copy: the next run makes it again.
    fn restore_or_drop_pending(&self, snapshot: u64, now: Timestamp) -> Repaired {
        let name = Layout::pending_name(snapshot);
        if let Some(done) = self.restore_commit(&name, snapshot)? {
            return Ok(Some(done));
        }
        self.quarantine_file(&name)?;
        let is_dropped = self.drop_pending(snapshot, now)?;
        let done = "the snapshot pending review is dropped; the next run makes it again";
        Ok(is_dropped.then(|| done.to_owned()))
    }

    fn restore_record(&self, run_id: &str, now: Timestamp) -> Repaired {
        let run = self.run(run_id)?;
        // Its name stays known: nothing proves the files that only it had a digest of.
        self.set_aside(&format!("runs/{run_id}/{RECORD}"))?;
        let record = run.remake_record(self.commit_of(run_id)?.as_ref(), now)?;
        let ended = record.finished.unwrap_or_default();
        Ok(Some(format!("made again from the files of the run, as one that ended `{ended}`")))
    }

    /// The newest commit of a run that can be read.
    fn commit_of(&self, run_id: &str) -> Result<Option<Commit>, LakeError> {
        for snapshot in self.commits()?.into_iter().rev() {
            let commit = readable(self.commit(snapshot))?;
            if commit.as_ref().is_some_and(|commit| commit.run_id == run_id) {
                return Ok(commit);
            }
        }
        Ok(None)
    }

    /// Takes a run's file from the working copy if that has it. Else keeps the intact pages of raw ones, and quarantines any
    /// other.
    fn repair_run_file(&self, run_id: &str, path: &str) -> Repaired {
        let run = self.run(run_id)?;
        let Some(mut record) = run.record()? else { return Ok(None) };
        let Some(at) = record.files.iter().position(|file| file.path == path) else { return Ok(None) };
        let file = record.files[at].clone();
        let (local, name) = (run.path().join(path), self.backend.run_file_name(run_id, &file));
        let found = local.is_file().then(|| disk::digest(&local)).transpose()?;
        let done = match found {
            Some(found) if found.matches(file.bytes, &file.blake3) => {
                self.backend.upload(&local, &name)?;
                return Ok(Some("taken from the working copy".to_owned()));
            }
            Some(Digest { bytes, blake3 }) if path.starts_with(RAW) && !self.is_remote() => {
                self.note_pages_left(&name, &blake3)?;
                record.files[at] = RunFile { path: file.path, bytes, blake3 };
                PAGES_LEFT
            }
            _ => {
                record.files.remove(at);
                self.set_aside(&name)?
            }
        };
        run.write_record(&record)?;
        Ok(Some(done.to_owned()))
    }

    /// As [`Lake::repair_run_file`], before the record is made again of what is left.
    fn set_aside_unrecorded(&self, run_id: &str, path: &str) -> Repaired {
        let (local, name) = (self.existing_run(run_id)?.path().join(path), format!("runs/{run_id}/{path}"));
        let done = if path.starts_with(RAW) && !self.is_remote() && local.is_file() {
            self.note_pages_left(&name, &disk::digest(&local)?.blake3)?;
            PAGES_LEFT
        } else {
            self.set_aside(&name)?
        };
        Ok(Some(done.to_owned()))
    }

    /// Notes which pages are left: the loss stays known if the record is lost too.
    fn note_pages_left(&self, name: &str, blake3: &str) -> Result<(), LakeError> {
        self.backend.write(&format!("{name}{DAMAGED}"), blake3.as_bytes())
    }

    /// Quarantines a file of a run; notes the loss of one that is not there.
    fn set_aside(&self, name: &str) -> Result<&'static str, LakeError> {
        if self.quarantine_file(name)? {
            return Ok("quarantined; no snapshot needs it");
        }
        self.backend.write(&format!("{name}{DAMAGED}"), b"")?;
        Ok("it is lost; no snapshot needs it")
    }

    /// Renames a file to `<name>.damaged`; false where it is missing.
    fn quarantine_file(&self, name: &str) -> Result<bool, LakeError> {
        let Some(bytes) = self.backend.read(name)? else { return Ok(false) };
        self.backend.write(&format!("{name}{DAMAGED}"), &bytes)?;
        self.backend.remove(name)?;
        Ok(true)
    }
}
