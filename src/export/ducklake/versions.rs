//! The snapshots that are kept, oldest first, as versions of the catalogue.

use super::super::described::Described;
use super::super::error::ExportError;
use super::life::{Ids, Life, TableLife, taken};
use super::shape::Shapes;
use crate::lake::{Commit, Lake, LakeError};
use crate::table::{VIEWS, View};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// All of a catalogue.
#[derive(Default)]
pub(super) struct Versions {
    pub(super) versions: Vec<Version>,
    pub(super) tables: Vec<TableLife>,
    /// Views with their ids.
    pub(super) views: Vec<(u64, &'static View, Life)>,
    /// The snapshot, the version of the schema, and the table whose columns changed then.
    pub(super) schemas: Vec<(u64, u64, u64)>,
    ids: Ids,
    schema: u64,
}

/// A snapshot.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) number: u64,
    pub(super) at: Timestamp,
    /// Changes with any table's columns.
    pub(super) schema: u64,
    /// The ids that are free after it.
    pub(super) ids: Ids,
    /// What it changed, in the words of DuckLake.
    pub(super) changes: Vec<String>,
    /// What made it, for people.
    pub(super) message: String,
}

/// The versions of a lake: every kept snapshot whose commit can be read, but for some.
pub(super) fn versions(lake: &Lake, newest: &Commit, without: &[u64]) -> Result<Versions, ExportError> {
    let mut shapes = Shapes::new(lake);
    // Its files are at hand, also where the lake is in an object store.
    shapes.of(newest)?;
    // The schema has id 0.
    let mut all = Versions { ids: Ids { catalog: 1, file: 0 }, ..Versions::default() };
    let mut kept = lake.kept_snapshots()?;
    kept.retain(|number| *number <= newest.snapshot && !without.contains(number));
    for number in kept {
        let commit = match lake.commit(number) {
            // `verify` says so; the other snapshots are as good as before.
            Err(LakeError::Damaged { .. }) => continue,
            other => other?,
        };
        all.add(&commit, &shapes.of(&commit)?, |path| footer_bytes(&lake.root().join(path)));
    }
    Ok(all)
}

impl Versions {
    /// Adds the next snapshot, which has these tables. `footer` gives the size of the footer of a file, where it is known.
    fn add(
        &mut self,
        commit: &Commit,
        shapes: &BTreeMap<String, Described>,
        footer: impl Fn(&str) -> Option<u32> + Copy,
    ) {
        let number = commit.snapshot;
        let mut changes = Vec::new();
        let mut altered = Vec::new();
        let is_first = self.versions.is_empty();
        changes.extend(is_first.then(|| "created_schema:\"main\"".to_owned()));
        for table in self.tables.iter_mut().filter(|table| table.life.is_open()) {
            if !shapes.contains_key(&table.name) {
                table.finish(number);
                changes.push(format!("dropped_table:{}", table.id));
                altered.push(table.id);
            }
        }
        for (name, shape) in shapes {
            let (at, is_new) = self.table(name, commit);
            let table = &mut self.tables[at];
            let is_other = table.reshape(number, shape, &mut self.ids);
            let (added, removed) = table.take_files(commit, &mut self.ids, footer);
            let id = table.id;
            changes.extend(is_new.then(|| format!("created_table:\"main\".\"{name}\"")));
            changes.extend((is_other && !is_new).then(|| format!("altered_table:{id}")));
            changes.extend(added.then(|| format!("inserted_into_table:{id}")));
            changes.extend(removed.then(|| format!("deleted_from_table:{id}")));
            altered.extend(is_other.then_some(id));
        }
        let has_other_views = self.take_views(number, shapes, &mut changes);
        self.schema += u64::from(has_other_views || !altered.is_empty());
        self.schemas.extend(altered.into_iter().map(|table| (number, self.schema, table)));
        let message = format!("{} of {}, run {}", commit.pipeline, commit.today, commit.run_id);
        let (at, schema, ids) = (commit.committed_at, self.schema, self.ids);
        self.versions.push(Version { number, at, schema, ids, changes, message });
    }

    /// Begins the views that the tables can answer and ends the others; returns whether there were any such.
    fn take_views(
        &mut self,
        number: u64,
        shapes: &BTreeMap<String, Described>,
        changes: &mut Vec<String>,
    ) -> bool {
        let before = changes.len();
        for view in &VIEWS {
            let is_it = |known: &&mut (u64, &View, Life)| known.1.name == view.name && known.2.is_open();
            match (self.views.iter_mut().find(is_it), view.is_of(|name| shapes.contains_key(name))) {
                (Some((id, _, life)), false) => {
                    life.finish(number);
                    changes.push(format!("dropped_view:{id}"));
                }
                (None, true) => {
                    self.views.push((taken(&mut self.ids.catalog), view, Life::since(number)));
                    changes.push(format!("created_view:\"main\".\"{}\"", view.name));
                }
                _ => {}
            }
        }
        changes.len() > before
    }

    /// Where the table is, made now if the snapshot before has none of that name; and whether it was made.
    fn table(&mut self, name: &str, commit: &Commit) -> (usize, bool) {
        let known = self.tables.iter().position(|table| table.life.is_open() && table.name == name);
        if let Some(at) = known {
            return (at, false);
        }
        self.tables.push(TableLife::new(taken(&mut self.ids.catalog), name, commit));
        (self.tables.len() - 1, true)
    }
}

/// The size of the footer of a Parquet file, which the file ends with; none if the file is not on this machine.
fn footer_bytes(path: &Path) -> Option<u32> {
    let mut file = File::open(path).ok()?;
    let mut end = [0; 8];
    file.seek(SeekFrom::End(-8)).ok()?;
    file.read_exact(&mut end).ok()?;
    let [one, two, three, four, magic @ ..] = end;
    (&magic == b"PAR1").then(|| u32::from_le_bytes([one, two, three, four]))
}
