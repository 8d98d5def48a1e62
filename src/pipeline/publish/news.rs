//! Which businesses are news when the lake first has them.
//!
//! A lake that reads a day for the first time learns what has long been there. This is no news: neither a first backfill, in one part or
//! in several, nor a later one that reaches further back.

use crate::contract::listing::Listing;
use crate::lake::Staging;
use crate::pipeline::error::Result;
use crate::pipeline::plan::lake_view::staged_rows;
use crate::pipeline::state::run_state::RunState;
use crate::table::CoverageRow;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// What the lake had read before the run.
pub(super) struct KnownDays {
    by_listing: BTreeMap<Listing, OfListing>,
    /// Whether every business of the register was known.
    has_register: bool,
    today: Date,
}

#[derive(Default)]
struct OfListing {
    /// Days that were complete at any time.
    complete: BTreeSet<Date>,
    /// Newest day that was asked for.
    newest: Date,
}

impl KnownDays {
    /// Of a snapshot whose coverage is still that of its parent.
    pub(super) fn of(staging: &Staging, today: Date) -> Result<Self> {
        let register = RunState::of(staging.parent()).register;
        Ok(Self::new(&staged_rows(staging)?, register.was_complete, today))
    }

    fn new(coverage: &[CoverageRow], has_register: bool, today: Date) -> Self {
        let mut by_listing: BTreeMap<Listing, OfListing> = BTreeMap::new();
        for row in coverage {
            let Some(listing) = Listing::from_label(&row.entity_type) else { continue };
            let known = by_listing.entry(listing).or_default();
            known.newest = known.newest.max(row.filed_date);
            // Rows land only from complete days: a day that has rows was complete once.
            if row.complete || row.landed > 0 {
                known.complete.insert(row.filed_date);
            }
        }
        Self { by_listing, has_register, today }
    }

    /// Whether a business of this day and type is news: its day was complete before, or has come since the last run.
    pub(super) fn makes_news(&self, day: Date, entity_type: &str) -> bool {
        let is_known = |of: &OfListing| of.complete.contains(&day) || (of.newest < day && day <= self.today);
        let mut holding = self.by_listing.iter().filter(|(listing, _)| listing.holds(entity_type));
        self.has_register || holding.any(|(_, of)| is_known(of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use jiff::civil::date;

    fn covered(day: i8, label: &str, landed: i64, complete: bool) -> CoverageRow {
        CoverageRow {
            filed_date: date(2026, 11, day),
            entity_type: label.to_owned(),
            expected: 9,
            landed,
            complete,
            settled: false,
            checked_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn rows_of_days_that_were_never_complete_are_no_news() {
        let coverage = [covered(20, "*", 9, true), covered(19, "*", 0, false), covered(18, "*", 7, false)];
        let known = KnownDays::new(&coverage, false, date(2026, 11, 21));
        let of = |day: i8, kind: &str| known.makes_news(date(2026, 11, day), kind);
        assert!(of(20, "llc"), "the day was complete");
        assert!(of(18, "llc"), "it was complete until its count changed");
        assert!(!of(19, "llc"), "it was asked for and never complete");
        assert!(!of(17, "llc"), "a first backfill in two parts, or a longer one");
        assert!(of(21, "llc"), "the day has come since");
        assert!(!of(22, "llc"), "a day to come, read from the register");
        assert!(!of(20, "fictitious") && !of(21, "fictitious"), "this listing was not read before");
    }

    #[test]
    fn a_register_that_was_read_to_its_end_makes_news_of_every_day() {
        let first = KnownDays::new(&[], false, date(2026, 11, 21));
        assert!(!first.makes_news(date(1999, 1, 4), "llc"));
        let again = KnownDays::new(&[], true, date(2026, 11, 21));
        assert!(again.makes_news(date(1999, 1, 4), "llc"));
    }
}
