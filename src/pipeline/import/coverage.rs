//! How complete each day of a lake of the state's files is.
//!
//! The state posts a filing up to two weeks after its filing date. A day is complete once the files of the two weeks after it were
//! read, or a quarterly set that is as much newer.

use crate::contract::eastern::{day_start, days_newest_first, minus_days, plus_days};
use crate::contract::listing::Listing;
use crate::import::files::layout::Kind;
use crate::lake::{Month, Staging};
use crate::pipeline::error::Result;
use crate::pipeline::load::recount::LakeCounts;
use crate::pipeline::plan::lake_view::staged_rows;
use crate::pipeline::plan::stale_days::SETTLED_DAYS;
use crate::table::{CoverageRow, ImportRow, Row, StatewideRow, Table};
use jiff::civil::{Date, Weekday};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Days until a filing is posted.
const POSTED_AFTER: u32 = 14;

/// Files of days that do not count, and whose day and kind no other file has: neither a daily file, nor a quarterly set that is as new.
pub(super) fn broken_files(imports: &[ImportRow]) -> impl Iterator<Item = &ImportRow> {
    let broken = imports.iter().filter(|row| !row.is_sound());
    broken.filter(move |broken| !sound(imports).any(|row| has_day_of(row, broken)))
}

/// Daily files with the records of an earlier day's file, and that file: one of the two days is missing, unless another file has its
/// records: one of its own, or a quarterly set that is as new.
pub(super) fn copies_of_days(imports: &[ImportRow]) -> impl Iterator<Item = (&ImportRow, &ImportRow)> {
    let mut first: BTreeMap<(&str, &str), &ImportRow> = BTreeMap::new();
    let daily = || sound(imports).filter(|row| !row.quarterly && row.records > 0);
    for row in daily() {
        let known = first.entry((&row.kind, &row.digest)).or_insert(row);
        if row.source_date < known.source_date {
            *known = row;
        }
    }
    let replaces = |row: &ImportRow, copy: &ImportRow| {
        has_day_of(row, copy) && (row.quarterly || row.digest != copy.digest)
    };
    let is_replaced = move |copy: &ImportRow| sound(imports).any(|row| replaces(row, copy));
    daily()
        .filter_map(move |row| Some((row, *first.get(&(&*row.kind, &*row.digest))?)))
        .filter(move |(row, first)| row.source_date != first.source_date && !is_replaced(row))
}

/// Whether a file is to have the records of another's day: a daily file of this day, or a quarterly set that is as new.
fn has_day_of(row: &ImportRow, other: &ImportRow) -> bool {
    let is_in_time = if row.quarterly {
        row.source_date >= other.source_date
    } else {
        row.source_date == other.source_date
    };
    row.kind == other.kind && is_in_time
}

/// Days of a kind whose file does not count or has the records of another day.
fn unread_days(imports: &[ImportRow], kind: Kind) -> impl Iterator<Item = Date> {
    let unread = broken_files(imports).chain(copies_of_days(imports).map(|(copy, _)| copy));
    unread.filter(move |row| row.kind == kind.name()).map(|row| row.source_date)
}

/// Weekdays without a daily file of a kind, from the newest quarterly set to the newest daily file of any kind, and days whose file does
/// not count. Without a set the first daily file begins the count.
pub(super) fn missing_days(imports: &[ImportRow], kind: Kind) -> BTreeSet<Date> {
    let daily = of_kind(imports, kind).filter(|row| !row.quarterly).map(|row| row.source_date);
    let daily: BTreeSet<Date> = daily.collect();
    let set = newest_set(imports, kind);
    let newest = sound(imports).filter(|row| !row.quarterly).map(|row| row.source_date).max();
    let is_weekend = |day: Date| matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
    let mut missing: BTreeSet<Date> = unread_days(imports, kind).collect();
    if let (Some(first), Some(newest)) = (set.or(daily.first().copied()), newest) {
        let days = days_newest_first(plus_days(first, 1), newest);
        missing.extend(days.filter(|day| !daily.contains(day) && !is_weekend(*day)));
    }
    missing
}

/// Days after the newest quarterly set with records of corporations and without a file of events: what else changed on them is unknown.
pub(super) fn days_without_events(imports: &[ImportRow]) -> BTreeSet<Date> {
    let set = newest_set(imports, Kind::Corporate);
    let with_events: BTreeSet<Date> =
        of_kind(imports, Kind::CorporateEvent).map(|row| row.source_date).collect();
    of_kind(imports, Kind::Corporate)
        .filter(|row| !row.quarterly && row.records > 0 && set.is_none_or(|set| row.source_date >= set))
        .map(|row| row.source_date)
        .filter(|day| !with_events.contains(day))
        .collect()
}

/// The files that count.
fn sound(imports: &[ImportRow]) -> impl Iterator<Item = &ImportRow> {
    imports.iter().filter(|row| row.is_sound())
}

fn of_kind(imports: &[ImportRow], kind: Kind) -> impl Iterator<Item = &ImportRow> {
    sound(imports).filter(move |row| row.kind == kind.name())
}

/// The date of the newest quarterly file of a kind that counts.
fn newest_set(imports: &[ImportRow], kind: Kind) -> Option<Date> {
    of_kind(imports, kind).filter(|row| row.quarterly).map(|row| row.source_date).max()
}

/// The date of the newest file that counts.
pub(super) fn newest_day(imports: &[ImportRow]) -> Option<Date> {
    sound(imports).map(|row| row.source_date).max()
}

/// The date of the newest file of a kind that counts.
pub(super) fn newest_of(imports: &[ImportRow], kind: Kind) -> Option<Date> {
    of_kind(imports, kind).map(|row| row.source_date).max()
}

/// Stages the statewide figures as of the newest file: the lake's own counts, in place of those of an API. Older ones go, because they
/// depend on which files had come by then.
pub(super) fn stage_statewide(staging: &mut Staging, as_of: Date) -> Result<()> {
    let coverage: Vec<CoverageRow> = staged_rows(staging)?;
    let within = |from: u32, to: u32| -> i64 {
        let days = minus_days(as_of, to - 1)..=minus_days(as_of, from);
        coverage.iter().filter(|row| days.contains(&row.filed_date)).map(|row| row.landed).sum()
    };
    let filings = staging.manifests().get(Table::Filings.name()).map_or(0, |manifest| manifest.rows);
    let listed = coverage.iter().filter(|row| row.landed > 0 && row.filed_date <= as_of);
    let row = StatewideRow {
        observed_on: as_of,
        businesses_total: filings as i64,
        latest_filing_date: listed.map(|row| row.filed_date).max().unwrap_or(as_of),
        updated_at: day_start(as_of).to_string(),
        filings_last_7_days: within(0, 7),
        filings_last_30_days: within(0, 30),
        filings_previous_30_days: within(30, 60),
        filings_last_365_days: within(0, 365),
    };
    let row = StatewideRow::batch(&[row])?;
    staging.replace(Table::StatewideHistory, &row)?;
    staging.replace(Table::Statewide, &row)?;
    Ok(())
}

/// The first day whose filings the files of a kind must have: the oldest day of a lake with a quarterly set, else that of the first
/// daily file; none without a file.
fn first_day(imports: &[ImportRow], kind: Kind, oldest: Date) -> Option<Date> {
    let daily = of_kind(imports, kind).filter(|row| !row.quarterly).map(|row| row.source_date).min();
    if newest_set(imports, kind).is_some() { Some(oldest) } else { daily }
}

/// Stages the coverage of every day from the first that the files must have, and of older days with filings, which are not complete.
/// Without a file of fictitious names, their listing has no coverage. Only changed months are counted again, unless the coverage was lost.
pub(super) fn stage_coverage(staging: &mut Staging, imports: &[ImportRow], today: Date) -> Result<()> {
    let Some(newest) = newest_day(imports) else { return Ok(()) };
    let mut missing_others = missing_days(imports, Kind::Corporate);
    missing_others.extend(unread_days(imports, Kind::Partnership));
    let mut rows: BTreeMap<(Date, String), i64> = BTreeMap::new();
    let (before, changed) = (staged_rows::<CoverageRow>(staging)?, staging.changed_months());
    let months = staging.month_files(Table::Filings);
    // The oldest month may be gone, when the filing date of its businesses changed.
    let is_kept = |month: Month| {
        !changed.contains_key(&month) && months.keys().next().is_some_and(|oldest| *oldest <= month)
    };
    let is_lost = before.is_empty();
    for row in before.into_iter().filter(|row| Month::of(row.filed_date).is_none_or(is_kept)) {
        rows.insert((row.filed_date, row.entity_type), row.landed);
    }
    let files: Vec<PathBuf> = if is_lost {
        months.into_values().collect()
    } else {
        changed.into_values().flat_map(|files| files.after).collect()
    };
    let counts = LakeCounts::of(&files, today)?;
    for (day, listing) in counts.days().flat_map(|day| Listing::EVERY_TYPE.map(|listing| (day, listing))) {
        rows.insert((day, listing.label().to_owned()), counts.listed_on(day, listing));
    }
    let Some(oldest) = rows.keys().map(|(day, _)| *day).min() else { return Ok(()) };
    let others = (
        first_day(imports, Kind::Corporate, oldest).unwrap_or(oldest),
        newest_of(imports, Kind::Corporate),
        missing_others,
    );
    let names = first_day(imports, Kind::Fictitious, oldest)
        .map(|first| (first, newest_of(imports, Kind::Fictitious), missing_days(imports, Kind::Fictitious)));
    for day in days_newest_first(names.as_ref().map_or(others.0, |names| names.0.min(others.0)), newest) {
        for listing in Listing::EVERY_TYPE {
            rows.entry((day, listing.label().to_owned())).or_default();
        }
    }
    let is_other = |entity_type: &str| Listing::Untyped.label() == entity_type;
    rows.retain(|(_, entity_type), _| names.is_some() || is_other(entity_type));
    let row = |((filed_date, entity_type), landed): ((Date, String), i64)| {
        let until = plus_days(filed_date, POSTED_AFTER);
        let of_names = names.as_ref().filter(|_| !is_other(&entity_type));
        let (first, last, missing) = of_names.unwrap_or(&others);
        let has_gap = missing.range(filed_date..=until).next().is_some();
        let complete = *first <= filed_date && last.is_some_and(|last| until <= last) && !has_gap;
        CoverageRow {
            filed_date,
            entity_type,
            expected: landed,
            landed,
            complete,
            settled: complete && filed_date <= minus_days(newest, SETTLED_DAYS),
            checked_at: day_start(newest),
        }
    };
    let rows: Vec<CoverageRow> = rows.into_iter().map(row).collect();
    staging.replace(Table::Coverage, &CoverageRow::batch(&rows)?)?;
    Ok(())
}
