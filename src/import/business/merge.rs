//! Records and events of one business over time: its rows now, and what changed with each date of files.
//!
//! The result depends on the records and events alone, not on the order in which their files came:
//!
//! 1. The newest record replaces the older ones. Records before the newest quarterly one no longer count.
//! 2. Events of files that are older than the newest quarterly file of events no longer count. Identical ones count once.
//! 3. Events newer than the record change status, name and address. Older ones only say when and why a business ended.
//! 4. Dates up to the first quarterly set have no changes. Each later date is compared with the one before.

use super::difference::{Difference, Part, differences, part_of};
use super::event::StateEvent;
use super::record::Record;
use super::rows::{Business, Current, Mapping, Seen};
use super::stored::{Existing, SourceKey, Sources, event_row, record_row, sources_of};
use crate::contract::eastern::{day_start, plus_days};
use crate::import::files::layout::Kind;
use crate::import::rules::effect::{Effect, effect};
use crate::table::{Change, ChangeRow, EventRow, RecordRow};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;

/// What holds for all businesses.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The source up to which nothing is a change.
    pub base: SourceKey,
    /// The newest quarterly file of events of each kind: corporate, fictitious, partnership.
    pub newest_events: [Option<Date>; 3],
    /// As [`Terms::newest_events`], before the files that arrived.
    pub events_before: [Option<Date>; 3],
    /// Whether all changes are found again.
    pub is_all_new: bool,
    /// The run that finds changes.
    pub run_id: String,
}

/// A merged business.
#[derive(Debug, Clone)]
pub struct Merged {
    /// Its rows.
    pub business: Business,
    /// Its rows of `records`.
    pub records: Vec<RecordRow>,
    /// Its rows of `events`.
    pub events: Vec<EventRow>,
    /// Its changes since `changed_from`.
    pub changes: Vec<ChangeRow>,
    /// Changes of the lake from this date on are replaced; none where the new ones only follow.
    pub changed_from: Option<Date>,
}

/// Merges what the lake has of a business and what arrived. None while there is no record.
pub fn merge(
    existing: Option<Existing>,
    arrived: Sources,
    terms: &Terms,
    mapping: &Mapping<'_>,
) -> Option<Merged> {
    let before = existing.as_ref().map(|existing| existing.business.clone());
    let all = History::join(existing, arrived, terms)?;
    let is_late = terms.is_all_new || all.is_late;
    // What is older than the newest quarterly files of the lake cannot be found again.
    let from = match all.known {
        Some(known) if !is_late => SourceKey::end_of(known.date).max(terms.base),
        _ => all.settled.map_or(terms.base, |settled| SourceKey::end_of(settled).max(terms.base)),
    };
    let mut timeline = Timeline { all: &all, terms, mapping, changes: Vec::new(), changed_on: [None; 3] };
    timeline.walk(from, before.as_ref().filter(|_| !is_late));
    let (changes, changed_on) = (timeline.changes, timeline.changed_on);
    let replaced_from = if from == terms.base { Date::MIN } else { plus_days(from.date, 1) };
    let changed_from = (is_late && all.known.is_some()).then_some(replaced_from);
    let is_kept = |seen: &Timestamp| changed_from.is_none_or(|from| *seen < day_start(from));
    let seen = |part: Part, before: Option<Timestamp>| {
        let now = changed_on[part as usize].map(day_start);
        now.or(before.filter(is_kept)).unwrap_or(all.first_seen).max(all.first_seen)
    };
    let officers = before.as_ref().and_then(|before| before.officers.first());
    let seen = Seen {
        first: all.first_seen,
        filing: seen(Part::Filing, before.as_ref().map(|before| before.filing.changed_at)),
        detail: seen(Part::Detail, before.as_ref().map(|before| before.detail.fetched_at)),
        officers: seen(Part::Officers, officers.map(|officer| officer.fetched_at)),
    };
    let state = all.at(None, terms)?;
    Some(Merged {
        business: mapping.rows(state.record, &state.current, seen),
        records: all.record_rows(state.is_changed),
        events: all.event_rows(terms),
        changes,
        changed_from,
    })
}

/// Everything that is known of a business, in order.
struct History {
    records: Vec<(SourceKey, Record)>,
    /// By filing date and sequence.
    events: Vec<(SourceKey, StateEvent)>,
    /// The newest source of the lake.
    known: Option<SourceKey>,
    /// Whether something arrived that is not newer.
    is_late: bool,
    /// The date of the newest quarterly record or file of events of the lake.
    settled: Option<Date>,
    first_seen: Timestamp,
}

impl History {
    fn join(existing: Option<Existing>, arrived: Sources, terms: &Terms) -> Option<Self> {
        let seen_before = existing.as_ref().map(|existing| existing.business.filing.first_seen_at);
        let of_lake = existing.map(sources_of).unwrap_or_default();
        let (known, oldest) = (of_lake.keys().max(), arrived.keys().min());
        let settled = of_lake.records.iter().filter(|(key, _)| key.rank == 0).map(|(key, _)| key.date).max();
        let mut records = of_lake.records;
        for (key, record) in arrived.records {
            match records.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = record,
                None => records.push((key, record)),
            }
        }
        records.sort_by_key(|(key, _)| *key);
        let kind = records.last()?.1.kind;
        let since = of_kind(&terms.newest_events, kind);
        let first = day_start(records.first()?.0.date);
        Some(Self {
            events: joined(of_lake.events.into_iter().chain(arrived.events), since),
            known,
            is_late: known.is_some_and(|known| oldest.is_some_and(|new| new.date <= known.date)),
            settled: settled.max(known.and(of_kind(&terms.events_before, kind))),
            first_seen: seen_before.map_or(first, |before| before.min(first)),
            records,
        })
    }

    /// The events that count as of a source, or now.
    fn events_at<'h>(
        &'h self,
        end: Option<SourceKey>,
        terms: &Terms,
    ) -> impl Iterator<Item = &'h (SourceKey, StateEvent)> + use<'h> {
        let kind = self.records.last().map_or(Kind::Corporate, |(_, record)| record.kind);
        let newest = of_kind(&terms.newest_events, kind);
        let since = newest.filter(|date| end.is_none_or(|end| *date <= end.date));
        self.events.iter().filter(move |(key, _)| {
            since.is_none_or(|since| key.date >= since) && end.is_none_or(|end| *key <= end)
        })
    }

    /// The business as of a source, or now.
    fn at(&self, end: Option<SourceKey>, terms: &Terms) -> Option<State<'_>> {
        let mut known = self.records.iter().filter(|(key, _)| end.is_none_or(|end| *key <= end));
        let (key, record) = known.next_back()?;
        let (mut current, mut is_changed) = (Current::of(record), false);
        for (of_event, event) in self.events_at(end, terms) {
            let is_newer = of_event > key;
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

    fn event_rows(&self, terms: &Terms) -> Vec<EventRow> {
        let Some((_, record)) = self.records.last() else { return Vec::new() };
        let events = (0..).zip(self.events_at(None, terms));
        events.map(|(at, (key, event))| event_row(record, at, *key, event)).collect()
    }
}

/// The value for the records of a kind.
fn of_kind(dates: &[Option<Date>; 3], kind: Kind) -> Option<Date> {
    match kind.events() {
        Kind::FictitiousEvent => dates[1],
        Kind::PartnershipEvent => dates[2],
        _ => dates[0],
    }
}

/// The events in order, identical ones once. A copy in an older file does not stand for one that counts since `since`.
fn joined(
    events: impl Iterator<Item = (SourceKey, StateEvent)>,
    since: Option<Date>,
) -> Vec<(SourceKey, StateEvent)> {
    let mut all: Vec<(SourceKey, StateEvent)> = Vec::new();
    let counts = |key: &SourceKey| since.is_none_or(|since| key.date >= since);
    for (key, event) in events {
        match all.iter_mut().find(|(known, other)| *other == event && counts(known) == counts(&key)) {
            Some((oldest, _)) => *oldest = key.min(*oldest),
            None => all.push((key, event)),
        }
    }
    all.sort_by(|(key, event), (other_key, other)| {
        let order = |event: &StateEvent| (event.filed, event.sequence);
        (order(event), key).cmp(&(order(other), other_key)).then_with(|| event.cmp(other))
    });
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
    /// Finds the changes of every date after a source. `before` are the rows as of it, where they are known.
    fn walk(&mut self, from: SourceKey, before: Option<&Business>) {
        let all =
            self.all.records.iter().map(|(key, _)| key).chain(self.all.events.iter().map(|(key, _)| key));
        let dates: BTreeSet<Date> = all.filter(|key| **key > from).map(|key| key.date).collect();
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
        let state = self.all.at(Some(end), self.terms)?;
        Some(self.mapping.rows(state.record, &state.current, Default::default()))
    }

    fn compare(&mut self, date: Date, old: Option<&Business>, new: &Business) {
        let Some(old) = old else {
            self.changed_on = [Some(date); 3];
            return self.push(date, new, Change::Appeared, ("", None, None));
        };
        for difference in differences(old, new) {
            self.changed_on[part_of(difference.0) as usize] = Some(date);
            self.push(date, new, Change::Changed, difference);
        }
    }

    fn push(&mut self, date: Date, of: &Business, change: Change, (field, old, new): Difference) {
        self.changes.push(ChangeRow {
            observed_at: day_start(date),
            observed_on: date,
            business_id: of.filing.business_id,
            change,
            field: field.to_owned(),
            old,
            new,
            run_id: self.terms.run_id.clone(),
        });
    }
}
