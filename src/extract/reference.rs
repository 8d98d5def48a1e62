//! The first stage: lists, statewide figures, and the limits of the plan.

use super::error::Result;
use super::fetch::PageFetcher;
use super::query::slice::{Filter, Slice};
use crate::client::{Allowance, Call};
use crate::contract::count::{County, Stats};
use crate::contract::eastern::window_start;
use crate::contract::param::{MAX_DAYS, MAX_LIMIT, MAX_OFFSET};
use crate::contract::plan::{Plan, PlanLimits};
use crate::contract::reference::{EntityTypeEntry, Industries};
use crate::contract::search::MAX_SPAN_DAYS;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) const REFERENCE: &str = "reference";
pub(crate) const COUNTS: &str = "counts";

/// Days of the longest window that a pipeline file may claim.
pub(crate) const MAX_WINDOW: u32 = 3_660;

/// Limits of the plan given in a pipeline file, for a plan that neither `/v1/me` nor the limits table describes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanOverride {
    /// Rows per call.
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    pub rows_per_call: Option<u32>,
    /// Largest offset that is not a 400.
    #[schemars(range(max = MAX_OFFSET))]
    pub max_offset: Option<u32>,
    /// Days that searches by date reach back.
    #[schemars(range(min = 1, max = MAX_WINDOW))]
    pub window_days: Option<u32>,
}

#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) entity_types: Vec<EntityTypeEntry>,
    pub(crate) industries: Industries,
    pub(crate) counties: Vec<County>,
    pub(crate) stats: Stats,
}

pub(crate) async fn extract_reference(fetcher: &mut PageFetcher<'_>) -> Result<Reference> {
    Ok(Reference {
        entity_types: fetcher.ask(REFERENCE, &Call::entity_types()).await?.value.data,
        industries: fetcher.ask(REFERENCE, &Call::industries()).await?.value.data,
        counties: fetcher.ask(REFERENCE, &Call::counties()).await?.value.data,
        stats: fetcher.ask(REFERENCE, &Call::stats()).await?.value.data,
    })
}

/// The plan's limits, and whether they are known without probing. In order of preference: the pipeline's own, those that an earlier run
/// learned under the same caps, the row of the limits table with these caps, the row of Enterprise, which reading corrects downwards.
pub(crate) fn plan_limits(
    caps: Allowance,
    learned: Option<PlanLimits>,
    given: &PlanOverride,
) -> (PlanLimits, bool) {
    let Allowance { per_minute, per_day, per_month } = caps;
    let is_of = |plan: &PlanLimits| {
        (plan.per_minute, plan.per_day, plan.per_month) == (per_minute, per_day, per_month)
    };
    let known = learned.into_iter().chain(Plan::ALL.map(Plan::limits)).find(is_of);
    let likely = known.unwrap_or(Plan::Enterprise.limits());
    let limits = PlanLimits {
        rows_per_call: given.rows_per_call.unwrap_or(likely.rows_per_call),
        max_offset: given.max_offset.unwrap_or(likely.max_offset),
        window_days: given.window_days.unwrap_or(likely.window_days),
        per_minute,
        per_day,
        per_month,
    };
    let are_given = given.rows_per_call.and(given.max_offset).and(given.window_days).is_some();
    (limits, are_given || known.is_some())
}

/// Probes the limits of a plan that no table has, with a dozen requests at most. Limits of the pipeline are not probed.
pub(crate) async fn find_plan(
    fetcher: &mut PageFetcher<'_>,
    plan: &mut PlanLimits,
    given: &PlanOverride,
    counted_days: u32,
    today: Date,
) -> Result<()> {
    if given.window_days.is_none() {
        plan.window_days = find_window(fetcher, counted_days, today).await?;
    }
    if given.max_offset.is_none() {
        plan.max_offset = find_max_offset(fetcher, plan, today).await?;
    }
    Ok(())
}

/// The plan's window: shorter than the daily counts, it ends where they do. A longer one is searched between theirs and the longest of
/// the table; 403 means no.
async fn find_window(fetcher: &mut PageFetcher<'_>, counted_days: u32, today: Date) -> Result<u32> {
    if counted_days < MAX_DAYS {
        return Ok(counted_days.max(1));
    }
    let longest = Plan::ALL.map(|row| row.limits().window_days).into_iter().max().unwrap_or(MAX_DAYS);
    let (mut accepted, mut refused, mut days) = (MAX_DAYS, longest + 1, longest);
    while accepted + 1 < refused {
        let from = window_start(today, days);
        match probe(fetcher, from, from, 1, 0, 403).await? {
            Some(_) => accepted = days,
            None => refused = days,
        }
        // Most plans have a window of the table: few end in between.
        days = if days == longest { MAX_DAYS + 1 } else { accepted.midpoint(refused) };
    }
    Ok(accepted)
}

/// The plan's max offset. Those of the table are tried, largest first; a 400 means no. The answers also show the rows per call.
async fn find_max_offset(fetcher: &mut PageFetcher<'_>, plan: &mut PlanLimits, today: Date) -> Result<u32> {
    let from = window_start(today, plan.window_days.min(MAX_SPAN_DAYS));
    let mut offsets = Plan::ALL.map(|row| row.limits().max_offset);
    offsets.sort_unstable_by(|a, b| b.cmp(a));
    for offset in offsets {
        if let Some(limit) = probe(fetcher, from, today, MAX_LIMIT, offset, 400).await? {
            plan.rows_per_call = plan.rows_per_call.min(limit.max(1));
            return Ok(offset);
        }
    }
    Ok(Plan::Starter.limits().max_offset)
}

/// Requests a page and returns the limit applied; none when it is refused with `no`.
async fn probe(
    fetcher: &mut PageFetcher<'_>,
    from: Date,
    to: Date,
    limit: u32,
    offset: u32,
    no: u16,
) -> Result<Option<u32>> {
    let search = Slice { filter: Filter::default(), from, to }.search(limit, offset);
    let page = fetcher.ask_unless_refused(COUNTS, &Call::search(&search), no).await?;
    Ok(page.map(|page| page.value.pagination.limit))
}
