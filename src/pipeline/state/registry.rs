//! How far the register has been read: which name prefixes, when, and what the API's total counts.

use crate::contract::eastern::minus_days;
use crate::contract::listing::Listing;
use crate::contract::search::StatusFilter;
use crate::extract::registry::prefixes::{NamePrefix, prefix_of, text};
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Which businesses of the register are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RegisterStatus {
    /// Active businesses.
    Active,
    /// Active and dissolved businesses.
    #[default]
    All,
}

impl RegisterStatus {
    pub(crate) const fn filter(self) -> StatusFilter {
        match self {
            Self::Active => StatusFilter::Active,
            Self::All => StatusFilter::All,
        }
    }
}

/// Which rows the API's total of businesses counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// Dissolved businesses too.
    pub dissolved: bool,
    /// Fictitious names too.
    pub fictitious: bool,
    /// Filings dated after the day of the count too.
    pub later: bool,
}

impl Counted {
    /// All that a total may count, the widest first.
    pub(crate) fn choices() -> impl Iterator<Item = Self> {
        let choice =
            |bits: u8| Self { dissolved: bits & 4 == 0, fictitious: bits & 2 == 0, later: bits & 1 == 0 };
        (0..8).map(choice)
    }
}

/// Rows of each prefix, by the day it was read.
type Reads = BTreeMap<Date, BTreeMap<String, u64>>;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RegisterState {
    /// Which businesses were requested.
    pub(crate) status: Option<RegisterStatus>,
    /// Complete prefixes, by listing.
    pub(crate) read: BTreeMap<String, Reads>,
    /// Prefixes that the API refuses to search.
    pub(crate) refused: BTreeSet<String>,
    /// What `businesses_total` counts, once a complete reading has shown it.
    pub(crate) counted: Option<Counted>,
    /// `businesses_total` when it was last requested.
    pub(crate) total: Option<u64>,
    /// Day of the last run that saw another total than before.
    pub(crate) changed_on: Option<Date>,
    /// The total when a search last ended without a prefix left to request.
    pub(crate) searched: Option<u64>,
    /// Whether the register was once read to its end. From then on a business that the lake did not have is news.
    pub(crate) was_complete: bool,
    /// Businesses counted that the lake did not have after the last run.
    pub(crate) missing: Option<i64>,
    /// Whether a listing without a type returns fictitious names, so that they need no listing of their own.
    pub(crate) untyped_has_fictitious: bool,
}

/// What a run did of the register.
#[derive(Debug, Clone, Default)]
pub(crate) struct RegisterProgress {
    /// Prefixes likely to have names that were not read.
    pub(crate) left: u64,
    pub(crate) unproven: Vec<UnprovenPrefix>,
}

/// A prefix that could not be read completely.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnprovenPrefix {
    /// The prefix.
    pub start: String,
    /// Listing: `*` or a type.
    pub entity_type: String,
    /// Rows the API reports.
    pub expected: u64,
    /// Rows read; they are in the lake.
    pub held: u64,
}

/// The label of the listing of fictitious names, or of all others.
pub(crate) fn label(is_fictitious: bool) -> &'static str {
    if is_fictitious { Listing::FICTITIOUS.label() } else { Listing::Untyped.label() }
}

impl RegisterState {
    /// Prepares a reading: forgets prefixes that were read for active businesses only, or more than `max_age_days` ago.
    pub(crate) fn begin(&mut self, status: RegisterStatus, today: Date, max_age_days: Option<u32>) {
        if self.status == Some(RegisterStatus::Active) && status == RegisterStatus::All {
            self.read.clear();
            self.was_complete = false;
        }
        if let Some(days) = max_age_days {
            let oldest = minus_days(today, days);
            if self.days().any(|day| day < oldest) {
                self.searched = None;
            }
            self.read.values_mut().for_each(|reads| reads.retain(|day, _| *day >= oldest));
            self.read.retain(|_, reads| !reads.is_empty());
        }
        if self.read.is_empty() {
            self.status = Some(status);
            (self.total, self.changed_on, self.searched) = (None, None, None);
        }
    }

    /// Notes the API's total of now, in a run of this day. A resumed run has rows from before.
    pub(crate) fn note_total(&mut self, total: u64, day: Date, is_resumed: bool) {
        let is_changed = self.total.replace(total).is_some_and(|before| before != total);
        // Active businesses may also leave the total, which then is the same as before.
        if is_changed || (is_resumed && self.status == Some(RegisterStatus::Active)) {
            self.changed_on = Some(day);
        }
    }

    /// Whether the total has not changed since the first of the complete prefixes was read, so that their rows add up.
    pub(crate) fn is_steady(&self) -> bool {
        let is_older = |changed: Date| self.days().all(|day| day > changed);
        self.changed_on.is_none_or(is_older)
    }

    /// Whether the rows of the complete prefixes are those that the total counts.
    pub(crate) fn equals_total(&self) -> bool {
        self.is_steady() && self.total == Some(self.rows())
    }

    /// Days on which complete prefixes were read.
    pub(crate) fn days(&self) -> impl Iterator<Item = Date> + '_ {
        self.read.values().flat_map(BTreeMap::keys).copied()
    }

    /// Notes that listings without a type return fictitious names: their own listings would count them twice.
    pub(crate) fn note_fictitious_in_untyped(&mut self) {
        self.untyped_has_fictitious = true;
        self.read.remove(label(true));
    }

    /// Notes a complete prefix and the rows whose names have it.
    pub(crate) fn finish(&mut self, start: NamePrefix, is_fictitious: bool, day: Date, rows: u64) {
        let reads = self.read.entry(label(is_fictitious).to_owned()).or_default();
        reads.entry(day).or_default().insert(text(start), rows);
    }

    /// Every complete prefix, whether of fictitious names, and its rows.
    pub(crate) fn starts(&self) -> impl Iterator<Item = (NamePrefix, bool, u64)> + '_ {
        self.read.iter().flat_map(|(label, reads)| {
            let is_fictitious = label == self::label(true);
            let starts = reads.values().flatten();
            starts.filter_map(move |(start, rows)| Some((prefix_of(start)?, is_fictitious, *rows)))
        })
    }

    /// Forgets prefixes, so that they are due again. The flag says whether fictitious names are meant.
    pub(crate) fn forget(&mut self, lost: &BTreeSet<(NamePrefix, bool)>) {
        for (label, reads) in &mut self.read {
            let is_fictitious = label == self::label(true);
            let is_lost =
                |start: &String| prefix_of(start).is_some_and(|start| lost.contains(&(start, is_fictitious)));
            for starts in reads.values_mut() {
                starts.retain(|start, _| !is_lost(start));
            }
            reads.retain(|_, starts| !starts.is_empty());
        }
        self.read.retain(|_, reads| !reads.is_empty());
        (self.searched, self.was_complete) = (None, false);
    }

    pub(crate) fn rows(&self) -> u64 {
        self.read.values().flat_map(BTreeMap::values).flat_map(BTreeMap::values).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.read.is_empty() && self.refused.is_empty() && !self.was_complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn is_read(state: &RegisterState, start: NamePrefix, is_fictitious: bool) -> bool {
        state.starts().any(|(read, kind, _)| (read, kind) == (start, is_fictitious))
    }

    #[test]
    fn prefixes_stay_read_until_they_are_too_old_or_more_businesses_are_wanted() {
        let today = date(2026, 11, 20);
        let mut state = RegisterState::default();
        state.begin(RegisterStatus::Active, today, None);
        state.finish(['S', 'U'], false, date(2026, 11, 1), 7);
        state.finish(['S', 'U'], true, today, 2);
        state.begin(RegisterStatus::Active, today, Some(20));
        assert!(is_read(&state, ['S', 'U'], false) && is_read(&state, ['S', 'U'], true));
        assert!(!is_read(&state, ['S', 'A'], false));
        assert_eq!(state.rows(), 9);
        state.begin(RegisterStatus::Active, today, Some(18));
        assert!(!is_read(&state, ['S', 'U'], false) && is_read(&state, ['S', 'U'], true));
        state.begin(RegisterStatus::All, today, None);
        assert_eq!((state.rows(), state.status), (0, Some(RegisterStatus::All)));
        state.finish(['S', 'U'], false, today, 9);
        state.begin(RegisterStatus::Active, today, None);
        assert!(is_read(&state, ['S', 'U'], false), "all businesses include the active ones");
    }

    #[test]
    fn only_a_forgotten_prefix_is_due_again() {
        let today = date(2026, 11, 20);
        let mut state = RegisterState::default();
        state.begin(RegisterStatus::All, today, None);
        state.finish(['S', 'U'], false, today, 7);
        state.finish(['S', 'U'], true, today, 2);
        state.finish(['S', 'A'], false, date(2026, 11, 1), 5);
        state.forget(&BTreeSet::from([(['S', 'U'], false), (['S', 'A'], true)]));
        assert!(!is_read(&state, ['S', 'U'], false) && is_read(&state, ['S', 'U'], true));
        assert!(is_read(&state, ['S', 'A'], false));
        state.forget(&BTreeSet::from([(['S', 'U'], true), (['S', 'A'], false)]));
        assert!(state.is_empty(), "a listing without a read prefix is dropped");
    }

    #[test]
    fn choices_of_what_a_total_counts_are_distinct_and_the_widest_is_first() {
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
