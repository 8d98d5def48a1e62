//! Requests without a valid key: at most one line a second in the log, however many there are.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Requests refused since the last line, and when that was.
#[derive(Debug, Default)]
pub(super) struct RefusedKeys(Mutex<(u64, Option<Instant>)>);

impl RefusedKeys {
    /// Takes note of a refused request; logs its peer unless there was a line within the last second.
    pub(super) fn note(&self, peer: SocketAddr, now: Instant) {
        if let Some(requests) = self.due(now) {
            tracing::warn!(%peer, requests, "no valid key: answered 401");
        }
    }

    /// The number of requests for a line that is due.
    fn due(&self, now: Instant) -> Option<u64> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, last) = &mut *noted;
        *count += 1;
        if last.is_some_and(|last| now.duration_since(last) < LINE_INTERVAL) {
            return None;
        }
        *last = Some(now);
        Some(std::mem::take(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_once_a_second_and_has_all_requests_since_the_last() {
        let (refused, begun) = (RefusedKeys::default(), Instant::now());
        for (millis, due) in
            [(0, Some(1)), (1, None), (999, None), (1_000, Some(3)), (1_500, None), (9_000, Some(2))]
        {
            assert_eq!(refused.due(begun + Duration::from_millis(millis)), due, "{millis}");
        }
    }
}
