//! The estimate of a run, before it starts. It takes at most 3 requests.

use super::completion_date::{SpendableBudget, complete_on};
use super::due::{DueTerms, check_has_filings, due};
use super::forecast::{Forecast, KnownTotal};
use super::inputs::{PlanInputs, filter};
use super::jobs::{counted, counted_days, first_day, listing_need, listings, oldest_day, within_bounds};
use super::lake_view::{by_listing, coverage_rows};
use super::refresh_cost::{StagePrice, prices};
use super::registry_estimate::{known_names, register_price};
use super::stale_days::Need;
use super::watch_due::due_numbers;
use crate::client::{Call, Client};
use crate::contract::account::Remaining;
use crate::contract::count::{County, DailyCount, Stats};
use crate::contract::eastern::span_days;
use crate::contract::listing::Listing;
use crate::contract::plan::PlanLimits;
use crate::extract::detail::{DETAILS, LookUp, OFFICERS};
use crate::extract::plan::day_range::{DaySpan, spans};
use crate::extract::query::slice::Slice;
use crate::extract::reference::{COUNTS, PlanBasis, REFERENCE, plan_limits};
use crate::lake::Commit;
use crate::pipeline::api_day::{api_clock, check_clock, check_counts};
use crate::pipeline::config::file::Pipeline;
use crate::pipeline::config::spec::{EnrichSpec, RegistrySpec};
use crate::pipeline::context::{ApiContext, RunContext, make_client};
use crate::pipeline::error::Result;
use crate::pipeline::progress::Progress;
use crate::pipeline::state::registry::RegisterStatus;
use crate::pipeline::state::run_state::RunState;
use jiff::civil::Date;
use serde::Serialize;

/// The estimate of a run, as `plan --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// Name of the pipeline.
    pub pipeline: String,
    /// Eastern day of the run.
    pub today: Date,
    /// The plan's numbers.
    pub plan: PlanLimits,
    /// Requests left in the account's windows, without those that the pipeline keeps for others.
    pub remaining: Remaining,
    /// The stages of the run, in order.
    pub stages: Vec<StagePrice>,
    /// Requests of all stages.
    pub requests: u64,
    /// The sum over listings of ceil(rows ÷ rows per call): no reader needs fewer.
    pub lower_bound: u64,
    /// Minutes at the plan's rate limit.
    pub minutes: f64,
    /// Eastern days it takes, today included; 0 when it never ends.
    pub days: u64,
    /// The last of these days.
    pub complete_on: Option<Date>,
    /// Whether it fits what is left today and this month.
    pub fits: bool,
}

/// Returns the estimate of a run of this pipeline on this lake.
pub(crate) async fn price(pipeline: &Pipeline, context: &RunContext, api: &ApiContext) -> Result<Price> {
    check_has_filings(&pipeline.spec, &context.lake)?;
    let client = make_client(pipeline, context.now, api, &Progress::new(context.events.clone()))?;
    let account = client.account().await?;
    check_clock(context, &client).await?;
    let commit = context.lake.current()?;
    let state = RunState::of(commit.as_ref());
    let (plan, plan_basis) = plan_limits(account.limits.into(), state.plan, &pipeline.spec.plan);
    let mut pricing =
        Pricing { pipeline, context, client: &client, commit: commit.as_ref(), state, plan, plan_basis };
    let stages = match (&pipeline.spec.enrich, &pipeline.spec.registry) {
        (Some(spec), _) => pricing.look_ups(spec)?,
        (None, Some(spec)) => pricing.register(spec).await?,
        (None, None) => pricing.days().await?,
    };
    pricing.total(stages)
}

/// What an estimate is made from.
struct Pricing<'a> {
    pipeline: &'a Pipeline,
    context: &'a RunContext,
    client: &'a Client,
    commit: Option<&'a Commit>,
    state: RunState,
    plan: PlanLimits,
    plan_basis: PlanBasis,
}

impl Pricing<'_> {
    fn look_ups(&self, spec: &EnrichSpec) -> Result<Vec<StagePrice>> {
        let (now, state) = ((self.context.now)(), &self.state.enrich);
        let Some(condition) = &spec.condition else {
            let due = due_numbers(&self.pipeline.watch_list, spec, state, now).due;
            return Ok(enrich_stages(spec, due.iter().map(|_| LookUp::Details)));
        };
        let terms = DueTerms::of(spec, now, self.context.today);
        let due = due(&self.context.lake, self.commit, condition, terms, state)?;
        Ok(enrich_stages(spec, due.look_ups.iter().map(|(_, look_up)| *look_up)))
    }

    async fn register(&self, spec: &RegistrySpec) -> Result<Vec<StagePrice>> {
        let stats = self.client.fetch(&Call::stats()).await?.value.data;
        let counties = self.client.fetch(&Call::counties()).await?.value.data;
        let businesses = u64::try_from(businesses(spec, &stats, &counties)).unwrap_or(0);
        let state = &self.state.register;
        let names = known_names(&self.context.lake, self.commit, state)?;
        let priced = register_price(spec, state, names, businesses, self.context.today, &self.plan);
        Ok(vec![StagePrice::new(REFERENCE, 0, 5), priced])
    }

    /// The newest counts of days. The plan's window follows them, unless it is fixed.
    async fn counts(&mut self) -> Result<Vec<DailyCount>> {
        let Self { context, client, .. } = *self;
        let spec = &self.pipeline.spec;
        let asked = counted_days(spec.extract.days, self.plan_basis);
        let counts = client.fetch(&Call::daily_counts(asked)).await?.value.data;
        check_counts(context.today, &counts, api_clock(context.now, client))?;
        if self.plan_basis != PlanBasis::Fixed && spec.plan.window_days.is_none() {
            let counted = counted(spec.extract.days, asked, &counts);
            self.plan.window_days = counted.window(self.plan.window_days);
        }
        Ok(counts)
    }

    async fn days(&mut self) -> Result<Vec<StagePrice>> {
        let coverage = by_listing(coverage_rows(&self.context.lake, self.commit)?);
        let counts = self.counts().await?;
        let Self { context, client, plan, .. } = &*self;
        let spec = &self.pipeline.spec;
        let from = first_day(spec.extract.days, context.today, plan);
        let inputs = PlanInputs {
            coverage: &coverage,
            state: &self.state,
            counts: &counts,
            plan,
            remaining: within_bounds(client.budget().remaining()?, &spec.budget, plan),
            oldest: oldest_day(&spec.source, from, context.today, plan),
            from,
            today: context.today,
        };
        let listings = listings(spec);
        let mut forecast = Forecast { inputs: &inputs, stats: None, total: None };
        let stats;
        match worth_asking(&listings, &inputs) {
            Question::Stats => {
                stats = client.fetch(&Call::stats()).await?.value.data;
                forecast.stats = Some(&stats);
            }
            Question::Total { listing, from, to } => {
                let slice = Slice { filter: filter(listing), from, to };
                let page = client.fetch(&Call::search(&slice.search(1, 0))).await?.value;
                forecast.total = Some(KnownTotal { listing, from, to, rows: page.pagination.total });
            }
            Question::Nothing => {}
        }
        let mut stages = vec![StagePrice::new(REFERENCE, 0, 5), StagePrice::new(COUNTS, 0, 1)];
        stages.extend(prices(&listings, &forecast));
        Ok(stages)
    }

    fn total(&self, stages: Vec<StagePrice>) -> Result<Price> {
        let Self { context, plan, .. } = self;
        // A look-up gives 1 record, a page the plan's rows per call.
        let least = |stage: &StagePrice| match stage.name.as_str() {
            DETAILS | OFFICERS => stage.rows,
            _ => plan.pages_for(stage.rows),
        };
        let requests: u64 = stages.iter().map(|stage| stage.requests).sum();
        let budget = SpendableBudget::of(self.client)?;
        let complete_on = complete_on(requests, context.today, &budget);
        Ok(Price {
            pipeline: self.pipeline.spec.name.clone(),
            today: context.today,
            plan: *plan,
            remaining: budget.remaining,
            requests,
            lower_bound: stages.iter().map(least).sum(),
            minutes: requests as f64 / f64::from(plan.per_minute.max(1)),
            days: complete_on.map_or(0, |day| u64::from(span_days(context.today, day))),
            complete_on,
            fits: complete_on == Some(context.today),
            stages,
        })
    }
}

/// A request for the details of each business, and one for its officers, which most have; only that where they alone are missing.
fn enrich_stages(spec: &EnrichSpec, due: impl Iterator<Item = LookUp>) -> Vec<StagePrice> {
    let most = spec.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let (mut details, mut officers) = (0, 0);
    for look_up in due.take(most) {
        details += u64::from(look_up == LookUp::Details);
        officers += u64::from(spec.officers);
    }
    vec![
        StagePrice::new(REFERENCE, 0, 1),
        StagePrice::new(DETAILS, details, details),
        StagePrice::new(OFFICERS, officers, officers),
    ]
}

/// Businesses that a reading of the register finds: all there are, or the active ones by the counties' figures.
fn businesses(spec: &RegistrySpec, stats: &Stats, counties: &[County]) -> i64 {
    match spec.status {
        RegisterStatus::All => stats.businesses_total,
        RegisterStatus::Active => {
            let active: i64 = counties.iter().map(|county| county.active_businesses).sum();
            stats.businesses_total.min(active)
        }
    }
}

/// The best use of the third request.
#[derive(Debug, PartialEq, Eq)]
enum Question {
    /// Statewide figures: days without a count must be read.
    Stats,
    /// The total of a listing whose days the API does not count.
    Total { listing: Listing, from: Date, to: Date },
    /// The counts suffice.
    Nothing,
}

fn worth_asking(listings: &[Listing], inputs: &PlanInputs<'_>) -> Question {
    let needs = listings.iter().map(|listing| (*listing, listing_need(*listing, inputs)));
    let (untyped, typed): (Vec<_>, Vec<_>) = needs.partition(|(listing, _)| *listing == Listing::Untyped);
    let oldest_counted = inputs.counts.iter().map(|count| count.date).min();
    let beyond_counts = |need: &Need| need.unread.first().is_some_and(|day| Some(*day) < oldest_counted);
    match &typed[..] {
        _ if untyped.iter().any(|(_, need)| beyond_counts(need)) => Question::Stats,
        [] => Question::Nothing,
        [(listing, need)] => match spans(need.filling.keys().chain(&need.unread).copied())[..] {
            [] => Question::Nothing,
            [DaySpan { from, to }] => Question::Total { listing: *listing, from, to },
            _ => Question::Stats,
        },
        _ => Question::Stats,
    }
}
