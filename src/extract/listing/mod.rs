//! One listing, read stretch by stretch and proven: distinct rows seen = rows the API says there are.

pub(super) mod below_reach;
pub(super) mod date_walk;
pub(super) mod drift;
pub(super) mod incremental;
pub(super) mod pager;
pub(super) mod rank_search;
pub(super) mod residual;
pub(super) mod split_read;

use super::ExtractError;
use super::fetch::{Asker, PageKey, StoreError};
use super::plan::change_rate::Pace;
use super::plan::day_range::{Stretch, ranges};
use super::query::histogram::Shares;
use super::query::row_set::SeenRow;
use super::query::slice::{Filter, Slice};
use super::query::split::Vocabulary;
use crate::contract::eastern::{days_newest_first, minus_days, span_days};
use crate::contract::plan::PlanLimits;
use date_walk::{Walked, walk, walk_on};
use jiff::civil::Date;
use pager::Reader;
use split_read::Expected;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Times a day is read again before it is left incomplete.
const MAX_DAY_READINGS: u32 = 3;

/// What is to be read of one listing.
pub struct ListingJob {
    /// What the coverage table calls it: `*`, or a type key.
    pub label: &'static str,
    /// Stage its requests are counted under.
    pub stage: &'static str,
    /// Filter of the whole listing.
    pub filter: Filter,
    /// Days never proven, newest first.
    pub unread: Vec<Stretch>,
    /// Days known whole before whose rows moved since, or may have.
    pub moved: BTreeSet<Date>,
    /// Other days known whole, with the rows each had; totals, halved where they differ, tell which moved.
    pub proven: BTreeMap<Date, u64>,
    /// Days known whole before that are due to be read whole again, newest first; under a stage of their own.
    pub settling: Vec<Stretch>,
    /// Rows each day is expected to hold, where the API counts them.
    pub expected: BTreeMap<Date, u64>,
    /// Those of the moved days that were read while rows moved: what came and went meanwhile no count tells.
    pub stirred: BTreeSet<Date>,
    /// Nights since the days known whole were proven.
    pub nights: u32,
}

/// Stage name of days that are read whole again because of their age.
pub const SETTLING: &str = "settling";

/// One day of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayReading {
    /// The day.
    pub day: Date,
    /// Rows the API says it has.
    pub expected: u64,
    /// Rows of it that are held, by this reading or from before.
    pub held: u64,
    /// Whether the two were proven equal.
    pub complete: bool,
    /// Whether every row was read now, so that a row not seen is gone.
    pub whole: bool,
}

/// What one stretch gave.
#[derive(Debug)]
pub struct Reading {
    /// The listing.
    pub label: &'static str,
    /// Its days, newest first.
    pub days: Vec<DayReading>,
    /// Day of each row seen, by id.
    pub rows: HashMap<i64, Date>,
    /// Rows of the lake that are listed no more, on proven days that were not read whole.
    pub gone: BTreeMap<i64, Date>,
    /// Pages that hold those rows.
    pub pages: Vec<PageKey>,
    /// Whether rows moved meanwhile.
    pub is_stirred: bool,
}

/// The rows that the lake lists on the days from the first to the second.
pub type KnownRows<'r> = &'r mut dyn FnMut(Date, Date) -> Result<Vec<SeenRow>, StoreError>;

/// What a listing's reading needs beside its job.
pub struct Surroundings<'r> {
    /// Rows known of days read before.
    pub known: KnownRows<'r>,
    /// The plan's numbers; corrected while reading.
    pub plan: &'r mut PlanLimits,
    /// Values that narrow.
    pub words: &'r Vocabulary,
    /// How often each value occurs; learned while reading.
    pub shares: &'r mut Shares,
    /// How days known whole go on to change; learned while reading.
    pub pace: &'r mut Pace,
}

/// Reads a listing, newest days first, and hands each stretch over as soon as it is proven or found wanting.
///
/// # Errors
/// What stops the reading: a refusal, a spent budget, a broken archive. Stretches handed over before stay good.
pub async fn extract_listing(
    asker: &mut Asker<'_>,
    around: Surroundings<'_>,
    job: ListingJob,
    hand_over: &mut (dyn FnMut(Reading) -> Result<(), ExtractError> + Send),
) -> Result<(), ExtractError> {
    let ListingJob {
        label,
        stage,
        filter,
        mut unread,
        mut moved,
        proven,
        settling,
        expected,
        stirred,
        nights,
    } = job;
    let mut reader = Reader::new(asker, stage, around.plan, around.words, around.shares);
    reader.listing = filter.clone();
    let whole = |from, to| Slice { filter: filter.clone(), from, to };
    let mut found = BTreeMap::new();
    for (from, to) in ranges(proven.keys().copied()) {
        found.extend(find_moved(&mut reader, &whole(from, to), &proven).await?);
        reader.morning.asked += u64::from(span_days(from, to) * nights);
    }
    moved.extend(found.keys());
    join_new_days(&mut unread, &mut moved, &expected, u64::from(reader.plan.reach_rows()));
    for (from, to, stretch) in newest_first(unread, moved) {
        let slice = whole(from, to);
        let days = match stretch {
            Some(stretch) => read_stretch(&mut reader, &slice, &stretch, &expected).await?,
            None => {
                let known = (around.known)(from, to).map_err(ExtractError::HandOver)?;
                known.into_iter().for_each(|row| reader.seen.hold(row));
                let told = incremental::Told { counted: &expected, stirred: &stirred, found: &found };
                incremental::read(&mut reader, &slice, &told).await?
            }
        };
        let reading = reader.finish(label, days);
        reader.asker.alongside(|| hand_over(reading))??;
    }
    if nights > 0 {
        around.pace.note(reader.morning);
    }
    reader.stage = SETTLING;
    for stretch in settling {
        let slice = whole(stretch.from, stretch.to);
        let known = (around.known)(stretch.from, stretch.to).map_err(ExtractError::HandOver)?;
        reader.hints = beyond_reach(known, u64::from(reader.plan.reach_rows()));
        let days = read_stretch(&mut reader, &slice, &stretch, &expected).await?;
        let reading = reader.finish(label, days);
        reader.asker.alongside(|| hand_over(reading))??;
    }
    Ok(())
}

/// The rows of days that hold more than pages reach.
fn beyond_reach(rows: Vec<SeenRow>, reach: u64) -> Vec<SeenRow> {
    let mut of_day: BTreeMap<Date, u64> = BTreeMap::new();
    for row in &rows {
        *of_day.entry(row.filed_date).or_default() += 1;
    }
    rows.into_iter().filter(|row| of_day[&row.filed_date] > reach).collect()
}

/// The newest days, when they are few and small, are read in one go with the days before them whose rows moved.
fn join_new_days(
    unread: &mut Vec<Stretch>,
    moved: &mut BTreeSet<Date>,
    expected: &BTreeMap<Date, u64>,
    reach: u64,
) {
    unread.retain(|stretch| {
        let rows: u64 = expected.range(stretch.from..=stretch.to).map(|(_, rows)| *rows).sum();
        let joins = span_days(stretch.from, stretch.to) <= MAX_NEW_DAYS
            && rows <= reach
            && moved.contains(&minus_days(stretch.from, 1));
        if joins {
            moved.extend(days_newest_first(stretch.from, stretch.to));
        }
        !joins
    });
}

/// Days never read that a morning's reading may take along.
const MAX_NEW_DAYS: u32 = 2;

/// What is to be read, newest first: stretches never proven, and ranges of days whose rows moved.
fn newest_first(unread: Vec<Stretch>, moved: BTreeSet<Date>) -> Vec<(Date, Date, Option<Stretch>)> {
    let moved = ranges(moved).into_iter().map(|(from, to)| (from, to, None));
    let unread = unread.into_iter().map(|stretch| (stretch.from, stretch.to, Some(stretch)));
    let mut all: Vec<(Date, Date, Option<Stretch>)> = unread.chain(moved).collect();
    all.sort_by_key(|(_, to, _)| std::cmp::Reverse(*to));
    all
}

impl Reader<'_, '_> {
    /// Ends a stretch: what it gave, and a clean slate for the next.
    fn finish(&mut self, label: &'static str, days: Vec<DayReading>) -> Reading {
        let seen = std::mem::take(&mut self.seen);
        let pages = std::mem::take(&mut self.pages);
        let is_stirred = self.drift.is_in_stretch();
        self.begin_stretch();
        let mut rows = HashMap::new();
        for reading in &days {
            let new = seen.rows_of(reading.day, reading.day).filter(|row| !seen.is_held(row.id));
            self.shares.learn(new);
            rows.extend(seen.shown_on(reading.day).map(|id| (id, reading.day)));
        }
        let told: BTreeSet<Date> =
            days.iter().filter(|day| day.complete && !day.whole).map(|day| day.day).collect();
        let gone = seen.gone().iter().filter(|(_, day)| told.contains(day));
        let gone = gone.map(|(id, day)| (*id, *day)).collect();
        Reading { label, days, rows, gone, pages, is_stirred }
    }
}

/// Days of a slice whose totals differ from what was proven before, with these totals, found by halving.
async fn find_moved(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    proven: &BTreeMap<Date, u64>,
) -> Result<BTreeMap<Date, u64>, ExtractError> {
    let total = reader.total(slice).await?;
    let mut moved = BTreeMap::new();
    let held = |from: Date, to: Date| proven.range(from..=to).map(|(_, rows)| rows).sum::<u64>();
    Box::pin(halve(reader, slice, total, &held, &mut moved)).await?;
    Ok(moved)
}

/// Halves a slice until the single days are found whose total is not what is held of them; gives their totals.
async fn halve(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
    held: &(dyn Fn(Date, Date) -> u64 + Sync),
    differing: &mut BTreeMap<Date, u64>,
) -> Result<(), ExtractError> {
    if held(slice.from, slice.to) == total {
        return Ok(());
    }
    if slice.is_one_day() {
        differing.insert(slice.to, total);
        return Ok(());
    }
    let middle = minus_days(slice.to, slice.days() / 2 - 1);
    let newer = slice.between(middle, slice.to);
    let older = slice.between(slice.from, minus_days(middle, 1));
    let newer_total = reader.total(&newer).await?;
    Box::pin(halve(reader, &newer, newer_total, held, differing)).await?;
    Box::pin(halve(reader, &older, total.saturating_sub(newer_total), held, differing)).await
}

/// Reads a stretch whole and proves it.
async fn read_stretch(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    stretch: &Stretch,
    expected: &BTreeMap<Date, u64>,
) -> Result<Vec<DayReading>, ExtractError> {
    let rows: Expected =
        expected.range(slice.from..=slice.to).map(|(day, rows)| (*day, *rows as f64)).collect();
    let walked = match stretch.in_parts {
        true if reader.drift.is_likely() => return read_again(reader, slice, &rows, &|_| false).await,
        true => split_read::read_core(reader, slice, &rows).await?,
        false => walk_on(reader, slice, &rows, &HashSet::new()).await?,
    };
    if reader.is_whole(reader.seen.count(slice), &walked) {
        let wrong = contradicted(reader, slice, expected).await?;
        if wrong.is_empty() {
            return Ok(days_newest_first(slice.from, slice.to).map(|day| proven_day(reader, day)).collect());
        }
        reader.drift.note();
        return read_again(reader, slice, &rows, &|day| !wrong.contains(&day)).await;
    }
    match has_moved(reader, slice, &walked).await? {
        true => read_again(reader, slice, &rows, &|day| !walked.doubts(day)).await,
        false => mend(reader, slice, walked.total).await,
    }
}

/// Days that hold other rows than the API counts, and than it lists now, though the sum over all is right: one lost a row while another
/// got one. Where most days differ from their counts, these count something else.
async fn contradicted(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    counted: &BTreeMap<Date, u64>,
) -> Result<BTreeSet<Date>, ExtractError> {
    let counted: Vec<(Date, u64)> =
        counted.range(slice.from..=slice.to).map(|(day, rows)| (*day, *rows)).collect();
    let differs = |(day, rows): &&(Date, u64)| reader.seen.count_on(*day) != *rows;
    let differing: Vec<Date> = counted.iter().filter(differs).map(|(day, _)| *day).collect();
    let mut wrong = BTreeSet::new();
    if slice.is_one_day() || differing.len() * 2 > counted.len() {
        return Ok(wrong);
    }
    for day in differing {
        if reader.total(&slice.on(day)).await? != reader.seen.count_on(day) {
            wrong.insert(day);
        }
    }
    Ok(wrong)
}

/// Whether rows moved during a reading that did not prove a slice: seen by it, or by what the total is now.
async fn has_moved(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    walked: &Walked,
) -> Result<bool, ExtractError> {
    let fits = reader.seen.count(slice) == walked.total;
    if !reader.drift.is_seen() && (fits || reader.total(slice).await? != walked.total) {
        reader.drift.note();
    }
    Ok(reader.drift.is_seen())
}

/// Rows move: the days that are not proven are read and proven by themselves; those beyond reach together, with what lies between
/// them, as long as sectors are within reach.
async fn read_again(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
    is_proven: &(dyn Fn(Date) -> bool + Sync),
) -> Result<Vec<DayReading>, ExtractError> {
    let reach = f64::from(reader.plan.reach_rows());
    let is_heavy = |day: Date| expected.get(&day).is_some_and(|rows| *rows > reach);
    let unproven = days_newest_first(slice.from, slice.to).filter(|day| !is_proven(*day));
    let shares = reader.shares_now();
    let standing =
        unproven.filter(|day| split_read::stands_on_sectors(reader, &slice.on(*day), expected, &shares));
    let mut together = ranges(standing);
    together.retain(|(from, to)| from < to && days_newest_first(*from, *to).any(is_heavy));
    let mut proven: BTreeSet<Date> = BTreeSet::new();
    for (from, to) in together {
        proven.extend(read_together(reader, &slice.between(from, to), expected).await?);
    }
    let mut days = Vec::new();
    for day in days_newest_first(slice.from, slice.to) {
        days.push(match is_proven(day) || proven.contains(&day) {
            true => proven_day(reader, day),
            false => read_day_again(reader, &slice.on(day)).await?,
        });
    }
    Ok(days)
}

/// Forgets days and reads them by sectors, which prove themselves one by one; gives the days proven.
async fn read_together(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    expected: &Expected,
) -> Result<Vec<Date>, ExtractError> {
    let days = || days_newest_first(slice.from, slice.to);
    days().for_each(|day| reader.seen.forget(day));
    reader.drift.begin_reading();
    let walked = split_read::read_core(reader, slice, expected).await?;
    let is_whole =
        reader.is_whole(reader.seen.count(slice), &walked) || has_moved(reader, slice, &walked).await?;
    Ok(days().filter(|day| is_whole && !walked.doubts(*day)).collect())
}

/// A day all of whose rows were seen.
pub(super) fn proven_day(reader: &Reader<'_, '_>, day: Date) -> DayReading {
    let rows = reader.seen.count_on(day);
    DayReading { day, expected: rows, held: rows, complete: true, whole: true }
}

/// The sum failed: finds the days it fails on, and reads those again until each is proven by itself.
async fn mend(
    reader: &mut Reader<'_, '_>,
    slice: &Slice,
    total: u64,
) -> Result<Vec<DayReading>, ExtractError> {
    let counts: BTreeMap<Date, u64> =
        days_newest_first(slice.from, slice.to).map(|day| (day, reader.seen.count_on(day))).collect();
    let held = |from: Date, to: Date| counts.range(from..=to).map(|(_, rows)| rows).sum::<u64>();
    let mut differing = BTreeMap::new();
    Box::pin(halve(reader, slice, total, &held, &mut differing)).await?;
    let mut days = Vec::new();
    for day in days_newest_first(slice.from, slice.to) {
        days.push(match differing.get(&day) {
            Some(total) => incremental::settle_day(reader, &slice.on(day), Some(*total)).await?,
            None => proven_day(reader, day),
        });
    }
    Ok(days)
}

/// Forgets a day and reads it until it is proven.
pub(super) async fn read_day_again(
    reader: &mut Reader<'_, '_>,
    day: &Slice,
) -> Result<DayReading, ExtractError> {
    let mut total = 0;
    for _ in 0..MAX_DAY_READINGS {
        reader.seen.forget(day.to);
        reader.drift.begin_reading();
        let walked = walk(reader, day).await?;
        total = walked.total;
        if reader.is_whole(reader.seen.count(day), &walked) {
            return Ok(proven_day(reader, day.to));
        }
        if !has_moved(reader, day, &walked).await? {
            // Another reading would give the same rows.
            if incremental::fit_day(reader, day, None).await? {
                return Ok(proven_day(reader, day.to));
            }
            break;
        }
    }
    let held = reader.seen.count(day);
    tracing::warn!(day = %day.to, expected = total, held, "the day could not be read whole");
    Ok(DayReading { day: day.to, expected: total, held, complete: false, whole: false })
}
