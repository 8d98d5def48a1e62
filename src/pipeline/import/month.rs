//! The merge of one month: what the lake has of its businesses, and what arrived of them.

use super::batches::{After, Before, MonthPaths};
use crate::import::business::merge::{Merged, Terms, merge};
use crate::import::business::packed::{unpack_event, unpack_line};
use crate::import::business::record::{Record, parse_record};
use crate::import::business::rows::Mapping;
use crate::import::business::stored::{Existing, SourceKey, Sources};
use crate::import::files::layout::Kind;
use crate::import::spool::{Entry, Spooled, entries, push_entry};
use crate::lake::{Month, MonthPart, PartWriter, TableDelta};
use crate::pipeline::error::Result;
use crate::table::{ChangeRow, Table};
use jiff::civil::Date;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

/// What arrived, of all months.
pub(super) struct Arrived<'a> {
    /// Records and events by month.
    pub(super) spools: &'a [&'a Spooled],
    /// The source of each file, and of each event that waited; none of a file that does not count.
    pub(super) keys: &'a [Option<SourceKey>],
    /// The kind of each file.
    pub(super) kinds: &'a [Kind],
    /// Businesses with records of more than one month, which are merged outside of it.
    pub(super) spread: &'a HashSet<i64>,
}

/// A month to merge.
pub(super) struct MonthJob {
    pub(super) month: Month,
    pub(super) paths: MonthPaths,
    /// Businesses that leave the month, or were merged outside of it.
    pub(super) leaving: BTreeSet<i64>,
    /// Businesses merged outside of the month.
    pub(super) entering: Vec<Merged>,
    /// Whether all businesses are merged again.
    pub(super) is_all: bool,
}

/// What became of businesses.
#[derive(Default)]
pub(super) struct Made {
    pub(super) changes: Vec<ChangeRow>,
    /// Businesses whose changes since a date are replaced.
    pub(super) replaced: HashMap<i64, Date>,
    /// Businesses whose first day is earlier than in the lake.
    pub(super) earlier: HashMap<i64, Date>,
    /// Without the total.
    pub(super) filings: TableDelta,
}

impl Made {
    /// Merges a business, and notes what became of it.
    pub(super) fn merge(
        &mut self,
        known: Option<Existing>,
        sources: Sources,
        terms: &Terms,
        mapping: &Mapping<'_>,
    ) -> Option<Merged> {
        self.filings.read += sources.records.len() as u64;
        let mut merged = merge(known, sources, terms, mapping)?;
        self.filings.added += u64::from(merged.is_new);
        self.filings.changed += u64::from(merged.is_changed);
        self.changes.append(&mut merged.changes);
        let id = merged.business.filing.business_id;
        self.replaced.extend(merged.changed_from.map(|from| (id, from)));
        self.earlier.extend(merged.earlier.map(|first| (id, first)));
        Some(merged)
    }

    pub(super) fn add(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.replaced.extend(other.replaced);
        self.earlier.extend(other.earlier);
        self.filings.read += other.filings.read;
        self.filings.added += other.filings.added;
        self.filings.changed += other.filings.changed;
    }
}

/// What became of a month.
pub(super) struct MonthMade {
    pub(super) month: Month,
    pub(super) parts: Vec<(Table, Option<MonthPart>)>,
    pub(super) made: Made,
}

impl Arrived<'_> {
    /// The entries of a month, as they were spooled.
    fn spooled(&self, month: Month) -> io::Result<Vec<u8>> {
        let mut spooled = Vec::new();
        for spool in self.spools {
            spool.read(month.number(), &mut spooled)?;
        }
        Ok(spooled)
    }

    /// Records and events by business. `counts` picks businesses.
    fn arrivals<'s>(&self, spooled: &'s [u8], counts: &dyn Fn(i64) -> bool) -> Vec<Entry<'s>> {
        let is_counted = |entry: &Entry<'_>| counts(entry.id) && self.key(entry.file).is_some();
        let mut all: Vec<Entry<'_>> = entries(spooled).filter(is_counted).collect();
        all.sort_unstable_by_key(|entry| (entry.id, entry.file, entry.line));
        all
    }

    fn key(&self, file: u32) -> Option<SourceKey> {
        self.keys.get(file as usize).copied().flatten()
    }

    fn sources(&self, of_one: &[Entry<'_>], line: &mut Vec<u8>) -> Sources {
        let (mut sources, mut last_file) = (Sources::default(), None);
        for entry in of_one {
            let Some(key) = self.key(entry.file) else { continue };
            match self.kinds.get(entry.file as usize) {
                Some(kind) if !kind.is_event() => {
                    unpack_line(entry.bytes, line);
                    if let Ok(record) = parse_record(*kind, line) {
                        let is_same_file = last_file.replace(entry.file) == Some(entry.file);
                        push_record(&mut sources.records, key, record, is_same_file);
                    }
                }
                _ => sources.events.push((key, unpack_event(entry.bytes))),
            }
        }
        sources
    }
}

fn by_business<'a, 's>(arrivals: &'a [Entry<'s>]) -> impl Iterator<Item = (i64, &'a [Entry<'s>])> {
    arrivals.chunk_by(|one, other| one.id == other.id).map(|of_one| (of_one[0].id, of_one))
}

/// Adds a record. The records of a partnership in one file have one partner each.
fn push_record(records: &mut Vec<(SourceKey, Record)>, key: SourceKey, record: Record, is_same_file: bool) {
    let same = records.iter_mut().find(|(known, _)| *known == key);
    match same {
        Some((_, first)) if is_same_file && record.kind == Kind::Partnership && first.kind == record.kind => {
            first.add_officers(record);
        }
        Some((_, older)) => *older = record,
        None => records.push((key, record)),
    }
}

/// Merges a month and writes its files.
pub(super) fn merge_month(
    job: MonthJob,
    arrived: &Arrived<'_>,
    terms: &Terms,
    mapping: &Mapping<'_>,
    writer: &PartWriter,
) -> Result<MonthMade> {
    let spooled = arrived.spooled(job.month)?;
    let arrivals = arrived.arrivals(&spooled, &|id| !arrived.spread.contains(&id));
    let mut all: Vec<(i64, &[Entry<'_>])> = by_business(&arrivals).collect();
    let ids: HashSet<i64> = all.iter().map(|(id, _)| *id).collect();
    let is_touched = |id: i64| job.is_all || ids.contains(&id) || job.leaving.contains(&id);
    let before = Before::read(&job.paths, &is_touched)?;
    let mut known = before.businesses()?;
    known.retain(|id, _| !job.leaving.contains(id));
    if !terms.is_rebuilt {
        all.extend(known.keys().filter(|id| !ids.contains(id)).map(|id| (*id, &[][..])));
    }
    all.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
    let (mut made, mut after, mut line) = (Made::default(), After::default(), Vec::new());
    for (id, of_one) in all {
        let sources = arrived.sources(of_one, &mut line);
        if let Some(merged) = made.merge(known.remove(&id), sources, terms, mapping) {
            after.push(merged)?;
        }
    }
    for merged in job.entering {
        after.push(merged)?;
    }
    drop(arrivals);
    drop(spooled);
    Ok(MonthMade { month: job.month, parts: after.write(before, job.month, writer)?, made })
}

/// The records of businesses that are in more than one month, by business.
pub(super) fn sources_of_spread(
    arrived: &Arrived<'_>,
    months: &BTreeSet<Month>,
) -> io::Result<HashMap<i64, Sources>> {
    let mut kept = Vec::new();
    for month in months {
        let spooled = arrived.spooled(*month)?;
        for entry in entries(&spooled).filter(|entry| arrived.spread.contains(&entry.id)) {
            push_entry(&mut kept, entry);
        }
    }
    let (arrivals, mut line) = (arrived.arrivals(&kept, &|_| true), Vec::new());
    Ok(by_business(&arrivals).map(|(id, of_one)| (id, arrived.sources(of_one, &mut line))).collect())
}
