//! What a run reads, in order: lists, counts, listings. Each day range lands when it is read.

use super::day_counts::Figures;
use super::landing::Landing;
use super::page_store::Pages;
use super::run_store::{Known, RunStore};
use crate::client::{Call, Client};
use crate::contract::account::Remaining;
use crate::contract::count::Stats;
use crate::contract::eastern::window_start;
use crate::contract::listing::Listing;
use crate::extract::fetch::PageFetcher;
use crate::extract::listing::{ListingJob, ListingStore, ReadContext, extract_listing};
use crate::extract::query::split::FilterValues;
use crate::extract::reference::{
    COUNTS, CountedDays, PlanBasis, REFERENCE, Reference, extract_reference, find_plan,
};
use crate::pipeline::api_day::{api_clock, check_counts};
use crate::pipeline::context::Run;
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::plan::forecast::Forecast;
use crate::pipeline::plan::inputs::PlanInputs;
use crate::pipeline::plan::jobs::{counted, counted_days, first_day, job, listings, within_bounds};
use crate::pipeline::plan::lake_view::{Coverage, KnownRows};
use crate::pipeline::plan::refresh_cost::prices;
use crate::pipeline::progress::Event;
use crate::pipeline::publish::summary::Requests;
use crate::table::Table;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Extracted {
    pub(crate) landing: Landing,
    /// Lists and statewide figures; none unless the counts of days came too, which a register does not need.
    pub(crate) reference: Option<Reference>,
    /// How reading ended. What landed before a pause is published.
    pub(crate) read: Result<()>,
    pub(crate) requests: Requests,
    /// Answers, from the API or the archive.
    pub(crate) answered: u64,
}

/// Requests that are kept while days are read: a run whose budget ends can then still compare them once.
const KEPT_FOR_CHECK: u32 = 4;

/// What a client had sent before a run began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentBefore {
    sent: u64,
    retried: u64,
}

impl SentBefore {
    pub(crate) fn now(client: &Client) -> Self {
        Self { sent: client.budget().sent(), retried: client.retried() }
    }

    /// The requests before the first list.
    pub(crate) fn at_start(self, client: &Client) -> Requests {
        let requests = self.requests_since(client);
        let by_stage = BTreeMap::from([(REFERENCE.to_owned(), requests.sent)]);
        Requests { by_stage, ..requests }
    }

    pub(crate) fn requests_since(self, client: &Client) -> Requests {
        let (sent, retried) = (client.budget().sent() - self.sent, client.retried() - self.retried);
        Requests { sent, retried, ..Requests::default() }
    }
}

/// Reads and lands all that the run needs, then frees the archive's index. `before` is what was sent before it began.
pub(crate) async fn extract(run: &mut Run<'_>, before: SentBefore) -> Result<Extracted> {
    let client = run.client;
    let sent_for_account = before.requests_since(client).sent;
    let mut pages = Pages::new(run.dir.raw()?);
    let archive = pages.clone();
    let staging = run.context.lake.stage(&run.record.run_id)?;
    let quarantine = Some(run.dir.quarantine());
    let mut landing = Landing::new(run.record.today, staging, quarantine, pages.clone())?;
    let (progress, now) = (run.progress.clone(), run.context.now);
    let answered = |sent, rows| progress.answered(sent, rows, client.budget(), now());
    let mut fetcher = PageFetcher::new(client, &mut pages, now, &answered);
    let mut reference = None;
    let read = run.read(&mut fetcher, &mut landing, &mut reference).await;
    if let Err(PipelineError::Client(refused)) = &read {
        fetcher.invalidate_refusal(refused)?;
    }
    let finished = fetcher.finish().await;
    let mut by_stage: BTreeMap<String, u64> =
        fetcher.sent_by_stage.iter().map(|(stage, sent)| ((*stage).to_owned(), *sent)).collect();
    *by_stage.entry(REFERENCE.to_owned()).or_default() += sent_for_account;
    let requests = Requests { replayed: fetcher.replayed, by_stage, ..before.requests_since(client) };
    progress.report(Event::Spent(&requests));
    finished?;
    archive.archive().sync()?;
    landing.end()?;
    landing.findings.sync()?;
    Ok(Extracted { landing, reference, read, requests, answered: fetcher.answered })
}

impl Run<'_> {
    /// Reads lists, counts and listings. Each day range lands when it is read. `reference` receives the lists before anything can land.
    async fn read(
        &mut self,
        fetcher: &mut PageFetcher<'_>,
        landing: &mut Landing,
        reference: &mut Option<Reference>,
    ) -> Result<()> {
        let spec = &self.pipeline.spec;
        if let Some(spec) = &spec.enrich {
            return self.read_enrich(spec, fetcher, landing).await;
        }
        let lists = extract_reference(fetcher).await?;
        if let Some(spec) = &spec.registry {
            return self.read_register(spec, fetcher, reference.insert(lists), landing).await;
        }
        self.read_counts(fetcher, landing).await?;
        let Reference { industries, entity_types, stats, .. } = reference.insert(lists);
        let mut reading = WindowReading {
            words: FilterValues::of(industries, entity_types),
            at_first: Figures::new(stats.clone(), self.usable_counts(), &[]),
            run: self,
            fetcher,
            landing,
            compared: BTreeMap::new(),
            begun: BTreeSet::new(),
        };
        reading.read().await
    }

    /// Reads counts of days. Fails if the API's own day, the newest that it counts, is before the run's.
    async fn read_counts(&mut self, fetcher: &mut PageFetcher<'_>, landing: &mut Landing) -> Result<()> {
        let days = self.pipeline.spec.extract.days;
        let asked = counted_days(days, self.plan_basis);
        self.take_counts(fetcher.ask(COUNTS, &Call::daily_counts(asked)).await?, landing);
        check_counts(self.record.today, &self.counts, api_clock(self.context.now, self.client))?;
        self.read_plan(fetcher, counted(days, asked, &self.counts)).await
    }

    /// Reads the plan's numbers where they must be measured or may have changed. A resumed run measures them on the day that it is resumed:
    /// what its archive says is of an earlier one.
    async fn read_plan(&mut self, fetcher: &mut PageFetcher<'_>, mut counted: CountedDays) -> Result<()> {
        let (given, today, oldest) = (&self.pipeline.spec.plan, self.context.today, fetcher.oldest);
        if self.record.today < today {
            counted.counted = 0;
            fetcher.oldest = (self.context.now)();
        }
        let found = find_plan(fetcher, &mut self.plan, self.plan_basis, given, counted, today).await;
        fetcher.oldest = oldest;
        found?;
        if self.plan_basis == PlanBasis::Assumed {
            self.plan_basis = PlanBasis::Learned;
        }
        Ok(())
    }

    /// What the run may still send.
    fn spendable(&self) -> Result<Remaining> {
        Ok(within_bounds(self.client.budget().remaining()?, &self.pipeline.spec.budget, &self.plan))
    }

    /// Where the readings of a listing land.
    pub(crate) fn store<'l>(&self, landing: &'l mut Landing, known: Known) -> RunStore<'l> {
        RunStore { landing, known, now: self.context.now, progress: self.progress.clone() }
    }

    /// What extraction needs to read a listing.
    pub(crate) fn read_context<'r>(
        &'r mut self,
        listing: Listing,
        values: &'r FilterValues,
        store: &'r mut (dyn ListingStore + Send),
    ) -> ReadContext<'r> {
        let label = listing.label();
        let shares = self.state.shares.entry(label.to_owned()).or_default();
        let pace = self.state.pace.entry(label.to_owned()).or_default();
        let daily = &mut self.state.daily_listing;
        ReadContext { store, plan: &mut self.plan, values, shares, pace, daily }
    }

    /// The jobs of all listings. Writes the plan and the number of requests it takes into the run's record.
    fn plan_listings(
        &mut self,
        coverage: &Coverage,
        stats: &Stats,
        answered: u64,
    ) -> Result<Vec<(Listing, ListingJob)>> {
        let inputs = PlanInputs {
            coverage,
            state: &self.state,
            counts: &self.counts,
            plan: &self.plan,
            remaining: self.spendable()?,
            oldest: self.oldest(),
            from: self.from,
            today: self.record.today,
        };
        let forecast = Forecast { inputs: &inputs, stats: Some(stats), total: None };
        let mut planned = self.planned();
        let listings = listings(&self.pipeline.spec);
        let prices = prices(&listings, &forecast);
        let left = prices.iter().map(|price| price.requests).sum();
        let rows = prices.iter().map(|price| price.rows).sum();
        let jobs =
            listings.into_iter().map(|listing| (listing, job(listing, &inputs, &mut planned))).collect();
        self.progress.plan(answered + left, rows);
        planned.left = Some(left);
        self.write_plan(&planned)?;
        Ok(jobs)
    }
}

/// The reading of a window: its days are read here, then checked in `day_check`.
pub(super) struct WindowReading<'c, 'r, 'f> {
    pub(super) run: &'c mut Run<'r>,
    pub(super) fetcher: &'c mut PageFetcher<'f>,
    pub(super) words: FilterValues,
    pub(super) landing: &'c mut Landing,
    /// What was counted before the first listing was read.
    pub(super) at_first: Figures,
    /// What was counted before the days that the run read of a listing were last compared in small parts.
    pub(super) compared: BTreeMap<Listing, Figures>,
    /// Listings that this process has asked for, or whose answers it took from an earlier process of the run.
    pub(super) begun: BTreeSet<Listing>,
}

impl WindowReading<'_, '_, '_> {
    /// Reads the listings, then checks them. When the budget ends before, the check alone may use what was set aside for it.
    async fn read(&mut self) -> Result<()> {
        let budget = self.run.client.budget();
        let left = self.run.spendable()?;
        // A budget that hardly lets a run read has none to set aside.
        if left.day.min(left.month) >= 3 * KEPT_FOR_CHECK {
            budget.set_aside(KEPT_FOR_CHECK);
        }
        let mut read = self.read_jobs().await;
        budget.set_aside(0);
        if read.is_ok() {
            read = self.check().await;
        }
        if read.as_ref().is_err_and(PipelineError::is_pause) {
            self.check_before_pause().await?;
        }
        read
    }

    /// Reads the days that the plan wants.
    async fn read_jobs(&mut self) -> Result<()> {
        let run = &mut *self.run;
        let filings = self.landing.staging.sound_table(Table::Filings)?;
        // A run of an earlier day cannot read days that have left the window since.
        let (today, oldest) = (run.record.today, window_start(run.context.today, run.plan.window_days));
        if today < oldest {
            return Err(PipelineError::LeftWindow { today, oldest });
        }
        run.from = first_day(run.pipeline.spec.extract.days, today, &run.plan).max(oldest);
        let coverage = self.landing.coverage.days.clone();
        if let Some(wanted) = run.wanted_days() {
            run.progress.want(wanted, &coverage);
        }
        run.mark_by_counts(self.landing);
        for (listing, job) in run.plan_listings(&coverage, &self.at_first.stats, self.fetcher.answered)? {
            let known = Known::Lake(KnownRows::new(filings.clone(), listing));
            let before = (self.fetcher.answered, self.fetcher.replayed);
            let mut store = run.store(self.landing, known);
            let context = run.read_context(listing, &self.words, &mut store);
            let read = extract_listing(self.fetcher, context, job).await;
            if (self.fetcher.answered, self.fetcher.replayed) != before {
                self.begun.insert(listing);
            }
            read?;
        }
        Ok(())
    }
}
