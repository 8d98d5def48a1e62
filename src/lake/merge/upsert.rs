//! Existing and new rows of a table by key: the newest wins. Pure.

use super::row_key::keys;
use crate::lake::data_file::column;
use crate::lake::error::LakeError;
use crate::table::{Table, typed_column};
use arrow::array::{DynComparator, Int64Array, make_comparator};
use arrow::compute::{SortOptions, interleave_record_batch};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;
use arrow::row::Row;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

/// A table after an upsert.
pub(crate) struct Upsert {
    /// The rows, unsorted; none when nothing differs but a column of [`freshness`].
    pub(crate) rows: Option<RecordBatch>,
    pub(crate) added: u64,
    /// Rows that differ in more than a timestamp.
    pub(crate) changed: u64,
    /// Rows of a replaced business that are not among the new rows.
    pub(crate) removed: u64,
}

/// Columns that every reading changes; alone they are no reason for a new file.
const fn freshness(table: Table) -> &'static [&'static str] {
    match table {
        Table::Coverage => &["checked_at"],
        _ => &[],
    }
}

/// Upserts `arrived` into `existing`; of rows with the same key the last one in `arrived` wins. Rows of a business in
/// `replaced` that are not in `arrived` are dropped.
pub(crate) fn upsert(
    table: Table,
    existing: &RecordBatch,
    arrived: &RecordBatch,
    replaced: &BTreeSet<i64>,
) -> Result<Upsert, LakeError> {
    let (old_keys, new_keys) = (keys(table, existing)?, keys(table, arrived)?);
    let newest: HashMap<Row<'_>, usize> = new_keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let differ = Differ::between(table, existing, arrived)?;
    let dropped = dropped(table, existing, replaced)?;
    let mut merge = Merge::default();
    let mut is_known = vec![false; arrived.num_rows()];
    for (row, key) in old_keys.iter().enumerate() {
        match newest.get(&key) {
            Some(&at) => {
                is_known[at] = true;
                merge.replace(&differ, row, at);
            }
            None if dropped.as_ref().is_some_and(|dropped| dropped[row]) => merge.removed += 1,
            None => merge.picks.push((0, row)),
        }
    }
    for (at, key) in new_keys.iter().enumerate() {
        if newest.get(&key) == Some(&at) && !is_known[at] {
            merge.picks.push((1, at));
            merge.added += 1;
        }
    }
    merge.finish(existing, arrived)
}

/// Whether each row is of a replaced business; none when no business is replaced.
fn dropped(
    table: Table,
    existing: &RecordBatch,
    replaced: &BTreeSet<i64>,
) -> Result<Option<Vec<bool>>, LakeError> {
    if replaced.is_empty() {
        return Ok(None);
    }
    let ids: &Int64Array = typed_column(existing, table, "business_id")?;
    Ok(Some(ids.values().iter().map(|id| replaced.contains(id)).collect()))
}

#[derive(Default)]
struct Merge {
    picks: Vec<(usize, usize)>,
    added: u64,
    changed: u64,
    removed: u64,
    /// Whether a replaced row differs in a column that counts.
    is_touched: bool,
}

impl Merge {
    fn replace(&mut self, differ: &Differ, old: usize, new: usize) {
        self.picks.push((1, new));
        self.changed += u64::from(differ.in_values(old, new));
        self.is_touched = self.is_touched || differ.counts(old, new);
    }

    fn finish(self, existing: &RecordBatch, arrived: &RecordBatch) -> Result<Upsert, LakeError> {
        let Self { picks, added, changed, removed, is_touched } = self;
        let rows = if added > 0 || removed > 0 || is_touched {
            let merged = interleave_record_batch(&[existing, arrived], &picks);
            Some(merged.map_err(LakeError::arrow("merge rows"))?)
        } else {
            None
        };
        Ok(Upsert { rows, added, changed, removed })
    }
}

/// Comparison of a row with the one that replaces it.
struct Differ {
    /// Everything but timestamps.
    values: Vec<DynComparator>,
    /// Timestamps that count.
    instants: Vec<DynComparator>,
}

impl Differ {
    fn between(table: Table, old: &RecordBatch, new: &RecordBatch) -> Result<Self, LakeError> {
        let mut differ = Self { values: Vec::new(), instants: Vec::new() };
        let schema = table.schema();
        let counted =
            schema.fields().iter().filter(|field| !freshness(table).contains(&field.name().as_str()));
        for field in counted {
            let (old, new) = (column(old, field.name())?, column(new, field.name())?);
            let compare = make_comparator(old, new, SortOptions::default());
            let compare = compare.map_err(LakeError::arrow("compare rows"))?;
            match field.data_type() {
                DataType::Timestamp(..) => differ.instants.push(compare),
                _ => differ.values.push(compare),
            }
        }
        Ok(differ)
    }

    fn in_values(&self, old: usize, new: usize) -> bool {
        self.values.iter().any(|compare| compare(old, new) != Ordering::Equal)
    }

    fn counts(&self, old: usize, new: usize) -> bool {
        self.in_values(old, new) || self.instants.iter().any(|compare| compare(old, new) != Ordering::Equal)
    }
}
