//! Rows of the `changes` table.

use super::row_key::keys;
use crate::lake::data_file::column;
use crate::lake::error::LakeError;
use crate::lake::snapshot::staging::{Staging, TableDelta};
use crate::table::{Change, ChangeRow, Footer, Row as _, Table};
use arrow_array::{Array, RecordBatch};
use arrow_row::Row;
use arrow_select::interleave::interleave;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// Rows of a file before the next one is begun.
pub(super) const FILE_ROWS: usize = 128 * 1024;

/// Changes that one run found at one instant, not yet written.
#[derive(Debug)]
pub(super) struct Changes {
    observed_at: Timestamp,
    observed_on: Date,
    run_id: String,
    rows: Vec<ChangeRow>,
}

impl Changes {
    pub(super) fn new(observed_at: Timestamp, observed_on: Date, run_id: &str) -> Self {
        Self { observed_at, observed_on, run_id: run_id.to_owned(), rows: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a business that appeared, vanished or returned.
    pub(super) fn push(&mut self, business_id: i64, change: Change) {
        self.push_field(business_id, change, "", None, None);
    }

    /// Adds one field of a business that changed, with its old and new value.
    pub(super) fn push_field(
        &mut self,
        business_id: i64,
        change: Change,
        field: &str,
        old: Option<String>,
        new: Option<String>,
    ) {
        let (observed_at, observed_on) = (self.observed_at, self.observed_on);
        let (run_id, field) = (self.run_id.clone(), field.to_owned());
        self.rows.push(ChangeRow { observed_at, observed_on, business_id, change, field, old, new, run_id });
    }

    pub(super) fn take(&mut self) -> Result<RecordBatch, LakeError> {
        Ok(ChangeRow::batch(&std::mem::take(&mut self.rows))?)
    }
}

impl Staging {
    /// Adds change rows to the smallest file while it has room, else as a new file; full files stay as they are.
    ///
    /// `same_run` are files that may have rows with the same key, which only the same run can have written.
    pub(super) fn append_changes(
        &mut self,
        rows: &RecordBatch,
        same_run: &[PathBuf],
    ) -> Result<TableDelta, LakeError> {
        let table = Table::Changes;
        let files = self.of_table(table.name());
        let room = FILE_ROWS.saturating_sub(rows.num_rows()) as u64;
        let smallest = files.iter().min_by_key(|file| file.entry.rows);
        let smallest = smallest.filter(|file| file.entry.rows <= room).map(|file| file.path.clone());
        let joined: BTreeSet<PathBuf> = same_run.iter().cloned().chain(smallest).collect();
        let existing = self.read(table, files.iter().filter(|file| joined.contains(&file.path)))?;
        let rows = keep_first_old(&existing, rows)?;
        self.upsert_file(table, &existing, &rows, |_| false, |old| joined.contains(&old.path))
    }

    /// Files that may have change rows of this run.
    pub(super) fn changes_of_this_run(&self) -> Result<Vec<PathBuf>, LakeError> {
        let mut found = Vec::new();
        for file in self.of_table(Table::Changes.name()) {
            if Footer::open(&file.path)?.may_hold_text("run_id", &self.run_id) {
                found.push(file.path.clone());
            }
        }
        Ok(found)
    }
}

/// The rows, each with the oldest `old` value that the same run has `written` for its field: A → B and then B → C
/// becomes A → C.
fn keep_first_old(written: &RecordBatch, rows: &RecordBatch) -> Result<RecordBatch, LakeError> {
    let failed = || LakeError::arrow("join change rows");
    let (written_keys, keys) = (keys(Table::Changes, written)?, keys(Table::Changes, rows)?);
    let first: HashMap<Row<'_>, usize> = written_keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let pick = |(row, key)| first.get(&key).map_or((0, row), |written| (1, *written));
    let picks: Vec<(usize, usize)> = keys.iter().enumerate().map(pick).collect();
    let olds: [&dyn Array; 2] = [column(rows, "old")?, column(written, "old")?];
    let mut columns = rows.columns().to_vec();
    let at = rows.schema_ref().index_of("old").map_err(failed())?;
    columns[at] = interleave(&olds, &picks).map_err(failed())?;
    RecordBatch::try_new(rows.schema(), columns).map_err(failed())
}
