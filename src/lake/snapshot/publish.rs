//! Snapshots published by a person: one that is pending review, and an old one again.
//!
//! A snapshot pending review is the "audit" of write-audit-publish: complete, with a number, not shown to readers. A
//! person publishes it, or the next pruning deletes it. A rollback is a new snapshot with the tables and state of an
//! older one; it deletes nothing.

use super::commit::CommitInfo;
use super::staging::Base;
use super::write_lock::LakeLock;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::Commit;
use crate::lake::format::run_record::RunRecord;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;

/// Stored where a commit has the name of its pipeline.
const ROLLBACK: &str = "rollback";

impl Lake {
    pub(crate) fn pending_commit(&self, snapshot: u64) -> Result<Commit, LakeError> {
        self.stored_commit(&Layout::pending_name(snapshot), snapshot)
    }

    /// Publishes a snapshot that is pending review: creates its commit and points readers to it. Its files stay where
    /// they are.
    ///
    /// # Errors
    ///
    /// [`LakeError::NoSnapshot`]; [`LakeError::NotHeld`]; [`LakeError::Overtaken`] when another snapshot was published
    /// since; [`LakeError::Damaged`] when a file is damaged; else as [`crate::lake::Staging::commit`].
    pub fn publish_pending(&self, _lock: &LakeLock, snapshot: u64) -> Result<Commit, LakeError> {
        if !self.pending_snapshots()?.contains(&snapshot) {
            self.commit(snapshot)?;
            return Err(LakeError::NotHeld { snapshot });
        }
        let commit = self.pending_commit(snapshot)?;
        let newest = self.backend.commits()?.last().copied();
        if commit.parent != newest {
            return Err(LakeError::Overtaken { snapshot, parent: commit.parent, newest });
        }
        self.open_snapshot(&commit).tables()?;
        if !self.backend.create_commit(snapshot, &self.encoded(&commit)?)? {
            return Err(LakeError::Conflict { snapshot });
        }
        self.show(&commit)?;
        // The commit counts: with it, the note of a review means nothing.
        if let Err(error) = self.backend.remove(&Layout::pending_name(snapshot)) {
            tracing::warn!("the note of the review stays: {error}");
        }
        Ok(commit)
    }

    /// Deletes a snapshot that is pending review; false, and no change, if it is pinned. Its pruned mark keeps its number
    /// from being given again.
    pub(crate) fn drop_pending(&self, snapshot: u64, now: Timestamp) -> Result<bool, LakeError> {
        if !self.mark_pruned(snapshot, now)? {
            return Ok(false);
        }
        // Its commit goes first: from then on its folder is a leftover that any recovery clears.
        self.backend.remove(&Layout::pending_name(snapshot))?;
        self.backend.drop_snapshots(&BTreeSet::from([snapshot]))?;
        Ok(true)
    }

    /// Publishes the tables of an older snapshot again, with its run state, so that the next run reads what happened since.
    /// None when that snapshot is the newest.
    pub fn roll_back(
        &self,
        _lock: &LakeLock,
        snapshot: u64,
        run_id: &str,
        now: Timestamp,
        today: Date,
    ) -> Result<Option<Commit>, LakeError> {
        let base = self.present(snapshot)?;
        if self.current()?.is_some_and(|current| current.snapshot == snapshot) {
            return Ok(None);
        }
        self.open_snapshot(&base).tables()?;
        let run = self.run(run_id)?;
        let mut record = RunRecord::begun(run_id, ROLLBACK, now, today);
        run.write_record(&record)?;
        let commit = self.stage_on(Base::Restored(snapshot), run_id)?.commit(CommitInfo {
            committed_at: now,
            today,
            pipeline: ROLLBACK.to_owned(),
            requests_sent: 0,
            state: base.state,
            checks: base.checks,
        })?;
        record.finished = Some("complete".to_owned());
        run.close(&mut record)?;
        Ok(Some(commit))
    }
}
