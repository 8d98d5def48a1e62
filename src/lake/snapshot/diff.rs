//! The difference of two snapshots: rows by key, table by table. When a run read a row makes no difference.
//!
//! Files with the same digest are not opened. Of the others, memory holds 40 bytes for each row of one month (or of a
//! table without months), and for each row without a partner in its month.

use super::verified_read::Snapshot;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Month, month_in};
use crate::lake::format::manifest::FileEntry;
use crate::lake::handle::Lake;
use crate::lake::merge::row_key::{Digest, digests, value_text};
use crate::table::{Table, TableError, read_parquet};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

const EXAMPLES: usize = 3;

/// Columns that say when a run read a row. They are not compared, and in no example.
const BOOKKEEPING: [&str; 4] = ["first_seen_at", "changed_at", "checked_at", "fetched_at"];

/// What differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotDiff {
    /// The one compared with.
    pub before: u64,
    /// The one compared.
    pub after: u64,
    /// Columns that are not compared, in any table: they say when a run read a row.
    pub left_out: Vec<&'static str>,
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
    /// Rows with other values in a column that is compared.
    pub changed: u64,
    /// Rows that no longer exist; of filings also those no longer listed.
    pub vanished: u64,
    /// Up to 3 rows of each kind.
    pub examples: Vec<Example>,
}

/// One row that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// `added`, `changed` or `vanished`.
    pub kind: DiffKind,
    /// The row's key, as text; empty for an aggregate, which has no key.
    pub key: BTreeMap<String, Option<String>>,
    /// Old values of the compared columns that differ; empty for a new row.
    pub before: BTreeMap<String, Option<String>>,
    /// New values of the compared columns that differ; empty for a row that vanished.
    pub after: BTreeMap<String, Option<String>>,
}

/// How a row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DiffKind {
    /// It was not there before.
    Added,
    /// It has other values.
    Changed,
    /// It no longer exists, or is no longer listed.
    Vanished,
}

impl Lake {
    /// The difference of two snapshots, pending review or not.
    pub fn diff(&self, before: u64, after: u64) -> Result<SnapshotDiff, LakeError> {
        let commits = [self.present_or_pending(before)?, self.present_or_pending(after)?];
        let sides = commits.each_ref().map(|commit| self.open_snapshot(commit));
        let names: BTreeSet<&String> = commits.iter().flat_map(|commit| commit.tables.keys()).collect();
        let mut tables = BTreeMap::new();
        for name in names {
            if let Some(diff) = TableCompare::new(name, &sides).run()? {
                tables.insert(name.clone(), diff);
            }
        }
        Ok(SnapshotDiff { before, after, left_out: BOOKKEEPING.to_vec(), tables })
    }
}

const BEFORE: usize = 0;
const AFTER: usize = 1;

/// Files of two sides, by month; none for a table without months.
type FilesByMonth<'a> = BTreeMap<Option<Month>, [Vec<&'a FileEntry>; 2]>;

/// The files that only one side has.
pub(super) fn differing_files<'a>(sides: [&[&'a FileEntry]; 2]) -> FilesByMonth<'a> {
    let digests = sides.map(|files| files.iter().map(|file| file.blake3.as_str()).collect::<BTreeSet<_>>());
    let mut months = FilesByMonth::new();
    for (side, other) in [(BEFORE, AFTER), (AFTER, BEFORE)] {
        for file in sides[side].iter().filter(|file| !digests[other].contains(file.blake3.as_str())) {
            months.entry(month_in(&file.path)).or_default()[side].push(file);
        }
    }
    months
}

/// What is kept of a row in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RowMark {
    content: Digest,
    listed: bool,
}

type Rows = HashMap<Digest, RowMark>;

struct TableCompare<'a> {
    name: &'a str,
    /// None for an aggregate.
    table: Option<Table>,
    sides: &'a [Snapshot<'a>; 2],
    diff: TableDiff,
    /// Rows without a partner in their own month.
    left: [Rows; 2],
    /// Keys of the example rows: the smallest digests, so that two snapshots always show the same rows.
    examples: BTreeMap<DiffKind, BTreeSet<Digest>>,
}

impl<'a> TableCompare<'a> {
    fn new(name: &'a str, sides: &'a [Snapshot<'a>; 2]) -> Self {
        let rows = |side: usize| sides[side].commit().tables.get(name).map_or(0, |table| table.rows);
        let diff = TableDiff { rows_before: rows(BEFORE), rows_after: rows(AFTER), ..TableDiff::default() };
        Self {
            name,
            table: Table::from_name(name),
            sides,
            diff,
            left: Default::default(),
            examples: BTreeMap::new(),
        }
    }

    fn run(mut self) -> Result<Option<TableDiff>, LakeError> {
        let files =
            self.sides.each_ref().map(|side| side.commit().files(Some(self.name)).collect::<Vec<_>>());
        let differing = differing_files([&files[BEFORE], &files[AFTER]]);
        for months in differing.values() {
            let before = self.rows_of(BEFORE, &months[BEFORE])?;
            let after = self.rows_of(AFTER, &months[AFTER])?;
            self.match_rows(before, after, false);
        }
        let [before, after] = std::mem::take(&mut self.left);
        self.match_rows(before, after, true);
        self.diff.examples = self.read_examples(&differing)?;
        let TableDiff { rows_before, rows_after, added, changed, vanished, .. } = self.diff;
        let is_same = rows_before == rows_after && added + changed + vanished == 0;
        Ok((!is_same).then_some(self.diff))
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
        for file in files {
            let path = self.sides[side].file(file)?;
            let damaged = |error: TableError| LakeError::damaged(&path, error.to_string());
            for batch in read_parquet(&path, None).map_err(damaged)? {
                take(&batch.map_err(damaged)?)?;
            }
        }
        Ok(())
    }

    /// Whether a column is compared. All columns of an aggregate are.
    fn is_compared(&self, name: &str) -> bool {
        self.table.is_none() || !BOOKKEEPING.contains(&name)
    }

    /// The compared values of a row as text.
    fn cells(&self, batch: &RecordBatch, row: usize) -> Result<Cells, LakeError> {
        let columns = names(batch).zip(batch.columns()).filter(|(name, _)| self.is_compared(name));
        columns.map(|(name, column)| Ok((name.to_owned(), value_text(column, row)?))).collect()
    }

    /// The key of each row; of a table without a key, all its columns.
    fn keys(&self, batch: &RecordBatch) -> Result<Vec<Digest>, LakeError> {
        digests(batch, &self.table.map_or_else(|| names(batch).collect(), |table| table.key().to_vec()))
    }

    fn marks(&self, batch: &RecordBatch) -> Result<Vec<RowMark>, LakeError> {
        let names: Vec<&str> = names(batch).filter(|name| self.is_compared(name)).collect();
        let listed = batch.column_by_name("listed").and_then(|column| column.as_boolean_opt());
        let mark =
            |(row, content)| RowMark { content, listed: listed.is_none_or(|listed| listed.value(row)) };
        Ok(digests(batch, &names)?.into_iter().enumerate().map(mark).collect())
    }

    /// Compares rows with the same key. Rows without a partner wait for the other months; in the last round they count.
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
        let examples = self.examples.entry(kind).or_default();
        examples.insert(key);
        if examples.len() > EXAMPLES {
            examples.pop_last();
        }
    }

    fn read_examples(&self, differing: &FilesByMonth<'_>) -> Result<Vec<Example>, LakeError> {
        let mut rows: BTreeMap<Digest, [Cells; 2]> =
            self.examples.values().flatten().map(|key| (*key, <[Cells; 2]>::default())).collect();
        for months in differing.values().filter(|_| !self.examples.is_empty()) {
            for side in [BEFORE, AFTER] {
                self.each_batch(side, &months[side], |batch| {
                    for (row, key) in self.keys(batch)?.into_iter().enumerate() {
                        if let Some(sides) = rows.get_mut(&key) {
                            sides[side] = self.cells(batch, row)?;
                        }
                    }
                    Ok(())
                })?;
            }
        }
        let key = self.table.map_or(&[][..], |table| table.key());
        let mut examples = Vec::new();
        for (kind, digests) in &self.examples {
            let rows = digests.iter().filter_map(|digest| rows.remove(digest));
            examples.extend(rows.map(|sides| example(*kind, key, sides)));
        }
        examples.sort_by(|one, other| (one.kind, &one.key).cmp(&(other.kind, &other.key)));
        Ok(examples)
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
