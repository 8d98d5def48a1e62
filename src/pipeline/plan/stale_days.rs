//! Which days of a listing must be read, given what the lake holds and what the API counts now (pure).

use crate::contract::eastern::{days_newest_first, span_days};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A day this young still fills: 98.9% of a day's filings have arrived after it.
const STILL_FILLING_DAYS: u32 = 15;

/// Ages in days at which a day is read whole again: rows that changed, and those that came and went, are found by nothing else.
const SETTLING_AGES: [u32; 2] = [14, 30];

/// A day read whole so recently has nothing to settle yet.
const RECENT_DAYS: u32 = 7;

/// What the lake holds of one day of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Rows the API said it has.
    pub expected: u64,
    /// Whether it was proven whole.
    pub complete: bool,
}

/// Readings of a day that did not prove it: a row of it that nothing finds is likely to stay out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vain {
    /// How many, one after another.
    pub times: u32,
    /// As of which day the last one was.
    pub on: Date,
}

/// Days at most between two readings of a day that is read in vain.
const LONGEST_PAUSE: u32 = 14;

impl Vain {
    /// After one more reading.
    pub fn again(before: Option<Self>, on: Date) -> Self {
        Self { times: before.map_or(0, |vain| vain.times) + 1, on }
    }

    /// Whether the day is left alone for now. Rows may only have moved the first time: it is read again at once; then after two
    /// days, four, and so on.
    pub fn rests(self, today: Date) -> bool {
        let pause = 1 << self.times.saturating_sub(1).min(4);
        self.times > 1 && span_days(self.on, today) <= LONGEST_PAUSE.min(pause)
    }
}

/// What is to be read of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Need {
    /// Days never proven.
    pub unread: BTreeSet<Date>,
    /// Days whose count moved.
    pub moved: BTreeSet<Date>,
    /// Days that still fill and have no count of their own: one total tells whether any moved.
    pub filling: BTreeMap<Date, u64>,
    /// Other days without a count: totals, halved where they differ, tell which moved.
    pub proven: BTreeMap<Date, u64>,
    /// Days known whole whose age calls for another whole reading.
    pub settling: BTreeSet<Date>,
}

/// Sorts the days of a window. `count_moved` says of a day whether the API's count of it moved since it was proven; none
/// when there is no such count.
pub fn need(
    (from, today): (Date, Date),
    held: &BTreeMap<Date, Held>,
    count_moved: &dyn Fn(Date) -> Option<bool>,
    read_whole_on: &dyn Fn(Date) -> Option<Date>,
) -> Need {
    let mut need = Need::default();
    for day in days_newest_first(from, today) {
        let Some(known) = held.get(&day).filter(|held| held.complete) else {
            need.unread.insert(day);
            continue;
        };
        if read_whole_on(day).is_some_and(|read| is_due((from, day), read, today)) {
            need.settling.insert(day);
            continue;
        }
        match count_moved(day) {
            Some(true) => drop(need.moved.insert(day)),
            Some(false) => {}
            None if span_days(day, today) <= STILL_FILLING_DAYS => {
                need.filling.insert(day, known.expected);
            }
            None => drop(need.proven.insert(day, known.expected)),
        }
    }
    need
}

/// Whether a day, last read whole on `read`, has since reached an age at which it is read whole again. The oldest day of a window does
/// not wait: tomorrow it is no longer there.
fn is_due((from, day): (Date, Date), read: Date, today: Date) -> bool {
    let age = |on: Date| span_days(day, on).saturating_sub(1);
    let passed = SETTLING_AGES.iter().any(|due| age(read) < *due && *due <= age(today));
    passed && (day == from || span_days(read, today) > RECENT_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_day_read_in_vain_is_read_more_and_more_seldom() {
        let on = date(2026, 7, 1);
        let mut vain = Vain::again(None, on);
        let mut pauses = Vec::new();
        for _ in 0..6 {
            pauses.push((0..40).find(|nights| !vain.rests(crate::contract::eastern::plus_days(on, *nights))));
            vain = Vain::again(Some(vain), on);
        }
        assert_eq!(pauses, [Some(0), Some(2), Some(4), Some(8), Some(14), Some(14)]);
    }

    #[test]
    fn only_days_that_are_missing_or_moved_are_read() {
        let day = |d| date(2026, 7, d);
        let whole = |expected| Held { expected, complete: true };
        let held = BTreeMap::from([
            (day(1), whole(5)),
            (day(2), whole(6)),
            (day(3), Held { expected: 9, complete: false }),
            (day(30), whole(7)),
        ]);
        let moved = |d: Date| (d == day(2)).then_some(true).or((d == day(1)).then_some(false));
        let need = need((day(1), day(31)), &held, &moved, &|_| None);
        assert_eq!(need.moved, BTreeSet::from([day(2)]));
        assert_eq!(need.filling, BTreeMap::from([(day(30), 7)]));
        assert!(need.proven.is_empty());
        assert!(
            need.unread.contains(&day(3)) && need.unread.contains(&day(31)) && !need.unread.contains(&day(1))
        );
    }

    #[test]
    fn a_day_is_read_whole_again_once_at_each_age_and_not_soon_after_it_was() {
        let (long_before, day) = (date(2026, 1, 1), date(2026, 7, 1));
        let after = |days: u32| crate::contract::eastern::plus_days(day, days);
        let mut read = after(0);
        let mut readings = Vec::new();
        for age in 1..90 {
            if is_due((long_before, day), read, after(age)) {
                (readings, read) = ([readings, vec![age]].concat(), after(age));
            }
        }
        assert_eq!(readings, [14, 30]);
        let is_due = |from, read, today| is_due((from, day), after(read), after(today));
        assert!(!is_due(long_before, 13, 14) && is_due(long_before, 13, 20));
        assert!(is_due(day, 26, 30), "the last day on which it can be read");
        assert!(!is_due(day, 30, 30) && !is_due(long_before, 40, 80));
    }

    #[test]
    fn a_day_that_is_due_is_read_whole_whether_it_moved_or_not() {
        let (day, today) = (date(2026, 7, 10), date(2026, 7, 24));
        let held = BTreeMap::from([(day, Held { expected: 5, complete: true })]);
        let need = need((day, day), &held, &|_| Some(true), &|_| Some(day));
        assert!(need.settling.is_empty() && need.moved.contains(&day), "{today} is not asked about yet");
        let need = super::need((day, today), &held, &|_| Some(true), &|_| Some(day));
        assert!(need.settling.contains(&day) && need.moved.is_empty());
    }
}
