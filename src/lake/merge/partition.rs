//! Files of a table by month, written by several threads: all tables of a lake of the state's files that have one row or more a
//! business.

use crate::lake::backend::disk::{Storage, TEMPORARY};
use crate::lake::data_file::{filed_dates, write_part};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Month, month_in, part_name};
use crate::lake::format::manifest::{Digest, FileEntry, StagedFile};
use crate::lake::merge::change_log::FILE_ROWS;
use crate::lake::snapshot::staging::{Staging, check_kept};
use crate::table::{ABOUT_KEY, ChangeRow, Row as _, Table, sort_batch};
use arrow_array::RecordBatch;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Writes part files of a snapshot being made. Threads have one each.
#[derive(Debug, Clone)]
pub struct PartWriter {
    storage: Storage,
    /// Folder of the staged snapshot.
    dir: PathBuf,
    snapshot: u64,
    /// Number of the thread, for the names of its temporary files.
    thread: usize,
}

/// A written part of one month, not yet part of the snapshot.
pub struct MonthPart(StagedFile);

impl PartWriter {
    /// The writer of another thread.
    pub fn of_thread(&self, thread: usize) -> Self {
        Self { thread, ..self.clone() }
    }

    /// Writes the rows of a month in the table's order.
    pub fn write_month(
        &self,
        table: Table,
        month: Month,
        rows: &RecordBatch,
    ) -> Result<MonthPart, LakeError> {
        let rows = sort_batch(table, rows)?;
        self.write(Some(table), &format!("{}/{}", table.name(), month.folder()), &rows, "").map(MonthPart)
    }

    /// Writes rows to a part file in `folder` of the staged snapshot. `about`, if any, describes the file in its metadata.
    pub(in crate::lake) fn write(
        &self,
        table: Option<Table>,
        folder: &str,
        rows: &RecordBatch,
        about: &str,
    ) -> Result<StagedFile, LakeError> {
        let dir = self.dir.join(folder);
        self.storage.create_dir_all(&dir)?;
        let staged = dir.join(format!("{TEMPORARY}part-{}", self.thread));
        let mut key_values = vec![("sunlake.snapshot", self.snapshot.to_string())];
        if !about.is_empty() {
            key_values.push((ABOUT_KEY, about.to_owned()));
        }
        let Digest { bytes, blake3 } = write_part(&self.storage, table, rows, &staged, &key_values)?;
        let name = part_name(&blake3);
        let path = dir.join(&name);
        self.storage.rename(&staged, &path)?;
        let (min_filed_date, max_filed_date) = filed_dates(rows);
        let entry = FileEntry {
            path: format!("{folder}/{name}"),
            origin_snapshot: None,
            rows: rows.num_rows() as u64,
            bytes,
            blake3,
            min_filed_date,
            max_filed_date,
        };
        Ok(StagedFile { entry, path, is_new: true, is_checked: Cell::new(true) })
    }
}

impl Staging {
    /// A writer of parts of this snapshot.
    pub fn part_writer(&self) -> PartWriter {
        let (storage, dir) = (self.lake.storage.clone(), self.dir.clone());
        PartWriter { storage, dir, snapshot: self.snapshot, thread: 0 }
    }

    /// The file of each month of a table.
    pub fn month_files(&self, table: Table) -> BTreeMap<Month, PathBuf> {
        let files = self.of_table(table.name()).iter();
        files.filter_map(|file| Some((month_in(&file.entry.path)?, file.path.clone()))).collect()
    }

    /// The file of a month of a table, as its commit says; none where the table has no rows of the month.
    pub fn sound_month(&self, table: Table, month: Month) -> Result<Option<PathBuf>, LakeError> {
        let mut files = self.of_table(table.name()).iter();
        let found = files.find(|file| month_in(&file.entry.path) == Some(month));
        found.map(|file| check_kept(file).map(|()| file.path.clone())).transpose()
    }

    /// Sets the rows of a month; none leaves the month without a file. The empty file of a table without rows goes.
    pub fn set_month(
        &mut self,
        table: Table,
        month: Month,
        part: Option<MonthPart>,
    ) -> Result<(), LakeError> {
        let is_old = |file: &StagedFile| {
            let found = month_in(&file.entry.path);
            found == Some(month) || (found.is_none() && file.entry.rows == 0)
        };
        self.swap(table.name(), is_old, part.map(|part| part.0))
    }

    /// Drops the changes that `is_dropped` picks.
    pub fn drop_changes(&mut self, mut is_dropped: impl FnMut(&ChangeRow) -> bool) -> Result<(), LakeError> {
        let table = Table::Changes;
        let paths: Vec<PathBuf> = self.of_table(table.name()).iter().map(|file| file.path.clone()).collect();
        for path in paths {
            let rows =
                self.read(table, self.of_table(table.name()).iter().filter(|file| file.path == path))?;
            let (before, mut rows) = (rows.num_rows(), ChangeRow::rows(&rows)?);
            rows.retain(|row| !is_dropped(row));
            if rows.len() < before {
                let rows = sort_batch(table, &ChangeRow::batch(&rows)?)?;
                let file = self.part_writer().write(Some(table), table.name(), &rows, "")?;
                self.swap(table.name(), |old| old.path == path, Some(file))?;
            }
        }
        Ok(())
    }

    /// Adds changes. Their files do not depend on the order of the rows.
    pub fn add_changes(&mut self, mut rows: Vec<ChangeRow>) -> Result<(), LakeError> {
        rows.sort_unstable();
        for rows in rows.chunks(FILE_ROWS) {
            self.append_changes(&ChangeRow::batch(rows)?, &[])?;
        }
        Ok(())
    }
}
