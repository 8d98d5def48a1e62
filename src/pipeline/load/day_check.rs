//! The checks of complete days: at the start of a run their rows are compared with the API's counts, at its end with fresh counts and totals.
//!
//! A comparison does not trust that a reading was right: rows may have changed between a page and the next, or since the day was read.
//! Readings only say where to look closely. A day that differs is not complete. It is read again, a few times; then it is left to the next
//! run.

use super::coverage::ListingDay;
use super::day_counts::{
    Differing, Figures, RowsByDay, are_all_more_or_all_less, are_most, are_mostly_equal_now, copied,
    differing, groups, newest,
};
use super::extraction::WindowReading;
use super::landing::Landing;
use super::run_store::{Known, gather};
use crate::client::Call;
use crate::contract::count::DailyCount;
use crate::contract::listing::Listing;
use crate::contract::page::Page;
use crate::contract::param::MAX_DAYS;
use crate::contract::reference::EntityType;
use crate::extract::fetch::{Answer, PageFetcher};
use crate::extract::listing::{CHECK, ListingJob, Totals, differing_days, extract_listing};
use crate::pipeline::context::Run;
use crate::pipeline::error::Result;
use crate::pipeline::plan::inputs::filter;
use crate::pipeline::plan::jobs::listings;
use crate::pipeline::plan::lake_view::KnownRows;
use crate::pipeline::state::provenance::page_of;
use crate::table::Table;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// Requests for reading days again the first time; twice as many each further time.
const FIRST_REQUESTS: u64 = 20;
const MOST_ROUNDS: u32 = 8;

/// A day of more pages takes about this number of requests all the same: its changed rows are found by rank.
const MOST_OF_A_DAY: u64 = 20;

/// A check reads days again for a fourth of the run's requests, or this number if it is more.
const REREAD_DIVISOR: u64 = 4;
const LEAST_REREAD_REQUESTS: u64 = 60;

/// Days are compared one by one with a tenth of the run's requests, or this number if it is more; else several together.
const PARTS_DIVISOR: u64 = 10;
const LEAST_TOTALS: u64 = 100;

/// This number of days may all have changed by chance. Their counts then differ, and in a sum the changes may cancel out.
const FEW_DAYS: usize = 7;

impl Run<'_> {
    /// Takes counts that are newer than those before.
    pub(crate) fn take_counts(&mut self, counts: Answer<Page<DailyCount>>, landing: &mut Landing) {
        landing.journal.counts = Some(page_of(&counts.key));
        self.counts = counts.value.data;
    }

    /// Marks the complete days whose newest count differs from their rows, unless most differ and no total has shown that the counts
    /// are totals.
    pub(crate) fn mark_by_counts(&self, landing: &mut Landing) {
        let days = self.complete_days(Listing::Untyped, landing);
        let counts = self.usable_counts();
        let differing = differing(&days, &counts);
        if self.state.counts_are_totals || !are_most(&differing, &days, &counts) {
            landing.mark_incomplete(Listing::Untyped.label(), &differing, (self.context.now)());
        }
    }

    /// The complete days of a listing in the window, with their rows.
    fn complete_days(&self, listing: Listing, landing: &Landing) -> RowsByDay {
        let days = landing.coverage.days.get(listing.label()).into_iter();
        let days = days.flat_map(|days| days.range(self.from..=self.record.today));
        days.filter(|(_, known)| known.complete).map(|(day, known)| (*day, known.landed)).collect()
    }

    /// The newest counts, of the days whose count is the total of the untyped listing.
    pub(crate) fn usable_counts(&self) -> RowsByDay {
        let counts = self.counts.iter().filter(|count| !self.state.miscounted.contains(&count.date));
        counts.map(|DailyCount { date, count }| (*date, u64::try_from(*count).unwrap_or(0))).collect()
    }
}

impl WindowReading<'_, '_, '_> {
    /// Compares, and reads again what differs. What still differs in the end is incomplete.
    pub(super) async fn check(&mut self) -> Result<()> {
        let answered_limit =
            self.fetcher.answered + LEAST_REREAD_REQUESTS.max(self.fetcher.answered / REREAD_DIVISOR);
        let mut reread = None;
        for round in 0..=MOST_ROUNDS {
            self.fetcher.ask_newer().await?;
            let differing = self.compare(reread.as_ref()).await?;
            let is_last = round == MOST_ROUNDS || self.fetcher.answered >= answered_limit;
            let has_helped = reread.is_none_or(|reread| are_mostly_equal_now(&reread, &differing));
            if differing.is_empty() || is_last || !has_helped {
                break;
            }
            let left = answered_limit - self.fetcher.answered;
            reread = Some(self.read_again(differing, FIRST_REQUESTS << round, left).await?);
        }
        Ok(())
    }

    /// Compares once before a pause, with the requests that are left.
    pub(super) async fn check_before_pause(&mut self) -> Result<()> {
        self.fetcher.ask_newer().await?;
        match self.compare(None).await {
            Err(error) if error.is_pause() => self.mark_unchecked(),
            compared => drop(compared?),
        }
        Ok(())
    }

    /// Marks the days that are not known to be complete. Untyped: those that differ from their counts, also where most do and no total says
    /// what the counts mean, and those that drifted. Days of a type have no counts: those that this run read, or all where rows have changed,
    /// because totals of several days do not show a row that came to one and a row that left another.
    fn mark_unchecked(&mut self) {
        let counts = self.run.usable_counts();
        let days = self.run.complete_days(Listing::Untyped, self.landing);
        self.landing.mark_incomplete(
            Listing::Untyped.label(),
            &differing(&days, &counts),
            (self.run.context.now)(),
        );
        let drifted = &self.landing.coverage.drifted;
        let have_changed = self.at_first.have_changed(&counts, drifted);
        let drifted: BTreeSet<ListingDay> = drifted.iter().cloned().collect();
        for listing in self.listings_read() {
            let mut days = self.run.complete_days(listing, self.landing);
            days.retain(|day, _| match listing {
                Listing::Untyped => drifted.contains(&(listing.label().to_owned(), *day)),
                Listing::Of(_) => have_changed || self.landing.coverage.has_changed(listing, *day),
            });
            self.landing.mark_incomplete(listing.label(), &days, (self.run.context.now)());
        }
    }

    /// The listings that this run has read days of, or began to.
    fn listings_read(&self) -> Vec<Listing> {
        let is_read = |listing: &Listing| {
            let mut readings = self.landing.journal.readings();
            self.begun.contains(listing) || readings.any(|reading| reading.label == listing.label())
        };
        listings(&self.run.pipeline.spec).into_iter().filter(is_read).collect()
    }

    /// The days of listings that differ from their newest counts or totals. They are marked. After the first comparison, only listings
    /// with days that were read again.
    async fn compare(&mut self, reread: Option<&Differing>) -> Result<Differing> {
        let mut all = Differing::new();
        for listing in self.listings_read() {
            let reread_days = reread.and_then(|reread| reread.get(&listing));
            if reread.is_some() && reread_days.is_none() {
                continue;
            }
            let found = match listing {
                Listing::Untyped => self.compare_untyped(reread_days).await?,
                Listing::Of(kind) => self.compare_typed(kind, reread_days).await?,
            };
            self.landing.mark_incomplete(listing.label(), &found, (self.run.context.now)());
            if !found.is_empty() {
                let label = listing.label();
                tracing::info!(listing = label, days = found.len(), "days have changed since they were read");
                all.insert(listing, found);
            }
        }
        Ok(all)
    }

    /// Compares counted days with their counts, and ranges of the others with their totals.
    async fn compare_untyped(&mut self, reread: Option<&RowsByDay>) -> Result<RowsByDay> {
        let mut rows = self.run.complete_days(Listing::Untyped, self.landing);
        if rows.is_empty() {
            return Ok(rows);
        }
        let mut found = self.compare_counts(&rows, reread).await?;
        let counts = self.run.usable_counts();
        rows.retain(|day, _| !counts.contains_key(day));
        found.extend(self.compare_totals(Listing::Untyped, &rows, Totals::Ranges).await?);
        Ok(found)
    }

    /// Compares ranges of days with their totals, and in small parts what the run has read again since the last comparison. If rows of
    /// the type came since then, all days that the run read are compared in small parts: in a sum over several days, a lost row may hide
    /// a new one.
    async fn compare_typed(&mut self, kind: EntityType, reread: Option<&RowsByDay>) -> Result<RowsByDay> {
        let listing = Listing::Of(kind);
        let rows = self.run.complete_days(listing, self.landing);
        if rows.is_empty() {
            return Ok(rows);
        }
        let stats = self.fetcher.ask(CHECK, &Call::stats()).await?.value.data;
        let drifted = &self.landing.coverage.drifted;
        let now = Figures::new(stats, self.run.usable_counts(), drifted);
        let earlier = self.compared.get(&listing).unwrap_or(&self.at_first);
        let has_grown = earlier.show_growth(&now, kind, drifted);
        let is_reread = |day: &Date| reread.is_some_and(|days| days.contains_key(day));
        let is_in_parts =
            |day: &Date| is_reread(day) || (has_grown && self.landing.coverage.has_changed(listing, *day));
        let (in_parts, mut others): (RowsByDay, RowsByDay) =
            rows.iter().map(copied).partition(|(day, _)| is_in_parts(day));
        let parts = totals_of_parts(self.fetcher);
        let mut found = self.compare_totals(listing, &in_parts, parts).await?;
        if has_grown {
            self.compared.insert(listing, now);
        } else {
            // Equal days are compared a second time: with them the ranges of other days are long, and take few totals.
            others.extend(in_parts.into_iter().filter(|(day, _)| !found.contains_key(day)));
        }
        found.extend(self.compare_totals(listing, &others, Totals::Ranges).await?);
        Ok(found)
    }

    /// Compares days with fresh counts. A count may mean something else than the total of the listing: if most counts differ, or one
    /// still differs after its day was read again, the total decides.
    async fn compare_counts(&mut self, rows: &RowsByDay, reread: Option<&RowsByDay>) -> Result<RowsByDay> {
        self.ask_counts().await?;
        let counts = self.run.usable_counts();
        let found = differing(rows, &counts);
        let are_doubtful = !self.run.state.counts_are_totals && are_most(&found, rows, &counts);
        self.run.state.counts_are_totals |= !are_doubtful && !counts.is_empty();
        // A count for which the day was read again, and from which it still differs.
        let is_doubtful =
            |day: &Date| are_doubtful || reread.is_some_and(|reread| reread.get(day) == counts.get(day));
        let doubtful: RowsByDay =
            rows.iter().filter(|(day, _)| found.contains_key(day) && is_doubtful(day)).map(copied).collect();
        if doubtful.is_empty() {
            return Ok(found);
        }
        let is_calm =
            !self.landing.coverage.drifted.iter().any(|(label, _)| label == Listing::Untyped.label());
        let is_sum_enough =
            is_calm && doubtful.len() > FEW_DAYS && are_all_more_or_all_less(&doubtful, &counts);
        let totals = if is_sum_enough { Totals::Ranges } else { Totals::Parts(doubtful.len()) };
        let wrong = self.compare_totals(Listing::Untyped, &doubtful, totals).await?;
        self.ask_counts().await?;
        let now = self.run.usable_counts();
        let is_miscounted = |day: &&Date| !wrong.contains_key(day) && now.get(day) == counts.get(day);
        self.run.state.miscounted.extend(doubtful.keys().filter(is_miscounted));
        // Without those that were just found to be miscounted.
        let mut found = differing(rows, &self.run.usable_counts());
        found.extend(wrong);
        Ok(found)
    }

    async fn ask_counts(&mut self) -> Result<()> {
        let days = (self.run.counts.len() as u32).clamp(1, MAX_DAYS);
        let counts = self.fetcher.ask(CHECK, &Call::daily_counts(days)).await?;
        self.run.take_counts(counts, self.landing);
        Ok(())
    }

    async fn compare_totals(
        &mut self,
        listing: Listing,
        rows: &RowsByDay,
        totals: Totals,
    ) -> Result<RowsByDay> {
        if rows.is_empty() {
            return Ok(RowsByDay::new());
        }
        let mut store = self.run.store(self.landing, Known::Gathered(BTreeMap::new()));
        let context = self.run.read_context(listing, &self.words, &mut store);
        Ok(differing_days(self.fetcher, context, listing.label(), &filter(listing), rows, totals).await?)
    }

    /// Reads differing days again, the newest first, until about `wanted` requests are made; returns these days. A day for which the
    /// requests that are left do not suffice is not begun.
    async fn read_again(&mut self, differing: Differing, wanted: u64, left: u64) -> Result<Differing> {
        let filings = self.landing.staging.sound_table(Table::Filings)?;
        let counts = self.run.usable_counts();
        let answered_before = self.fetcher.answered;
        let mut reread = Differing::new();
        for (listing, days) in differing {
            // A day takes at least one request.
            let days = newest(days, wanted as usize);
            let mut lake = KnownRows::new(filings.clone(), listing);
            let known = gather(self.landing, &mut lake, listing.label(), &days.keys().copied().collect())?;
            let mut store = self.run.store(self.landing, Known::Gathered(known));
            for group in groups(&days, self.run.plan.reach_rows()) {
                let pages = group.values().sum::<u64>().div_ceil(u64::from(self.run.plan.rows_per_call));
                let price = pages.clamp(1, MOST_OF_A_DAY);
                let made = self.fetcher.answered - answered_before;
                if made < wanted && made + price <= left {
                    let job = reread_job(listing, &group, &counts);
                    let context = self.run.read_context(listing, &self.words, &mut store);
                    extract_listing(self.fetcher, context, job).await?;
                    reread.entry(listing).or_default().extend(group);
                }
            }
        }
        Ok(reread)
    }
}

/// Reads days of a listing again, by their changed rows.
fn reread_job(listing: Listing, days: &RowsByDay, counts: &RowsByDay) -> ListingJob {
    let is_counted = |day: &Date| listing == Listing::Untyped && counts.contains_key(day);
    ListingJob {
        label: listing.label(),
        stage: CHECK,
        filter: filter(listing),
        moved: days.keys().copied().collect(),
        expected: days.iter().filter(|(day, _)| is_counted(day)).map(copied).collect(),
        doubtful: days.keys().map(|day| (*day, Timestamp::MIN)).collect(),
        ..ListingJob::default()
    }
}

/// Totals that show a change even where rows came and left on different days, for a share of the run's requests.
fn totals_of_parts(fetcher: &PageFetcher<'_>) -> Totals {
    Totals::Parts(LEAST_TOTALS.max(fetcher.answered / PARTS_DIVISOR) as usize)
}
