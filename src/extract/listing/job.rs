//! Reads one listing: days without a complete reading, days that have changed, days due for another full reading.

use super::daily::{DailyEndpoint, DailyListing};
use super::day::DayReading;
use super::full_read;
use super::incremental::{self, DayCounts};
use super::pager::Reader;
use super::read_pages::ReadPage;
use crate::contract::eastern::{days_newest_first, minus_days, span_days};
use crate::contract::plan::PlanLimits;
use crate::extract::alongside::read_during;
use crate::extract::error::{Result, StoreError};
use crate::extract::fetch::PageFetcher;
use crate::extract::plan::change_rate::Pace;
use crate::extract::plan::cost::DayRange;
use crate::extract::plan::day_range::{DaySpan, spans};
use crate::extract::query::histogram::Shares;
use crate::extract::query::row::SeenRow;
use crate::extract::query::slice::{Filter, Slice};
use crate::extract::query::split::FilterValues;
use hashbrown::HashMap;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Unread days that are refreshed together with the changed days before them, at most.
const MAX_NEW_DAYS: u32 = 2;

/// Stage name of days that are read completely again because of their age.
pub(crate) const SETTLING: &str = "settling";

#[derive(Default)]
pub(crate) struct ListingJob {
    /// Its name in the coverage table: `*`, or a type key.
    pub(crate) label: &'static str,
    /// Stage for which its requests are counted.
    pub(crate) stage: &'static str,
    pub(crate) filter: Filter,
    /// Days never complete, newest first.
    pub(crate) unread: Vec<DayRange>,
    /// Complete days whose rows have changed, or may have.
    pub(crate) moved: BTreeSet<Date>,
    /// Other complete days with their rows. Totals show which have changed.
    pub(crate) proven: BTreeMap<Date, u64>,
    /// Complete days due for another full reading, newest first; counted for [`SETTLING`].
    pub(crate) settling: Vec<DayRange>,
    /// Rows of each day, by the API's daily counts.
    pub(crate) expected: BTreeMap<Date, u64>,
    /// Those of the changed days that were last read under drift, or are known to differ: no sum with other days completes them.
    /// With the time since when this is known; earlier pages are not used.
    pub(crate) doubtful: BTreeMap<Date, Timestamp>,
    /// Nights since the complete days were read.
    pub(crate) nights: u32,
}

/// The result of reading one day range.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) label: &'static str,
    /// Its days, newest first.
    pub(crate) days: Vec<DayReading>,
    /// Day of each row read, by id.
    pub(crate) rows: HashMap<i64, Date>,
    /// Known rows that are no longer listed on their complete day.
    pub(crate) gone: BTreeMap<i64, Date>,
    pub(crate) pages: Vec<ReadPage>,
    pub(crate) is_drifted: bool,
}

/// Where the known rows of a listing are, and where readings go.
pub(crate) trait ListingStore {
    /// Rows listed on the days from the first to the second: those of the lake, as corrected by this run's readings.
    fn known(&mut self, from: Date, to: Date) -> Result<Vec<SeenRow>, StoreError>;

    /// Takes the days of a range as soon as they are read and checked. Days taken before an error remain valid.
    fn land(&mut self, reading: Reading) -> Result<(), StoreError>;

    /// Takes the totals of days whose rows differ from them. Until such a day is read again, it is not complete.
    fn mark_incomplete(&mut self, label: &'static str, totals: &BTreeMap<Date, u64>);
}

/// What reading a listing needs in addition to its job.
pub(crate) struct ReadContext<'r> {
    pub(crate) store: &'r mut (dyn ListingStore + Send),
    pub(crate) plan: &'r mut PlanLimits,
    pub(crate) values: &'r FilterValues,
    pub(crate) shares: &'r mut Shares,
    pub(crate) pace: &'r mut Pace,
    /// What is known of the daily endpoint.
    pub(crate) daily: &'r mut DailyListing,
}

/// Reads a listing, newest days first.
pub(crate) async fn extract_listing(
    fetcher: &mut PageFetcher<'_>,
    context: ReadContext<'_>,
    job: ListingJob,
) -> Result<()> {
    let ReadContext { store, plan, values, shares, pace, daily } = context;
    let mut reader = Reader::new(fetcher, job.stage, plan, values, shares, job.filter.clone());
    reader.daily = Some(DailyEndpoint { listing: daily, counted: job.expected.clone() });
    let changed = changed_days(&mut reader, store, &job).await?;
    let ListingJob { label, mut unread, mut moved, expected, doubtful, nights, .. } = job;
    let days = |from, to| Slice { filter: job.filter.clone(), from, to };
    moved.extend(changed.keys());
    join_new_days(&mut unread, &mut moved, &expected, reader.reach());
    let counts = DayCounts { counted: &expected, doubtful: &doubtful, changed: &changed };
    // It lands while the next range is read.
    let mut waiting = None;
    for (from, to, in_parts) in newest_first(unread, moved) {
        let slice = days(from, to);
        let readings = match in_parts {
            Some(in_parts) => {
                let read = full_read::read(&mut reader, &slice, in_parts, &expected);
                let (landed, readings) = read_during(|| land(store, waiting.take()), read).await;
                landed?;
                readings?
            }
            None => {
                reader.fetcher.alongside(|| land(store, waiting.take())).await??;
                store.known(from, to)?.into_iter().for_each(|row| reader.range.insert_known(row));
                let mut differing = BTreeMap::new();
                let before = reader.fetcher.oldest;
                let since = doubtful.range(from..=to).map(|(_, since)| *since);
                reader.fetcher.oldest = since.fold(before, Timestamp::max);
                let readings = incremental::read(&mut reader, &slice, &counts, &mut differing).await;
                reader.fetcher.oldest = before;
                store.mark_incomplete(label, &differing);
                readings?
            }
        };
        waiting = Some(reader.finish(label, readings));
    }
    reader.fetcher.alongside(|| land(store, waiting)).await??;
    if nights > 0 {
        pace.note(reader.refresh);
    }
    reader.stage = SETTLING;
    for DayRange { from, to, in_parts } in job.settling {
        let known = store.known(from, to)?;
        let held = rows_by_day(from, to, &known);
        let reach = reader.reach();
        reader.range.hints = known.into_iter().filter(|row| held[&row.filed_date] > reach).collect();
        let readings = full_read::read(&mut reader, &days(from, to), in_parts, &expected).await;
        if readings.is_err() && reader.range.may_differ_from(held.values().sum()) {
            store.mark_incomplete(label, &held);
        }
        let reading = reader.finish(label, readings?);
        reader.fetcher.alongside(|| land(store, Some(reading))).await??;
    }
    Ok(())
}

/// The complete days whose totals differ from their rows, with these totals. The store takes them, also those before an error.
async fn changed_days(
    reader: &mut Reader<'_, '_>,
    store: &mut (dyn ListingStore + Send),
    job: &ListingJob,
) -> Result<BTreeMap<Date, u64>> {
    let (mut changed, mut compared) = (BTreeMap::new(), Ok(()));
    for DaySpan { from, to } in spans(job.proven.keys().copied()) {
        let slice = Slice { filter: job.filter.clone(), from, to };
        compared = full_read::find_changed(reader, &slice, &job.proven, &mut changed).await;
        if compared.is_err() {
            break;
        }
        reader.refresh.compared += u64::from(span_days(from, to) * job.nights);
    }
    store.mark_incomplete(job.label, &changed);
    compared.map(|()| changed)
}

fn land(store: &mut (dyn ListingStore + Send), reading: Option<Reading>) -> Result<(), StoreError> {
    reading.map_or(Ok(()), |reading| store.land(reading))
}

/// The rows of each day, from the first to the second; none is a number too.
fn rows_by_day(from: Date, to: Date, rows: &[SeenRow]) -> BTreeMap<Date, u64> {
    let mut by_day: BTreeMap<Date, u64> = days_newest_first(from, to).map(|day| (day, 0)).collect();
    rows.iter().for_each(|row| *by_day.entry(row.filed_date).or_default() += 1);
    by_day
}

/// Moves the newest unread days to the changed ones, if they are few and small and the day before them has changed.
fn join_new_days(
    unread: &mut Vec<DayRange>,
    moved: &mut BTreeSet<Date>,
    expected: &BTreeMap<Date, u64>,
    reach: u64,
) {
    unread.retain(|range| {
        let rows: u64 = expected.range(range.from..=range.to).map(|(_, rows)| *rows).sum();
        let joins = span_days(range.from, range.to) <= MAX_NEW_DAYS
            && rows <= reach
            && moved.contains(&minus_days(range.from, 1));
        if joins {
            moved.extend(days_newest_first(range.from, range.to));
        }
        !joins
    });
}

/// What to read, newest first: unread day ranges, with whether they are read in parts, and ranges of changed days.
fn newest_first(unread: Vec<DayRange>, moved: BTreeSet<Date>) -> Vec<(Date, Date, Option<bool>)> {
    let moved = spans(moved).into_iter().map(|span| (span.from, span.to, None));
    let unread = unread.into_iter().map(|range| (range.from, range.to, Some(range.in_parts)));
    let mut all: Vec<_> = unread.chain(moved).collect();
    all.sort_by_key(|(_, to, _)| std::cmp::Reverse(*to));
    all
}

impl Reader<'_, '_> {
    /// Ends a day range: returns what was read, and learns from it.
    fn finish(&mut self, label: &'static str, days: Vec<DayReading>) -> Reading {
        let next = self.range.next();
        let range = std::mem::replace(&mut self.range, next);
        let seen = range.seen;
        let mut rows = HashMap::with_capacity(seen.rows().len());
        for reading in &days {
            let new = seen.rows_of(reading.day, reading.day).filter(|row| !seen.is_from_lake(row.id));
            self.shares.learn(new);
            rows.extend(seen.shown_on(reading.day).map(|id| (id, reading.day)));
        }
        let complete: BTreeSet<Date> = days.iter().filter(|day| day.complete).map(|day| day.day).collect();
        let known = range.known.into_iter().filter(|(_, day)| complete.contains(day));
        let is_gone = |(id, day): &(i64, Date)| seen.row(*id).is_none_or(|row| row.filed_date != *day);
        let gone = known.filter(is_gone).collect();
        Reading { label, days, rows, gone, pages: range.pages.pages, is_drifted: range.drift.is_in_range }
    }
}
