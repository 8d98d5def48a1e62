//! The cost of a listing (pure): reading unread days, updating changed ones, finding the changed ones without a count.

use super::forecast::Forecast;
use super::inputs::{PlanInputs, filter};
use super::jobs::{RunPlan, job, listing_need, stage};
use super::stale_days::Need;
use crate::contract::eastern::{days_newest_first, span_days};
use crate::contract::listing::Listing;
use crate::contract::param::MAX_DAYS;
use crate::extract::listing::{CHECK, SETTLING};
use crate::extract::plan::cost::{price_full_read, price_lost, price_newest_ends};
use crate::extract::plan::day_range::{DaySpan, spans};
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeMap;

/// One stage of a run and its cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StagePrice {
    /// Name of the stage.
    pub name: String,
    /// Queries, each read to its end.
    pub slices: u64,
    /// Rows that it reads.
    pub rows: u64,
    /// Requests that it sends.
    pub requests: u64,
}

impl StagePrice {
    /// A stage that sends `requests` for `rows` rows, one query each.
    pub(crate) fn new(name: &str, rows: u64, requests: u64) -> Self {
        Self { name: name.to_owned(), slices: requests, rows, requests }
    }
}

/// Hardly any filing arrives on older days: they all change equally often.
const OLD_DAYS: u32 = 60;

/// Share of the days that grew and lost a row as well, before a morning has been measured.
const USUALLY_LOSING: f64 = 0.07;

/// The stages of reading listings, in order.
pub(crate) fn prices(listings: &[Listing], forecast: &Forecast<'_>) -> Vec<StagePrice> {
    let mut stages: Vec<StagePrice> = Vec::new();
    for price in listings.iter().map(|listing| listing_price(*listing, forecast)) {
        match stages.iter_mut().find(|stage| stage.name == price.name) {
            Some(stage) => {
                stage.slices += price.slices;
                stage.rows += price.rows;
                stage.requests += price.requests;
            }
            None => stages.push(price),
        }
    }
    let later = [settling_price(listings, forecast.inputs), check_price(listings, forecast.inputs)];
    stages.extend(later.into_iter().filter(|stage| stage.slices > 0));
    stages
}

/// The cost of reading a listing's days as a run would plan them, and of updating those that changed.
fn listing_price(listing: Listing, forecast: &Forecast<'_>) -> StagePrice {
    let inputs = forecast.inputs;
    let need = listing_need(listing, inputs);
    let job = job(listing, inputs, &mut RunPlan::default());
    let rows_on = |day: Date| forecast.rows(listing, &need, day);
    let mut rows: u64 = need.unread.iter().map(|day| rows_on(*day)).sum();
    let mut requests = price_full_read(&job.unread, &rows_on, &inputs.outline(listing, &job.filter, false));
    let mut growth: BTreeMap<Date, u64> = need.moved.iter().map(|day| (*day, inputs.growth(*day))).collect();
    growth.extend(forecast.growth(listing, &need, rows));
    rows += growth.values().sum::<u64>();
    requests += of_days(listing, &growth, inputs) + of_uncounted(listing, &need, inputs);
    let slices = (job.unread.len() + growth.len()) as u64;
    StagePrice { name: stage(listing).to_owned(), slices, rows, requests }
}

/// The cost of all listings' days that are due for another complete reading.
fn settling_price(listings: &[Listing], inputs: &PlanInputs<'_>) -> StagePrice {
    let mut price = StagePrice::new(SETTLING, 0, 0);
    for listing in listings.iter().copied() {
        let job = job(listing, inputs, &mut RunPlan::default());
        let rows = |day: Date| inputs.known_rows(listing, day);
        let filter = filter(listing);
        let days = job.settling.iter().flat_map(|range| days_newest_first(range.from, range.to));
        price.rows += days.map(rows).sum::<u64>();
        price.slices += job.settling.len() as u64;
        price.requests += price_full_read(&job.settling, &rows, &inputs.outline(listing, &filter, true));
    }
    price
}

/// The cost of comparing the days of all listings with fresh counts and totals.
fn check_price(listings: &[Listing], inputs: &PlanInputs<'_>) -> StagePrice {
    let is_read = |listing: &Listing| {
        let need = listing_need(*listing, inputs);
        !(need.unread.is_empty()
            && need.moved.is_empty()
            && need.filling.is_empty()
            && need.settling.is_empty())
    };
    let of_listing = |listing: &Listing| match listing {
        // Counts, and a total of older days.
        Listing::Untyped => 1 + u64::from(span_days(inputs.from, inputs.today) > MAX_DAYS),
        // Statewide figures and a total.
        Listing::Of(_) => 2,
    };
    StagePrice::new(CHECK, 0, listings.iter().filter(|of| is_read(of)).map(of_listing).sum())
}

/// The cost of reading the newest ends of days, by the rows that came to each, and of finding the rows that others lost.
fn of_days(listing: Listing, growth: &BTreeMap<Date, u64>, inputs: &PlanInputs<'_>) -> u64 {
    let known = |day: Date| inputs.known_rows(listing, day);
    let newest_ends = |span: DaySpan| {
        let rows = |day: Date| (growth.get(&day).copied().unwrap_or(0), known(day));
        let rows: Vec<(u64, u64)> = span.newest_first().map(rows).collect();
        price_newest_ends(&rows, inputs.plan)
    };
    let read: u64 = spans(growth.keys().copied()).into_iter().map(newest_ends).sum();
    let pace = inputs.pace(listing);
    let shrank =
        |day: Date| listing == Listing::Untyped && inputs.change(day).is_some_and(|change| change < 0);
    let fit = |day: &Date| {
        let of_lost = price_lost(known(*day), inputs.plan);
        if shrank(*day) {
            pace.sum(|run| run.shrank).of_day(of_lost)
        } else {
            pace.sum(|run| run.grew).of_day(USUALLY_LOSING * of_lost)
        }
    };
    read + growth.keys().map(fit).sum::<f64>().round() as u64
}

/// The cost of days without a count: a total for each range, a binary search for the days that changed, and those days.
fn of_uncounted(listing: Listing, need: &Need, inputs: &PlanInputs<'_>) -> u64 {
    let pace = inputs.pace(listing);
    let counted = Changes::of(inputs);
    let share = match listing {
        Listing::Untyped => 1.0,
        Listing::Of(_) => inputs.share_of_counted(listing).unwrap_or(1.0).min(1.0),
    };
    let found = pace.discovered_after(inputs.nights_since_complete(listing));
    let likely = |day: Date| found.unwrap_or_else(|| counted.likely(inputs, day) * share);
    let price = |span: DaySpan| {
        let days: Vec<Date> = span.newest_first().collect();
        let rows: u64 = days.iter().map(|day| inputs.known_rows(listing, *day)).sum();
        let changed: f64 = days.iter().map(|day| likely(*day)).sum();
        let halvings = (days.len() as f64 / changed.max(1.0)).log2().max(1.0);
        let mean = rows / days.len() as u64;
        // One page reads the newest end of a day that grew.
        let assumed = 1.0 + counted.losing * (price_lost(mean, inputs.plan) - 1.0).max(0.0);
        1 + (changed * (halvings + pace.sum(|run| run.discovered).of_day(assumed))).round() as u64
    };
    spans(need.proven.keys().copied()).into_iter().map(price).sum()
}

/// How often the counts of old days change.
struct Changes {
    /// Share of them that changed since they were complete.
    changed: f64,
    /// Share of those that lost rows.
    losing: f64,
}

impl Changes {
    fn of(inputs: &PlanInputs<'_>) -> Self {
        let days = inputs.counts.iter().map(|count| count.date);
        let old = days.filter(|day| span_days(*day, inputs.today) > OLD_DAYS);
        let changes: Vec<i64> = old.filter_map(|day| inputs.change(day)).collect();
        let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
        let changed = changes.iter().filter(|change| **change != 0).count();
        let losing = changes.iter().filter(|change| **change < 0).count();
        Self { changed: share(changed, changes.len()), losing: share(losing, changed) }
    }

    fn likely(&self, inputs: &PlanInputs<'_>, day: Date) -> f64 {
        inputs.change(day).map_or(self.changed, |change| if change == 0 { 0.0 } else { 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::count::DailyCount;
    use crate::extract::plan::change_rate::{Effort, RefreshStats};
    use crate::pipeline::plan::inputs::tests::Facts;
    use jiff::civil::date;

    /// The cost of a morning: April 30 grew by 10 rows, May 1 lost 1, 61 days have no counts. Each day has 1,000 rows.
    fn prices(before: RefreshStats) -> (u64, u64) {
        let (first, grew, shrank) = (date(2026, 3, 1), date(2026, 4, 30), date(2026, 5, 1));
        let mut facts = Facts::default();
        facts.cover(Listing::Untyped, days_newest_first(first, shrank), 1_000);
        facts.counts = [(grew, 1_010), (shrank, 999)].map(|(date, count)| DailyCount { date, count }).into();
        facts.state.pace.entry(Listing::Untyped.label().to_owned()).or_default().note(before);
        let inputs = facts.inputs(first, date(2026, 5, 2), 1_000);
        let need = listing_need(Listing::Untyped, &inputs);
        let growth = need.moved.iter().map(|day| (*day, inputs.growth(*day))).collect();
        (of_days(Listing::Untyped, &growth, &inputs), of_uncounted(Listing::Untyped, &need, &inputs))
    }

    #[test]
    fn days_cost_as_much_as_on_earlier_mornings() {
        let (usual, without_changes) = prices(RefreshStats::default());
        assert_eq!((usual, without_changes), (7, 1), "two pages and a search; one total");
        let effort = |days, requests| Effort { days, requests };
        let many = RefreshStats {
            compared: 60,
            discovered: effort(6, 60),
            grew: effort(20, 60),
            shrank: effort(20, 400),
        };
        let (after_many, with_changes) = prices(many);
        assert!(after_many > usual + 10, "{after_many}: 20 requests a day that shrank, 3 a day that grew");
        assert!((40..100).contains(&with_changes), "{with_changes}: about 5 of 47 days changed");
    }
}
