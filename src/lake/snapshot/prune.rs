//! Old snapshots and raw pages go, as rules say: decided first, then done, each step safe to be killed in.

use super::history::{SnapshotEntry, Standing};
use super::retention::{Kept, Retention};
use super::write_lock::LakeLock;
use crate::contract::eastern::plus_days;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{JOURNAL, Mark, RAW};
use crate::lake::format::run_record::RunRecord;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeSet;

/// What may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneRules {
    /// Which snapshots stay.
    pub keep: Retention,
    /// Days that the raw pages of a finished run stay once all its snapshots are pruned; none for ever.
    pub raw_days: Option<u32>,
    /// Today.
    pub today: Date,
}

/// What goes, or went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pruning {
    /// Published snapshots whose tables go.
    pub snapshots: Vec<u64>,
    /// Held snapshots that go: the lake has moved on without them.
    pub held: Vec<u64>,
    /// Runs whose raw pages and journals go.
    pub runs: Vec<String>,
}

impl Lake {
    /// What the rules let go; nothing is changed.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`] names a commit or run record that cannot be read: nothing goes on a guess.
    pub fn would_prune(&self, rules: &PruneRules) -> Result<Pruning, LakeError> {
        let mut pruning = Pruning::default();
        if rules.keep.is_empty() && rules.raw_days.is_none() {
            return Ok(pruning);
        }
        let history = self.history()?;
        let newest = self.commits()?.last().copied();
        let published = history.iter().filter(|entry| entry.standing == Standing::Published);
        let kept: Vec<Kept> = published
            .map(|entry| Kept { snapshot: entry.snapshot, day: entry.today, pinned: entry.pinned })
            .collect();
        let expired = rules.keep.expired(&kept);
        pruning.snapshots = expired.iter().copied().collect();
        let overtaken =
            history.iter().filter(|entry| entry.standing == Standing::Held && entry.parent != newest);
        pruning.held = overtaken.filter(|entry| !entry.pinned).map(|entry| entry.snapshot).collect();
        let is_needed = |entry: &&SnapshotEntry| match entry.standing {
            Standing::Published => !expired.contains(&entry.snapshot),
            Standing::Held => !pruning.held.contains(&entry.snapshot),
            Standing::Pruned => false,
        };
        let needed: BTreeSet<&str> =
            history.iter().filter(is_needed).map(|entry| entry.run_id.as_str()).collect();
        if let Some(days) = rules.raw_days {
            let old = |record: &RunRecord| plus_days(record.today, days) < rules.today;
            let is_over = |record: &RunRecord| record.finished.is_some() && old(record);
            for record in self.newest_runs(usize::MAX)?.into_iter().filter(is_over) {
                if !needed.contains(record.run_id.as_str()) && self.has_raw(&record.run_id)? {
                    pruning.runs.push(record.run_id);
                }
            }
        }
        Ok(pruning)
    }

    /// Whether pages or journals of a run are at home.
    fn has_raw(&self, run_id: &str) -> Result<bool, LakeError> {
        for folder in [RAW, JOURNAL] {
            if !self.backend.names(&format!("runs/{run_id}/{folder}"))?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes what the rules let go, and what an earlier pruning was killed over. A snapshot that is pinned meanwhile
    /// stays.
    ///
    /// # Errors
    ///
    /// As [`Lake::would_prune`]; [`LakeError::Storage`].
    pub fn prune(&self, _lock: &LakeLock, rules: &PruneRules, now: Timestamp) -> Result<Pruning, LakeError> {
        let would = self.would_prune(rules)?;
        self.finish_pruning()?;
        let mut pruning = Pruning { runs: would.runs, ..Pruning::default() };
        for snapshot in would.snapshots.iter().copied() {
            if self.doom(snapshot, now)? {
                self.backend.drop_snapshots(&BTreeSet::from([snapshot]))?;
                pruning.snapshots.push(snapshot);
            }
        }
        for snapshot in would.held.iter().copied() {
            if self.drop_held(snapshot, now)? {
                pruning.held.push(snapshot);
            }
        }
        // With a snapshot that stays, the pages of its run stay.
        if (&pruning.snapshots, &pruning.held) != (&would.snapshots, &would.held) {
            pruning.runs = self.would_prune(rules)?.runs;
        }
        for run_id in &pruning.runs {
            self.drop_raw(run_id)?;
        }
        Ok(pruning)
    }

    /// Deletes the tables of snapshots that are marked as pruned and still there.
    fn finish_pruning(&self) -> Result<(), LakeError> {
        let there: BTreeSet<u64> = self.commits()?.into_iter().collect();
        let doomed: BTreeSet<u64> = self.marked(Mark::Pruned)?.intersection(&there).copied().collect();
        self.backend.drop_snapshots(&doomed)
    }

    /// Deletes what a run archived; its record, summary and quarantine stay.
    fn drop_raw(&self, run_id: &str) -> Result<(), LakeError> {
        let run = self.run(run_id)?;
        if let Some(mut record) = run.record()? {
            let is_raw =
                |path: &str| [RAW, JOURNAL].iter().any(|folder| path.starts_with(&format!("{folder}/")));
            record.files.retain(|file| !is_raw(&file.path));
            record.raw_pruned = true;
            run.write_record(&record)?;
        }
        for folder in [RAW, JOURNAL] {
            self.backend.remove_folder(&format!("runs/{run_id}/{folder}"))?;
            self.storage.remove_dir_all(&run.path().join(folder))?;
        }
        Ok(())
    }
}
