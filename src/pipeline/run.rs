//! The order of a run: what is left of an earlier one first, then today's.

use super::PipelineError;
use super::config::file::Pipeline;
use super::config::sql::check_sql;
use super::load::extraction::{Before, Extracted, extract};
use super::load::registry::RegisterProgress;
use super::plan::completion_date::{Means, complete_on};
use super::plan::jobs::{RunPlan, first_day};
use super::publish::summary::{EnrichSummary, Outcome, Requests, RunSummary};
use super::publish::{Finished, end_published, publish};
use super::state::{RunState, SourceKind};
use crate::client::{Allowance, ApiKey, Bounds, Budget, Client, ClientConfig, ClientError, Ledger, Stop};
use crate::contract::count::DailyCount;
use crate::contract::eastern::{eastern_day, span_days};
use crate::contract::plan::PlanLimits;
use crate::extract::reference::plan_limits;
use crate::lake::{Lake, LakeLock, RunDir, RunRecord};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
    /// Folder of what all lakes of this host share: the ledgers of requests.
    pub state_dir: PathBuf,
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
    /// Hears of every run that begins, or is gone on with: its folder.
    pub begin: &'a dyn Fn(&Path),
    /// Hears of every answer: its stage and the requests it took.
    pub tell: &'a dyn Fn(&'static str, u64),
    /// Hears what a run's reading took, however it ended, before anything else of the run can fail.
    pub spent: &'a dyn Fn(&Requests),
}

/// Runs a pipeline. A run that a kill or a spent budget left unfinished is finished first, as of its own day; then today's.
///
/// # Errors
/// Everything but a pause: a spent budget, a signal or a long Retry-After is an outcome, `partial`.
pub async fn run(pipeline: &Pipeline, context: &RunContext<'_>) -> Result<RunSummary, PipelineError> {
    let lake = context.lake.clone();
    let fresh = new_record(pipeline, context);
    let lock = lake.lock(&fresh.run_id, &context.holder)?;
    check_source_and_day(&lake, context)?;
    check_sql(pipeline)?;
    let client = make_client(pipeline, context, &lake)?;
    let mut finished_first = None;
    if let Some(record) = unfinished(&lake, pipeline, &fresh)? {
        let of_today = record.today == fresh.today;
        tracing::info!(run_id = record.run_id, today = %record.today, "going on with an unfinished run");
        let held = record.clone();
        match one_run(pipeline, context, (&lake, &lock), &client, Begun::Before(record)).await {
            // Its pages would fail the check every day.
            Err(error @ PipelineError::CheckFailed { .. }) if !of_today => give_up(&lake, held, &error)?,
            Ok(summary) if !of_today && summary.outcome != Outcome::Partial => {
                finished_first = Some(Box::new(summary));
            }
            ended => return ended,
        }
    }
    let summary = one_run(pipeline, context, (&lake, &lock), &client, Begun::Now(fresh)).await?;
    Ok(RunSummary { finished_first, ..summary })
}

/// Ends a run of an earlier day that cannot be published, so that today's can begin.
fn give_up(lake: &Lake, mut record: RunRecord, why: &PipelineError) -> Result<(), PipelineError> {
    tracing::warn!(run_id = record.run_id, "the run is given up: {why}");
    record.finished = Some(Outcome::Failed.name().to_owned());
    Ok(lake.run(&record.run_id)?.close(&mut record)?)
}

/// A run's record, and whether an earlier process began it.
enum Begun {
    Now(RunRecord),
    Before(RunRecord),
}

impl Begun {
    /// Asks what the account has left; where a run goes on that an earlier process began, only if nobody has asked today.
    async fn account(self, client: &Client) -> (RunRecord, Result<Allowance, ClientError>) {
        match self {
            Self::Now(record) if client.budget().sent() == 0 => {
                (record, client.account().await.map(|account| account.limits.into()))
            }
            Self::Now(record) | Self::Before(record) => (record, client.caps().await),
        }
    }
}

/// A sample and the register never share a lake: their ids would replace each other. A clock that stands before the newest day that the
/// lake was read as of would take newer filings for gone.
fn check_source_and_day(lake: &Lake, context: &RunContext<'_>) -> Result<(), PipelineError> {
    let Some(commit) = lake.current()? else { return Ok(()) };
    let state = RunState::from_commit(&commit.state);
    let (asked, today) = (context.source.kind, context.today);
    match (state.source, state.as_of) {
        (Some(held), _) if held != asked => {
            Err(PipelineError::OtherSource { lake: lake.to_string(), held, asked })
        }
        (_, Some(newest)) if today < newest => {
            Err(PipelineError::EarlierDay { lake: lake.to_string(), newest, today })
        }
        _ => Ok(()),
    }
}

fn new_record(pipeline: &Pipeline, context: &RunContext<'_>) -> RunRecord {
    let started_at = (context.now)();
    let stamp = started_at.strftime("%Y%m%dT%H%M%S%3fZ");
    let name = &pipeline.spec.name;
    RunRecord {
        pipeline_digest: pipeline.digest.clone(),
        ..RunRecord::begun(&format!("{stamp}-{name}"), name, (started_at, context.today))
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
        max_time: spec.max_minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
    };
    let source = &context.source;
    let ledger = Ledger::of(&context.state_dir, &source.base_url, &source.key);
    let earlier = lake.state_dir().join(format!("budget-{}.json", source.key.fingerprint()));
    let unkept = |source| ClientError::Ledger { path: earlier.display().to_string(), source };
    ledger.inherit((context.now)(), &earlier).map_err(unkept)?;
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
    pub(super) lock: &'a LakeLock,
    pub(super) source: SourceKind,
    pub(super) record: RunRecord,
    pub(super) dir: RunDir,
    pub(super) state: RunState,
    pub(super) plan: PlanLimits,
    pub(super) counts: Vec<DailyCount>,
    /// Of how many days these were asked for; none before.
    pub(super) counted_days: Option<u32>,
    /// Rows that days of the untyped listing held when the counts came.
    pub(super) expected: BTreeMap<Date, u64>,
    /// Oldest day of the window.
    pub(super) from: Date,
    /// Answers that the whole run takes, by its estimate, once that is made.
    pub(super) needed: Option<u64>,
    /// Whether the plan's numbers are found, and not only assumed.
    pub(super) is_plan_found: bool,
    /// What this run did of the register.
    pub(super) register: RegisterProgress,
    /// What this run looked up; none before it began to.
    pub(super) enrich: Option<EnrichSummary>,
}

async fn one_run(
    pipeline: &Pipeline,
    context: &RunContext<'_>,
    (lake, lock): (&Lake, &LakeLock),
    client: &Client,
    begun: Begun,
) -> Result<RunSummary, PipelineError> {
    let started = Instant::now();
    let before = Before::now(client);
    let began_on = eastern_day((context.now)());
    // The window has moved on under the run: its oldest day cannot be read any more.
    let day_has_turned =
        |error: &ClientError| error.refused_status() == Some(403) && eastern_day((context.now)()) != began_on;
    let (record, caps) = begun.account(client).await;
    let dir = lake.run(&record.run_id)?;
    (context.begin)(dir.path());
    (context.spent)(&before.requests_since(client));
    tracing::info!(run_id = record.run_id, today = %record.today, lake = %lake, "the run begins");
    let caps = match caps {
        Err(error) if error.is_pause() => return nothing_done(&record, lake, client, context, &error),
        other => other?,
    };
    let commit = lake.current()?;
    let state = commit.as_ref().map(|commit| RunState::from_commit(&commit.state)).unwrap_or_default();
    let plan = plan_limits(caps, state.plan, &pipeline.spec.plan);
    let from = record.today;
    dir.write_record(&record)?;
    let mut run = Run {
        pipeline,
        now: context.now,
        lake,
        lock,
        source: context.source.kind,
        record,
        dir,
        state,
        plan,
        counts: Vec::new(),
        counted_days: None,
        expected: BTreeMap::new(),
        from,
        needed: None,
        is_plan_found: false,
        register: RegisterProgress::default(),
        enrich: None,
    };
    if let Some(commit) = commit.filter(|_| run.state.ended.as_ref() == Some(&run.record.run_id)) {
        run.from = first_day(pipeline.spec.extract.days, run.record.today, &run.plan);
        return end_published(run, &commit, before.requests_since(client), started);
    }
    let Extracted { landing, read, requests, answered } =
        extract(&mut run, client, caps, context, before).await?;
    let (reference, stopped) = match read {
        Ok(reference) => (reference, None),
        Err((reference, PipelineError::Client(error))) if error.is_pause() || day_has_turned(&error) => {
            let left = run.stop_with(answered)?;
            (reference, Some(Stopped::by(&error, left, client, context)?))
        }
        Err((_, error)) => return Err(error),
    };
    publish(run, landing, Finished { reference, stopped, requests, started })
}

/// Why a run stopped early, and how it may go on.
pub(super) struct Stopped {
    pub(super) why: String,
    pub(super) go_on_after: Option<Timestamp>,
    pub(super) complete_on: Option<Date>,
}

impl Stopped {
    /// `left` are the requests that the run still needs, where that is known.
    fn by(
        error: &ClientError,
        left: Option<u64>,
        client: &Client,
        context: &RunContext<'_>,
    ) -> Result<Self, PipelineError> {
        let (today, now) = (context.today, (context.now)());
        let budget = client.budget();
        let per_run = budget.max_requests();
        let bound_met = per_run.is_some_and(|most| budget.sent() >= most);
        let days_until = |at: Timestamp| span_days(eastern_day(now), eastern_day(at)).saturating_sub(1);
        let means = Means {
            remaining: budget.remaining()?,
            allowance: budget.per_window()?,
            per_run,
            idle_days: error.run_again_after().map_or(0, days_until).max(u32::from(bound_met)),
        };
        Ok(Self {
            why: error.to_string(),
            go_on_after: error.run_again_after(),
            complete_on: left.and_then(|left| complete_on(left, today, &means)),
        })
    }

    pub(super) fn tell(self, summary: &mut RunSummary) {
        summary.stopped = Some(self.why);
        summary.go_on_after = self.go_on_after;
        summary.complete_on = self.complete_on;
    }
}

/// A run that could not send its first request.
fn nothing_done(
    record: &RunRecord,
    lake: &Lake,
    client: &Client,
    context: &RunContext<'_>,
    error: &ClientError,
) -> Result<RunSummary, PipelineError> {
    let planned: RunPlan = serde_json::from_value(record.plan.clone()).unwrap_or_default();
    let stopped = Stopped::by(error, planned.left, client, context)?;
    let mut summary = RunSummary::empty(&record.pipeline, record.today);
    summary.run_id = record.run_id.clone();
    summary.outcome = Outcome::Partial;
    summary.exit_code = super::publish::summary::EXIT_RUN_AGAIN;
    summary.snapshot = lake.current()?.map(|commit| commit.snapshot);
    stopped.tell(&mut summary);
    Ok(summary)
}

impl Run<'_> {
    /// The run stops before its end, after so many answers: writes down how many it still needs, for a next run that may
    /// not even ask. What is estimated too low is never told as nothing.
    fn stop_with(&mut self, answered: u64) -> Result<Option<u64>, PipelineError> {
        let mut planned: RunPlan = serde_json::from_value(self.record.plan.clone()).unwrap_or_default();
        if let Some(needed) = self.needed {
            planned.left = Some(needed.saturating_sub(answered).max(1));
            self.record.plan = serde_json::to_value(&planned).unwrap_or_default();
            self.dir.write_record(&self.record)?;
        }
        Ok(planned.left)
    }
}
