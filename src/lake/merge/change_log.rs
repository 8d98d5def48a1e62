//! Rows of the `changes` table.

use super::upsert::keys;
use crate::lake::data_file::column;
use crate::lake::error::LakeError;
use crate::table::{Change, Table};
use arrow::array::{Array, ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow::compute::interleave;
use arrow::record_batch::RecordBatch;
use arrow::row::Row;
use std::collections::HashMap;
use std::sync::Arc;

/// Changes seen by one run, column by column.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    business_id: Vec<i64>,
    change: Vec<&'static str>,
    field: Vec<String>,
    old: Vec<Option<String>>,
    new: Vec<Option<String>>,
}

impl Changes {
    pub(crate) fn len(&self) -> usize {
        self.business_id.len()
    }

    /// A business that appeared, vanished or returned.
    pub(crate) fn push(&mut self, business_id: i64, change: Change) {
        self.push_field(business_id, change, "", None, None);
    }

    /// One field of a business that changed.
    pub(crate) fn push_changed(
        &mut self,
        business_id: i64,
        field: &str,
        old: Option<String>,
        new: Option<String>,
    ) {
        self.push_field(business_id, Change::Changed, field, old, new);
    }

    fn push_field(
        &mut self,
        business_id: i64,
        change: Change,
        field: &str,
        old: Option<String>,
        new: Option<String>,
    ) {
        self.business_id.push(business_id);
        self.change.push(change.name());
        self.field.push(field.to_owned());
        self.old.push(old);
        self.new.push(new);
    }

    /// The rows, all of one run and one instant.
    pub(crate) fn into_rows(self, observed_at: i64, run_id: &str) -> Result<RecordBatch, LakeError> {
        let count = self.len();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(TimestampMicrosecondArray::from(vec![observed_at; count]).with_timezone("UTC")),
            Arc::new(Int64Array::from(self.business_id)),
            Arc::new(StringArray::from(self.change)),
            Arc::new(StringArray::from(self.field)),
            Arc::new(StringArray::from(self.old)),
            Arc::new(StringArray::from(self.new)),
            Arc::new(StringArray::from(vec![run_id; count])),
        ];
        RecordBatch::try_new(Table::Changes.schema(), columns).map_err(LakeError::arrow("build change rows"))
    }
}

/// The rows, where the same run already told of the same field with the value that it first found: A → B and then
/// B → C is told as A → C.
pub(crate) fn keep_first_old(told: &RecordBatch, rows: &RecordBatch) -> Result<RecordBatch, LakeError> {
    let (told_keys, keys) = (keys(Table::Changes, told)?, keys(Table::Changes, rows)?);
    let first: HashMap<Row<'_>, usize> = told_keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let picks: Vec<(usize, usize)> = keys
        .iter()
        .enumerate()
        .map(|(row, key)| first.get(&key).map_or((0, row), |told| (1, *told)))
        .collect();
    let olds: [&dyn Array; 2] = [column(rows, "old")?, column(told, "old")?];
    let old = interleave(&olds, &picks).map_err(LakeError::arrow("join change rows"))?;
    let mut columns = rows.columns().to_vec();
    let at = rows.schema_ref().index_of("old").map_err(LakeError::arrow("join change rows"))?;
    columns[at] = old;
    RecordBatch::try_new(rows.schema(), columns).map_err(LakeError::arrow("join change rows"))
}
