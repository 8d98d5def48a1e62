//! Faults for tests: the disk dies, or refuses once, at its N-th operation.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Clone, Default)]
pub(super) struct Faults(Arc<Plan>);

#[derive(Debug, Default)]
struct Plan {
    /// Operations seen.
    seen: AtomicU64,
    /// The operation that fails, from 1; 0 for none.
    at: u64,
    /// Whether everything after it fails as well, as after a kill.
    is_kill: bool,
    hit: AtomicBool,
}

impl Faults {
    /// From the `at`-th operation on nothing reaches the disk.
    pub(super) fn kill_at(at: u64) -> Self {
        Self(Arc::new(Plan { at, is_kill: true, ..Plan::default() }))
    }

    /// The `at`-th operation finds the disk full; the next ones find room again.
    pub(super) fn full_once_at(at: u64) -> Self {
        Self(Arc::new(Plan { at, ..Plan::default() }))
    }

    pub(super) fn was_hit(&self) -> bool {
        self.0.hit.load(Ordering::SeqCst)
    }

    pub(super) fn step(&self) -> io::Result<()> {
        let plan = &*self.0;
        let now = plan.seen.fetch_add(1, Ordering::SeqCst) + 1;
        let fails = plan.at != 0 && (now == plan.at || (plan.is_kill && now > plan.at));
        if !fails {
            return Ok(());
        }
        plan.hit.store(true, Ordering::SeqCst);
        Err(io::Error::from(io::ErrorKind::StorageFull))
    }
}
