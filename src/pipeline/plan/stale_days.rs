//! Which days of a listing must be read, by what the lake has and what the API counts now (pure).

use crate::contract::eastern::{days_newest_first, span_days};
use crate::table::CoverageRow;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// A day is this young while filings still arrive: 98.9% of them have arrived after 15 days.
const STILL_FILLING_DAYS: u32 = 15;

/// Ages in days at which a day is read completely again. Nothing else finds rows that changed, or that came and went.
const SETTLING_AGES: [u32; 2] = [14, 30];

/// Days, both ends included, after which a day has settled: its last settling age has passed.
pub(crate) const SETTLED_DAYS: u32 = SETTLING_AGES[1] + 1;

/// Filings can be dated ahead, but by no more days than this.
pub(crate) const MAX_DAYS_AHEAD: u32 = 366;

/// A day that was read completely this recently is not due yet.
const RECENT_DAYS: u32 = 7;

/// Days that settle for each night since the last run, at most. Two are due each night, and after a first run many are due together:
/// they are spread over about two weeks.
const MOST_SETTLING: u32 = 3;

/// What the lake has of one day of a listing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KnownDay {
    /// Rows by the API's newest total or count.
    pub(crate) expected: u64,
    /// Rows that the lake lists.
    pub(crate) landed: u64,
    pub(crate) complete: bool,
    /// When it was last read, or found to differ.
    pub(crate) checked_at: Timestamp,
}

impl KnownDay {
    pub(crate) fn of(row: &CoverageRow) -> Self {
        let rows = |rows: i64| u64::try_from(rows).unwrap_or(0);
        Self {
            expected: rows(row.expected),
            landed: rows(row.landed),
            complete: row.complete,
            checked_at: row.checked_at,
        }
    }
}

/// What is to be read of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) unread: BTreeSet<Date>,
    /// Days whose count differs from their rows.
    pub(crate) moved: BTreeSet<Date>,
    /// Days without a count on which filings still arrive, with their rows. One total shows whether any changed.
    pub(crate) filling: BTreeMap<Date, u64>,
    /// Other days without a count, with their rows. A binary search over totals finds those that changed.
    pub(crate) proven: BTreeMap<Date, u64>,
    /// Complete days that are due for another complete reading.
    pub(crate) settling: BTreeSet<Date>,
}

/// What is to be read of the days since `from`, and of the days before that the lake has and the plan reaches, since `oldest`: these
/// are read again while they are incomplete or due. `count_moved`: whether a day's count differs from its rows; none without a count.
/// `nights`: since the last run.
pub(crate) fn need(
    oldest: Date,
    from: Date,
    today: Date,
    known: &BTreeMap<Date, KnownDay>,
    count_moved: &dyn Fn(Date) -> Option<bool>,
    read_whole_on: &dyn Fn(Date) -> Option<Date>,
    nights: u32,
) -> Need {
    let is_due = |day: &Date| read_whole_on(*day).is_some_and(|read| is_due(*day, read, oldest, today));
    let complete = known.range(oldest..=today).filter(|(_, known)| known.complete);
    let due = complete.map(|(day, _)| *day).filter(is_due);
    let mut need = Need { settling: first_due(due, oldest, nights), ..Need::default() };
    let before = known.range(oldest..from).filter(|(_, known)| !known.complete).map(|(day, _)| *day);
    for day in days_newest_first(from, today).chain(before) {
        let is_known = |known: &&KnownDay| known.complete || known.landed > 0 || known.expected == 0;
        let Some(known) = known.get(&day).filter(is_known) else {
            need.unread.insert(day);
            continue;
        };
        if !known.complete {
            need.moved.insert(day);
            continue;
        }
        if need.settling.contains(&day) {
            continue;
        }
        match count_moved(day) {
            Some(true) => drop(need.moved.insert(day)),
            Some(false) => {}
            None if span_days(day, today) <= STILL_FILLING_DAYS => {
                need.filling.insert(day, known.landed);
            }
            None => drop(need.proven.insert(day, known.landed)),
        }
    }
    need
}

/// The oldest days that are due, by the number of nights, and the oldest day of the window in any case.
fn first_due(due: impl Iterator<Item = Date>, oldest: Date, nights: u32) -> BTreeSet<Date> {
    let most = (MOST_SETTLING * nights) as usize;
    due.enumerate().filter(|(at, day)| *at < most || *day == oldest).map(|(_, day)| day).collect()
}

/// Whether a day has reached a settling age since it was read. The oldest day does not wait: tomorrow it cannot be read.
fn is_due(day: Date, read: Date, oldest: Date, today: Date) -> bool {
    let age = |on: Date| span_days(day, on).saturating_sub(1);
    let passed = SETTLING_AGES.iter().any(|due| age(read) < *due && *due <= age(today));
    passed && (day == oldest || span_days(read, today) > RECENT_DAYS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn only_missing_and_changed_days_are_read() {
        let day = |d| date(2026, 7, d);
        let complete =
            |expected| KnownDay { expected, landed: expected, complete: true, ..KnownDay::default() };
        let known = BTreeMap::from([
            (day(1), complete(5)),
            (day(2), complete(6)),
            (day(3), KnownDay { expected: 9, landed: 0, complete: false, ..KnownDay::default() }),
            (day(4), KnownDay { expected: 9, landed: 8, complete: false, ..KnownDay::default() }),
            (day(5), KnownDay { expected: 0, landed: 0, complete: false, ..KnownDay::default() }),
            (day(30), complete(7)),
        ]);
        let moved = |d: Date| (d == day(2)).then_some(true).or((d == day(1)).then_some(false));
        let need = need(day(1), day(1), day(31), &known, &moved, &|_| None, 1);
        assert_eq!(need.moved, BTreeSet::from([2, 4, 5].map(day)), "rows of an incomplete day are known");
        assert_eq!(need.filling, BTreeMap::from([(day(30), 7)]));
        assert!(need.proven.is_empty());
        assert!(
            need.unread.contains(&day(3)) && need.unread.contains(&day(31)) && !need.unread.contains(&day(1))
        );
    }

    #[test]
    fn a_day_is_read_again_once_at_each_settling_age_and_not_soon_after_a_reading() {
        let (long_before, day) = (date(2026, 1, 1), date(2026, 7, 1));
        let after = |days: u32| crate::contract::eastern::plus_days(day, days);
        let mut read = after(0);
        let mut readings = Vec::new();
        for age in 1..90 {
            if is_due(day, read, long_before, after(age)) {
                (readings, read) = ([readings, vec![age]].concat(), after(age));
            }
        }
        assert_eq!(readings, [14, 30]);
        let is_due = |from, read, today| is_due(day, after(read), from, after(today));
        assert!(!is_due(long_before, 13, 14) && is_due(long_before, 13, 20));
        assert!(is_due(day, 26, 30), "the last day on which it can be read");
        assert!(!is_due(day, 30, 30) && !is_due(long_before, 40, 80));
    }

    #[test]
    fn days_that_are_due_together_settle_over_several_nights_the_oldest_first() {
        let day = |d| date(2026, 7, d);
        let known = (1..=10).map(|d| (day(d), KnownDay { complete: true, ..KnownDay::default() })).collect();
        let settling = |from, nights| -> Vec<i8> {
            let need =
                need(day(from), day(20), day(31), &known, &|_| Some(false), &|_| Some(day(11)), nights);
            need.settling.into_iter().map(|day| day.day()).collect()
        };
        assert_eq!(settling(1, 1), [1, 2, 3]);
        assert_eq!(settling(3, 2), [3, 4, 5, 6, 7, 8]);
        assert_eq!(settling(3, 0), [3], "tomorrow it cannot be read");
    }

    #[test]
    fn days_before_the_asked_ones_are_read_again_while_they_are_incomplete_or_due() {
        let day = |d| date(2026, 7, d);
        let complete = KnownDay { expected: 5, landed: 5, complete: true, ..KnownDay::default() };
        let known = BTreeMap::from([
            (day(1), KnownDay { complete: false, ..complete }),
            (day(2), KnownDay { complete: false, ..complete }),
            (day(3), KnownDay { complete: false, landed: 0, ..complete }),
            (day(4), complete),
            (day(5), complete),
        ]);
        let read = |of: Date| Some(if of == day(4) { day(20) } else { date(2026, 8, 5) });
        let asked = date(2026, 8, 6);
        let need = need(day(2), asked, asked, &known, &|_| None, &read, 1);
        assert_eq!((need.moved, need.settling), (BTreeSet::from([day(2)]), BTreeSet::from([day(4)])));
        assert_eq!(need.unread, BTreeSet::from([day(3), asked]), "the plan does not reach July 1");
        assert!(need.proven.is_empty(), "July 5 is not asked for");
    }

    #[test]
    fn a_day_that_is_due_is_read_completely_whether_it_changed_or_not() {
        let (day, today) = (date(2026, 7, 10), date(2026, 7, 24));
        let known = BTreeMap::from([(
            day,
            KnownDay { expected: 5, landed: 5, complete: true, ..KnownDay::default() },
        )]);
        let need = need(day, day, day, &known, &|_| Some(true), &|_| Some(day), 1);
        assert!(need.settling.is_empty() && need.moved.contains(&day), "{today} is outside the window");
        let need = super::need(day, day, today, &known, &|_| Some(true), &|_| Some(day), 1);
        assert!(need.settling.contains(&day) && need.moved.is_empty());
    }
}
