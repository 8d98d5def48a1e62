//! Marks on snapshots: pinned by a person, pruned by a rule. Each is a small sealed file, created or deleted atomically,
//! so that two writers never overwrite each other's marks. A copy in another folder shows when that file is lost.

use crate::lake::error::LakeError;
use crate::lake::format::layout::Mark;
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
    /// Snapshots with a mark. Only the name of the file or of its copy counts: a damaged or lost pin is still a pin.
    pub(crate) fn marked(&self, mark: Mark) -> Result<BTreeSet<u64>, LakeError> {
        let [files, copies] = mark.folders();
        Ok(&self.backend.numbers(&files)? | &self.backend.numbers(&copies)?)
    }

    /// Sets a mark; false when it exists.
    fn set_mark(&self, mark: Mark, snapshot: u64, at: Timestamp) -> Result<bool, LakeError> {
        if self.marked(mark)?.contains(&snapshot) {
            return Ok(false);
        }
        let bytes = content(mark, snapshot, at)?;
        let create = |name: &str| match self.backend.create(name, &bytes) {
            // Its name is enough, until there is room.
            Err(error) if error.is_full_disk() => self.storage.put_empty_if_absent(&self.root().join(name)),
            created => created,
        };
        let [file, copy] = mark.files(snapshot);
        create(&copy)?;
        create(&file)
    }

    /// Writes marks again that a full disk had no room for. What fails is written by the next pruning.
    pub(super) fn fill_empty_marks(&self, mark: Mark, at: Timestamp) -> Result<(), LakeError> {
        if self.is_remote() {
            return Ok(());
        }
        let is_empty = |name: &String| self.root().join(name).metadata().is_ok_and(|found| found.len() == 0);
        for snapshot in self.marked(mark)? {
            if mark.files(snapshot).iter().any(is_empty)
                && let Err(error) = self.renew_mark(mark, snapshot, at)
            {
                tracing::warn!("the mark of snapshot {snapshot} stays empty: {error}");
            }
        }
        Ok(())
    }

    /// Deletes a mark; false when there was none.
    fn clear_mark(&self, mark: Mark, snapshot: u64) -> Result<bool, LakeError> {
        if !self.marked(mark)?.contains(&snapshot) {
            return Ok(false);
        }
        mark.files(snapshot).iter().try_for_each(|name| self.backend.remove(name))?;
        Ok(true)
    }

    /// Writes the file or the copy that a kill did not let a mark get.
    pub(super) fn complete_marks(&self) -> Result<(), LakeError> {
        for mark in Mark::ALL {
            let [files, copies] = mark.folders();
            let (files, copies) = (self.backend.numbers(&files)?, self.backend.numbers(&copies)?);
            for snapshot in files.symmetric_difference(&copies).copied() {
                let [file, copy] = mark.files(snapshot);
                let (here, missing) = if copies.contains(&snapshot) { (copy, file) } else { (file, copy) };
                if let Some(bytes) = self.backend.read(&here)?.filter(|bytes| is_sealed(bytes)) {
                    self.backend.create(&missing, &bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Writes both files of a mark again.
    pub(crate) fn renew_mark(&self, mark: Mark, snapshot: u64, at: Timestamp) -> Result<(), LakeError> {
        let bytes = content(mark, snapshot, at)?;
        let [file, copy] = mark.files(snapshot);
        self.backend.write(&copy, &bytes)?;
        self.backend.write(&file, &bytes)
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

/// Whether a file is what was written for a mark.
pub(in crate::lake) fn is_mark(bytes: &[u8], mark: Mark, snapshot: u64) -> bool {
    let content = serde_json::from_slice::<Content>(bytes);
    is_sealed(bytes) && content.is_ok_and(|it| (it.snapshot, &*it.mark) == (snapshot, mark.folder()))
}

fn content(mark: Mark, snapshot: u64, at: Timestamp) -> Result<Vec<u8>, LakeError> {
    let [name, _] = mark.files(snapshot);
    let content = Content { snapshot, mark: mark.folder().to_owned(), at };
    sealed(&content).map_err(LakeError::storage("write", Path::new(&name)))
}
