//! The month of each business and event. Each thread joins one bucket of businesses after another, so that memory stays the same.

use crate::import::business::event::StateEvent;
use crate::import::business::packed::{pack_event, unpack_event};
use crate::import::business::stored::SourceKey;
use crate::import::read::{BUCKETS, Reading, bucket};
use crate::import::spool::{Entry, Spool, Spooled, entries};
use crate::lake::{Month, Staging};
use crate::pipeline::error::Result;
use crate::pipeline::plan::lake_view::staged_rows;
use crate::table::{FilingColumns, Table, UnmatchedEventRow, read_batch};
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::iter;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};

/// Memory of the entries of all threads in a spool.
const SPOOL_BYTES: usize = 64 << 20;
/// The file of what the lake has.
const LAKE: u32 = u32::MAX;

/// Events by month, and the businesses that are in more than one month.
#[derive(Default)]
pub(super) struct Places {
    pub(super) events: Vec<Spooled>,
    pub(super) spread: BTreeMap<i64, Spread>,
    /// Events of businesses without a record.
    pub(super) unmatched: Vec<(i64, SourceKey, StateEvent)>,
}

/// A business whose records are of different months.
#[derive(Debug, Default)]
pub(super) struct Spread {
    /// Its month in the lake.
    pub(super) home: Option<i32>,
    /// The months of its new records.
    pub(super) months: BTreeSet<i32>,
    pub(super) events: Vec<(SourceKey, StateEvent)>,
}

/// Where a business is.
#[derive(Debug, Clone, Copy)]
struct Place {
    home: Option<i32>,
    /// The month of its first new record.
    month: Option<i32>,
}

/// Finds the month of every event. `keys` has the source of each file, none of a file that does not count; the events that wait, and their
/// sources, are added. `lake` is none where all its files arrive again.
pub(super) fn find_places(
    lake: Option<&Staging>,
    reading: &mut Reading,
    keys: &mut Vec<Option<SourceKey>>,
    folder: &Path,
) -> Result<Places> {
    if let Some(staging) = lake {
        reading.events.push(waiting_events(staging, keys, folder)?);
    }
    let lake = lake_places(lake, reading, folder)?;
    let (reading, keys, next) = (&*reading, keys.as_slice(), AtomicI32::new(0));
    let found = rayon::broadcast(|thread| -> io::Result<Places> {
        let threads = thread.num_threads().min(BUCKETS as usize);
        if thread.index() >= threads {
            return Ok(Places::default());
        }
        let path = folder.join(format!("events-by-month-{}", thread.index()));
        let events = Spool::create(&path, SPOOL_BYTES / threads)?;
        let mut finding = Finding { reading, keys, lake: &lake, events, found: Places::default() };
        let buckets = iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        for number in buckets.take_while(|number| *number < BUCKETS) {
            finding.find(number)?;
        }
        finding.found.events.push(finding.events.finish()?);
        Ok(finding.found)
    });
    let mut places = Places::default();
    for found in found {
        let found = found?;
        places.events.extend(found.events);
        places.spread.extend(found.spread);
        places.unmatched.extend(found.unmatched);
    }
    Ok(places)
}

/// The month of the lake's businesses, by bucket: of those that arrived, where these are known.
fn lake_places(lake: Option<&Staging>, reading: &Reading, folder: &Path) -> Result<Spooled> {
    let mut spool = Spool::create(&folder.join("places-of-lake"), SPOOL_BYTES)?;
    let months = lake.map(|staging| staging.month_files(Table::Filings)).unwrap_or_default();
    for (month, path) in months {
        let rows = read_batch(&path, Some(&["business_id"]))?;
        for id in FilingColumns::new(&rows).business_id()?.values() {
            if reading.ids.as_ref().is_none_or(|ids| ids.contains(id)) {
                let bytes = month.number().to_le_bytes();
                spool.push(bucket(*id), Entry { id: *id, file: LAKE, line: 0, bytes: &bytes })?;
            }
        }
    }
    Ok(spool.finish()?)
}

/// The events of earlier runs whose business had no record, by bucket. Each adds its source to `keys`, in the place of a file.
fn waiting_events(staging: &Staging, keys: &mut Vec<Option<SourceKey>>, folder: &Path) -> Result<Spooled> {
    let mut spool = Spool::create(&folder.join("waiting-events"), SPOOL_BYTES)?;
    let mut packed = Vec::new();
    for row in staged_rows::<UnmatchedEventRow>(staging)? {
        let Ok(event) = serde_json::from_str(&row.event) else { continue };
        let (id, file) = (row.business_id, u32::try_from(keys.len()).unwrap_or(LAKE));
        keys.push(Some(SourceKey::of_row(row.source_date, row.source_rank)));
        packed.clear();
        pack_event(&event, &mut packed);
        spool.push(bucket(id), Entry { id, file, line: 0, bytes: &packed })?;
    }
    Ok(spool.finish()?)
}

/// What one thread finds.
struct Finding<'a> {
    reading: &'a Reading,
    keys: &'a [Option<SourceKey>],
    lake: &'a Spooled,
    events: Spool,
    found: Places,
}

impl Finding<'_> {
    /// Finds the months of a bucket.
    fn find(&mut self, number: i32) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.lake.read(number, &mut bytes)?;
        for places in &self.reading.places {
            places.read(number, &mut bytes)?;
        }
        let places = self.places_of(&bytes);
        for events in &self.reading.events {
            bytes.clear();
            events.read(number, &mut bytes)?;
            for entry in entries(&bytes) {
                self.match_event(&places, entry)?;
            }
        }
        Ok(())
    }

    fn key(&self, file: u32) -> Option<SourceKey> {
        self.keys.get(file as usize).copied().flatten()
    }

    fn places_of(&mut self, bytes: &[u8]) -> HashMap<i64, Place> {
        let mut found: HashMap<i64, Place> = HashMap::new();
        for entry in entries(bytes) {
            let Ok(month) = entry.bytes.try_into().map(i32::from_le_bytes) else { continue };
            if entry.file == LAKE {
                found.insert(entry.id, Place { home: Some(month), month: None });
            } else if self.key(entry.file).is_some() {
                let place = found.entry(entry.id).or_insert(Place { home: None, month: Some(month) });
                let first = *place.month.get_or_insert(month);
                if place.home.unwrap_or(first) != month || first != month {
                    let spread = self.found.spread.entry(entry.id).or_default();
                    spread.home = place.home;
                    spread.months.extend([first, month]);
                }
            }
        }
        found
    }

    fn match_event(&mut self, places: &HashMap<i64, Place>, entry: Entry<'_>) -> io::Result<()> {
        let Some(key) = self.key(entry.file) else { return Ok(()) };
        let Some(place) = places.get(&entry.id) else {
            self.found.unmatched.push((entry.id, key, unpack_event(entry.bytes)));
            return Ok(());
        };
        if let Some(spread) = self.found.spread.get_mut(&entry.id) {
            spread.events.push((key, unpack_event(entry.bytes)));
            return Ok(());
        }
        place.home.or(place.month).map_or(Ok(()), |month| self.events.push(month, entry))
    }
}

/// The month with this number.
pub(super) fn month_of_number(number: i32) -> Option<Month> {
    Month::parse(&format!("{:04}-{:02}", number / 12, number % 12 + 1))
}
