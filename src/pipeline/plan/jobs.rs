//! The listings of a pipeline, and what is read of each.

use super::due::LookUps;
use super::inputs::{PlanInputs, filter};
use super::stale_days::{Need, need};
use crate::contract::account::Remaining;
use crate::contract::count::DailyCount;
use crate::contract::eastern::{span_days, window_start};
use crate::contract::listing::Listing;
use crate::contract::param::MAX_DAYS;
use crate::contract::plan::PlanLimits;
use crate::extract::listing::ListingJob;
use crate::extract::plan::cost::DayRange;
use crate::extract::plan::day_range::plan_day_ranges;
use crate::extract::reference::{CountedDays, PlanBasis};
use crate::lake::RunRecord;
use crate::pipeline::config::spec::{BudgetSpec, Days, PipelineSpec, SourceSpec};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The listings that a pipeline reads: those that together hold every business, or the types it names.
pub(crate) fn listings(spec: &PipelineSpec) -> Vec<Listing> {
    if !spec.extract.filings || spec.registry.is_some() || spec.enrich.is_some() {
        return Vec::new();
    }
    if spec.extract.types.is_empty() {
        Listing::EVERY_TYPE.to_vec()
    } else {
        spec.extract.types.iter().copied().map(Listing::Of).collect()
    }
}

pub(crate) fn stage(listing: Listing) -> &'static str {
    if listing.is_fictitious() { "fictitious" } else { "filings" }
}

/// What a run planned when it began. A resumed run keeps to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunPlan {
    #[serde(rename = "stretches")]
    pub(crate) day_ranges: BTreeMap<String, Vec<DayRange>>,
    /// Requests the run still needed when that was last written down.
    #[serde(default)]
    pub(crate) left: Option<u64>,
    /// What the run looks up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) look_ups: Option<LookUps>,
}

impl RunPlan {
    /// The plan in a run's record; an empty one where there is none.
    pub(crate) fn of_record(record: &RunRecord) -> Self {
        serde_json::from_value(record.plan.clone()).unwrap_or_default()
    }
}

/// Oldest day to read: what the pipeline asks for, within the plan's window.
pub(crate) fn first_day(days: Days, today: Date, plan: &PlanLimits) -> Date {
    window_start(today, most(days).min(plan.window_days))
}

/// Oldest day that can be read, for a run that asks for the days since `from`: of the plan's window, and of the sample if the program
/// serves one, which has no rows before.
pub(crate) fn oldest_day(source: &SourceSpec, from: Date, today: Date, plan: &PlanLimits) -> Date {
    let days = if source.embedded { source.sample.days.min(plan.window_days) } else { plan.window_days };
    window_start(today, days).min(from)
}

/// Number of days whose counts a run requests: those it reads; all where their number shows the plan's window.
pub(crate) fn counted_days(days: Days, basis: PlanBasis) -> u32 {
    match basis {
        PlanBasis::Assumed => MAX_DAYS,
        PlanBasis::Fixed | PlanBasis::Learned => most(days).clamp(1, MAX_DAYS),
    }
}

/// What the counts of `asked` days show of the plan's window to a run that reads these days.
pub(crate) fn counted(days: Days, asked: u32, counts: &[DailyCount]) -> CountedDays {
    CountedDays { asked, counted: counts.len() as u32, wanted: most(days) }
}

/// Most days that are read; the plan's window may have fewer.
const fn most(days: Days) -> u32 {
    match days {
        Days::Window => u32::MAX,
        Days::Last(days) => days,
    }
}

/// What a run may still send, where it has limits of its own.
pub(crate) fn within_bounds(remaining: Remaining, budget: &BudgetSpec, plan: &PlanLimits) -> Remaining {
    let in_time = budget.max_minutes.map(|minutes| minutes.saturating_mul(u64::from(plan.per_minute)));
    let bounds = budget.max_requests.into_iter().chain(in_time);
    let most = bounds.min().map_or(u32::MAX, |most| u32::try_from(most).unwrap_or(u32::MAX));
    Remaining { day: remaining.day.min(most), ..remaining }
}

/// The job of one listing. `planned` has the day ranges planned before, and receives those planned now.
pub(crate) fn job(listing: Listing, inputs: &PlanInputs<'_>, planned: &mut RunPlan) -> ListingJob {
    let expected = expected(listing, inputs);
    let need = listing_need(listing, inputs);
    let earlier = planned.day_ranges.remove(listing.label()).unwrap_or_default();
    let mut unread: Vec<DayRange> =
        earlier.into_iter().filter_map(|range| still_wanted(range, &need, inputs.oldest)).collect();
    let is_planned = |day: Date| unread.iter().any(|range| range.from <= day && day <= range.to);
    let rest: BTreeSet<Date> = need.unread.iter().copied().filter(|day| !is_planned(*day)).collect();
    let reach = u64::from(inputs.plan.reach_rows());
    let likely = likely_rows(listing, inputs).unwrap_or_else(|| expected.clone());
    let bound = rows_within_budget(inputs, &need, &likely);
    // A guess is only used to fit day ranges into a budget, so it is never beyond reach.
    let usual = usual_rows(inputs.plan, if bound.is_some() { &likely } else { &expected });
    let guess = |day: Date| likely.get(&day).filter(|_| bound.is_some()).map(|rows| (*rows).min(reach));
    let rows = |day: Date| expected.get(&day).copied().or_else(|| guess(day)).unwrap_or(usual) as f64;
    let filter = filter(listing);
    let outline = inputs.outline(listing, &filter, false);
    // Where days are beyond reach there is no limit: a range that is read in parts costs half a page for each part.
    let usual_bound =
        if expected.values().all(|rows| *rows <= reach) { ROWS_IN_MEMORY } else { f64::INFINITY };
    let at_once = bound.unwrap_or(usual_bound);
    unread.extend(plan_day_ranges(rest, &rows, &outline, at_once));
    unread.sort_by_key(|range| std::cmp::Reverse(range.to));
    planned.day_ranges.insert(listing.label().to_owned(), unread.clone());
    let settling = plan_day_ranges(need.settling.iter().copied(), &rows, &outline, f64::INFINITY);
    let known = inputs.days(listing);
    let incomplete =
        |day: &Date| known.get(day).filter(|known| !known.complete).map(|known| (*day, known.checked_at));
    let mut doubtful: BTreeMap<Date, Timestamp> =
        inputs.drifted(listing).into_iter().map(|day| (day, Timestamp::MIN)).collect();
    doubtful.extend(need.moved.iter().filter_map(incomplete));
    let mut moved = need.moved;
    moved.extend(need.filling.into_keys());
    ListingJob {
        label: listing.label(),
        stage: stage(listing),
        filter,
        unread,
        moved,
        proven: need.proven,
        settling,
        expected,
        doubtful,
        nights: inputs.nights_since_complete(listing),
    }
}

/// What must be read of a listing. The API counts days of the untyped listing only. Days that drifted count as changed.
pub(crate) fn listing_need(listing: Listing, inputs: &PlanInputs<'_>) -> Need {
    let drifted = inputs.drifted(listing);
    let count_moved = |day: Date| match listing {
        _ if drifted.contains(&day) => Some(true),
        Listing::Of(_) => None,
        Listing::Untyped => inputs.change(day).map(|change| change != 0),
    };
    let read_whole = inputs.state.read_whole.get(listing.label());
    let read_whole_on = |day: Date| read_whole.and_then(|days| days.get(&day)).copied();
    let nights = inputs.nights_since_complete(listing);
    let known = inputs.days(listing);
    let mut need =
        need(inputs.oldest, inputs.from, inputs.today, known, &count_moved, &read_whole_on, nights);
    if let Some(backoffs) = inputs.state.backoffs.get(listing.label()) {
        let is_due =
            |day: &Date| !backoffs.get(day).is_some_and(|of_day| of_day.is_backing_off(inputs.today));
        need.unread.retain(is_due);
        need.moved.retain(is_due);
    }
    need
}

/// Rows of each day whose listing the API counts.
fn expected(listing: Listing, inputs: &PlanInputs<'_>) -> BTreeMap<Date, u64> {
    let counts = inputs
        .counts
        .iter()
        .filter(|count| listing == Listing::Untyped && !inputs.state.miscounted.contains(&count.date));
    counts.map(|count| (count.date, u64::try_from(count.count).unwrap_or(0))).collect()
}

/// A range that was planned before, unless a day of it was read since: the archive still has the pages of that reading, which are too
/// old.
fn still_wanted(mut range: DayRange, need: &Need, oldest: Date) -> Option<DayRange> {
    range.from = range.from.max(oldest);
    let unread = need.unread.range(range.from..=range.to.max(range.from)).count();
    (range.from <= range.to && unread == span_days(range.from, range.to) as usize).then_some(range)
}

/// Rows of a day range that are kept in memory while it is read. A cut costs no more than 1 page.
const ROWS_IN_MEMORY: f64 = 50_000.0;

/// Rows of a day without a count: the mean of the counted days, and never beyond reach.
fn usual_rows(plan: &PlanLimits, expected: &BTreeMap<Date, u64>) -> u64 {
    let mean = expected.values().sum::<u64>() / (expected.len() as u64).max(1);
    mean.min(u64::from(plan.reach_rows()))
}

/// Most fictitious names for each row of the untyped listing.
const MOST_FICTITIOUS: f64 = 0.3;

/// Rows of each day of a typed listing, at most, by the counts of the untyped one; none for the untyped listing.
fn likely_rows(listing: Listing, inputs: &PlanInputs<'_>) -> Option<BTreeMap<Date, u64>> {
    let share = match listing {
        Listing::Untyped => return None,
        Listing::FICTITIOUS => MOST_FICTITIOUS,
        Listing::Of(_) => 1.0,
    };
    let rows = |count: &DailyCount| (count.date, (count.count.max(0) as f64 * share) as u64);
    Some(inputs.counts.iter().map(rows).collect())
}

/// Most rows of a day range, where the budget may end before the window does: a third of the budget, so that some days get complete.
/// None where all is likely to fit.
fn rows_within_budget(inputs: &PlanInputs<'_>, need: &Need, likely: &BTreeMap<Date, u64>) -> Option<f64> {
    let usual = usual_rows(inputs.plan, likely);
    let rows: u64 = need.unread.iter().map(|day| likely.get(day).copied().unwrap_or(usual)).sum();
    let affordable = u64::from(inputs.remaining.day.min(inputs.remaining.month));
    let fits = inputs.plan.pages_for(rows) * 5 / 4 + 50 <= affordable;
    (!fits).then(|| ((affordable / 3).max(1) * u64::from(inputs.plan.rows_per_call)) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::{days_newest_first, span_days};
    use crate::contract::plan::Plan;
    use crate::pipeline::plan::inputs::tests::Facts;
    use crate::pipeline::plan::stale_days::KnownDay;
    use jiff::civil::date;

    /// Days of each range of a listing with 30 days of 1,000 counted filings, by the requests the run may send.
    fn range_days(listing: Listing, may_send: u32) -> Vec<u32> {
        let (from, today) = (date(2026, 7, 2), date(2026, 7, 31));
        let counts = days_newest_first(from, today).map(|date| DailyCount { date, count: 1_000 }).collect();
        let facts = Facts { counts, ..Facts::default() };
        let job = job(listing, &facts.inputs(from, today, may_send), &mut RunPlan::default());
        job.unread.iter().map(|range| span_days(range.from, range.to)).collect()
    }

    #[test]
    fn a_run_beyond_its_budget_reads_shorter_day_ranges_with_and_without_counts() {
        let untyped = Listing::Untyped;
        assert_eq!(
            (range_days(untyped, 1_000), range_days(Listing::FICTITIOUS, 1_000)),
            (vec![30], vec![30])
        );
        let (counted, guessed) = (range_days(untyped, 90), range_days(Listing::FICTITIOUS, 90));
        assert!(counted.len() > 15 && counted.iter().sum::<u32>() == 30, "{counted:?}");
        assert!((3..15).contains(&guessed.len()) && guessed.iter().sum::<u32>() == 30, "{guessed:?}");
    }

    #[test]
    fn no_sum_completes_a_day_that_is_known_to_differ() {
        let (newest, differs) = (date(2026, 7, 30), date(2026, 7, 29));
        let known = |complete| KnownDay { expected: 3, landed: 4, complete, checked_at: Timestamp::MAX };
        let days = BTreeMap::from([(newest, known(true)), (differs, known(false))]);
        let coverage = BTreeMap::from([(Listing::FICTITIOUS.label().to_owned(), days)]);
        let facts = Facts { coverage, ..Facts::default() };
        let inputs = facts.inputs(differs, newest, 100);
        let job = job(Listing::FICTITIOUS, &inputs, &mut RunPlan::default());
        assert_eq!(job.doubtful, BTreeMap::from([(differs, Timestamp::MAX)]));
        assert_eq!(job.moved, BTreeSet::from([differs, newest]), "both are read together");
    }

    #[test]
    fn limits_of_a_run_apply_within_those_of_the_account() {
        let plan = Plan::Starter.limits();
        let remaining = Remaining { minute: 20, day: 1_000, month: 10_000 };
        let day = |budget: BudgetSpec| within_bounds(remaining, &budget, &plan).day;
        assert_eq!(day(BudgetSpec::default()), 1_000);
        assert_eq!(day(BudgetSpec { max_requests: Some(50), ..BudgetSpec::default() }), 50);
        assert_eq!(day(BudgetSpec { max_minutes: Some(10), ..BudgetSpec::default() }), 200);
        assert_eq!(day(BudgetSpec { max_requests: Some(u64::MAX), ..BudgetSpec::default() }), 1_000);
    }
}
