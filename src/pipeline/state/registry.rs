//! What a lake knows of the register's reading: which starts of a name were read, when, and what the API's total counts.

use crate::contract::eastern::minus_days;
use crate::contract::reference::EntityType;
use crate::contract::search::StatusFilter;
use crate::extract::registry::prefixes::{NamePrefix, prefix_of, text};
use crate::pipeline::EVERY_OTHER_TYPE;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Which businesses of the register are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegisterStatus {
    /// Active ones.
    Active,
    /// Dissolved ones too.
    #[default]
    All,
}

impl RegisterStatus {
    /// The filter that asks for them.
    pub const fn filter(self) -> StatusFilter {
        match self {
            Self::Active => StatusFilter::Active,
            Self::All => StatusFilter::All,
        }
    }
}

/// Which rows a count of all businesses counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Dissolved businesses too.
    pub dissolved: bool,
    /// Fictitious names too.
    pub fictitious: bool,
    /// Filings dated after the day of the count too.
    pub later: bool,
}

impl Counted {
    /// All that may be meant by a total, the widest first.
    pub fn choices() -> impl Iterator<Item = Self> {
        let choice =
            |bits: u8| Self { dissolved: bits & 4 == 0, fictitious: bits & 2 == 0, later: bits & 1 == 0 };
        (0..8).map(choice)
    }
}

/// Rows found under each start, by the day it was read as.
type Reads = BTreeMap<Date, BTreeMap<String, u64>>;

/// How far the register has been read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisterState {
    /// Which businesses were asked for.
    #[serde(default)]
    pub status: Option<RegisterStatus>,
    /// Starts read whole, by listing.
    #[serde(default)]
    pub read: BTreeMap<String, Reads>,
    /// Starts that the API does not take as a search.
    #[serde(default)]
    pub refused: BTreeSet<String>,
    /// What `businesses_total` counts, once a whole reading has shown it.
    #[serde(default)]
    pub counted: Option<Counted>,
    /// Rows of all starts when a whole reading had last met the total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<u64>,
}

/// The label of a listing in coverage, and here.
pub(crate) fn label(is_fictitious: bool) -> &'static str {
    if is_fictitious { EntityType::Fictitious.key() } else { EVERY_OTHER_TYPE }
}

impl RegisterState {
    /// Makes ready for a reading: starts read under a narrower question, or longer ago than `max_age_days`, are due again.
    pub fn begin(&mut self, status: RegisterStatus, today: Date, max_age_days: Option<u32>) {
        if self.status == Some(RegisterStatus::Active) && status == RegisterStatus::All {
            self.read.clear();
        }
        if self.read.is_empty() {
            self.status = Some(status);
        }
        if let Some(days) = max_age_days {
            let oldest = minus_days(today, days);
            for reads in self.read.values_mut() {
                reads.retain(|day, _| *day >= oldest);
            }
        }
    }

    /// Whether a start was read, or cannot be.
    pub fn is_read(&self, start: NamePrefix, is_fictitious: bool) -> bool {
        let start = text(start);
        let reads = self.read.get(label(is_fictitious));
        self.refused.contains(&start)
            || reads.is_some_and(|reads| reads.values().any(|starts| starts.contains_key(&start)))
    }

    /// Notes a start as read whole.
    pub fn finish(&mut self, start: NamePrefix, is_fictitious: bool, day: Date, rows: u64) {
        let reads = self.read.entry(label(is_fictitious).to_owned()).or_default();
        reads.entry(day).or_default().insert(text(start), rows);
    }

    /// Every start read, whether of fictitious names, and its rows.
    pub fn starts(&self) -> impl Iterator<Item = (NamePrefix, bool, u64)> + '_ {
        let of_label = |(label, reads): (&String, &'_ Reads)| {
            let is_fictitious = label == EntityType::Fictitious.key();
            reads
                .values()
                .flatten()
                .filter_map(|(start, rows)| Some((prefix_of(start)?, is_fictitious, *rows)))
                .collect::<Vec<_>>()
        };
        self.read.iter().flat_map(of_label)
    }

    /// Forgets starts that were read, of fictitious names where it says so: they are due again.
    pub fn forget(&mut self, lost: &BTreeSet<(NamePrefix, bool)>) {
        for (label, reads) in &mut self.read {
            let is_fictitious = label == EntityType::Fictitious.key();
            let is_lost =
                |start: &String| prefix_of(start).is_some_and(|start| lost.contains(&(start, is_fictitious)));
            for starts in reads.values_mut() {
                starts.retain(|start, _| !is_lost(start));
            }
            reads.retain(|_, starts| !starts.is_empty());
        }
        self.read.retain(|_, reads| !reads.is_empty());
    }

    /// Rows of all starts together.
    pub fn rows(&self) -> u64 {
        self.read.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values).sum()
    }

    /// Whether nothing of the register was ever read.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.refused.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn starts_stay_read_until_they_are_too_old_or_were_asked_for_too_narrowly() {
        let today = date(2026, 11, 20);
        let mut state = RegisterState::default();
        state.begin(RegisterStatus::Active, today, None);
        state.finish(['S', 'U'], false, date(2026, 11, 1), 7);
        state.finish(['S', 'U'], true, today, 2);
        state.begin(RegisterStatus::Active, today, Some(20));
        assert!(state.is_read(['S', 'U'], false) && state.is_read(['S', 'U'], true));
        assert!(!state.is_read(['S', 'A'], false));
        assert_eq!(state.rows(), 9);
        state.begin(RegisterStatus::Active, today, Some(18));
        assert!(!state.is_read(['S', 'U'], false) && state.is_read(['S', 'U'], true));
        state.begin(RegisterStatus::All, today, None);
        assert_eq!((state.rows(), state.status), (0, Some(RegisterStatus::All)));
        state.finish(['S', 'U'], false, today, 9);
        state.begin(RegisterStatus::Active, today, None);
        assert!(state.is_read(['S', 'U'], false), "who read all has read the active ones");
    }

    #[test]
    fn a_start_that_is_forgotten_is_due_again_and_no_other() {
        let today = date(2026, 11, 20);
        let mut state = RegisterState::default();
        state.begin(RegisterStatus::All, today, None);
        state.finish(['S', 'U'], false, today, 7);
        state.finish(['S', 'U'], true, today, 2);
        state.finish(['S', 'A'], false, date(2026, 11, 1), 5);
        state.forget(&BTreeSet::from([(['S', 'U'], false), (['S', 'A'], true)]));
        assert!(!state.is_read(['S', 'U'], false) && state.is_read(['S', 'U'], true));
        assert!(state.is_read(['S', 'A'], false));
        state.forget(&BTreeSet::from([(['S', 'U'], true), (['S', 'A'], false)]));
        assert!(state.is_empty(), "a listing of which nothing is read leaves nothing behind");
    }

    #[test]
    fn the_widest_meaning_of_a_total_comes_first_and_each_once() {
        let choices: Vec<Counted> = Counted::choices().collect();
        assert_eq!(choices[0], Counted { dissolved: true, fictitious: true, later: true });
        assert!((1..choices.len()).all(|at| !choices[..at].contains(&choices[at])));
    }

    #[test]
    fn the_state_comes_back_from_its_json() {
        let mut state = RegisterState::default();
        state.begin(RegisterStatus::All, date(2026, 11, 20), None);
        state.finish(['"', 'Ñ'], true, date(2026, 11, 20), 3);
        let text = serde_json::to_string(&state).expect("JSON");
        assert_eq!(serde_json::from_str::<RegisterState>(&text).expect("a state"), state);
        assert_eq!(state.starts().collect::<Vec<_>>(), [(['"', 'Ñ'], true, 3)]);
    }
}
