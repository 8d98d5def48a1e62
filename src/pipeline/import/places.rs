//! The month of each business and event. Each thread joins one bucket of businesses after another, so that memory stays the same.

use crate::import::business::event::StateEvent;
use crate::import::business::packed::{pack_event, unpack_event};
use crate::import::business::stored::SourceKey;
use crate::import::read::{BUCKETS, Reading, bucket};
use crate::import::spool::{Entry, Spool, Spooled, entries};
use crate::lake::{Month, Staging};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::plan::lake_view::staged_rows;
use crate::table::{FilingColumns, Table, UnmatchedEventRow, read_batch};
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

/// Memory of the entries of all threads in a spool.
const SPOOL_BYTES: usize = 64 << 20;
/// The file of what the lake has.
const LAKE: u32 = u32::MAX;

/// Events by month, and the businesses that are in more than one month.
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

/// Finds the month of every event. `keys` has the source of each file, none of a file that does not count; the sources of events that wait
/// are added. `lake` is none where all its files arrive again.
pub(super) fn find_places(
    lake: Option<&Staging>,
    reading: &Reading,
    keys: &mut Vec<Option<SourceKey>>,
    folder: &Path,
) -> Result<Places> {
    let waiting = lake.map_or(Ok(Vec::new()), waiting_events)?;
    let lake = lake_places(lake, reading, folder)?;
    for (_, key, _) in &waiting {
        if file_with(keys, *key).is_none() {
            keys.push(Some(*key));
        }
    }
    let (keys, next) = (keys.as_slice(), AtomicI32::new(0));
    let find = |thread: usize, bytes: usize| -> io::Result<Places> {
        let mut found = Finding::new(&folder.join(format!("events-by-month-{thread}")), bytes)?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= BUCKETS {
                return found.finish();
            }
            let places = found.places_of(number, &lake, reading, keys)?;
            found.match_events(number, &places, reading, keys)?;
            for (id, key, event) in waiting.iter().filter(|(id, ..)| bucket(*id) == number) {
                found.match_event(&places, *id, *key, event.clone(), keys)?;
            }
        }
    };
    let mut places = Places { events: Vec::new(), spread: BTreeMap::new(), unmatched: Vec::new() };
    for found in by_threads(find)? {
        places.events.extend(found.events);
        places.spread.extend(found.spread);
        places.unmatched.extend(found.unmatched);
    }
    Ok(places)
}

/// What each of several threads finds; it is given its number and the size of its spool.
fn by_threads(find: impl Fn(usize, usize) -> io::Result<Places> + Sync) -> Result<Vec<Places>> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (find, bytes) = (&find, SPOOL_BYTES / threads);
        let running: Vec<_> = (0..threads).map(|number| scope.spawn(move || find(number, bytes))).collect();
        let panicked = || PipelineError::Bug("a thread that finds months panicked".to_owned());
        running.into_iter().map(|thread| Ok(thread.join().map_err(|_| panicked())??)).collect()
    })
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

/// The events of earlier runs whose business had no record.
fn waiting_events(staging: &Staging) -> Result<Vec<(i64, SourceKey, StateEvent)>> {
    let mut events = Vec::new();
    for row in staged_rows::<UnmatchedEventRow>(staging)? {
        let key = SourceKey { date: row.source_date, rank: u8::try_from(row.source_rank).unwrap_or(u8::MAX) };
        if let Ok(event) = serde_json::from_str(&row.event) {
            events.push((row.business_id, key, event));
        }
    }
    Ok(events)
}

struct Finding {
    events: Spool,
    spread: BTreeMap<i64, Spread>,
    unmatched: Vec<(i64, SourceKey, StateEvent)>,
    /// Room for entries.
    bytes: Vec<u8>,
}

impl Finding {
    fn new(events: &Path, bytes: usize) -> io::Result<Self> {
        Ok(Self {
            events: Spool::create(events, bytes)?,
            spread: BTreeMap::new(),
            unmatched: Vec::new(),
            bytes: Vec::new(),
        })
    }

    fn finish(self) -> io::Result<Places> {
        let events = vec![self.events.finish()?];
        Ok(Places { events, spread: self.spread, unmatched: self.unmatched })
    }

    fn places_of(
        &mut self,
        number: i32,
        lake: &Spooled,
        reading: &Reading,
        keys: &[Option<SourceKey>],
    ) -> io::Result<HashMap<i64, Place>> {
        self.bytes.clear();
        lake.read(number, &mut self.bytes)?;
        for places in &reading.places {
            places.read(number, &mut self.bytes)?;
        }
        let mut found: HashMap<i64, Place> = HashMap::new();
        for entry in entries(&self.bytes) {
            let Ok(month) = entry.bytes.try_into().map(i32::from_le_bytes) else { continue };
            if entry.file == LAKE {
                found.insert(entry.id, Place { home: Some(month), month: None });
            } else if is_counted(keys, entry.file) {
                let place = found.entry(entry.id).or_insert(Place { home: None, month: Some(month) });
                let first = *place.month.get_or_insert(month);
                if place.home.unwrap_or(first) != month || first != month {
                    let spread = self.spread.entry(entry.id).or_default();
                    spread.home = place.home;
                    spread.months.extend([first, month]);
                }
            }
        }
        Ok(found)
    }

    fn match_events(
        &mut self,
        number: i32,
        places: &HashMap<i64, Place>,
        reading: &Reading,
        keys: &[Option<SourceKey>],
    ) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        for events in &reading.events {
            bytes.clear();
            events.read(number, &mut bytes)?;
            for entry in entries(&bytes) {
                let Some(key) = keys.get(entry.file as usize).copied().flatten() else { continue };
                match places.get(&entry.id).and_then(|place| place.home.or(place.month)) {
                    Some(month) if !self.spread.contains_key(&entry.id) => self.events.push(month, entry)?,
                    _ => self.match_event(places, entry.id, key, unpack_event(entry.bytes), keys)?,
                }
            }
        }
        self.bytes = bytes;
        Ok(())
    }

    fn match_event(
        &mut self,
        places: &HashMap<i64, Place>,
        id: i64,
        key: SourceKey,
        event: StateEvent,
        keys: &[Option<SourceKey>],
    ) -> io::Result<()> {
        let Some(place) = places.get(&id) else {
            self.unmatched.push((id, key, event));
            return Ok(());
        };
        if let Some(spread) = self.spread.get_mut(&id) {
            spread.events.push((key, event));
            return Ok(());
        }
        let (month, file) = (place.home.or(place.month), file_with(keys, key));
        let Some((month, file)) = month.zip(file) else { return Ok(()) };
        let mut packed = Vec::new();
        pack_event(&event, &mut packed);
        self.events.push(month, Entry { id, file, line: 0, bytes: &packed })
    }
}

fn is_counted(keys: &[Option<SourceKey>], file: u32) -> bool {
    keys.get(file as usize).is_some_and(Option::is_some)
}

/// The number of a file with this source.
fn file_with(keys: &[Option<SourceKey>], key: SourceKey) -> Option<u32> {
    keys.iter().position(|known| *known == Some(key)).and_then(|at| u32::try_from(at).ok())
}

/// The month with this number.
pub(super) fn month_of_number(number: i32) -> Option<Month> {
    Month::parse(&format!("{:04}-{:02}", number / 12, number % 12 + 1))
}
