//! The check at the end of a run: fresh counts and totals are compared with the rows of every complete day.
//!
//! It does not rely on the readings. Rows may have changed between a page and the next, or since the day was read. A day that
//! differs is not complete. It is read again, a few times; then it is left to the next run.

use super::day_counts::{
    Counted, Differing, Figures, are_all_more_or_all_less, are_most, are_mostly_equal_now, copied, differing,
    groups, newest,
};
use super::landing::Landing;
use super::run_store::{Known, gather};
use crate::client::Call;
use crate::contract::count::DailyCount;
use crate::contract::listing::Listing;
use crate::contract::param::MAX_DAYS;
use crate::contract::reference::EntityType;
use crate::extract::fetch::PageFetcher;
use crate::extract::listing::{CHECK, ListingJob, Totals, differing_days, extract_listing};
use crate::extract::query::split::FilterValues;
use crate::extract::reference::{DailyCounts, extract_daily_counts};
use crate::pipeline::context::Run;
use crate::pipeline::error::Result;
use crate::pipeline::plan::inputs::filter;
use crate::pipeline::plan::jobs::listings;
use crate::pipeline::plan::lake_view::KnownRows;
use crate::pipeline::state::provenance::page_of;
use crate::table::Table;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Requests for reading days again the first time; twice as many each further time.
const FIRST_REQUESTS: u64 = 20;
const MOST_ROUNDS: u32 = 8;

/// A day of more pages takes about this number of requests all the same: its changed rows are found by rank.
const MOST_OF_A_DAY: u64 = 20;

/// A check reads days again for this part of the run's requests, or this number if it is more.
const SHARE: u64 = 4;
const LEAST_SHARE: u64 = 60;

/// Days are compared one by one with this part of the run's requests, or this number if it is more; else several together.
const PART_SHARE: u64 = 10;
const LEAST_PARTS: u64 = 100;

/// This number of days may all have changed by chance. Their counts then differ, and in a sum the changes may cancel out.
const FEW_DAYS: usize = 7;

impl Run<'_> {
    /// Takes counts that are newer than those before.
    pub(crate) fn take_counts(&mut self, counts: DailyCounts, landing: &mut Landing) {
        landing.journal.counts = Some(page_of(&counts.page));
        self.counts = Some(counts);
    }

    /// Compares, and reads again what differs. What still differs in the end is incomplete.
    pub(crate) async fn check_days(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        words: &FilterValues,
        landing: &mut Landing,
    ) -> Result<()> {
        let answered_limit = fetcher.answered + LEAST_SHARE.max(fetcher.answered / SHARE);
        let mut reread = None;
        for round in 0..=MOST_ROUNDS {
            fetcher.ask_newer().await?;
            let differing = self.compare(fetcher, words, landing, reread.as_ref()).await?;
            let is_last = round == MOST_ROUNDS || fetcher.answered >= answered_limit;
            let has_helped = reread.is_none_or(|reread| are_mostly_equal_now(&reread, &differing));
            if differing.is_empty() || is_last || !has_helped {
                break;
            }
            let left = answered_limit - fetcher.answered;
            reread = Some(
                self.read_again(fetcher, words, landing, differing, FIRST_REQUESTS << round, left).await?,
            );
        }
        Ok(())
    }

    /// Compares once before a pause, with the requests that are left.
    pub(crate) async fn check_before_pause(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        words: &FilterValues,
        landing: &mut Landing,
    ) -> Result<()> {
        fetcher.ask_newer().await?;
        match self.compare(fetcher, words, landing, None).await {
            Err(error) if error.is_pause() => self.differ_unchecked(landing),
            compared => drop(compared?),
        }
        Ok(())
    }

    /// Marks the days that are not known to be complete: those that differ from their counts, also where most do and no total says
    /// what the counts mean; and those that drifted while this run read them or have no count. Where rows change, this includes days
    /// without a count that the run did not read: totals of several days do not show a row that came to one and a row that left another.
    fn differ_unchecked(&self, landing: &mut Landing) {
        let counts = self.usable_counts();
        let days = self.complete_days(Listing::Untyped, landing);
        landing.differ(Listing::Untyped.label(), &differing(&days, &counts), (self.now)());
        let have_changed = landing.at_first.as_ref().is_some_and(|earlier| earlier.have_changed(&counts));
        for listing in self.listings_read(landing) {
            let mut days = self.complete_days(listing, landing);
            days.retain(|day, _| match listing {
                Listing::Untyped => landing.drifted.contains(&(listing.label().to_owned(), *day)),
                Listing::Of(_) => have_changed || landing.has_covered(listing, *day),
            });
            landing.differ(listing.label(), &days, (self.now)());
        }
    }

    /// The listings that this run has read days of, or began to.
    fn listings_read(&self, landing: &Landing) -> Vec<Listing> {
        listings(&self.pipeline.spec).into_iter().filter(|listing| landing.has_begun(*listing)).collect()
    }

    /// Marks the complete days whose newest count differs from their rows.
    pub(crate) fn differ_by_counts(&self, landing: &mut Landing) {
        let days = self.complete_days(Listing::Untyped, landing);
        let counts = self.usable_counts();
        let differing = differing(&days, &counts);
        if self.state.counts_are_totals || !are_most(&differing, &days, &counts) {
            landing.differ(Listing::Untyped.label(), &differing, (self.now)());
        }
    }

    /// The days of listings that differ from their newest counts or totals. They are marked. After the first comparison, only listings
    /// with days that were read again.
    async fn compare(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        words: &FilterValues,
        landing: &mut Landing,
        reread: Option<&Differing>,
    ) -> Result<Differing> {
        let mut all = Differing::new();
        for listing in self.listings_read(landing) {
            let reread_days = reread.and_then(|reread| reread.get(&listing));
            if reread.is_some() && reread_days.is_none() {
                continue;
            }
            let found = match listing {
                Listing::Untyped => self.compare_untyped(fetcher, words, landing, reread_days).await?,
                Listing::Of(kind) => self.compare_typed(fetcher, words, landing, kind, reread_days).await?,
            };
            landing.differ(listing.label(), &found, (self.now)());
            if !found.is_empty() {
                let label = listing.label();
                tracing::info!(listing = label, days = found.len(), "days have changed since they were read");
                all.insert(listing, found);
            }
        }
        Ok(all)
    }

    /// Compares counted days with their counts, and ranges of the others with their totals.
    async fn compare_untyped(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        words: &FilterValues,
        landing: &mut Landing,
        reread: Option<&Counted>,
    ) -> Result<Counted> {
        let mut rows = self.complete_days(Listing::Untyped, landing);
        if rows.is_empty() {
            return Ok(rows);
        }
        let mut found = self.compare_counts(fetcher, words, landing, &rows, reread).await?;
        let counts = self.usable_counts();
        rows.retain(|day, _| !counts.contains_key(day));
        found.extend(
            self.compare_totals(fetcher, words, landing, Listing::Untyped, &rows, Totals::Ranges).await?,
        );
        Ok(found)
    }

    /// Compares ranges of days with their totals, and in small parts what the run has read again since the last comparison. If rows of
    /// the type came since then, all days that the run read are compared in small parts: in a sum over several days, a lost row may hide
    /// a new one.
    async fn compare_typed(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        words: &FilterValues,
        landing: &mut Landing,
        kind: EntityType,
        reread: Option<&Counted>,
    ) -> Result<Counted> {
        let listing = Listing::Of(kind);
        let rows = self.complete_days(listing, landing);
        if rows.is_empty() {
            return Ok(rows);
        }
        let stats = fetcher.ask(CHECK, &Call::stats()).await?.value.data;
        let now = Figures::new(stats, self.usable_counts());
        let has_grown = landing.figures(listing).is_none_or(|earlier| earlier.show_growth(&now, kind));
        let is_reread = |day: &Date| reread.is_some_and(|days| days.contains_key(day));
        let is_alone = |day: &Date| is_reread(day) || (has_grown && landing.has_covered(listing, *day));
        let (alone, mut others): (Counted, Counted) =
            rows.iter().map(copied).partition(|(day, _)| is_alone(day));
        let parts = totals_of_parts(fetcher);
        let mut found = self.compare_totals(fetcher, words, landing, listing, &alone, parts).await?;
        if has_grown {
            landing.compared.insert(listing, now);
        } else {
            // With them ranges are long, and take few totals.
            others.extend(alone.into_iter().filter(|(day, _)| !found.contains_key(day)));
        }
        found.extend(self.compare_totals(fetcher, words, landing, listing, &others, Totals::Ranges).await?);
        Ok(found)
    }

    /// Compares days with fresh counts. A count may mean something else than the total of the listing: if most counts differ, or one
    /// still differs after its day was read again, the total decides.
    async fn compare_counts(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        words: &FilterValues,
        landing: &mut Landing,
        rows: &Counted,
        reread: Option<&Counted>,
    ) -> Result<Counted> {
        self.ask_counts(fetcher, landing).await?;
        let counts = self.usable_counts();
        let found = differing(rows, &counts);
        let are_doubtful = !self.state.counts_are_totals && are_most(&found, rows, &counts);
        self.state.counts_are_totals |= !are_doubtful && !counts.is_empty();
        let is_doubtful =
            |day: &Date| are_doubtful || reread.is_some_and(|reread| reread.get(day) == counts.get(day));
        let doubtful: Counted =
            rows.iter().filter(|(day, _)| found.contains_key(day) && is_doubtful(day)).map(copied).collect();
        if doubtful.is_empty() {
            return Ok(found);
        }
        let is_calm = !landing.drifted.iter().any(|(label, _)| label == Listing::Untyped.label());
        let is_sum_enough =
            is_calm && doubtful.len() > FEW_DAYS && are_all_more_or_all_less(&doubtful, &counts);
        let totals = if is_sum_enough { Totals::Ranges } else { Totals::Parts(doubtful.len()) };
        let wrong = self.compare_totals(fetcher, words, landing, Listing::Untyped, &doubtful, totals).await?;
        self.ask_counts(fetcher, landing).await?;
        let now = self.usable_counts();
        let is_miscounted = |day: &&Date| !wrong.contains_key(day) && now.get(day) == counts.get(day);
        self.state.miscounted.extend(doubtful.keys().filter(is_miscounted));
        // Without those that were just found to be miscounted.
        let mut found = differing(rows, &self.usable_counts());
        found.extend(wrong);
        Ok(found)
    }

    async fn ask_counts(&mut self, fetcher: &mut PageFetcher<'_>, landing: &mut Landing) -> Result<()> {
        let days = (self.counts().len() as u32).clamp(1, MAX_DAYS);
        self.take_counts(extract_daily_counts(fetcher, CHECK, days).await?, landing);
        Ok(())
    }

    async fn compare_totals(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        words: &FilterValues,
        landing: &mut Landing,
        listing: Listing,
        rows: &Counted,
        totals: Totals,
    ) -> Result<Counted> {
        if rows.is_empty() {
            return Ok(Counted::new());
        }
        let mut store = self.store(landing, Known::Gathered(BTreeMap::new()));
        let context = self.read_context(listing, words, &mut store);
        Ok(differing_days(fetcher, context, listing.label(), &filter(listing), rows, totals).await?)
    }

    /// Reads differing days again, the newest first, until about `wanted` requests are made; returns these days. A day for which the
    /// requests that are left do not suffice is not begun.
    async fn read_again(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        words: &FilterValues,
        landing: &mut Landing,
        differing: Differing,
        wanted: u64,
        left: u64,
    ) -> Result<Differing> {
        let filings = landing.staging.sound_table(Table::Filings)?;
        let answered_before = fetcher.answered;
        let mut reread = Differing::new();
        for (listing, days) in differing {
            let days = newest(days, wanted as usize);
            let mut lake = KnownRows::new(filings.clone(), listing);
            let known = gather(landing, &mut lake, listing.label(), &days.keys().copied().collect())?;
            let mut store = self.store(landing, Known::Gathered(known));
            for group in groups(&days, self.plan.reach_rows()) {
                let pages = group.values().sum::<u64>().div_ceil(u64::from(self.plan.rows_per_call));
                let price = pages.clamp(1, MOST_OF_A_DAY);
                let made = fetcher.answered - answered_before;
                if made < wanted && made + price <= left {
                    let job = self.job_of(listing, &group);
                    extract_listing(fetcher, self.read_context(listing, words, &mut store), job).await?;
                    reread.entry(listing).or_default().extend(group);
                }
            }
        }
        Ok(reread)
    }

    fn job_of(&self, listing: Listing, days: &Counted) -> ListingJob {
        let counts = self.usable_counts();
        let is_counted = |day: &Date| listing == Listing::Untyped && counts.contains_key(day);
        ListingJob {
            label: listing.label(),
            stage: CHECK,
            filter: filter(listing),
            unread: Vec::new(),
            moved: days.keys().copied().collect(),
            proven: BTreeMap::new(),
            settling: Vec::new(),
            expected: days.iter().filter(|(day, _)| is_counted(day)).map(copied).collect(),
            doubtful: days.keys().map(|day| (*day, Timestamp::MIN)).collect(),
            nights: 0,
        }
    }

    /// The complete days of a listing in the window, with their rows.
    fn complete_days(&self, listing: Listing, landing: &Landing) -> Counted {
        let days = landing.days.get(listing.label()).into_iter();
        let days = days.flat_map(|days| days.range(self.from..=self.record.today));
        days.filter(|(_, known)| known.complete).map(|(day, known)| (*day, known.rows())).collect()
    }

    /// The newest counts, of the days whose count is the total of the untyped listing.
    pub(crate) fn usable_counts(&self) -> Counted {
        let counts = self.counts().iter().filter(|count| !self.state.miscounted.contains(&count.date));
        counts.map(|DailyCount { date, count }| (*date, u64::try_from(*count).unwrap_or(0))).collect()
    }
}

/// Totals that show a change even where rows came and left on different days, for a share of the run's requests.
fn totals_of_parts(fetcher: &PageFetcher<'_>) -> Totals {
    Totals::Parts(LEAST_PARTS.max(fetcher.answered / PART_SHARE) as usize)
}
