//! Rows merged by key into a table that is one file: all tables but filings.

use super::upsert::upsert;
use crate::lake::data_file::{check_schema, sorted};
use crate::lake::error::LakeError;
use crate::lake::format::manifest::StagedFile;
use crate::lake::snapshot::staging::{Staging, TableDelta};
use crate::table::{Table, typed_column};
use arrow::array::Int64Array;
use arrow::record_batch::RecordBatch;
use std::collections::BTreeSet;

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
        check_schema(table, &rows.schema())?;
        if table.is_partitioned() {
            let what = "they are spilled and merged by month".to_owned();
            return Err(LakeError::Schema { table: table.name().to_owned(), what });
        }
        if table == Table::Changes {
            return self.append_changes(rows, &[]);
        }
        let mut replaced = replaced.clone();
        if table == Table::Officers {
            let ids: &Int64Array = typed_column(rows, table, "business_id")?;
            replaced.extend(ids.values());
        }
        let existing = self.read(table, self.of_table(table.name()).iter())?;
        self.upsert_file(table, &existing, rows, &replaced, |_| true)
    }

    /// Upserts rows into the `existing` ones, which are those of the files that `is_old` picks. One file replaces those.
    pub(super) fn upsert_file(
        &mut self,
        table: Table,
        existing: &RecordBatch,
        rows: &RecordBatch,
        replaced: &BTreeSet<i64>,
        is_old: impl Fn(&StagedFile) -> bool,
    ) -> Result<TableDelta, LakeError> {
        let merged = upsert(table, existing, rows, replaced)?;
        if let Some(rows) = &merged.rows {
            let file = self.write(Some(table), table.name(), &sorted(table, rows)?)?;
            self.swap(table.name(), is_old, Some(file))?;
        }
        Ok(TableDelta {
            read: rows.num_rows() as u64,
            added: merged.added,
            changed: merged.changed,
            vanished: merged.removed,
            total: self.rows(table.name()),
            ..TableDelta::default()
        })
    }
}
