//! A snapshot being made: what is kept from its parent, and what is new.

use crate::lake::backend::disk::{TEMPORARY, check_digest};
use crate::lake::data_file;
use crate::lake::data_file::portable_types::plain_types;
use crate::lake::data_file::{check_schema, read_part, sorted, write_part};
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::{Month, part_name};
use crate::lake::format::manifest::{Commit, FileEntry, StagedFile, TableManifest};
use crate::lake::handle::Lake;
use crate::lake::merge::spill::Spill;
use crate::lake::merge::upsert::upsert;
use crate::table::{ABOUT_KEY, Table};
use arrow::compute::concat_batches;
use arrow::record_batch::RecordBatch;
use jiff::civil::Date;
use serde::Serialize;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a merge did to a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TableDelta {
    /// Rows that were given, repetitions included.
    pub read: u64,
    /// Rows with a key not known before.
    pub added: u64,
    /// Rows that differ from what the lake had, in more than the time of reading.
    pub changed: u64,
    /// Filings no longer listed (kept, marked); officers no longer named (dropped).
    pub vanished: u64,
    /// Filings listed again.
    pub returned: u64,
    /// Rows of the table now.
    pub total: u64,
    /// Months whose file was replaced; empty for tables without months.
    pub changed_months: BTreeSet<Month>,
}

/// A new snapshot being made from the newest one, in `runs/<run_id>/staged`.
///
/// Nothing of it is seen by readers before [`Staging::commit`]; dropped without it, it leaves files that the next
/// lock clears.
pub struct Staging {
    pub(crate) lake: Lake,
    pub(crate) run_id: String,
    pub(crate) snapshot: u64,
    pub(crate) parent: Option<Commit>,
    pub(crate) restores: Option<u64>,
    pub(crate) tables: BTreeMap<String, Vec<StagedFile>>,
    pub(crate) dir: PathBuf,
    pub(crate) spill: Option<Spill>,
    /// Businesses that their listing was seen to show no more, and the day they stood on.
    pub(crate) gone: BTreeMap<i64, Date>,
}

impl Lake {
    /// Begins a new snapshot on top of the newest one. Every table has a file from the start, an empty one where
    /// nothing is known yet, so that a reader never meets a missing table; `filings` alone has none before its
    /// first month.
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`] for a run id that cannot be a folder; [`LakeError::Storage`]; what [`Lake::current`] says.
    pub fn stage(&self, run_id: &str) -> Result<Staging, LakeError> {
        let parent = self.current()?;
        let snapshot = self.next_snapshot()?;
        self.stage_from(run_id, snapshot, parent.clone(), parent)
    }

    /// Begins a snapshot again, as it was begun when it was made: with its number, on top of its parent.
    ///
    /// # Errors
    ///
    /// As [`Lake::stage`]; [`LakeError::Pruned`] when the parent's tables are gone.
    pub fn stage_again(&self, commit: &Commit) -> Result<Staging, LakeError> {
        let parent = commit.parent.map(|parent| self.present(parent)).transpose()?;
        self.stage_from(&commit.run_id, commit.snapshot, parent.clone(), parent)
    }

    /// Begins a new snapshot that shows the tables of an older one again.
    ///
    /// # Errors
    ///
    /// As [`Lake::stage`]; [`LakeError::NoSnapshot`], [`LakeError::Pruned`].
    pub fn stage_restored(&self, run_id: &str, snapshot: u64) -> Result<Staging, LakeError> {
        let (parent, base) = (self.current()?, self.present(snapshot)?);
        let mut staging = self.stage_from(run_id, self.next_snapshot()?, parent, Some(base))?;
        staging.restores = Some(snapshot);
        Ok(staging)
    }

    /// Begins a new snapshot that is to take the place of an earlier one: on top of what that one was made from.
    ///
    /// # Errors
    ///
    /// As [`Lake::stage_again`].
    pub fn stage_instead(&self, commit: &Commit) -> Result<Staging, LakeError> {
        let base = commit.parent.map(|parent| self.present(parent)).transpose()?;
        self.stage_from(&commit.run_id, self.next_snapshot()?, self.current()?, base)
    }

    pub(crate) fn stage_from(
        &self,
        run_id: &str,
        snapshot: u64,
        parent: Option<Commit>,
        base: Option<Commit>,
    ) -> Result<Staging, LakeError> {
        layout::check_run_id(run_id)?;
        if let Some(base) = &base {
            self.backend.download_files(base, None)?;
        }
        let dir = self.layout.staged(run_id);
        self.storage.remove_dir_all(&dir)?;
        self.storage.create_dir_all(&dir)?;
        let mut staging = Staging {
            lake: self.clone(),
            run_id: run_id.to_owned(),
            snapshot,
            tables: base.as_ref().map(|commit| self.kept(commit)).unwrap_or_default(),
            parent,
            restores: None,
            dir,
            spill: None,
            gone: BTreeMap::new(),
        };
        staging.make_missing_tables()?;
        Ok(staging)
    }

    fn kept(&self, commit: &Commit) -> BTreeMap<String, Vec<StagedFile>> {
        let dir = self.snapshot_dir(commit.snapshot);
        let keep = |entry: &FileEntry| {
            let origin = entry.origin_snapshot.unwrap_or(commit.snapshot);
            let origin_snapshot = self.is_remote().then_some(origin);
            let entry = FileEntry { origin_snapshot, ..entry.clone() };
            StagedFile { path: dir.join(&entry.path), entry, is_new: false, is_checked: Cell::new(false) }
        };
        let tables = commit.tables.iter();
        tables.map(|(table, manifest)| (table.clone(), manifest.files.iter().map(keep).collect())).collect()
    }
}

impl Staging {
    /// Number the snapshot will have.
    pub fn snapshot(&self) -> u64 {
        self.snapshot
    }

    /// The commit this snapshot is made from.
    pub fn parent(&self) -> Option<&Commit> {
        self.parent.as_ref()
    }

    /// Absolute paths of every table's files as of now, for aggregates and checks before the commit.
    pub fn files(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let paths = |files: &Vec<StagedFile>| files.iter().map(|file| file.path.clone()).collect();
        self.tables.iter().map(|(table, files)| (table.clone(), paths(files))).collect()
    }

    /// Gives up the snapshot: what was staged is deleted.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn discard(self) -> Result<(), LakeError> {
        self.lake.storage.remove_dir_all(&self.dir)
    }

    /// Where a file with this digest lies, if the snapshot has one.
    pub(crate) fn file_of(&self, blake3: &str) -> Option<PathBuf> {
        let mut files = self.tables.values().flatten();
        files.find(|file| file.entry.blake3 == blake3).map(|file| file.path.clone())
    }

    /// Files, rows and digests of every table as of now.
    pub fn manifests(&self) -> BTreeMap<String, TableManifest> {
        let entries = |files: &Vec<StagedFile>| files.iter().map(|file| file.entry.clone()).collect();
        self.tables.iter().map(|(table, files)| (table.clone(), TableManifest::of(entries(files)))).collect()
    }

    /// Whether no file differs from the parent's; a first snapshot is never unchanged.
    pub fn is_unchanged(&self) -> bool {
        self.parent.as_ref().is_some_and(|parent| parent.tables == self.manifests())
    }

    /// Lays rows over a table, by key: the later row wins. A table in which nothing differs keeps its file.
    ///
    /// The officers of a business that is among `rows` are replaced as a whole.
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
            let ids: &arrow::array::Int64Array = crate::table::typed_column(rows, table, "business_id")?;
            replaced.extend(ids.values());
        }
        let existing = self.read(table, self.of_table(table.name()).iter())?;
        let merged = upsert(table, &existing, rows, &replaced)?;
        if let Some(rows) = &merged.rows {
            let file = self.write(Some(table), table.name(), &sorted(table, rows)?)?;
            self.swap(table.name(), |_| true, Some(file))?;
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

    /// Sets an aggregate to the rows of a finished Parquet file, which stays where it is. `about` says in words what
    /// the aggregate and its columns are; it goes into the file, so that every snapshot explains itself.
    ///
    /// Types that not every reader of the lake knows are widened: unsigned and short integers, large and view
    /// strings, dictionaries, naive timestamps (taken as UTC).
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`]; [`LakeError::Schema`] for a type without such a form, lists and structs say.
    pub fn aggregate_file(&mut self, name: &str, path: &Path, about: &str) -> Result<TableDelta, LakeError> {
        self.aggregate(name, &read_part(path, None)?, about)
    }

    /// Sets an aggregate, `agg_<name>`, to these rows, in this order. Equal rows under the same words keep their file.
    ///
    /// # Errors
    ///
    /// As [`Staging::aggregate_file`].
    pub fn aggregate(
        &mut self,
        name: &str,
        rows: &RecordBatch,
        about: &str,
    ) -> Result<TableDelta, LakeError> {
        let table = layout::aggregate_folder(name)?;
        let rows = plain_types(&table, rows)?;
        let count = rows.num_rows() as u64;
        let delta = TableDelta { read: count, total: count, ..TableDelta::default() };
        if let [file] = self.of_table(&table)
            && self.check_kept(file).and_then(|()| read_part(&file.path, None))? == rows
            && data_file::about(&file.path)? == about
        {
            return Ok(delta);
        }
        let file = self.write_about(None, &table, &rows, about)?;
        self.swap(&table, |_| true, Some(file))?;
        Ok(delta)
    }

    /// Drops the aggregates that are not in `names`: their definition is gone.
    pub fn retain_aggregates(&mut self, names: &BTreeSet<String>) {
        self.tables
            .retain(|table, _| table.strip_prefix(layout::AGGREGATE).is_none_or(|name| names.contains(name)));
    }

    /// Where a file of the parent lies.
    pub(crate) fn parent_path(&self, entry: &FileEntry) -> Option<PathBuf> {
        let parent = self.parent.as_ref()?;
        Some(self.lake.snapshot_dir(parent.snapshot).join(&entry.path))
    }

    fn make_missing_tables(&mut self) -> Result<(), LakeError> {
        for table in Table::ALL.into_iter().filter(|table| !table.is_partitioned()) {
            if self.of_table(table.name()).is_empty() {
                let file = self.write(Some(table), table.name(), &RecordBatch::new_empty(table.schema()))?;
                self.swap(table.name(), |_| false, Some(file))?;
            }
        }
        Ok(())
    }

    pub(crate) fn of_table(&self, table: &str) -> &[StagedFile] {
        self.tables.get(table).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn rows(&self, table: &str) -> u64 {
        self.of_table(table).iter().map(|file| file.entry.rows).sum()
    }

    /// All rows of some files of a table, after a look whether they are what the commit says.
    pub(crate) fn read<'a>(
        &self,
        table: Table,
        files: impl Iterator<Item = &'a StagedFile>,
    ) -> Result<RecordBatch, LakeError> {
        let mut batches = Vec::new();
        for file in files {
            self.check_kept(file)?;
            let rows = read_part(&file.path, None)?;
            check_schema(table, &rows.schema())?;
            batches.push(rows);
        }
        concat_batches(&table.schema(), &batches).map_err(LakeError::arrow("join rows"))
    }

    pub(crate) fn check_kept(&self, file: &StagedFile) -> Result<(), LakeError> {
        if !file.is_checked.get() {
            check_digest(&file.path, &file.entry)?;
            file.is_checked.set(true);
        }
        Ok(())
    }

    /// Writes rows to a part file in `folder` of the staged snapshot.
    pub(crate) fn write(
        &self,
        table: Option<Table>,
        folder: &str,
        rows: &RecordBatch,
    ) -> Result<StagedFile, LakeError> {
        self.write_about(table, folder, rows, "")
    }

    fn write_about(
        &self,
        table: Option<Table>,
        folder: &str,
        rows: &RecordBatch,
        about: &str,
    ) -> Result<StagedFile, LakeError> {
        let storage = &self.lake.storage;
        let dir = self.dir.join(folder);
        storage.create_dir_all(&dir)?;
        let staged = dir.join(format!("{TEMPORARY}part"));
        let mut key_values = vec![("sunlake.snapshot", self.snapshot.to_string())];
        if !about.is_empty() {
            key_values.push((ABOUT_KEY, about.to_owned()));
        }
        let info = write_part(storage, table, rows, &staged, &key_values)?;
        let name = part_name(&info.blake3);
        let path = dir.join(&name);
        storage.rename(&staged, &path)?;
        let entry = FileEntry {
            path: format!("{folder}/{name}"),
            origin_snapshot: None,
            rows: info.rows,
            bytes: info.bytes,
            blake3: info.blake3,
            min_filed_date: info.min_filed_date,
            max_filed_date: info.max_filed_date,
        };
        Ok(StagedFile { entry, path, is_new: true, is_checked: Cell::new(true) })
    }

    /// Puts a file in the place of those that `is_old` picks; what was staged before is deleted.
    pub(crate) fn swap(
        &mut self,
        table: &str,
        is_old: impl Fn(&StagedFile) -> bool,
        file: Option<StagedFile>,
    ) -> Result<(), LakeError> {
        let files = self.tables.entry(table.to_owned()).or_default();
        let (old, mut kept): (Vec<_>, Vec<_>) = files.drain(..).partition(&is_old);
        let new_path = file.as_ref().map(|file| file.path.clone());
        kept.extend(file);
        kept.sort_by(|one, other| one.entry.path.cmp(&other.entry.path));
        *files = kept;
        for old in old.into_iter().filter(|old| old.is_new && Some(&old.path) != new_path.as_ref()) {
            self.lake.storage.remove_file(&old.path)?;
        }
        Ok(())
    }
}
