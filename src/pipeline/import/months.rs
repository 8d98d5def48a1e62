//! The merge of all months, by several threads.

use super::batches::{Before, MonthPaths, TABLES};
use super::month::{Arrived, MonthJob, MonthMade, merge_month, sources_of_spread};
use super::places::{Spread, month_of_number};
use crate::import::business::merge::{Merged, Terms, merge};
use crate::import::business::rows::Mapping;
use crate::import::business::stored::Existing;
use crate::import::rules::industry::Industries;
use crate::lake::{Month, Staging};
use crate::normalize::city_clean;
use crate::pipeline::error::{PipelineError, Result};
use crate::table::{ChangeRow, Table};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc;
use std::thread;

/// What the merge did.
#[derive(Default)]
pub(super) struct MonthsMade {
    pub(super) changes: Vec<ChangeRow>,
    pub(super) replaced: HashMap<i64, Date>,
    pub(super) read: u64,
    pub(super) added: u64,
    pub(super) changed: u64,
}

/// Merges every month that something arrived for.
pub(super) fn merge_months(
    staging: &mut Staging,
    arrived: &Arrived<'_>,
    spread: BTreeMap<i64, Spread>,
    terms: &Terms,
    industries: &Industries,
) -> Result<MonthsMade> {
    let mut made = MonthsMade::default();
    let moves = merge_spread(staging, arrived, spread, terms, industries, &mut made)?;
    let jobs = jobs(staging, arrived, moves, terms.is_all_new || terms.is_rebuilt)?;
    let threads = thread::available_parallelism().map_or(1, usize::from).min(jobs.len()).max(1);
    let writer = staging.part_writer();
    let waiting = Mutex::new(jobs);
    let (sender, results) = mpsc::sync_channel::<Result<MonthMade>>(threads);
    thread::scope(|scope| {
        for number in 0..threads {
            let (sender, waiting, writer) = (sender.clone(), &waiting, writer.of_thread(number));
            scope.spawn(move || {
                let mapping = Mapping::new(industries, city_clean);
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
                while let Some(job) = next() {
                    let result = merge_month(job, arrived, terms, &mapping, &writer);
                    let has_failed = result.is_err();
                    if sender.send(result).is_err() || has_failed {
                        return;
                    }
                }
            });
        }
        drop(sender);
        // Gone after an error, so that no thread waits for room in it.
        results.into_iter().try_for_each(|result| take(staging, result?, &mut made))
    })?;
    if waiting.into_inner().unwrap_or_else(PoisonError::into_inner).is_empty() {
        Ok(made)
    } else {
        Err(PipelineError::Bug("a thread of the merge ended early".to_owned()))
    }
}

fn take(staging: &mut Staging, month: MonthMade, made: &mut MonthsMade) -> Result<()> {
    made.changes.extend(month.changes);
    made.replaced.extend(month.replaced);
    made.read += month.read;
    made.added += month.added;
    made.changed += month.changed;
    for (table, part) in month.parts {
        staging.set_month(table, month.month, part)?;
    }
    Ok(())
}

/// Businesses that were merged outside of their months.
#[derive(Default)]
struct Moves {
    leaving: BTreeMap<Month, BTreeSet<i64>>,
    entering: BTreeMap<Month, Vec<Merged>>,
}

/// Merges the businesses whose records are of different months.
fn merge_spread(
    staging: &Staging,
    arrived: &Arrived<'_>,
    spread: BTreeMap<i64, Spread>,
    terms: &Terms,
    industries: &Industries,
    made: &mut MonthsMade,
) -> Result<Moves> {
    let mapping = Mapping::new(industries, city_clean);
    let months =
        spread.values().flat_map(|spread| &spread.months).filter_map(|number| month_of_number(*number));
    let mut sources = sources_of_spread(arrived, &months.collect())?;
    let mut known = known_of_spread(staging, &spread)?;
    let mut moves = Moves::default();
    for (id, spread) in spread {
        let mut sources = sources.remove(&id).unwrap_or_default();
        sources.events.extend(spread.events);
        made.read += sources.records.len() as u64;
        let Some(merged) = merge(known.remove(&id), sources, terms, &mapping) else { continue };
        if let Some(home) = spread.home.and_then(month_of_number) {
            moves.leaving.entry(home).or_default().insert(id);
        }
        made.added += u64::from(merged.is_new);
        made.changed += u64::from(merged.is_changed);
        made.changes.extend_from_slice(&merged.changes);
        made.replaced.extend(merged.changed_from.map(|from| (id, from)));
        if let Some(month) = Month::of(merged.business.filing.filed_date) {
            moves.entering.entry(month).or_default().push(merged);
        }
    }
    Ok(moves)
}

/// What the lake has of spread businesses.
fn known_of_spread(staging: &Staging, spread: &BTreeMap<i64, Spread>) -> Result<HashMap<i64, Existing>> {
    let homes: BTreeSet<Month> = spread.values().filter_map(|spread| month_of_number(spread.home?)).collect();
    let mut found = HashMap::new();
    for month in homes {
        let before = Before::read(&paths(staging, month)?, &|id| spread.contains_key(&id))?;
        found.extend(before.businesses()?);
    }
    Ok(found)
}

fn paths(staging: &Staging, month: Month) -> Result<MonthPaths> {
    let mut paths = MonthPaths::default();
    for (path, table) in paths.iter_mut().zip(TABLES) {
        *path = staging.sound_month(table, month)?;
    }
    Ok(paths)
}

fn jobs(staging: &Staging, arrived: &Arrived<'_>, mut moves: Moves, is_all: bool) -> Result<Vec<MonthJob>> {
    let spooled = arrived.records.iter().chain(arrived.events).flat_map(|spool| spool.partitions());
    let mut months: BTreeSet<Month> = spooled.filter_map(month_of_number).collect();
    months.extend(moves.leaving.keys().chain(moves.entering.keys()));
    if is_all {
        months.extend(staging.month_files(Table::Filings).into_keys());
    }
    let job = |month: Month| {
        Ok(MonthJob {
            month,
            paths: paths(staging, month)?,
            leaving: moves.leaving.remove(&month).unwrap_or_default(),
            entering: moves.entering.remove(&month).unwrap_or_default(),
            is_all,
        })
    };
    months.into_iter().map(job).collect()
}
