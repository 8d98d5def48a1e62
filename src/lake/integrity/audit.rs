//! The lake as a whole against what was written: every snapshot that is kept, the chain of commits, marks, and what
//! finished runs left behind.

use super::problem::{About, VerifyReport};
use crate::lake::backend::disk;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Mark, RECORD};
use crate::lake::format::manifest::Commit;
use crate::lake::format::run_record::RunRecord;
use crate::lake::format::sealed_json::{Seal, check_seal};
use crate::lake::handle::Lake;
use crate::lake::run::run_dir::{NEWEST_RUNS, RunDir};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Lake {
    /// Checks the whole lake: the newest snapshot as [`Lake::verify`] does, of every other kept or held one the size and
    /// digest of each file; the commits, each sealed and following the one before; pins and other marks; the records of
    /// runs, and what finished ones left behind. What is not committed yet is not looked at.
    ///
    /// # Errors
    ///
    /// A disk or a store that fails; what is wrong with files stands in the report.
    pub fn audit(&self) -> Result<VerifyReport, LakeError> {
        let mut report = VerifyReport::default();
        let commits = self.audit_chain(&mut report)?;
        let held = self.audit_held(&mut report)?;
        let newest = commits.last().map(|commit| commit.snapshot);
        let kept = self.kept_snapshots()?;
        let mut seen = BTreeSet::new();
        for commit in commits.iter().chain(&held) {
            let first = report.problems.len();
            match commit.snapshot {
                snapshot if Some(snapshot) == newest => self.verify_tables(commit, &mut report)?,
                snapshot if kept.contains(&snapshot) || held.contains(commit) => {
                    self.audit_files(commit, &mut seen, &mut report)?;
                }
                _ => {}
            }
            self.lead_home(commit, first, &mut report);
        }
        self.audit_marks(&mut report)?;
        self.audit_runs(&mut report)?;
        Ok(report)
    }

    /// The commits that can be read, oldest first. Each names the one before as its parent; a number that is missing in
    /// between was given to a snapshot that was held and let go.
    fn audit_chain(&self, report: &mut VerifyReport) -> Result<Vec<Commit>, LakeError> {
        let mut commits: Vec<Commit> = Vec::new();
        let mut before: Option<u64> = None;
        for snapshot in self.commits()? {
            let path = self.path_for_user(&self.layout.commit(snapshot));
            match self.commit_uncached(snapshot) {
                Ok(commit) => {
                    if commit.parent != before {
                        let missing =
                            commit.parent.filter(|parent| Some(*parent) > before).unwrap_or(snapshot);
                        let what = format!(
                            "it follows snapshot {}, but the commit before it is {}",
                            commit.parent.unwrap_or(0),
                            before.unwrap_or(0)
                        );
                        report.note_about(&path, what, About::Commit(missing));
                    }
                    commits.push(commit);
                }
                Err(LakeError::Damaged { path, what }) => {
                    report.note_about(&path, what, About::Commit(snapshot))
                }
                Err(other) => return Err(other),
            }
            before = Some(snapshot);
        }
        if let Some(newest) = before
            && let Some(path) = self.backend.stale_pointer(newest)?
            && !self.is_left_to_the_next_run(&commits, newest)
        {
            let what = format!("it does not show the newest commit, {newest}");
            report.note(&self.path_for_user(&path), what);
        }
        Ok(commits)
    }

    /// Whether the run that made a commit was killed before it was shown: the next run shows it.
    fn is_left_to_the_next_run(&self, commits: &[Commit], snapshot: u64) -> bool {
        let made = commits.iter().find(|commit| commit.snapshot == snapshot);
        let is_maker = |run: &RunRecord| made.is_some_and(|commit| commit.run_id == run.run_id);
        self.runs().is_ok_and(|runs| runs.iter().any(|run| is_maker(run) && run.finished.is_none()))
    }

    fn audit_held(&self, report: &mut VerifyReport) -> Result<Vec<Commit>, LakeError> {
        let mut held = Vec::new();
        for snapshot in self.held_snapshots()? {
            match self.held_commit(snapshot) {
                Ok(commit) if commit.snapshot == snapshot => held.push(commit),
                Ok(_) => {
                    let path = self.path_for_user(&self.layout.pending_commit(snapshot));
                    report.note_about(&path, "it speaks of another snapshot", About::Held(snapshot));
                }
                Err(LakeError::Damaged { path, what }) => {
                    report.note_about(&path, what, About::Held(snapshot))
                }
                Err(other) => return Err(other),
            }
        }
        Ok(held)
    }

    /// Size and digest of a snapshot's files. A file that another snapshot shares was read once.
    fn audit_files(
        &self,
        commit: &Commit,
        seen: &mut BTreeSet<(u64, u64, String)>,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let dir = self.snapshot_dir(commit.snapshot);
        for entry in commit.tables.values().flat_map(|table| &table.files) {
            report.files += 1;
            // Of a lake in a store, the local file is not the one that is looked at.
            let local = fs::metadata(dir.join(&entry.path)).ok().filter(|_| !self.is_remote());
            let inode = local.map(|found| (found.dev(), found.ino(), entry.blake3.clone()));
            if inode.as_ref().is_some_and(|inode| seen.contains(inode)) {
                continue;
            }
            if self.is_as_committed(commit, entry, report)? {
                seen.extend(inode);
            }
        }
        self.note_strangers(commit, report)
    }

    fn audit_marks(&self, report: &mut VerifyReport) -> Result<(), LakeError> {
        for mark in Mark::ALL {
            for snapshot in self.marked(mark)? {
                if let Some(what) = self.mark_problem(mark, snapshot)? {
                    let path = self.path_for_user(&self.root().join(mark.file(snapshot)));
                    report.note_about(&path, what, About::Mark(mark.folder(), snapshot));
                }
            }
        }
        Ok(())
    }

    fn audit_runs(&self, report: &mut VerifyReport) -> Result<(), LakeError> {
        self.backend.download_run_records(NEWEST_RUNS)?;
        for name in disk::names(&self.layout.runs())? {
            if crate::lake::format::layout::check_run_id(&name).is_err() {
                continue;
            }
            let run = self.existing_run(&name)?;
            let path = run.path().join(RECORD);
            match fs::read(&path) {
                Ok(bytes) if check_seal(&bytes) == Seal::Missing && !bytes.ends_with(b"}\n") => {
                    report.note_about(&path, "its end is missing", About::Record(name));
                }
                Ok(_) => match run.record() {
                    Ok(Some(record)) => self.audit_run(&run, &record, report)?,
                    Ok(None) => {}
                    Err(LakeError::Damaged { path, what }) => {
                        report.note_about(&path, what, About::Record(name))
                    }
                    Err(other) => return Err(other),
                },
                Err(_) => {}
            }
        }
        Ok(())
    }
}

impl Lake {
    /// What a finished run left behind, against its record; of another run the pages that are damaged in the middle. A torn end is
    /// what a kill leaves, and is asked again.
    fn audit_run(
        &self,
        run: &RunDir,
        record: &RunRecord,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        if record.finished.is_none() {
            for (path, bytes) in run.raw_read_only()?.damaged() {
                report.note(path, format!("{bytes} bytes in it are no page; those pages are asked again"));
            }
            return Ok(());
        }
        for file in &record.files {
            let path = run.path().join(&file.path);
            let about = || About::RunFile(record.run_id.clone(), file.path.clone());
            report.files += 1;
            match digest_if_there(&path)? {
                // Of a run that another machine made, the working copy has what was needed.
                None if self.is_remote() => {}
                None => report.note_about(&path, "the file is missing", about()),
                Some((bytes, blake3)) if bytes != file.bytes || blake3 != file.blake3 => {
                    report.note_about(&path, "it is not what the run left", about());
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

fn digest_if_there(path: &Path) -> Result<Option<(u64, String)>, LakeError> {
    if path.is_file() { disk::digest(path).map(Some) } else { Ok(None) }
}
