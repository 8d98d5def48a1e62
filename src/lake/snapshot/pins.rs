//! Marks on snapshots: pinned by a person, pruned by a rule. Each is one small sealed file, created or deleted
//! atomically, so that two writers never overwrite each other's marks.

use crate::lake::error::LakeError;
use crate::lake::format::layout::{self, Mark};
use crate::lake::format::sealed_json::{is_sealed, sealed};
use crate::lake::handle::Lake;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    snapshot: u64,
    mark: String,
    at: Timestamp,
}

impl Lake {
    /// Snapshots with a mark. Only the file's name counts: a damaged pin is still a pin.
    pub(crate) fn marked(&self, mark: Mark) -> Result<BTreeSet<u64>, LakeError> {
        Ok(layout::snapshot_numbers(&self.backend.names(mark.folder())?))
    }

    /// Sets a mark; false when it exists.
    fn set_mark(&self, mark: Mark, snapshot: u64, at: Timestamp) -> Result<bool, LakeError> {
        let is_marked = self.marked(mark)?.contains(&snapshot);
        Ok(!is_marked && self.backend.create(&mark.file(snapshot), &content(mark, snapshot, at)?)?)
    }

    /// Deletes a mark; false when there was none.
    fn clear_mark(&self, mark: Mark, snapshot: u64) -> Result<bool, LakeError> {
        if !self.marked(mark)?.contains(&snapshot) {
            return Ok(false);
        }
        self.backend.remove(&mark.file(snapshot))?;
        Ok(true)
    }

    /// Writes the damaged file of a mark again.
    pub(crate) fn renew_mark(&self, mark: Mark, snapshot: u64, at: Timestamp) -> Result<(), LakeError> {
        self.backend.write(&mark.file(snapshot), &content(mark, snapshot, at)?)
    }

    /// What is wrong with the file of a mark; none when it is intact.
    pub(crate) fn mark_problem(&self, mark: Mark, snapshot: u64) -> Result<Option<&'static str>, LakeError> {
        let bytes = self.backend.read(&mark.file(snapshot))?.unwrap_or_default();
        let names_it =
            serde_json::from_slice::<Content>(&bytes).is_ok_and(|content| content.snapshot == snapshot);
        Ok((!is_sealed(&bytes) || !names_it).then_some("it is not what was written"))
    }

    /// Pins a snapshot: it is never pruned. False when it was pinned already.
    pub fn pin(&self, snapshot: u64, at: Timestamp) -> Result<bool, LakeError> {
        self.present_or_pending(snapshot)?;
        let is_new = self.set_mark(Mark::Pinned, snapshot, at)?;
        // A pruning that runs now either sees the pin or has marked the snapshot before.
        if self.marked(Mark::Pruned)?.contains(&snapshot) {
            self.clear_mark(Mark::Pinned, snapshot)?;
            return Err(LakeError::Pruned { snapshot });
        }
        Ok(is_new)
    }

    /// Unpins a snapshot: it can be pruned. False when it was not pinned.
    pub fn unpin(&self, snapshot: u64) -> Result<bool, LakeError> {
        let was_pinned = self.clear_mark(Mark::Pinned, snapshot)?;
        if !was_pinned {
            self.snapshot(snapshot)?;
        }
        Ok(was_pinned)
    }

    /// Marks a snapshot as pruned. False, and no mark, if it is pinned.
    pub(super) fn mark_pruned(&self, snapshot: u64, at: Timestamp) -> Result<bool, LakeError> {
        self.set_mark(Mark::Pruned, snapshot, at)?;
        let is_pinned = self.marked(Mark::Pinned)?.contains(&snapshot);
        if is_pinned {
            self.clear_mark(Mark::Pruned, snapshot)?;
        }
        Ok(!is_pinned)
    }
}

fn content(mark: Mark, snapshot: u64, at: Timestamp) -> Result<Vec<u8>, LakeError> {
    let name = mark.file(snapshot);
    let content = Content { snapshot, mark: mark.folder().to_owned(), at };
    sealed(&content).map_err(LakeError::storage("write", Path::new(&name)))
}
