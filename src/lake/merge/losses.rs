//! Months whose filings a repair left out. What comes back of them is no news.

use crate::lake::format::layout::Month;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Months whose filings a repair left out, until they were read again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// When the lake had the rows of each month.
    pub months: BTreeMap<Month, Timestamp>,
    /// Listings of these months that were read again completely: filing date, and whether it is that of fictitious names.
    pub read: BTreeSet<(Date, bool)>,
}

impl Losses {
    /// Whether nothing is lost, or all of it was read again.
    pub fn is_empty(&self) -> bool {
        self.months.is_empty()
    }

    /// Notes a month that was lost, perhaps once more. `at` is when the lake had its rows.
    pub(crate) fn note(&mut self, month: Month, at: Timestamp) {
        let known = self.months.entry(month).or_insert(at);
        *known = at.min(*known);
        self.read.retain(|(day, _)| Month::of(*day) != Some(month));
    }

    /// Notes listings that were read completely.
    pub(crate) fn note_read(&mut self, listings: impl IntoIterator<Item = (Date, bool)>) {
        let is_of_lost = |day: Date| Month::of(day).is_some_and(|month| self.months.contains_key(&month));
        let read: Vec<(Date, bool)> = listings.into_iter().filter(|(day, _)| is_of_lost(*day)).collect();
        self.read.extend(read);
    }

    /// Forgets months before that of a day: nothing of them can be read again.
    pub(crate) fn forget_before(&mut self, oldest: Date) {
        let oldest = Month::of(oldest);
        self.months.retain(|month, _| Some(*month) >= oldest);
        self.read.retain(|(day, _)| Month::of(*day) >= oldest);
    }
}
