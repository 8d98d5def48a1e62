//! The audit of all of a lake: every kept snapshot, the chain of commits, marks, and the files of finished runs.

use super::verify::{ProblemKind, VerifyReport};
use crate::lake::backend::disk;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Mark, check_run_id};
use crate::lake::format::manifest::Commit;
use crate::lake::format::run_record::RunRecord;
use crate::lake::handle::Lake;
use crate::lake::run::run_dir::{NEWEST_RUNS, RunDir};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

impl Lake {
    /// Checks all of the lake: the newest snapshot as [`Lake::verify`] does; size and digest of each file of every other
    /// kept or pending snapshot; that each commit is sealed and follows the one before; pins and other marks; the records
    /// of runs and the files of finished ones. Files that are not committed yet are not checked.
    ///
    /// # Errors
    ///
    /// A disk or a store that fails. Damaged files are no error: they are in the report.
    pub fn audit(&self) -> Result<VerifyReport, LakeError> {
        let mut report = VerifyReport::default();
        let commits = self.audit_chain(&mut report)?;
        let mut pending = Vec::new();
        for snapshot in self.pending_snapshots()? {
            let commit = self.pending_commit(snapshot);
            pending.extend(report.intact(commit, ProblemKind::Pending(snapshot))?);
        }
        let kept = self.kept_snapshots()?;
        let mut seen = BTreeSet::new();
        if let Some((newest, older)) = commits.split_last() {
            for commit in older.iter().filter(|commit| kept.contains(&commit.snapshot)) {
                self.audit_files(commit, &mut seen, &mut report)?;
            }
            self.verify_tables(newest, &mut report)?;
        }
        for commit in &pending {
            self.audit_files(commit, &mut seen, &mut report)?;
        }
        self.audit_marks(&mut report)?;
        self.audit_runs(&mut report)?;
        Ok(report)
    }

    /// The commits that can be read, oldest first. Each names the one before as its parent. A missing number in between
    /// was that of a snapshot which was pending review and then deleted.
    fn audit_chain(&self, report: &mut VerifyReport) -> Result<Vec<Commit>, LakeError> {
        let mut commits: Vec<Commit> = Vec::new();
        let mut before: Option<u64> = None;
        for snapshot in self.commits()? {
            let commit = self.commit_uncached(snapshot);
            if let Some(commit) = report.intact(commit, ProblemKind::Commit(snapshot))? {
                if commit.parent != before {
                    let missing = commit.parent.filter(|parent| Some(*parent) > before).unwrap_or(snapshot);
                    let what = format!(
                        "it follows snapshot {}, but the commit before it is {}",
                        commit.parent.unwrap_or(0),
                        before.unwrap_or(0)
                    );
                    let path = self.path_for_user(&self.layout.commit(snapshot));
                    report.note_kind(&path, what, ProblemKind::Commit(missing));
                }
                commits.push(commit);
            }
            before = Some(snapshot);
        }
        if let Some(newest) = before
            && let Some(path) = self.backend.stale_pointer(newest)?
            && !self.is_left_to_the_next_run(&commits, newest)
        {
            let what = format!("it does not lead to the newest commit, {newest}");
            report.note(&self.path_for_user(&path), what);
        }
        Ok(commits)
    }

    /// Whether the run that made a commit was killed before it pointed readers to it: the next run does that.
    fn is_left_to_the_next_run(&self, commits: &[Commit], snapshot: u64) -> bool {
        let commit = commits.iter().find(|commit| commit.snapshot == snapshot);
        let made_it = |run: &RunRecord| commit.is_some_and(|commit| commit.run_id == run.run_id);
        self.runs().is_ok_and(|runs| runs.iter().any(|run| made_it(run) && run.finished.is_none()))
    }

    /// Size and digest of a snapshot's files. A file that snapshots share is read once.
    fn audit_files(
        &self,
        commit: &Commit,
        seen: &mut BTreeSet<(u64, u64, String)>,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let dir = self.layout.snapshot(commit.snapshot);
        let snapshot = self.open_snapshot(commit);
        for entry in commit.files(None) {
            report.files += 1;
            // Of a lake in an object store, the local file is only a copy.
            let local = fs::metadata(dir.join(&entry.path)).ok().filter(|_| !self.is_remote());
            let inode = local.map(|found| (found.dev(), found.ino(), entry.blake3.clone()));
            if inode.as_ref().is_some_and(|inode| seen.contains(inode)) {
                continue;
            }
            if self.is_as_committed(&snapshot, entry, report)? {
                seen.extend(inode);
            }
        }
        self.report_orphan_files(commit, report)
    }

    fn audit_marks(&self, report: &mut VerifyReport) -> Result<(), LakeError> {
        for mark in Mark::ALL {
            for snapshot in self.marked(mark)? {
                if let Some(what) = self.mark_problem(mark, snapshot)? {
                    let path = self.path_for_user(&self.root().join(mark.file(snapshot)));
                    report.note_kind(&path, what, ProblemKind::Mark(mark, snapshot));
                }
            }
        }
        Ok(())
    }

    fn audit_runs(&self, report: &mut VerifyReport) -> Result<(), LakeError> {
        self.backend.download_run_records(NEWEST_RUNS)?;
        for name in disk::names(&self.layout.runs())?.into_iter().filter(|name| check_run_id(name).is_ok()) {
            let run = self.existing_run(&name)?;
            match report.intact(run.record(), ProblemKind::Record(name)) {
                Ok(Some(Some(record))) => self.audit_run(&run, &record, report)?,
                // No snapshot needs a record that the disk does not return.
                Ok(_) | Err(LakeError::Storage { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// Compares the files of a finished run with its record. Of another run, reports the pages that are damaged in the
    /// middle; a truncated end is what a kill leaves, and is requested again.
    fn audit_run(
        &self,
        run: &RunDir,
        record: &RunRecord,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        if record.finished.is_none() {
            for (path, bytes) in run.raw_read_only()?.damaged() {
                report
                    .note(path, format!("{bytes} bytes in it are no page; those pages are requested again"));
            }
            return Ok(());
        }
        for file in &record.files {
            let path = run.path().join(&file.path);
            report.files += 1;
            let what = match path.is_file() {
                // The working copy has what it needed of another machine's run.
                false if self.is_remote() => continue,
                false => "the file is missing",
                true if disk::digest(&path)? == (file.bytes, file.blake3.clone()) => continue,
                true => "it is not what the run left",
            };
            let kind = ProblemKind::RunFile(record.run_id.clone(), file.path.clone());
            report.note_kind(&path, what, kind);
        }
        Ok(())
    }
}
