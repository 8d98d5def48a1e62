//! Businesses whose filing month changed: found where they lie, so that no business stands in two months.

use super::latest::Observation;
use super::spill::{SpilledFilings, micros};
use crate::lake::data_file::{ids_in_part, int64, read_part};
use crate::lake::error::LakeError;
use crate::lake::format::layout::Month;
use crate::table::Table;
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::record_batch::RecordBatch;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

/// Existing rows that go to another month, and observations that came too late to say anything.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    /// Ids that leave a month.
    pub(crate) leaving: BTreeMap<Month, BTreeSet<i64>>,
    /// Existing rows that enter a month.
    pub(crate) entering: BTreeMap<Month, Vec<RecordBatch>>,
    /// Businesses of which the lake has a newer observation in another month.
    pub(crate) stale: BTreeSet<i64>,
}

/// Looks for observed businesses in the files of other months than the one they were observed in.
pub(crate) fn find_moved(
    parts: &BTreeMap<Month, PathBuf>,
    spilled: &SpilledFilings,
) -> Result<Moved, LakeError> {
    let arrivals = arrivals(parts, spilled)?;
    let mut moved = Moved::default();
    if arrivals.is_empty() {
        return Ok(moved);
    }
    let ids: Vec<i64> = arrivals.iter().map(|arrival| arrival.business_id).collect();
    for (month, path) in parts {
        let found = ids_in_part(path, &ids)?;
        if !found.is_empty() {
            moved.note(*month, &read_part(path, None)?, &found, &arrivals)?;
        }
    }
    Ok(moved)
}

/// Observed businesses that the file of their month does not hold: new ones, and those that moved there. By id.
fn arrivals(
    parts: &BTreeMap<Month, PathBuf>,
    spilled: &SpilledFilings,
) -> Result<Vec<Observation>, LakeError> {
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let mut by_month: HashMap<Month, Vec<Observation>> = HashMap::new();
    for observation in spilled.newest() {
        by_month.entry(observation.month).or_default().push(observation);
    }
    let mut arrivals = Vec::new();
    for (month, observed) in by_month {
        let known: HashSet<i64> = match parts.get(&month) {
            Some(path) => {
                let column = read_part(path, Some(&["business_id"]))?;
                int64(&column, "business_id")?.values().iter().copied().collect()
            }
            None => HashSet::new(),
        };
        arrivals.extend(observed.into_iter().filter(|observation| !known.contains(&observation.business_id)));
    }
    arrivals.sort_unstable();
    Ok(arrivals)
}

impl Moved {
    fn note(
        &mut self,
        from: Month,
        rows: &RecordBatch,
        found: &[i64],
        arrivals: &[Observation],
    ) -> Result<(), LakeError> {
        let ids = int64(rows, "business_id")?;
        let seen = micros(rows, "last_seen_at")?;
        let mut to: Vec<Option<Month>> = vec![None; rows.num_rows()];
        for (row, id) in ids.values().iter().enumerate().filter(|(_, id)| found.binary_search(id).is_ok()) {
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

    /// The rows a month had, less those that leave it, and those that enter it.
    pub(crate) fn apply(&self, month: Month, existing: RecordBatch) -> Result<RecordBatch, LakeError> {
        let mut rows = existing;
        if let Some(leaving) = self.leaving.get(&month) {
            let ids = int64(&rows, "business_id")?;
            let keep: Vec<bool> = ids.values().iter().map(|id| !leaving.contains(id)).collect();
            rows = filter_record_batch(&rows, &keep.into()).map_err(LakeError::arrow("move rows"))?;
        }
        let Some(entering) = self.entering.get(&month) else { return Ok(rows) };
        concat_batches(&Table::Filings.schema(), std::iter::once(&rows).chain(entering))
            .map_err(LakeError::arrow("move rows"))
    }
}
