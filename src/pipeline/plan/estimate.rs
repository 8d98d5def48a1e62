//! What a run would ask for and cost, before it starts: three requests at most.

use super::completion_date::{Means, complete_on};
use super::forecast::{Outlook, TotalTold};
use super::jobs::{
    Knowledge, Listing, RunPlan, counted_days, filter, first_day, job, listing_need, listings, within_bounds,
};
use super::lake_view::read_coverage;
use super::refresh_cost;
use super::stale_days::Need;
use crate::client::{Call, Client};
use crate::contract::account::Remaining;
use crate::contract::count::{County, Stats};
use crate::contract::eastern::{days_newest_first, span_days};
use crate::contract::plan::PlanLimits;
use crate::extract::ExtractError;
use crate::extract::detail::{DETAILS, OFFICERS};
use crate::extract::listing::SETTLING;
use crate::extract::plan::cost::price_full_read;
use crate::extract::plan::day_range::ranges;
use crate::extract::plan::outline::Outline;
use crate::extract::query::histogram::Shares;
use crate::extract::query::slice::Slice;
use crate::extract::reference::{plan_is_known, plan_limits};
use crate::pipeline::config::file::Pipeline;
use crate::pipeline::config::spec::{EnrichSpec, RegistrySpec};
use crate::pipeline::load::enrich::due;
use crate::pipeline::load::registry::{known_names, register_price};
use crate::pipeline::run::make_client;
use crate::pipeline::state::RunState;
use crate::pipeline::state::registry::RegisterStatus;
use crate::pipeline::{PipelineError, RunContext};
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeMap;

/// One stage of a run and its price.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StagePrice {
    /// Name.
    pub name: String,
    /// Queries that are each read to their end.
    pub slices: u64,
    /// Rows expected.
    pub rows: u64,
    /// Requests expected.
    pub requests: u64,
}

/// The price of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// The pipeline.
    pub pipeline: String,
    /// Eastern day it would run as.
    pub today: Date,
    /// The plan's numbers.
    pub plan: PlanLimits,
    /// What is left of the account's windows, less what the pipeline keeps for others.
    pub remaining: Remaining,
    /// Stages.
    pub stages: Vec<StagePrice>,
    /// Requests of all stages.
    pub requests: u64,
    /// The sum over listings of ceil(rows ÷ rows per call): no reader can do with fewer.
    pub lower_bound: u64,
    /// Minutes at the plan's pace.
    pub minutes: f64,
    /// Eastern days it takes, today included; 0 when it never ends.
    pub days: u64,
    /// The last of these days.
    pub complete_on: Option<Date>,
    /// Whether it fits what is left today and this month.
    pub fits: bool,
}

/// Prices a run of this pipeline on this lake.
///
/// # Errors
/// What the client says, or a lake that cannot be read.
pub async fn price(pipeline: &Pipeline, context: &RunContext<'_>) -> Result<Price, PipelineError> {
    let lake = &context.lake;
    let client = make_client(pipeline, context, lake)?;
    let account = client.account().await?;
    let commit = lake.current()?;
    let state = commit.as_ref().map(|commit| RunState::from_commit(&commit.state)).unwrap_or_default();
    let plan = plan_limits(account.limits.into(), state.plan, &pipeline.spec.plan);
    if let Some(stages) = stages_without_days(pipeline, context, &client, &plan).await? {
        return Ok(total(pipeline, context.today, &plan, &means(&client)?, stages));
    }
    let coverage = read_coverage(lake, commit.as_ref())?;
    let is_known = plan_is_known(account.limits.into(), state.plan, &pipeline.spec.plan);
    let counted = counted_days(pipeline.spec.extract.days, is_known);
    let counts = fetch(&client, &Call::daily_counts(counted)).await?.data;
    let knowledge = Knowledge {
        coverage: &coverage,
        state: &state,
        counts: &counts,
        plan: &plan,
        remaining: within_bounds(client.budget().remaining()?, &pipeline.spec.budget, &plan),
        from: first_day(pipeline.spec.extract.days, context.today, &plan),
        today: context.today,
    };
    let listings = listings(&pipeline.spec);
    let mut outlook = Outlook { stats: None, told: None };
    let stats;
    match worth_asking(&listings, &knowledge) {
        Question::Stats => {
            stats = fetch(&client, &Call::stats()).await?.data;
            outlook.stats = Some(&stats);
        }
        Question::Total { listing, from, to } => {
            let slice = Slice { filter: filter(listing), from, to };
            let page = fetch(&client, &Call::search(&slice.search(1, 0))).await?;
            outlook.told = Some(TotalTold { listing, from, to, rows: page.pagination.total });
        }
        Question::Nothing => {}
    }
    let mut stages = vec![
        StagePrice { name: "reference".to_owned(), slices: 5, rows: 0, requests: 5 },
        StagePrice { name: "counts".to_owned(), slices: 1, rows: 0, requests: 1 },
    ];
    for price in listings.iter().map(|listing| listing_price(*listing, &knowledge, &outlook)) {
        add(&mut stages, price);
    }
    stages.extend(Some(settling_price(&listings, &knowledge)).filter(|stage| stage.slices > 0));
    Ok(total(pipeline, context.today, &plan, &means(&client)?, stages))
}

/// Listings of one stage are priced together, as a run counts them.
fn add(stages: &mut Vec<StagePrice>, price: StagePrice) {
    match stages.iter_mut().find(|stage| stage.name == price.name) {
        Some(stage) => {
            stage.slices += price.slices;
            stage.rows += price.rows;
            stage.requests += price.requests;
        }
        None => stages.push(price),
    }
}

/// What the account may still spend.
fn means(client: &Client) -> Result<Means, PipelineError> {
    Ok(Means {
        remaining: client.budget().remaining()?,
        allowance: client.budget().per_window()?,
        per_run: client.budget().max_requests(),
        idle_days: 0,
    })
}

/// The stages of a pipeline that reads the register or looks businesses up; none for one that reads days.
async fn stages_without_days(
    pipeline: &Pipeline,
    context: &RunContext<'_>,
    client: &Client,
    plan: &PlanLimits,
) -> Result<Option<Vec<StagePrice>>, PipelineError> {
    let lake = &context.lake;
    let commit = lake.current()?;
    let state = commit.as_ref().map(|commit| RunState::from_commit(&commit.state)).unwrap_or_default();
    if let Some(spec) = &pipeline.spec.enrich {
        let due = due(lake, commit.as_ref(), spec, &state.enrich, (context.now)())?;
        return Ok(Some(enrich_stages(spec, due.len() as u64)));
    }
    let Some(spec) = &pipeline.spec.registry else { return Ok(None) };
    let stats = fetch(client, &Call::stats()).await?.data;
    let counties = fetch(client, &Call::counties()).await?.data;
    let businesses = u64::try_from(businesses(spec, &stats, &counties)).unwrap_or(0);
    let names = known_names(lake, commit.as_ref())?;
    let priced = register_price(spec, &state.register, names, (businesses, context.today), plan);
    let lists = StagePrice { name: "reference".to_owned(), slices: 5, rows: 0, requests: 5 };
    Ok(Some(vec![lists, priced]))
}

/// A request for the details of each business, and one for its officers, which most have.
fn enrich_stages(spec: &EnrichSpec, due: u64) -> Vec<StagePrice> {
    let businesses = due.min(spec.limit.unwrap_or(u64::MAX));
    let stage =
        |name: &str, slices| StagePrice { name: name.to_owned(), slices, rows: slices, requests: slices };
    vec![
        StagePrice { name: "reference".to_owned(), slices: 1, rows: 0, requests: 1 },
        stage(DETAILS, businesses),
        stage(OFFICERS, if spec.officers { businesses } else { 0 }),
    ]
}

/// Businesses a reading of the register finds: all there are, or those that the counties say are active.
fn businesses(spec: &RegistrySpec, stats: &Stats, counties: &[County]) -> i64 {
    match spec.status {
        RegisterStatus::All => stats.businesses_total,
        RegisterStatus::Active => {
            let active: i64 = counties.iter().map(|county| county.active_businesses).sum();
            stats.businesses_total.min(active)
        }
    }
}

/// What the third request is best spent on.
#[derive(Debug, PartialEq, Eq)]
enum Question {
    /// Statewide figures: days are to be read that no count covers.
    Stats,
    /// The total of a listing whose days the API does not count.
    Total { listing: Listing, from: Date, to: Date },
    /// The counts tell everything.
    Nothing,
}

fn worth_asking(listings: &[Listing], knowledge: &Knowledge<'_>) -> Question {
    let needs = listings.iter().map(|listing| (*listing, listing_need(*listing, knowledge)));
    let (untyped, typed): (Vec<_>, Vec<_>) = needs.partition(|(listing, _)| listing.kind.is_none());
    let oldest_counted = knowledge.counts.iter().map(|count| count.date).min();
    let beyond_counts = |need: &Need| need.unread.first().is_some_and(|day| Some(*day) < oldest_counted);
    match &typed[..] {
        _ if untyped.iter().any(|(_, need)| beyond_counts(need)) => Question::Stats,
        [] => Question::Nothing,
        [(listing, need)] => match ranges(need.filling.keys().chain(&need.unread).copied())[..] {
            [] => Question::Nothing,
            [(from, to)] => Question::Total { listing: *listing, from, to },
            _ => Question::Stats,
        },
        _ => Question::Stats,
    }
}

async fn fetch<T: serde::de::DeserializeOwned>(client: &Client, call: &Call<T>) -> Result<T, PipelineError> {
    Ok(client.fetch(call).await.map_err(ExtractError::from)?.value)
}

fn total(
    pipeline: &Pipeline,
    today: Date,
    plan: &PlanLimits,
    means: &Means,
    stages: Vec<StagePrice>,
) -> Price {
    // One look-up gives one record; a page gives as many as a call can.
    let least = |stage: &StagePrice| match stage.name.as_str() {
        DETAILS | OFFICERS => stage.rows,
        _ => plan.pages_for(stage.rows),
    };
    let requests: u64 = stages.iter().map(|stage| stage.requests).sum();
    let complete_on = complete_on(requests, today, means);
    Price {
        pipeline: pipeline.spec.name.clone(),
        today,
        plan: *plan,
        remaining: means.remaining,
        requests,
        lower_bound: stages.iter().map(least).sum(),
        minutes: requests as f64 / f64::from(plan.per_minute.max(1)),
        days: complete_on.map_or(0, |day| u64::from(span_days(today, day))),
        complete_on,
        fits: complete_on == Some(today),
        stages,
    }
}

/// A listing: its stretches as a run would plan them, and the questions that find what moved.
pub(crate) fn listing_price(
    listing: Listing,
    knowledge: &Knowledge<'_>,
    outlook: &Outlook<'_>,
) -> StagePrice {
    let plan = knowledge.plan;
    let need = listing_need(listing, knowledge);
    let job = job(listing, knowledge, &mut RunPlan::default());
    let rows_on = |day: Date| outlook.rows(listing, &need, knowledge, day);
    let (filter, nothing) = (filter(listing), Shares::default());
    let shares = knowledge.state.shares.get(listing.label).unwrap_or(&nothing);
    let outline = Outline { filter: &filter, shares, is_listed: false, plan };
    let mut rows: u64 = need.unread.iter().map(|day| rows_on(*day)).sum();
    let mut requests = price_full_read(&job.unread, &rows_on, &outline);
    let mut slices = job.unread.len() as u64;
    let mut came: BTreeMap<Date, u64> =
        need.moved.iter().map(|day| (*day, refresh_cost::came_to(knowledge, *day))).collect();
    came.extend(outlook.came(listing, &need, knowledge, rows));
    rows += came.values().sum::<u64>();
    requests += refresh_cost::of_days(listing, &came, knowledge)
        + refresh_cost::of_uncounted(listing, &need, knowledge);
    slices += came.len() as u64;
    StagePrice { name: listing.stage.to_owned(), slices, rows, requests }
}

/// The days of all listings that are due for another whole reading.
pub(crate) fn settling_price(listings: &[Listing], knowledge: &Knowledge<'_>) -> StagePrice {
    let mut price = StagePrice { name: SETTLING.to_owned(), slices: 0, rows: 0, requests: 0 };
    for listing in listings {
        let job = job(*listing, knowledge, &mut RunPlan::default());
        let held = |day: Date| refresh_cost::held(*listing, knowledge, day);
        let (filter, nothing) = (filter(*listing), Shares::default());
        let shares = knowledge.state.shares.get(listing.label).unwrap_or(&nothing);
        let outline = Outline { filter: &filter, shares, is_listed: true, plan: knowledge.plan };
        let days = job.settling.iter().flat_map(|stretch| days_newest_first(stretch.from, stretch.to));
        price.rows += days.map(held).sum::<u64>();
        price.slices += job.settling.len() as u64;
        price.requests += price_full_read(&job.settling, &held, &outline);
    }
    price
}
