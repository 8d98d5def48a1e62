//! Faults for tests: an operation of the disk or the store fails, once or from then on, or its answer is lost.

use super::power_loss::Power;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Clone, Default)]
pub(crate) struct Faults {
    plan: Arc<Plan>,
    power: Option<Arc<Power>>,
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
        Self { plan: Arc::new(Plan { at, kind, ..Plan::default() }), power: None }
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

    /// Also records what a power loss would leave.
    pub(crate) fn watched_by(self, power: &Arc<Power>) -> Self {
        Self { power: Some(Arc::clone(power)), ..self }
    }

    pub(crate) fn seen(&self) -> u64 {
        self.plan.seen.load(Ordering::SeqCst)
    }

    pub(crate) fn was_hit(&self) -> bool {
        self.plan.hit.load(Ordering::SeqCst)
    }

    fn is_due(&self) -> bool {
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

    /// Before bytes are written to a file.
    pub(crate) fn write(&self) -> io::Result<()> {
        if self.plan.kind == Kind::FullDisk { self.fail() } else { self.step() }
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
        if let Some(power) = &self.power {
            power.file_synced(path);
        }
    }

    pub(crate) fn folder_synced(&self, path: &Path) {
        if let Some(power) = &self.power {
            power.folder_synced(path);
        }
    }
}
