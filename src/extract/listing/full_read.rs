//! Reads day ranges completely, checks them, and finds the days that have changed.

use super::day::{DayReading, complete_day, has_drifted, read_day_again, reconcile_day};
use super::pager::Reader;
use super::range_state::Expected;
use super::split_read::{is_within_reach_by_sector, read_hot_days, walk_after};
use crate::contract::eastern::days_newest_first;
use crate::extract::error::Result;
use crate::extract::plan::day_range::{DaySpan, spans};
use crate::extract::query::slice::Slice;
use hashbrown::HashSet;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Reads the days of a slice completely and checks them. `counted` are the API's daily counts.
pub(crate) async fn read(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    in_parts: bool,
    counted: &BTreeMap<Date, u64>,
) -> Result<Vec<DayReading>> {
    let expected: Expected =
        counted.range(slice.from..=slice.to).map(|(day, rows)| (*day, *rows as f64)).collect();
    if in_parts && reader.range.drift.is_likely() {
        return read_again(reader, slice, &expected, &|_| false).await;
    }
    let walked = if in_parts {
        read_hot_days(reader, slice, &expected).await?
    } else {
        walk_after(reader, slice, &expected, &HashSet::new()).await?
    };
    if reader.range.is_complete(reader.range.seen.count(slice), &walked) {
        let wrong = wrong_days(reader, slice, counted).await?;
        if wrong.is_empty() {
            return Ok(days_newest_first(slice.from, slice.to)
                .map(|day| complete_day(reader, day))
                .collect());
        }
        reader.range.drift.note();
        return read_again(reader, slice, &expected, &|day| !wrong.contains(&day)).await;
    }
    if has_drifted(reader, slice, &walked).await? {
        read_again(reader, slice, &expected, &|day| !walked.doubts(day)).await
    } else {
        repair(reader, slice, walked.total).await
    }
}

/// Days whose rows match neither the API's count nor its total, although the sum of all days does: one lost a row and another
/// gained one. If most days differ from their counts, the counts mean something else.
async fn wrong_days(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    counted: &BTreeMap<Date, u64>,
) -> Result<BTreeSet<Date>> {
    let counted = counted.range(slice.from..=slice.to);
    let differs = |(day, rows): &(&Date, &u64)| reader.range.seen.count_on(**day) != **rows;
    let differing: Vec<Date> = counted.clone().filter(differs).map(|(day, _)| *day).collect();
    let mut wrong = BTreeSet::new();
    if slice.is_one_day() || differing.len() * 2 > counted.count() {
        return Ok(wrong);
    }
    for day in differing {
        if reader.total(&slice.on(day)).await? != reader.range.seen.count_on(day) {
            wrong.insert(day);
        }
    }
    Ok(wrong)
}

/// Reads days again under drift, each checked alone; hot days together with those between, if each sector is within reach.
async fn read_again(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    is_complete: &(dyn Fn(Date) -> bool + Sync),
) -> Result<Vec<DayReading>> {
    let reach = f64::from(reader.plan.reach_rows());
    let is_hot = |day: Date| expected.get(&day).is_some_and(|rows| *rows > reach);
    let incomplete = days_newest_first(slice.from, slice.to).filter(|day| !is_complete(*day));
    let shares = reader.shares_now();
    let by_sector =
        incomplete.filter(|day| is_within_reach_by_sector(reader, &slice.on(*day), expected, &shares));
    let mut together = spans(by_sector);
    together.retain(|span| span.from < span.to && span.newest_first().any(is_hot));
    let mut complete: BTreeSet<Date> = BTreeSet::new();
    for DaySpan { from, to } in together {
        complete.extend(read_together(reader, &slice.between(from, to), expected).await?);
    }
    let mut days = Vec::new();
    for day in days_newest_first(slice.from, slice.to) {
        days.push(if is_complete(day) || complete.contains(&day) {
            complete_day(reader, day)
        } else {
            read_day_again(reader, &slice.on(day)).await?
        });
    }
    Ok(days)
}

/// Forgets days and reads them by sectors, each of which is checked alone; returns the complete days.
async fn read_together(reader: &mut Reader<'_, '_>, slice: &Slice, expected: &Expected) -> Result<Vec<Date>> {
    let days = || days_newest_first(slice.from, slice.to);
    days().for_each(|day| reader.range.seen.forget(day));
    reader.range.drift.begin_reading();
    let walked = read_hot_days(reader, slice, expected).await?;
    let is_valid = reader.range.is_complete(reader.range.seen.count(slice), &walked)
        || has_drifted(reader, slice, &walked).await?;
    Ok(days().filter(|day| is_valid && !walked.doubts(*day)).collect())
}

/// Finds the days whose rows do not match their totals, and makes them match.
async fn repair(reader: &mut Reader<'_, '_>, slice: &Slice, total: u64) -> Result<Vec<DayReading>> {
    let days = || days_newest_first(slice.from, slice.to);
    let counts: BTreeMap<Date, u64> = days().map(|day| (day, reader.range.seen.count_on(day))).collect();
    let mut differing = BTreeMap::new();
    bisect(reader, slice, total, &counts, &mut differing).await?;
    let mut repaired = Vec::new();
    for day in days() {
        repaired.push(match differing.get(&day) {
            Some(total) => reconcile_day(reader, &slice.on(day), Some(*total)).await?,
            None => complete_day(reader, day),
        });
    }
    Ok(repaired)
}

/// Adds the days whose totals differ from their known rows, with these totals.
///
/// An error may come when a range is known to differ, and not yet which of its days: all of them are added then, with their rows.
pub(crate) async fn find_changed(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    known: &BTreeMap<Date, u64>,
    changed: &mut BTreeMap<Date, u64>,
) -> Result<()> {
    let total = reader.total_near(slice, rows_of(known, slice)).await?;
    bisect(reader, slice, total, known, changed).await
}

fn rows_of(known: &BTreeMap<Date, u64>, slice: &Slice) -> u64 {
    known.range(slice.from..=slice.to).map(|(_, rows)| rows).sum()
}

async fn bisect(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
    known: &BTreeMap<Date, u64>,
    changed: &mut BTreeMap<Date, u64>,
) -> Result<()> {
    if rows_of(known, slice) == total {
        return Ok(());
    }
    if slice.is_one_day() {
        changed.insert(slice.to, total);
        return Ok(());
    }
    let (newer, older) = slice.halves();
    let newer_total = match reader.total_near(&newer, rows_of(known, &newer)).await {
        Ok(total) => total,
        Err(error) => {
            changed.extend(known.range(slice.from..=slice.to));
            return Err(error);
        }
    };
    let older_total = total.saturating_sub(newer_total);
    if let Err(error) = Box::pin(bisect(reader, &newer, newer_total, known, changed)).await {
        let differs = rows_of(known, &older) != older_total;
        changed.extend(known.range(older.from..=older.to).filter(|_| differs));
        return Err(error);
    }
    Box::pin(bisect(reader, &older, older_total, known, changed)).await
}
