//! What the lake has read, and which dates follow from that.

use super::batches::TABLES;
use crate::import::business::stored::SourceKey;
use crate::import::files::layout::Kind;
use crate::import::files::names::set_of;
use crate::import::files::source::SourceFile;
use crate::import::read::FileRead;
use crate::lake::{Month, Staging};
use crate::pipeline::error::Result;
use crate::pipeline::plan::lake_view::staged_rows;
use crate::table::{ImportRow, Row as _, Table};
use jiff::Timestamp;
use jiff::civil::{Date, date};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The date of a quarterly set without a single day in it.
const NO_DATE: Date = date(1900, 1, 1);

/// The files that the lake has read.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) rows: Vec<ImportRow>,
    /// Digests, by what names a text without opening it.
    stamps: HashMap<String, String>,
}

/// A text that was read now.
pub(super) struct Text {
    pub(super) file: SourceFile,
    pub(super) read: FileRead,
    pub(super) row: ImportRow,
    /// Whether it counts: it is sound, and the first with its content.
    pub(super) counts: bool,
}

/// What names a text without opening it: its size and checksum, with its kind and its day or set; without a checksum its name, its size
/// and the time of change of its file.
fn stamp_of(name: &str, kind: &str, day: Option<Date>, stamp: &str) -> String {
    if stamp.contains(" with checksum ") {
        format!("{kind} {day:?} {} {stamp}", set_of(name, day))
    } else {
        format!("{name} {stamp}")
    }
}

fn stamp_of_file(file: &SourceFile) -> String {
    stamp_of(&file.name, file.kind.name(), file.day, &file.stamp)
}

impl Known {
    pub(super) fn of(staging: &Staging) -> Result<Self> {
        let rows: Vec<ImportRow> = staged_rows(staging)?;
        let day = |row: &ImportRow| (!row.quarterly).then_some(row.source_date);
        let stamp = |row: &ImportRow| stamp_of(&row.file, &row.kind, day(row), &row.stamp);
        let stamps = rows.iter().map(|row| (stamp(row), row.digest.clone())).collect();
        Ok(Self { rows, stamps })
    }

    /// Whether a file was read before, as far as its size and stamp say.
    pub(super) fn has_read(&self, file: &SourceFile) -> bool {
        self.digest_of(file).is_some()
    }

    /// The digest of a file that was read before.
    pub(super) fn digest_of(&self, file: &SourceFile) -> Option<&str> {
        self.stamps.get(&stamp_of_file(file)).map(String::as_str)
    }

    /// Whether the lake has this text, from this file or from another one of the same kind and date: a copy says nothing new.
    pub(super) fn has_text(&self, row: &ImportRow) -> bool {
        let place = |row: &ImportRow| (row.quarterly, row.source_date);
        let is_same = |known: &ImportRow| known.kind == row.kind && place(known) == place(row);
        self.row_of(row).is_some()
            || self.rows.iter().any(|known| known.digest == row.digest && is_same(known))
    }

    /// The newest date of a quarterly text that was read.
    pub(super) fn date_of_text(&self, digest: &str) -> Option<Date> {
        self.rows.iter().filter(|row| row.quarterly && row.digest == digest).map(|row| row.source_date).max()
    }

    /// Whether every text that was read is among these files, as far as their names and sizes say.
    pub(super) fn are_all_in(&self, files: &[SourceFile]) -> bool {
        let there: HashSet<(&str, i64)> =
            files.iter().map(|file| (file.name.as_str(), file.bytes as i64)).collect();
        let is_there = |row: &&ImportRow| there.contains(&(row.file.as_str(), row.bytes));
        self.are_all(&self.rows.iter().filter(is_there).map(|row| row.digest.as_str()).collect())
    }

    /// Whether every text that was read is among these.
    pub(super) fn are_all_in_texts(&self, texts: &[Text]) -> bool {
        self.are_all(&texts.iter().map(|text| text.read.digest.as_str()).collect())
    }

    fn are_all(&self, digests: &HashSet<&str>) -> bool {
        self.rows.iter().all(|row| row.records == 0 || digests.contains(row.digest.as_str()))
    }

    /// Whether records that arrive are not newer than the newest quarterly set, or have the source of others. What they change depends
    /// on records that these replaced. Daily files up to the first set change nothing.
    pub(super) fn are_late(&self, texts: &[Text]) -> bool {
        let set = self.rows.iter().filter(|row| row.quarterly).map(|row| row.source_date).max();
        let is_first = set == base_of(self.rows.iter()).map(|base| base.date);
        let is_late = |Text { row, counts, .. }: &Text| {
            let is_same = |known: &ImportRow| {
                known.kind == row.kind && known.source_date == row.source_date && !known.quarterly
            };
            let of_text = self.rows.iter().filter(|known| known.digest == row.digest);
            let dates: Vec<Date> = of_text.map(|known| known.source_date).collect();
            match (counts, row.quarterly) {
                (false, true) => false,
                (false, false) => !dates.is_empty() && !dates.contains(&row.source_date),
                (true, true) => set.is_some_and(|set| row.source_date <= set),
                (true, false) => {
                    set.is_some_and(|set| row.source_date <= set) && !is_first
                        || self.rows.iter().any(|known| known.records > 0 && is_same(known))
                }
            }
        };
        texts.iter().any(|text| text.row.records > 0 && !self.has_text(&text.row) && is_late(text))
    }

    /// The rows of files that were read and are not among these texts. What they say of their day stays true: that it had no filings, or
    /// that its file does not count. A file of a set with records is among the texts under another name.
    pub(super) fn rows_of_gone(&self, texts: &[Text]) -> Vec<ImportRow> {
        let there: HashSet<(&str, &str)> = texts.iter().map(|text| text.row.key()).collect();
        let stays = |row: &&ImportRow| (!row.quarterly || row.records == 0) && !there.contains(&row.key());
        let dated = |row: &ImportRow| {
            let is_of_set = |text: &&Text| row.quarterly && text.file.set == set_of(&row.file, None);
            let source_date =
                texts.iter().find(is_of_set).map_or(row.source_date, |text| text.row.source_date);
            ImportRow { source_date, ..row.clone() }
        };
        self.rows.iter().filter(stays).map(dated).collect()
    }

    /// The quarterly sets whose corporations were read.
    pub(super) fn dated_sets(&self) -> impl Iterator<Item = String> + '_ {
        let corporations = self.rows.iter().filter(|row| row.quarterly && row.kind == Kind::Corporate.name());
        corporations.map(|row| set_of(&row.file, None))
    }

    /// The row of a file with this text.
    pub(super) fn row_of(&self, row: &ImportRow) -> Option<&ImportRow> {
        self.rows.iter().find(|known| known.key() == row.key())
    }

    /// The files that were read now, in their order, with their rows.
    pub(super) fn texts_of(
        &self,
        files: &[SourceFile],
        reads: Vec<FileRead>,
        imported_at: Timestamp,
        run_id: &str,
    ) -> Vec<Text> {
        let mut seen: HashSet<&str> = self.rows.iter().map(|row| row.digest.as_str()).collect();
        let is_new: Vec<bool> = reads.iter().map(|read| seen.insert(&read.digest)).collect();
        let dates = self.dates_of(files, &reads, &is_new);
        let row = |((file, read), source_date): ((&SourceFile, &FileRead), Date)| {
            let counted = |lines: u64| if read.fault.is_none() { lines as i64 } else { 0 };
            ImportRow {
                digest: read.digest.clone(),
                file: file.name.clone(),
                kind: file.kind.name().to_owned(),
                source_date,
                quarterly: file.day.is_none(),
                bytes: read.bytes as i64,
                records: counted(read.sound.lines()),
                quarantined: counted(read.rejected.len() as u64),
                fault: read.fault.map(|fault| fault.to_string()),
                stamp: file.stamp.clone(),
                imported_at,
                run_id: run_id.to_owned(),
            }
        };
        let rows: Vec<ImportRow> = files.iter().zip(&reads).zip(dates).map(row).collect();
        let all = files.iter().zip(reads).zip(rows).zip(is_new);
        all.map(|(((file, read), row), is_new)| {
            let counts = is_new && read.fault.is_none();
            Text { file: file.clone(), read, row, counts }
        })
        .collect()
    }

    /// The date of each file: its day, or the date of its set. A copy has the date of the text that it repeats.
    fn dates_of(&self, files: &[SourceFile], reads: &[FileRead], is_new: &[bool]) -> Vec<Date> {
        let all = || files.iter().zip(reads).zip(is_new);
        let of_sets = || all().filter(|((file, _), _)| file.day.is_none());
        let mut sets: BTreeMap<&str, Vec<(&SourceFile, &FileRead)>> = BTreeMap::new();
        for ((file, read), is_new) in of_sets() {
            if *is_new || !self.has_in_set(file, read) {
                sets.entry(&file.set).or_default().extend(is_new.then_some((file, read)));
            }
        }
        let dated = sets.into_iter().map(|(set, files)| (set, self.date_of_set(set, &files)));
        let dates: BTreeMap<&str, Date> = dated.filter_map(|(set, date)| Some((set, date?))).collect();
        let own = |file: &SourceFile| file.day.or_else(|| dates.get(&*file.set).copied());
        let known = self.rows.iter().filter(|row| row.quarterly);
        let mut of_text: HashMap<(&str, &str), Date> =
            known.map(|row| ((&*row.kind, &*row.digest), row.source_date)).collect();
        of_text.extend(
            of_sets().filter_map(|((file, read), _)| Some(((file.kind.name(), &*read.digest), own(file)?))),
        );
        let date = |(file, read): (&SourceFile, &FileRead)| {
            let of_same = || of_text.get(&(file.kind.name(), &*read.digest)).copied();
            own(file).or_else(of_same).unwrap_or(NO_DATE)
        };
        files.iter().zip(reads).map(date).collect()
    }

    /// Whether the lake has the text of a file in the set of the file.
    fn has_in_set(&self, file: &SourceFile, read: &FileRead) -> bool {
        let mut same = self.rows.iter().filter(|row| row.quarterly && row.digest == read.digest);
        same.any(|row| row.kind == file.kind.name() && set_of(&row.file, None) == file.set)
    }

    /// The date of a quarterly set: the newest day of its corporations and their events. Without any of these files it is that of
    /// the lake's set of the same folder, if this has no such files yet, else the newest day of the files. `files`: those whose text the
    /// lake has not read; without any, no other date.
    fn date_of_set(&self, set: &str, files: &[(&SourceFile, &FileRead)]) -> Option<Date> {
        let has_records = files.iter().any(|(file, _)| file.kind == Kind::Corporate);
        if !has_records && let Some(date) = self.unfinished_set(set, files) {
            return Some(date);
        }
        let newest = |counts: &dyn Fn(Kind) -> bool| {
            files
                .iter()
                .filter(|(file, _)| counts(file.kind))
                .filter_map(|(_, read)| read.sound.newest())
                .max()
        };
        let of_corporations = newest(&|kind| kind.events() == Kind::CorporateEvent);
        let no_date = (!files.is_empty()).then_some(NO_DATE);
        of_corporations.or_else(|| newest(&|_| true)).or(no_date)
    }

    fn unfinished_set(&self, set: &str, files: &[(&SourceFile, &FileRead)]) -> Option<Date> {
        let of_set = || self.rows.iter().filter(|row| row.quarterly && set_of(&row.file, None) == set);
        let newest = of_set().map(|row| row.source_date).max()?;
        let has = |kind: Kind| of_set().any(|row| row.source_date == newest && row.kind == kind.name());
        (!files.iter().any(|(file, _)| has(file.kind))).then_some(newest)
    }
}

/// Leaves out what belongs to the businesses of lost months, and all files that were read: the next import reads them again. Files of days
/// without a record stay. Returns the digests of all files.
pub(in crate::pipeline) fn forget(
    staging: &mut Staging,
    months: &BTreeSet<Month>,
) -> Result<BTreeSet<String>> {
    let mut rows: Vec<ImportRow> = staged_rows(staging)?;
    let files = rows.iter().map(|row| row.digest.clone()).collect();
    rows.retain(|row| !row.quarterly && row.records == 0);
    for month in months {
        for table in TABLES {
            staging.set_month(table, *month, None)?;
        }
    }
    staging.replace(Table::Imports, &ImportRow::batch(&rows)?)?;
    Ok(files)
}

/// The source up to which nothing is a change: the first quarterly set; without one, the first date.
pub(super) fn base_of<'r>(rows: impl Iterator<Item = &'r ImportRow> + Clone) -> Option<SourceKey> {
    let rows = rows.filter(|row| row.is_sound());
    let is_set =
        |row: &&ImportRow| row.quarterly && Kind::from_name(&row.kind).is_some_and(|kind| !kind.is_event());
    let first_set = rows.clone().filter(is_set).map(|row| SourceKey { date: row.source_date, rank: 0 }).min();
    first_set.or_else(|| rows.map(|row| SourceKey { date: row.source_date, rank: u8::MAX }).min())
}
