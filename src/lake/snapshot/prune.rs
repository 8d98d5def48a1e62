//! Pruning: old snapshots and raw pages are deleted by rules. It is decided first and done afterwards, and every step can
//! be killed and repeated.

use super::history::{SnapshotEntry, SnapshotState};
use super::retention::Retention;
use super::write_lock::LakeLock;
use crate::contract::eastern::plus_days;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{COPIES, JOURNAL, Mark, RAW};
use crate::lake::format::run_record::RunRecord;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeSet;

/// Folders of a run that are deleted together.
const PAGES: [&str; 3] = [RAW, COPIES, JOURNAL];

/// What a pruning may delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneRules {
    /// Which snapshots are kept.
    pub keep: Retention,
    /// Days that the raw pages of a finished run are kept once all its snapshots are pruned; none to keep them for ever.
    pub raw_days: Option<u32>,
    /// Today.
    pub today: Date,
}

/// What a pruning deletes, or deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pruning {
    /// Published snapshots, whose tables are deleted.
    pub snapshots: Vec<u64>,
    /// Snapshots pending review whose parent is no longer the newest.
    #[serde(rename = "held")]
    pub pending: Vec<u64>,
    /// Runs whose raw pages and journals are deleted.
    pub runs: Vec<String>,
}

impl Lake {
    /// What the rules would delete; nothing is changed.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`] names a commit or run record that cannot be read: then nothing is deleted.
    pub fn would_prune(&self, rules: &PruneRules) -> Result<Pruning, LakeError> {
        let mut pruning = Pruning::default();
        if rules.keep.is_empty() && rules.raw_days.is_none() {
            return Ok(pruning);
        }
        let history = self.history()?;
        let newest = history.iter().find(|entry| entry.current).map(|entry| entry.snapshot);
        let published = history.iter().filter(|entry| entry.state == SnapshotState::Published);
        let expired = rules.keep.expired(&published.collect::<Vec<_>>());
        let is_overtaken = |entry: &&SnapshotEntry| {
            entry.state == SnapshotState::Pending && entry.parent != newest && !entry.pinned
        };
        pruning.pending = history.iter().filter(is_overtaken).map(|entry| entry.snapshot).collect();
        let is_needed = |entry: &&SnapshotEntry| match entry.state {
            SnapshotState::Published => !expired.contains(&entry.snapshot),
            SnapshotState::Pending => !pruning.pending.contains(&entry.snapshot),
            SnapshotState::Pruned => false,
        };
        let needed = history.iter().filter(is_needed).map(|entry| entry.run_id.as_str()).collect();
        if let Some(days) = rules.raw_days {
            pruning.runs = self.runs_to_prune(rules.today, days, &needed)?;
        }
        pruning.snapshots = expired.into_iter().collect();
        Ok(pruning)
    }

    /// Runs that finished more than `days` days ago, are not needed, and have raw pages or journals.
    fn runs_to_prune(
        &self,
        today: Date,
        days: u32,
        needed: &BTreeSet<&str>,
    ) -> Result<Vec<String>, LakeError> {
        let mut runs = self.newest_runs(usize::MAX)?;
        let is_old = |run: &RunRecord| run.finished.is_some() && plus_days(run.today, days) < today;
        runs.retain(|run| is_old(run) && !needed.contains(run.run_id.as_str()));
        let mut with_raw = Vec::new();
        for run in runs {
            if self.has_raw(&run.run_id)? {
                with_raw.push(run.run_id);
            }
        }
        Ok(with_raw)
    }

    fn has_raw(&self, run_id: &str) -> Result<bool, LakeError> {
        for folder in PAGES {
            if !self.backend.names(&format!("runs/{run_id}/{folder}"))?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes what the rules say, and what an earlier pruning did not finish. A snapshot that is pinned during the pruning
    /// is kept.
    pub fn prune(&self, _lock: &LakeLock, rules: &PruneRules, now: Timestamp) -> Result<Pruning, LakeError> {
        let would = self.would_prune(rules)?;
        // The tables that snapshots marked as pruned still have.
        self.backend.drop_snapshots(&(&self.marked(Mark::Pruned)? & &self.backend.commits()?))?;
        let mut pruning = Pruning { runs: would.runs, ..Pruning::default() };
        for snapshot in would.snapshots.iter().copied() {
            if self.mark_pruned(snapshot, now)? {
                self.backend.drop_snapshots(&BTreeSet::from([snapshot]))?;
                pruning.snapshots.push(snapshot);
            }
        }
        for snapshot in would.pending.iter().copied() {
            if self.drop_pending(snapshot, now)? {
                pruning.pending.push(snapshot);
            }
        }
        // The pages of a snapshot that was pinned are kept with it.
        if (&pruning.snapshots, &pruning.pending) != (&would.snapshots, &would.pending) {
            pruning.runs = self.would_prune(rules)?.runs;
        }
        self.fill_empty_marks(Mark::Pruned, now)?;
        for run_id in &pruning.runs {
            self.drop_raw(run_id)?;
        }
        Ok(pruning)
    }

    /// Deletes the raw pages and journals of a run; its record, summary and quarantine are kept.
    fn drop_raw(&self, run_id: &str) -> Result<(), LakeError> {
        let run = self.run(run_id)?;
        let drop_folders = || {
            PAGES.iter().try_for_each(|folder| {
                self.backend.remove_folder(&format!("runs/{run_id}/{folder}"))?;
                self.storage.remove_dir_all(&run.path().join(folder))
            })
        };
        if let Some(mut record) = run.record()? {
            let is_raw = |path: &str| PAGES.iter().any(|folder| path.starts_with(&format!("{folder}/")));
            record.files.retain(|file| !is_raw(&file.path));
            record.raw_pruned = true;
            match run.write_record(&record) {
                // They make the room for it.
                Err(error) if error.is_full_disk() => {
                    drop_folders()?;
                    return run.write_record(&record);
                }
                written => written?,
            }
        }
        drop_folders()
    }
}
