//! Reads a cell in parts and closes the gap between what the parts gave and what the whole holds.
//!
//! No dimension is sure to be exhaustive, so a cell is done when the distinct rows seen of it are as
//! many as its `total` says, and not before. Rows that no dimension reached stay a hole, which the proof
//! finds and tells.

use super::ExtractError;
use super::planner::{self, Dimension, Shares, Way};
use super::rank::{self, Depth};
use super::reader::{PageRead, Reader};
use super::slice::{Filter, Slice};
use super::walk::walk;
use crate::contract::eastern::{minus_days, plus_days};
use std::collections::HashSet;

/// What narrower cells know of the cell they are part of.
#[derive(Default)]
struct Wider<'a> {
    /// Rows that stand first in it. A narrower query keeps the order, so as many rows of it as are among these are skipped.
    newest: Option<&'a HashSet<i64>>,
    /// Dimensions that gave all they have.
    exhausted: Vec<Dimension>,
}

/// Reads a range of days that holds days beyond reach in the way that costs least, then whatever is still missing. Gives the range's
/// total.
pub(super) async fn read_in_parts(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    rows_by_day: &[f64],
) -> Result<u64, ExtractError> {
    reader.narrowed = true;
    read_cell(reader, slice, rows_by_day).await?;
    let total = reader.total(slice).await?;
    close_gap(reader, slice, total).await?;
    Ok(total)
}

/// Reads a range of days under one filter; `rows_by_day` are the rows expected of it, oldest day first.
async fn read_cell(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    rows_by_day: &[f64],
) -> Result<(), ExtractError> {
    let shares = shares_by_now(reader, slice);
    let (way, _) = planner::cheapest_way(&slice.filter, rows_by_day, reader.words, &shares, reader.plan);
    let Way::Parts(dimension) = way else {
        return walk(reader, slice).await.map(|_| ());
    };
    let reach = f64::from(reader.plan.reach_rows());
    let (first, last) = core(rows_by_day, reach);
    let core = slice.between(plus_days(slice.from, first), plus_days(slice.from, last));
    if core.to < slice.to {
        walk(reader, &slice.between(plus_days(core.to, 1), slice.to)).await?;
    }
    read_core(reader, &core, dimension, &rows_by_day[first as usize..=last as usize], &shares).await?;
    if slice.from < core.from {
        walk(reader, &slice.between(slice.from, minus_days(core.from, 1))).await?;
    }
    Ok(())
}

/// The first and the last day beyond reach.
fn core(rows_by_day: &[f64], reach: f64) -> (u32, u32) {
    // What is expected may be a little off, and a day beyond reach that is met on the way is dear.
    let heavy = |rows: &f64| *rows > 0.9 * reach;
    let first = rows_by_day.iter().position(heavy).unwrap_or(0);
    let last = rows_by_day.iter().rposition(heavy).unwrap_or(rows_by_day.len().saturating_sub(1));
    (first as u32, last as u32)
}

/// What is known of how rows are spread, those seen since the stretch began included.
fn shares_by_now(reader: &Reader<'_, '_>, slice: &Slice) -> Shares {
    let mut shares = reader.shares.clone();
    shares.learn(reader.seen.rows_of(slice.from, slice.to));
    shares
}

async fn read_core(
    reader: &mut Reader<'_, '_>,
    core: &Slice,
    dimension: Dimension,
    rows_by_day: &[f64],
    shares: &Shares,
) -> Result<(), ExtractError> {
    let rows = rows_by_day.iter().sum::<f64>() as u64;
    let parts = planner::narrower(&core.filter, dimension, rows, reader.words, shares, std::iter::empty());
    let mut parts: Vec<(Slice, Vec<f64>)> = parts
        .into_iter()
        .filter(|part| !planner::is_elsewhere(part) || core.filter.zip.is_some())
        .map(|part| {
            let share = shares.share(&part, dimension);
            (core.under(part), rows_by_day.iter().map(|day| day * share).collect())
        })
        .collect();
    // What is simple first: it teaches how rows are spread, which the rest is read by.
    let reach = f64::from(reader.plan.reach_rows());
    parts.sort_by_key(|(_, days)| days.iter().any(|day| *day > reach));
    for (part, days) in parts {
        Box::pin(read_cell(reader, &part, &days)).await?;
    }
    if dimension == Dimension::Zip && core.filter.zip.is_none() {
        read_elsewhere(reader, core).await?;
    }
    Ok(())
}

/// Reads what a cell holds beside the ZIP prefixes of Florida: the prefixes known elsewhere, the cities of rows without one, what
/// ranks tell, and at last what names begin with.
async fn read_elsewhere(reader: &mut Reader<'_, '_>, cell: &Slice) -> Result<(), ExtractError> {
    let total = reader.total(cell).await?;
    let shares = shares_by_now(reader, cell);
    let likely = planner::likely_elsewhere(total, &shares);
    let cities = planner::cities_without_zip(&shares);
    let of_zip = |zip: String| Filter { zip: Some(zip), ..cell.filter.clone() };
    let of_city = |city: String| Filter { city: Some(city), ..cell.filter.clone() };
    let known = likely.iter().cloned().map(of_zip).chain(cities.into_iter().map(of_city));
    if read_until(reader, cell, total, known).await? {
        return Ok(());
    }
    let lacking = find_missing(reader, cell, total).await?;
    let (Some((newest, _)), Some((oldest, _))) = (lacking.first(), lacking.last()) else { return Ok(()) };
    // Rows beyond reach under a prefix nobody knows: names begin in fewer ways than there are prefixes.
    let rest = cell.between(oldest.from, newest.to);
    let rows: u64 = rest_rows(reader, &rest, &lacking);
    let starts = planner::name_starts(reader.seen.rows_of(cell.from, cell.to));
    let of_start = |start: String| Filter { name_start: Some(start), ..cell.filter.clone() };
    read_until(reader, &rest, rows, starts.into_iter().map(of_start)).await?;
    Ok(())
}

/// Rows that a range of days will be seen to hold once those are found that some of its days lack.
fn rest_rows(reader: &Reader<'_, '_>, range: &Slice, lacking: &[(Slice, u64)]) -> u64 {
    let missing = lacking.iter().map(|(day, total)| total.saturating_sub(reader.seen.count(day)));
    reader.seen.count(range) + missing.sum::<u64>()
}

/// Walks parts of a cell until it is seen whole; says whether it is. Where rows move, those that went hide those that are
/// missing, and all parts are read.
async fn read_until(
    reader: &mut Reader<'_, '_>,
    cell: &Slice,
    total: u64,
    parts: impl Iterator<Item = Filter>,
) -> Result<bool, ExtractError> {
    for part in parts {
        if !reader.drifted && reader.seen.count(cell) >= total {
            return Ok(true);
        }
        walk(reader, &cell.under(part)).await?;
    }
    Ok(!reader.drifted && reader.seen.count(cell) >= total)
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
    let mut wider = Wider { newest: Some(newest), exhausted: Vec::new() };
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
        if reader.drifted && dimension.is_last_resort() {
            break;
        }
        let seen = reader.seen.rows_of(cell.from, cell.to);
        // The last rows of a day are worth a request for every prefix known.
        let rows = total.saturating_mul(1_000);
        let parts = planner::narrower(&cell.filter, dimension, rows, reader.words, reader.shares, seen);
        for filter in parts {
            if !reader.drifted && reader.seen.count(cell) >= total {
                break;
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

/// Finds the rows of a slice that were not seen yet; what ranks do not tell, single days read along every dimension may.
async fn close_gap(reader: &mut Reader<'_, '_>, slice: &Slice, total: u64) -> Result<(), ExtractError> {
    for (day, total) in find_missing(reader, slice, total).await? {
        if !reader.drifted && reader.seen.count(&day) < total {
            split_cell(reader, &day, total, &mut Wider::default()).await?;
        }
    }
    Ok(())
}

/// Halves the days where totals and rows seen differ, reads what is small, and looks for single rows by rank. Gives the days, with
/// their totals, that still lack some.
async fn find_missing(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
) -> Result<Vec<(Slice, u64)>, ExtractError> {
    let missing = total.saturating_sub(reader.seen.count(slice));
    if missing == 0 || reader.drifted {
        return Ok(Vec::new());
    }
    let pages = reader.plan.pages_for(total);
    let within_reach = total <= u64::from(reader.plan.reach_rows());
    if pages <= 2 || (within_reach && pages <= missing) {
        Box::pin(walk(reader, slice)).await?;
        return Ok(Vec::new());
    }
    if slice.is_one_day() {
        let mut left = missing.saturating_mul(8).min(pages).max(8) as u32;
        rank::find(reader, slice, Some(total), i64::MAX, Depth::Reach, &mut left).await?;
        let lacks = reader.seen.count(slice) < total;
        return Ok(if lacks { vec![(slice.clone(), total)] } else { Vec::new() });
    }
    let middle = minus_days(slice.to, slice.days() / 2 - 1);
    let newer = slice.between(middle, slice.to);
    let older = slice.between(slice.from, minus_days(middle, 1));
    let newer_total = reader.total(&newer).await?;
    let mut lacking = Box::pin(find_missing(reader, &newer, newer_total)).await?;
    lacking.extend(Box::pin(find_missing(reader, &older, total.saturating_sub(newer_total))).await?);
    Ok(lacking)
}
