//! The order of a run: what is left of an earlier one first, then today's.

use super::known::{KnownIds, read_coverage};
use super::land::Landing;
use super::pages::Pages;
use super::publish::{Finished, publish};
use super::spec::Pipeline;
use super::state::{RunState, SourceKind};
use super::summary::{Outcome, Requests, RunSummary};
use super::work::{Knowledge, RunPlan, first_day, job, listings};
use super::{EVERY_OTHER_TYPE, PipelineError};
use crate::client::{ApiKey, Bounds, Budget, Client, ClientConfig, Ledger, Stop};
use crate::contract::account::Account;
use crate::contract::count::DailyCount;
use crate::contract::plan::PlanLimits;
use crate::contract::reference::EntityType;
use crate::extract::ExtractError;
use crate::extract::ask::Asker;
use crate::extract::listing::{Surroundings, extract_listing};
use crate::extract::planner::Vocabulary;
use crate::extract::reference::{
    Reference, extract_daily_counts, extract_reference, fetch_account, find_plan, plan_is_known, plan_limits,
};
use crate::lake::{Lake, RunDir, RunRecord};
use jiff::Timestamp;
use jiff::civil::Date;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Where the API is and who asks.
#[derive(Debug, Clone)]
pub struct Source {
    /// Address of the service.
    pub base_url: String,
    /// The account's key.
    pub key: ApiKey,
    /// Plain http to another host.
    pub allow_plain_http: bool,
    /// Whether it is the embedded sample.
    pub kind: SourceKind,
}

/// What a run takes from the world.
pub struct RunContext<'a> {
    /// The lake.
    pub lake: Lake,
    /// Eastern day to run as.
    pub today: Date,
    /// The wall clock.
    pub now: fn() -> Timestamp,
    /// The API.
    pub source: Source,
    /// Told to stop by a signal.
    pub stop: Stop,
    /// Says who holds the lake, for others who want it.
    pub holder: String,
    /// Hears of every answer: its stage and the requests it took.
    pub tell: &'a dyn Fn(&'static str, u64),
}

/// Runs a pipeline. A run that a kill or a spent budget left unfinished is finished first, as of its own day; then today's.
///
/// # Errors
/// Everything but a pause: a spent budget, a signal or a long Retry-After is an outcome, `partial`.
pub async fn run(pipeline: &Pipeline, context: &RunContext<'_>) -> Result<RunSummary, PipelineError> {
    let lake = context.lake.clone();
    let fresh = new_record(pipeline, context);
    let _lock = lake.lock(&fresh.run_id, &context.holder)?;
    check_source(&lake, context)?;
    let client = make_client(pipeline, context, &lake)?;
    if let Some(record) = unfinished(&lake, pipeline, &fresh)? {
        let of_today = record.today == fresh.today;
        tracing::info!(run_id = record.run_id, today = %record.today, "going on with an unfinished run");
        let summary = one_run(pipeline, context, &lake, &client, record).await?;
        if of_today || summary.outcome == Outcome::Partial {
            return Ok(summary);
        }
    }
    one_run(pipeline, context, &lake, &client, fresh).await
}

/// A sample and the register never share a lake: their ids would replace each other.
fn check_source(lake: &Lake, context: &RunContext<'_>) -> Result<(), PipelineError> {
    let held = lake.current()?.and_then(|commit| RunState::from_commit(&commit.state).source);
    let asked = context.source.kind;
    match held {
        Some(held) if held != asked => {
            Err(PipelineError::OtherSource { lake: lake.to_string(), held, asked })
        }
        _ => Ok(()),
    }
}

fn new_record(pipeline: &Pipeline, context: &RunContext<'_>) -> RunRecord {
    let started_at = (context.now)();
    let stamp = started_at.strftime("%Y%m%dT%H%M%S%3fZ");
    RunRecord {
        run_id: format!("{stamp}-{}", pipeline.spec.name),
        pipeline: pipeline.spec.name.clone(),
        pipeline_digest: pipeline.digest.clone(),
        today: context.today,
        started_at,
        finished: None,
        plan: serde_json::Value::Null,
    }
}

/// An unfinished run goes on only under the pipeline it began with, and never as of a day still to come.
fn unfinished(
    lake: &Lake,
    pipeline: &Pipeline,
    fresh: &RunRecord,
) -> Result<Option<RunRecord>, PipelineError> {
    let record = lake.unfinished_run(&pipeline.spec.name)?;
    Ok(record.filter(|record| record.pipeline_digest == pipeline.digest && record.today <= fresh.today))
}

/// A client under the lake's ledger and the pipeline's bounds.
pub(super) fn make_client(
    pipeline: &Pipeline,
    context: &RunContext<'_>,
    lake: &Lake,
) -> Result<Client, PipelineError> {
    let spec = &pipeline.spec.budget;
    let bounds = Bounds {
        keep_per_day: spec.keep_per_day,
        keep_per_month: spec.keep_per_month,
        max_requests: spec.max_requests,
        max_time: spec.max_minutes.map(|minutes| Duration::from_secs(minutes * 60)),
    };
    let source = &context.source;
    let ledger = Ledger::at(lake.state_dir().join(format!("budget-{}.json", source.key.fingerprint())));
    let budget = Budget::new(ledger, context.now, bounds, context.stop.clone());
    let mut config = ClientConfig::new(&source.base_url);
    config.allow_plain_http = source.allow_plain_http;
    if let Some(attempts) = spec.attempts {
        config.retry.attempts = attempts.max(1);
    }
    Ok(Client::new(config, source.key.clone(), budget, context.now)?)
}

/// One run under way.
pub(super) struct Run<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) now: fn() -> Timestamp,
    pub(super) lake: &'a Lake,
    pub(super) source: SourceKind,
    pub(super) record: RunRecord,
    pub(super) dir: RunDir,
    pub(super) state: RunState,
    pub(super) plan: PlanLimits,
    pub(super) counts: Vec<DailyCount>,
    /// Oldest day of the window.
    pub(super) from: Date,
}

async fn one_run(
    pipeline: &Pipeline,
    context: &RunContext<'_>,
    lake: &Lake,
    client: &Client,
    record: RunRecord,
) -> Result<RunSummary, PipelineError> {
    let started = Instant::now();
    let before = client.budget().sent();
    let dir = lake.run(&record.run_id)?;
    let account = match fetch_account(client).await.map_err(PipelineError::from) {
        Err(error) if error.is_pause() => return nothing_done(&record, lake, &error),
        other => other?,
    };
    client.budget().learn(&account)?;
    let asked_for_account = client.budget().sent() - before;
    let commit = lake.current()?;
    let state = commit.as_ref().map(|commit| RunState::from_commit(&commit.state)).unwrap_or_default();
    let plan = plan_limits(&account, state.plan, &pipeline.spec.plan);
    let from = record.today;
    dir.write_record(&record)?;
    let mut run = Run {
        pipeline,
        now: context.now,
        lake,
        source: context.source.kind,
        record,
        dir,
        state,
        plan,
        counts: Vec::new(),
        from,
    };
    let mut pages = Pages(Rc::new(RefCell::new(run.dir.raw()?)));
    let staging = lake.stage(&run.record.run_id)?;
    let mut landing =
        Landing::new(run.record.today, staging, run.dir.quarantine(), pages.clone(), context.now);
    let store = pages.clone();
    let mut asker = Asker::new(client, &mut pages, context.now, context.tell);
    let read = run.read(&mut asker, client, &account, context.today, &mut landing).await;
    let mut by_stage: BTreeMap<String, u64> =
        asker.sent_by_stage().iter().map(|(stage, sent)| ((*stage).to_owned(), *sent)).collect();
    *by_stage.entry("reference".to_owned()).or_default() += asked_for_account;
    let requests = Requests {
        sent: client.budget().sent() - before,
        retried: client.retried(),
        replayed: asker.replayed(),
        by_stage,
    };
    store.0.borrow_mut().sync()?;
    let (reference, stopped) = match read {
        Ok(reference) => (Some(reference), None),
        Err((reference, error)) if error.is_pause() => (reference, Some(error.to_string())),
        Err((_, error)) => return Err(error),
    };
    publish(run, landing, Finished { reference, stopped, requests, started })
}

/// A run that could not send its first request.
fn nothing_done(record: &RunRecord, lake: &Lake, error: &PipelineError) -> Result<RunSummary, PipelineError> {
    let mut summary = RunSummary::empty(&record.pipeline, record.today);
    summary.run_id = record.run_id.clone();
    summary.outcome = Outcome::Partial;
    summary.exit_code = super::summary::EXIT_RUN_AGAIN;
    summary.snapshot = lake.current()?.map(|commit| commit.snapshot);
    summary.stopped = Some(error.to_string());
    Ok(summary)
}

/// What was read before an error, and the error.
type Interrupted = (Option<Reference>, PipelineError);

impl Run<'_> {
    /// Reads lists, counts and listings, landing each stretch as it is proven.
    async fn read(
        &mut self,
        asker: &mut Asker<'_>,
        client: &Client,
        account: &Account,
        real_today: Date,
        landing: &mut Landing,
    ) -> Result<Reference, Interrupted> {
        let early = |error: ExtractError| (None, PipelineError::from(error));
        let reference = extract_reference(asker).await.map_err(early)?;
        let counts = extract_daily_counts(asker).await.map_err(early)?;
        let given = &self.pipeline.spec.plan;
        if !plan_is_known(account, self.state.plan, given) {
            let counted = counts.len() as u32;
            find_plan(asker, &mut self.plan, given, counted, real_today).await.map_err(early)?;
        }
        self.counts = counts;
        let result = self.read_listings(asker, client, &reference, real_today, landing).await;
        match result {
            Ok(()) => Ok(reference),
            Err(error) => Err((Some(reference), error)),
        }
    }

    async fn read_listings(
        &mut self,
        asker: &mut Asker<'_>,
        client: &Client,
        reference: &Reference,
        real_today: Date,
        landing: &mut Landing,
    ) -> Result<(), PipelineError> {
        let commit = self.lake.current()?;
        let coverage = read_coverage(self.lake, commit.as_ref())?;
        let words = vocabulary(reference);
        let days = self.pipeline.spec.extract.days;
        // The window has moved on under a run of an earlier day: what has left it cannot be read any more.
        self.from =
            first_day(days, self.record.today, &self.plan).max(first_day(days, real_today, &self.plan));
        let mut planned: RunPlan = serde_json::from_value(self.record.plan.clone()).unwrap_or_default();
        let mut jobs = Vec::new();
        for listing in listings(&self.pipeline.spec) {
            let knowledge = Knowledge {
                coverage: &coverage,
                state: &self.state,
                counts: &self.counts,
                plan: &self.plan,
                remaining: client.budget().remaining()?,
                from: self.from,
                today: self.record.today,
            };
            jobs.push(job(listing, &knowledge, &mut planned));
        }
        self.record.plan = serde_json::to_value(&planned).unwrap_or_default();
        self.dir.write_record(&self.record)?;
        for job in jobs {
            let label = job.label;
            let mut ids = KnownIds::new(self.lake, commit.as_ref(), label)?;
            let mut known = |day: Date| ids.on(day).map_err(Into::into);
            let shares = self.state.shares.entry(label.to_owned()).or_default();
            let around = Surroundings { known: &mut known, plan: &mut self.plan, words: &words, shares };
            let mut hand_over =
                |reading| landing.land(&reading).map_err(|error| ExtractError::HandOver(error.into()));
            extract_listing(asker, around, job, &mut hand_over).await?;
        }
        Ok(())
    }

    /// A day's count is worth remembering once the day is proven.
    pub(super) fn remember_counts(&mut self, landing: &Landing) {
        for count in &self.counts {
            if landing.proven.contains(&(EVERY_OTHER_TYPE.to_owned(), count.date)) {
                self.state.counts.insert(count.date, count.count);
            }
        }
    }
}

fn vocabulary(reference: &Reference) -> Vocabulary {
    let sectors = reference.industries.sectors.iter();
    Vocabulary {
        sectors: sectors.map(|sector| (sector.sector.clone(), sector.types.clone())).collect(),
        counties: reference.counties.iter().map(|county| county.name.clone()).collect(),
        kinds: reference.entity_types.iter().filter_map(|entry| EntityType::from_key(&entry.key)).collect(),
    }
}
