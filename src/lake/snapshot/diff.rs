//! What differs between two snapshots: rows by key, table by table.
//!
//! Files with the same digest are not opened. Of the others, memory holds 40 bytes a row of one month (or of one
//! table that has no months), and of the rows that found no partner there.

use crate::lake::error::LakeError;
use crate::lake::format::layout::{Month, month_in};
use crate::lake::format::manifest::{Commit, FileEntry, TableManifest};
use crate::lake::handle::Lake;
use crate::lake::merge::row_key::{Digest, digests, value_text};
use crate::table::{Table, read_parquet};
use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// Rows of each kind that are shown.
const EXAMPLES: usize = 3;

/// Columns that tell when a row was read; alone they make no difference.
const READING: [&str; 2] = ["last_seen_at", "checked_at"];

/// What differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotDiff {
    /// The one compared with.
    pub before: u64,
    /// The one compared.
    pub after: u64,
    /// Tables that differ, by name.
    pub tables: BTreeMap<String, TableDiff>,
}

/// What differs between two states of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TableDiff {
    /// Rows before.
    pub rows_before: u64,
    /// Rows after.
    pub rows_after: u64,
    /// Rows with a key that was not there before.
    pub added: u64,
    /// Rows that say something else, in more than the time of reading.
    pub changed: u64,
    /// Rows that are gone; of filings also those no longer listed.
    pub vanished: u64,
    /// A few of them.
    pub examples: Vec<Example>,
}

/// One row that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// `added`, `changed` or `vanished`.
    pub kind: DiffKind,
    /// The row's key, as text; of an aggregate, which has none, nothing.
    pub key: BTreeMap<String, Option<String>>,
    /// Columns that differ, as they were; none for a row that was not there.
    pub before: BTreeMap<String, Option<String>>,
    /// Columns that differ, as they are; none for a row that is gone.
    pub after: BTreeMap<String, Option<String>>,
}

/// How a row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    /// It was not there before.
    Added,
    /// It says something else.
    Changed,
    /// It is gone, or no longer listed.
    Vanished,
}

impl Lake {
    /// Compares two snapshots, held ones included.
    ///
    /// # Errors
    ///
    /// [`LakeError::NoSnapshot`], [`LakeError::Pruned`], [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn diff(&self, before: u64, after: u64) -> Result<SnapshotDiff, LakeError> {
        let (one, other) = (self.present_or_held(before)?, self.present_or_held(after)?);
        let names: BTreeSet<&String> = one.tables.keys().chain(other.tables.keys()).collect();
        let mut tables = BTreeMap::new();
        for name in names {
            let sides = [Side::of(self, &one, name), Side::of(self, &other, name)];
            if let Some(diff) = TableCompare::new(name, sides).run()? {
                tables.insert(name.clone(), diff);
            }
        }
        Ok(SnapshotDiff { before, after, tables })
    }
}

/// One snapshot's state of a table.
struct Side<'a> {
    lake: &'a Lake,
    commit: &'a Commit,
    files: &'a [FileEntry],
    rows: u64,
}

impl<'a> Side<'a> {
    fn of(lake: &'a Lake, commit: &'a Commit, table: &str) -> Self {
        let manifest: Option<&TableManifest> = commit.tables.get(table);
        Self {
            lake,
            commit,
            files: manifest.map_or(&[][..], |manifest| &manifest.files),
            rows: manifest.map_or(0, |manifest| manifest.rows),
        }
    }

    fn paths(&self, entries: &[&FileEntry]) -> Result<Vec<PathBuf>, LakeError> {
        entries.iter().map(|entry| self.lake.sound_file(self.commit, entry)).collect()
    }
}

const BEFORE: usize = 0;
const AFTER: usize = 1;

/// What is remembered of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RowMark {
    content: Digest,
    listed: bool,
}

type Rows = HashMap<Digest, RowMark>;

struct TableCompare<'a> {
    table: Option<Table>,
    sides: [Side<'a>; 2],
    diff: TableDiff,
    /// Rows without a partner in their own month.
    left: [Rows; 2],
    wanted: BTreeMap<Digest, DiffKind>,
    told: BTreeMap<DiffKind, usize>,
}

impl<'a> TableCompare<'a> {
    fn new(name: &str, sides: [Side<'a>; 2]) -> Self {
        let diff = TableDiff {
            rows_before: sides[BEFORE].rows,
            rows_after: sides[AFTER].rows,
            ..TableDiff::default()
        };
        Self {
            table: Table::from_name(name),
            sides,
            diff,
            left: [Rows::new(), Rows::new()],
            wanted: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    /// The difference; none when there is none.
    fn run(mut self) -> Result<Option<TableDiff>, LakeError> {
        let differing = self.differing();
        for months in differing.values() {
            let before = self.rows_of(BEFORE, &months[BEFORE])?;
            let after = self.rows_of(AFTER, &months[AFTER])?;
            self.match_rows(before, after, false);
        }
        let [before, after] = std::mem::take(&mut self.left);
        self.match_rows(before, after, true);
        self.show_examples(&differing)?;
        let TableDiff { rows_before, rows_after, added, changed, vanished, .. } = self.diff;
        let is_same = rows_before == rows_after && added + changed + vanished == 0;
        Ok((!is_same).then_some(self.diff))
    }

    /// Files that only one side has, by month.
    fn differing(&self) -> BTreeMap<Option<Month>, [Vec<&'a FileEntry>; 2]> {
        let digests = |side: usize| -> BTreeSet<&str> {
            self.sides[side].files.iter().map(|file| file.blake3.as_str()).collect()
        };
        let known = [digests(BEFORE), digests(AFTER)];
        let mut months: BTreeMap<Option<Month>, [Vec<&FileEntry>; 2]> = BTreeMap::new();
        for (side, other) in [(BEFORE, AFTER), (AFTER, BEFORE)] {
            for file in
                self.sides[side].files.iter().filter(|file| !known[other].contains(file.blake3.as_str()))
            {
                months.entry(month_in(&file.path)).or_default()[side].push(file);
            }
        }
        months
    }

    fn rows_of(&self, side: usize, files: &[&FileEntry]) -> Result<Rows, LakeError> {
        let mut rows = Rows::new();
        self.each_batch(side, files, |batch| {
            let (keys, marks) = (self.keys(batch)?, self.marks(batch)?);
            rows.extend(keys.into_iter().zip(marks));
            Ok(())
        })?;
        Ok(rows)
    }

    fn each_batch(
        &self,
        side: usize,
        files: &[&FileEntry],
        mut take: impl FnMut(&RecordBatch) -> Result<(), LakeError>,
    ) -> Result<(), LakeError> {
        let side = &self.sides[side];
        for path in side.paths(files)? {
            let damaged = |error: crate::table::TableError| LakeError::damaged(&path, error.to_string());
            for batch in read_parquet(&path, None).map_err(damaged)? {
                take(&batch.map_err(damaged)?)?;
            }
        }
        Ok(())
    }

    /// The columns that name a row; all of them where a table has no key.
    fn key_columns<'b>(&self, batch: &'b RecordBatch) -> Vec<&'b str> {
        self.table.map_or_else(|| names(batch).collect(), |table| table.key().to_vec())
    }

    fn keys(&self, batch: &RecordBatch) -> Result<Vec<Digest>, LakeError> {
        digests(batch, &self.key_columns(batch))
    }

    fn marks(&self, batch: &RecordBatch) -> Result<Vec<RowMark>, LakeError> {
        let names: Vec<&str> = names(batch).filter(|name| !READING.contains(name)).collect();
        let listed = batch.column_by_name("listed").and_then(|column| column.as_boolean_opt());
        let mark =
            |(row, content)| RowMark { content, listed: listed.is_none_or(|listed| listed.value(row)) };
        Ok(digests(batch, &names)?.into_iter().enumerate().map(mark).collect())
    }

    /// Finds partners by key. Rows without one wait for those of the other months; in the last round they count.
    fn match_rows(&mut self, mut before: Rows, after: Rows, is_last: bool) {
        for (key, new) in after {
            match before.remove(&key) {
                Some(old) if old.listed && !new.listed => self.note(key, DiffKind::Vanished),
                Some(old) if old != new => self.note(key, DiffKind::Changed),
                Some(_) => {}
                None if is_last => self.note(key, DiffKind::Added),
                None => drop(self.left[AFTER].insert(key, new)),
            }
        }
        for (key, old) in before {
            if is_last {
                self.note(key, DiffKind::Vanished);
            } else {
                self.left[BEFORE].insert(key, old);
            }
        }
    }

    fn note(&mut self, key: Digest, kind: DiffKind) {
        match kind {
            DiffKind::Added => self.diff.added += 1,
            DiffKind::Changed => self.diff.changed += 1,
            DiffKind::Vanished => self.diff.vanished += 1,
        }
        // The smallest digests, so that the same two snapshots always show the same rows.
        let told = self.told.entry(kind).or_default();
        *told += 1;
        self.wanted.insert(key, kind);
        if *told > EXAMPLES {
            let last = self.wanted.iter().rev().find(|(_, known)| **known == kind).map(|(key, _)| *key);
            *told -= 1;
            last.map(|key| self.wanted.remove(&key));
        }
    }

    fn show_examples(
        &mut self,
        differing: &BTreeMap<Option<Month>, [Vec<&'a FileEntry>; 2]>,
    ) -> Result<(), LakeError> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        let mut shown: BTreeMap<Digest, [Cells; 2]> = BTreeMap::new();
        for months in differing.values() {
            for side in [BEFORE, AFTER] {
                self.each_batch(side, &months[side], |batch| {
                    for (row, key) in self.keys(batch)?.into_iter().enumerate() {
                        if self.wanted.contains_key(&key) {
                            shown.entry(key).or_default()[side] = cells(batch, row)?;
                        }
                    }
                    Ok(())
                })?;
            }
        }
        let key = self.table.map_or(&[][..], |table| table.key());
        let example = |(digest, kind): (&Digest, &DiffKind)| {
            example(*kind, key, shown.remove(digest).unwrap_or_default())
        };
        let mut examples: Vec<Example> = self.wanted.iter().map(example).collect();
        examples.sort_by(|one, other| (one.kind, &one.key).cmp(&(other.kind, &other.key)));
        self.diff.examples = examples;
        Ok(())
    }
}

type Cells = BTreeMap<String, Option<String>>;

fn example(kind: DiffKind, key_columns: &[&str], [mut before, mut after]: [Cells; 2]) -> Example {
    let mut key = Cells::new();
    for name in key_columns {
        let (old, new) = (before.remove(*name), after.remove(*name));
        key.insert((*name).to_owned(), new.or(old).flatten());
    }
    if !before.is_empty() && !after.is_empty() {
        let (old, new) = (before.clone(), after.clone());
        before.retain(|name, value| new.get(name) != Some(value));
        after.retain(|name, value| old.get(name) != Some(value));
    }
    Example { kind, key, before, after }
}

fn names(batch: &RecordBatch) -> impl Iterator<Item = &str> {
    batch.schema_ref().fields().iter().map(|field| field.name().as_str())
}

fn cells(batch: &RecordBatch, row: usize) -> Result<Cells, LakeError> {
    let columns = names(batch).zip(batch.columns());
    columns.map(|(name, column)| Ok((name.to_owned(), value_text(column, row)?))).collect()
}
