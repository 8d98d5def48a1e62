//! The chain of commits: every snapshot number has its commit, each commit follows the one before and has its copy, and
//! readers are led to the newest.

use super::problem::{ProblemKind, VerifyReport};
use crate::lake::backend::protocol::copy_name;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{self, COMMITS, Layout};
use crate::lake::format::manifest::Commit;
use crate::lake::format::run_record::RunRecord;
use crate::lake::handle::Lake;
use crate::lake::snapshot::history::Numbers;
use std::collections::{BTreeMap, BTreeSet};

/// The commits that can be read, oldest first.
#[derive(Debug, Default)]
pub(super) struct Readable {
    pub(super) published: Vec<Commit>,
    pub(super) pending: Vec<Commit>,
}

impl Readable {
    pub(super) fn all(&self) -> impl Iterator<Item = &Commit> {
        self.published.iter().chain(&self.pending)
    }
}

/// A commit that must exist.
#[derive(Debug, PartialEq, Eq)]
struct Missing {
    is_pending: bool,
    why: String,
}

/// The commits that are missing, by number. A commit names its parent, the pointer a snapshot that has files, and the record
/// of a run that ended `held` a pending one. No number is left out: a deleted pending snapshot keeps its pruned mark.
fn missing(
    numbers: &Numbers,
    parents: impl Iterator<Item = (u64, Option<u64>)>,
    shown: Option<u64>,
    held: &BTreeSet<u64>,
) -> BTreeMap<u64, Missing> {
    let mut missing = BTreeMap::new();
    let mut note = |snapshot: u64, is_pending: bool, why: String| {
        missing.entry(snapshot).or_insert(Missing { is_pending, why });
    };
    let is_lost = |snapshot: &u64| !numbers.commits.contains(snapshot);
    for (child, parent) in parents {
        if let Some(parent) = parent.filter(is_lost) {
            note(parent, false, format!("it is missing; snapshot {child} was made from it"));
        }
    }
    if let Some(shown) = shown.filter(is_lost) {
        note(shown, false, "it is missing; readers are led to its snapshot".to_owned());
    }
    let known: BTreeSet<u64> = &(&numbers.commits | &numbers.pending) | &numbers.pruned;
    for snapshot in held.difference(&known) {
        note(*snapshot, true, "it is missing; a run left this snapshot for review".to_owned());
    }
    let newest = known.last().max(missing.last_key_value().map(|(last, _)| last)).copied();
    for snapshot in 1..=newest.unwrap_or(0) {
        if !known.contains(&snapshot) {
            let why = "it is missing; no other snapshot has its number".to_owned();
            missing.entry(snapshot).or_insert(Missing { is_pending: false, why });
        }
    }
    missing
}

impl Lake {
    /// Reads every commit as it is stored, and reports those that are damaged.
    pub(super) fn readable_chain(
        &self,
        numbers: &Numbers,
        report: &mut VerifyReport,
    ) -> Result<Readable, LakeError> {
        let mut readable = Readable::default();
        for (numbers, is_pending) in [(&numbers.commits, false), (&numbers.pending, true)] {
            for snapshot in numbers.iter().copied() {
                let (name, kind) = file_of(snapshot, is_pending);
                let commit = match self.stored_commit(&name, snapshot) {
                    // It is listed: a link to nothing has a name and no bytes.
                    Err(LakeError::NoSnapshot { .. }) => {
                        let path = self.path_for_user(&self.root().join(name));
                        Err(LakeError::damaged(&path, "it cannot be read"))
                    }
                    other => other,
                };
                let list = if is_pending { &mut readable.pending } else { &mut readable.published };
                list.extend(report.intact(commit, kind)?);
            }
            report.files += numbers.len() as u64;
        }
        Ok(readable)
    }

    /// Reports missing commits, commits out of order, damaged copies, and a pointer that does not lead to the newest.
    pub(super) fn audit_chain(
        &self,
        numbers: &Numbers,
        readable: &Readable,
        runs: &[RunRecord],
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let shown = self.backend.pointed_to()?;
        let lost = shown.filter(|shown| self.has_lost_its_commit(*shown, numbers));
        let parents = readable.all().map(|commit| (commit.snapshot, commit.parent));
        let missing = missing(numbers, parents, lost, &self.left_for_review(runs)?);
        for (snapshot, Missing { is_pending, why }) in &missing {
            let (name, kind) = file_of(*snapshot, *is_pending);
            report.note(&self.path_for_user(&self.root().join(name)), why, kind);
        }
        self.audit_order(numbers, readable, report);
        // Where the newest commit is missing, the pointer is right.
        if let Some(newest) = numbers.commits.last().copied().filter(|_| lost.is_none())
            && self.backend.is_pointer_stale(newest)?
            && !is_left_to_the_next_run(readable, runs, newest, shown)
        {
            let what = format!("it does not lead to the newest snapshot, {newest}");
            report.note(&self.pointer_for_user(), what, ProblemKind::Pointer(newest));
        }
        readable.all().try_for_each(|commit| self.audit_copy(commit, report))?;
        let read: BTreeSet<u64> = readable.all().map(|commit| commit.snapshot).collect();
        let mut lost = &(&numbers.commits | &numbers.pending) | &missing.into_keys().collect();
        lost.retain(|snapshot| !read.contains(snapshot));
        self.audit_copies_of_lost(&lost, runs, report)
    }

    /// Reports copies of lost commits that are damaged too, by closed runs: a repair needs one that is intact.
    fn audit_copies_of_lost(
        &self,
        lost: &BTreeSet<u64>,
        runs: &[RunRecord],
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        for run in runs.iter().filter(|run| !run.is_open() && !lost.is_empty()) {
            let copies = self.backend.numbers(&format!("runs/{}/{COMMITS}", run.run_id))?;
            for snapshot in copies.intersection(lost) {
                let name = copy_name(&run.run_id, *snapshot);
                let path = self.path_for_user(&self.root().join(&name));
                let found = self.backend.read(&name)?.and_then(|bytes| Commit::decode(&bytes, &path).ok());
                if found.is_none_or(|commit| commit.snapshot != *snapshot) {
                    let what = "it is not the commit of its snapshot";
                    report.note(&path, what, ProblemKind::CommitCopy(*snapshot));
                }
            }
        }
        Ok(())
    }

    /// Whether the pointer is right to name a snapshot: it has files and was published, so its commit is lost.
    fn has_lost_its_commit(&self, shown: u64, numbers: &Numbers) -> bool {
        let known = [&numbers.commits, &numbers.pending, &numbers.pruned];
        let files = self.backend.names(&format!("snapshots/{}", layout::snapshot_name(shown)));
        known.iter().all(|numbers| !numbers.contains(&shown)) && files.is_ok_and(|files| !files.is_empty())
    }

    /// Snapshots of runs that ended `held`, by the copies of their commits.
    fn left_for_review(&self, runs: &[RunRecord]) -> Result<BTreeSet<u64>, LakeError> {
        let mut held = BTreeSet::new();
        for run in runs.iter().filter(|run| run.finished.as_deref() == Some(RunRecord::HELD)) {
            held.extend(self.backend.numbers(&format!("runs/{}/{COMMITS}", run.run_id))?);
        }
        Ok(held)
    }

    /// Each commit names the one before as its parent. Those whose parent is missing are not reported.
    fn audit_order(&self, numbers: &Numbers, readable: &Readable, report: &mut VerifyReport) {
        for commit in &readable.published {
            let before = numbers.commits.range(..commit.snapshot).next_back().copied();
            let is_missing = commit.parent.is_some_and(|parent| !numbers.commits.contains(&parent));
            if commit.parent != before && !is_missing {
                let name =
                    |number: Option<u64>| number.map_or("none".to_owned(), |number| number.to_string());
                let (parent, before) = (name(commit.parent), name(before));
                let what = format!("it follows snapshot {parent}, but the commit before it is {before}");
                let path = self.path_for_user(&self.layout.commit(commit.snapshot));
                report.note(&path, what, ProblemKind::Commit(commit.snapshot));
            }
        }
    }

    fn audit_copy(&self, commit: &Commit, report: &mut VerifyReport) -> Result<(), LakeError> {
        let name = copy_name(&commit.run_id, commit.snapshot);
        let path = self.path_for_user(&self.root().join(&name));
        report.files += 1;
        let is_copy = |bytes: &[u8]| {
            let copy = Commit::decode(bytes, &path);
            copy.is_ok_and(|copy| {
                (copy.snapshot, copy.committed_at) == (commit.snapshot, commit.committed_at)
            })
        };
        let what = match self.backend.read(&name)? {
            None => "the file is missing",
            Some(bytes) if !is_copy(&bytes) => "it is not the commit of its snapshot",
            Some(_) => return Ok(()),
        };
        report.note(&path, what, ProblemKind::CommitCopy(commit.snapshot));
        Ok(())
    }
}

/// The name of a commit's file in the lake.
fn file_of(snapshot: u64, is_pending: bool) -> (String, ProblemKind) {
    if is_pending {
        (Layout::pending_name(snapshot), ProblemKind::Pending(snapshot))
    } else {
        (Layout::commit_name(snapshot), ProblemKind::Commit(snapshot))
    }
}

/// Whether the run that made the newest commit was killed before it pointed readers there: the next run does that.
fn is_left_to_the_next_run(readable: &Readable, runs: &[RunRecord], newest: u64, shown: Option<u64>) -> bool {
    let commit = readable.published.iter().find(|commit| commit.snapshot == newest);
    commit.is_some_and(|commit| {
        commit.parent == shown && runs.iter().any(|run| run.run_id == commit.run_id && run.is_open())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of the commits that are missing: `c` published, `p` pending.
    fn found(
        commits: &[u64],
        pending: &[u64],
        pruned: &[u64],
        shown: Option<u64>,
        held: &[u64],
    ) -> Vec<String> {
        let set = |numbers: &[u64]| numbers.iter().copied().collect::<BTreeSet<_>>();
        let numbers = Numbers {
            commits: set(commits),
            pending: set(pending),
            pruned: set(pruned),
            ..Numbers::default()
        };
        let parents = [commits, pending].concat();
        // Each was made from the published one before it, by a history in which all numbers were published.
        let parents = parents.iter().map(|number| (*number, number.checked_sub(1).filter(|one| *one > 0)));
        let missing = missing(&numbers, parents, shown, &set(held));
        missing
            .iter()
            .map(|(number, one)| format!("{}{number}", if one.is_pending { 'p' } else { 'c' }))
            .collect()
    }

    #[test]
    fn a_missing_commit_is_found_at_each_place_of_the_chain() {
        assert_eq!(found(&[1, 2, 3], &[], &[], Some(3), &[]), [""; 0]);
        assert_eq!(found(&[2, 3], &[], &[], Some(3), &[]), ["c1"], "the oldest");
        assert_eq!(found(&[2, 3], &[], &[1], Some(3), &[]), ["c1"], "pruned: its commit is kept");
        assert_eq!(found(&[1, 3], &[], &[], Some(3), &[]), ["c2"], "one in between");
        assert_eq!(found(&[1, 2], &[], &[], Some(3), &[]), ["c3"], "the newest, by what readers see");
        assert_eq!(
            found(&[1, 2], &[4], &[], Some(2), &[]),
            ["c3"],
            "the newest, by the pending one after it"
        );
        assert_eq!(found(&[4], &[], &[], Some(4), &[]), ["c1", "c2", "c3"], "several");
        assert_eq!(found(&[], &[], &[], Some(1), &[]), ["c1"], "the only one");
    }

    #[test]
    fn a_number_without_a_commit_is_that_of_a_pending_snapshot_or_of_a_dropped_one() {
        assert_eq!(found(&[1, 2], &[3], &[], Some(2), &[3]), [""; 0]);
        assert_eq!(found(&[1, 2], &[], &[], Some(2), &[3]), ["p3"], "a run left it for review");
        assert_eq!(found(&[1, 2], &[], &[3], Some(2), &[3]), [""; 0], "dropped");
        assert_eq!(found(&[1, 2, 3], &[], &[], Some(3), &[3]), [""; 0], "accepted");
        assert_eq!(found(&[1, 2], &[], &[3, 4], Some(2), &[]), [""; 0]);
        assert_eq!(found(&[], &[], &[], None, &[]), [""; 0]);
    }
}
