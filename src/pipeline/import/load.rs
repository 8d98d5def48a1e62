//! Files of a folder → the next snapshot.

use super::folder::texts_of;
use super::known::{Known, base_of, newest_events};
use super::month::Arrived;
use super::months::{MonthsMade, merge_months};
use super::places::find_places;
use crate::import::business::event::StateEvent;
use crate::import::business::merge::Terms;
use crate::import::business::stored::SourceKey;
use crate::import::files::layout::Kind;
use crate::import::files::source::SourceFile;
use crate::import::read::{FileRead, ReadOptions, Rejected, copy_name, read_files};
use crate::import::rules::industry::Industries;
use crate::import::rules::text::document_number_of;
use crate::lake::{Staging, TableDelta};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::state::provenance::ImportedFiles;
use crate::table::{Change, ChangeRow, ImportRow, Row, Table, UnmatchedEventRow};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

/// What an import needs, apart from the lake.
pub(super) struct Import<'a> {
    /// The texts to read; those that the lake has are skipped.
    pub(super) files: Vec<SourceFile>,
    pub(super) industries: &'a Industries,
    pub(super) today: Date,
    pub(super) observed_at: Timestamp,
    pub(super) run_id: &'a str,
    /// Folder of the spools.
    pub(super) scratch: &'a Path,
    /// Folder of copies of the texts; none to keep no copies.
    pub(super) copies: Option<&'a Path>,
}

/// What an import did.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) deltas: BTreeMap<String, TableDelta>,
    pub(super) rejected: Vec<Rejected>,
    /// The files that were read.
    pub(super) files: Vec<ImportRow>,
    /// Path, digest and stamp of every text that was opened.
    pub(super) opened: Vec<(String, String, String)>,
}

/// The texts of a folder that the lake has not read, by name; and those of quarterly sets that wait for the corporations of their
/// set, which date it.
pub(super) fn unread_files(
    (folder, variables): (&Path, &[(String, String)]),
    staging: &Staging,
) -> Result<(Vec<SourceFile>, Vec<SourceFile>)> {
    let known = Known::of(staging)?;
    let files = texts_of(folder, variables)?;
    let dated: HashSet<String> = files
        .iter()
        .filter(|file| file.kind == Kind::Corporate && file.day.is_none())
        .map(|file| file.set.clone())
        .chain(known.dated_sets())
        .collect();
    let unread = files.into_iter().filter(|file| !known.has_read(file));
    Ok(unread.partition(|file| file.day.is_some() || dated.contains(&file.set)))
}

/// The texts that an import read: its copies, else those of its folder on this machine. `Err` says what is missing.
pub(super) fn files_again(imported: &ImportedFiles, copies: &Path) -> Result<Vec<SourceFile>, String> {
    let found = texts_of(&imported.folder, &[]).unwrap_or_default();
    let mut by_name: HashMap<String, SourceFile> =
        found.into_iter().map(|file| (file.name.clone(), file)).collect();
    let again = imported.files.iter().map(|(name, digest, stamp)| {
        let copy = copies.join(copy_name(digest));
        let file = by_name.remove(name).or_else(|| SourceFile::named(name));
        let file = file.ok_or_else(|| format!("{name} is no file of the state"))?;
        let file = file.with_stamp(stamp);
        match copy.is_file() {
            true => Ok(file.in_copy(copy)),
            false if file.is_there() => Ok(file),
            false => Err(format!("{name} is neither in {} nor among its copies", imported.folder.display())),
        }
    });
    again.collect()
}

/// Reads files and merges them into the next snapshot. Nothing changes where no text is new.
pub(super) fn load(staging: &mut Staging, import: Import<'_>) -> Result<Loaded> {
    let unwritten = |source| PipelineError::Write { path: import.scratch.to_owned(), source };
    fs::create_dir_all(import.scratch).map_err(unwritten)?;
    let known = Known::of(staging)?;
    import.copies.map_or(Ok(()), fs::create_dir_all).map_err(unwritten)?;
    let options = ReadOptions { today: import.today, scratch: import.scratch, copies: import.copies };
    let reading = read_files(&import.files, options)?;
    let rows = known.new_rows(&import.files, &reading.files, (import.observed_at, import.run_id));
    let opened = import
        .files
        .iter()
        .zip(&reading.files)
        .map(|(file, read)| (file.name.clone(), read.digest.clone(), file.stamp.clone()));
    let mut loaded = Loaded {
        files: rows.iter().flatten().cloned().collect(),
        opened: opened.collect(),
        ..Loaded::default()
    };
    if !loaded.files.is_empty() {
        let mut keys: Vec<Option<SourceKey>> = keys(&import.files, &rows);
        let places = find_places(staging, &reading, &mut keys, import.scratch)?;
        let terms = terms(&known.rows, &loaded.files, import.run_id);
        let arrived = Arrived {
            records: &reading.records,
            events: &places.events,
            keys: &keys,
            kinds: &import.files.iter().map(|file| file.kind).collect::<Vec<_>>(),
            strayed: &places.strayed.keys().copied().collect::<HashSet<i64>>(),
        };
        let made = merge_months(staging, &arrived, places.strayed, (&terms, import.industries))?;
        loaded.deltas = deltas(staging, &made);
        stage_changes(staging, made)?;
        stage_unmatched(staging, places.unmatched)?;
        staging.merge(Table::Imports, &ImportRow::batch(&loaded.files)?)?;
        loaded.rejected = rejected(reading.files, &rows);
    }
    fs::remove_dir_all(import.scratch).map_err(unwritten)?;
    Ok(loaded)
}

/// The source of each file; none of a text that was read before.
fn keys(files: &[SourceFile], rows: &[Option<ImportRow>]) -> Vec<Option<SourceKey>> {
    let key = |(file, row): (&SourceFile, &Option<ImportRow>)| {
        row.as_ref().map(|row| SourceKey { date: row.source_date, rank: file.rank() })
    };
    files.iter().zip(rows).map(key).collect()
}

fn terms(known: &[ImportRow], new: &[ImportRow], run_id: &str) -> Terms {
    let all = known.iter().chain(new);
    let base = base_of(all.clone());
    Terms {
        base: base.unwrap_or(SourceKey { date: Date::MAX, rank: u8::MAX }),
        newest_events: newest_events(all),
        events_before: newest_events(known.iter()),
        is_all_new: base_of(known.iter()).is_some_and(|before| Some(before) != base),
        run_id: run_id.to_owned(),
    }
}

fn rejected(files: Vec<FileRead>, rows: &[Option<ImportRow>]) -> Vec<Rejected> {
    let new = files.into_iter().zip(rows).filter(|(_, row)| row.is_some());
    new.flat_map(|(file, _)| file.rejected).collect()
}

fn deltas(staging: &Staging, made: &MonthsMade) -> BTreeMap<String, TableDelta> {
    let total = |table: Table| staging.manifests().get(table.name()).map_or(0, |manifest| manifest.rows);
    let filings = TableDelta {
        read: made.read,
        added: made.added,
        changed: made.changed,
        total: total(Table::Filings),
        changed_months: made.changed_months.clone(),
        ..TableDelta::default()
    };
    let others = [Table::Details, Table::Officers, Table::Events];
    let of_total = |table: Table| TableDelta { total: total(table), ..TableDelta::default() };
    let others = others.map(|table| (table.name().to_owned(), of_total(table)));
    [(Table::Filings.name().to_owned(), filings)].into_iter().chain(others).collect()
}

/// A change, without the run that found it.
type Found = (i64, Date, Change, String, Option<String>, Option<String>);

/// Adds the changes, in place of those that were found again. A change that stays keeps the run that found it.
fn stage_changes(staging: &mut Staging, made: MonthsMade) -> Result<()> {
    let MonthsMade { mut changes, replaced, .. } = made;
    if !replaced.is_empty() {
        let is_replaced = |id: i64, day: Date| replaced.get(&id).is_some_and(|from| day >= *from);
        let dropped = staging.drop_changes(is_replaced)?;
        let found = |row: &ChangeRow| -> Found {
            (
                row.business_id,
                row.observed_on,
                row.change,
                row.field.clone(),
                row.old.clone(),
                row.new.clone(),
            )
        };
        let runs: HashMap<Found, String> =
            dropped.iter().map(|row| (found(row), row.run_id.clone())).collect();
        for row in &mut changes {
            if let Some(run_id) = runs.get(&found(row)) {
                row.run_id.clone_from(run_id);
            }
        }
    }
    Ok(staging.add_changes(&changes)?)
}

/// Keeps the events of businesses without a record, each once.
fn stage_unmatched(staging: &mut Staging, mut events: Vec<(i64, SourceKey, StateEvent)>) -> Result<()> {
    events.sort();
    let mut rows: Vec<UnmatchedEventRow> = Vec::new();
    let mut seen: HashSet<(i64, StateEvent)> = HashSet::new();
    for (id, key, event) in events {
        if !seen.insert((id, event.clone())) {
            continue;
        }
        let position = rows.last().filter(|row| row.business_id == id).map_or(0, |row| row.position + 1);
        rows.push(UnmatchedEventRow {
            business_id: id,
            position,
            document_number: document_number_of(id),
            source_date: key.date,
            source_rank: key.rank.into(),
            event: serde_json::to_string(&event).unwrap_or_default(),
        });
    }
    staging.replace(Table::UnmatchedEvents, &UnmatchedEventRow::batch(&rows)?)?;
    Ok(())
}
