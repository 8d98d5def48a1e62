//! How long answers take, and how many requests must overlap so that the waiting does not cost pace.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// More than these are never under way at once.
pub const MOST_UNDER_WAY: usize = 8;

/// Where one of the last answers came sooner, answers are waited for: the time to be won is less than what a kill would cost,
/// which loses every answer that is under way.
const WORTH_HIDING: Duration = Duration::from_millis(100);

/// So many answers in a row must have been slow: a first connection or a busy moment alone is no slow API.
const IN_A_ROW: usize = 5;

/// Times from a request to its whole answer.
#[derive(Debug, Default)]
pub(super) struct Latency(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    /// A running mean; none before the first.
    mean: Option<Duration>,
    last: VecDeque<Duration>,
}

impl Latency {
    /// Notes an answer; the last five count most.
    pub(super) fn note(&self, took: Duration) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.mean = Some(answers.mean.map_or(took, |mean| mean - mean / 5 + took / 5));
        answers.last.push_back(took);
        if answers.last.len() > IN_A_ROW {
            answers.last.pop_front();
        }
    }

    /// Requests that must be under way at once to use this many a minute, with a quarter to spare for the moments in which
    /// the next question is not known yet.
    pub(super) fn overlap(&self, per_minute: u32) -> usize {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_slow = answers.last.len() == IN_A_ROW && answers.last.iter().all(|took| *took >= WORTH_HIDING);
        let Some(mean) = answers.mean.filter(|_| is_slow) else { return 1 };
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

    #[test]
    fn one_quick_answer_among_the_last_ends_the_overlap() {
        let latency = Latency::default();
        let note = |ms: u64| {
            latency.note(Duration::from_millis(ms));
            latency.overlap(60_000)
        };
        assert_eq!([2_000, 900, 900, 900].map(note), [1; 4], "too few to tell");
        assert_eq!([900, 20].map(note), [8, 1]);
        assert_eq!([900, 900, 900, 900, 900].map(note), [1, 1, 1, 1, 8]);
    }
}
