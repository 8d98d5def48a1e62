//! Rows merged by key into a table that is one file: all tables but filings. The newest row wins.

use super::row_key::keys;
use crate::lake::data_file::column;
use crate::lake::error::LakeError;
use crate::lake::format::manifest::StagedFile;
use crate::lake::snapshot::staging::{Staging, TableDelta};
use crate::table::{Table, check_schema, sort_batch, typed_column};
use arrow_array::{Date32Array, Int64Array, RecordBatch};
use arrow_ord::ord::{DynComparator, make_comparator};
use arrow_row::Row;
use arrow_schema::{DataType, SortOptions};
use arrow_select::filter::filter_record_batch;
use arrow_select::interleave::interleave_record_batch;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

impl Staging {
    /// Upserts rows into a table: of rows with the same key the last one wins. A table in which nothing differs keeps its
    /// file.
    ///
    /// All officers of each business that is among `rows` are replaced.
    ///
    /// # Errors
    ///
    /// [`LakeError::Schema`] for rows of another shape, and for filings, which are merged by month.
    pub fn merge(&mut self, table: Table, rows: &RecordBatch) -> Result<TableDelta, LakeError> {
        self.merge_replacing(table, rows, &BTreeSet::new())
    }

    /// As [`Staging::merge`]; of the businesses in `replaced`, rows that are not among `rows` are dropped. For
    /// officers: those of a business whose list is now shorter, or empty.
    ///
    /// # Errors
    ///
    /// As [`Staging::merge`]; [`LakeError::Schema`] also when `replaced` is given and the table has no `business_id`.
    pub fn merge_replacing(
        &mut self,
        table: Table,
        rows: &RecordBatch,
        replaced: &BTreeSet<i64>,
    ) -> Result<TableDelta, LakeError> {
        check_schema(&rows.schema(), &table.schema(), table.name())?;
        if table.is_partitioned() {
            let what = "they are spilled and merged by month".to_owned();
            return Err(LakeError::Schema { table: table.name().to_owned(), what });
        }
        let mut replaced = replaced.clone();
        if table == Table::Officers {
            let ids: &Int64Array = typed_column(rows, table, "business_id")?;
            replaced.extend(ids.values());
        }
        let existing = self.read(table, self.of_table(table.name()).iter())?;
        let ids: Option<&Int64Array> =
            if replaced.is_empty() { None } else { Some(typed_column(&existing, table, "business_id")?) };
        let is_dropped = |row| ids.is_some_and(|ids| replaced.contains(&ids.value(row)));
        self.upsert_file(table, &existing, rows, is_dropped, |_| true)
    }

    /// As [`Staging::merge`]; rows that are not among `rows` are dropped.
    ///
    /// # Errors
    ///
    /// As [`Staging::merge`].
    pub fn replace(&mut self, table: Table, rows: &RecordBatch) -> Result<TableDelta, LakeError> {
        check_schema(&rows.schema(), &table.schema(), table.name())?;
        let existing = self.read(table, self.of_table(table.name()).iter())?;
        self.upsert_file(table, &existing, rows, |_| true, |_| true)
    }

    /// Merges observations into the history of `latest`, which then has those of the newest day.
    ///
    /// # Errors
    ///
    /// As [`Staging::merge`]; [`LakeError::Schema`] for a table without history.
    pub fn merge_observed(
        &mut self,
        latest: Table,
        rows: &RecordBatch,
    ) -> Result<(TableDelta, TableDelta), LakeError> {
        let history = latest.history().ok_or_else(|| LakeError::Schema {
            table: latest.name().to_owned(),
            what: "it has no history".to_owned(),
        })?;
        let merged = self.merge(history, rows)?;
        let all = self.read(history, self.of_table(history.name()).iter())?;
        let days: &Date32Array = typed_column(&all, history, "observed_on")?;
        let newest = days.iter().max();
        let is_newest = days.iter().map(|day| Some(Some(day) == newest)).collect();
        let newest = filter_record_batch(&all, &is_newest).map_err(LakeError::arrow("filter rows"))?;
        Ok((self.replace(latest, &newest)?, merged))
    }

    /// Upserts rows into the `existing` ones, which are those of the files that `is_old` picks. One file replaces those. An existing
    /// row that does not arrive again is dropped if `is_dropped` picks it.
    pub(super) fn upsert_file(
        &mut self,
        table: Table,
        existing: &RecordBatch,
        rows: &RecordBatch,
        is_dropped: impl Fn(usize) -> bool,
        is_old: impl Fn(&StagedFile) -> bool,
    ) -> Result<TableDelta, LakeError> {
        let (merged, delta) = upsert(table, existing, rows, is_dropped)?;
        // A table without rows has a file too.
        let is_there = !self.of_table(table.name()).is_empty();
        if let Some(merged) = merged.or_else(|| (!is_there).then(|| existing.clone())) {
            let merged = sort_batch(table, &merged)?;
            let file = self.part_writer().write(Some(table), table.name(), &merged, "")?;
            self.swap(table.name(), is_old, Some(file))?;
        }
        Ok(TableDelta { total: self.rows(table.name()), ..delta })
    }
}

/// Upserts `arrived` into `existing`; of rows with the same key the last one in `arrived` wins. Returns the rows, unsorted: none when nothing
/// differs that counts.
fn upsert(
    table: Table,
    existing: &RecordBatch,
    arrived: &RecordBatch,
    is_dropped: impl Fn(usize) -> bool,
) -> Result<(Option<RecordBatch>, TableDelta), LakeError> {
    let (old_keys, new_keys) = (keys(table, existing)?, keys(table, arrived)?);
    let newest: HashMap<Row<'_>, usize> = new_keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let (values, instants) = comparators(table, existing, arrived)?;
    let mut delta = TableDelta { read: arrived.num_rows() as u64, ..TableDelta::default() };
    let (mut picks, mut has_news) = (Vec::new(), false);
    let mut is_known = vec![false; arrived.num_rows()];
    for (row, key) in old_keys.iter().enumerate() {
        match newest.get(&key) {
            Some(&at) => {
                is_known[at] = true;
                picks.push((1, at));
                let is_changed = differs(&values, row, at);
                delta.changed += u64::from(is_changed);
                has_news = has_news || is_changed || differs(&instants, row, at);
            }
            None if is_dropped(row) => delta.vanished += 1,
            None => picks.push((0, row)),
        }
    }
    for (at, key) in new_keys.iter().enumerate() {
        if newest.get(&key) == Some(&at) && !is_known[at] {
            picks.push((1, at));
            delta.added += 1;
        }
    }
    if !has_news && delta.added == 0 && delta.vanished == 0 {
        return Ok((None, delta));
    }
    let rows = interleave_record_batch(&[existing, arrived], &picks);
    Ok((Some(rows.map_err(LakeError::arrow("merge rows"))?), delta))
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
        // Every reading of a day changes this; alone it is no reason for a new file.
        if table == Table::Coverage && name == "checked_at" {
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
