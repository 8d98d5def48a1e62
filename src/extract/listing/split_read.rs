//! Reads a slice completely: date walks, and parts where a single day is over reach.
//!
//! Hot days are split along the dimension with the least cost. No dimension is sure to be exhaustive, so hot days are complete
//! when the distinct rows equal their total, and not before. Rows that no part returned are searched ([`super::residual`]). Rows that
//! are not found stay missing; the check finds the gap and reports it.
//!
//! Under drift, a row that left after it was read may hide a row that no part returned, so no sum over parts proves anything.
//! Parts that are exhaustive and within reach are checked one by one. Without such parts, days are read one by one, and the rows
//! below a page must match the number that this page showed ([`super::below_reach`]).

use super::below_reach::{Tail, look_below};
use super::date_walk::{End, Position, walk_within_reach};
use super::pager::{PageRead, PageSeen, Reader};
use super::range_state::{Expected, Walked};
use super::residual;
use crate::contract::eastern::minus_days;
use crate::extract::error::Result;
use crate::extract::plan::cost::{self, NEAR_REACH, Outline};
use crate::extract::plan::day_range::{DaySpan, separate_hot_days};
use crate::extract::query::histogram::Shares;
use crate::extract::query::slice::Slice;
use crate::extract::query::split::{self, Dimension, Part};
use hashbrown::HashSet;
use jiff::civil::Date;

/// Reads every row of a slice.
pub(crate) async fn walk(reader: &mut Reader<'_, '_>, slice: &Slice) -> Result<Walked> {
    walk_after(reader, slice, &Expected::new(), &HashSet::new()).await
}

/// Reads every row of a slice with known expected rows. `head` are rows of its newest day that a wider query has read: a narrower
/// query keeps their order, so those among them come first and are skipped.
pub(crate) async fn walk_after(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    head: &HashSet<i64>,
) -> Result<Walked> {
    let skipped = rows_among(reader, slice, head);
    let seen = if skipped > 0 { head.clone() } else { HashSet::new() };
    let mut at = Position::start(slice, skipped, seen);
    let mut doubtful = Vec::new();
    loop {
        match walk_within_reach(reader, slice, &mut at).await? {
            End::Listing => break,
            End::Adrift => {
                doubtful.push(DaySpan { from: slice.from, to: at.upper });
                break;
            }
            End::OverReach { deepest } => {
                let (left, head) = (slice.between(slice.from, at.upper), std::mem::take(&mut at.seen));
                // A page has the total of a day only when its query is that day.
                let deepest = deepest.filter(|_| left.is_one_day());
                let split = split(reader, &left, expected, &head, deepest);
                let (oldest, is_complete) = Box::pin(split).await?;
                if !is_complete {
                    doubtful.push(DaySpan { from: oldest, to: at.upper });
                }
                (at.upper, at.offset) = (minus_days(oldest, 1), 0);
            }
        }
    }
    Ok(Walked { total: at.total.unwrap_or(0), doubtful })
}

fn rows_among(reader: &Reader<'_, '_>, slice: &Slice, ids: &HashSet<i64>) -> u32 {
    let rows = ids.iter().filter_map(|id| reader.range.seen.row(*id));
    rows.filter(|row| slice.holds(row)).count() as u32
}

/// What proves that no row was missed that was there all the time; a greater value is a better proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Proof {
    Missing,
    /// The rows equal the total, unless some drifted.
    Sum,
    /// Walks without gaps over exhaustive parts.
    Parts,
}

/// Days that are read in parts, and what is known of them.
struct HotDays<'c> {
    slice: &'c Slice,
    total: u64,
    expected: &'c Expected,
    /// Rows already read of the newest day, which come first in it.
    head: &'c HashSet<i64>,
    /// The rows below those.
    tail: Option<Tail>,
}

impl HotDays<'_> {
    fn rows_by_day(&self) -> impl Iterator<Item = f64> + '_ {
        self.expected.range(self.slice.from..=self.slice.to).map(|(_, rows)| *rows)
    }

    /// Rows that were not read; none (unknown) under drift without a tail.
    fn unseen(&self, reader: &Reader<'_, '_>) -> Option<u64> {
        match &self.tail {
            Some(tail) if !reader.range.unordered => tail.unseen(&reader.range.seen, self.slice),
            _ if reader.range.drift.is_seen => None,
            _ => Some(self.total.saturating_sub(reader.range.seen.count(self.slice))),
        }
    }
}

pub(crate) async fn read_hot_days(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
) -> Result<Walked> {
    // A page takes one request, like a total, and also shows how rows are distributed.
    let total = match reader.page(slice, 0).await? {
        PageRead::Rows(page) => page.total,
        PageRead::OverReach | PageRead::Rejected => reader.total(slice).await?,
    };
    let days = HotDays { slice, total, expected, head: &HashSet::new(), tail: None };
    let is_complete = cut_outermost(reader, &days).await?;
    let doubtful = if is_complete { Vec::new() } else { vec![DaySpan { from: slice.from, to: slice.to }] };
    Ok(Walked { total, doubtful })
}

/// Reads the newest day of `left` in parts, together with other hot days unless drift is likely. `head` are the day's rows already read,
/// which come first in it. `deepest` is its last page within reach, if read. Returns the oldest day read, and whether no row that was
/// there all the time was missed.
async fn split(
    reader: &mut Reader<'_, '_>,
    left: &Slice,
    expected: &Expected,
    head: &HashSet<i64>,
    deepest: Option<PageSeen>,
) -> Result<(Date, bool)> {
    let day = left.on(left.to);
    let (mut total, mut tail) = look_below(reader, &day, head, deepest).await?;
    let expected = &corrected(&day, expected, total);
    let shares = reader.shares_now();
    let outline = Outline::unlisted(&left.filter, &shares, reader.plan);
    let rows = |day: Date| expected.get(&day).copied().unwrap_or(0.0);
    let ranges = separate_hot_days(DaySpan { from: left.from, to: left.to }, &rows, &outline);
    let hot = ranges.first().filter(|_| !reader.range.drift.is_likely());
    let oldest = hot.map_or(left.to, |days| days.from);
    let slice = &left.between(oldest, left.to);
    if !slice.is_one_day() {
        (total, tail) = (reader.total(slice).await?, None);
    }
    let days = HotDays { slice, total, expected, head, tail };
    Ok((oldest, cut_outermost(reader, &days).await?))
}

/// Reads hot days that are no part of others; returns whether it missed no row that was there all the time. Rows may have drifted in
/// one part while others were read: if a sum is the only proof, the total is requested again.
async fn cut_outermost(reader: &mut Reader<'_, '_>, days: &HotDays<'_>) -> Result<bool> {
    let proof = cut(reader, days).await?;
    if proof != Proof::Sum || days.tail.is_some() {
        return Ok(proof != Proof::Missing);
    }
    // In a sum over several days, a lost row may hide a new one.
    let is_sound = days.slice.is_one_day() || !reader.range.drift.is_likely();
    if !reader.range.drift.is_seen && reader.total(days.slice).await? != days.total {
        reader.range.drift.note();
    }
    Ok(is_sound && !reader.range.drift.is_seen)
}

/// Whether each sector of the days is expected within reach.
pub(crate) fn is_within_reach_by_sector(
    reader: &Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    shares: &Shares,
) -> bool {
    let days = HotDays { slice, total: 0, expected, head: &HashSet::new(), tail: None };
    let sectors = parts(reader, &days, Dimension::Sector, shares);
    Dimension::Sector.applies(&slice.filter) && are_within_reach(reader, slice, &sectors)
}

fn are_within_reach(reader: &Reader<'_, '_>, slice: &Slice, parts: &[(Slice, Expected)]) -> bool {
    let near = f64::from(reader.plan.reach_rows()) * NEAR_REACH;
    let is_near = |rows: &Expected| rows.range(slice.from..=slice.to).all(|(_, rows)| *rows <= near);
    parts.iter().all(|(_, rows)| is_near(rows))
}

/// The expected rows, scaled by the total of one day.
fn corrected(day: &Slice, expected: &Expected, total: u64) -> Expected {
    let total = total as f64;
    let factor = expected.get(&day.to).filter(|rows| **rows > 0.0).map_or(1.0, |rows| total / rows);
    let mut corrected: Expected = expected.iter().map(|(day, rows)| (*day, rows * factor)).collect();
    corrected.insert(day.to, total);
    corrected
}

/// Reads hot days by the parts with the least waste, then searches the rows that are missing.
async fn cut(reader: &mut Reader<'_, '_>, days: &HotDays<'_>) -> Result<Proof> {
    reader.range.begin_split();
    let shares = match reader.range.hinted(days.slice) {
        Some(hinted) => hinted,
        None if days.slice.is_one_day() => reader.range.shares_of_day(days.slice, reader.shares),
        None => reader.shares_now(),
    };
    let way = way_to_cut(reader, days, &shares);
    tracing::debug!(slice = %days.slice, days.total, ?way, "reading in parts");
    // A sector can be a filter only if it is published.
    let is_published = |key: &String| reader.values.sectors.iter().any(|(sector, _)| sector == key);
    let is_exhaustive = way.is_some_and(Dimension::is_exhaustive) && shares.sector.keys().all(is_published);
    let parts = way.map_or_else(Vec::new, |way| parts(reader, days, way, &shares));
    let are_sufficient = is_exhaustive && are_within_reach(reader, days.slice, &parts);
    let mut proof = if is_exhaustive { Proof::Parts } else { Proof::Missing };
    for (part, rows) in parts {
        match days.unseen(reader) {
            Some(0) if !are_sufficient => return Ok(Proof::Sum),
            None if !are_sufficient && days.tail.is_none() => return Ok(Proof::Missing),
            _ => {}
        }
        reader.range.search_budget.note_requested(&part);
        proof = proof.min(Box::pin(read_range(reader, &part, &rows, days.head)).await?);
    }
    // Under drift, exhaustive parts without gaps prove that rows not read have left.
    let may_be_found = proof < Proof::Parts || !reader.range.drift.is_likely();
    if let Some(unseen) = days.unseen(reader).filter(|unseen| *unseen > 0 && may_be_found) {
        find_residual(reader, days, unseen).await?;
    }
    Ok(match days.unseen(reader) {
        _ if proof == Proof::Parts => Proof::Parts,
        Some(0) => Proof::Sum,
        _ => Proof::Missing,
    })
}

/// Searches the rows that no part returned, unless the total has changed.
async fn find_residual(reader: &mut Reader<'_, '_>, days: &HotDays<'_>, unseen: u64) -> Result<()> {
    if reader.total(days.slice).await? != days.total {
        reader.range.drift.note();
        return Ok(());
    }
    // A single day was read as far as reach: nothing is left to find by rank.
    let by_rank = days.head.is_empty() || !days.slice.is_one_day();
    let total = reader.range.seen.count(days.slice) + unseen;
    let mut search = residual::Search::begin(reader, days.slice, total, by_rank);
    while let Some(part) = search.next(reader).await? {
        Box::pin(walk(reader, &part)).await?;
    }
    Ok(())
}

/// The dimension of the split: under drift, an exhaustive one if possible; else the one with the least cost.
fn way_to_cut(reader: &Reader<'_, '_>, days: &HotDays<'_>, shares: &Shares) -> Option<Dimension> {
    let filter = &days.slice.filter;
    if reader.range.drift.is_likely() && Dimension::Sector.applies(filter) {
        return Some(Dimension::Sector);
    }
    let rows: Vec<f64> = days.rows_by_day().collect();
    let is_listed = reader.range.hinted(days.slice).is_some();
    let outline = Outline { filter, shares, is_listed, plan: reader.plan };
    cost::least_waste(&rows, &outline).map(|(_, way)| way)
}

/// The parts with their expected rows: largest first, then those that need another split, then those without expected rows.
fn parts(
    reader: &Reader<'_, '_>,
    days: &HotDays<'_>,
    way: Dimension,
    shares: &Shares,
) -> Vec<(Slice, Expected)> {
    let near = f64::from(reader.plan.reach_rows()) * NEAR_REACH;
    let order = |part: &Part| {
        let is_deep = days.rows_by_day().any(|rows| rows * part.share > near);
        (part.share * (days.total as f64) < 0.5, is_deep)
    };
    let unseen = days.total.saturating_sub(reader.range.seen.count(days.slice));
    let mut parts = split::parts(&days.slice.filter, way, unseen, reader.values, shares);
    // A stable sort keeps the largest first.
    parts.sort_by_key(order);
    let of_part = |share: f64| days.expected.iter().map(|(day, rows)| (*day, rows * share)).collect();
    parts.into_iter().map(|part| (days.slice.under(part.filter), of_part(part.share))).collect()
}

/// Reads a part; its own hot days again in parts.
async fn read_range(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    head: &HashSet<i64>,
) -> Result<Proof> {
    if slice.is_one_day() {
        let walked = walk_after(reader, slice, expected, head).await?;
        return Ok(if walked.doubtful.is_empty() { Proof::Parts } else { Proof::Missing });
    }
    let shares = reader.shares_now();
    let near = |day: Date| expected.get(&day).copied().unwrap_or(0.0) / NEAR_REACH;
    let outline = Outline::unlisted(&slice.filter, &shares, reader.plan);
    let mut proof = Proof::Parts;
    for range in separate_hot_days(DaySpan { from: slice.from, to: slice.to }, &near, &outline) {
        let slice = &slice.between(range.from, range.to);
        proof = proof.min(if range.in_parts {
            let total = reader.total(slice).await?;
            cut(reader, &HotDays { slice, total, expected, head, tail: None }).await?
        } else if walk_after(reader, slice, expected, head).await?.doubtful.is_empty() {
            Proof::Parts
        } else {
            Proof::Missing
        });
    }
    Ok(proof)
}
