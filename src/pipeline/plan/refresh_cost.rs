//! What bringing days up to date costs that the lake holds whole (pure): days whose count moved, and days of which totals alone tell
//! whether they did.

use super::forecast::share_of_counted;
use super::jobs::{Knowledge, Listing, nights_since_proven};
use super::stale_days::Need;
use crate::contract::eastern::{days_newest_first, span_days};
use crate::extract::plan::change_rate::Pace;
use crate::extract::plan::cost::{price_lost, price_newest_ends};
use crate::extract::plan::day_range::ranges;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Days older than this hardly fill any more: they move at one pace.
const OLD_DAYS: u32 = 60;

/// Share of the days that grew and lost a row nevertheless, before a morning has told.
const USUALLY_LOSING: f64 = 0.07;

/// Rows that came to a day, by the API's counts.
pub(crate) fn came_to(knowledge: &Knowledge<'_>, day: Date) -> u64 {
    u64::try_from(move_of(knowledge, day).unwrap_or(0)).unwrap_or(0)
}

/// Days to which so many rows came are read from their newest ends; of those that lost rows, these are found.
pub(crate) fn of_days(listing: Listing, days: &BTreeMap<Date, u64>, knowledge: &Knowledge<'_>) -> u64 {
    let newest_ends = |(from, to): (Date, Date)| {
        let rows = |day: Date| (days.get(&day).copied().unwrap_or(0), held(listing, knowledge, day));
        let rows: Vec<(u64, u64)> = days_newest_first(from, to).map(rows).collect();
        price_newest_ends(&rows, knowledge.plan)
    };
    let read: u64 = ranges(days.keys().copied()).into_iter().map(newest_ends).sum();
    let pace = pace(listing, knowledge);
    let fell = |day: Date| listing.kind.is_none() && move_of(knowledge, day).is_some_and(|moved| moved < 0);
    let fit = |day: &Date| {
        let of_lost = price_lost(held(listing, knowledge, *day), knowledge.plan);
        match fell(*day) {
            true => pace.shrank().of_day(of_lost),
            false => pace.grew().of_day(USUALLY_LOSING * of_lost),
        }
    };
    read + days.keys().map(fit).sum::<f64>().round() as u64
}

/// How days of a listing went on to change on the mornings before.
fn pace(listing: Listing, knowledge: &Knowledge<'_>) -> Pace {
    knowledge.state.pace.get(listing.label).cloned().unwrap_or_default()
}

/// Days of which totals tell whether they moved: a total for each range, halved down to the days that did, and those days.
pub(crate) fn of_uncounted(listing: Listing, need: &Need, knowledge: &Knowledge<'_>) -> u64 {
    let pace = pace(listing, knowledge);
    let counted = Moves::of(knowledge);
    let share = match listing.kind {
        None => 1.0,
        Some(_) => share_of_counted(listing, knowledge.coverage).unwrap_or(1.0).min(1.0),
    };
    let found = pace.discovered_after(nights_since_proven(listing, knowledge));
    let likely = |day: Date| found.unwrap_or_else(|| counted.likely(knowledge, day) * share);
    let price = |(from, to): (Date, Date)| {
        let days: Vec<Date> = days_newest_first(from, to).collect();
        let rows: u64 = days.iter().map(|day| held(listing, knowledge, *day)).sum();
        let moved: f64 = days.iter().map(|day| likely(*day)).sum();
        let halvings = (days.len() as f64 / moved.max(1.0)).log2().max(1.0);
        let (mean, plan) = (rows / days.len() as u64, knowledge.plan);
        // A page reads the newest end of a day that grew.
        let of_day = pace.discovered().of_day(1.0 + counted.losing * (price_lost(mean, plan) - 1.0).max(0.0));
        1 + (moved * (halvings + of_day)).round() as u64
    };
    ranges(need.proven.keys().copied()).into_iter().map(price).sum()
}

/// How the counts of days moved that hardly fill any more.
struct Moves {
    /// Share of them that moved since they were proven.
    moved: f64,
    /// Share of those that lost rows.
    losing: f64,
}

impl Moves {
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
pub(crate) fn held(listing: Listing, knowledge: &Knowledge<'_>, day: Date) -> u64 {
    let held = knowledge.coverage.get(listing.label).and_then(|days| days.get(&day));
    held.map_or(0, |held| held.expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::account::Remaining;
    use crate::contract::count::DailyCount;
    use crate::contract::plan::Plan;
    use crate::extract::plan::change_rate::{Effort, RefreshStats};
    use crate::pipeline::EVERY_OTHER_TYPE;
    use crate::pipeline::plan::jobs::listing_need;
    use crate::pipeline::plan::lake_view::Coverage;
    use crate::pipeline::plan::stale_days::Held;
    use crate::pipeline::state::RunState;
    use jiff::civil::date;

    const UNTYPED: Listing = Listing { label: EVERY_OTHER_TYPE, stage: "filings", kind: None };

    /// Prices of a morning on which April 30 grew by ten rows and May 1 fell by one, of 1,000 each, and of 61 days without counts, after
    /// such a morning before.
    fn prices(before: RefreshStats) -> (u64, u64) {
        let (grew, fell, today) = (date(2026, 4, 30), date(2026, 5, 1), date(2026, 5, 2));
        let days = || days_newest_first(date(2026, 3, 1), fell);
        let held = days().map(|day| (day, Held { expected: 1_000, complete: true })).collect();
        let counts = [(grew, 1_010), (fell, 999)].map(|(date, count)| DailyCount { date, count });
        let mut state = RunState { counts: [(grew, 1_000), (fell, 1_000)].into(), ..RunState::default() };
        state.pace.entry(UNTYPED.label.to_owned()).or_default().note(before);
        let (coverage, plan) = (Coverage::from([(UNTYPED.label.to_owned(), held)]), Plan::Starter.limits());
        let knowledge = Knowledge {
            coverage: &coverage,
            state: &state,
            counts: &counts,
            plan: &plan,
            remaining: Remaining { minute: 20, day: 1_000, month: 10_000 },
            from: date(2026, 3, 1),
            today,
        };
        let need = listing_need(UNTYPED, &knowledge);
        let came = need.moved.iter().map(|day| (*day, came_to(&knowledge, *day))).collect();
        (of_days(UNTYPED, &came, &knowledge), of_uncounted(UNTYPED, &need, &knowledge))
    }

    #[test]
    fn days_are_priced_as_the_mornings_before_took_them() {
        let (usual, none_moved) = prices(RefreshStats::default());
        assert_eq!((usual, none_moved), (7, 1), "two pages and a search; one total");
        let effort = |days, requests| Effort { days, requests };
        let many = RefreshStats {
            asked: 60,
            discovered: effort(6, 60),
            grew: effort(20, 60),
            shrank: effort(20, 400),
        };
        let (dear, some_moved) = prices(many);
        assert!(dear > usual + 10, "{dear}: twenty requests a day that fell, three a day that grew");
        assert!((40..100).contains(&some_moved), "{some_moved}: of 47 days some five moved");
    }
}
