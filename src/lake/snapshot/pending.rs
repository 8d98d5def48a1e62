//! Snapshots that are pending review (the "audit" of write-audit-publish): complete, with a number, not shown to
//! readers. A person publishes one, or the next pruning deletes it.

use super::write_lock::LakeLock;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::Commit;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use std::collections::BTreeSet;

impl Lake {
    /// The commit of a snapshot that is pending review.
    pub(crate) fn pending_commit(&self, snapshot: u64) -> Result<Commit, LakeError> {
        let bytes = self.backend.read(&Layout::pending_name(snapshot))?;
        self.decoded(snapshot, bytes, &self.layout.pending_commit(snapshot))
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
        self.backend.remove(&Layout::pending_name(snapshot))?;
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
}
