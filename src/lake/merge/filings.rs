//! Observed filings merged into a staged snapshot, month by month.

use super::change_log::{Changes, FILE_ROWS};
use super::known_before::KnownBefore;
use super::losses::Losses;
use super::month::{IsNews, Listings, merge_month};
use super::moved_month::{MonthMoves, find_month_moves};
use super::spill::Spill;
use crate::contract::eastern::{day_of_epoch, epoch_days};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Month, month_in};
use crate::lake::snapshot::staging::{Staging, TableDelta};
use crate::table::{FilingColumns, Table, sort_batch};
use arrow_array::RecordBatch;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::path::PathBuf;

impl Staging {
    /// Adds observed filings; `changed_at` says when each was observed. They wait on disk for
    /// [`Staging::merge_filings`].
    pub fn spill_filings(&mut self, rows: RecordBatch) -> Result<(), LakeError> {
        if !self.gone.is_empty() {
            let ids = FilingColumns::new(&rows).business_id()?.values();
            self.gone.retain(|id, _| !ids.contains(id));
        }
        self.spill.get_or_insert_with(|| Spill::new(&self.lake.storage, &self.dir)).push(rows)
    }

    /// Names businesses that are missing from a listing: their filing date, and whether the listing is that of fictitious
    /// names. What was observed of them in this listing before no longer counts. [`Staging::merge_filings`] marks those of
    /// the lake as vanished, unless they were observed in another listing, or later.
    pub fn note_gone(&mut self, gone: impl IntoIterator<Item = (i64, (Date, bool))>) {
        self.gone.extend(gone);
    }

    /// Names months that a repair left out. What comes back of them is no news.
    pub fn note_losses(&mut self, losses: Losses) {
        self.losses = losses;
    }

    /// Merges the spilled filings month by month: the newest observation of a business wins, the later one where
    /// timestamps are equal; `first_seen_at` is kept, and `changed_at` where no column of the
    /// business differs. An observation older than the lake's record changes nothing.
    ///
    /// `observed_on` is the Eastern day of the run.
    ///
    /// `complete` names the listings that were read completely: filing date, and whether it is that of fictitious names.
    /// A listed business of such a listing that was not observed is marked as vanished, and kept.
    ///
    /// What happened goes to `changes`, one row a business and field. A business that the lake did not have has `appeared`
    /// if `is_news` says so of its filing date and type; without filings in the parent none has, nor has what comes back
    /// after a repair left it out. A month without a change keeps its file.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`]; [`LakeError::Damaged`] when a file of the parent is not what its commit says.
    pub fn merge_filings(
        &mut self,
        complete: &BTreeSet<(Date, bool)>,
        is_news: &dyn Fn(Date, &str) -> bool,
        observed_at: Timestamp,
        observed_on: Date,
    ) -> Result<TableDelta, LakeError> {
        let mut spill = self.spill.take().unwrap_or_else(|| Spill::new(&self.lake.storage, &self.dir));
        spill.finish()?;
        let moves = find_month_moves(&self.month_files(Table::Filings), &spill.observed)?;
        spill.observed.forget(&moves.stale);
        let gone = std::mem::take(&mut self.gone).into_iter();
        let in_epoch = |(day, is_fictitious): (Date, bool)| (epoch_days(day), is_fictitious);
        let listings = Listings {
            complete: complete.iter().copied().map(in_epoch).collect(),
            gone: gone.map(|(id, listing)| (id, in_epoch(listing))).collect(),
            observed_at: observed_at.as_microsecond(),
            known_before: KnownBefore::of(self)?,
        };
        let has_filings = self.rows(Table::Filings.name()) > 0;
        let is_news =
            |day, kind: &str| has_filings && day_of_epoch(day).is_some_and(|day| is_news(day, kind));
        let mut merge = FilingsMerge {
            listings,
            same_run: self.changes_of_this_run()?,
            delta: TableDelta { read: spill.observed.len().into(), ..TableDelta::default() },
            changes: Changes::new(observed_at, observed_on, &self.run_id),
            moves,
        };
        for month in self.months_to_merge(&spill, &merge) {
            self.merge_one_month(month, &spill, &is_news, &mut merge)?;
        }
        self.write_changes(&mut merge)?;
        self.lake.storage.remove_dir_all(&spill.dir)?;
        merge.delta.total = self.rows(Table::Filings.name());
        Ok(merge.delta)
    }

    /// Months with observations, with listings that were read completely, or with businesses that are gone or leave.
    fn months_to_merge(&self, spill: &Spill, merge: &FilingsMerge) -> BTreeSet<Month> {
        let known = self.month_files(Table::Filings);
        let days = merge.listings.complete.iter().map(|(day, _)| *day);
        let days = days.chain(merge.listings.gone.values().map(|(day, _)| *day));
        let mut months = spill.months();
        months.extend(days.filter_map(Month::of_epoch_day).filter(|month| known.contains_key(month)));
        months.extend(merge.moves.leaving.keys());
        months
    }

    fn merge_one_month(
        &mut self,
        month: Month,
        spill: &Spill,
        is_news: &IsNews<'_>,
        merge: &mut FilingsMerge,
    ) -> Result<(), LakeError> {
        let (rows, counts) = {
            let existing = merge.moves.apply(month, self.month_rows(month)?)?;
            merge_month(&existing, &spill.month(month)?, &merge.listings, is_news, &mut merge.changes)?
        };
        merge.delta.add(&counts);
        if counts != TableDelta::default() || merge.moves.leaving.contains_key(&month) {
            let in_order = sort_batch(Table::Filings, &rows)?;
            // A month is large: the unsorted copy goes before the file is written.
            drop(rows);
            self.replace_month(month, &in_order)?;
        }
        if merge.changes.len() >= FILE_ROWS { self.write_changes(merge) } else { Ok(()) }
    }

    fn replace_month(&mut self, month: Month, rows: &RecordBatch) -> Result<(), LakeError> {
        let table = Table::Filings.name();
        let folder = format!("{table}/{}", month.folder());
        let write = || self.part_writer().write(Some(Table::Filings), &folder, rows, "");
        let file = (rows.num_rows() > 0).then(write).transpose()?;
        self.swap(table, |old| month_in(&old.entry.path) == Some(month), file)
    }

    fn month_rows(&self, month: Month) -> Result<RecordBatch, LakeError> {
        let files = self.of_table(Table::Filings.name());
        self.read(Table::Filings, files.iter().filter(|file| month_in(&file.entry.path) == Some(month)))
    }

    fn write_changes(&mut self, merge: &mut FilingsMerge) -> Result<(), LakeError> {
        if merge.changes.len() == 0 {
            return Ok(());
        }
        let rows = merge.changes.take()?;
        self.append_changes(&rows, &std::mem::take(&mut merge.same_run)).map(|_| ())
    }
}

/// What one merge of filings carries from month to month.
struct FilingsMerge {
    listings: Listings,
    /// Files that may have change rows of this run.
    same_run: Vec<PathBuf>,
    delta: TableDelta,
    changes: Changes,
    moves: MonthMoves,
}
