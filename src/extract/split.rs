//! Reads a cell in parts and closes the gap between what the parts gave and what the whole holds.
//!
//! No dimension is sure to be exhaustive, so a cell is done when the distinct rows seen of it are as
//! many as its `total` says, and not before.

use super::ExtractError;
use super::planner;
use super::reader::{PageRead, Reader};
use super::slice::Slice;
use super::walk::walk;
use crate::contract::eastern::{minus_days, plus_days};
use std::collections::HashSet;

/// Reads a range of days that holds days beyond reach: the whole range under each value of one dimension, then
/// whatever is still missing.
pub(super) async fn read_in_parts(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    heaviest_day: u64,
) -> Result<u64, ExtractError> {
    let total = reader.total(slice).await?;
    let dimension = planner::partition(&slice.filter, heaviest_day, reader.shares, reader.plan);
    let parts = planner::narrower(&slice.filter, dimension, reader.words, reader.shares, std::iter::empty());
    for part in parts {
        if reader.seen.count(slice) >= total {
            return Ok(total);
        }
        walk(reader, &slice.under(part)).await?;
    }
    Box::pin(close_gap(reader, slice, total)).await?;
    Ok(total)
}

/// Reads one day's cell that is beyond reach. `newest` are rows that stand first in it: a narrower query keeps the
/// order, so as many rows of it as `newest` holds are skipped.
pub(super) async fn split_day(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    newest: &HashSet<i64>,
) -> Result<(), ExtractError> {
    let total = match reader.page(cell, 0).await? {
        PageRead::Rows(page) => page.total,
        PageRead::BeyondReach => return Ok(()),
    };
    Box::pin(split_cell(reader, cell, total, newest)).await
}

async fn split_cell(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    total: u64,
    newest: &HashSet<i64>,
) -> Result<(), ExtractError> {
    for dimension in planner::dimensions(&cell.filter, total, reader.shares, reader.plan) {
        let seen = reader.seen.rows_of(cell.from, cell.to);
        let parts = planner::narrower(&cell.filter, dimension, reader.words, reader.shares, seen);
        for filter in parts {
            if reader.seen.count(cell) >= total {
                return Ok(());
            }
            read_part(reader, &cell.under(filter), newest).await?;
        }
    }
    // Rows that no dimension reached stay a hole, which the proof finds and tells.
    Ok(())
}

async fn read_part(
    reader: &mut Reader<'_, '_>,
    part: &Slice,
    newest: &HashSet<i64>,
) -> Result<(), ExtractError> {
    let skipped = rows_among(reader, part, newest);
    let mut offset = skipped.min(reader.plan.max_offset);
    loop {
        let PageRead::Rows(page) = reader.page(part, offset).await? else {
            break;
        };
        if reader.seen.count(part) >= page.total {
            return Ok(());
        }
        offset += page.rows.len() as u32;
        let reach = u64::from(reader.plan.reach_rows());
        if page.total > reach && offset + reader.plan.rows_per_call > reader.plan.max_offset {
            let total = page.total;
            return Box::pin(split_cell(reader, part, total, newest)).await;
        }
        if page.rows.is_empty() || u64::from(offset) >= page.total {
            break;
        }
    }
    // The order was not inherited after all, or rows moved: read the part from its beginning.
    if skipped > 0 {
        Box::pin(walk(reader, part)).await?;
    }
    Ok(())
}

fn rows_among(reader: &Reader<'_, '_>, part: &Slice, ids: &HashSet<i64>) -> u32 {
    reader
        .seen
        .rows_of(part.from, part.to)
        .filter(|row| ids.contains(&row.id) && part.filter.matches(row))
        .count() as u32
}

/// Finds the rows of a slice that were not seen yet: halves the days where totals and rows seen differ, reads what is
/// small, and narrows single days.
pub(super) async fn close_gap(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
) -> Result<(), ExtractError> {
    let seen = reader.seen.count(slice);
    if seen >= total {
        return Ok(());
    }
    let missing = total - seen;
    let pages = reader.plan.pages_for(total);
    if pages <= 2 || (pages <= missing && total <= u64::from(reader.plan.reach_rows())) {
        Box::pin(walk(reader, slice)).await?;
        return Ok(());
    }
    if slice.is_one_day() {
        if total > u64::from(reader.plan.reach_rows()) {
            return Box::pin(split_cell(reader, slice, total, &HashSet::new())).await;
        }
        Box::pin(walk(reader, slice)).await?;
        return Ok(());
    }
    let middle = minus_days(slice.to, slice.days() / 2 - 1);
    let newer = slice.between(middle, slice.to);
    let older = slice.between(slice.from, minus_days(middle, 1));
    debug_assert_eq!(plus_days(older.to, 1), newer.from);
    let newer_total = reader.total(&newer).await?;
    Box::pin(close_gap(reader, &newer, newer_total)).await?;
    Box::pin(close_gap(reader, &older, total.saturating_sub(newer_total))).await
}
