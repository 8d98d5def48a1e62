//! The merge of all months, by several threads.

use super::batches::{Before, MonthPaths, TABLES};
use super::month::{Arrived, Made, MonthJob, MonthMade, merge_month, sources_of_spread};
use super::places::{Spread, month_of_number};
use crate::import::business::merge::{Merged, Terms};
use crate::import::business::rows::Mapping;
use crate::import::business::stored::Existing;
use crate::import::rules::industry::Industries;
use crate::lake::{Month, Staging};
use crate::normalize::city_clean;
use crate::pipeline::error::Result;
use crate::table::Table;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter;
use std::sync::{Mutex, PoisonError};

/// Merges every month that something arrived for.
pub(super) fn merge_months(
    staging: &mut Staging,
    arrived: &Arrived<'_>,
    spread: BTreeMap<i64, Spread>,
    terms: &Terms,
    industries: &Industries,
) -> Result<Made> {
    let mut made = Made::default();
    let moves = merge_spread(staging, arrived, spread, terms, industries, &mut made)?;
    let jobs = jobs(staging, arrived, moves, terms.is_all_new || terms.is_rebuilt)?;
    let (writer, waiting) = (staging.part_writer(), Mutex::new(jobs));
    let waiting = || waiting.lock().unwrap_or_else(PoisonError::into_inner);
    let made_by_thread = rayon::broadcast(|thread| -> Result<Vec<MonthMade>> {
        let (mapping, writer) = (Mapping::new(industries, city_clean), writer.of_thread(thread.index()));
        let jobs = iter::from_fn(|| waiting().pop());
        let made = jobs.map(|job| merge_month(job, arrived, terms, &mapping, &writer));
        // After an error, no thread begins another month.
        made.map(|month| month.inspect_err(|_| waiting().clear())).collect()
    });
    for months in made_by_thread {
        for month in months? {
            made.add(month.made);
            for (table, part) in month.parts {
                staging.set_month(table, month.month, part)?;
            }
        }
    }
    Ok(made)
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
    made: &mut Made,
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
        let Some(merged) = made.merge(known.remove(&id), sources, terms, &mapping) else { continue };
        if let Some(home) = spread.home.and_then(month_of_number) {
            moves.leaving.entry(home).or_default().insert(id);
        }
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
    let spooled = arrived.spools.iter().flat_map(|spool| spool.partitions());
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
