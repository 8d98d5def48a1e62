//! The merge of one month: what the lake has of its businesses, and what arrived of them.

use super::batches::{After, Before, MonthPaths};
use crate::import::business::merge::{Merged, Terms, merge};
use crate::import::business::packed::{unpack_event, unpack_line};
use crate::import::business::record::{Record, parse_record};
use crate::import::business::rows::Mapping;
use crate::import::business::stored::{SourceKey, Sources};
use crate::import::files::layout::Kind;
use crate::import::spool::{Entry, Spooled, entries, push_entry};
use crate::lake::{Month, MonthPart, PartWriter};
use crate::pipeline::error::Result;
use crate::table::{ChangeRow, Table};
use jiff::civil::Date;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

/// What arrived, of all months.
pub(super) struct Arrived<'a> {
    pub(super) records: &'a [Spooled],
    pub(super) events: &'a [Spooled],
    /// The source of each file; none of one that does not count.
    pub(super) keys: &'a [Option<SourceKey>],
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

/// What became of a month.
pub(super) struct MonthMade {
    pub(super) month: Month,
    pub(super) parts: Vec<(Table, Option<MonthPart>)>,
    pub(super) changes: Vec<ChangeRow>,
    /// Businesses whose changes since a date are replaced.
    pub(super) replaced: Vec<(i64, Date)>,
    pub(super) read: u64,
    pub(super) added: u64,
    pub(super) changed: u64,
}

/// What arrived of a month, as it was spooled.
pub(super) struct Spools {
    records: Vec<u8>,
    events: Vec<u8>,
}

/// A record or an event of a business, and whether it is an event.
type Arrival<'s> = (Entry<'s>, bool);

impl Arrived<'_> {
    fn spools(&self, month: Month) -> io::Result<Spools> {
        let mut spools = Spools { records: Vec::new(), events: Vec::new() };
        for spool in self.records {
            spool.read(month.number(), &mut spools.records)?;
        }
        for spool in self.events {
            spool.read(month.number(), &mut spools.events)?;
        }
        Ok(spools)
    }

    /// Records and events by business. `counts` picks businesses.
    fn arrivals<'s>(&self, spools: &'s Spools, counts: &dyn Fn(i64) -> bool) -> Vec<Arrival<'s>> {
        let mut all: Vec<Arrival<'_>> = entries(&spools.records).map(|entry| (entry, false)).collect();
        all.extend(entries(&spools.events).map(|entry| (entry, true)));
        all.retain(|(entry, _)| counts(entry.id) && self.key(entry.file).is_some());
        all.sort_unstable_by_key(|(entry, is_event)| (entry.id, *is_event, entry.file, entry.line));
        all
    }

    fn key(&self, file: u32) -> Option<SourceKey> {
        self.keys.get(file as usize).copied().flatten()
    }

    fn sources(&self, of_one: &[Arrival<'_>], line: &mut Vec<u8>) -> Sources {
        let (mut sources, mut last_file) = (Sources::default(), None);
        for (entry, is_event) in of_one {
            let Some(key) = self.key(entry.file) else { continue };
            if *is_event {
                sources.events.push((key, unpack_event(entry.bytes)));
            } else if let Some(kind) = self.kinds.get(entry.file as usize) {
                unpack_line(entry.bytes, line);
                if let Ok(record) = parse_record(*kind, line) {
                    let is_same_file = last_file.replace(entry.file) == Some(entry.file);
                    push_record(&mut sources.records, key, record, is_same_file);
                }
            }
        }
        sources
    }
}

fn by_business<'a, 's>(arrivals: &'a [Arrival<'s>]) -> impl Iterator<Item = (i64, &'a [Arrival<'s>])> {
    arrivals.chunk_by(|(one, _), (other, _)| one.id == other.id).map(|of_one| (of_one[0].0.id, of_one))
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
    let spools = arrived.spools(job.month)?;
    let arrivals = arrived.arrivals(&spools, &|id| !arrived.spread.contains(&id));
    let mut all: Vec<(i64, &[Arrival<'_>])> = by_business(&arrivals).collect();
    let ids: HashSet<i64> = all.iter().map(|(id, _)| *id).collect();
    let is_touched = |id: i64| job.is_all || ids.contains(&id) || job.leaving.contains(&id);
    let before = Before::read(&job.paths, &is_touched)?;
    let mut known = before.businesses()?;
    known.retain(|id, _| !job.leaving.contains(id));
    if !terms.is_rebuilt {
        all.extend(known.keys().filter(|id| !ids.contains(id)).map(|id| (*id, &[][..])));
    }
    all.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
    let mut made = MonthMade {
        month: job.month,
        parts: Vec::new(),
        changes: Vec::new(),
        replaced: Vec::new(),
        read: 0,
        added: 0,
        changed: 0,
    };
    let (mut after, mut line) = (After::default(), Vec::new());
    for (id, of_one) in all {
        let sources = arrived.sources(of_one, &mut line);
        made.read += sources.records.len() as u64;
        if let Some(merged) = merge(known.remove(&id), sources, terms, mapping) {
            made.note(&merged);
            after.push(merged)?;
        }
    }
    for merged in job.entering {
        after.push(merged)?;
    }
    drop(arrivals);
    drop(spools);
    made.parts = after.write(before, job.month, writer)?;
    Ok(made)
}

impl MonthMade {
    fn note(&mut self, merged: &Merged) {
        self.added += u64::from(merged.is_new);
        self.changed += u64::from(merged.is_changed);
        self.changes.extend_from_slice(&merged.changes);
        self.replaced.extend(merged.changed_from.map(|from| (merged.business.filing.business_id, from)));
    }
}

/// The records of businesses that are in more than one month, by business.
pub(super) fn sources_of_spread(
    arrived: &Arrived<'_>,
    months: &BTreeSet<Month>,
) -> io::Result<HashMap<i64, Sources>> {
    let mut kept = Spools { records: Vec::new(), events: Vec::new() };
    for month in months {
        let spools = arrived.spools(*month)?;
        for entry in entries(&spools.records).filter(|entry| arrived.spread.contains(&entry.id)) {
            push_entry(&mut kept.records, entry);
        }
    }
    let (arrivals, mut line) = (arrived.arrivals(&kept, &|_| true), Vec::new());
    Ok(by_business(&arrivals).map(|(id, of_one)| (id, arrived.sources(of_one, &mut line))).collect())
}
