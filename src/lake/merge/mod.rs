//! Observed filings into a snapshot being made, month by month.

pub(super) mod change_log;
pub(super) mod latest;
pub(super) mod month;
pub(super) mod moved_month;
pub(super) mod spill;
pub(super) mod upsert;

use super::data_file;
use super::data_file::sorted;
use super::error::LakeError;
use super::format::layout;
use super::format::layout::Month;
use super::snapshot::staging::{Staging, TableDelta};
use crate::contract::eastern::epoch_days;
use crate::table::Table;
use arrow::record_batch::RecordBatch;
use change_log::{Changes, keep_first_old};
use jiff::Timestamp;
use jiff::civil::Date;
use month::{Counts, MonthInput, MonthMerge, merge_month};
use moved_month::{Moved, find_moved};
use spill::{Spill, SpilledFilings};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use upsert::upsert;

/// Rows of a `changes` file before the next one is begun.
const CHANGES_ROWS: usize = 128 * 1024;

impl Staging {
    /// Takes observed filings; `last_seen_at` says when each was observed. They wait on disk for
    /// [`Staging::merge_filings`].
    ///
    /// # Errors
    ///
    /// [`LakeError::Schema`] for rows of another shape; [`LakeError::Storage`].
    pub fn spill_filings(&mut self, rows: RecordBatch) -> Result<(), LakeError> {
        match &mut self.spill {
            Some(spill) => spill.push(rows),
            None => {
                let mut spill = self.new_spill()?;
                spill.push(rows)?;
                self.spill = Some(spill);
                Ok(())
            }
        }
    }

    /// Names businesses that their listing was seen to show no more, and the day they stood on. [`Staging::merge_filings`] marks
    /// them as vanished, unless they were observed elsewhere.
    pub fn note_gone(&mut self, gone: impl IntoIterator<Item = (i64, Date)>) {
        self.gone.extend(gone);
    }

    fn new_spill(&self) -> Result<Spill, LakeError> {
        Spill::new(self.lake.storage.clone(), self.dir.join("spill"))
    }

    /// Merges the spilled filings month by month: the newest observation of a business wins, the later one where
    /// they are of the same instant; `first_seen_at` is kept. An observation older than what the lake has changes
    /// nothing.
    ///
    /// `complete` names the listings that were read to their proven end: filing date, and whether it is that of
    /// fictitious names. A listed business of such a listing that was not observed is marked as vanished, and kept.
    ///
    /// What happened goes to `changes`, one row a business and field. `appeared` is written only when the parent
    /// already has filings: a first load is no news. A month in which only `last_seen_at` would differ keeps its file.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`]; [`LakeError::Damaged`] when a file of the parent is not what its commit says.
    pub fn merge_filings(
        &mut self,
        complete: &BTreeSet<(Date, bool)>,
        observed_at: Timestamp,
    ) -> Result<TableDelta, LakeError> {
        let spill = self.spill.take().map_or_else(|| self.new_spill(), Ok)?;
        let mut spilled = spill.finish()?;
        let moved = find_moved(&self.months(), &spilled)?;
        spilled.forget(&moved.stale);
        let complete: BTreeSet<(i32, bool)> =
            complete.iter().map(|(day, fictitious)| (epoch_days(*day), *fictitious)).collect();
        let mut merge = FilingsMerge {
            has_news: self.rows(Table::Filings.name()) > 0,
            observed_at: observed_at.as_microsecond(),
            same_run: self.changes_of_this_run()?,
            delta: TableDelta { read: spilled.read, ..TableDelta::default() },
            changes: Changes::default(),
            moved,
            complete,
            gone: std::mem::take(&mut self.gone),
        };
        for month in self.months_to_merge(&spilled, &merge) {
            self.merge_one_month(month, &spilled, &mut merge)?;
        }
        self.write_changes(&mut merge)?;
        self.lake.storage.remove_dir_all(&self.dir.join("spill"))?;
        merge.delta.total = self.rows(Table::Filings.name());
        Ok(merge.delta)
    }

    fn months_to_merge(&self, spilled: &SpilledFilings, merge: &FilingsMerge) -> BTreeSet<Month> {
        let known = self.months();
        let days = merge.complete.iter().map(|(day, _)| *day);
        let days = days.chain(merge.gone.values().map(|day| epoch_days(*day)));
        let read_whole = days.filter_map(Month::of_epoch_day);
        let mut months = spilled.months();
        months.extend(read_whole.filter(|month| known.contains_key(month)));
        months.extend(merge.moved.leaving.keys());
        months
    }

    fn merge_one_month(
        &mut self,
        month: Month,
        spilled: &SpilledFilings,
        merge: &mut FilingsMerge,
    ) -> Result<(), LakeError> {
        let MonthMerge { rows, counts } =
            merge.month(month, self.month_rows(month)?, &spilled.month(month)?)?;
        merge.count(counts);
        if counts != Counts::default() || merge.moved.leaving.contains_key(&month) {
            merge.delta.changed_months.insert(month);
            let in_order = sorted(Table::Filings, &rows)?;
            // A month is large: no copy of it outlives its use.
            drop(rows);
            self.replace_month(month, &in_order)?;
        }
        if merge.changes.len() >= CHANGES_ROWS { self.write_changes(merge) } else { Ok(()) }
    }

    fn replace_month(&mut self, month: Month, rows: &RecordBatch) -> Result<(), LakeError> {
        let table = Table::Filings.name();
        let file = if rows.num_rows() == 0 {
            None
        } else {
            Some(self.write(Some(Table::Filings), &format!("{table}/{}", month.folder()), rows)?)
        };
        self.swap(table, |old| layout::month_in(&old.entry.path) == Some(month), file)
    }

    fn month_rows(&self, month: Month) -> Result<RecordBatch, LakeError> {
        let files = self.of_table(Table::Filings.name());
        let of_month = files.iter().filter(|file| layout::month_in(&file.entry.path) == Some(month));
        self.read(Table::Filings, of_month)
    }

    /// The file of each month of filings.
    fn months(&self) -> BTreeMap<Month, PathBuf> {
        let files = self.of_table(Table::Filings.name()).iter();
        files.filter_map(|file| Some((layout::month_in(&file.entry.path)?, file.path.clone()))).collect()
    }

    fn write_changes(&mut self, merge: &mut FilingsMerge) -> Result<(), LakeError> {
        let changes = std::mem::take(&mut merge.changes);
        if changes.len() == 0 {
            return Ok(());
        }
        let rows = changes.into_rows(merge.observed_at, &self.run_id)?;
        let same_run = std::mem::take(&mut merge.same_run);
        self.append_changes(&rows, &same_run).map(|_| ())
    }

    /// Adds change rows to the smallest file while it has room, else as a new file; old full files stay as they are.
    ///
    /// `same_run` are files that may hold rows with the same key, which only the same run can have written.
    pub(super) fn append_changes(
        &mut self,
        rows: &RecordBatch,
        same_run: &[PathBuf],
    ) -> Result<TableDelta, LakeError> {
        let table = Table::Changes;
        let room = CHANGES_ROWS.saturating_sub(rows.num_rows()) as u64;
        let smallest = self.of_table(table.name()).iter().min_by_key(|file| file.entry.rows);
        let smallest = smallest.filter(|file| file.entry.rows <= room).map(|file| file.path.clone());
        let joined: BTreeSet<PathBuf> = same_run.iter().cloned().chain(smallest).collect();
        let files = self.of_table(table.name()).iter().filter(|file| joined.contains(&file.path));
        let existing = self.read(table, files)?;
        let rows = &keep_first_old(&existing, rows)?;
        let merged = upsert(table, &existing, rows, &BTreeSet::new())?;
        if let Some(rows) = &merged.rows {
            let file = self.write(Some(table), table.name(), &sorted(table, rows)?)?;
            self.swap(table.name(), |old| joined.contains(&old.path), Some(file))?;
        }
        let (read, total) = (rows.num_rows() as u64, self.rows(table.name()));
        Ok(TableDelta { read, added: merged.added, changed: merged.changed, total, ..TableDelta::default() })
    }

    fn changes_of_this_run(&self) -> Result<Vec<PathBuf>, LakeError> {
        let mut found = Vec::new();
        for file in self.of_table(Table::Changes.name()) {
            if data_file::may_hold_text(&file.path, "run_id", &self.run_id)? {
                found.push(file.path.clone());
            }
        }
        Ok(found)
    }
}

/// What one merge of filings carries from month to month.
struct FilingsMerge {
    has_news: bool,
    observed_at: i64,
    same_run: Vec<PathBuf>,
    delta: TableDelta,
    changes: Changes,
    moved: Moved,
    complete: BTreeSet<(i32, bool)>,
    gone: BTreeMap<i64, Date>,
}

impl FilingsMerge {
    fn month(
        &mut self,
        month: Month,
        existing: RecordBatch,
        observed: &RecordBatch,
    ) -> Result<MonthMerge, LakeError> {
        let input = MonthInput {
            existing: &self.moved.apply(month, existing)?,
            observed,
            complete: &self.complete,
            gone: &self.gone,
            observed_at: self.observed_at,
            has_news: self.has_news,
        };
        merge_month(&input, &mut self.changes)
    }

    fn count(&mut self, counts: Counts) {
        self.delta.added += counts.added;
        self.delta.changed += counts.changed;
        self.delta.vanished += counts.vanished;
        self.delta.returned += counts.returned;
    }
}
