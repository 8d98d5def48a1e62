//! From a reading to rows of the coming snapshot: raw pages → rows and rejects → the lake's spill and coverage.

use super::page_store::Pages;
use super::reference_tables::{CameAt, came_at};
use crate::contract::business::ACTIVE;
use crate::contract::eastern::span_days;
use crate::contract::reference::EntityType;
use crate::extract::fetch::PageKey;
use crate::extract::listing::Reading;
use crate::lake::{Quarantine, RawPage, Staging, TableDelta};
use crate::normalize::{OpenValues, Place, Reject, UnknownFields, normalize_page};
use crate::pipeline::PipelineError;
use crate::pipeline::plan::lake_view::read_coverage_files;
use crate::pipeline::state::provenance::{Journal, JournalReading, JournalStep, key_of, told};
use crate::table::{CoverageRow, FilingRow, Row, Table};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Rows of a batch on its way to the spill.
const BATCH_ROWS: usize = 8 * 1024;

/// A day this old when it was read whole has settled.
pub(crate) const SETTLED_DAYS: u32 = 31;

/// What has landed so far.
pub(crate) struct Landing {
    pub(crate) today: Date,
    pub(crate) staging: Staging,
    /// Where records that are no rows go; none when they went there before.
    pub(crate) quarantine: Option<Quarantine>,
    /// How the snapshot came about.
    pub(crate) journal: Journal,
    /// Coverage of the days read.
    pub(crate) coverage: Vec<CoverageRow>,
    /// Days read whole: what the lake lists on them and was not seen is gone.
    pub(crate) whole: BTreeSet<(Date, bool)>,
    /// Listing label and day of every day proven.
    pub(crate) proven: BTreeSet<(String, Date)>,
    /// Listing label and day of every day read whole.
    pub(crate) read_whole: BTreeSet<(String, Date)>,
    /// Listing label and day of every day read while rows moved.
    pub(crate) stirred: BTreeSet<(String, Date)>,
    pub(crate) unknown_fields: UnknownFields,
    pub(crate) open_values: OpenValues,
    pub(crate) rejected: HashSet<blake3::Hash>,
    /// What look-ups did to their tables.
    pub(crate) looked_up: BTreeMap<String, TableDelta>,
    /// When lists and counts came; nothing while pages land.
    pub(crate) lists_came: CameAt,
    /// The archive, while pages land.
    pages: Option<Pages>,
}

impl Landing {
    pub(crate) fn new(today: Date, staging: Staging, quarantine: Option<Quarantine>, pages: Pages) -> Self {
        Self {
            today,
            staging,
            quarantine,
            journal: Journal::new(today),
            coverage: Vec::new(),
            whole: BTreeSet::new(),
            proven: BTreeSet::new(),
            read_whole: BTreeSet::new(),
            stirred: BTreeSet::new(),
            unknown_fields: UnknownFields::default(),
            open_values: OpenValues::default(),
            rejected: HashSet::new(),
            looked_up: BTreeMap::new(),
            lists_came: CameAt::new(),
            pages: Some(pages),
        }
    }

    /// Takes a reading in, and notes in the journal how. Rows of days that were not proven wait in the archive and are not
    /// landed.
    pub(crate) fn land(&mut self, reading: &Reading, now: Timestamp) -> Result<(), PipelineError> {
        let mut entry = JournalReading::of(reading, now);
        let mut skipped = BTreeSet::new();
        self.land_rows(&entry, &mut |id, day| {
            let counts = reading.rows.get(&id) == Some(&day);
            if !counts {
                skipped.insert((id, day));
            }
            counts
        })?;
        entry.skipped = skipped;
        let stirred = reading.days.iter().filter(|_| reading.is_drifted);
        self.stirred.extend(stirred.map(|day| (reading.label.to_owned(), day.day)));
        self.journal.steps.push(JournalStep::Listing(entry));
        Ok(())
    }

    /// Takes in again what the journal tells of.
    pub(crate) fn land_again(&mut self, step: &JournalStep) -> Result<(), PipelineError> {
        match step {
            JournalStep::Listing(entry) => {
                self.land_rows(entry, &mut |id, day| !entry.skipped.contains(&(id, day)))
            }
            JournalStep::Start { pages, with_dissolved } => {
                let keys: Vec<PageKey> = pages.iter().map(key_of).collect();
                self.land_start(&keys, *with_dissolved, &mut |_| {})
            }
        }
    }

    fn land_rows(
        &mut self,
        entry: &JournalReading,
        counts: &mut dyn FnMut(i64, Date) -> bool,
    ) -> Result<(), PipelineError> {
        let proven = entry.proven();
        let mut landed: HashMap<Date, HashSet<i64>> = HashMap::new();
        let mut batch = Vec::new();
        for key in entry.keys() {
            for row in self.rows_of(&key)? {
                let day = row.filed_date;
                if !proven.contains_key(&day) || !counts(row.business_id, day) {
                    continue;
                }
                landed.entry(day).or_default().insert(row.business_id);
                batch.push(row);
            }
            if batch.len() >= BATCH_ROWS {
                self.staging.spill_filings(FilingRow::batch(&std::mem::take(&mut batch))?)?;
            }
        }
        if !batch.is_empty() {
            self.staging.spill_filings(FilingRow::batch(&batch)?)?;
        }
        self.staging.note_gone(entry.gone.iter().map(|(id, day)| (*id, *day)));
        self.cover(entry, &landed);
        Ok(())
    }

    /// Takes the pages of a start of a name in: each row is an observation in its own right. Where dissolved businesses
    /// were asked for too, a row is listed if it is active; `note` sees every row.
    pub(crate) fn land_start(
        &mut self,
        pages: &[PageKey],
        with_dissolved: bool,
        note: &mut dyn FnMut(&FilingRow),
    ) -> Result<(), PipelineError> {
        let mut batch = Vec::new();
        for key in pages {
            for mut row in self.rows_of(key)? {
                row.listed = !with_dissolved || row.status == ACTIVE;
                note(&row);
                batch.push(row);
            }
            if batch.len() >= BATCH_ROWS {
                self.staging.spill_filings(FilingRow::batch(&std::mem::take(&mut batch))?)?;
            }
        }
        if !batch.is_empty() {
            self.staging.spill_filings(FilingRow::batch(&batch)?)?;
        }
        self.journal
            .steps
            .push(JournalStep::Start { pages: pages.iter().map(told).collect(), with_dissolved });
        Ok(())
    }

    /// A page of the archive, and where it was asked for.
    pub(crate) fn page(&self, key: &PageKey) -> Result<(RawPage, Place), PipelineError> {
        let place = Place { slice: key.target.clone(), offset: offset_of(&key.target) };
        let pages = self.pages.as_ref();
        let gone = || PipelineError::PageGone { target: key.target.clone() };
        Ok((pages.ok_or_else(gone)?.page(key)?, place))
    }

    /// Counts fields the schema does not know.
    pub(crate) fn note_unknown(&mut self, fields: UnknownFields) {
        for (field, count) in fields {
            *self.unknown_fields.entry(field).or_default() += count;
        }
    }

    /// No page lands any more: notes when lists and counts came, and lets go of the archive, whose index grows with the pages
    /// read.
    pub(crate) fn end(&mut self) -> Result<(), PipelineError> {
        if let Some(pages) = self.pages.take() {
            self.lists_came = came_at(&pages)?;
        }
        Ok(())
    }

    fn rows_of(&mut self, key: &PageKey) -> Result<Vec<FilingRow>, PipelineError> {
        let (page, place) = self.page(key)?;
        let normalized = normalize_page(&page.body, page.received_at, &place);
        self.note_unknown(normalized.unknown_fields);
        self.open_values.absorb(normalized.open_values);
        for reject in &normalized.rejects {
            self.quarantine(reject)?;
        }
        Ok(normalized.rows)
    }

    /// A record that stands on two pages is one record.
    pub(crate) fn quarantine(&mut self, reject: &Reject) -> Result<(), PipelineError> {
        if self.rejected.insert(blake3::hash(reject.record.as_bytes())) {
            tracing::warn!(
                slice = reject.slice,
                "a record goes to quarantine: {}",
                reject.reasons.join("; ")
            );
            if let Some(quarantine) = &mut self.quarantine {
                quarantine.append(reject)?;
            }
        }
        Ok(())
    }

    fn cover(&mut self, entry: &JournalReading, landed: &HashMap<Date, HashSet<i64>>) {
        for day in &entry.days {
            let landed_now = landed.get(&day.day).map_or(0, HashSet::len) as u64;
            let not_landed = day.seen.saturating_sub(landed_now);
            let landed = if day.complete { day.held.saturating_sub(not_landed) } else { 0 };
            self.coverage.push(CoverageRow {
                filed_date: day.day,
                entity_type: entry.label.clone(),
                expected: day.expected as i64,
                landed: landed as i64,
                complete: day.complete,
                settled: day.whole && span_days(day.day, self.today) >= SETTLED_DAYS,
                checked_at: entry.at,
            });
            if day.whole {
                self.read_whole.insert((entry.label.clone(), day.day));
            }
            if day.complete {
                self.proven.insert((entry.label.clone(), day.day));
            }
            match entry.label.as_str() {
                crate::pipeline::EVERY_OTHER_TYPE if day.whole => drop(self.whole.insert((day.day, false))),
                label if label == EntityType::Fictitious.key() && day.whole => {
                    self.whole.insert((day.day, true));
                }
                _ => {}
            }
        }
    }

    /// Writes the coverage of the days read into the coming snapshot. A day that has settled stays so as long as it is whole.
    pub(crate) fn stage_coverage(&mut self) -> Result<TableDelta, PipelineError> {
        let before = read_coverage_files(&self.staging.sound_table(Table::Coverage)?)?;
        let settled = before.into_iter().filter(|row| row.settled);
        let settled: BTreeSet<(Date, String)> =
            settled.map(|row| (row.filed_date, row.entity_type)).collect();
        for row in &mut self.coverage {
            row.settled |= row.complete && settled.contains(&(row.filed_date, row.entity_type.clone()));
        }
        let rows = CoverageRow::batch(&self.coverage)?;
        Ok(self.staging.merge(Table::Coverage, &rows)?)
    }
}

fn offset_of(target: &str) -> u32 {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let offset = query.split('&').find_map(|pair| pair.strip_prefix("offset="));
    offset.and_then(|offset| offset.parse().ok()).unwrap_or(0)
}
