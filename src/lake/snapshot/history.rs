//! The snapshots of a lake and how each stands: published, held, pruned; pinned or not.

use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::Mark;
use crate::lake::format::manifest::Commit;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeSet;

/// How a snapshot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Readers can open it.
    Published,
    /// A check held it; it is whole, and waits to be accepted.
    Held,
    /// Its tables are gone by a rule; its commit is history.
    Pruned,
}

/// A snapshot in the lake's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotEntry {
    /// Number.
    pub snapshot: u64,
    /// How it stands.
    pub standing: Standing,
    /// Whether it is never pruned.
    pub pinned: bool,
    /// Whether it is what readers see.
    pub current: bool,
    /// The snapshot it was made from.
    pub parent: Option<u64>,
    /// The snapshot whose tables it shows again, after a rollback.
    pub restores: Option<u64>,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// The Eastern day its run ran as.
    pub today: Date,
    /// The run.
    pub run_id: String,
    /// Its pipeline.
    pub pipeline: String,
    /// Filings.
    pub filings: u64,
    /// Rows of all tables and aggregates.
    pub rows: u64,
    /// Bytes of all files; snapshots share the files that did not change.
    pub bytes: u64,
}

impl Lake {
    /// Every snapshot there ever was and the held ones, oldest first.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`] names a commit that cannot be read; [`LakeError::Storage`].
    pub fn history(&self) -> Result<Vec<SnapshotEntry>, LakeError> {
        let (pinned, kept) = (self.marked(Mark::Pinned)?, self.kept_snapshots()?);
        let newest = self.commits()?.last().copied();
        let mut entries = Vec::new();
        for snapshot in self.commits()? {
            let standing = if kept.contains(&snapshot) { Standing::Published } else { Standing::Pruned };
            entries.push(entry(self.commit(snapshot)?, standing, &pinned, newest));
        }
        for snapshot in self.held_snapshots()? {
            entries.push(entry(self.held_commit(snapshot)?, Standing::Held, &pinned, newest));
        }
        entries.sort_by_key(|entry| entry.snapshot);
        Ok(entries)
    }

    /// The entry and the commit of one snapshot, held or not.
    ///
    /// # Errors
    ///
    /// [`LakeError::NoSnapshot`], [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn snapshot(&self, snapshot: u64) -> Result<(SnapshotEntry, Commit), LakeError> {
        let pinned = self.marked(Mark::Pinned)?;
        let newest = self.commits()?.last().copied();
        let (commit, standing) = match self.held_snapshots()?.contains(&snapshot) {
            true => (self.held_commit(snapshot)?, Standing::Held),
            false if self.kept_snapshots()?.contains(&snapshot) => {
                (self.commit(snapshot)?, Standing::Published)
            }
            false => (self.commit(snapshot)?, Standing::Pruned),
        };
        Ok((entry(commit.clone(), standing, &pinned, newest), commit))
    }

    /// Numbers of the snapshots whose tables are there: all but the pruned ones.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn kept_snapshots(&self) -> Result<BTreeSet<u64>, LakeError> {
        let pruned = self.marked(Mark::Pruned)?;
        Ok(self.commits()?.into_iter().filter(|snapshot| !pruned.contains(snapshot)).collect())
    }

    /// Numbers of the snapshots that a check held, oldest first.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn held_snapshots(&self) -> Result<BTreeSet<u64>, LakeError> {
        let commits: BTreeSet<u64> = self.commits()?.into_iter().collect();
        let held = layout::snapshot_numbers(&self.backend.names("held")?).into_iter();
        // One that was accepted, whose note was not cleared before a kill, is published.
        Ok(held.filter(|snapshot| !commits.contains(snapshot)).collect())
    }

    /// Whether no snapshot was ever made here, neither published nor held.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn is_empty(&self) -> Result<bool, LakeError> {
        Ok(self.commits()?.is_empty() && self.held_snapshots()?.is_empty())
    }

    /// The number of the next snapshot: none is given twice, those of held ones and of held ones that went included.
    pub(crate) fn next_snapshot(&self) -> Result<u64, LakeError> {
        let newest = self.commits()?.last().copied();
        let held = self.held_snapshots()?.last().copied();
        let pruned = self.marked(Mark::Pruned)?.last().copied();
        Ok(newest.max(held).max(pruned).unwrap_or(0) + 1)
    }

    /// The commit of a snapshot whose tables are there.
    pub(crate) fn present(&self, snapshot: u64) -> Result<Commit, LakeError> {
        let commit = self.commit(snapshot)?;
        if self.marked(Mark::Pruned)?.contains(&snapshot) {
            return Err(LakeError::Pruned { snapshot });
        }
        Ok(commit)
    }

    /// The commit of a snapshot whose tables are there, held or not.
    ///
    /// # Errors
    ///
    /// [`LakeError::NoSnapshot`], [`LakeError::Pruned`], [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn present_or_held(&self, snapshot: u64) -> Result<Commit, LakeError> {
        match self.held_snapshots()?.contains(&snapshot) {
            true => self.held_commit(snapshot),
            false => self.present(snapshot),
        }
    }
}

fn entry(commit: Commit, standing: Standing, pinned: &BTreeSet<u64>, newest: Option<u64>) -> SnapshotEntry {
    SnapshotEntry {
        snapshot: commit.snapshot,
        standing,
        pinned: pinned.contains(&commit.snapshot),
        current: Some(commit.snapshot) == newest,
        parent: commit.parent,
        restores: commit.restores,
        committed_at: commit.committed_at,
        today: commit.today,
        filings: commit.tables.get("filings").map_or(0, |table| table.rows),
        rows: commit.rows(),
        bytes: commit.bytes(),
        run_id: commit.run_id,
        pipeline: commit.pipeline,
    }
}
