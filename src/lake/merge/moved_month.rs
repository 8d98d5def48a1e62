//! Businesses whose filing month changed: found in their old month's file, so that no business is in two months.

use super::latest::{Observation, Observed};
use crate::lake::data_file::{business_ids, ids_in_part};
use crate::lake::error::LakeError;
use crate::lake::format::layout::Month;
use crate::table::{FilingColumns, Table, read_batch};
use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use hashbrown::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Existing rows that go to another month, and observations older than the lake's row in another month.
#[derive(Debug, Default)]
pub(super) struct MonthMoves {
    pub(super) leaving: BTreeMap<Month, BTreeSet<i64>>,
    pub(super) entering: BTreeMap<Month, Vec<RecordBatch>>,
    /// Businesses of which the lake has a newer observation in another month.
    pub(super) stale: BTreeSet<i64>,
}

/// The observed businesses whose row is in the file of another month. `parts` has the file of each month.
pub(super) fn find_month_moves(
    parts: &BTreeMap<Month, PathBuf>,
    observed: &Observed,
) -> Result<MonthMoves, LakeError> {
    let arrivals = arrivals(parts, observed)?;
    let mut moves = MonthMoves::default();
    if arrivals.is_empty() {
        return Ok(moves);
    }
    let ids: Vec<i64> = arrivals.iter().map(|arrival| arrival.business_id).collect();
    for (month, path) in parts {
        if !ids_in_part(path, &ids)?.is_empty() {
            moves.note(*month, &read_batch(path, None)?, &arrivals)?;
        }
    }
    Ok(moves)
}

/// Observed businesses that are not in the file of their month, by id: new ones, and those of another month.
fn arrivals(parts: &BTreeMap<Month, PathBuf>, observed: &Observed) -> Result<Vec<Observation>, LakeError> {
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let mut by_month: HashMap<Month, Vec<Observation>> = HashMap::new();
    for observation in observed.newest() {
        by_month.entry(observation.month).or_default().push(observation);
    }
    let mut arrivals = Vec::new();
    for (month, observed) in by_month {
        let known: HashSet<i64> = match parts.get(&month) {
            Some(path) => business_ids(path)?.into_iter().collect(),
            None => HashSet::new(),
        };
        arrivals.extend(observed.into_iter().filter(|observation| !known.contains(&observation.business_id)));
    }
    arrivals.sort_unstable();
    Ok(arrivals)
}

impl MonthMoves {
    /// Adds the rows of a month's file whose business arrived in another month.
    fn note(&mut self, from: Month, rows: &RecordBatch, arrivals: &[Observation]) -> Result<(), LakeError> {
        let filings = FilingColumns::new(rows);
        let (ids, seen) = (filings.business_id()?.values(), filings.changed_at()?.values());
        let mut to: Vec<Option<Month>> = vec![None; rows.num_rows()];
        for (row, id) in ids.iter().enumerate() {
            let Ok(at) = arrivals.binary_search_by_key(id, |arrival| arrival.business_id) else { continue };
            if arrivals[at].seen < seen[row] {
                self.stale.insert(*id);
            } else {
                self.leaving.entry(from).or_default().insert(*id);
                to[row] = Some(arrivals[at].month);
            }
        }
        for month in to.iter().flatten().copied().collect::<BTreeSet<_>>() {
            let keep: Vec<bool> = to.iter().map(|target| *target == Some(month)).collect();
            let rows = filter_record_batch(rows, &keep.into()).map_err(LakeError::arrow("move rows"))?;
            self.entering.entry(month).or_default().push(rows);
        }
        Ok(())
    }

    /// The rows of a month, less those that leave it, plus those that enter it.
    pub(super) fn apply(&self, month: Month, existing: RecordBatch) -> Result<RecordBatch, LakeError> {
        let mut rows = existing;
        if let Some(leaving) = self.leaving.get(&month) {
            let ids = FilingColumns::new(&rows).business_id()?;
            let keep: Vec<bool> = ids.values().iter().map(|id| !leaving.contains(id)).collect();
            rows = filter_record_batch(&rows, &keep.into()).map_err(LakeError::arrow("move rows"))?;
        }
        let Some(entering) = self.entering.get(&month) else { return Ok(rows) };
        concat_batches(&Table::Filings.schema(), std::iter::once(&rows).chain(entering))
            .map_err(LakeError::arrow("move rows"))
    }
}
