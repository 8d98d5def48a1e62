//! Things that are said only so often, however often they happen.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often something happened since it was said last, and when that was.
#[derive(Debug)]
pub(super) struct Rarely {
    pause: Duration,
    since: Mutex<(u64, Option<Instant>)>,
}

impl Rarely {
    /// What is said once in this time at most.
    pub(super) const fn once_in(pause: Duration) -> Self {
        Self { pause, since: Mutex::new((0, None)) }
    }

    /// What is said once a minute at most.
    pub(super) const fn once_a_minute() -> Self {
        Self::once_in(Duration::from_mins(1))
    }

    /// Takes note that it happened. Returns how often it did since it was said last, if it is to be said now.
    pub(super) fn due(&self, now: Instant) -> Option<u64> {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, last) = &mut *since;
        *count += 1;
        if last.is_some_and(|last| now.duration_since(last) < self.pause) {
            return None;
        }
        *last = Some(now);
        Some(std::mem::take(count))
    }

    /// Whether it is to be said now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due(now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_passes_between_two_times() {
        let (rarely, begun) = (Rarely::once_a_minute(), Instant::now());
        for (secs, is_due) in [(0, true), (0, false), (59, false), (60, true), (119, false), (500, true)] {
            assert_eq!(rarely.is_due(begun + Duration::from_secs(secs)), is_due, "{secs}");
        }
    }

    #[test]
    fn a_line_is_due_once_a_second_and_has_all_requests_since_the_last() {
        let (refused, begun) = (Rarely::once_in(Duration::from_secs(1)), Instant::now());
        for (millis, due) in
            [(0, Some(1)), (1, None), (999, None), (1_000, Some(3)), (1_500, None), (9_000, Some(2))]
        {
            assert_eq!(refused.due(begun + Duration::from_millis(millis)), due, "{millis}");
        }
    }
}
