//! What the lake has read, and which dates follow from that.

use crate::import::business::stored::SourceKey;
use crate::import::files::layout::Kind;
use crate::import::files::source::{SourceFile, set_of};
use crate::import::read::FileRead;
use crate::lake::Staging;
use crate::pipeline::error::Result;
use crate::table::{ImportRow, Table, read_rows};
use jiff::Timestamp;
use jiff::civil::{Date, date};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The date of a quarterly set without a single day in it.
const NO_DATE: Date = date(1900, 1, 1);

/// The files that the lake has read.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) rows: Vec<ImportRow>,
    digests: HashSet<String>,
    stamps: HashSet<String>,
}

/// What names a text without opening it: its checksum, else the name, size and time of change of its file.
fn stamp_of(name: &str, stamp: &str) -> String {
    if stamp.contains("checksum") { stamp.to_owned() } else { format!("{name} {stamp}") }
}

impl Known {
    pub(super) fn of(staging: &Staging) -> Result<Self> {
        let mut rows: Vec<ImportRow> = Vec::new();
        for file in staging.sound_table(Table::Imports)? {
            rows.extend(read_rows(&file)?);
        }
        let digests = rows.iter().map(|row| row.digest.clone()).collect();
        let stamps = rows.iter().map(|row| stamp_of(&row.file, &row.stamp)).collect();
        Ok(Self { rows, digests, stamps })
    }

    /// Whether a file was read before, as far as its size and stamp say. An empty file has nothing to read.
    pub(super) fn has_read(&self, file: &SourceFile) -> bool {
        file.bytes == 0 || self.stamps.contains(&stamp_of(&file.name, &file.stamp))
    }

    /// The quarterly sets whose corporations were read.
    pub(super) fn dated_sets(&self) -> impl Iterator<Item = String> + '_ {
        let corporations = self.rows.iter().filter(|row| row.quarterly && row.kind == Kind::Corporate.name());
        corporations.map(|row| set_of(&row.file, None))
    }

    /// The rows of the files that were read now, in their order; none of a text that was read before.
    pub(super) fn new_rows(
        &self,
        files: &[SourceFile],
        reads: &[FileRead],
        (imported_at, run_id): (Timestamp, &str),
    ) -> Vec<Option<ImportRow>> {
        let mut seen: HashSet<&str> = self.digests.iter().map(String::as_str).collect();
        let is_new: Vec<bool> = reads.iter().map(|read| seen.insert(read.digest.as_str())).collect();
        let new =
            || files.iter().zip(reads).zip(&is_new).filter(|(_, is_new)| **is_new).map(|(pair, _)| pair);
        let sets: BTreeSet<&str> =
            new().filter(|(file, _)| file.day.is_none()).map(|(file, _)| file.set.as_str()).collect();
        let dates: BTreeMap<&str, Date> = sets
            .into_iter()
            .map(|set| {
                (set, self.date_of_set(set, &new().filter(|(file, _)| file.set == set).collect::<Vec<_>>()))
            })
            .collect();
        let row = |((file, read), is_new): ((&SourceFile, &FileRead), &bool)| {
            is_new.then(|| ImportRow {
                digest: read.digest.clone(),
                file: file.name.clone(),
                kind: file.kind.name().to_owned(),
                source_date: file.day.or_else(|| dates.get(file.set.as_str()).copied()).unwrap_or(NO_DATE),
                quarterly: file.day.is_none(),
                bytes: read.bytes as i64,
                records: read.lines as i64,
                quarantined: read.rejected.len() as i64,
                stamp: file.stamp.clone(),
                imported_at,
                run_id: run_id.to_owned(),
            })
        };
        files.iter().zip(reads).zip(&is_new).map(row).collect()
    }

    /// The date of a quarterly set: the newest day of its corporations and their events. Without any of these files it is that of
    /// the lake's set of the same folder, if this has no such files yet, else the newest day of the files.
    fn date_of_set(&self, set: &str, files: &[(&SourceFile, &FileRead)]) -> Date {
        let has_records = files.iter().any(|(file, _)| file.kind == Kind::Corporate);
        if !has_records && let Some(date) = self.unfinished_set(set, files) {
            return date;
        }
        let newest = |counts: &dyn Fn(Kind) -> bool| {
            files.iter().filter(|(file, _)| counts(file.kind)).filter_map(|(_, read)| read.newest).max()
        };
        let of_corporations = newest(&|kind| kind.events() == Kind::CorporateEvent);
        of_corporations.or_else(|| newest(&|_| true)).unwrap_or(NO_DATE)
    }

    fn unfinished_set(&self, set: &str, files: &[(&SourceFile, &FileRead)]) -> Option<Date> {
        let of_set = || self.rows.iter().filter(|row| row.quarterly && set_of(&row.file, None) == set);
        let newest = of_set().map(|row| row.source_date).max()?;
        let has = |kind: Kind| of_set().any(|row| row.source_date == newest && row.kind == kind.name());
        (!files.iter().any(|(file, _)| has(file.kind))).then_some(newest)
    }
}

/// The source up to which nothing is a change: the first quarterly set; without one, the first date.
pub(super) fn base_of<'r>(rows: impl Iterator<Item = &'r ImportRow> + Clone) -> Option<SourceKey> {
    let is_set =
        |row: &&ImportRow| row.quarterly && Kind::from_name(&row.kind).is_some_and(|kind| !kind.is_event());
    let first_set = rows.clone().filter(is_set).map(|row| SourceKey { date: row.source_date, rank: 0 }).min();
    first_set.or_else(|| rows.map(|row| SourceKey { date: row.source_date, rank: u8::MAX }).min())
}

/// The newest quarterly file of events of each kind.
pub(super) fn newest_events<'r>(rows: impl Iterator<Item = &'r ImportRow> + Clone) -> [Option<Date>; 3] {
    [Kind::CorporateEvent, Kind::FictitiousEvent, Kind::PartnershipEvent].map(|kind| {
        let of_kind = rows.clone().filter(|row| row.quarterly && row.kind == kind.name());
        of_kind.map(|row| row.source_date).max()
    })
}
