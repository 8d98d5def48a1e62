//! Reads days that the lake held whole before: what came to them since, and what went.
//!
//! What comes to a day mostly stands first in it, so a range of days is read from the newest end of each day down to the first
//! row the lake knows, and on with the day before. The totals of the ranges asked for give each day's total. Where known and new
//! rows are as many, and as many as the API counts, the day is proven; where they are not, the difference is found by rank. A sum over
//! several days proves none of them: a row that one of them lost may hide one that another got.

use super::pager::{PageRead, PageSeen, Reader};
use super::rank_search;
use super::{DayReading, proven_day, read_day_again};
use crate::contract::eastern::{days_newest_first, minus_days};
use crate::extract::ExtractError;
use crate::extract::plan::cost::price_whole;
use crate::extract::plan::day_range::{Outline, Stretch};
use crate::extract::query::slice::Slice;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Times the rows of a day are made to fit its total before the day is read anew.
const MAX_SEARCHES: u32 = 4;

/// Pages that a search may cost, however few the day has.
const LEAST_SEARCH: u64 = 12;

/// Newest day of a range, and the rows of the range by the first page read of it.
type Span = (Date, u64);

/// What is known of days before they are read.
pub(crate) struct Told<'t> {
    /// Rows the API counts, of the days it counts.
    pub(crate) counted: &'t BTreeMap<Date, u64>,
    /// Days that were read while rows moved.
    pub(crate) stirred: &'t BTreeSet<Date>,
    /// Days that moved by their totals, with these totals.
    pub(crate) found: &'t BTreeMap<Date, u64>,
}

impl Told<'_> {
    /// Whether every day of a span holds as many rows as the API counts of it.
    fn fits(&self, reader: &Reader<'_, '_>, span: &Slice) -> bool {
        let fits = |day: Date| self.counted.get(&day) == Some(&reader.seen.count_on(day));
        days_newest_first(span.from, span.to).all(fits)
    }

    /// Whether a span holds a day older than this one that no sum proves: what it lost may hide what it got.
    fn is_stirred_before(&self, span: &Slice, day: Date) -> bool {
        self.stirred.range(span.from..).next().is_some_and(|stirred| *stirred < day)
    }
}

/// Reads a range of days whose known rows are held already; tells of each day, newest first.
pub(crate) async fn read(
    reader: &mut Reader<'_, '_>,
    range: &Slice,
    told: &Told<'_>,
) -> Result<Vec<DayReading>, ExtractError> {
    let held: BTreeMap<Date, u64> =
        days_newest_first(range.from, range.to).map(|day| (day, reader.seen.count_on(day))).collect();
    if let Some(total) =
        told.found.get(&range.to).filter(|rows| range.is_one_day() && **rows < held[&range.to])
    {
        return Ok(vec![find_lost(reader, range, *total).await?]);
    }
    let spans = read_newest_ends(reader, range, told).await?;
    let as_counted = |reader: &Reader<'_, '_>, day: Date| {
        told.counted.get(&day).is_none_or(|rows| *rows == reader.seen.count_on(day))
    };
    let mut days = Vec::new();
    for (at, (newest, rows)) in spans.iter().enumerate() {
        let (older, older_rows) = spans.get(at + 1).copied().unwrap_or((minus_days(range.from, 1), 0));
        let group = range.between(crate::contract::eastern::plus_days(older, 1), *newest);
        let total = rows.checked_sub(older_rows);
        if total == Some(reader.seen.count(&group))
            && days_newest_first(group.from, group.to).all(|day| as_counted(reader, day))
        {
            days.extend(days_newest_first(group.from, group.to).map(|day| (fitting_day(reader, day), 0)));
            continue;
        }
        for day in days_newest_first(group.from, group.to) {
            let total = total.filter(|_| group.is_one_day());
            let before = reader.asker.answered();
            let settled = settle_day(reader, &range.on(day), total).await?;
            days.push((settled, reader.asker.answered() - before));
        }
    }
    for (day, requests) in &days {
        let morning = &mut reader.morning;
        match held[&day.day] {
            0 => {}
            // Beside those that make its rows fit, one page reads its newest end.
            _ if told.found.contains_key(&day.day) => morning.found.note(*requests + 1),
            held if day.expected < held => morning.fallen.note(*requests),
            _ => morning.grown.note(*requests),
        }
    }
    Ok(days.into_iter().map(|(day, _)| day).collect())
}

/// A day that lost rows by its total: what came to it, if anything did, is found along with them.
async fn find_lost(reader: &mut Reader<'_, '_>, day: &Slice, total: u64) -> Result<DayReading, ExtractError> {
    let before = reader.asker.answered();
    let settled = settle_day(reader, day, Some(total)).await?;
    reader.morning.found.note(reader.asker.answered() - before);
    Ok(settled)
}

/// A day whose known and new rows are as many as the API says.
fn fitting_day(reader: &Reader<'_, '_>, day: Date) -> DayReading {
    let rows = reader.seen.count_on(day);
    let whole = reader.seen.shown_on(day).count() as u64 == rows;
    DayReading { whole, ..proven_day(reader, day) }
}

/// Makes the rows of a day fit its total; reads the day anew where that fails.
pub(crate) async fn settle_day(
    reader: &mut Reader<'_, '_>,
    day: &Slice,
    total: Option<u64>,
) -> Result<DayReading, ExtractError> {
    match fit_day(reader, day, total).await? {
        true => Ok(fitting_day(reader, day.to)),
        false => read_day_again(reader, day).await,
    }
}

/// Makes the rows of a day fit its total; says whether they do.
pub(crate) async fn fit_day(
    reader: &mut Reader<'_, '_>,
    day: &Slice,
    total: Option<u64>,
) -> Result<bool, ExtractError> {
    let mut left = most_for_search(reader, day, total.unwrap_or(reader.seen.count(day)));
    if let Some(total) = total
        && rank_search::find(reader, day, Some(total), i64::MAX, &mut left).await?.is_some()
    {
        return Ok(true);
    }
    for _ in 0..MAX_SEARCHES {
        if left == 0 || reader.unordered {
            return Ok(false);
        }
        left -= 1;
        let PageRead::Rows(page) = reader.page(day, 0).await? else { return Ok(false) };
        if !reader.unordered {
            drop_passed_over(reader, day, &page, true);
        }
        if reader.seen.count(day) == page.total {
            return Ok(true);
        }
        let last = page.rows.last().map_or(i64::MAX, |(id, _)| *id);
        if rank_search::find(reader, day, Some(page.total), last, &mut left).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Pages that a search in a day of so many rows may cost: as many as reading it anew.
fn most_for_search(reader: &Reader<'_, '_>, day: &Slice, rows: u64) -> u32 {
    let shares = reader.shares_now();
    let outline = Outline { filter: &day.filter, shares: &shares, is_listed: false, plan: reader.plan };
    let in_parts = rows > u64::from(reader.plan.reach_rows());
    let anew = Stretch { from: day.from, to: day.to, in_parts };
    u32::try_from(price_whole(&[anew], &|_| rows, &outline).max(LEAST_SEARCH)).unwrap_or(u32::MAX)
}

/// Reads down from the newest end of each day to the first row that the lake knows of it.
async fn read_newest_ends(
    reader: &mut Reader<'_, '_>,
    range: &Slice,
    told: &Told<'_>,
) -> Result<Vec<Span>, ExtractError> {
    let mut spans: Vec<Span> = Vec::new();
    let mut upper = range.to;
    while upper >= range.from {
        let span = range.between(range.from, upper);
        let mut offset = 0;
        loop {
            let page = match reader.page(&span, offset).await? {
                PageRead::Rows(page) => page,
                PageRead::BeyondReach | PageRead::Refused => {
                    // The day is as good as never read: it is left to be read in parts.
                    upper = minus_days(upper, 1);
                    break;
                }
            };
            if offset == 0 {
                spans.push((upper, page.total));
            }
            if !reader.unordered {
                drop_passed_over(reader, &span, &page, offset == 0);
            }
            offset += page.rows.len() as u32;
            let is_end = page.rows.is_empty() || u64::from(offset) >= page.total;
            let last_day = page.rows.last().map_or(range.from, |(_, day)| *day);
            let adds_up = reader.seen.count(&span) == page.total && !told.is_stirred_before(&span, last_day);
            let is_first = offset as usize == page.rows.len() && upper == range.to;
            if is_first && adds_up && is_as_it_was(reader, &page) {
                tracing::debug!(%range, "nothing moved");
                reader.pages.clear();
                reader.seen.forget_shown();
                return Ok(spans);
            }
            if is_end || (adds_up && told.fits(reader, &span)) {
                return Ok(spans);
            }
            if page.rows.iter().any(|(id, day)| *day == last_day && reader.seen.is_held(*id)) {
                upper = minus_days(last_day, 1);
                break;
            }
            if offset > reader.plan.max_offset {
                upper = minus_days(upper, 1).min(last_day);
                break;
            }
        }
    }
    Ok(spans)
}

/// Whether a page holds nothing new and passes over nothing known. Where that is so of the first page of days that are as many as
/// before, it tells nothing and need not be landed.
fn is_as_it_was(reader: &Reader<'_, '_>, page: &PageSeen) -> bool {
    reader.seen.gone().is_empty() && page.rows.iter().all(|(id, _)| reader.seen.is_held(*id))
}

/// Drops rows that a page would show if they were still listed: those between two rows of it, and, of a day that it shows the
/// beginning or the end of, those beyond.
fn drop_passed_over(reader: &mut Reader<'_, '_>, span: &Slice, page: &PageSeen, from_the_top: bool) {
    let days = days_of(page);
    for (at, (day, ids)) in days.iter().enumerate() {
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { continue };
        let newest = if at > 0 || from_the_top { i64::MAX } else { *first };
        let oldest = if at + 1 < days.len() { i64::MIN } else { *last };
        reader.seen.drop_between(&span.on(*day), oldest, newest, ids);
    }
}

/// The rows of a page by day, in order.
fn days_of(page: &PageSeen) -> Vec<(Date, Vec<i64>)> {
    let mut days: Vec<(Date, Vec<i64>)> = Vec::new();
    for (id, day) in &page.rows {
        match days.last_mut() {
            Some((last, ids)) if last == day => ids.push(*id),
            _ => days.push((*day, vec![*id])),
        }
    }
    days
}
