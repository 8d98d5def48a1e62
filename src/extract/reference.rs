//! The first stage: the account, the lists, the counts. Everything the planner wants to know costs six requests.

use super::fetch::{Asker, PageKey};
use super::{ExtractError, PlanOverride};
use crate::client::{Allowance, Call};
use crate::contract::count::{County, DailyCount, Stats};
use crate::contract::eastern::window_start;
use crate::contract::param::{MAX_DAYS, MAX_LIMIT};
use crate::contract::plan::{Plan, PlanLimits};
use crate::contract::reference::{EntityTypeEntry, Industries};
use crate::contract::search::{BusinessSearch, MAX_SPAN_DAYS};
use jiff::civil::Date;

/// Stage name of the reference lists.
pub const REFERENCE: &str = "reference";
/// Stage name of the daily counts.
pub const COUNTS: &str = "counts";

/// Answers of the reference stage.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Types accepted by the `type` filter.
    pub entity_types: Vec<EntityTypeEntry>,
    /// Sectors, types, segments.
    pub industries: Industries,
    /// Every county with its counts.
    pub counties: Vec<County>,
    /// Statewide figures.
    pub stats: Stats,
}

/// Asks for the lists and statewide counts.
///
/// # Errors
/// What the client or the archive says.
pub async fn extract_reference(asker: &mut Asker<'_>) -> Result<Reference, ExtractError> {
    let (entity_types, _) = asker.ask(REFERENCE, &Call::entity_types()).await?;
    let (industries, _) = asker.ask(REFERENCE, &Call::industries()).await?;
    let (counties, _) = asker.ask(REFERENCE, &Call::counties()).await?;
    let (stats, _): (_, PageKey) = asker.ask(REFERENCE, &Call::stats()).await?;
    Ok(Reference {
        entity_types: entity_types.data,
        industries: industries.data,
        counties: counties.data,
        stats: stats.data,
    })
}

/// Asks for the counts of so many recent days, today included.
///
/// # Errors
/// What the client or the archive says.
pub async fn extract_daily_counts(asker: &mut Asker<'_>, days: u32) -> Result<Vec<DailyCount>, ExtractError> {
    let (page, _) = asker.ask(COUNTS, &Call::daily_counts(days)).await?;
    Ok(page.data)
}

/// The plan's numbers: what the pipeline overrides, then what an earlier run learned under the same caps, then the row of
/// the limits table with these caps, then Enterprise's row, which reading corrects downwards.
pub fn plan_limits(caps: Allowance, learned: Option<PlanLimits>, given: &PlanOverride) -> PlanLimits {
    let learned = learned.filter(|plan| is_of(plan, caps));
    let row = Plan::from_caps(caps.per_minute, caps.per_day, caps.per_month).map(Plan::limits);
    let known = learned.or(row).unwrap_or(Plan::Enterprise.limits());
    PlanLimits {
        rows_per_call: given.rows_per_call.unwrap_or(known.rows_per_call),
        max_offset: given.max_offset.unwrap_or(known.max_offset),
        window_days: given.window_days.unwrap_or(known.window_days),
        per_minute: caps.per_minute,
        per_day: caps.per_day,
        per_month: caps.per_month,
    }
}

/// Whether numbers were learned under the account's present caps: another plan has others.
fn is_of(learned: &PlanLimits, caps: Allowance) -> bool {
    (learned.per_minute, learned.per_day, learned.per_month)
        == (caps.per_minute, caps.per_day, caps.per_month)
}

/// Whether the plan's numbers are written anywhere, so that they need not be found out.
pub fn plan_is_known(caps: Allowance, learned: Option<PlanLimits>, given: &PlanOverride) -> bool {
    let all_given = given.rows_per_call.and(given.max_offset).and(given.window_days).is_some();
    all_given
        || learned.is_some_and(|plan| is_of(&plan, caps))
        || Plan::from_caps(caps.per_minute, caps.per_day, caps.per_month).is_some()
}

/// Finds out the numbers of a plan that no table knows, for four requests at most. What the pipeline gives is taken as it
/// is.
///
/// # Errors
/// What the client or the archive says.
pub async fn find_plan(
    asker: &mut Asker<'_>,
    plan: &mut PlanLimits,
    given: &PlanOverride,
    counted_days: u32,
    today: Date,
) -> Result<(), ExtractError> {
    if given.window_days.is_none() {
        plan.window_days = find_window(asker, counted_days, today).await?;
    }
    if given.max_offset.is_none() {
        plan.max_offset = find_max_offset(asker, plan, today).await?;
    }
    Ok(())
}

/// The daily counts end where a short window does; beyond them, the windows of the table are tried, longest first (a 403
/// says no).
async fn find_window(asker: &mut Asker<'_>, counted_days: u32, today: Date) -> Result<u32, ExtractError> {
    if counted_days < MAX_DAYS {
        return Ok(counted_days.max(1));
    }
    for row in Plan::ALL.map(Plan::limits).into_iter().rev().filter(|row| row.window_days > MAX_DAYS) {
        let from = window_start(today, row.window_days);
        if probe(asker, from, from, 1, 0, 403).await?.is_some() {
            return Ok(row.window_days);
        }
    }
    Ok(MAX_DAYS)
}

/// The max offsets of the table are tried, largest first (a 400 says no); the answers also tell the rows per call.
async fn find_max_offset(
    asker: &mut Asker<'_>,
    plan: &mut PlanLimits,
    today: Date,
) -> Result<u32, ExtractError> {
    let from = window_start(today, plan.window_days.min(MAX_SPAN_DAYS));
    let mut offsets = Plan::ALL.map(|row| row.limits().max_offset);
    offsets.sort_unstable_by(|a, b| b.cmp(a));
    let smallest = Plan::Starter.limits().max_offset;
    for offset in offsets {
        if let Some(limit) = probe(asker, from, today, MAX_LIMIT, offset, 400).await? {
            plan.rows_per_call = plan.rows_per_call.min(limit.max(1));
            return Ok(offset);
        }
    }
    Ok(smallest)
}

/// Asks for a page and gives the limit applied; none when it is refused with `no`.
async fn probe(
    asker: &mut Asker<'_>,
    from: Date,
    to: Date,
    limit: u32,
    offset: u32,
    no: u16,
) -> Result<Option<u32>, ExtractError> {
    let search = BusinessSearch {
        filed_from: Some(from),
        filed_to: Some(to),
        limit: Some(limit),
        offset: Some(offset),
        ..BusinessSearch::default()
    };
    match asker.ask(COUNTS, &Call::search(&search)).await {
        Ok((page, _)) => Ok(Some(page.pagination.limit)),
        Err(ExtractError::Client(error)) if error.refused_status() == Some(no) => Ok(None),
        Err(error) => Err(error),
    }
}
