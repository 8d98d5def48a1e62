//! Turns readings into rows of the next snapshot: raw pages → rows and rejects → the lake's spill and coverage.

use super::day_counts::Figures;
use super::page_store::{CameAt, Pages, came_at};
use crate::contract::business::ACTIVE;
use crate::contract::eastern::span_days;
use crate::contract::listing::Listing;
use crate::contract::records::Summaries;
use crate::extract::fetch::PageKey;
use crate::extract::listing::{ReadPage, Reading};
use crate::lake::{Quarantine, RawPage, Staging, TableDelta};
use crate::normalize::{
    NormalizedPage, OpenValues, Place, Reject, SummaryReader, UnknownFields, normalize_page,
};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::plan::lake_view::{Coverage, by_listing, staged_rows};
use crate::pipeline::plan::stale_days::{KnownDay, SETTLED_DAYS};
use crate::pipeline::state::provenance::{
    Journal, JournalDay, JournalDifference, JournalReading, JournalStep, key_of, page_of,
};
use crate::table::{CoverageRow, FilingBatch, FilingRow};
use hashbrown::{HashMap, HashSet};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a batch for the spill.
const BATCH_ROWS: usize = 8 * 1024;

pub(crate) struct Landing {
    pub(crate) today: Date,
    pub(crate) staging: Staging,
    /// Where records go that could not be normalized; none in a replay.
    pub(crate) quarantine: Option<Quarantine>,
    pub(crate) journal: Journal,
    /// Coverage of the days that were read, found to differ, or corrected when rows were merged, each once.
    pub(crate) coverage: Vec<CoverageRow>,
    /// What is known of every day: the lake's coverage, as changed by this run.
    pub(crate) days: Coverage,
    /// Listing label and day of every day that this run left complete.
    pub(crate) complete: BTreeSet<(String, Date)>,
    /// Listing label and day of every day read from its first row to its last.
    pub(crate) read_whole: BTreeSet<(String, Date)>,
    /// Listing label and day of every day that drifted while it was read.
    pub(crate) drifted: BTreeSet<(String, Date)>,
    /// Listings that this process has asked for, or whose answers it took from an earlier process of the run.
    pub(crate) begun: BTreeSet<Listing>,
    /// What was counted before the first listing was read.
    pub(crate) at_first: Option<Figures>,
    /// What was counted before the days that the run read of a listing were last compared in small parts.
    pub(crate) compared: BTreeMap<Listing, Figures>,
    pub(crate) unknown_fields: UnknownFields,
    pub(crate) open_values: OpenValues,
    summaries: SummaryReader,
    pub(crate) rejected: HashSet<blake3::Hash>,
    /// What look-ups changed in their tables.
    pub(crate) looked_up: BTreeMap<String, TableDelta>,
    /// When lists and counts arrived; empty while pages land.
    pub(crate) lists_came: CameAt,
    /// The archive, while pages land.
    pages: Option<Pages>,
}

impl Landing {
    pub(crate) fn new(
        today: Date,
        staging: Staging,
        quarantine: Option<Quarantine>,
        pages: Pages,
    ) -> Result<Self> {
        Ok(Self {
            today,
            days: by_listing(staged_rows(&staging)?),
            staging,
            quarantine,
            journal: Journal { today, ..Journal::default() },
            coverage: Vec::new(),
            complete: BTreeSet::new(),
            read_whole: BTreeSet::new(),
            drifted: BTreeSet::new(),
            begun: BTreeSet::new(),
            at_first: None,
            compared: BTreeMap::new(),
            unknown_fields: UnknownFields::default(),
            open_values: OpenValues::default(),
            summaries: SummaryReader::default(),
            rejected: HashSet::new(),
            looked_up: BTreeMap::new(),
            lists_came: CameAt::new(),
            pages: Some(pages),
        })
    }

    /// Lands a reading and records it in the journal. Rows of incomplete days stay in the archive and do not land.
    pub(crate) fn land(&mut self, mut reading: Reading, now: Timestamp) -> Result<()> {
        let mut entry = JournalReading::of(&reading, now);
        let pages = std::mem::take(&mut reading.pages);
        let mut skipped = BTreeSet::new();
        self.land_rows(&entry, pages, &mut |id, day| {
            let is_proven = reading.rows.get(&id) == Some(&day);
            if !is_proven {
                skipped.insert((id, day));
            }
            is_proven
        })?;
        entry.skipped = skipped;
        if reading.is_drifted {
            self.note_drift(&reading);
        }
        self.journal.steps.push(JournalStep::Listing(entry));
        Ok(())
    }

    fn note_drift(&mut self, reading: &Reading) {
        self.drifted.extend(reading.days.iter().map(|day| (reading.label.to_owned(), day.day)));
        for figures in self.at_first.iter_mut().chain(self.compared.values_mut()) {
            figures.drifted.insert(reading.label.to_owned());
        }
    }

    /// Records that days differ from their newest totals or counts: until they are read again, they are not complete.
    pub(crate) fn differ(&mut self, label: &str, totals: &BTreeMap<Date, u64>, now: Timestamp) {
        if totals.is_empty() {
            return;
        }
        let found = JournalDifference { label: label.to_owned(), at: now, totals: totals.clone() };
        self.uncover(&found);
        self.journal.steps.push(JournalStep::Differing(found));
    }

    /// Lands again what a step of a journal landed; the journal of this landing stays as it is.
    pub(crate) fn land_again(&mut self, step: &JournalStep) -> Result<()> {
        match step {
            JournalStep::Differing(found) => {
                self.uncover(found);
                Ok(())
            }
            JournalStep::Listing(entry) => {
                let pages = entry.pages.iter().map(key_of).map(ReadPage::archived).collect();
                self.land_rows(entry, pages, &mut |id, day| !entry.skipped.contains(&(id, day)))
            }
            JournalStep::Start { pages, with_dissolved } => {
                let keys: Vec<PageKey> = pages.iter().map(key_of).collect();
                self.land_prefix_pages(&keys, *with_dissolved, &mut |_| {})
            }
        }
    }

    fn land_rows(
        &mut self,
        entry: &JournalReading,
        pages: Vec<ReadPage>,
        is_proven: &mut dyn FnMut(i64, Date) -> bool,
    ) -> Result<()> {
        let complete = entry.days.iter().map(|day| day.reading).filter(|day| day.complete);
        let complete: BTreeSet<Date> = complete.map(|day| day.day).collect();
        let mut landed: HashMap<Date, Vec<i64>> = HashMap::new();
        let mut lands = |id, day| {
            let is_kept = complete.contains(&day) && is_proven(id, day);
            if is_kept {
                landed.entry(day).or_default().push(id);
            }
            is_kept
        };
        let mut batch = FilingBatch::default();
        for page in pages {
            self.land_page(page, &mut lands, &mut batch)?;
            self.spill(&mut batch, BATCH_ROWS)?;
        }
        self.spill(&mut batch, 1)?;
        self.open_values.absorb(self.summaries.take_values());
        let is_fictitious = Listing::from_label(&entry.label).is_some_and(Listing::is_fictitious);
        self.staging.note_gone(entry.gone.iter().map(|(id, day)| (*id, (*day, is_fictitious))));
        self.cover(entry, landed);
        Ok(())
    }

    /// Adds the rows of a page that land to a batch.
    fn land_page(
        &mut self,
        page: ReadPage,
        lands: &mut dyn FnMut(i64, Date) -> bool,
        batch: &mut FilingBatch,
    ) -> Result<()> {
        let (received_at, summaries) = match page.records {
            Some(records) => records,
            None => {
                let (raw, place) = self.page(&page.key)?;
                match Summaries::of_page(&raw.body) {
                    Some((summaries, _)) => (raw.received_at, summaries),
                    // A record has another form: each is normalized alone, for the rejects.
                    None => {
                        let rows = self.normalize_and_note(&raw, &place)?;
                        let rows = rows.iter().filter(|row| lands(row.business_id, row.filed_date));
                        rows.for_each(|row| batch.push(&row.into()));
                        return Ok(());
                    }
                }
            }
        };
        for summary in summaries.iter() {
            self.summaries.note(&summary);
            if lands(summary.business_id, summary.filed_date) {
                self.summaries.add(&summary, received_at, batch);
            }
        }
        Ok(())
    }

    /// Lands the pages of a prefix and records them in the journal. With dissolved businesses, a row is listed if it is active. `note`
    /// receives every row.
    pub(crate) fn land_prefix(
        &mut self,
        pages: &[PageKey],
        with_dissolved: bool,
        note: &mut dyn FnMut(&FilingRow),
    ) -> Result<()> {
        self.land_prefix_pages(pages, with_dissolved, note)?;
        let pages = pages.iter().map(page_of).collect();
        self.journal.steps.push(JournalStep::Start { pages, with_dissolved });
        Ok(())
    }

    fn land_prefix_pages(
        &mut self,
        pages: &[PageKey],
        with_dissolved: bool,
        note: &mut dyn FnMut(&FilingRow),
    ) -> Result<()> {
        let mut batch = FilingBatch::default();
        for key in pages {
            let (page, place) = self.page(key)?;
            for mut row in self.normalize_and_note(&page, &place)? {
                row.listed = !with_dissolved || row.status == ACTIVE;
                note(&row);
                batch.push(&(&row).into());
            }
            self.spill(&mut batch, BATCH_ROWS)?;
        }
        self.spill(&mut batch, 1)
    }

    fn spill(&mut self, batch: &mut FilingBatch, least: usize) -> Result<()> {
        if batch.len() >= least {
            self.staging.spill_filings(batch.take()?)?;
        }
        Ok(())
    }

    /// A page of the archive, and the slice and offset of its request.
    pub(crate) fn page(&self, key: &PageKey) -> Result<(RawPage, Place)> {
        let place = Place { slice: key.target.clone(), offset: offset_of(&key.target) };
        let pages = self.pages.as_ref();
        let gone = || PipelineError::PageGone { target: key.target.clone() };
        Ok((pages.ok_or_else(gone)?.page(key)?, place))
    }

    pub(crate) fn note_unknown(&mut self, fields: UnknownFields) {
        for (field, count) in fields {
            *self.unknown_fields.entry(field).or_default() += count;
        }
    }

    /// Ends the landing: records when lists and counts arrived, and frees the archive, whose index grows with the pages read.
    pub(crate) fn end(&mut self) -> Result<()> {
        if let Some(pages) = self.pages.take() {
            let counts = self.journal.counts.as_ref().map(key_of);
            self.lists_came = came_at(&pages, counts.as_ref())?;
        }
        Ok(())
    }

    /// The rows and rejects of a page.
    pub(crate) fn normalized(&self, key: &PageKey) -> Result<NormalizedPage> {
        let (page, place) = self.page(key)?;
        Ok(normalize_page(&page.body, page.received_at, &place))
    }

    /// The rows of a page. Its rejects go to quarantine.
    fn normalize_and_note(&mut self, page: &RawPage, place: &Place) -> Result<Vec<FilingRow>> {
        let normalized = normalize_page(&page.body, page.received_at, place);
        self.note_unknown(normalized.unknown_fields);
        self.open_values.absorb(normalized.open_values);
        for reject in &normalized.rejects {
            self.quarantine(reject)?;
        }
        Ok(normalized.rows)
    }

    /// Writes a record to the quarantine, once, even if it is on two pages.
    pub(crate) fn quarantine(&mut self, reject: &Reject) -> Result<()> {
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

    /// Notes the coverage of the days of a reading. A day with a record in quarantine is not complete: the next run reads it again.
    fn cover(&mut self, entry: &JournalReading, mut landed: HashMap<Date, Vec<i64>>) {
        for JournalDay { reading: day, seen } in &entry.days {
            let landed_now = landed.get_mut(&day.day).map_or(0, distinct);
            let in_quarantine = seen.saturating_sub(landed_now);
            let landed = if day.complete {
                day.held.saturating_sub(in_quarantine)
            } else {
                // Nothing landed now; the lake keeps what it has.
                self.landed_before(&entry.label, day.day)
            };
            let complete = day.complete && in_quarantine == 0;
            let whole = day.whole && complete;
            self.put_coverage(CoverageRow {
                filed_date: day.day,
                entity_type: entry.label.clone(),
                expected: day.expected as i64,
                landed: landed as i64,
                complete,
                settled: whole && span_days(day.day, self.today) >= SETTLED_DAYS,
                checked_at: entry.at,
            });
            let key = || (entry.label.clone(), day.day);
            self.read_whole.extend(whole.then(key));
            self.complete.extend(complete.then(key));
        }
    }

    /// Whether this run has read a day of a listing, or found that it differs.
    pub(crate) fn has_covered(&self, listing: Listing, day: Date) -> bool {
        self.coverage.iter().any(|row| row.filed_date == day && row.entity_type == listing.label())
    }

    /// Whether this run has read days of a listing, or began to.
    pub(crate) fn has_begun(&self, listing: Listing) -> bool {
        self.begun.contains(&listing)
            || self.journal.readings().any(|reading| reading.label == listing.label())
    }

    /// What was counted when the days of a listing were last known.
    pub(crate) fn figures(&self, listing: Listing) -> Option<&Figures> {
        self.compared.get(&listing).or(self.at_first.as_ref())
    }

    fn uncover(&mut self, found: &JournalDifference) {
        for (day, total) in &found.totals {
            let landed = self.landed_before(&found.label, *day) as i64;
            self.complete.remove(&(found.label.clone(), *day));
            self.put_coverage(CoverageRow {
                filed_date: *day,
                entity_type: found.label.clone(),
                expected: *total as i64,
                landed,
                complete: false,
                settled: false,
                checked_at: found.at,
            });
        }
    }

    fn landed_before(&self, label: &str, day: Date) -> u64 {
        self.days.get(label).and_then(|days| days.get(&day)).map_or(0, |known| known.landed)
    }

    fn put_coverage(&mut self, row: CoverageRow) {
        let days = self.days.entry(row.entity_type.clone()).or_default();
        days.insert(row.filed_date, KnownDay::of(&row));
        let is_of_day =
            |old: &CoverageRow| (old.filed_date, &old.entity_type) == (row.filed_date, &row.entity_type);
        self.coverage.retain(|old| !is_of_day(old));
        self.coverage.push(row);
    }

    /// Days on which a filing that was not seen counts as removed, each for fictitious names (`true`) or all others.
    pub(crate) fn days_to_compare(&self) -> BTreeSet<(Date, bool)> {
        let of_all = |listing: &Listing| Listing::EVERY_TYPE.contains(listing);
        let listing = |label: &str| Listing::from_label(label).filter(of_all);
        let days = self.read_whole.iter();
        days.filter_map(|(label, day)| Some((*day, listing(label)?.is_fictitious()))).collect()
    }
}

fn distinct(ids: &mut Vec<i64>) -> u64 {
    ids.sort_unstable();
    ids.dedup();
    ids.len() as u64
}

fn offset_of(target: &str) -> u32 {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let offset = query.split('&').find_map(|pair| pair.strip_prefix("offset="));
    offset.and_then(|offset| offset.parse().ok()).unwrap_or(0)
}
