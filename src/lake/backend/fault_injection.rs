//! Faults for tests: an operation of the disk or the store fails, once or from then on, or its answer is lost.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    plan: Arc<Plan>,
    watcher: Option<Arc<dyn Watcher>>,
}

/// Sees a disk and a store change.
pub(crate) trait Watcher: std::fmt::Debug + Send + Sync {
    /// Before each operation; of a write, when half of its bytes are in the file.
    fn before_operation(&self) {}

    fn file_synced(&self, path: &Path);

    fn folder_synced(&self, path: &Path);
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The operation fails; the next ones do not.
    #[default]
    Once,
    /// The operation and all after it fail, as after a kill.
    Kill,
    /// The store completes the operation, but its answer is lost. The disk has no such fault.
    LostAnswer,
    /// Every write to a file fails; files are created, renamed and deleted.
    FullDisk,
}

#[derive(Debug, Default)]
struct Plan {
    seen: AtomicU64,
    /// The operation that fails, from 1; 0 for none.
    at: u64,
    kind: Kind,
    hit: AtomicBool,
    /// Whether the answer to the current operation is lost.
    losing: AtomicBool,
}

impl Faults {
    fn at(at: u64, kind: Kind) -> Self {
        Self { plan: Arc::new(Plan { at, kind, ..Plan::default() }), watcher: None }
    }

    /// From the `at`-th operation on, nothing reaches the disk or the store.
    pub(crate) fn kill_at(at: u64) -> Self {
        Self::at(at, Kind::Kill)
    }

    /// The `at`-th operation finds a full disk or an unreachable store; the next ones succeed.
    pub(crate) fn full_once_at(at: u64) -> Self {
        Self::at(at, Kind::Once)
    }

    /// The answer to the `at`-th operation is lost, if it is one of a store.
    pub(crate) fn answer_lost_at(at: u64) -> Self {
        Self::at(at, Kind::LostAnswer)
    }

    /// The disk has no room for a single byte.
    pub(crate) fn full_disk() -> Self {
        Self::at(0, Kind::FullDisk)
    }

    pub(crate) fn watched_by(self, watcher: Arc<dyn Watcher>) -> Self {
        Self { watcher: Some(watcher), ..self }
    }

    pub(crate) fn seen(&self) -> u64 {
        self.plan.seen.load(Ordering::SeqCst)
    }

    pub(crate) fn was_hit(&self) -> bool {
        self.plan.hit.load(Ordering::SeqCst)
    }

    fn is_due(&self) -> bool {
        if let Some(watcher) = &self.watcher {
            watcher.before_operation();
        }
        let now = self.plan.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let at = self.plan.at;
        at != 0 && (now == at || (self.plan.kind == Kind::Kill && now > at))
    }

    fn fail(&self) -> io::Result<()> {
        self.plan.hit.store(true, Ordering::SeqCst);
        Err(io::Error::from(io::ErrorKind::StorageFull))
    }

    /// Before an operation of the disk.
    pub(crate) fn step(&self) -> io::Result<()> {
        if self.is_due() && self.plan.kind != Kind::LostAnswer { self.fail() } else { Ok(()) }
    }

    /// Writes to a file. A kill or a full disk leaves half of the bytes.
    pub(crate) fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        let (half, rest) = bytes.split_at(bytes.len() / 2);
        file.write_all(half)?;
        if self.plan.kind == Kind::FullDisk { self.fail() } else { self.step() }?;
        file.write_all(rest).map(|()| bytes.len())
    }

    /// Before an operation of a store.
    pub(crate) fn request(&self) -> io::Result<()> {
        let is_due = self.is_due();
        let loses = self.plan.kind == Kind::LostAnswer;
        self.plan.losing.store(is_due && loses, Ordering::SeqCst);
        if is_due && !loses { self.fail() } else { Ok(()) }
    }

    /// After an operation of a store.
    pub(crate) fn answer(&self) -> io::Result<()> {
        if self.plan.losing.swap(false, Ordering::SeqCst) { self.fail() } else { Ok(()) }
    }

    pub(crate) fn file_synced(&self, path: &Path) {
        if let Some(watcher) = &self.watcher {
            watcher.file_synced(path);
        }
    }

    pub(crate) fn folder_synced(&self, path: &Path) {
        if let Some(watcher) = &self.watcher {
            watcher.folder_synced(path);
        }
    }
}
