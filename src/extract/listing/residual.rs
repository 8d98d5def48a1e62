//! Finds the rows of a cell that none of its parts held: addresses elsewhere, under ZIP prefixes that nobody asked for, or none.
//!
//! First the prefixes that rows seen since have taught, each over the whole cell; then single rows, by halving the days where totals and
//! rows seen differ and by rank within a day, each of which may teach a prefix more; then, for rows that stand deeper than
//! pages reach, the starts of names and every ZIP prefix there is.

use super::date_walk::walk;
use super::pager::{PageRead, Reader};
use super::rank_search;
use crate::contract::eastern::minus_days;
use crate::extract::ExtractError;
use crate::extract::plan::cost::{by_ranks, by_starts, until_found};
use crate::extract::query::slice::{Filter, Slice};
use crate::extract::query::split::{LEAST_ROWS, everywhere, known_elsewhere, name_starts, under_zip};
use std::collections::HashSet;

/// What the parts of a stretch know of each other.
pub(crate) struct Seeking {
    /// Queries by ZIP prefix or city that were read.
    asked: HashSet<String>,
    /// Requests left for single rows that no part held. What is not found is told as missing; what was found teaches the next run.
    left: u32,
    /// Rows that were sought in vain: whoever seeks in a wider cell would miss the same.
    given_up: u64,
}

/// Requests for finding single rows of a stretch of days.
const MOST_SEEKING: u32 = 3_000;

/// Pages in which a row that is missing is found by its rank.
const RANK_PAGES: u64 = 8;

impl Default for Seeking {
    fn default() -> Self {
        Self { asked: HashSet::new(), left: MOST_SEEKING, given_up: 0 }
    }
}

impl Seeking {
    /// Remembers that a part is read, so that it is not sought again.
    pub(crate) fn note_asked(&mut self, part: &Slice) {
        if part.filter.zip.is_some() || part.filter.city.is_some() {
            self.asked.insert(part.to_string());
        }
    }

    fn is_asked(&self, part: &Slice) -> bool {
        self.asked.contains(&part.to_string())
    }

    fn spend(&mut self, requests: u64) {
        self.left = self.left.saturating_sub(u32::try_from(requests).unwrap_or(u32::MAX));
    }
}

/// Seeks the rows of a cell that were not seen yet.
pub(crate) async fn find(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    total: u64,
    by_rank: bool,
) -> Result<(), ExtractError> {
    if !is_wanted(reader, cell, total) {
        return Ok(());
    }
    tracing::debug!(%cell, total, missing = missing(reader, cell, total), "rows are sought that no part held");
    ask_elsewhere(reader, cell, total, LEAST_ROWS, by_ranks).await?;
    if by_rank {
        seek(reader, cell, (cell, total), total).await?;
    }
    ask_elsewhere(reader, cell, total, 0.0, by_starts).await?;
    ask_starts(reader, cell, total).await?;
    ask_everywhere(reader, cell, total).await?;
    reader.seeking.given_up = reader.seeking.given_up.max(missing(reader, cell, total));
    Ok(())
}

fn missing(reader: &Reader<'_, '_>, cell: &Slice, total: u64) -> u64 {
    total.saturating_sub(reader.seen.count(cell))
}

/// Whether rows are missing that are worth looking for: not where rows move and no total can fit.
fn is_wanted(reader: &Reader<'_, '_>, cell: &Slice, total: u64) -> bool {
    let missing = missing(reader, cell, total);
    reader.seeking.left > 0 && !reader.drift.is_seen() && missing > reader.seeking.given_up
}

/// Reads the cell under the ZIP prefixes and cities elsewhere that were not asked for and are likely to hold more than `least` rows of
/// it, until that takes more requests than finding so many rows as are missing would otherwise.
async fn ask_elsewhere(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    total: u64,
    least: f64,
    otherwise: fn(f64) -> f64,
) -> Result<(), ExtractError> {
    if cell.filter.zip.is_some() || cell.filter.city.is_some() {
        return Ok(());
    }
    loop {
        let shares = reader.hinted(cell).unwrap_or_else(|| reader.shares_now());
        let known = known_elsewhere(&cell.filter, &shares).into_iter();
        let known = known.filter(|part| part.share * total as f64 > least);
        let parts = known.map(|part| (cell.under(part.filter), part.share));
        let (parts, weights): (Vec<Slice>, Vec<f64>) =
            parts.filter(|(part, _)| !reader.seeking.is_asked(part)).unzip();
        if parts.is_empty() {
            return Ok(());
        }
        for (at, part) in parts.iter().enumerate() {
            let rows = missing(reader, cell, total) as f64;
            if !is_wanted(reader, cell, total) || otherwise(rows) < until_found(&weights[at..], rows) {
                return Ok(());
            }
            reader.seeking.spend(1);
            reader.seeking.note_asked(part);
            Box::pin(walk(reader, part)).await?;
        }
    }
}

/// Finds rows of a slice of `whole` that were not seen yet: halves the days where totals and rows seen differ, reads what is
/// small, and looks in single days by rank. What is found may tell of a prefix that holds more.
async fn seek(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    whole: (&Slice, u64),
    total: u64,
) -> Result<(), ExtractError> {
    if !is_wanted(reader, slice, total) {
        return Ok(());
    }
    let pages = reader.plan.pages_for(total);
    let missing = missing(reader, slice, total);
    let within_reach = total <= u64::from(reader.plan.reach_rows());
    if pages <= 2 || (within_reach && pages <= missing) {
        reader.seeking.spend(pages);
        Box::pin(walk(reader, slice)).await?;
        return ask_elsewhere(reader, whole.0, whole.1, LEAST_ROWS, by_ranks).await;
    }
    if slice.is_one_day() {
        return seek_in_day(reader, slice, whole, total).await;
    }
    let middle = minus_days(slice.to, slice.days() / 2 - 1);
    let newer = slice.between(middle, slice.to);
    let older = slice.between(slice.from, minus_days(middle, 1));
    reader.seeking.spend(1);
    let newer_total = reader.total(&newer).await?;
    Box::pin(seek(reader, &newer, whole, newer_total)).await?;
    Box::pin(seek(reader, &older, whole, total.saturating_sub(newer_total))).await
}

async fn seek_in_day(
    reader: &mut Reader<'_, '_>,
    day: &Slice,
    whole: (&Slice, u64),
    total: u64,
) -> Result<(), ExtractError> {
    let pages = reader.plan.pages_for(total);
    let wanted = missing(reader, day, total).saturating_mul(RANK_PAGES).min(pages).max(RANK_PAGES);
    let granted = (wanted as u32).min(reader.seeking.left);
    let mut left = granted;
    rank_search::look_for(reader, day, Some(total), i64::MAX, &mut left).await?;
    reader.seeking.spend(u64::from(granted - left));
    if total <= u64::from(reader.plan.reach_rows()) && is_wanted(reader, day, total) {
        reader.seeking.spend(pages);
        Box::pin(walk(reader, day)).await?;
    }
    ask_elsewhere(reader, whole.0, whole.1, LEAST_ROWS, by_ranks).await
}

/// Asks for the starts of names, those of the rows seen first; where a start has more rows than were seen, they are sought.
async fn ask_starts(reader: &mut Reader<'_, '_>, cell: &Slice, total: u64) -> Result<(), ExtractError> {
    if cell.filter.name_start.is_some() || !is_wanted(reader, cell, total) {
        return Ok(());
    }
    let rows = reader.seen.rows_of(cell.from, cell.to).filter(|row| cell.filter.matches(row));
    for start in name_starts(rows) {
        if !is_wanted(reader, cell, total) {
            return Ok(());
        }
        reader.seeking.spend(1);
        let part = cell.under(Filter { name_start: Some(start), ..cell.filter.clone() });
        if let PageRead::Rows(page) = reader.page(&part, 0).await? {
            seek(reader, &part, (cell, total), page.total).await?;
        }
    }
    Ok(())
}

async fn ask_everywhere(reader: &mut Reader<'_, '_>, cell: &Slice, total: u64) -> Result<(), ExtractError> {
    if cell.filter.zip.is_some() || !is_wanted(reader, cell, total) {
        return Ok(());
    }
    for zip in everywhere(&reader.shares_now()) {
        let part = cell.under(under_zip(&cell.filter, zip));
        if reader.seeking.is_asked(&part) {
            continue;
        }
        if !is_wanted(reader, cell, total) {
            return Ok(());
        }
        reader.seeking.spend(1);
        reader.seeking.note_asked(&part);
        Box::pin(walk(reader, &part)).await?;
    }
    Ok(())
}
