//! Quarterly sets as far as only all of their files show what is wrong: two files for one place, parts that fall short of others, parts
//! of another set, and files that no run has found. Pure.

use super::known::{Known, Text};
use crate::import::business::event::StateEvent;
use crate::import::business::stored::SourceKey;
use crate::import::files::layout::Kind;
use crate::import::files::names::{name_in_set, part_of_set};
use crate::import::files::source::{SourceError, SourceFile};
use crate::import::rules::text::document_number_of;
use crate::table::ImportRow;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The parts of a set are compared where most have this many records.
const ENOUGH_RECORDS: u64 = 20;
/// No part is as much smaller than most.
const SMALLEST_PART: u64 = 4;
/// Records that any file may lack, whatever its size.
const FEW: f64 = 10.0;
/// Records of later days that a part would have by chance, if it were of the same set.
const MOST_NEWER: f64 = 7.0;
/// At this share nothing is compared.
const NO_LIMIT: f64 = 100.0;

type Checked = Result<(), SourceError>;

fn implausible(file: &str, why: String) -> SourceError {
    SourceError::Implausible { file: file.to_owned(), why }
}

/// What a file claims to be: set, kind, day and part.
type Place<'a> = (&'a str, Kind, Option<Date>, Option<u8>);

/// Refuses two files with different texts for one place of a set, or for one day. `digest_of` gives the digest of a text that was read.
pub(super) fn check_claims<'f, 'd>(
    files: impl Iterator<Item = &'f SourceFile>,
    digest_of: impl Fn(&SourceFile) -> Option<&'d str>,
) -> Checked {
    let mut claims: HashMap<Place<'_>, &SourceFile> = HashMap::new();
    for file in files {
        let place = (&*file.set, file.kind, file.day, file.expected().part);
        let first = *claims.entry(place).or_insert(file);
        let digests = digest_of(first).zip(digest_of(file));
        if first.bytes != file.bytes || digests.is_some_and(|(one, other)| one != other) {
            let what = match file.day {
                Some(day) => format!("the {} file of {day}", file.kind.name().replace('_', " ")),
                None => {
                    format!("{} of the set in {}", name_in_set(file.kind, file.expected().part), file.set)
                }
            };
            return Err(SourceError::TwoClaims { one: first.name.clone(), other: file.name.clone(), what });
        }
    }
    Ok(())
}

/// Refuses files of sets that fall short of the last set or of the other parts, or are of another set. `max_short` is in percent.
pub(super) fn check_sets(all: &[SourceFile], texts: &[Text], before: &Known, max_short: f64) -> Checked {
    if max_short >= NO_LIMIT {
        return Ok(());
    }
    let mut sets: BTreeMap<&str, Vec<&Text>> = BTreeMap::new();
    for text in texts.iter().filter(|text| text.file.expected().part.is_some()) {
        sets.entry(&text.file.set).or_default().push(text);
    }
    for (set, parts) in &sets {
        let of_set = all.iter().filter(|file| file.set == *set && file.expected().part.is_some());
        check_mixed(of_set, parts, before)?;
        if let Some(median) = median(parts) {
            check_size(parts, median)?;
            check_newest(parts)?;
        }
    }
    check_last_set(texts, before, max_short)
}

/// Refuses parts that the lake has of an older set, next to parts that are newer.
fn check_mixed<'f>(of_set: impl Iterator<Item = &'f SourceFile>, parts: &[&Text], before: &Known) -> Checked {
    let old = |digest: &str| before.date_of_text(digest);
    let read = |file: &SourceFile| parts.iter().find(|part| part.file.name == file.name);
    let new = parts.iter().filter(|part| old(&part.read.digest).is_none());
    let Some(newest) = new.filter_map(|part| part.read.sound.newest()).max() else { return Ok(()) };
    for file in of_set.filter(|file| file.bytes > 0) {
        let digest = read(file).map(|part| &*part.read.digest).or_else(|| before.digest_of(file));
        if let Some(date) = digest.and_then(old).filter(|date| *date < newest) {
            let why = format!(
                "it is that of the set of {date}, and other parts of its set have records of {newest}"
            );
            return Err(implausible(&file.name, why));
        }
    }
    Ok(())
}

/// The middle size of the parts; none where they are too small to be compared.
fn median(parts: &[&Text]) -> Option<u64> {
    let mut sizes: Vec<u64> = parts.iter().map(|part| part.read.sound.records()).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied().filter(|median| *median >= ENOUGH_RECORDS)
}

/// Refuses a part that is far smaller than most.
fn check_size(parts: &[&Text], median: u64) -> Checked {
    for Text { file, read, .. } in parts {
        let records = read.sound.records();
        if records * SMALLEST_PART < median {
            let why = format!("it has {records} records, and half of the ten parts have {median} or more");
            return Err(implausible(&file.name, why));
        }
    }
    Ok(())
}

/// Refuses a part whose newest day is older than chance allows.
fn check_newest(parts: &[&Text]) -> Checked {
    let all: u64 = parts.iter().map(|part| part.read.sound.records()).sum();
    for Text { file, read, .. } in parts {
        let (records, Some(newest)) = (read.sound.records(), read.sound.newest()) else { continue };
        let newer: u64 = parts.iter().map(|other| other.read.sound.newer_than(newest)).sum();
        if records as f64 * newer as f64 / (all - records).max(1) as f64 > MOST_NEWER {
            let why =
                format!("its newest day is {newest}, and the other parts have {newer} records of later days");
            return Err(implausible(&file.name, why));
        }
    }
    Ok(())
}

/// Refuses a file with far fewer records than the same file of the last set.
fn check_last_set(texts: &[Text], before: &Known, max_short: f64) -> Checked {
    let new = texts.iter().filter(|text| text.counts).map(|text| &text.row);
    let of_sets = before.rows.iter().chain(new.clone()).filter(|row| row.quarterly);
    let mut places: BTreeMap<(&str, Option<u8>), BTreeMap<Date, &ImportRow>> = BTreeMap::new();
    for row in of_sets {
        places.entry(place_of(row)).or_default().insert(row.source_date, row);
    }
    let records = |row: &ImportRow| (row.records - row.quarantined) as f64;
    for row in new.filter(|row| row.quarterly) {
        let last = places.get(&place_of(row)).and_then(|dates| dates.range(..row.source_date).next_back());
        if let Some((date, last)) =
            last.filter(|(_, last)| records(row) + FEW < records(last) * (1.0 - max_short / 100.0))
        {
            let why = format!(
                "it has {} records, and that of the set of {date} has {}",
                records(row),
                records(last)
            );
            return Err(implausible(&row.file, why));
        }
    }
    Ok(())
}

fn place_of(row: &ImportRow) -> (&str, Option<u8>) {
    (&row.kind, part_of_set(&row.file).filter(|_| row.kind == Kind::Corporate.name()))
}

/// Refuses a part whose numbers are in the events of its set far more often than those of other parts, without a record.
pub(super) fn check_events(
    texts: &[Text],
    unmatched: &[(i64, SourceKey, StateEvent)],
    max_short: f64,
) -> Checked {
    let parts = texts.iter().filter(|text| text.counts && text.row.quarterly && max_short < NO_LIMIT);
    let parts: Vec<(&ImportRow, u8)> =
        parts.filter_map(|text| Some((&text.row, place_of(&text.row).1?))).collect();
    let dates: BTreeSet<Date> = parts.iter().map(|(row, _)| row.source_date).collect();
    for date in dates {
        let of_set = unmatched.iter().filter(|(_, key, _)| *key == SourceKey { date, rank: 0 });
        let numbers: BTreeSet<i64> = of_set.map(|(id, ..)| *id).collect();
        let mut lost = [0_usize; 10];
        for digit in numbers.into_iter().filter_map(|id| document_number_of(id).chars().last()?.to_digit(10))
        {
            lost[digit as usize] += 1;
        }
        let mut sorted = lost;
        sorted.sort_unstable();
        let most = FEW as usize + 3 * sorted[sorted.len() / 2];
        if let Some((row, digit)) =
            parts.iter().find(|(row, digit)| row.source_date == date && lost[usize::from(*digit)] > most)
        {
            let lost = lost[usize::from(*digit)];
            let why = format!("{lost} businesses have events in its set and no record in this part");
            return Err(implausible(&row.file, why));
        }
    }
    Ok(())
}

/// The files that the newest set of the lake lacks: events of its records or records of its events, and what the set before had.
pub(super) fn missing_files(imports: &[ImportRow]) -> Vec<String> {
    let of_sets = || imports.iter().filter(|row| row.quarterly && row.is_sound());
    let of_corporations = of_sets().filter(|row| row.kind == Kind::Corporate.name());
    let Some(newest) = of_corporations.map(|row| row.source_date).max() else { return Vec::new() };
    let kinds = |is_of: &dyn Fn(Date) -> bool| -> BTreeSet<Kind> {
        of_sets().filter(|row| is_of(row.source_date)).filter_map(|row| Kind::from_name(&row.kind)).collect()
    };
    let (there, older) = (kinds(&|date| date == newest), kinds(&|date| date < newest));
    let pair = |kind: Kind| Kind::ALL.into_iter().filter(move |other| other.events() == kind.events());
    let expected: BTreeSet<Kind> = there.iter().chain(&older).flat_map(|kind| pair(*kind)).collect();
    expected
        .difference(&there)
        .map(|kind| format!("{} of the set of {newest}", name_in_set(*kind, None)))
        .collect()
}
