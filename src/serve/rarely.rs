//! Things that are said at most once a minute, however often they happen.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_mins(1);

/// When something was said last.
#[derive(Debug, Default)]
pub(super) struct Rarely(Mutex<Option<Instant>>);

impl Rarely {
    /// Whether it is to be said now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_passes_between_two_times() {
        let (rarely, begun) = (Rarely::default(), Instant::now());
        for (secs, is_due) in [(0, true), (0, false), (59, false), (60, true), (119, false), (500, true)] {
            assert_eq!(rarely.is_due(begun + Duration::from_secs(secs)), is_due, "{secs}");
        }
    }
}
