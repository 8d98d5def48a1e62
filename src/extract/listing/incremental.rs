//! Refreshes days that were complete in the lake: which rows came since, and which are gone.
//!
//! New rows of a day mostly come first in it. So each day of a range is read from its newest row down to the first known row; then
//! the day before. The totals of these queries give the total of each day. A day is complete when its known and new rows match its
//! total and the API's daily count. Otherwise the difference is searched by rank. A sum over several days completes none of them: a
//! row lost by one may hide a row gained by another.

use super::day::{DayReading, complete_day, drop_skipped, reconcile_day};
use super::pager::{PageRead, PageSeen, Reader};
use super::read_pages::ReadPages;
use crate::contract::eastern::{days_newest_first, minus_days, plus_days};
use crate::extract::error::Result;
use crate::extract::query::slice::Slice;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Newest day of a range, and the total of the range by its first page.
type Span = (Date, u64);

/// Row counts of days, known before they are read.
pub(crate) struct DayCounts<'t> {
    /// Rows by the API's daily counts.
    pub(crate) counted: &'t BTreeMap<Date, u64>,
    /// Days that were last read under drift, or are known to differ.
    pub(crate) doubtful: &'t BTreeMap<Date, Timestamp>,
    /// Days whose totals have changed, with these totals.
    pub(crate) changed: &'t BTreeMap<Date, u64>,
}

impl DayCounts<'_> {
    /// Whether a day has the number of rows that the API counts; true if it has no count.
    fn allows(&self, reader: &Reader<'_, '_>, day: Date) -> bool {
        self.counted.get(&day).is_none_or(|rows| *rows == reader.range.seen.count_on(day))
    }

    /// Whether every day of a span has a count and matches it.
    fn confirms(&self, reader: &Reader<'_, '_>, span: &Slice) -> bool {
        days_newest_first(span.from, span.to)
            .all(|day| self.counted.contains_key(&day) && self.allows(reader, day))
    }

    /// Whether a span has a day that no sum completes, and whose last rows are below those of `day` that were read.
    fn has_doubtful_below(&self, span: &Slice, day: Date) -> bool {
        self.doubtful.range(span.from..).next().is_some_and(|(doubtful, _)| *doubtful <= day)
    }
}

/// Refreshes a range of days whose known rows were added already; returns each day, newest first. An error may come when totals show
/// that known rows are not those of some days, and these days are not read yet: they are added to `differing`, with their rows.
pub(crate) async fn read(
    reader: &mut Reader<'_, '_>,
    range: &Slice,
    counts: &DayCounts<'_>,
    differing: &mut BTreeMap<Date, u64>,
) -> Result<Vec<DayReading>> {
    let held: BTreeMap<Date, u64> =
        days_newest_first(range.from, range.to).map(|day| (day, reader.range.seen.count_on(day))).collect();
    let mut spans = Vec::new();
    let read = read_spans(reader, range, counts, &held, &mut spans).await;
    if read.is_err() {
        for (oldest, newest, rows) in groups(range, &spans) {
            let of_group = held.range(oldest..=newest);
            let differs =
                reader.range.drift.is_in_range || rows != Some(of_group.clone().map(|(_, rows)| rows).sum());
            differing.extend(of_group.filter(|_| differs));
        }
    }
    read
}

/// The days between a span and the next one, from the oldest to the newest, with their rows by the totals of both. None where the
/// totals changed between them.
fn groups(range: &Slice, spans: &[Span]) -> Vec<(Date, Date, Option<u64>)> {
    let below = [(minus_days(range.from, 1), 0)];
    let older = spans.iter().skip(1).chain(&below);
    let group = |((newest, rows), (older, older_rows)): (&Span, &Span)| {
        (plus_days(*older, 1), *newest, rows.checked_sub(*older_rows))
    };
    spans.iter().zip(older).map(group).collect()
}

async fn read_spans(
    reader: &mut Reader<'_, '_>,
    range: &Slice,
    counts: &DayCounts<'_>,
    held: &BTreeMap<Date, u64>,
    spans: &mut Vec<Span>,
) -> Result<Vec<DayReading>> {
    if let Some(total) = counts.changed.get(&range.to)
        && range.is_one_day()
        && *total < held[&range.to]
    {
        // The day lost rows; new ones are found by the same search.
        let (reading, requests) = reconcile_counted(reader, range, Some(*total)).await?;
        reader.refresh.discovered.note(requests);
        return Ok(vec![reading]);
    }
    read_newest_ends(reader, range, counts, spans).await?;
    let mut days = Vec::new();
    for (oldest, newest, total) in groups(range, spans) {
        let group = range.between(oldest, newest);
        let of_group = || days_newest_first(group.from, group.to);
        if total == Some(reader.range.seen.count(&group)) && of_group().all(|day| counts.allows(reader, day))
        {
            days.extend(of_group().map(|day| (complete_day(reader, day), 0)));
            continue;
        }
        let total = total.filter(|_| group.is_one_day());
        for day in of_group() {
            days.push(reconcile_counted(reader, &range.on(day), total).await?);
        }
    }
    for (day, requests) in &days {
        let refresh = &mut reader.refresh;
        match held[&day.day] {
            0 => {}
            // One more: the page that read its newest rows.
            _ if counts.changed.contains_key(&day.day) => refresh.discovered.note(*requests + 1),
            held if day.expected < held => refresh.shrank.note(*requests),
            _ => refresh.grew.note(*requests),
        }
    }
    Ok(days.into_iter().map(|(day, _)| day).collect())
}

/// Reconciles a day; returns it with the number of requests.
async fn reconcile_counted(
    reader: &mut Reader<'_, '_>,
    day: &Slice,
    total: Option<u64>,
) -> Result<(DayReading, u64)> {
    let before = reader.fetcher.answered;
    let reading = reconcile_day(reader, day, total).await?;
    Ok((reading, reader.fetcher.answered - before))
}

/// Reads each day from its newest row down to the first row that the lake has. Adds the spans.
async fn read_newest_ends(
    reader: &mut Reader<'_, '_>,
    range: &Slice,
    counts: &DayCounts<'_>,
    spans: &mut Vec<Span>,
) -> Result<()> {
    let mut upper = range.to;
    while upper >= range.from {
        let span = range.between(range.from, upper);
        let mut offset = 0;
        loop {
            let PageRead::Rows(page) = reader.page(&span, offset).await? else {
                // The day is left to be read in parts.
                upper = minus_days(upper, 1);
                break;
            };
            if offset == 0 {
                spans.push((upper, page.total));
            } else if spans.last().is_some_and(|(_, total)| *total != page.total) {
                reader.range.drift.note();
            }
            if !reader.range.unordered {
                drop_skipped(reader, &span, &page, offset == 0);
            }
            offset += page.rows.len() as u32;
            let is_end = page.rows.is_empty() || u64::from(offset) >= page.total;
            let last_day = page.rows.last().map_or(range.from, |(_, day)| *day);
            let adds_up = reader.range.seen.count(&span) == page.total
                && (is_end || !counts.has_doubtful_below(&span, last_day));
            let is_first = offset as usize == page.rows.len() && upper == range.to;
            if is_first && adds_up && is_unchanged(reader, &page) {
                tracing::debug!(%range, "no row has changed");
                reader.range.pages = ReadPages::default();
                reader.range.seen.forget_shown();
                return Ok(());
            }
            if is_end || (adds_up && counts.confirms(reader, &span)) {
                return Ok(());
            }
            if page.rows.iter().any(|(id, day)| *day == last_day && reader.range.seen.is_from_lake(*id)) {
                upper = minus_days(last_day, 1);
                break;
            }
            if offset > reader.plan.max_offset {
                upper = minus_days(upper, 1).min(last_day);
                break;
            }
        }
    }
    Ok(())
}

/// Whether a page has no new row and skips no known one: as the first of a range, under the same total, it is not stored.
fn is_unchanged(reader: &Reader<'_, '_>, page: &PageSeen) -> bool {
    let (seen, known) = (&reader.range.seen, &reader.range.known);
    seen.rows().len() == known.len() && page.rows.iter().all(|(id, _)| seen.is_from_lake(*id))
}
