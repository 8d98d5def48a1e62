//! The audit of all of a lake: every kept snapshot, the chain of commits, marks, the files of runs, and the catalogue.

use super::chain::Readable;
use super::problem::{ProblemKind, VerifyReport};
use crate::lake::error::LakeError;
use crate::lake::format::layout::Mark;
use crate::lake::format::manifest::Commit;
use crate::lake::handle::Lake;
use crate::lake::snapshot::pins::is_mark;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

impl Lake {
    /// Checks all of the lake: the newest snapshot as [`Lake::verify`] does; size and digest of each file of every other
    /// kept or pending snapshot; that no commit is missing or damaged, and each follows the one before; the pointer to the
    /// newest snapshot; pins and other marks; the records of runs and the files they left; the catalogue. Files of runs that are lost for
    /// good or that nothing proves are noted.
    ///
    /// Not checked: the lock and the request counts in `state/`, which change all the time; the log of a run, which ends
    /// after its record; the torn end of the pages of a run that was killed.
    ///
    /// # Errors
    ///
    /// A disk or a store that fails. Damaged files are no error: they are in the report.
    pub fn audit(&self) -> Result<VerifyReport, LakeError> {
        let (readable, mut report) = self.audit_without_rows()?;
        self.audit_snapshots(&readable, &mut report)?;
        Ok(report)
    }

    /// As [`Lake::audit`], without the files of snapshots.
    pub(crate) fn audit_small_files(&self) -> Result<VerifyReport, LakeError> {
        Ok(self.audit_without_rows()?.1)
    }

    /// Looks twice if anything is wrong: what another process writes at this moment can look damaged once.
    fn audit_without_rows(&self) -> Result<(Readable, VerifyReport), LakeError> {
        let (readable, report) = self.look_without_rows()?;
        if report.is_sound() {
            return Ok((readable, report));
        }
        let (readable, mut again) = self.look_without_rows()?;
        again.problems.retain(|problem| report.problems.contains(problem));
        Ok((readable, again))
    }

    fn look_without_rows(&self) -> Result<(Readable, VerifyReport), LakeError> {
        let mut report = VerifyReport::default();
        let numbers = self.numbers()?;
        let readable = self.readable_chain(&numbers, &mut report)?;
        let runs = self.audit_records(&readable, &mut report)?;
        self.audit_chain(&numbers, &readable, &runs, &mut report)?;
        self.audit_marks(&mut report)?;
        runs.iter().try_for_each(|record| self.audit_run(record, &mut report))?;
        self.audit_catalog(&mut report)?;
        Ok((readable, report))
    }

    fn audit_snapshots(&self, readable: &Readable, report: &mut VerifyReport) -> Result<(), LakeError> {
        let kept = self.kept_snapshots()?;
        let published: Vec<&Commit> =
            readable.published.iter().filter(|commit| kept.contains(&commit.snapshot)).collect();
        let mut seen = BTreeSet::new();
        if let Some((newest, older)) = published.split_last() {
            for commit in older {
                self.unless_pruned(commit, report, |report| self.audit_files(commit, &mut seen, report))?;
            }
            self.unless_pruned(newest, report, |report| self.verify_tables(newest, report))?;
        }
        for commit in &readable.pending {
            self.unless_pruned(commit, report, |report| self.audit_files(commit, &mut seen, report))?;
        }
        Ok(())
    }

    /// Looks at a snapshot; what is wrong does not count if the snapshot was pruned during the look.
    fn unless_pruned(
        &self,
        commit: &Commit,
        report: &mut VerifyReport,
        look: impl FnOnce(&mut VerifyReport) -> Result<(), LakeError>,
    ) -> Result<(), LakeError> {
        let before = report.problems.len();
        let looked = look(report);
        let is_wrong = looked.is_err() || report.problems.len() > before;
        if is_wrong && self.marked(Mark::Pruned)?.contains(&commit.snapshot) {
            report.problems.truncate(before);
            return Ok(());
        }
        looked
    }

    /// Size and digest of a snapshot's files. A file that snapshots share is read once.
    fn audit_files(
        &self,
        commit: &Commit,
        seen: &mut BTreeSet<String>,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let Some(dir) = self.present_folder(commit, report) else { return Ok(()) };
        let snapshot = self.open_snapshot(commit);
        for entry in commit.files(None) {
            report.files += 1;
            // Of a lake in an object store, the local file is only a copy.
            let shared = if self.is_remote() {
                Some(commit.object_of(entry))
            } else {
                fs::metadata(dir.join(&entry.path))
                    .map(|found| format!("{} {} {}", found.dev(), found.ino(), entry.blake3))
                    .ok()
            };
            let is_seen = shared.as_ref().is_some_and(|shared| seen.contains(shared));
            // A damaged file has another name in each snapshot of a folder.
            if !is_seen && (self.is_as_committed(&snapshot, entry, report)? || self.is_remote()) {
                seen.extend(shared);
            }
        }
        self.report_orphan_files(commit, report)
    }

    fn audit_marks(&self, report: &mut VerifyReport) -> Result<(), LakeError> {
        for mark in Mark::ALL {
            for snapshot in self.marked(mark)? {
                for name in mark.files(snapshot) {
                    report.files += 1;
                    let what = match self.backend.read(&name)? {
                        None => "the file is missing",
                        Some(bytes) if !is_mark(&bytes, mark, snapshot) => "it is not what was written",
                        Some(_) => continue,
                    };
                    let path = self.path_for_user(&self.root().join(name));
                    report.note(&path, what, ProblemKind::Mark(mark, snapshot));
                }
            }
        }
        Ok(())
    }

    fn audit_catalog(&self, report: &mut VerifyReport) -> Result<(), LakeError> {
        let (files, problems) = self.catalog_problems()?;
        report.files += files;
        for (name, what) in problems {
            let path = self.path_for_user(&self.root().join(name));
            report.note(&path, what, ProblemKind::Catalog);
        }
        Ok(())
    }
}
