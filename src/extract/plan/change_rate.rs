//! How days read before go on to change, and what finding it out costs: learned from one morning to the next (pure).

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Mornings that are remembered: two weeks of them, weekends included.
const REMEMBERED: usize = 14;

/// Days and requests by which what was assumed before the first morning counts.
const ASSUMED_DAYS: f64 = 5.0;

/// Days, and the requests that bringing them up to date took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Days.
    pub days: u64,
    /// Requests.
    pub requests: u64,
}

impl Effort {
    pub(crate) fn note(&mut self, requests: u64) {
        (self.days, self.requests) = (self.days + 1, self.requests + requests);
    }

    /// Requests a day, where so many were assumed.
    pub fn of_day(self, assumed: f64) -> f64 {
        (self.requests as f64 + ASSUMED_DAYS * assumed) / (self.days as f64 + ASSUMED_DAYS)
    }
}

/// What one run met among days of a listing that the lake held whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Morning {
    /// Days of which totals told whether they moved, each once for every night since they were proven.
    pub asked: u64,
    /// Days that moved by those totals, each with all its requests.
    pub found: Effort,
    /// Days known to have moved, or likely to, that hold no fewer rows than before; with the requests that making their rows fit took,
    /// beside those that read what came.
    pub grown: Effort,
    /// The same, with fewer rows than before.
    pub fallen: Effort,
}

/// The last mornings of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace(VecDeque<Morning>);

impl Pace {
    /// Remembers a morning, unless nothing was looked into.
    pub fn note(&mut self, morning: Morning) {
        if morning == Morning::default() {
            return;
        }
        self.0.push_back(morning);
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }

    /// How likely it is that a total tells of a day that it moved since it was proven so many nights ago; none where none was
    /// asked for.
    pub fn found_after(&self, nights: u32) -> Option<f64> {
        let asked: u64 = self.0.iter().map(|morning| morning.asked).sum();
        let a_night = self.found().days as f64 / asked as f64;
        (asked > 0).then(|| 1.0 - (1.0 - a_night.min(1.0)).powi(nights as i32))
    }

    /// Days that moved by their totals.
    pub fn found(&self) -> Effort {
        self.sum(|morning| morning.found)
    }

    /// Days that moved, or were likely to, and hold no fewer rows than before.
    pub fn grown(&self) -> Effort {
        self.sum(|morning| morning.grown)
    }

    /// The same, with fewer rows than before.
    pub fn fallen(&self) -> Effort {
        self.sum(|morning| morning.fallen)
    }

    fn sum(&self, effort: impl Fn(&Morning) -> Effort) -> Effort {
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
    fn what_was_assumed_gives_way_to_what_mornings_took() {
        let mut pace = Pace::default();
        assert_eq!((pace.found_after(1), pace.grown().of_day(3.0)), (None, 3.0));
        pace.note(Morning::default());
        assert_eq!(pace, Pace::default(), "nothing was looked into");
        let morning = Morning {
            asked: 100,
            found: Effort { days: 10, requests: 40 },
            grown: Effort { days: 15, requests: 15 },
            ..Morning::default()
        };
        pace.note(morning);
        assert_eq!(pace.grown().of_day(3.0), 1.5);
        let near =
            |nights, likely: f64| pace.found_after(nights).is_some_and(|of| (of - likely).abs() < 1e-9);
        assert!(near(1, 0.1) && near(3, 0.271), "a tenth of the days each night");
        (0..REMEMBERED).for_each(|_| pace.note(Morning { found: Effort::default(), ..morning }));
        assert_eq!(pace.found_after(1), Some(0.0), "mornings long past are forgotten");
    }
}
