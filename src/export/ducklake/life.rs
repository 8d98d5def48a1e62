//! Tables, columns and files of the catalogue, each with the snapshots that have it.

use super::super::described::{Described, DescribedColumn, month_of, uuid};
use crate::lake::Commit;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// The snapshots that have something: from `begin` on, up to but not including `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) begin: u64,
    /// None while the newest snapshot has it.
    pub(super) end: Option<u64>,
}

impl Life {
    pub(super) const fn since(begin: u64) -> Self {
        Self { begin, end: None }
    }

    pub(super) const fn is_open(self) -> bool {
        self.end.is_none()
    }

    /// Ends it if it has not ended; returns whether it did.
    pub(super) fn finish(&mut self, end: u64) -> bool {
        let was_open = self.is_open();
        self.end = self.end.or(Some(end));
        was_open
    }
}

/// A table from the snapshot that has it first to the one that no longer has it.
#[derive(Debug)]
pub(super) struct TableLife {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) uuid: String,
    pub(super) about: String,
    pub(super) life: Life,
    pub(super) columns: Vec<ColumnLife>,
    /// Ids of its partitionings by month.
    pub(super) partitions: Vec<(u64, Life)>,
    pub(super) files: Vec<FileLife>,
    /// The next number of a row.
    pub(super) next_row: u64,
    /// Its files of the newest snapshot so far, by path and digest.
    open: BTreeMap<(String, String), usize>,
}

/// A column while its type, place and null stay the same. A column that changes keeps its id.
#[derive(Debug)]
pub(super) struct ColumnLife {
    pub(super) id: u64,
    pub(super) order: usize,
    pub(super) shape: DescribedColumn,
    pub(super) life: Life,
}

/// A data file.
#[derive(Debug)]
pub(super) struct FileLife {
    pub(super) id: u64,
    /// Its path in the lake, in the newest snapshot that has it.
    pub(super) path: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) footer: Option<u32>,
    /// The number of its first row.
    pub(super) first_row: u64,
    /// Of its path.
    pub(super) month: Option<String>,
    /// Oldest and newest filing date, where its table has one.
    pub(super) dates: Option<(Date, Date)>,
    pub(super) life: Life,
}

/// The next free ids of a catalogue.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Ids {
    /// Of tables and partitionings.
    pub(super) catalog: u64,
    pub(super) file: u64,
}

/// A free id, which is no longer free.
pub(super) const fn taken(id: &mut u64) -> u64 {
    *id += 1;
    *id - 1
}

impl TableLife {
    pub(super) fn new(id: u64, name: &str, commit: &Commit) -> Self {
        let seed = format!("{name} {} {}", commit.snapshot, commit.committed_at);
        Self {
            id,
            name: name.to_owned(),
            uuid: uuid(&seed),
            about: String::new(),
            life: Life::since(commit.snapshot),
            columns: Vec::new(),
            partitions: Vec::new(),
            files: Vec::new(),
            next_row: 0,
            open: BTreeMap::new(),
        }
    }

    /// Ends the table with all that it has.
    pub(super) fn finish(&mut self, number: u64) {
        self.life.finish(number);
        let columns = self.columns.iter_mut().map(|column| &mut column.life);
        let partitions = self.partitions.iter_mut().map(|(_, life)| life);
        let files = self.files.iter_mut().map(|file| &mut file.life);
        for life in columns.chain(partitions).chain(files) {
            life.finish(number);
        }
    }

    /// Gives it the columns of a snapshot; returns whether they or the partitioning differ from those before.
    pub(super) fn reshape(&mut self, number: u64, shape: &Described, ids: &mut Ids) -> bool {
        self.about.clone_from(&shape.about);
        let mut is_other = false;
        let wanted: Vec<(usize, &DescribedColumn)> = (1..).zip(&shape.columns).collect();
        for column in self.columns.iter_mut().filter(|column| column.life.is_open()) {
            let stays = |(order, shape): &&(usize, &DescribedColumn)| {
                *order == column.order && is_stored_as(shape, &column.shape)
            };
            match wanted.iter().find(stays) {
                Some((_, shape)) => column.shape.meaning.clone_from(&shape.meaning),
                None => is_other |= column.life.finish(number),
            }
        }
        for (order, shape) in wanted {
            let is_there = |column: &ColumnLife| column.life.is_open() && column.order == order;
            if !self.columns.iter().any(is_there) {
                let id = self.column_id(&shape.name);
                self.columns.push(ColumnLife { id, order, shape: shape.clone(), life: Life::since(number) });
                is_other = true;
            }
        }
        let partitioned = self.partitions.iter_mut().find(|(_, life)| life.is_open());
        match (partitioned, shape.is_partitioned) {
            (Some((_, life)), false) => is_other |= life.finish(number),
            (None, true) => {
                self.partitions.push((taken(&mut ids.catalog), Life::since(number)));
                is_other = true;
            }
            _ => {}
        }
        is_other
    }

    /// The id of a column by its name: the one it ever had, or the next.
    fn column_id(&self, name: &str) -> u64 {
        let next = || self.columns.iter().map(|column| column.id).max().unwrap_or(0) + 1;
        self.known_column(name).unwrap_or_else(next)
    }

    /// The id of a column that it has or had.
    pub(super) fn known_column(&self, name: &str) -> Option<u64> {
        self.columns.iter().find(|column| column.shape.name == name).map(|column| column.id)
    }

    /// Gives it the files of a snapshot; returns whether there are new ones, and whether some are gone.
    pub(super) fn take_files(
        &mut self,
        commit: &Commit,
        ids: &mut Ids,
        footer: impl Fn(&str) -> Option<u32>,
    ) -> (bool, bool) {
        let before = self.files.len();
        let mut gone: BTreeSet<(String, String)> = self.open.keys().cloned().collect();
        for entry in &commit.tables[&self.name].files {
            let (key, path) = ((entry.path.clone(), entry.blake3.clone()), commit.object_of(entry));
            gone.remove(&key);
            match self.open.get(&key) {
                // Old snapshots are pruned first, so that the newest path lasts longest.
                Some(at) => self.files[*at].path = path,
                None => {
                    self.open.insert(key, self.files.len());
                    self.files.push(FileLife {
                        id: taken(&mut ids.file),
                        footer: footer(&path),
                        path,
                        rows: entry.rows,
                        bytes: entry.bytes,
                        first_row: self.next_row,
                        month: month_of(entry).map(str::to_owned),
                        dates: entry.min_filed_date.zip(entry.max_filed_date),
                        life: Life::since(commit.snapshot),
                    });
                    self.next_row += entry.rows;
                }
            }
        }
        for key in &gone {
            if let Some(at) = self.open.remove(key) {
                self.files[at].life.finish(commit.snapshot);
            }
        }
        (self.files.len() > before, !gone.is_empty())
    }
}

/// Whether two columns differ in their meaning alone.
fn is_stored_as(one: &DescribedColumn, other: &DescribedColumn) -> bool {
    (&one.name, &one.kind, one.nullable) == (&other.name, &other.kind, other.nullable)
}
