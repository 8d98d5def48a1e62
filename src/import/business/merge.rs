//! Records and events of one business over time: its rows now, and what changed with each date of files.
//!
//! The result depends on the records and events alone, not on the order in which their files came:
//!
//! 1. The newest record replaces the older ones. Records before the newest quarterly one no longer count.
//! 2. Events of files that are older than the newest quarterly file with events of the business no longer count. Identical ones count
//!    once.
//! 3. Events newer than the record change status, name and address. Older ones only say when and why a business ended.
//! 4. Dates up to the first quarterly set have no changes. Each later date is compared with the one before.

use super::difference::{Part, differences};
use super::event::StateEvent;
use super::record::Record;
use super::rows::{Business, Current, Mapping, Seen};
use super::stored::{Existing, SourceKey, Sources, event_row, record_row, sources_of};
use crate::contract::eastern::{day_start, plus_days};
use crate::import::rules::effect::{Effect, effect};
use crate::import::rules::text::business_id;
use crate::table::{Change, ChangeRow, EventRow, RecordRow};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;

/// What holds for all businesses.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The source up to which nothing is a change.
    pub base: SourceKey,
    /// Whether all changes are found again.
    pub is_all_new: bool,
    /// Whether everything that the lake read arrives again: its businesses count only as what was there before.
    pub is_rebuilt: bool,
    /// Whether a repair of the lake left rows out: it may have changes of businesses that it does not have.
    pub has_losses: bool,
    /// The run that finds changes.
    pub run_id: String,
}

/// A merged business.
#[derive(Debug, Clone)]
pub struct Merged {
    /// Its rows.
    pub business: Business,
    /// Whether the lake does not have it.
    pub is_new: bool,
    /// Whether the lake has other rows of it.
    pub is_changed: bool,
    /// Its rows of `records`.
    pub records: Vec<RecordRow>,
    /// Its rows of `events`.
    pub events: Vec<EventRow>,
    /// Its changes since `changed_from`.
    pub changes: Vec<ChangeRow>,
    /// Changes of the lake from this date on are replaced; none where the new ones only follow.
    pub changed_from: Option<Date>,
    /// Its first day, where that of the lake is later: it did not appear after this day.
    pub earlier: Option<Date>,
}

/// Merges what the lake has of a business and what arrived. None while there is no record.
pub fn merge(
    existing: Option<Existing>,
    arrived: Sources,
    terms: &Terms,
    mapping: &Mapping<'_>,
) -> Option<Merged> {
    let stored = existing.as_ref().map(|existing| existing.business.clone());
    let before = stored.as_ref().filter(|_| !terms.is_rebuilt);
    let kept = existing.as_ref().filter(|_| terms.has_losses).map(|existing| existing.events.clone());
    let Some(all) = History::join(existing.filter(|_| !terms.is_rebuilt), arrived) else {
        return stored.zip(kept).map(|(business, events)| Merged::of_lost_records(business, events));
    };
    let is_late = terms.is_all_new || terms.has_losses || all.is_late;
    let from = match all.known {
        Some(known) if !is_late => all_of_day(known),
        // What is older than the newest quarterly files of the lake cannot be found again.
        _ => all.settled.filter(|day| *day > terms.base.date).map_or(terms.base, SourceKey::end_of),
    };
    let from = from.max(terms.base);
    let mut timeline = Timeline { all: &all, terms, mapping, changes: Vec::new(), changed_on: [None; 3] };
    timeline.appear_earlier(from);
    timeline.walk(from, before.filter(|_| !is_late));
    let (changes, changed_on) = (timeline.changes, timeline.changed_on);
    let replaced_from = match from.rank {
        _ if from == terms.base && !terms.has_losses => Date::MIN,
        0 => from.date,
        _ => plus_days(from.date, 1),
    };
    let is_replaced = is_late && all.known.is_some() || terms.has_losses;
    let changed_from = is_replaced.then_some(replaced_from);
    let is_kept = |seen: &Timestamp| changed_from.is_none_or(|from| *seen < day_start(from));
    let seen = |part: Part, before: Option<Timestamp>| {
        let now = changed_on[part as usize].map(day_start);
        now.or(before.filter(is_kept)).unwrap_or(all.first_seen).max(all.first_seen)
    };
    let officers = before.and_then(|before| before.officers.first());
    let seen = Seen {
        first: all.first_seen,
        filing: seen(Part::Filing, before.map(|before| before.filing.changed_at)),
        detail: seen(Part::Detail, before.map(|before| before.detail.fetched_at)),
        officers: seen(Part::Officers, officers.map(|officer| officer.fetched_at)),
    };
    let state = all.at(None)?;
    let business = mapping.rows(state.record, &state.current).seen_as(seen);
    Some(Merged {
        is_new: stored.is_none(),
        is_changed: stored.is_some_and(|stored| stored.seen_as(seen) != business),
        business,
        records: all.record_rows(state.is_changed),
        events: all.event_rows(),
        changes,
        changed_from,
        earlier: all.is_earlier.then(|| all.records[0].0.date),
    })
}

impl Merged {
    /// A business whose records a repair left out: it stays as it is until one arrives.
    fn of_lost_records(business: Business, events: Vec<EventRow>) -> Self {
        Self {
            business,
            is_new: false,
            is_changed: false,
            records: Vec::new(),
            events,
            changes: Vec::new(),
            changed_from: None,
            earlier: None,
        }
    }
}

/// The last source of a day that counts with this one: daily files of one day are compared together, a quarterly set alone.
fn all_of_day(key: SourceKey) -> SourceKey {
    if key.rank == 0 { key } else { SourceKey::end_of(key.date) }
}

/// Everything that is known of a business, in order.
struct History {
    records: Vec<(SourceKey, Record)>,
    events: Vec<EventHistory>,
    /// The newest source of the lake.
    known: Option<SourceKey>,
    /// Whether something arrived that is not newer.
    is_late: bool,
    /// The date of the newest quarterly file of the lake with it.
    settled: Option<Date>,
    first_seen: Timestamp,
    /// Whether the lake saw it first on a later day.
    is_earlier: bool,
}

/// An event, and all files with it, oldest first.
struct EventHistory {
    keys: Vec<SourceKey>,
    event: StateEvent,
}

/// An event that counts at some time, and the files with it that count, oldest first.
type CountedEvent<'h> = (&'h [SourceKey], &'h StateEvent);

impl History {
    fn join(existing: Option<Existing>, arrived: Sources) -> Option<Self> {
        let seen_before = existing.as_ref().map(|existing| existing.business.filing.first_seen_at);
        let of_lake = existing.map(sources_of).unwrap_or_default();
        let (known, oldest) = (of_lake.keys().max(), arrived.keys().min());
        let settled = newest_set(of_lake.keys());
        let mut records = of_lake.records;
        for (key, record) in arrived.records {
            match records.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = record,
                None => records.push((key, record)),
            }
        }
        records.sort_by_key(|(key, _)| *key);
        let first = day_start(records.first()?.0.date);
        Some(Self {
            events: joined(of_lake.events.into_iter().chain(arrived.events)),
            known,
            is_late: known.map(all_of_day).zip(oldest).is_some_and(|(known, new)| new <= known),
            settled,
            first_seen: seen_before.map_or(first, |before| before.min(first)),
            is_earlier: seen_before.is_some_and(|before| first < before),
            records,
        })
    }

    /// The events that count as of a source, or now, by filing date and sequence.
    fn events_at<'h>(&'h self, end: Option<SourceKey>) -> Vec<CountedEvent<'h>> {
        let is_there = |key: &SourceKey| end.is_none_or(|end| *key <= end);
        let since = newest_set(self.event_keys().filter(is_there));
        let counts = |key: &SourceKey| is_there(key) && since.is_none_or(|since| key.date >= since);
        let counted = |of_event: &'h EventHistory| {
            let first = of_event.keys.iter().position(counts)?;
            Some((&of_event.keys[first..], &of_event.event))
        };
        let mut events: Vec<CountedEvent<'h>> = self.events.iter().filter_map(counted).collect();
        events.sort_by_key(|(keys, event)| (event.filed, event.sequence, keys[0], *event));
        events
    }

    fn event_keys(&self) -> impl Iterator<Item = SourceKey> + '_ {
        self.events.iter().flat_map(|of_event| of_event.keys.iter().copied())
    }

    /// The business as of a source, or now.
    fn at(&self, end: Option<SourceKey>) -> Option<State<'_>> {
        let mut known = self.records.iter().filter(|(key, _)| end.is_none_or(|end| *key <= end));
        let (key, record) = known.next_back()?;
        let (mut current, mut is_changed) = (Current::of(record), false);
        for (keys, event) in self.events_at(end) {
            let is_newer = keys[0] > *key;
            is_changed |= is_newer;
            match effect(record.kind, event) {
                Effect::Ends(reason) => current.end_by(event.day(), reason, is_newer),
                Effect::Revives => current.revive(is_newer),
                Effect::Renames | Effect::Nothing => {}
            }
            if is_newer {
                current.take_values(event);
            }
        }
        let plain = Current::of(record);
        is_changed = is_changed
            && (current.name, current.principal, current.county)
                != (plain.name, plain.principal, plain.county);
        Some(State { record, current, is_changed })
    }

    /// The newest record and, since the newest quarterly one, those before it.
    fn record_rows(&self, is_changed: bool) -> Vec<RecordRow> {
        let first = self.records.iter().rposition(|(key, _)| key.rank == 0).unwrap_or(0);
        let newest = self.records.len() - 1;
        let kept = self.records.iter().enumerate().skip(first);
        kept.map(|(at, (key, record))| record_row(*key, record, at < newest || is_changed)).collect()
    }

    fn event_rows(&self) -> Vec<EventRow> {
        let Some((_, record)) = self.records.last() else { return Vec::new() };
        let events = (0..).zip(self.events_at(None));
        events.map(|(at, (keys, event))| event_row(record, at, keys, event)).collect()
    }
}

/// The date of the newest quarterly file.
fn newest_set(keys: impl Iterator<Item = SourceKey>) -> Option<Date> {
    keys.filter(|key| key.rank == 0).map(|key| key.date).max()
}

/// Identical events once, with all their files.
fn joined(events: impl Iterator<Item = (SourceKey, StateEvent)>) -> Vec<EventHistory> {
    let mut all: Vec<EventHistory> = Vec::new();
    for (key, event) in events {
        match all.iter_mut().find(|known| known.event == event) {
            Some(known) => known.keys.push(key),
            None => all.push(EventHistory { keys: vec![key], event }),
        }
    }
    for of_event in &mut all {
        of_event.keys.sort_unstable();
        of_event.keys.dedup();
    }
    all
}

/// A business at one time.
struct State<'h> {
    record: &'h Record,
    current: Current<'h>,
    /// Whether events changed its name or address.
    is_changed: bool,
}

struct Timeline<'h> {
    all: &'h History,
    terms: &'h Terms,
    mapping: &'h Mapping<'h>,
    changes: Vec<ChangeRow>,
    /// The newest date on which each part of it changed.
    changed_on: [Option<Date>; 3],
}

impl Timeline<'_> {
    /// Notes its first day, where the lake has a later one, and the walk begins after it: what it was in between is no longer known.
    fn appear_earlier(&mut self, from: SourceKey) {
        let (first, record) = &self.all.records[0];
        if self.all.is_earlier && self.terms.base < *first && *first <= from {
            let appeared = self.appeared(first.date, business_id(&record.number));
            self.changes.push(appeared);
        }
    }

    fn appeared(&self, date: Date, business_id: i64) -> ChangeRow {
        ChangeRow {
            observed_at: day_start(date),
            observed_on: date,
            business_id,
            change: Change::Appeared,
            field: String::new(),
            old: None,
            new: None,
            run_id: self.terms.run_id.clone(),
        }
    }

    /// Finds the changes of every date after a source. `before` are the rows as of it, where they are known.
    fn walk(&mut self, from: SourceKey, before: Option<&Business>) {
        let all = self.all.records.iter().map(|(key, _)| *key).chain(self.all.event_keys());
        let dates: BTreeSet<Date> = all.filter(|key| *key > from).map(|key| key.date).collect();
        if dates.is_empty() {
            return;
        }
        let mut old = before.cloned().or_else(|| self.rows_at(from));
        for date in dates {
            let new = self.rows_at(SourceKey::end_of(date));
            if let Some(new) = &new {
                self.compare(date, old.as_ref(), new);
            }
            old = new;
        }
    }

    fn rows_at(&self, end: SourceKey) -> Option<Business> {
        let state = self.all.at(Some(end))?;
        Some(self.mapping.rows(state.record, &state.current))
    }

    fn compare(&mut self, date: Date, old: Option<&Business>, new: &Business) {
        let appeared = self.appeared(date, new.filing.business_id);
        let Some(old) = old else {
            self.changed_on = [Some(date); 3];
            return self.changes.push(appeared);
        };
        for (part, field, old, new) in differences(old, new) {
            self.changed_on[part as usize] = Some(date);
            let (change, field) = (Change::Changed, field.to_owned());
            self.changes.push(ChangeRow { change, field, old, new, ..appeared.clone() });
        }
    }
}
