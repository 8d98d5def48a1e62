//! Snapshots that a check held: whole, under their own number, and not shown. One is published by a person's word.

use super::write_lock::LakeLock;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::Commit;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use std::collections::BTreeSet;

impl Lake {
    /// The commit of a held snapshot.
    pub(crate) fn held_commit(&self, snapshot: u64) -> Result<Commit, LakeError> {
        let bytes =
            self.backend.read(&Layout::held_name(snapshot))?.ok_or(LakeError::NoSnapshot { snapshot })?;
        Commit::decode(&bytes, &self.path_for_user(&self.layout.held_commit(snapshot)))
    }

    /// Publishes a held snapshot: its commit is created, and readers see it. Its files stay where they are.
    ///
    /// # Errors
    ///
    /// [`LakeError::NoSnapshot`]; [`LakeError::NotHeld`]; [`LakeError::Overtaken`] when another snapshot was published since;
    /// [`LakeError::Damaged`] when it is not whole; else as [`crate::lake::Staging::commit`].
    pub fn accept(&self, _lock: &LakeLock, snapshot: u64) -> Result<Commit, LakeError> {
        if !self.held_snapshots()?.contains(&snapshot) {
            self.commit(snapshot)?;
            return Err(LakeError::NotHeld { snapshot });
        }
        let commit = self.held_commit(snapshot)?;
        let newest = self.commits()?.last().copied();
        if commit.parent != newest {
            return Err(LakeError::Overtaken { snapshot, parent: commit.parent, newest });
        }
        self.sound_tables(&commit)?;
        let path = self.layout.commit(snapshot);
        let bytes = commit.encode().map_err(LakeError::storage("write", &path))?;
        if !self.backend.create_commit(snapshot, &bytes)? {
            return Err(LakeError::Conflict { snapshot });
        }
        let not_shown = |source| LakeError::NotShown { snapshot, source: Box::new(source) };
        self.backend.advance_pointer(&commit).map_err(not_shown)?;
        self.backend.remove(&Layout::held_name(snapshot))?;
        Ok(commit)
    }

    /// Deletes a held snapshot. False where it was pinned meanwhile, and stays. The mark that it was pruned keeps its
    /// number from being given again.
    pub(crate) fn drop_held(&self, snapshot: u64, now: Timestamp) -> Result<bool, LakeError> {
        if !self.doom(snapshot, now)? {
            return Ok(false);
        }
        // First its commit: from then on its folder is a leftover that any repair clears.
        self.backend.remove(&Layout::held_name(snapshot))?;
        self.backend.drop_snapshots(&BTreeSet::from([snapshot]))?;
        Ok(true)
    }
}
