//! Reads in parts what one query cannot reach: a core, whose first and last days are beyond reach.
//!
//! No dimension is sure to be exhaustive, so a core is done when the distinct rows seen of it are as
//! many as its `total` says, and not before. What no part held is sought ([`super::rest`]); what is not found
//! stays a hole, which the proof finds and tells.

use super::ExtractError;
use super::narrow::{self, Part};
use super::planner::{self, NEAR_REACH};
use super::reader::{PageRead, Reader};
use super::rest;
use super::slice::Slice;
use super::stretch::{Outline, set_cores_apart};
use super::walk::walk_on;
use jiff::civil::Date;
use std::collections::{BTreeMap, HashSet};

/// Rows expected of a cell by day; of days that are left out nothing is known.
pub(super) type Expected = BTreeMap<Date, f64>;

/// Reads a core of a listing. Gives its total.
pub(super) async fn read_core(
    reader: &mut Reader<'_, '_>,
    core: &Slice,
    expected: &Expected,
) -> Result<u64, ExtractError> {
    // A page costs no more than a total and shows how rows are spread.
    let total = match reader.page(core, 0).await? {
        PageRead::Rows(page) => page.total,
        PageRead::BeyondReach => reader.total(core).await?,
    };
    cut(reader, core, total, expected, &HashSet::new()).await?;
    Ok(total)
}

/// Goes on where a walk ended because the newest day of what is left of its slice is beyond reach; `head` are the rows seen of that
/// day, which stand first in it. Reads that day, with those that are then expected beyond reach too, in parts. Gives the oldest day read.
pub(super) async fn split(
    reader: &mut Reader<'_, '_>,
    left: &Slice,
    expected: &Expected,
    head: &HashSet<i64>,
) -> Result<Date, ExtractError> {
    let day = left.on(left.to);
    let mut total = reader.total(&day).await?;
    let expected = corrected(&day, expected, total);
    let shares = reader.shares_now();
    let outline = Outline { filter: &left.filter, shares: &shares, plan: reader.plan };
    let rows = |day: Date| expected.get(&day).copied().unwrap_or(0.0);
    let stretches = set_cores_apart((left.from, left.to), &rows, &outline);
    let core = left.between(stretches.first().map_or(left.to, |core| core.from), left.to);
    if !core.is_one_day() {
        total = reader.total(&core).await?;
    }
    cut(reader, &core, total, &expected, head).await?;
    Ok(core.from)
}

/// What is expected, now that a day turned out to hold so many rows.
fn corrected(day: &Slice, expected: &Expected, total: u64) -> Expected {
    let total = total as f64;
    let factor = expected.get(&day.to).filter(|rows| **rows > 0.0).map_or(1.0, |rows| total / rows);
    let mut corrected: Expected = expected.iter().map(|(day, rows)| (*day, rows * factor)).collect();
    corrected.insert(day.to, total);
    corrected
}

/// Reads a core along the dimension that wastes least, and then whatever is still missing.
async fn cut(
    reader: &mut Reader<'_, '_>,
    core: &Slice,
    total: u64,
    expected: &Expected,
    head: &HashSet<i64>,
) -> Result<(), ExtractError> {
    reader.narrow();
    for (part, rows) in parts(reader, core, total, expected) {
        if reader.seen.count(core) >= total {
            return Ok(());
        }
        reader.seeking.note_asked(&part);
        Box::pin(read_range(reader, &part, &rows, head)).await?;
    }
    // Of a day that was read as deep as pages reach, nothing is left to find by rank.
    let by_rank = head.is_empty() || !core.is_one_day();
    rest::find(reader, core, total, by_rank).await
}

/// The parts of a core with the rows expected of each: the largest first, but those that are to be cut again when the others have
/// taught what addresses there are, and those without any rows last.
fn parts(reader: &Reader<'_, '_>, core: &Slice, total: u64, expected: &Expected) -> Vec<(Slice, Expected)> {
    let shares = match core.is_one_day() {
        true => reader.shares_of_day(core),
        false => reader.shares_now(),
    };
    let outline = Outline { filter: &core.filter, shares: &shares, plan: reader.plan };
    let days: Vec<f64> = expected.range(core.from..=core.to).map(|(_, rows)| *rows).collect();
    let Some(way) = planner::cut(&days, &outline) else {
        return Vec::new();
    };
    tracing::debug!(%core, total, ?way, "read in parts");
    let near = f64::from(reader.plan.reach_rows()) * NEAR_REACH;
    let order = |part: &Part| {
        let is_deep = days.iter().any(|rows| rows * part.share > near);
        (part.share * (total as f64) < 0.5, is_deep)
    };
    let unseen = total.saturating_sub(reader.seen.count(core));
    let mut parts = narrow::parts(&core.filter, way, unseen, reader.words, &shares);
    // A stable sort keeps the largest first among equals.
    parts.sort_by_key(order);
    let of_part = |share: f64| expected.iter().map(|(day, rows)| (*day, rows * share)).collect();
    parts.into_iter().map(|part| (core.under(part.filter), of_part(part.share))).collect()
}

/// Reads a part of a core: its own days beyond reach in parts again.
async fn read_range(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    head: &HashSet<i64>,
) -> Result<(), ExtractError> {
    let shares = reader.shares_now();
    let near = |day: Date| expected.get(&day).copied().unwrap_or(0.0) / NEAR_REACH;
    let outline = Outline { filter: &slice.filter, shares: &shares, plan: reader.plan };
    for stretch in set_cores_apart((slice.from, slice.to), &near, &outline) {
        let slice = slice.between(stretch.from, stretch.to);
        if stretch.in_parts {
            let total = reader.total(&slice).await?;
            cut(reader, &slice, total, expected, head).await?;
        } else {
            walk_on(reader, &slice, expected, head).await?;
        }
    }
    Ok(())
}
