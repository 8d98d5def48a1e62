//! Compares the rows of days with fresh totals.

use super::full_read::find_changed;
use super::job::ReadContext;
use super::pager::Reader;
use crate::contract::eastern::minus_days;
use crate::contract::plan::{Plan, PlanLimits};
use crate::contract::search::MAX_SPAN_DAYS;
use crate::extract::error::Result;
use crate::extract::fetch::PageFetcher;
use crate::extract::plan::day_range::ranges;
use crate::extract::query::slice::{Filter, Slice};
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Stage name of the check at the end of a run.
pub(crate) const CHECK: &str = "check";

/// Which totals are worth a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Totals {
    /// One for each range of the newest days, as far back as one search may span.
    Ranges,
    /// One for each day: in a sum over several days, a lost row may hide a new one.
    Days,
}

/// Days whose totals differ from their rows, with these totals; and those whose total no request gives while rows change.
pub(crate) async fn differing_days(
    fetcher: &mut PageFetcher<'_>,
    context: ReadContext<'_>,
    filter: &Filter,
    rows: &BTreeMap<Date, u64>,
    totals: Totals,
) -> Result<BTreeMap<Date, u64>> {
    let ReadContext { plan, values, shares, .. } = context;
    let mut reader = Reader::new(fetcher, CHECK, plan, values, shares, filter.clone());
    let slice = |from, to| Slice { filter: filter.clone(), from, to };
    let mut differing = BTreeMap::new();
    match totals {
        Totals::Ranges => {
            for (from, to) in few(rows, reader.plan) {
                differing.extend(find_changed(&mut reader, &slice(from, to), None, rows).await?);
            }
        }
        Totals::Days => {
            for (day, known) in rows.iter().rev() {
                let total = reader.total_of_day(&slice(*day, *day), *known).await?;
                differing.extend((total != Some(*known)).then_some((*day, total.unwrap_or(*known))));
            }
        }
    }
    Ok(differing)
}

/// Parts of a range whose totals come without a row, at most, under the limits of a plan.
const MOST_PARTS: usize = 2;

/// Ranges of days, as far back as one search may span; in parts with no more rows than an offset passes where these are few. Under the
/// small limits of a trial they may be many, unless a day has more rows.
fn few(rows: &BTreeMap<Date, u64>, plan: &PlanLimits) -> Vec<(Date, Date)> {
    let Some(newest) = rows.keys().next_back() else { return Vec::new() };
    let oldest = minus_days(*newest, MAX_SPAN_DAYS - 1);
    let ranges = ranges(rows.range(oldest..).map(|(day, _)| *day));
    let parts: Vec<(Date, Date)> =
        ranges.iter().flat_map(|range| within_offset(*range, rows, plan.max_offset)).collect();
    let has_pages_behind = rows.values().all(|rows| *rows <= u64::from(plan.max_offset));
    let is_trial = plan.max_offset < Plan::Starter.limits().max_offset;
    if has_pages_behind && (is_trial || parts.len() <= MOST_PARTS) { parts } else { ranges }
}

/// The parts of a range that have no more rows than an offset passes, or one day.
fn within_offset((from, to): (Date, Date), rows: &BTreeMap<Date, u64>, max_offset: u32) -> Vec<(Date, Date)> {
    let most = u64::from(max_offset);
    let mut parts: Vec<(Date, Date)> = Vec::new();
    let mut sum = 0;
    for (day, rows) in rows.range(from..=to).rev() {
        sum += rows;
        match parts.last_mut() {
            Some((oldest, _)) if sum <= most => *oldest = *day,
            _ => {
                sum = *rows;
                parts.push((*day, *day));
            }
        }
    }
    parts
}
