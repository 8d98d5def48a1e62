//! Turns readings into rows of the next snapshot: raw pages → rows and rejects → the lake's spill and coverage.

use super::coverage::RunCoverage;
use super::page_store::{CameAt, Pages, came_at};
use super::record_findings::RecordFindings;
use crate::contract::business::ACTIVE;
use crate::contract::listing::Listing;
use crate::contract::records::Summaries;
use crate::extract::fetch::PageKey;
use crate::extract::listing::{ReadPage, Reading};
use crate::lake::{Quarantine, RawPage, Staging, TableDelta};
use crate::normalize::{NormalizedPage, Place, SummaryReader, normalize_page};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::plan::lake_view::staged_rows;
use crate::pipeline::state::provenance::{Journal, JournalDifference, JournalReading, JournalStep, key_of};
use crate::table::{FilingBatch, FilingRow};
use hashbrown::HashMap;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of a batch for the spill.
const BATCH_ROWS: usize = 8 * 1024;

pub(crate) struct Landing {
    pub(crate) today: Date,
    pub(crate) staging: Staging,
    pub(crate) journal: Journal,
    pub(crate) coverage: RunCoverage,
    pub(crate) findings: RecordFindings,
    summaries: SummaryReader,
    /// What look-ups changed in their tables.
    pub(crate) looked_up: BTreeMap<String, TableDelta>,
    /// When lists and counts arrived; empty while pages land.
    pub(crate) lists_came: CameAt,
    /// The archive, while pages land.
    pages: Option<Pages>,
}

impl Landing {
    /// A landing of nothing so far. Records that could not be normalized go to `quarantine`; a replay has none.
    pub(crate) fn new(
        today: Date,
        staging: Staging,
        quarantine: Option<Quarantine>,
        pages: Pages,
    ) -> Result<Self> {
        Ok(Self {
            today,
            coverage: RunCoverage::new(staged_rows(&staging)?, today),
            staging,
            journal: Journal { today, ..Journal::default() },
            findings: RecordFindings::new(quarantine),
            summaries: SummaryReader::default(),
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
            let kept_its_day = reading.rows.get(&id) == Some(&day);
            if !kept_its_day {
                skipped.insert((id, day));
            }
            kept_its_day
        })?;
        entry.skipped = skipped;
        if reading.is_drifted {
            let days = reading.days.iter().map(|day| (reading.label.to_owned(), day.day));
            self.coverage.drifted.extend(days);
        }
        self.journal.steps.push(JournalStep::Listing(entry));
        Ok(())
    }

    /// Records days that are not known to be complete: they differ from their newest totals or counts, or could not be compared. Then
    /// `totals` are the rows of the lake.
    pub(crate) fn mark_incomplete(&mut self, label: &str, totals: &BTreeMap<Date, u64>, now: Timestamp) {
        if totals.is_empty() {
            return;
        }
        let found = JournalDifference { label: label.to_owned(), at: now, totals: totals.clone() };
        self.coverage.add_difference(&found);
        self.journal.steps.push(JournalStep::Differing(found));
    }

    /// Lands again what a step of a journal landed; the journal of this landing stays as it is.
    pub(crate) fn land_again(&mut self, step: &JournalStep) -> Result<()> {
        match step {
            JournalStep::Differing(found) => {
                self.coverage.add_difference(found);
                Ok(())
            }
            JournalStep::Listing(entry) => {
                let pages =
                    entry.pages.iter().map(|page| ReadPage { key: key_of(page), records: None }).collect();
                self.land_rows(entry, pages, &mut |id, day| !entry.skipped.contains(&(id, day)))
            }
            JournalStep::Prefix { pages, with_dissolved } => {
                let keys: Vec<PageKey> = pages.iter().map(key_of).collect();
                self.land_prefix(&keys, *with_dissolved, &mut |_| {})
            }
        }
    }

    fn land_rows(
        &mut self,
        entry: &JournalReading,
        pages: Vec<ReadPage>,
        kept_its_day: &mut dyn FnMut(i64, Date) -> bool,
    ) -> Result<()> {
        let complete = entry.days.iter().map(|day| day.reading).filter(|day| day.complete);
        let complete: BTreeSet<Date> = complete.map(|day| day.day).collect();
        let mut landed: HashMap<Date, Vec<i64>> = HashMap::new();
        let mut lands = |id, day| {
            let is_kept = complete.contains(&day) && kept_its_day(id, day);
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
        self.findings.open_values.absorb(self.summaries.take_values());
        let is_fictitious = Listing::from_label(&entry.label).is_some_and(Listing::is_fictitious);
        self.staging.note_gone(entry.gone.iter().map(|(id, day)| (*id, (*day, is_fictitious))));
        self.coverage.add_reading(entry, landed);
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

    /// Lands the pages of a prefix. With dissolved businesses, a row is listed if it is active. `note` receives every row.
    pub(super) fn land_prefix(
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
        let place = Place { target: key.target.clone(), offset: offset_of(&key.target) };
        let pages = self.pages.as_ref();
        let gone = || PipelineError::PageGone { target: key.target.clone() };
        Ok((pages.ok_or_else(gone)?.page(key)?, place))
    }

    /// Ends the landing: records when lists and counts arrived, and frees the archive, whose index grows with the pages read.
    pub(crate) fn end(&mut self) -> Result<()> {
        if let Some(pages) = self.pages.take() {
            let counts = self.journal.counts.as_ref().map(key_of);
            self.lists_came = came_at(&pages, counts.as_ref())?;
        }
        Ok(())
    }

    /// The rows and rejects of a page, which are noted nowhere.
    pub(crate) fn normalized(&self, key: &PageKey) -> Result<NormalizedPage> {
        let (page, place) = self.page(key)?;
        Ok(normalize_page(&page.body, page.received_at, &place))
    }

    /// The rows of a page. Its rejects go to quarantine.
    fn normalize_and_note(&mut self, page: &RawPage, place: &Place) -> Result<Vec<FilingRow>> {
        let normalized = normalize_page(&page.body, page.received_at, place);
        self.findings.note(normalized.unknown_fields, normalized.open_values);
        normalized.rejects.iter().try_for_each(|reject| self.findings.reject(reject))?;
        Ok(normalized.rows)
    }
}

fn offset_of(target: &str) -> u32 {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let offset = query.split('&').find_map(|pair| pair.strip_prefix("offset="));
    offset.and_then(|offset| offset.parse().ok()).unwrap_or(0)
}
