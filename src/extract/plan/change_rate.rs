//! How often days change after they were read, and what it costs to find out: learned from earlier runs (pure).

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Runs that are remembered: two weeks of daily runs.
const REMEMBERED: usize = 14;

/// Weight of the assumption made before the first run, in days.
const ASSUMED_DAYS: f64 = 5.0;

/// Days, and the requests that refreshed them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Effort {
    pub(crate) days: u64,
    pub(crate) requests: u64,
}

impl Effort {
    pub(crate) fn note(&mut self, requests: u64) {
        (self.days, self.requests) = (self.days + 1, self.requests + requests);
    }

    /// Requests per day, when `assumed` were assumed.
    pub(crate) fn of_day(self, assumed: f64) -> f64 {
        (self.requests as f64 + ASSUMED_DAYS * assumed) / (self.days as f64 + ASSUMED_DAYS)
    }
}

/// What one run found out about the complete days of a listing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RefreshStats {
    /// Days whose totals were compared, each once for every night since it was complete.
    #[serde(rename = "asked")]
    pub(crate) compared: u64,
    /// Days that changed by those totals, with all their requests.
    #[serde(rename = "found")]
    pub(crate) discovered: Effort,
    /// Days known or likely to have changed that lost no rows, with the requests that made them match, new rows excluded.
    #[serde(rename = "grown")]
    pub(crate) grew: Effort,
    /// The same, with fewer rows than before.
    #[serde(rename = "fallen")]
    pub(crate) shrank: Effort,
}

/// The last runs of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pace(VecDeque<RefreshStats>);

impl Pace {
    /// Adds a run, unless it compared nothing.
    pub(crate) fn note(&mut self, run: RefreshStats) {
        if run == RefreshStats::default() {
            return;
        }
        self.0.push_back(run);
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }

    /// Probability that a day changed in the `nights` since it was complete; none before the first comparison.
    pub(crate) fn discovered_after(&self, nights: u32) -> Option<f64> {
        let compared: u64 = self.0.iter().map(|run| run.compared).sum();
        let a_night = self.sum(|run| run.discovered).days as f64 / compared as f64;
        (compared > 0).then(|| 1.0 - (1.0 - a_night.min(1.0)).powi(nights as i32))
    }

    /// The efforts of one kind, of all runs.
    pub(crate) fn sum(&self, effort: impl Fn(&RefreshStats) -> Effort) -> Effort {
        self.0.iter().map(effort).fold(Effort::default(), |sum, effort| Effort {
            days: sum.days + effort.days,
            requests: sum.requests + effort.requests,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_requests_replace_the_assumption() {
        let mut pace = Pace::default();
        assert_eq!((pace.discovered_after(1), pace.sum(|run| run.grew).of_day(3.0)), (None, 3.0));
        pace.note(RefreshStats::default());
        assert_eq!(pace, Pace::default(), "nothing was compared");
        let run = RefreshStats {
            compared: 100,
            discovered: Effort { days: 10, requests: 40 },
            grew: Effort { days: 15, requests: 15 },
            ..RefreshStats::default()
        };
        pace.note(run);
        assert_eq!(pace.sum(|run| run.grew).of_day(3.0), 1.5);
        let near =
            |nights, likely: f64| pace.discovered_after(nights).is_some_and(|of| (of - likely).abs() < 1e-9);
        assert!(near(1, 0.1) && near(3, 0.271), "10% of the days each night");
        (0..REMEMBERED).for_each(|_| pace.note(RefreshStats { discovered: Effort::default(), ..run }));
        assert_eq!(pace.discovered_after(1), Some(0.0), "old runs are forgotten");
    }
}
