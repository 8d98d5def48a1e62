//! The write lock: one writer at a time. Taking it repairs what a killed writer left.

use crate::lake::backend::protocol::Repair;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{self, Layout};
use crate::lake::handle::Lake;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, Write};

/// The lock of a lake's writer; released when dropped, and by the system when the process dies.
#[derive(Debug)]
pub struct LakeLock {
    file: File,
}

impl Drop for LakeLock {
    fn drop(&mut self) {
        // Closing the file releases the lock; the text only names its holder.
        if let Err(error) = self.file.set_len(0) {
            tracing::debug!(%error, "the lock's text stays");
        }
    }
}

impl Lake {
    /// Repairs what a killed run left.
    pub(crate) fn recover(&self, _lock: &LakeLock) -> Result<Repair, LakeError> {
        let repair = self.backend.recover()?;
        match self.complete_marks() {
            Err(error) if error.is_full_disk() => {
                tracing::warn!("the disk is full: a mark stays without its copy")
            }
            completed => completed?,
        }
        Ok(repair)
    }

    /// As [`Lake::lock`], and repairs nothing: for a repair that reports what it does.
    pub(crate) fn lock_unrepaired(&self, run_id: &str, holder: &str) -> Result<LakeLock, LakeError> {
        layout::check_run_id(run_id)?;
        let layout = &self.layout;
        for folder in [layout.state(), layout.commits(), layout.snapshots(), layout.runs()] {
            self.storage.create_durable_dir_all(&folder)?;
        }
        let mut lock = LakeLock { file: take(layout)? };
        match write_holder(&mut lock.file, &format!("run {run_id}, {holder}"))
            .map_err(LakeError::storage("write", &layout.lock()))
        {
            // The lock is valid without its text, and a pruning makes room.
            Err(error) if error.is_full_disk() => {
                tracing::warn!("the disk is full: the lock names no holder")
            }
            written => written?,
        }
        self.backend.refresh()?;
        Ok(lock)
    }

    /// The description of the process that has the lock; none when no process has it.
    pub fn holder(&self) -> Result<Option<String>, LakeError> {
        let path = self.layout.lock();
        let file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(LakeError::storage("open", &path))?,
        };
        // An empty file means that no process has the lock, or takes it now. Trying the lock could make that one fail.
        if file.metadata().is_ok_and(|found| found.len() == 0) {
            return Ok(None);
        }
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(TryLockError::WouldBlock) => Ok(Some(read_holder(&path))),
            Err(TryLockError::Error(source)) => Err(LakeError::Storage { op: "lock", path, source }),
        }
    }
}

fn take(layout: &Layout) -> Result<File, LakeError> {
    let path = layout.lock();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(LakeError::storage("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LakeError::Held { holder: read_holder(&path) }),
        Err(TryLockError::Error(source)) => Err(LakeError::Storage { op: "lock", path, source }),
    }
}

fn read_holder(path: &std::path::Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() { "it did not say who it is".to_owned() } else { text.to_owned() }
}

fn write_holder(file: &mut File, text: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_killed_writer_left_are_no_holder() -> Result<(), LakeError> {
        let root = tempfile::tempdir().expect("a folder");
        let lake = Lake::open(root.path())?;
        assert_eq!(lake.holder()?, None, "there is no lock file");
        fs::create_dir_all(root.path().join("state")).expect("a folder");
        let mut lock = File::create(root.path().join("state/lock")).expect("a lock file");
        lock.lock().expect("the lock");
        write_holder(&mut lock, "run r1, process 4711").expect("the holder");
        assert_eq!(lake.holder()?.as_deref(), Some("run r1, process 4711"));
        lock.unlock().expect("given back");
        assert_eq!(lake.holder()?, None);
        Ok(())
    }
}
