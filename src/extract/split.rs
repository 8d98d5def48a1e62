//! Reads a cell in parts and closes the gap between what the parts gave and what the whole holds.
//!
//! No dimension is sure to be exhaustive, so a cell is done when the distinct rows seen of it are as
//! many as its `total` says, and not before. Rows that no dimension reached stay a hole, which the proof
//! finds and tells.

use super::ExtractError;
use super::planner::{self, Dimension};
use super::rank;
use super::reader::{PageRead, Reader};
use super::slice::Slice;
use super::walk::walk;
use crate::contract::eastern::minus_days;
use std::collections::HashSet;

/// What narrower cells know of the cell they are part of.
#[derive(Default)]
struct Wider<'a> {
    /// Rows that stand first in it. A narrower query keeps the order, so as many rows of it as are among these are skipped.
    newest: Option<&'a HashSet<i64>>,
    /// Dimensions that gave all they have.
    exhausted: Vec<Dimension>,
    /// Requests left for finding single rows that no part held: by rank, and along dimensions of the last resort. Nested in one
    /// another these would take tens of thousands. What is not found is told as missing; what was found teaches the next run.
    left: u32,
}

/// Requests for finding single rows of a range of days or of one day, at least; else as many as it has pages.
const LEAST_SEARCH: u64 = 3_000;

/// Pages in which a row that is missing is found by its rank.
const RANK_PAGES: u64 = 8;

/// Reads a range of days that holds days beyond reach: the whole range under each value of one dimension, then
/// whatever is still missing. Gives the range's total.
pub(super) async fn read_in_parts(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    rows_by_day: &[u64],
) -> Result<u64, ExtractError> {
    reader.narrowed = true;
    let total = reader.total(slice).await?;
    let dimension = planner::partition(&slice.filter, rows_by_day, reader.words, reader.shares, reader.plan);
    let unseen = std::iter::empty();
    let parts = planner::narrower(&slice.filter, dimension, total, reader.words, reader.shares, unseen);
    for part in parts {
        if reader.seen.count(slice) >= total {
            return Ok(total);
        }
        walk(reader, &slice.under(part)).await?;
    }
    let left = reader.plan.pages_for(total).max(LEAST_SEARCH) as u32;
    let mut wider = Wider { left, ..Wider::default() };
    close_gap(reader, slice, total, &mut wider).await?;
    Ok(total)
}

/// Reads one day's cell that is beyond reach; `newest` are the rows that stand first in it.
pub(super) async fn split_day(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    newest: &HashSet<i64>,
) -> Result<(), ExtractError> {
    reader.narrowed = true;
    let total = match reader.page(cell, 0).await? {
        PageRead::Rows(page) => page.total,
        PageRead::BeyondReach => return Ok(()),
    };
    let left = reader.plan.pages_for(total).max(LEAST_SEARCH) as u32;
    let mut wider = Wider { newest: Some(newest), left, ..Wider::default() };
    split_cell(reader, cell, total, &mut wider).await
}

async fn split_cell(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    total: u64,
    wider: &mut Wider<'_>,
) -> Result<(), ExtractError> {
    let outer = wider.exhausted.len();
    let dimensions =
        planner::dimensions(&cell.filter, total, &wider.exhausted, reader.words, reader.shares, reader.plan);
    for dimension in dimensions {
        if dimension.is_last_resort() && (reader.drifted || wider.left == 0) {
            break;
        }
        let seen = reader.seen.rows_of(cell.from, cell.to);
        let parts = planner::narrower(&cell.filter, dimension, total, reader.words, reader.shares, seen);
        for filter in parts {
            if reader.seen.count(cell) >= total {
                break;
            }
            if dimension.is_last_resort() {
                let Some(left) = wider.left.checked_sub(1) else { break };
                wider.left = left;
            }
            Box::pin(read_part(reader, &cell.under(filter), wider)).await?;
        }
        wider.exhausted.push(dimension);
    }
    wider.exhausted.truncate(outer);
    Ok(())
}

/// Reads one part of a day's cell, as far as it holds rows not seen yet.
async fn read_part(
    reader: &mut Reader<'_, '_>,
    part: &Slice,
    wider: &mut Wider<'_>,
) -> Result<(), ExtractError> {
    let skipped = wider.newest.map_or(0, |newest| rows_among(reader, part, newest));
    let mut offset = skipped.min(reader.plan.max_offset);
    while let PageRead::Rows(page) = reader.page(part, offset).await? {
        if reader.seen.count(part) >= page.total {
            return Ok(());
        }
        offset += page.rows.len() as u32;
        if page.rows.is_empty() || u64::from(offset) >= page.total {
            break;
        }
        if page.total > u64::from(reader.plan.reach_rows()) && offset > reader.plan.max_offset {
            return split_cell(reader, part, page.total, wider).await;
        }
    }
    // The order was not inherited after all, or rows moved: read the part from its beginning.
    if skipped > 0 {
        Box::pin(walk(reader, part)).await?;
    }
    Ok(())
}

fn rows_among(reader: &Reader<'_, '_>, part: &Slice, ids: &HashSet<i64>) -> u32 {
    let rows = reader.seen.rows_of(part.from, part.to);
    rows.filter(|row| ids.contains(&row.id) && part.filter.matches(row)).count() as u32
}

/// Finds the rows of a slice that were not seen yet: halves the days where totals and rows seen differ, reads what is
/// small, and looks in single days by rank and then along every dimension.
async fn close_gap(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
    wider: &mut Wider<'_>,
) -> Result<(), ExtractError> {
    let missing = total.saturating_sub(reader.seen.count(slice));
    if missing == 0 || reader.drifted || wider.left == 0 {
        return Ok(());
    }
    let pages = reader.plan.pages_for(total);
    let within_reach = total <= u64::from(reader.plan.reach_rows());
    if pages <= 2 || (within_reach && (pages <= missing || slice.is_one_day())) {
        Box::pin(walk(reader, slice)).await?;
        return Ok(());
    }
    if slice.is_one_day() {
        let wanted = missing.saturating_mul(RANK_PAGES).min(pages).max(RANK_PAGES) as u32;
        let mut left = wanted.min(wider.left);
        let granted = left;
        let found = rank::find(reader, slice, Some(total), i64::MAX, &mut left).await?.is_some();
        wider.left -= granted - left;
        if found || reader.drifted || wider.left == 0 {
            return Ok(());
        }
        return split_cell(reader, slice, total, wider).await;
    }
    let middle = minus_days(slice.to, slice.days() / 2 - 1);
    let newer = slice.between(middle, slice.to);
    let older = slice.between(slice.from, minus_days(middle, 1));
    let newer_total = reader.total(&newer).await?;
    Box::pin(close_gap(reader, &newer, newer_total, wider)).await?;
    Box::pin(close_gap(reader, &older, total.saturating_sub(newer_total), wider)).await
}
