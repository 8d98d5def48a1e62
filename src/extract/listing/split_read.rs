//! Reads in parts what one query cannot reach: a core, whose first and last days are beyond reach.
//!
//! No dimension is sure to be exhaustive, so a core is done when the distinct rows seen of it are as
//! many as its `total` says, and not before. What no part held is sought ([`super::residual`]); what is not found
//! stays a hole, which the proof finds and tells.
//!
//! Where rows move, a row that left after it was seen may hide one that no part held, so that no sum over parts proves
//! anything. Parts that hold every row between them and are within reach prove themselves one by one. Where there are none, days are
//! read one by one, and of each the rows below a page are held against what that page told ([`super::below_reach`]).

use super::below_reach::{Tail, look_below};
use super::date_walk::{Walked, walk_on};
use super::pager::{PageRead, PageSeen, Reader};
use super::residual;
use crate::extract::ExtractError;
use crate::extract::plan::cost;
use crate::extract::plan::cost::NEAR_REACH;
use crate::extract::plan::day_range::{Outline, set_cores_apart};
use crate::extract::query::histogram::Shares;
use crate::extract::query::slice::Slice;
use crate::extract::query::split;
use crate::extract::query::split::{Dimension, Part};
use jiff::civil::Date;
use std::collections::{BTreeMap, HashSet};

/// Rows expected of a cell by day; of days that are left out nothing is known.
pub(crate) type Expected = BTreeMap<Date, f64>;

/// What reading on in parts gave.
pub(crate) struct Split {
    /// The oldest day read.
    pub(crate) oldest: Date,
    /// Whether no row was passed over that was there all the time.
    pub(crate) is_whole: bool,
}

/// What shows that no row was passed over that was there all the time; the better the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Proof {
    /// Nothing does.
    Missing,
    /// As many rows were seen as there are, unless some moved meanwhile.
    Sum,
    /// Walks that left none out, over parts that hold every row between them.
    Parts,
}

/// A core, and what is known of it.
struct Core<'c> {
    slice: &'c Slice,
    /// Its rows.
    total: u64,
    expected: &'c Expected,
    /// Rows seen of its newest day that stand first in it.
    head: &'c HashSet<i64>,
    /// What stands below those.
    tail: Option<Tail>,
}

impl Core<'_> {
    /// Rows expected of its days.
    fn rows_by_day(&self) -> impl Iterator<Item = f64> + '_ {
        self.expected.range(self.slice.from..=self.slice.to).map(|(_, rows)| *rows)
    }

    /// Rows that were not seen; none is known where rows moved and nothing tells how many are left.
    fn unseen(&self, reader: &Reader<'_, '_>) -> Option<u64> {
        match &self.tail {
            Some(tail) if !reader.unordered => tail.unseen(&reader.seen, self.slice),
            _ if reader.drift.is_seen() => None,
            _ => Some(self.total.saturating_sub(reader.seen.count(self.slice))),
        }
    }
}

/// Reads a core of a listing.
pub(crate) async fn read_core(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
) -> Result<Walked, ExtractError> {
    // A page costs no more than a total and shows how rows are spread.
    let total = match reader.page(slice, 0).await? {
        PageRead::Rows(page) => page.total,
        PageRead::BeyondReach | PageRead::Refused => reader.total(slice).await?,
    };
    let core = Core { slice, total, expected, head: &HashSet::new(), tail: None };
    let is_whole = cut_outermost(reader, &core).await?;
    let doubtful = if is_whole { Vec::new() } else { vec![(slice.from, slice.to)] };
    Ok(Walked { total, doubtful })
}

/// Goes on where a walk ended because the newest day of what is left of its slice is beyond reach; `head` are the rows seen of that
/// day, which stand first in it, and `deepest` the day's last page within reach, where it was read. Reads that day in parts, with
/// those that are then expected beyond reach too, unless rows move.
pub(crate) async fn split(
    reader: &mut Reader<'_, '_>,
    left: &Slice,
    expected: &Expected,
    head: &HashSet<i64>,
    deepest: Option<PageSeen>,
) -> Result<Split, ExtractError> {
    let day = left.on(left.to);
    let (mut total, mut tail) = look_below(reader, &day, head, deepest).await?;
    let expected = &corrected(&day, expected, total);
    let shares = reader.shares_now();
    let outline = Outline { filter: &left.filter, shares: &shares, is_listed: false, plan: reader.plan };
    let rows = |day: Date| expected.get(&day).copied().unwrap_or(0.0);
    let stretches = set_cores_apart((left.from, left.to), &rows, &outline);
    let oldest = stretches.first().filter(|_| !reader.drift.is_likely()).map_or(left.to, |core| core.from);
    let slice = &left.between(oldest, left.to);
    if !slice.is_one_day() {
        (total, tail) = (reader.total(slice).await?, None);
    }
    let is_whole = cut_outermost(reader, &Core { slice, total, expected, head, tail }).await?;
    Ok(Split { oldest, is_whole })
}

/// Cuts a core that is no part of another; says whether it passed over no row that was there all the time. Rows may have moved in one
/// part while others were read; where a sum is all the proof there is, the total tells.
async fn cut_outermost(reader: &mut Reader<'_, '_>, core: &Core<'_>) -> Result<bool, ExtractError> {
    let proof = cut(reader, core).await?;
    if proof != Proof::Sum || core.tail.is_some() {
        return Ok(proof != Proof::Missing);
    }
    // Of several days, what one lost may hide what another got.
    let is_sound = core.slice.is_one_day() || !reader.drift.is_likely();
    if !reader.drift.is_seen() && reader.total(core.slice).await? != core.total {
        reader.drift.note();
    }
    Ok(is_sound && !reader.drift.is_seen())
}

/// Whether the days of a core are expected to be within reach under each sector.
pub(crate) fn stands_on_sectors(
    reader: &Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    shares: &Shares,
) -> bool {
    let core = Core { slice, total: 0, expected, head: &HashSet::new(), tail: None };
    let sectors = parts(reader, &core, Dimension::Sector, shares);
    Dimension::Sector.applies(&slice.filter) && are_within_reach(reader, slice, &sectors)
}

fn are_within_reach(reader: &Reader<'_, '_>, slice: &Slice, parts: &[(Slice, Expected)]) -> bool {
    let near = f64::from(reader.plan.reach_rows()) * NEAR_REACH;
    let is_near = |rows: &Expected| rows.range(slice.from..=slice.to).all(|(_, rows)| *rows <= near);
    parts.iter().all(|(_, rows)| is_near(rows))
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
async fn cut(reader: &mut Reader<'_, '_>, core: &Core<'_>) -> Result<Proof, ExtractError> {
    reader.narrow();
    let shares = match reader.hinted(core.slice) {
        Some(hinted) => hinted,
        None if core.slice.is_one_day() => reader.shares_of_day(core.slice),
        None => reader.shares_now(),
    };
    let way = way_to_cut(reader, core, &shares);
    tracing::debug!(core = %core.slice, core.total, ?way, "read in parts");
    let is_exhaustive =
        way.is_some_and(Dimension::is_exhaustive) && shares.sector.keys().all(|key| reader.words.lists(key));
    let parts = way.map_or_else(Vec::new, |way| parts(reader, core, way, &shares));
    let stands_on_parts = is_exhaustive && are_within_reach(reader, core.slice, &parts);
    let mut proof = if is_exhaustive { Proof::Parts } else { Proof::Missing };
    for (part, rows) in parts {
        match core.unseen(reader) {
            Some(0) if !stands_on_parts => return Ok(Proof::Sum),
            None if !stands_on_parts && core.tail.is_none() => return Ok(Proof::Missing),
            _ => {}
        }
        reader.seeking.note_asked(&part);
        proof = proof.min(Box::pin(read_range(reader, &part, &rows, core.head)).await?);
    }
    // Where rows are likely to move and parts prove themselves, what was not seen has left.
    let may_be_found = proof < Proof::Parts || !reader.drift.is_likely();
    if let Some(unseen) = core.unseen(reader).filter(|unseen| *unseen > 0 && may_be_found) {
        find_rest(reader, core, unseen).await?;
    }
    Ok(match core.unseen(reader) {
        _ if proof == Proof::Parts => Proof::Parts,
        Some(0) => Proof::Sum,
        _ => Proof::Missing,
    })
}

/// Seeks the rows of a core that no part held, unless they are likely to have left before they were read.
async fn find_rest(reader: &mut Reader<'_, '_>, core: &Core<'_>, unseen: u64) -> Result<(), ExtractError> {
    if reader.total(core.slice).await? != core.total {
        reader.drift.note();
        return Ok(());
    }
    // Of a day that was read as deep as pages reach, nothing is left to find by rank.
    let by_rank = core.head.is_empty() || !core.slice.is_one_day();
    let total = reader.seen.count(core.slice) + unseen;
    residual::find(reader, core.slice, total, by_rank).await
}

/// The dimension along which a core is cut: where rows move, one that holds every row, if there is any; else the cheapest.
fn way_to_cut(reader: &Reader<'_, '_>, core: &Core<'_>, shares: &Shares) -> Option<Dimension> {
    let filter = &core.slice.filter;
    if reader.drift.is_likely() && Dimension::Sector.applies(filter) {
        return Some(Dimension::Sector);
    }
    let days: Vec<f64> = core.rows_by_day().collect();
    let is_listed = reader.hinted(core.slice).is_some();
    cost::cut(&days, &Outline { filter, shares, is_listed, plan: reader.plan })
}

/// The parts of a core with the rows expected of each: the largest first, but those that are to be cut again when the others have
/// taught what addresses there are, and those without any rows last.
fn parts(
    reader: &Reader<'_, '_>,
    core: &Core<'_>,
    way: Dimension,
    shares: &Shares,
) -> Vec<(Slice, Expected)> {
    let near = f64::from(reader.plan.reach_rows()) * NEAR_REACH;
    let order = |part: &Part| {
        let is_deep = core.rows_by_day().any(|rows| rows * part.share > near);
        (part.share * (core.total as f64) < 0.5, is_deep)
    };
    let unseen = core.total.saturating_sub(reader.seen.count(core.slice));
    let mut parts = split::parts(&core.slice.filter, way, unseen, reader.words, shares);
    // A stable sort keeps the largest first among equals.
    parts.sort_by_key(order);
    let of_part = |share: f64| core.expected.iter().map(|(day, rows)| (*day, rows * share)).collect();
    parts.into_iter().map(|part| (core.slice.under(part.filter), of_part(part.share))).collect()
}

/// Reads a part of a core: its own days beyond reach in parts again.
async fn read_range(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    head: &HashSet<i64>,
) -> Result<Proof, ExtractError> {
    let shares = reader.shares_now();
    let near = |day: Date| expected.get(&day).copied().unwrap_or(0.0) / NEAR_REACH;
    let outline = Outline { filter: &slice.filter, shares: &shares, is_listed: false, plan: reader.plan };
    let mut proof = Proof::Parts;
    for stretch in set_cores_apart((slice.from, slice.to), &near, &outline) {
        let slice = &slice.between(stretch.from, stretch.to);
        proof = proof.min(if stretch.in_parts {
            let total = reader.total(slice).await?;
            cut(reader, &Core { slice, total, expected, head, tail: None }).await?
        } else if walk_on(reader, slice, expected, head).await?.doubtful.is_empty() {
            Proof::Parts
        } else {
            Proof::Missing
        });
    }
    Ok(proof)
}
