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
#[derive(Default)]
pub(super) struct Upsert {
    /// The rows, unsorted; none when nothing differs but a column of [`freshness`].
    pub(super) rows: Option<RecordBatch>,
    pub(super) added: u64,
    /// Rows that differ in more than a timestamp.
    pub(super) changed: u64,
    /// Rows of a replaced business that are not among the new rows.
    pub(super) removed: u64,
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
pub(super) fn upsert(
    table: Table,
    existing: &RecordBatch,
    arrived: &RecordBatch,
    replaced: &BTreeSet<i64>,
) -> Result<Upsert, LakeError> {
    let (old_keys, new_keys) = (keys(table, existing)?, keys(table, arrived)?);
    let newest: HashMap<Row<'_>, usize> = new_keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let (values, instants) = comparators(table, existing, arrived)?;
    let dropped = dropped(table, existing, replaced)?;
    let mut merged = Upsert::default();
    let (mut picks, mut has_news) = (Vec::new(), false);
    let mut is_known = vec![false; arrived.num_rows()];
    for (row, key) in old_keys.iter().enumerate() {
        match newest.get(&key) {
            Some(&at) => {
                is_known[at] = true;
                picks.push((1, at));
                let is_changed = differs(&values, row, at);
                merged.changed += u64::from(is_changed);
                has_news = has_news || is_changed || differs(&instants, row, at);
            }
            None if dropped.as_ref().is_some_and(|dropped| dropped[row]) => merged.removed += 1,
            None => picks.push((0, row)),
        }
    }
    for (at, key) in new_keys.iter().enumerate() {
        if newest.get(&key) == Some(&at) && !is_known[at] {
            picks.push((1, at));
            merged.added += 1;
        }
    }
    if has_news || merged.added > 0 || merged.removed > 0 {
        let rows = interleave_record_batch(&[existing, arrived], &picks);
        merged.rows = Some(rows.map_err(LakeError::arrow("merge rows"))?);
    }
    Ok(merged)
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

/// Comparators of the columns that count: first those of values, then those of timestamps.
fn comparators(
    table: Table,
    old: &RecordBatch,
    new: &RecordBatch,
) -> Result<(Vec<DynComparator>, Vec<DynComparator>), LakeError> {
    let (mut values, mut instants) = (Vec::new(), Vec::new());
    for field in table.schema().fields() {
        let name = field.name().as_str();
        if freshness(table).contains(&name) {
            continue;
        }
        let compare = make_comparator(column(old, name)?, column(new, name)?, SortOptions::default());
        let compare = compare.map_err(LakeError::arrow("compare rows"))?;
        let is_instant = matches!(field.data_type(), DataType::Timestamp(..));
        if is_instant { &mut instants } else { &mut values }.push(compare);
    }
    Ok((values, instants))
}

fn differs(columns: &[DynComparator], old: usize, new: usize) -> bool {
    columns.iter().any(|compare| compare(old, new) != Ordering::Equal)
}
