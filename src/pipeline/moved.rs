//! What bringing days up to date costs that the lake holds whole (pure): days whose count moved, and days of which totals alone tell
//! whether they did.

use super::need::Need;
use super::outlook::share_of_counted;
use super::work::{Knowledge, Listing};
use crate::contract::eastern::{days_newest_first, span_days};
use crate::extract::planner::{price_lost, price_newest_ends};
use crate::extract::stretch::ranges;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Days older than this hardly fill any more: they move at one pace.
const OLD_DAYS: u32 = 30;

/// Rows that came to a day, by the API's counts.
pub(super) fn came_to(knowledge: &Knowledge<'_>, day: Date) -> u64 {
    u64::try_from(move_of(knowledge, day).unwrap_or(0)).unwrap_or(0)
}

/// Days to which so many rows came are read from their newest ends; of those that lost rows, these are found.
pub(super) fn of_days(listing: Listing, days: &BTreeMap<Date, u64>, knowledge: &Knowledge<'_>) -> u64 {
    let newest_ends = |(from, to): (Date, Date)| {
        let rows = |day: Date| (days.get(&day).copied().unwrap_or(0), held(listing, knowledge, day));
        let rows: Vec<(u64, u64)> = days_newest_first(from, to).map(rows).collect();
        price_newest_ends(&rows, knowledge.plan)
    };
    let read: u64 = ranges(days.keys().copied()).into_iter().map(newest_ends).sum();
    let lost =
        |day: &&Date| listing.kind.is_none() && move_of(knowledge, **day).is_some_and(|moved| moved < 0);
    let found = |day: &Date| price_lost(held(listing, knowledge, *day), knowledge.plan);
    read + days.keys().filter(lost).map(found).sum::<u64>()
}

/// Days of which totals tell whether they moved: a total for each range, halved down to the days that did, and those days.
pub(super) fn of_uncounted(listing: Listing, need: &Need, knowledge: &Knowledge<'_>) -> u64 {
    let pace = Pace::of(knowledge);
    let share = match listing.kind {
        None => 1.0,
        Some(_) => share_of_counted(listing, knowledge.coverage).unwrap_or(1.0).min(1.0),
    };
    let price = |(from, to): (Date, Date)| {
        let days: Vec<Date> = days_newest_first(from, to).collect();
        let rows: u64 = days.iter().map(|day| held(listing, knowledge, *day)).sum();
        let moved: f64 = days.iter().map(|day| pace.likely(knowledge, *day) * share).sum();
        let halvings = (days.len() as f64 / moved.max(1.0)).log2().max(1.0);
        let (mean, plan) = (rows / days.len() as u64, knowledge.plan);
        let of_day = 1.0 + pace.losing * price_lost(mean, plan) as f64;
        1 + (moved * (halvings + of_day)).round() as u64
    };
    ranges(need.proven.keys().copied()).into_iter().map(price).sum()
}

/// How the counts of days move that hardly fill any more.
struct Pace {
    /// Share of them that moved since they were proven.
    moved: f64,
    /// Share of those that lost rows.
    losing: f64,
}

impl Pace {
    fn of(knowledge: &Knowledge<'_>) -> Self {
        let old = knowledge.counts.iter().map(|count| count.date);
        let old = old.filter(|day| span_days(*day, knowledge.today) > OLD_DAYS);
        let moves: Vec<i64> = old.filter_map(|day| move_of(knowledge, day)).collect();
        let share = |some: usize, all: usize| some as f64 / all.max(1) as f64;
        let moved = moves.iter().filter(|moved| **moved != 0).count();
        let losing = moves.iter().filter(|moved| **moved < 0).count();
        Self { moved: share(moved, moves.len()), losing: share(losing, moved) }
    }

    /// How likely it is that a day moved.
    fn likely(&self, knowledge: &Knowledge<'_>, day: Date) -> f64 {
        move_of(knowledge, day).map_or(self.moved, |moved| if moved == 0 { 0.0 } else { 1.0 })
    }
}

/// By how many rows the API's count of a day moved since the day was proven; none where it has no count, or had none.
fn move_of(knowledge: &Knowledge<'_>, day: Date) -> Option<i64> {
    let now = knowledge.counts.iter().find(|count| count.date == day)?.count;
    Some(now - knowledge.state.counts.get(&day)?)
}

/// Rows of a day that the lake holds.
pub(super) fn held(listing: Listing, knowledge: &Knowledge<'_>, day: Date) -> u64 {
    let held = knowledge.coverage.get(listing.label).and_then(|days| days.get(&day));
    held.map_or(0, |held| held.expected)
}
