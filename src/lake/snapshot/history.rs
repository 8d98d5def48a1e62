//! The snapshots of a lake and their states.

use crate::lake::error::LakeError;
use crate::lake::format::layout::Mark;
use crate::lake::format::manifest::Commit;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeSet;

/// The state of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SnapshotState {
    /// Readers can open it.
    Published,
    /// A check failed: it waits for a person to accept it.
    #[serde(rename = "held")]
    Pending,
    /// A rule deleted its tables; its commit is history.
    Pruned,
}

/// A snapshot in the lake's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "a field without a sentence is what its name says")]
pub struct SnapshotEntry {
    pub snapshot: u64,
    #[serde(rename = "standing")]
    pub state: SnapshotState,
    /// Whether it is never pruned.
    pub pinned: bool,
    /// Whether it is what readers see.
    pub current: bool,
    /// The snapshot it was made from.
    pub parent: Option<u64>,
    /// The snapshot whose tables it shows again, after a rollback.
    pub restores: Option<u64>,
    pub committed_at: Timestamp,
    /// The Eastern day its run ran as.
    pub today: Date,
    pub run_id: String,
    pub pipeline: String,
    pub filings: u64,
    /// Rows of all tables and aggregates.
    pub rows: u64,
    /// Bytes of all files; snapshots share the files that did not change.
    pub bytes: u64,
}

impl Lake {
    /// Every snapshot there ever was, oldest first, those pending review included.
    pub fn history(&self) -> Result<Vec<SnapshotEntry>, LakeError> {
        let numbers = self.numbers()?;
        let all = numbers.commits.union(&numbers.pending);
        all.map(|snapshot| Ok(self.entry(*snapshot, &numbers)?.0)).collect()
    }

    /// The entry and the commit of one snapshot, pending review or not.
    pub fn snapshot(&self, snapshot: u64) -> Result<(SnapshotEntry, Commit), LakeError> {
        self.entry(snapshot, &self.numbers()?)
    }

    pub(in crate::lake) fn numbers(&self) -> Result<Numbers, LakeError> {
        Ok(Numbers {
            commits: self.backend.commits()?,
            pending: self.pending_snapshots()?,
            pruned: self.marked(Mark::Pruned)?,
            pinned: self.marked(Mark::Pinned)?,
        })
    }

    fn entry(&self, snapshot: u64, numbers: &Numbers) -> Result<(SnapshotEntry, Commit), LakeError> {
        let (state, commit) = match snapshot {
            number if numbers.pending.contains(&number) => {
                (SnapshotState::Pending, self.pending_commit(number)?)
            }
            number if numbers.pruned.contains(&number) => (SnapshotState::Pruned, self.commit(number)?),
            number => (SnapshotState::Published, self.commit(number)?),
        };
        let entry = SnapshotEntry {
            snapshot,
            state,
            pinned: numbers.pinned.contains(&snapshot),
            current: Some(&snapshot) == numbers.commits.last(),
            parent: commit.parent,
            restores: commit.restores,
            committed_at: commit.committed_at,
            today: commit.today,
            filings: commit.tables.get("filings").map_or(0, |table| table.rows),
            rows: commit.rows(),
            bytes: commit.bytes(),
            run_id: commit.run_id.clone(),
            pipeline: commit.pipeline.clone(),
        };
        Ok((entry, commit))
    }

    /// Numbers of the snapshots whose tables exist: all published ones but the pruned.
    pub fn kept_snapshots(&self) -> Result<BTreeSet<u64>, LakeError> {
        Ok(&self.backend.commits()? - &self.marked(Mark::Pruned)?)
    }

    /// Numbers of the snapshots that are pending review, oldest first.
    pub fn pending_snapshots(&self) -> Result<BTreeSet<u64>, LakeError> {
        // A kill can leave the note of an accepted snapshot: that one is published.
        Ok(&self.backend.numbers("held")? - &self.backend.commits()?)
    }

    /// Whether no snapshot was ever made here, neither published nor pending review.
    pub fn is_empty(&self) -> Result<bool, LakeError> {
        Ok(self.backend.commits()?.is_empty() && self.pending_snapshots()?.is_empty())
    }

    /// The number of the next snapshot. No number is given twice, not even that of a pruned pending snapshot.
    pub(super) fn next_snapshot(&self) -> Result<u64, LakeError> {
        let numbers = self.numbers()?;
        let all = [numbers.commits, numbers.pending, numbers.pruned];
        Ok(all.iter().filter_map(BTreeSet::last).max().unwrap_or(&0) + 1)
    }

    /// The commit of a published snapshot whose tables exist.
    pub(crate) fn present(&self, snapshot: u64) -> Result<Commit, LakeError> {
        let commit = self.commit(snapshot)?;
        if self.marked(Mark::Pruned)?.contains(&snapshot) {
            return Err(LakeError::Pruned { snapshot });
        }
        Ok(commit)
    }

    /// The commit of a snapshot whose tables exist, pending review or not.
    pub fn present_or_pending(&self, snapshot: u64) -> Result<Commit, LakeError> {
        if self.pending_snapshots()?.contains(&snapshot) {
            self.pending_commit(snapshot)
        } else {
            self.present(snapshot)
        }
    }
}

/// The snapshot numbers of a lake, by what is stored under them.
#[derive(Debug, Default)]
pub(in crate::lake) struct Numbers {
    pub(in crate::lake) commits: BTreeSet<u64>,
    pub(in crate::lake) pending: BTreeSet<u64>,
    pub(in crate::lake) pruned: BTreeSet<u64>,
    pub(in crate::lake) pinned: BTreeSet<u64>,
}
