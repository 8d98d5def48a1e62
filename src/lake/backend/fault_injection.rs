//! Faults for tests: an operation of the disk or of the store fails, once or for ever, or its answer is lost.

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
    /// It does not happen; the next ones do.
    #[default]
    Once,
    /// It does not happen, and nothing after it, as after a kill.
    Kill,
    /// A store does it and cannot say so. The disk has no such fault.
    LostAnswer,
}

#[derive(Debug, Default)]
struct Plan {
    /// Operations seen.
    seen: AtomicU64,
    /// The operation that fails, from 1; 0 for none.
    at: u64,
    kind: Kind,
    hit: AtomicBool,
    /// Whether the answer to the operation under way is to be lost.
    losing: AtomicBool,
}

impl Faults {
    fn at(at: u64, kind: Kind) -> Self {
        Self { plan: Arc::new(Plan { at, kind, ..Plan::default() }), power: None }
    }

    /// From the `at`-th operation on nothing reaches the disk or the store.
    pub(crate) fn kill_at(at: u64) -> Self {
        Self::at(at, Kind::Kill)
    }

    /// The `at`-th operation finds the disk full, or the store away; the next ones go through again.
    pub(crate) fn full_once_at(at: u64) -> Self {
        Self::at(at, Kind::Once)
    }

    /// The `at`-th operation goes through, but its answer does not come back, if it is one of a store.
    pub(crate) fn answer_lost_at(at: u64) -> Self {
        Self::at(at, Kind::LostAnswer)
    }

    /// Also keeps account of what a loss of power would leave.
    pub(crate) fn watched_by(self, power: &Arc<Power>) -> Self {
        Self { power: Some(Arc::clone(power)), ..self }
    }

    /// Operations seen so far.
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
