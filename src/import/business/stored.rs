//! Records and events as the lake stores them.

use super::event::StateEvent;
use super::record::Record;
use super::rows::{Business, record_of};
use crate::import::rules::effect::effect;
use crate::import::rules::text::business_id;
use crate::table::{EventRow, RecordRow};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Where a record or an event comes from. The larger one is newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceKey {
    /// Date of the file.
    pub date: Date,
    /// Of files of one date: 0 quarterly set, 1 daily records, 2 daily events.
    pub rank: u8,
}

impl SourceKey {
    /// The source that a row names.
    pub fn of_row(date: Date, rank: i32) -> Self {
        Self { date, rank: u8::try_from(rank).unwrap_or(u8::MAX) }
    }

    /// The newest source of a date.
    pub(in crate::import) const fn end_of(date: Date) -> Self {
        Self { date, rank: u8::MAX }
    }
}

/// Records and events of a business, in any order.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// Records; of equal keys the later one counts.
    pub records: Vec<(SourceKey, Record)>,
    /// Events.
    pub events: Vec<(SourceKey, StateEvent)>,
}

/// A business of the lake.
#[derive(Debug, Clone)]
pub struct Existing {
    /// Its rows.
    pub business: Business,
    /// Its rows of `records`.
    pub records: Vec<RecordRow>,
    /// Its rows of `events`.
    pub events: Vec<EventRow>,
}

impl Sources {
    pub(in crate::import) fn keys(&self) -> impl Iterator<Item = SourceKey> + '_ {
        self.records.iter().map(|(key, _)| *key).chain(self.events.iter().map(|(key, _)| *key))
    }
}

/// The records and events that the rows of a business hold.
pub(in crate::import) fn sources_of(existing: Existing) -> Sources {
    let Existing { business, records, events } = existing;
    let newest = records.iter().map(|row| (row.source_date, row.source_rank)).max();
    let record = |row: &RecordRow| {
        let key = SourceKey::of_row(row.source_date, row.source_rank);
        let kept = row.record.as_ref().and_then(|json| serde_json::from_str(json).ok());
        let is_newest = newest == Some((row.source_date, row.source_rank));
        kept.or_else(|| is_newest.then(|| record_of(&business, row))).map(|record| (key, record))
    };
    Sources {
        records: records.iter().filter_map(record).collect(),
        events: events.into_iter().flat_map(events_of).collect(),
    }
}

/// The event of a row, once for each file with it.
fn events_of(row: EventRow) -> Vec<(SourceKey, StateEvent)> {
    let key = SourceKey::of_row(row.source_date, row.source_rank);
    let repeats = row.repeats.as_ref().and_then(|json| serde_json::from_str(json).ok());
    let repeats: Vec<SourceKey> = repeats.unwrap_or_default();
    let event = StateEvent {
        code: row.code,
        description: row.description,
        sequence: row.sequence,
        effective: row.effective_date,
        filed: row.filed_date,
        notes: [row.note_1, row.note_2, row.note_3],
        name: row.name,
        renames: row.renames,
        address: [row.street, row.street2, row.city, row.state, row.zip, row.country],
        county: row.county,
    };
    let mut all: Vec<(SourceKey, StateEvent)> =
        repeats.into_iter().map(|repeat| (repeat, event.clone())).collect();
    all.push((key, event));
    all
}

/// A row of `events`. `keys` are those of the files with the event, one at least.
pub(in crate::import) fn event_row(
    record: &Record,
    position: i32,
    keys: &[SourceKey],
    event: &StateEvent,
) -> EventRow {
    let (key, repeats) = (keys[0], &keys[1..]);
    let StateEvent { code, description, sequence, effective, filed, notes, name, renames, address, county } =
        event.clone();
    let [note_1, note_2, note_3] = notes;
    let [street, street2, city, state, zip, country] = address;
    EventRow {
        business_id: business_id(&record.number),
        position,
        document_number: record.number.clone(),
        sequence,
        meaning: effect(record.kind, event).meaning(),
        code,
        description,
        filed_date: filed,
        effective_date: effective,
        name,
        renames,
        note_1,
        note_2,
        note_3,
        street,
        street2,
        city,
        state,
        zip,
        country,
        county,
        source_date: key.date,
        source_rank: key.rank.into(),
        repeats: (!repeats.is_empty()).then(|| serde_json::to_string(repeats).unwrap_or_default()),
    }
}

/// A row of `records`. `is_kept` says that other tables do not show the record as it is.
pub(in crate::import) fn record_row(key: SourceKey, record: &Record, is_kept: bool) -> RecordRow {
    RecordRow {
        business_id: business_id(&record.number),
        source_date: key.date,
        source_rank: key.rank.into(),
        kind: record.kind.name().to_owned(),
        filing_type: record.filing_type.clone(),
        status: record.status.to_string(),
        last_transaction_date: record.last_transaction,
        ended_date: record.ended,
        record: is_kept.then(|| serde_json::to_string(record).unwrap_or_default()),
    }
}
