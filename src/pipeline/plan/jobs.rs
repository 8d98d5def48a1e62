//! The listings of a pipeline, and what is to be read of each.

use super::lake_view::Coverage;
use super::stale_days::{Need, need};
use crate::contract::account::Remaining;
use crate::contract::count::DailyCount;
use crate::contract::eastern::{span_days, window_start};
use crate::contract::param::MAX_DAYS;
use crate::contract::plan::PlanLimits;
use crate::contract::reference::EntityType;
use crate::extract::listing::ListingJob;
use crate::extract::plan::day_range::plan_day_ranges;
use crate::extract::plan::outline::{DayRange, Outline};
use crate::extract::query::histogram::Shares;
use crate::extract::query::slice::Filter;
use crate::pipeline::EVERY_OTHER_TYPE;
use crate::pipeline::config::spec::{BudgetSpec, Days, PipelineSpec};
use crate::pipeline::load::enrich::LookUps;
use crate::pipeline::state::RunState;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A listing a pipeline reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listing {
    /// `*` for all types but fictitious names, or a type key.
    pub(crate) label: &'static str,
    /// Name of its stage.
    pub(crate) stage: &'static str,
    /// The type it asks for.
    pub(crate) kind: Option<EntityType>,
}

/// The listings of a pipeline: everything, or the types it names. An untyped listing may leave fictitious names out, so
/// they are a listing of their own.
pub(crate) fn listings(spec: &PipelineSpec) -> Vec<Listing> {
    if !spec.extract.filings || spec.registry.is_some() || spec.enrich.is_some() {
        return Vec::new();
    }
    if spec.extract.types.is_empty() {
        let untyped = Listing { label: EVERY_OTHER_TYPE, stage: "filings", kind: None };
        return vec![untyped, of_type(EntityType::Fictitious)];
    }
    spec.extract.types.iter().copied().map(of_type).collect()
}

pub(crate) const fn of_type(kind: EntityType) -> Listing {
    let stage = if matches!(kind, EntityType::Fictitious) { "fictitious" } else { "filings" };
    Listing { label: kind.key(), stage, kind: Some(kind) }
}

/// Stretches as they were planned when the run began; a resumed run asks along the same lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunPlan {
    pub(crate) stretches: BTreeMap<String, Vec<DayRange>>,
    /// Requests the run still needed when that was last written down.
    #[serde(default)]
    pub(crate) left: Option<u64>,
    /// What the run looks up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) look_ups: Option<LookUps>,
}

/// The days to read: what the pipeline asks for, within the plan's window.
pub(crate) fn first_day(days: Days, today: Date, plan: &PlanLimits) -> Date {
    match days {
        Days::Window => window_start(today, plan.window_days),
        Days::Last(days) => window_start(today, days.min(plan.window_days)),
    }
}

/// Days whose counts a run asks for: those it reads. A plan that no table knows is found out by how many there are.
pub(crate) fn counted_days(days: Days, is_plan_known: bool) -> u32 {
    match days {
        Days::Last(days) if is_plan_known => days.clamp(1, MAX_DAYS),
        _ => MAX_DAYS,
    }
}

/// What a run may still send, where it has bounds of its own.
pub(crate) fn within_bounds(remaining: Remaining, budget: &BudgetSpec, plan: &PlanLimits) -> Remaining {
    let in_time = budget.max_minutes.map(|minutes| minutes.saturating_mul(u64::from(plan.per_minute)));
    let bounds = budget.max_requests.into_iter().chain(in_time);
    let most = bounds.min().map_or(u32::MAX, |most| u32::try_from(most).unwrap_or(u32::MAX));
    Remaining { day: remaining.day.min(most), ..remaining }
}

/// What is known when jobs are made.
pub(crate) struct Knowledge<'a> {
    pub(crate) coverage: &'a Coverage,
    pub(crate) state: &'a RunState,
    pub(crate) counts: &'a [DailyCount],
    pub(crate) plan: &'a PlanLimits,
    /// What the run may still send: of the account's windows, and by its own bounds.
    pub(crate) remaining: Remaining,
    pub(crate) from: Date,
    pub(crate) today: Date,
}

/// The job of one listing; `planned` are the stretches of the run so far, and gets those made now.
pub(crate) fn job(listing: Listing, knowledge: &Knowledge<'_>, planned: &mut RunPlan) -> ListingJob {
    let expected = expected(listing, knowledge);
    let need = listing_need(listing, knowledge);
    let earlier = planned.stretches.remove(listing.label).unwrap_or_default();
    let mut unread: Vec<DayRange> =
        earlier.into_iter().filter_map(|stretch| still_wanted(stretch, &need, knowledge.from)).collect();
    let rest: BTreeSet<Date> = need.unread.iter().copied().filter(|day| !holds(&unread, *day)).collect();
    let reach = u64::from(knowledge.plan.reach_rows());
    let likely = if listing.kind.is_some() { likely_rows(listing, knowledge) } else { expected.clone() };
    let bound = rows_within_budget(knowledge, &need, &likely);
    // A guess sets no day apart; it only serves to fit stretches into a budget.
    let usual = usual_rows(knowledge.plan, if bound.is_some() { &likely } else { &expected });
    let guess = |day: Date| likely.get(&day).filter(|_| bound.is_some()).map(|rows| (*rows).min(reach));
    let rows = |day: Date| expected.get(&day).copied().or_else(|| guess(day)).unwrap_or(usual) as f64;
    let (filter, nothing) = (filter(listing), Shares::default());
    let shares = knowledge.state.shares.get(listing.label).unwrap_or(&nothing);
    let outline = Outline { filter: &filter, shares, is_listed: false, plan: knowledge.plan };
    unread.extend(plan_day_ranges(
        rest,
        &rows,
        &outline,
        bound.unwrap_or_else(|| rows_at_once(reach, &expected)),
    ));
    unread.sort_by_key(|stretch| std::cmp::Reverse(stretch.to));
    planned.stretches.insert(listing.label.to_owned(), unread.clone());
    let nights = nights_since_proven(listing, knowledge);
    let settling = plan_day_ranges(need.settling.iter().copied(), &rows, &outline, f64::INFINITY);
    let mut moved = need.moved;
    moved.extend(need.filling.into_keys());
    ListingJob {
        label: listing.label,
        stage: listing.stage,
        filter,
        unread,
        moved,
        proven: need.proven,
        settling,
        expected,
        drifted: stirred(listing, knowledge),
        nights,
    }
}

/// Days of a listing that an earlier run read while rows moved.
fn stirred(listing: Listing, knowledge: &Knowledge<'_>) -> BTreeSet<Date> {
    // A run that goes on looks at its own days the next time.
    let ended = knowledge.state.ended.is_some();
    knowledge.state.stirred.get(listing.label).filter(|_| ended).cloned().unwrap_or_default()
}

/// Nights since the days of a listing that the lake holds whole were proven: by the newest of them.
pub(crate) fn nights_since_proven(listing: Listing, knowledge: &Knowledge<'_>) -> u32 {
    let held =
        knowledge.coverage.get(listing.label).and_then(|days| days.iter().rfind(|(_, held)| held.complete));
    held.map_or(0, |(day, _)| span_days(*day, knowledge.today).saturating_sub(1))
}

/// The filter of a whole listing.
pub(crate) fn filter(listing: Listing) -> Filter {
    Filter { kind: listing.kind, ..Filter::default() }
}

/// What must be read of a listing. The API counts days for the untyped listing alone; days read while rows moved have moved in any
/// case.
pub(crate) fn listing_need(listing: Listing, knowledge: &Knowledge<'_>) -> Need {
    let nothing = BTreeMap::new();
    let held = knowledge.coverage.get(listing.label).unwrap_or(&nothing);
    let counts: BTreeMap<Date, i64> =
        knowledge.counts.iter().map(|count| (count.date, count.count)).collect();
    let stirred = stirred(listing, knowledge);
    let count_moved = |day: Date| match listing.kind {
        _ if stirred.contains(&day) => Some(true),
        Some(_) => None,
        None => {
            let now = counts.get(&day)?;
            knowledge.state.counts.get(&day).map(|then| then != now)
        }
    };
    let read_whole = knowledge.state.read_whole.get(listing.label);
    let read_whole_on = |day: Date| read_whole.and_then(|days| days.get(&day)).copied();
    let mut need = need((knowledge.from, knowledge.today), held, &count_moved, &read_whole_on);
    if let Some(vain) = knowledge.state.vain.get(listing.label) {
        need.unread.retain(|day| !vain.get(day).is_some_and(|vain| vain.rests(knowledge.today)));
    }
    need
}

/// Rows of each day that the API counts: of a day proven before, as many as it had and as its count has grown by, whatever else the
/// API may count in.
fn expected(listing: Listing, knowledge: &Knowledge<'_>) -> BTreeMap<Date, u64> {
    if listing.kind.is_some() {
        return BTreeMap::new();
    }
    let held = |day: Date| knowledge.coverage.get(listing.label)?.get(&day).filter(|held| held.complete);
    let rows = |count: &DailyCount| match (held(count.date), knowledge.state.counts.get(&count.date)) {
        (Some(held), Some(then)) => (held.expected as i64).saturating_add(count.count - then),
        _ => count.count,
    };
    knowledge.counts.iter().map(|count| (count.date, u64::try_from(rows(count)).unwrap_or(0))).collect()
}

fn still_wanted(mut stretch: DayRange, need: &Need, from: Date) -> Option<DayRange> {
    stretch.from = stretch.from.max(from);
    let wanted = stretch.from <= stretch.to && need.unread.range(stretch.from..=stretch.to).next().is_some();
    wanted.then_some(stretch)
}

fn holds(stretches: &[DayRange], day: Date) -> bool {
    stretches.iter().any(|stretch| stretch.from <= day && day <= stretch.to)
}

/// Rows of a stretch that are held in memory while it is read, where a cut costs no more than a page.
const ROWS_IN_MEMORY: f64 = 50_000.0;

/// Rows of a day that no count covers: the mean of those counted; never beyond reach, for a guess sets no day apart.
fn usual_rows(plan: &PlanLimits, expected: &BTreeMap<Date, u64>) -> u64 {
    let mean = expected.values().sum::<u64>() / (expected.len() as u64).max(1);
    mean.min(u64::from(plan.reach_rows()))
}

/// Rows of a listing that the API does not count by day, as far as the counts of the untyped one tell: more rather than fewer.
fn likely_rows(listing: Listing, knowledge: &Knowledge<'_>) -> BTreeMap<Date, u64> {
    let share = if listing.kind == Some(EntityType::Fictitious) { FICTITIOUS_SHARE } else { 1.0 };
    let rows = |count: &DailyCount| (count.date, (count.count.max(0) as f64 * share) as u64);
    knowledge.counts.iter().map(rows).collect()
}

/// Fictitious names for each row of the untyped listing, at most.
const FICTITIOUS_SHARE: f64 = 0.3;

/// A run whose budget may end before its window does reads in stretches of a third of the budget, so that whole days get
/// done; none where all of it is likely to fit.
fn rows_within_budget(knowledge: &Knowledge<'_>, need: &Need, likely: &BTreeMap<Date, u64>) -> Option<f64> {
    let usual = usual_rows(knowledge.plan, likely);
    let rows: u64 = need.unread.iter().map(|day| likely.get(day).copied().unwrap_or(usual)).sum();
    let affordable = u64::from(knowledge.remaining.day.min(knowledge.remaining.month));
    let fits = knowledge.plan.pages_for(rows) * 5 / 4 + 50 <= affordable;
    (!fits).then(|| ((affordable / 3).max(1) * u64::from(knowledge.plan.rows_per_call)) as f64)
}

/// Any other run reads as much at once as is held in memory; as far as a search may span where days are beyond reach, since a
/// stretch that is read in parts costs half a page for each.
fn rows_at_once(reach: u64, expected: &BTreeMap<Date, u64>) -> f64 {
    if expected.values().all(|rows| *rows <= reach) { ROWS_IN_MEMORY } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::days_newest_first;
    use crate::contract::plan::Plan;
    use jiff::civil::date;

    /// The days of each stretch of a listing of 30 days with 1,000 counted filings each, by what the run may send.
    fn stretches(listing: Listing, may_send: u32) -> Vec<u32> {
        let (from, today) = (date(2026, 7, 2), date(2026, 7, 31));
        let counts: Vec<DailyCount> =
            days_newest_first(from, today).map(|date| DailyCount { date, count: 1_000 }).collect();
        let (coverage, state, plan) = (Coverage::new(), RunState::default(), Plan::Starter.limits());
        let remaining = Remaining { minute: 20, day: may_send, month: 10_000 };
        let knowledge = Knowledge {
            coverage: &coverage,
            state: &state,
            counts: &counts,
            plan: &plan,
            remaining,
            from,
            today,
        };
        let job = job(listing, &knowledge, &mut RunPlan::default());
        job.unread.iter().map(|stretch| span_days(stretch.from, stretch.to)).collect()
    }

    #[test]
    fn a_run_that_may_not_fit_its_budget_reads_in_stretches_that_do_whether_days_are_counted_or_not() {
        let untyped = Listing { label: EVERY_OTHER_TYPE, stage: "filings", kind: None };
        let fictitious = of_type(EntityType::Fictitious);
        assert_eq!((stretches(untyped, 1_000), stretches(fictitious, 1_000)), (vec![30], vec![30]));
        let (counted, guessed) = (stretches(untyped, 90), stretches(fictitious, 90));
        assert!(counted.len() > 15 && counted.iter().sum::<u32>() == 30, "{counted:?}");
        assert!((3..15).contains(&guessed.len()) && guessed.iter().sum::<u32>() == 30, "{guessed:?}");
    }

    #[test]
    fn bounds_of_a_run_are_within_those_of_the_account() {
        let plan = Plan::Starter.limits();
        let remaining = Remaining { minute: 20, day: 1_000, month: 10_000 };
        let day = |budget: BudgetSpec| within_bounds(remaining, &budget, &plan).day;
        assert_eq!(day(BudgetSpec::default()), 1_000);
        assert_eq!(day(BudgetSpec { max_requests: Some(50), ..BudgetSpec::default() }), 50);
        assert_eq!(day(BudgetSpec { max_minutes: Some(10), ..BudgetSpec::default() }), 200);
        assert_eq!(day(BudgetSpec { max_requests: Some(u64::MAX), ..BudgetSpec::default() }), 1_000);
    }
}
