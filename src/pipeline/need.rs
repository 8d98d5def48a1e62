//! Which days of a listing must be read, given what the lake holds and what the API counts now (pure).

use crate::contract::eastern::{days_newest_first, span_days};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// A day this young still fills: 98.9% of a day's filings have arrived after it.
const STILL_FILLING_DAYS: u32 = 15;

/// What the lake holds of one day of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Rows the API said it has.
    pub expected: u64,
    /// Whether it was proven whole.
    pub complete: bool,
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
}

/// Sorts the days of a window. `count_moved` says of a day whether the API's count of it moved since it was proven; none
/// when there is no such count.
pub fn need(
    (from, today): (Date, Date),
    held: &BTreeMap<Date, Held>,
    count_moved: &dyn Fn(Date) -> Option<bool>,
) -> Need {
    let mut need = Need::default();
    for day in days_newest_first(from, today) {
        let Some(known) = held.get(&day).filter(|held| held.complete) else {
            need.unread.insert(day);
            continue;
        };
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

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

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
        let need = need((day(1), day(31)), &held, &moved);
        assert_eq!(need.moved, BTreeSet::from([day(2)]));
        assert_eq!(need.filling, BTreeMap::from([(day(30), 7)]));
        assert!(need.proven.is_empty());
        assert!(
            need.unread.contains(&day(3)) && need.unread.contains(&day(31)) && !need.unread.contains(&day(1))
        );
    }
}
