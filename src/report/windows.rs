//! The windows of the figures. A label says the days that are there, and which of them still fill.

use super::headline::SETTLED_AFTER;
use crate::aggregate::{CoverageDay, Figures};
use crate::contract::eastern::{days_newest_first, minus_days, span_days};
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Days of the windows of the figures.
pub(super) const WEEK: u32 = 7;
pub(super) const MONTH: u32 = 30;
pub(super) const YEAR: u32 = 365;
/// What is said of days for which filings still arrive.
pub(super) const FILLING: &str = "still filling";

/// Which days the figures count.
#[derive(Debug, Default)]
pub(super) struct Windows {
    as_of: Option<Date>,
    /// Days that were read, and whether they are complete, or too new to be.
    read: BTreeMap<Date, bool>,
}

impl Windows {
    pub(super) fn of(figures: &Figures) -> Self {
        let newest = figures.as_of.map(|as_of| minus_days(as_of, SETTLED_AFTER - 1));
        let is_new = |day: Date| newest.is_some_and(|newest| day >= newest);
        let is_there = |day: &CoverageDay| day.is_complete || (is_new(day.day) && day.lacks.is_none());
        let read = figures.coverage.iter().map(|day| (day.day, is_there(day)));
        Self { as_of: figures.as_of, read: read.collect() }
    }

    fn is_there(&self, day: Date) -> bool {
        self.read.get(&day).copied().unwrap_or(false)
    }

    /// Whether a day of the last ones was read.
    fn is_read(&self, days: u32) -> bool {
        self.as_of.is_none_or(|as_of| {
            self.read.range(minus_days(as_of, days.saturating_sub(1))..=as_of).next().is_some()
        })
    }

    /// Filings of the last days; none where the lake has none because no day of them was read.
    pub(super) fn known(&self, filings: i64, days: u32) -> Option<i64> {
        Some(filings).filter(|filings| *filings > 0 || self.is_read(days))
    }

    /// The last days, without those before the lake begins; all where it does not say.
    fn span(&self, days: u32) -> u32 {
        let oldest = self.read.keys().next().zip(self.as_of).filter(|(oldest, as_of)| **oldest <= *as_of);
        oldest.map_or(days, |(oldest, as_of)| span_days(*oldest, as_of).min(days))
    }

    /// Whether the 30 days are there of which nearly all filings have arrived.
    pub(super) fn are_settled(&self) -> bool {
        self.as_of.is_some_and(|as_of| {
            let last = minus_days(as_of, SETTLED_AFTER);
            days_newest_first(minus_days(last, MONTH - 1), last).all(|day| self.is_there(day))
        })
    }

    /// The last days, in words: `365 days`; `90 days` of a lake that has no more; `30 days, incomplete` where some are not.
    pub(super) fn label(&self, days: u32) -> String {
        let span = self.span(days);
        let are_all = self.as_of.is_some_and(|as_of| {
            days_newest_first(minus_days(as_of, span - 1), as_of).all(|day| self.is_there(day))
        });
        if are_all { plural(span) } else { format!("{}, incomplete", plural(span)) }
    }

    /// Whether a window has days that a shorter one lacks.
    pub(super) fn is_longer(&self, days: u32, than: u32) -> bool {
        self.span(days) > self.span(than)
    }
}

fn plural(days: u32) -> String {
    if days == 1 { "1 day".to_owned() } else { format!("{days} days") }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use jiff::civil::date;

    pub(in crate::report) const TODAY: Date = date(2026, 11, 20);

    /// Figures of a lake whose days are these, counted back from today; complete where `is_complete` says so.
    pub(in crate::report) fn lake(days: u32, is_complete: impl Fn(u32) -> bool) -> Figures {
        let day = |ago| CoverageDay {
            day: minus_days(TODAY, ago),
            expected: 1,
            landed: 1,
            is_complete: is_complete(ago),
            is_settled: false,
            lacks: None,
        };
        Figures { as_of: Some(TODAY), coverage: (0..days).map(day).collect(), ..Figures::default() }
    }

    #[test]
    fn a_label_says_the_days_that_are_there() {
        let of = |days: u32, is_complete: &dyn Fn(u32) -> bool| {
            let windows = Windows::of(&lake(days, is_complete));
            ([WEEK, MONTH, YEAR].map(|days| windows.label(days)), windows.are_settled())
        };
        let words = |labels: [&str; 3]| labels.map(str::to_owned);
        let all = |_| true;
        assert_eq!(of(400, &all), (words(["7 days", "30 days", "365 days"]), true));
        assert_eq!(of(90, &all), (words(["7 days", "30 days", "90 days"]), true));
        assert_eq!(of(20, &all), (words(["7 days", "20 days", "20 days"]), false));
        assert_eq!(
            of(0, &all).0,
            words(["7 days, incomplete", "30 days, incomplete", "365 days, incomplete"])
        );
        let cut = |ago: u32| ago < 45;
        assert_eq!(of(90, &cut), (words(["7 days", "30 days", "90 days, incomplete"]), true));
        let state = |ago: u32| ago >= 15;
        assert_eq!(
            of(11_000, &state),
            (words(["7 days", "30 days", "365 days"]), true),
            "the newest still fill"
        );
        let gap = |ago: u32| ago != 20;
        assert_eq!(of(400, &gap), (words(["7 days", "30 days, incomplete", "365 days, incomplete"]), false));
        let old = Windows::of(&Figures { as_of: Some(minus_days(TODAY, 700)), ..lake(20, all) });
        assert_eq!([0, 3].map(|filings| old.known(filings, MONTH)), [None, Some(3)], "no day of it was read");
        assert_eq!([0, 3].map(|filings| Windows::of(&lake(1, all)).known(filings, YEAR)), [Some(0), Some(3)]);
        let short = Windows::of(&lake(20, all));
        assert!(!short.is_longer(YEAR, MONTH) && short.is_longer(MONTH, WEEK));
    }
}
