//! How long answers take, and how many requests must overlap to use the allowed pace.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Requests under way at once, at most.
pub(crate) const MOST_UNDER_WAY: usize = 8;

/// A kill loses every answer under way. Faster answers than this are overlapped only where they are surely needed, and as far as the
/// pace makes up for them in this time.
const WORTH_HIDING: Duration = Duration::from_millis(100);

/// Answers in a row that must be slow; one slow answer may be a new connection.
const IN_A_ROW: usize = 5;

/// Times from a request to its complete answer.
#[derive(Debug, Default)]
pub(super) struct Latency(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    /// Moving average; none before the first answer.
    mean: Option<Duration>,
    last: VecDeque<Duration>,
}

impl Latency {
    /// Adds an answer; the last five have most weight.
    pub(super) fn note(&self, took: Duration) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.mean = Some(answers.mean.map_or(took, |mean| mean - mean / 5 + took / 5));
        answers.last.push_back(took);
        if answers.last.len() > IN_A_ROW {
            answers.last.pop_front();
        }
    }

    /// Requests that must be under way at once to send `per_minute`, plus a quarter, because the next request is not always known.
    /// `is_sure`: the next requests are needed, whatever the answers are.
    pub(super) fn overlap(&self, per_minute: u32, is_sure: bool) -> usize {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_slow = answers.last.len() == IN_A_ROW && answers.last.iter().all(|took| *took >= WORTH_HIDING);
        let Some(mean) = answers.mean else { return 1 };
        let pace = f64::from(per_minute) / 60.0;
        let needed = (mean.as_secs_f64() * pace * 1.25).ceil();
        let most = match (is_slow, is_sure) {
            (true, _) => needed,
            (false, true) => needed.min(WORTH_HIDING.as_secs_f64() * pace),
            (false, false) => 1.0,
        };
        (most as usize).clamp(1, MOST_UNDER_WAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlap(ms: u64, per_minute: u32) -> usize {
        let latency = Latency::default();
        (0..20).for_each(|_| latency.note(Duration::from_millis(ms)));
        latency.overlap(per_minute, true)
    }

    #[test]
    fn overlap_is_what_the_pace_needs() {
        for (ms, per_minute, expected) in [
            (300, 20, 1),
            (300, 60, 1),
            (300, 120, 1),
            (1_000, 20, 1),
            (1_000, 60, 2),
            (1_000, 120, 3),
            (5_000, 120, 8),
            (50, 1_000, 1),
            (50, 3_000, 4),
            (1, 3_000, 1),
            (1, 1_000_000, 8),
            (300, 60_000, 8),
        ] {
            assert_eq!(overlap(ms, per_minute), expected, "{ms} ms, {per_minute} a minute");
        }
        assert_eq!(Latency::default().overlap(120, true), 1, "unknown before the first answer");
    }

    #[test]
    fn one_fast_answer_ends_the_overlap() {
        let latency = Latency::default();
        let note = |ms: u64| {
            latency.note(Duration::from_millis(ms));
            latency.overlap(60_000, false)
        };
        assert_eq!([2_000, 900, 900, 900].map(note), [1; 4], "too few answers");
        assert_eq!([900, 20].map(note), [8, 1]);
        assert_eq!([900, 900, 900, 900, 900].map(note), [1, 1, 1, 1, 8]);
    }
}
