//! A snapshot being made: files kept from an older snapshot, and new files.

use crate::lake::backend::disk::check_digest;
use crate::lake::data_file::check_plain_types;
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::manifest::{Commit, FileEntry, StagedFile, TableManifest};
use crate::lake::handle::Lake;
use crate::lake::merge::losses::Losses;
use crate::lake::merge::spill::Spill;
use crate::table::{ABOUT_KEY, Footer, Table, check_schema, read_batch};
use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;
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
    /// Rows with a new key.
    pub added: u64,
    /// Rows that differ from the lake's in more than a timestamp.
    pub changed: u64,
    /// Filings no longer listed (kept, marked); officers no longer named (dropped).
    pub vanished: u64,
    /// Filings listed again.
    pub returned: u64,
    /// Rows of the table now.
    pub total: u64,
}

impl TableDelta {
    /// Adds what a later merge of the same run did.
    pub(crate) fn add(&mut self, later: &Self) {
        self.read += later.read;
        self.added += later.added;
        self.changed += later.changed;
        self.vanished += later.vanished;
        self.returned += later.returned;
        self.total = later.total;
    }
}

/// A new snapshot being made, in `runs/<run_id>/staged`.
///
/// Readers see nothing of it before [`Staging::commit`]. Dropped without it, it leaves files that the next lock deletes.
pub struct Staging {
    pub(crate) lake: Lake,
    /// The run that makes it.
    pub(crate) run_id: String,
    /// Number the snapshot will have.
    pub(crate) snapshot: u64,
    pub(crate) parent: Option<Commit>,
    pub(crate) restores: Option<u64>,
    pub(crate) tables: BTreeMap<String, Vec<StagedFile>>,
    pub(crate) dir: PathBuf,
    pub(crate) spill: Option<Spill>,
    /// Businesses that are missing from their listing, and their filing date.
    pub(crate) gone: BTreeMap<i64, (Date, bool)>,
    /// Months that a repair left out and that were not read again.
    pub(crate) losses: Losses,
}

/// The tables that a new snapshot begins with.
#[derive(Debug, Clone, Copy)]
pub enum Base<'a> {
    /// Those of the newest snapshot.
    Newest,
    /// Those of the newest snapshot, less the files with these digests.
    NewestWithout(&'a BTreeSet<&'a str>),
    /// Those of an older snapshot, for a rollback to it.
    Restored(u64),
    /// Those that an earlier snapshot was made from. The new one takes its place on top of the newest.
    Instead(&'a Commit),
    /// As when this snapshot was made: with its number, on top of its parent.
    Again(&'a Commit),
}

impl Lake {
    /// Begins a new snapshot with the tables of the newest one.
    pub fn stage(&self, run_id: &str) -> Result<Staging, LakeError> {
        self.stage_on(Base::Newest, run_id)
    }

    /// Begins a new snapshot. Every table has a file from the start, an empty one where the base has none, so that a
    /// reader never meets a missing table. `filings` has none before its first month, and the tables of the state's files
    /// none before the first import.
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`] for a run id that cannot be a folder; [`LakeError::NoSnapshot`] and [`LakeError::Pruned`] when
    /// the base has no tables any more; [`LakeError::Storage`]; what [`Lake::current`] says.
    pub fn stage_on(&self, base: Base<'_>, run_id: &str) -> Result<Staging, LakeError> {
        layout::check_run_id(run_id)?;
        let parent_of = |commit: &Commit| commit.parent.map(|parent| self.present(parent)).transpose();
        let (snapshot, parent) = match base {
            Base::Again(commit) => (commit.snapshot, parent_of(commit)?),
            _ => (self.next_snapshot()?, self.current()?),
        };
        let tables = match base {
            Base::Newest | Base::Again(_) => parent.clone(),
            Base::NewestWithout(digests) => parent.clone().map(|commit| without(commit, digests)),
            Base::Restored(snapshot) => Some(self.present(snapshot)?),
            Base::Instead(commit) => parent_of(commit)?,
        };
        if let Some(tables) = &tables {
            self.backend.download_files(tables, None)?;
        }
        let dir = self.layout.staged(run_id);
        self.storage.remove_dir_all(&dir)?;
        self.storage.create_dir_all(&dir)?;
        let mut staging = Staging {
            lake: self.clone(),
            run_id: run_id.to_owned(),
            snapshot,
            tables: tables.map(|commit| self.kept_files(&commit)).unwrap_or_default(),
            parent,
            restores: if let Base::Restored(snapshot) = base { Some(snapshot) } else { None },
            dir,
            spill: None,
            gone: BTreeMap::new(),
            losses: Losses::default(),
        };
        staging.make_missing_tables()?;
        Ok(staging)
    }

    fn kept_files(&self, commit: &Commit) -> BTreeMap<String, Vec<StagedFile>> {
        let dir = self.layout.snapshot(commit.snapshot);
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

/// The commit less the files with these digests, and less the aggregates that lose all their files.
fn without(mut commit: Commit, digests: &BTreeSet<&str>) -> Commit {
    for manifest in commit.tables.values_mut() {
        manifest.files.retain(|file| !digests.contains(file.blake3.as_str()));
    }
    commit.tables.retain(|table, manifest| Table::from_name(table).is_some() || !manifest.files.is_empty());
    commit
}

impl Staging {
    /// The commit this snapshot is made from.
    pub fn parent(&self) -> Option<&Commit> {
        self.parent.as_ref()
    }

    /// Absolute paths of every table's files as of now, not compared with the parent's commit.
    pub fn files(&self) -> BTreeMap<String, Vec<PathBuf>> {
        let paths = |files: &Vec<StagedFile>| files.iter().map(|file| file.path.clone()).collect();
        self.tables.iter().map(|(table, files)| (table.clone(), paths(files))).collect()
    }

    /// As [`Staging::files`]; the files kept from an older snapshot are as its commit says.
    pub fn sound_files(&self) -> Result<BTreeMap<String, Vec<PathBuf>>, LakeError> {
        self.tables.values().flatten().try_for_each(check_kept)?;
        Ok(self.files())
    }

    /// As [`Staging::sound_files`], of one table.
    pub fn sound_table(&self, table: Table) -> Result<Vec<PathBuf>, LakeError> {
        let files = self.of_table(table.name()).iter();
        files.map(|file| check_kept(file).map(|()| file.path.clone())).collect()
    }

    /// Deletes what was staged.
    pub fn discard(self) -> Result<(), LakeError> {
        self.lake.storage.remove_dir_all(&self.dir)
    }

    /// Path of the file with this digest, if the snapshot has one.
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

    fn make_missing_tables(&mut self) -> Result<(), LakeError> {
        let tables = Table::ALL.into_iter().filter(|table| !table.is_partitioned() && !table.is_of_state());
        for table in tables {
            if self.of_table(table.name()).is_empty() {
                let rows = RecordBatch::new_empty(table.schema());
                let file = self.part_writer().write(Some(table), table.name(), &rows, "")?;
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

    /// All rows of files of a table, each as its commit says.
    pub(crate) fn read<'a>(
        &self,
        table: Table,
        files: impl Iterator<Item = &'a StagedFile>,
    ) -> Result<RecordBatch, LakeError> {
        let mut batches = Vec::new();
        for file in files {
            check_kept(file)?;
            let rows = read_batch(&file.path, None)?;
            check_schema(&rows.schema(), &table.schema(), table.name())?;
            batches.push(rows);
        }
        concat_batches(&table.schema(), &batches).map_err(LakeError::arrow("join rows"))
    }

    /// Replaces the files that `is_old` picks by `file`; those of them that were staged before are deleted.
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

    /// Sets an aggregate to the rows of a finished Parquet file. `about` describes the aggregate and its columns; it is
    /// written into the file, so that every snapshot explains itself.
    ///
    /// A column whose type not every reader of the lake knows is an error.
    pub fn aggregate_file(&mut self, name: &str, path: &Path, about: &str) -> Result<(), LakeError> {
        self.aggregate(name, &read_batch(path, None)?, about)
    }

    /// Sets an aggregate, `agg_<name>`, to these rows, in this order. Equal rows with the same description keep their
    /// file.
    pub fn aggregate(&mut self, name: &str, rows: &RecordBatch, about: &str) -> Result<(), LakeError> {
        let table = layout::aggregate_folder(name)?;
        check_plain_types(&table, rows)?;
        let is_same = match self.of_table(&table) {
            [file] => {
                check_kept(file)?;
                read_batch(&file.path, None)? == *rows
                    && Footer::open(&file.path)?.key_value(ABOUT_KEY).unwrap_or_default() == about
            }
            _ => false,
        };
        if !is_same {
            let file = self.part_writer().write(None, &table, rows, about)?;
            self.swap(&table, |_| true, Some(file))?;
        }
        Ok(())
    }

    /// Drops the aggregates that are not in `names`: their definition is gone.
    pub fn retain_aggregates(&mut self, names: &BTreeSet<String>) {
        self.tables
            .retain(|table, _| table.strip_prefix(layout::AGGREGATE).is_none_or(|name| names.contains(name)));
    }
}

/// Compares a kept file with its commit, once.
pub(crate) fn check_kept(file: &StagedFile) -> Result<(), LakeError> {
    if !file.is_checked.get() {
        check_digest(&file.path, &file.entry)?;
        file.is_checked.set(true);
    }
    Ok(())
}
