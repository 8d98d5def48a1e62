//! One day: makes its known rows match its total, or reads it again.
//!
//! The two call each other: rows that cannot be matched are read again, and a reading that does not match is corrected by rank.

use super::pager::{PageRead, PageSeen, Reader};
use super::range_state::Walked;
use super::rank_search;
use super::split_read::walk;
use crate::contract::eastern::days_newest_first;
use crate::extract::error::Result;
use crate::extract::plan::cost::{DayRange, Outline, price_full_read};
use crate::extract::query::slice::Slice;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Times a day is read again before it is left incomplete.
const MAX_READINGS: u32 = 3;

/// Times the rows of a day are matched to its total before the day is read again.
const MAX_SEARCHES: u32 = 4;

/// Pages that a search may take, even for a small day.
const LEAST_SEARCH: u64 = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DayReading {
    pub(crate) day: Date,
    /// Rows by the API's total.
    pub(crate) expected: u64,
    /// Rows known, from this reading or from the lake.
    pub(crate) held: u64,
    /// Whether the two were checked to be equal.
    pub(crate) complete: bool,
    /// Whether every row was read now, so that a row of the lake not among them is gone.
    pub(crate) whole: bool,
}

/// A day that is complete: all its rows were read, or those read now and known before match its total.
pub(crate) fn complete_day(reader: &Reader<'_, '_>, day: Date) -> DayReading {
    let rows = reader.range.seen.count_on(day);
    let whole = reader.range.seen.shown_on(day).count() as u64 == rows;
    DayReading { day, expected: rows, held: rows, complete: true, whole }
}

/// Whether rows drifted during a reading that is not complete: seen by it, or by the total now.
pub(crate) async fn has_drifted(reader: &mut Reader<'_, '_>, slice: &Slice, walked: &Walked) -> Result<bool> {
    let matches = reader.range.seen.count(slice) == walked.total;
    if !reader.range.drift.is_seen && (matches || reader.total(slice).await? != walked.total) {
        reader.range.drift.note();
    }
    Ok(reader.range.drift.is_seen)
}

/// Forgets a day and reads it until it is complete.
pub(crate) async fn read_day_again(reader: &mut Reader<'_, '_>, day: &Slice) -> Result<DayReading> {
    let mut total = 0;
    reader.search_days();
    for _ in 0..MAX_READINGS {
        reader.range.seen.forget(day.to);
        reader.range.drift.begin_reading();
        let walked = walk(reader, day).await?;
        total = walked.total;
        if reader.range.is_complete(reader.range.seen.count(day), &walked) {
            return Ok(complete_day(reader, day.to));
        }
        if !has_drifted(reader, day, &walked).await? {
            // Another reading would return the same rows.
            if match_total(reader, day, None).await? {
                return Ok(complete_day(reader, day.to));
            }
            break;
        }
    }
    let held = reader.range.seen.count(day);
    tracing::warn!(day = %day.to, expected = total, held, "the day could not be read completely");
    Ok(DayReading { day: day.to, expected: total, held, complete: false, whole: false })
}

/// Makes the rows of a day match its total; reads the day again if that fails.
pub(crate) async fn reconcile_day(
    reader: &mut Reader<'_, '_>,
    day: &Slice,
    total: Option<u64>,
) -> Result<DayReading> {
    if match_total(reader, day, total).await? {
        Ok(complete_day(reader, day.to))
    } else {
        read_day_again(reader, day).await
    }
}

/// Makes the rows of a day match its total; returns whether they do.
async fn match_total(reader: &mut Reader<'_, '_>, day: &Slice, total: Option<u64>) -> Result<bool> {
    let mut left = most_requests(reader, day, total.unwrap_or(reader.range.seen.count(day)));
    if let Some(total) = total
        && rank_search::find(reader, day, total, i64::MAX, &mut left).await?
    {
        return Ok(true);
    }
    for _ in 0..MAX_SEARCHES {
        if left == 0 || reader.range.unordered {
            return Ok(false);
        }
        left -= 1;
        let PageRead::Rows(page) = reader.page(day, 0).await? else { return Ok(false) };
        if !reader.range.unordered {
            drop_skipped(reader, day, &page, true);
        }
        if reader.range.seen.count(day) == page.total {
            return Ok(true);
        }
        let last = page.rows.last().map_or(i64::MAX, |(id, _)| *id);
        if rank_search::find(reader, day, page.total, last, &mut left).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Requests that a search in a day with `rows` rows may take: the number that reading it again takes.
fn most_requests(reader: &Reader<'_, '_>, day: &Slice, rows: u64) -> u32 {
    let shares = reader.shares_now();
    let outline = Outline::unlisted(&day.filter, &shares, reader.plan);
    let again = DayRange { from: day.from, to: day.to, in_parts: rows > reader.reach() };
    u32::try_from(price_full_read(&[again], &|_| rows, &outline).max(LEAST_SEARCH)).unwrap_or(u32::MAX)
}

/// Removes known rows that a page would contain if still listed: between its rows, at the ends of days that it covers, and on days
/// that it passes over. A page from the top shows that nothing is above it; one with all rows, that nothing is below.
pub(crate) fn drop_skipped(reader: &mut Reader<'_, '_>, span: &Slice, page: &PageSeen, from_the_top: bool) {
    let days = days_of(page);
    let has_all = from_the_top && page.rows.len() as u64 >= page.total;
    for (at, (day, ids)) in days.iter().enumerate() {
        let (Some(first), Some(last)) = (ids.first(), ids.last()) else { continue };
        let newest = if at > 0 || from_the_top { i64::MAX } else { *first };
        let oldest = if at + 1 < days.len() || has_all { i64::MIN } else { *last };
        reader.range.seen.drop_between(&span.on(*day), oldest, newest, ids);
    }
    let top = if from_the_top { Some(span.to) } else { days.first().map(|(day, _)| *day) };
    let bottom = if has_all { Some(span.from) } else { days.last().map(|(day, _)| *day) };
    if let (Some(top), Some(bottom)) = (top, bottom) {
        let is_listed = |day: &Date| days.iter().any(|(listed, _)| listed == day);
        for empty in days_newest_first(bottom, top).filter(|day| !is_listed(day)) {
            reader.range.seen.drop_between(&span.on(empty), i64::MIN, i64::MAX, &[]);
        }
    }
}

fn days_of(page: &PageSeen) -> Vec<(Date, Vec<i64>)> {
    let days = page.rows.chunk_by(|(_, day), (_, next)| day == next);
    days.map(|rows| (rows[0].1, rows.iter().map(|(id, _)| *id).collect())).collect()
}
