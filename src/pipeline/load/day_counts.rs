//! Days by the rows they have, compared with counts of them. Pure.

use crate::contract::eastern::plus_days;
use crate::contract::listing::Listing;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Rows of days that are kept in memory while they are read again.
const ROWS_IN_MEMORY: u64 = 50_000;

/// Days by their rows, or by their newest total or count.
pub(super) type Counted = BTreeMap<Date, u64>;

/// The days of each listing that differ from their newest totals or counts.
pub(super) type Differing = BTreeMap<Listing, Counted>;

pub(super) fn copied((day, rows): (&Date, &u64)) -> (Date, u64) {
    (*day, *rows)
}

/// Days whose count differs from their rows, with these counts.
pub(super) fn differing(rows: &Counted, counts: &Counted) -> Counted {
    let days = rows.iter().filter_map(|(day, rows)| Some((*day, *counts.get(day)?, *rows)));
    days.filter(|(_, count, rows)| count != rows).map(|(day, count, _)| (day, count)).collect()
}

/// Whether more than half of the counted days differ.
pub(super) fn are_most(differing: &Counted, rows: &Counted, counts: &Counted) -> bool {
    differing.len() * 2 > rows.keys().filter(|day| counts.contains_key(day)).count()
}

/// Whether the counts of days are all above their rows, or all below. Else the sum over several days may be right although each is
/// wrong: one day lacks a row, and its neighbour has one too many.
pub(super) fn are_all_more_or_all_less(rows: &Counted, counts: &Counted) -> bool {
    let mut orders = rows.iter().filter_map(|(day, rows)| Some(counts.get(day)?.cmp(rows)));
    let first = orders.next();
    orders.all(|order| Some(order) == first)
}

/// Whether at most half of the days read again differ again. Else rows change too fast.
pub(super) fn are_mostly_settled(read: &Differing, differing: &Differing) -> bool {
    let differs =
        |listing: &Listing, day: &Date| differing.get(listing).is_some_and(|days| days.contains_key(day));
    let days = || read.iter().flat_map(|(listing, days)| days.keys().map(move |day| (listing, day)));
    days().filter(|(listing, day)| differs(listing, day)).count() * 2 <= days().count()
}

/// Consecutive days, newest first, whose rows are within reach together; and single days.
pub(super) fn groups(days: &Counted, reach: u32) -> Vec<Counted> {
    let mut groups: Vec<Counted> = Vec::new();
    for (day, rows) in days.iter().rev() {
        let joins = |group: &&mut Counted| {
            group.contains_key(&plus_days(*day, 1)) && group.values().sum::<u64>() + rows <= u64::from(reach)
        };
        match groups.last_mut().filter(joins) {
            Some(group) => drop(group.insert(*day, *rows)),
            None => groups.push(BTreeMap::from([(*day, *rows)])),
        }
    }
    groups
}

/// The newest days, at most `most`, and no more rows than fit in memory.
pub(super) fn newest(days: Counted, most: usize) -> Counted {
    let mut rows = 0;
    let fits = |(_, of_day): &(Date, u64)| {
        rows += of_day;
        rows <= ROWS_IN_MEMORY || rows == *of_day
    };
    days.into_iter().rev().take(most.max(1)).take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn counted(rows: &[(i8, u64)]) -> Counted {
        rows.iter().map(|(day, rows)| (date(2026, 7, *day), *rows)).collect()
    }

    #[test]
    fn a_sum_shows_rows_that_are_missing_only_where_none_is_too_many() {
        let rows = counted(&[(1, 10), (2, 20), (3, 30)]);
        assert!(are_all_more_or_all_less(&rows, &counted(&[(1, 11), (2, 25), (3, 31)])));
        assert!(are_all_more_or_all_less(&rows, &counted(&[(1, 9), (2, 19)])), "the third is not counted");
        assert!(!are_all_more_or_all_less(&rows, &counted(&[(1, 11), (2, 19), (3, 31)])));
        assert!(!are_all_more_or_all_less(&rows, &counted(&[(1, 11), (2, 20)])), "one of them is right");
    }

    #[test]
    fn neighbours_within_reach_are_read_together() {
        let of = |reach| -> Vec<usize> {
            groups(&counted(&[(1, 10), (2, 20), (3, 30), (5, 1)]), reach).iter().map(Counted::len).collect()
        };
        assert_eq!(of(100), [1, 3]);
        assert_eq!(of(50), [1, 2, 1]);
    }
}
