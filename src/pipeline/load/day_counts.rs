//! Days by the rows they have, compared with counts of them. Pure.

use super::coverage::ListingDay;
use crate::contract::count::Stats;
use crate::contract::eastern::plus_days;
use crate::contract::listing::Listing;
use crate::contract::reference::EntityType;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Rows of days that are kept in memory while they are read again.
const ROWS_IN_MEMORY: u64 = 50_000;

/// Days by their rows, or by their newest total or count.
pub(super) type RowsByDay = BTreeMap<Date, u64>;

/// The days of each listing that differ from their newest totals or counts.
pub(super) type Differing = BTreeMap<Listing, RowsByDay>;

/// Statewide figures and counts of days at some time.
pub(super) struct Figures {
    pub(super) stats: Stats,
    counts: RowsByDay,
    /// The number of drifted days that were known then.
    drifted: usize,
}

impl Figures {
    pub(super) fn new(stats: Stats, counts: RowsByDay, drifted: &[ListingDay]) -> Self {
        Self { stats, counts, drifted: drifted.len() }
    }

    /// Whether rows of any listing have changed since: a reading noticed it, or newer counts differ. `drifted`: all days known to have
    /// drifted, the newest last.
    pub(super) fn have_changed(&self, newer: &RowsByDay, drifted: &[ListingDay]) -> bool {
        let differs = |(day, count): (&Date, &u64)| self.counts.get(day) != Some(count);
        drifted.len() > self.drifted || newer.iter().any(differs)
    }

    /// Whether businesses of a type may have been filed between these figures and newer ones: by the figures, or because a reading
    /// noticed changes. Figures that stand still while rows of any listing change are too old to show it.
    pub(super) fn show_growth(&self, newer: &Self, kind: EntityType, drifted: &[ListingDay]) -> bool {
        let stand_still = newer.stats.businesses_total == self.stats.businesses_total;
        drifted.iter().skip(self.drifted).any(|(label, _)| label == kind.key())
            || filed(&newer.stats, kind) > filed(&self.stats, kind)
            || (self.have_changed(&newer.counts, drifted) && stand_still)
    }
}

/// Businesses of a type that were filed in the months that the statewide figures have.
fn filed(stats: &Stats, kind: EntityType) -> i64 {
    stats.monthly.iter().filter_map(|month| month.by_type.get(kind.key())).sum()
}

pub(super) fn copied((day, rows): (&Date, &u64)) -> (Date, u64) {
    (*day, *rows)
}

/// Days whose count differs from their rows, with these counts.
pub(super) fn differing(rows: &RowsByDay, counts: &RowsByDay) -> RowsByDay {
    let days = rows.iter().filter_map(|(day, rows)| Some((*day, *counts.get(day)?, *rows)));
    days.filter(|(_, count, rows)| count != rows).map(|(day, count, _)| (day, count)).collect()
}

/// Whether more than half of the counted days differ.
pub(super) fn are_most(differing: &RowsByDay, rows: &RowsByDay, counts: &RowsByDay) -> bool {
    differing.len() * 2 > rows.keys().filter(|day| counts.contains_key(day)).count()
}

/// Whether the counts of days are all above their rows, or all below. Else the sum over several days may be right although each is
/// wrong: one day lacks a row, and its neighbour has one too many.
pub(super) fn are_all_more_or_all_less(rows: &RowsByDay, counts: &RowsByDay) -> bool {
    let mut orders = rows.iter().filter_map(|(day, rows)| Some(counts.get(day)?.cmp(rows)));
    let first = orders.next();
    orders.all(|order| Some(order) == first)
}

/// Whether at most half of the days read again differ again. Else rows change too fast.
pub(super) fn are_mostly_equal_now(read: &Differing, differing: &Differing) -> bool {
    let differs =
        |listing: &Listing, day: &Date| differing.get(listing).is_some_and(|days| days.contains_key(day));
    let days = || read.iter().flat_map(|(listing, days)| days.keys().map(move |day| (listing, day)));
    days().filter(|(listing, day)| differs(listing, day)).count() * 2 <= days().count()
}

/// Consecutive days, newest first, whose rows are within reach together; and single days.
pub(super) fn groups(days: &RowsByDay, reach: u32) -> Vec<RowsByDay> {
    let mut groups: Vec<RowsByDay> = Vec::new();
    for (day, rows) in days.iter().rev() {
        let joins = |group: &&mut RowsByDay| {
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
pub(super) fn newest(days: RowsByDay, most: usize) -> RowsByDay {
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
    use serde_json::json;

    fn counted(rows: &[(i8, u64)]) -> RowsByDay {
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
    fn figures_show_growth_of_a_type_or_that_they_are_too_old_to() {
        let figures = |total: i64, fictitious: i64, count| {
            let month = json!({ "month": "2026-07", "total": total, "partial": true, "by_type": { "fictitious": fictitious } });
            let of_windows =
                json!({ "last_7_days": 0, "last_30_days": 0, "previous_30_days": 0, "last_365_days": 0 });
            let stats = json!({
                "businesses_total": total, "latest_filing_date": "2026-07-01", "updated_at": "", "filings": of_windows,
                "monthly": [month], "type_split_30d": [],
            });
            Figures::new(serde_json::from_value(stats).expect("figures"), counted(&[(1, count)]), &[])
        };
        let mut drifted: Vec<ListingDay> = Vec::new();
        let before = figures(100, 10, 5);
        let grows =
            |newer, drifted: &[ListingDay]| before.show_growth(&newer, EntityType::Fictitious, drifted);
        assert!(!grows(figures(100, 10, 5), &drifted));
        assert!(grows(figures(101, 11, 5), &drifted), "a fictitious name more");
        assert!(!grows(figures(101, 10, 6), &drifted), "another type");
        assert!(grows(figures(100, 10, 6), &drifted), "a day has changed, and they stand still");
        drifted.push(("*".to_owned(), date(2026, 7, 1)));
        assert!(grows(figures(100, 10, 5), &drifted), "they stand still while rows changed");
        assert!(!grows(figures(101, 10, 6), &drifted));
        drifted.push(("fictitious".to_owned(), date(2026, 7, 1)));
        assert!(grows(figures(101, 10, 6), &drifted));
    }

    #[test]
    fn neighbours_within_reach_are_read_together() {
        let of = |reach| -> Vec<usize> {
            groups(&counted(&[(1, 10), (2, 20), (3, 30), (5, 1)]), reach).iter().map(RowsByDay::len).collect()
        };
        assert_eq!(of(100), [1, 3]);
        assert_eq!(of(50), [1, 2, 1]);
    }
}
