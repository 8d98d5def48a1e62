//! The merge of one month: what the lake has of its businesses, and what arrived of them.

use super::batches::{After, Before, MonthPaths};
use crate::import::business::merge::{Merged, Terms, merge};
use crate::import::business::packed::{unpack_event, unpack_line};
use crate::import::business::record::{Record, parse_record};
use crate::import::business::rows::Mapping;
use crate::import::business::stored::{SourceKey, Sources};
use crate::import::files::layout::Kind;
use crate::import::spool::{Entry, Spooled, entries};
use crate::lake::{Month, MonthPart, PartWriter};
use crate::pipeline::error::Result;
use crate::table::{Change, ChangeRow, Table};
use jiff::civil::Date;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

/// What arrived, of all months.
pub(super) struct Arrived<'a> {
    pub(super) records: &'a [Spooled],
    pub(super) events: &'a Spooled,
    /// The source of each file; none of one that does not count.
    pub(super) keys: &'a [Option<SourceKey>],
    pub(super) kinds: &'a [Kind],
    /// Businesses that are merged apart from their month.
    pub(super) strayed: &'a HashSet<i64>,
}

/// A month to merge.
pub(super) struct MonthJob {
    pub(super) month: Month,
    pub(super) paths: MonthPaths,
    /// Businesses that leave the month, or were merged apart from it.
    pub(super) leaving: BTreeSet<i64>,
    /// Businesses merged apart from the month.
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

impl Arrived<'_> {
    /// Records and events of a month, by business. `counts` picks businesses.
    pub(super) fn of_month(
        &self,
        month: Month,
        counts: &dyn Fn(i64) -> bool,
    ) -> io::Result<Vec<(i64, Sources)>> {
        let (mut records, mut events) = (Vec::new(), Vec::new());
        for spool in self.records {
            spool.read(month.number(), &mut records)?;
        }
        self.events.read(month.number(), &mut events)?;
        let is_counted = |entry: &Entry<'_>| counts(entry.id) && self.key(entry.file).is_some();
        let mut all: Vec<(Entry<'_>, bool)> = entries(&records).map(|entry| (entry, false)).collect();
        all.extend(entries(&events).map(|entry| (entry, true)));
        all.retain(|(entry, _)| is_counted(entry));
        all.sort_unstable_by_key(|(entry, is_event)| (entry.id, *is_event, entry.file, entry.line));
        let mut line = Vec::new();
        let of_one = all.chunk_by(|(one, _), (other, _)| one.id == other.id);
        Ok(of_one.map(|same| (same[0].0.id, self.sources(same, &mut line))).collect())
    }

    fn key(&self, file: u32) -> Option<SourceKey> {
        self.keys.get(file as usize).copied().flatten()
    }

    fn sources(&self, of_one: &[(Entry<'_>, bool)], line: &mut Vec<u8>) -> Sources {
        let mut sources = Sources::default();
        for (entry, is_event) in of_one {
            let Some(key) = self.key(entry.file) else { continue };
            if *is_event {
                sources.events.push((key, unpack_event(entry.bytes)));
            } else if let Some(kind) = self.kinds.get(entry.file as usize) {
                unpack_line(entry.bytes, line);
                if let Ok(record) = parse_record(*kind, line) {
                    push_record(&mut sources.records, key, record);
                }
            }
        }
        sources
    }
}

/// Adds a record. The records of a partnership in one file have one partner each.
fn push_record(records: &mut Vec<(SourceKey, Record)>, key: SourceKey, record: Record) {
    let same = records.iter_mut().find(|(known, _)| *known == key);
    match same {
        Some((_, first)) if record.kind == Kind::Partnership && first.kind == record.kind => {
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
    (terms, mapping): (&Terms, &Mapping<'_>),
    writer: &PartWriter,
) -> Result<MonthMade> {
    let mut sources = arrived.of_month(job.month, &|id| !arrived.strayed.contains(&id))?;
    let ids: HashSet<i64> = sources.iter().map(|(id, _)| *id).collect();
    let is_touched = |id: i64| job.is_all || ids.contains(&id) || job.leaving.contains(&id);
    let before = Before::read(&job.paths, &is_touched)?;
    let mut known = before.businesses()?;
    known.retain(|id, _| !job.leaving.contains(id));
    let waiting: Vec<i64> = known.keys().filter(|id| !ids.contains(id)).copied().collect();
    sources.extend(waiting.into_iter().map(|id| (id, Sources::default())));
    sources.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
    let mut made = MonthMade {
        month: job.month,
        parts: Vec::new(),
        changes: Vec::new(),
        replaced: Vec::new(),
        read: 0,
        added: 0,
        changed: 0,
    };
    let mut after = After::default();
    for (id, sources) in sources {
        let existing = known.remove(&id);
        let is_new = existing.is_none();
        made.read += sources.records.len() as u64;
        if let Some(merged) = merge(existing, sources, terms, mapping) {
            made.note(&merged, is_new);
            after.push(merged)?;
        }
    }
    for merged in job.entering {
        after.push(merged)?;
    }
    made.parts = after.write(before, job.month, writer)?;
    Ok(made)
}

impl MonthMade {
    fn note(&mut self, merged: &Merged, is_new: bool) {
        self.added += u64::from(is_new);
        let is_changed = !is_new && merged.changes.iter().any(|row| row.change == Change::Changed);
        self.changed += u64::from(is_changed);
        self.changes.extend_from_slice(&merged.changes);
        self.replaced.extend(merged.changed_from.map(|from| (merged.business.filing.business_id, from)));
    }
}

/// The records and events of businesses that are in more than one month, by business.
pub(super) fn strayed_sources(
    arrived: &Arrived<'_>,
    months: &BTreeSet<Month>,
) -> io::Result<HashMap<i64, Sources>> {
    let mut found: HashMap<i64, Sources> = HashMap::new();
    for month in months {
        for (id, sources) in arrived.of_month(*month, &|id| arrived.strayed.contains(&id))? {
            let all = found.entry(id).or_default();
            all.records.extend(sources.records);
            all.events.extend(sources.events);
        }
    }
    Ok(found)
}
