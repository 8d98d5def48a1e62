//! One writer at a time, and the repair of what a killed writer left.

use super::Lake;
use super::error::LakeError;
use super::path::{self, Layout};
use super::storage::{self, Storage, TEMPORARY};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::path::PathBuf;

/// The right to write to the lake; given back when dropped, and by the system when the process dies.
#[derive(Debug)]
pub struct LakeLock {
    file: File,
    repair: Repair,
}

impl LakeLock {
    /// What had to be put right when the lock was taken.
    pub fn repair(&self) -> &Repair {
        &self.repair
    }
}

impl Drop for LakeLock {
    fn drop(&mut self) {
        // The lock itself goes with the file; the text only tells who has it.
        if let Err(error) = self.file.set_len(0) {
            tracing::debug!(%error, "the lock's text stays");
        }
    }
}

/// What a killed run left behind and the next one put right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repair {
    /// Unfinished things that were deleted.
    pub removed: Vec<PathBuf>,
    /// The committed snapshot that `current` was moved to.
    pub shown: Option<u64>,
}

impl Repair {
    /// Whether nothing was wrong.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.shown.is_none()
    }
}

impl Lake {
    /// Takes the lake for writing, making its folders, and puts right what a killed run left.
    ///
    /// `holder` tells others who has it, say the process id and the host.
    ///
    /// # Errors
    ///
    /// [`LakeError::Held`] with the holder's text; [`LakeError::Storage`].
    pub fn lock(&self, run_id: &str, holder: &str) -> Result<LakeLock, LakeError> {
        path::check_run_id(run_id)?;
        let layout = &self.layout;
        for folder in [layout.state(), layout.commits(), layout.snapshots(), layout.runs()] {
            self.storage.create_dir_all(&folder)?;
        }
        let mut lock = LakeLock { file: take(layout)?, repair: Repair::default() };
        write_holder(&mut lock.file, &format!("run {run_id}, {holder}"))
            .map_err(LakeError::storage("write", &layout.lock()))?;
        lock.repair = self.put_right()?;
        Ok(lock)
    }

    /// Removes what no commit speaks of and moves `current` to the newest commit.
    fn put_right(&self) -> Result<Repair, LakeError> {
        let newest = self.commits()?.last().copied();
        let mut repair = Repair::default();
        for path in leftovers(&self.layout, newest)? {
            remove(&self.storage, &path)?;
            repair.removed.push(path);
        }
        if let Some(newest) = newest.filter(|newest| self.needs_showing(*newest)) {
            self.show(newest)?;
            repair.shown = Some(newest);
        }
        Ok(repair)
    }

    fn needs_showing(&self, snapshot: u64) -> bool {
        let shown = fs::read_link(self.layout.current()).ok();
        shown != Some(Layout::current_target(snapshot)) && self.layout.snapshot(snapshot).is_dir()
    }

    /// Points `current` at a committed snapshot.
    pub(super) fn show(&self, snapshot: u64) -> Result<(), LakeError> {
        self.storage.point(&self.layout.current(), &Layout::current_target(snapshot))
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

/// What a killed run can leave: temporary names, a snapshot without its commit, staged files.
///
/// Only the number after the newest commit can be such a snapshot; others without a commit were not left by a
/// run, so they are not touched.
fn leftovers(layout: &Layout, newest: Option<u64>) -> Result<Vec<PathBuf>, LakeError> {
    let mut found = Vec::new();
    for folder in [layout.root.clone(), layout.commits(), layout.snapshots(), layout.state()] {
        let names = storage::names(&folder)?;
        found.extend(names.iter().filter(|name| name.starts_with(TEMPORARY)).map(|name| folder.join(name)));
    }
    found.push(layout.snapshot(newest.unwrap_or(0) + 1));
    for run in storage::names(&layout.runs())? {
        found.push(layout.runs().join(&run).join("staged"));
        let names = storage::names(&layout.runs().join(&run)).unwrap_or_default();
        found.extend(
            names
                .iter()
                .filter(|name| name.starts_with(TEMPORARY))
                .map(|name| layout.runs().join(&run).join(name)),
        );
    }
    found.retain(|path| fs::symlink_metadata(path).is_ok());
    Ok(found)
}

fn remove(storage: &Storage, path: &std::path::Path) -> Result<(), LakeError> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        storage.remove_dir_all(path)
    } else {
        storage.remove_file(path)
    }
}
