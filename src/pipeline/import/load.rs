//! Files of a folder → the next snapshot.

use super::known::{Known, Text, base_of};
use super::month::{Arrived, Made};
use super::months::merge_months;
use super::places::find_places;
use super::sets::{check_claims, check_events, check_sets};
use crate::import::business::event::StateEvent;
use crate::import::business::merge::Terms;
use crate::import::business::stored::SourceKey;
use crate::import::files::source::SourceFile;
use crate::import::read::{ReadOptions, Reading, Rejected, read_files};
use crate::import::rules::industry::Industries;
use crate::import::rules::text::document_number_of;
use crate::lake::{Staging, TableDelta};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::state::run_state::RunState;
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
    /// Every text of the folder.
    pub(super) all: Vec<SourceFile>,
    /// Whether these seem to have all that the lake read.
    pub(super) has_all: bool,
    /// Share by which a file of a set may fall short, in percent.
    pub(super) max_short: f64,
    /// Whether `files` has all that the lake read, and everything is made anew from them.
    pub(super) is_rebuilt: bool,
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
    /// The files that the lake had not read.
    pub(super) files: Vec<ImportRow>,
    /// Their records, each text counted once.
    pub(super) records: u64,
    /// Path, digest and stamp of every text that was opened.
    pub(super) opened: Vec<(String, String, String)>,
    /// Whether everything was made anew.
    pub(super) is_rebuilt: bool,
}

/// Reads files and merges them into the next snapshot. Nothing changes where no text is new.
///
/// Where a file is not newer than the newest quarterly set, what it changes depends on records that the lake has no more: then all files
/// are read again, and the tables are made anew.
pub(super) fn load(staging: &mut Staging, mut import: Import<'_>) -> Result<Loaded> {
    let unwritten = |source| PipelineError::Write { path: import.scratch.to_owned(), source };
    fs::create_dir_all(import.scratch).map_err(unwritten)?;
    import.copies.map_or(Ok(()), fs::create_dir_all).map_err(unwritten)?;
    let before = Known::of(staging)?;
    let mut read = read_new(&import, &before)?;
    check(&import, &before, &read)?;
    if !import.is_rebuilt && before.are_late(&read.texts) {
        let unread = import.files.clone();
        // Files that a repair left out are not known.
        let is_whole = !RunState::of(staging.parent()).has_losses;
        if import.has_all && is_whole {
            (import.files, import.is_rebuilt) = (import.all.clone(), true);
            read = read_new(&import, &before)?;
        }
        if !import.is_rebuilt || !before.are_all_in_texts(&read.texts) {
            tracing::warn!(
                "a file is not newer than others, and files that the lake has read are gone: changes may be incomplete"
            );
            if std::mem::replace(&mut import.is_rebuilt, false) {
                import.files = unread;
                read = read_new(&import, &before)?;
            }
        }
    }
    let loaded = merge_read(staging, &import, &before, read)?;
    fs::remove_dir_all(import.scratch).map_err(unwritten)?;
    Ok(loaded)
}

/// Refuses texts that are not what their names say, as far as only all of them show it.
fn check(import: &Import<'_>, before: &Known, read: &ReadNew) -> Result<()> {
    let texts = || read.texts.iter();
    let digests: HashMap<&str, &str> =
        texts().map(|text| (text.file.name.as_str(), text.read.digest.as_str())).collect();
    let digest_of = |file: &SourceFile| digests.get(&*file.name).copied().or_else(|| before.digest_of(file));
    let rows = || before.rows.iter().chain(texts().map(|text| &text.row));
    let broken: HashSet<&str> = rows().filter(|row| !row.is_sound()).map(|row| row.digest.as_str()).collect();
    let is_sound = |file: &&SourceFile| digest_of(file).is_none_or(|digest| !broken.contains(digest));
    check_claims(import.all.iter().filter(is_sound), digest_of)?;
    check_sets(&import.all, &read.texts, before, import.max_short)?;
    let of_nothing = texts().find_map(|text| Some(text.file.unusable(text.read.fault?)));
    of_nothing.filter(|_| !rows().any(ImportRow::is_sound)).map_or(Ok(()), |error| Err(error.into()))
}

/// What was read of the files of an import.
struct ReadNew {
    reading: Reading,
    texts: Vec<Text>,
    /// The rows of files that the lake had not read.
    new: Vec<ImportRow>,
}

fn read_new(import: &Import<'_>, before: &Known) -> Result<ReadNew> {
    let options = ReadOptions { today: import.today, scratch: import.scratch, copies: import.copies };
    let mut reading = read_files(&import.files, options)?;
    let reads = std::mem::take(&mut reading.files).into_values().collect();
    let nothing = Known::default();
    let known = if import.is_rebuilt { &nothing } else { before };
    let mut texts = known.texts_of(&import.files, reads, import.observed_at, import.run_id);
    let is_new = |row: &ImportRow| !before.has_text(row);
    let of_new = texts.iter().filter(|text| is_new(&text.row));
    let new_sets: HashSet<String> = of_new.map(|text| text.file.set.clone()).collect();
    let mut new = Vec::new();
    for Text { file, row, .. } in &mut texts {
        match before.row_of(row) {
            Some(old) if import.is_rebuilt => {
                (row.imported_at, row.run_id) = (old.imported_at, old.run_id.clone());
                // A day of its content that was ahead then dates it no more.
                if !new_sets.contains(&file.set) {
                    row.source_date = old.source_date;
                }
            }
            Some(old) => *row = ImportRow { stamp: row.stamp.clone(), ..old.clone() },
            None if is_new(row) => new.push(row.clone()),
            None => {}
        }
    }
    Ok(ReadNew { reading, texts, new })
}

fn merge_read(
    staging: &mut Staging,
    import: &Import<'_>,
    before: &Known,
    mut read: ReadNew,
) -> Result<Loaded> {
    let opened = read
        .texts
        .iter()
        .map(|text| (text.file.name.clone(), text.read.digest.clone(), text.file.stamp.clone()));
    // Those that the lake had not read.
    let of_new = || read.texts.iter().filter(|text| text.counts && !before.has_text(&text.row));
    let mut loaded = Loaded {
        opened: opened.collect(),
        rejected: of_new().flat_map(|text| text.read.rejected.clone()).collect(),
        records: of_new().map(|text| text.read.sound.lines()).sum(),
        is_rebuilt: import.is_rebuilt,
        ..Loaded::default()
    };
    if read.new.is_empty() {
        return Ok(loaded);
    }
    let gone = if import.is_rebuilt { before.rows_of_gone(&read.texts) } else { Vec::new() };
    let known = if import.is_rebuilt { &gone } else { &before.rows };
    let terms = terms(staging, import, known, &read);
    let mut keys: Vec<Option<SourceKey>> = read.texts.iter().map(key_of).collect();
    let lake = (!import.is_rebuilt).then_some(&*staging);
    let places = find_places(lake, &mut read.reading, &mut keys, import.scratch)?;
    check_events(&read.texts, &places.unmatched, import.max_short)?;
    let arrived = Arrived {
        spools: &read.reading.records.iter().chain(&places.events).collect::<Vec<_>>(),
        keys: &keys,
        kinds: &read.texts.iter().map(|text| text.file.kind).collect::<Vec<_>>(),
        spread: &places.spread.keys().copied().collect::<HashSet<i64>>(),
    };
    let made = merge_months(staging, &arrived, places.spread, &terms, import.industries)?;
    loaded.deltas = deltas(staging, &made);
    stage_changes(staging, made, import.is_rebuilt)?;
    stage_unmatched(staging, places.unmatched)?;
    if import.is_rebuilt {
        staging.replace(Table::Imports, &ImportRow::batch(&gone)?)?;
    }
    let rows: Vec<ImportRow> = read.texts.into_iter().map(|text| text.row).collect();
    staging.merge(Table::Imports, &ImportRow::batch(&rows)?)?;
    loaded.files = read.new;
    Ok(loaded)
}

/// The source of a text; none of one that does not count.
fn key_of(text: &Text) -> Option<SourceKey> {
    text.counts.then(|| SourceKey { date: text.row.source_date, rank: text.file.rank() })
}

/// `known`: the files that count and are not read now.
fn terms(staging: &Staging, import: &Import<'_>, known: &[ImportRow], read: &ReadNew) -> Terms {
    let all = known.iter().chain(read.texts.iter().map(|text| &text.row));
    let base = base_of(all);
    Terms {
        base: base.unwrap_or(SourceKey { date: Date::MAX, rank: u8::MAX }),
        is_all_new: base_of(known.iter()).is_some_and(|before| Some(before) != base),
        is_rebuilt: import.is_rebuilt,
        has_losses: RunState::of(staging.parent()).has_losses,
        run_id: import.run_id.to_owned(),
    }
}

fn deltas(staging: &Staging, made: &Made) -> BTreeMap<String, TableDelta> {
    let total = |table: Table| staging.manifests().get(table.name()).map_or(0, |manifest| manifest.rows);
    let filings = TableDelta { total: total(Table::Filings), ..made.filings };
    let others = [Table::Details, Table::Officers, Table::Events];
    let of_total = |table: Table| TableDelta { total: total(table), ..TableDelta::default() };
    let others = others.map(|table| (table.name().to_owned(), of_total(table)));
    [(Table::Filings.name().to_owned(), filings)].into_iter().chain(others).collect()
}

/// Adds the changes, in place of those that were found again: all where everything is made anew. A business appeared once, on its first
/// day. A change that stays keeps the run that found it.
fn stage_changes(staging: &mut Staging, made: Made, is_rebuilt: bool) -> Result<()> {
    let Made { mut changes, replaced, earlier, .. } = made;
    if is_rebuilt || !replaced.is_empty() || !earlier.is_empty() {
        let mut found_by = FoundBy::default();
        staging.drop_changes(|row| {
            let is_replaced = replaced.get(&row.business_id).is_some_and(|from| row.observed_on >= *from);
            let appeared_before = earlier.get(&row.business_id).is_some_and(|first| row.observed_on > *first);
            let is_untrue = appeared_before && row.change == Change::Appeared;
            let is_dropped = is_rebuilt || is_replaced || is_untrue;
            if is_dropped {
                found_by.note(row);
            }
            is_dropped
        })?;
        for row in &mut changes {
            if let Some(run_id) = found_by.run_of(row) {
                run_id.clone_into(&mut row.run_id);
            }
        }
    }
    Ok(staging.add_changes(changes)?)
}

/// The runs that found changes, by digests of these: the changes themselves would fill the memory.
#[derive(Default)]
struct FoundBy {
    runs: Vec<String>,
    changes: HashMap<[u8; 32], usize>,
}

impl FoundBy {
    fn digest(row: &ChangeRow) -> [u8; 32] {
        let ChangeRow { observed_on, business_id, change, field, old, new, .. } = row;
        let text = format!("{observed_on} {business_id} {} {field} {old:?} {new:?}", change.name());
        *blake3::hash(text.as_bytes()).as_bytes()
    }

    fn note(&mut self, row: &ChangeRow) {
        let known = self.runs.iter().rposition(|run| *run == row.run_id);
        let run = known.unwrap_or_else(|| {
            self.runs.push(row.run_id.clone());
            self.runs.len() - 1
        });
        self.changes.insert(Self::digest(row), run);
    }

    fn run_of(&self, row: &ChangeRow) -> Option<&str> {
        self.changes.get(&Self::digest(row)).map(|run| self.runs[*run].as_str())
    }
}

/// Keeps the events of businesses without a record, each once a file.
fn stage_unmatched(staging: &mut Staging, mut events: Vec<(i64, SourceKey, StateEvent)>) -> Result<()> {
    events.sort();
    events.dedup();
    let mut rows: Vec<UnmatchedEventRow> = Vec::new();
    for (id, key, event) in events {
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
