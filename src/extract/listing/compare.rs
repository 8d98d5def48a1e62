//! Compares the rows of days with fresh totals.

use super::full_read::find_changed;
use super::job::ReadContext;
use super::pager::Reader;
use crate::contract::eastern::{minus_days, span_days};
use crate::contract::plan::{Plan, PlanLimits};
use crate::contract::search::MAX_SPAN_DAYS;
use crate::extract::error::Result;
use crate::extract::fetch::PageFetcher;
use crate::extract::plan::day_range::{DaySpan, joined, spans};
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
    /// One for each part, of about this number of parts, or for each day: the more days are in a sum, the likelier does a lost row
    /// hide a new one.
    Parts(usize),
}

/// Days whose totals differ from their rows, with these totals; and those whose total no request gives while rows change. After an
/// error, the store has those that are known to differ by then.
pub(crate) async fn differing_days(
    fetcher: &mut PageFetcher<'_>,
    context: ReadContext<'_>,
    label: &'static str,
    filter: &Filter,
    rows: &BTreeMap<Date, u64>,
    totals: Totals,
) -> Result<BTreeMap<Date, u64>> {
    let ReadContext { store, plan, values, shares, .. } = context;
    let mut reader = Reader::new(fetcher, CHECK, plan, values, shares, filter.clone());
    let mut differing = BTreeMap::new();
    let compared = compare(&mut reader, filter, rows, totals, &mut differing).await;
    if compared.is_err() {
        store.mark_incomplete(label, &differing);
    }
    compared.map(|()| differing)
}

async fn compare(
    reader: &mut Reader<'_, '_>,
    filter: &Filter,
    rows: &BTreeMap<Date, u64>,
    totals: Totals,
    differing: &mut BTreeMap<Date, u64>,
) -> Result<()> {
    let (spans, may_be_days) = match totals {
        Totals::Ranges => (few(rows, reader.plan), false),
        Totals::Parts(most) => (parts(rows, most), true),
    };
    for DaySpan { from, to } in spans {
        let slice = Slice { filter: filter.clone(), from, to };
        if may_be_days && slice.is_one_day() {
            let (total, known) = (reader.total_of_day(&slice, rows[&to]).await?, rows[&to]);
            differing.extend((total != Some(known)).then_some((to, total.unwrap_or(known))));
        } else {
            find_changed(reader, &slice, rows, differing).await?;
        }
    }
    Ok(())
}

/// Consecutive days in about `most` parts of the same length, newest first; days without rows in one part, because no row can be lost
/// there that hides a new one.
fn parts(rows: &BTreeMap<Date, u64>, most: usize) -> Vec<DaySpan> {
    let length = u32::try_from(rows.len().div_ceil(most.max(1))).unwrap_or(u32::MAX).max(1);
    joined(rows.keys().rev().copied(), |part, day| {
        let has_no_rows = || rows.range(day..=part.to).all(|(_, rows)| *rows == 0);
        span_days(part.from, part.to) < length || has_no_rows()
    })
}

/// Parts of a range whose totals come without a row, at most, under the limits of a plan.
const MOST_PARTS: usize = 2;

/// Ranges of days, as far back as one search may span; in parts with no more rows than an offset passes where these are few. Under the
/// small limits of a trial they may be many, unless a day has more rows.
fn few(rows: &BTreeMap<Date, u64>, plan: &PlanLimits) -> Vec<DaySpan> {
    let Some(newest) = rows.keys().next_back() else { return Vec::new() };
    let oldest = minus_days(*newest, MAX_SPAN_DAYS - 1);
    let spans = spans(rows.range(oldest..).map(|(day, _)| *day));
    let parts: Vec<DaySpan> =
        spans.iter().flat_map(|span| within_offset(*span, rows, plan.max_offset)).collect();
    let has_pages_behind = rows.values().all(|rows| *rows <= u64::from(plan.max_offset));
    let is_trial = plan.max_offset < Plan::Starter.limits().max_offset;
    if has_pages_behind && (is_trial || parts.len() <= MOST_PARTS) { parts } else { spans }
}

/// The parts of a range that have no more rows than an offset passes, or one day.
fn within_offset(span: DaySpan, rows: &BTreeMap<Date, u64>, max_offset: u32) -> Vec<DaySpan> {
    let fits = |part: DaySpan, day: Date| {
        rows.range(day..=part.to).map(|(_, rows)| rows).sum::<u64>() <= u64::from(max_offset)
    };
    joined(span.newest_first(), fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn days_are_compared_one_by_one_or_in_parts_of_one_length() {
        let day = |day| date(2026, 7, day);
        let rows = [1, 2, 3, 4, 5, 9, 10].map(|of| (day(of), 1)).into();
        let parts = |most| -> Vec<(i8, i8)> {
            parts(&rows, most).into_iter().map(|part| (part.from.day(), part.to.day())).collect()
        };
        assert_eq!(parts(7), [(10, 10), (9, 9), (5, 5), (4, 4), (3, 3), (2, 2), (1, 1)]);
        assert_eq!(parts(4), [(9, 10), (4, 5), (2, 3), (1, 1)]);
        assert_eq!(parts(1), [(9, 10), (1, 5)]);
    }

    #[test]
    fn days_without_rows_are_compared_together_as_far_as_a_search_may_span() {
        let day = |day| date(2026, 7, day);
        let rows = [(1, 0), (2, 0), (3, 4), (4, 0), (5, 0), (6, 0), (8, 0)];
        let found = parts(&rows.map(|(of, rows)| (day(of), rows)).into(), 100);
        let found: Vec<(i8, i8)> = found.into_iter().map(|part| (part.from.day(), part.to.day())).collect();
        assert_eq!(found, [(8, 8), (4, 6), (3, 3), (1, 2)]);
        let empty = (0..100).map(|ago| (minus_days(day(8), ago), 0)).collect();
        let spans: Vec<u32> =
            parts(&empty, 100).into_iter().map(|part| span_days(part.from, part.to)).collect();
        assert_eq!(spans, [MAX_SPAN_DAYS, 100 - MAX_SPAN_DAYS]);
    }
}
