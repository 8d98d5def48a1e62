//! How long answers take, and how many requests must overlap so that the waiting does not cost pace.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// More than these are never under way at once.
pub const MOST_UNDER_WAY: usize = 8;

/// An answer that comes sooner is waited for: the time to be won is less than what a kill would cost, which loses every
/// answer that is under way.
const WORTH_HIDING: Duration = Duration::from_millis(100);

/// A running mean of the time from a request to its whole answer, in microseconds; 0 before the first.
#[derive(Debug, Default)]
pub(super) struct Latency(AtomicU64);

impl Latency {
    /// Notes an answer; the last five count most.
    pub(super) fn note(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).max(1);
        let mean = self.0.load(Ordering::Relaxed);
        let mean = if mean == 0 { took } else { mean - mean / 5 + took / 5 };
        self.0.store(mean.max(1), Ordering::Relaxed);
    }

    /// Requests that must be under way at once to use this many a minute, with a quarter to spare for the moments in which
    /// the next question is not known yet.
    pub(super) fn overlap(&self, per_minute: u32) -> usize {
        let mean = Duration::from_micros(self.0.load(Ordering::Relaxed));
        if mean < WORTH_HIDING {
            return 1;
        }
        let needed = mean.as_secs_f64() * f64::from(per_minute) / 60.0 * 1.25;
        (needed.ceil() as usize).clamp(1, MOST_UNDER_WAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(ms: u64, per_minute: u32) -> usize {
        let latency = Latency::default();
        (0..20).for_each(|_| latency.note(Duration::from_millis(ms)));
        latency.overlap(per_minute)
    }

    #[test]
    fn requests_overlap_no_more_than_the_pace_needs() {
        for (ms, per_minute, expected) in [
            (300, 20, 1),
            (300, 60, 1),
            (300, 120, 1),
            (1_000, 20, 1),
            (1_000, 60, 2),
            (1_000, 120, 3),
            (5_000, 120, 8),
            (50, 60_000, 1),
            (300, 60_000, 8),
        ] {
            assert_eq!(overlap(ms, per_minute), expected, "{ms} ms, {per_minute} a minute");
        }
        assert_eq!(Latency::default().overlap(120), 1, "nothing is known before the first answer");
    }
}
