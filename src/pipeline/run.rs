//! The order of a run: first an unfinished run of an earlier process, then today's.

use super::api_day;
use super::config::file::{Pipeline, check_sql};
use super::context::{Run, RunContext, Stopped, make_client};
use super::error::{PipelineError, Result};
use super::load::extraction::{Extracted, SentBefore, extract};
use super::plan::due::check_has_filings;
use super::plan::jobs::{RunPlan, first_day};
use super::progress::{Event, Progress};
use super::publish::finish::{Finished, end_published, publish};
use super::publish::summary::{Outcome, RunSummary};
use super::state::registry::RegisterProgress;
use super::state::run_state::RunState;
use super::state::source_and_day::check_source_and_day;
use crate::client::{Allowance, Client, ClientError};
use crate::contract::eastern::eastern_day;
use crate::extract::reference::{plan_is_known, plan_limits};
use crate::lake::{Lake, LakeLock, RunRecord, new_run_id};
use jiff::SignedDuration;
use std::time::Instant;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs a pipeline and returns what it did. A run that was killed or paused is finished first, as of its own day.
///
/// # Errors
/// Everything but a pause: a spent budget, a signal or a long Retry-After gives the outcome `partial`.
pub async fn run(pipeline: &Pipeline, context: &RunContext) -> Result<RunSummary> {
    let lake = &context.lake;
    let fresh = new_record(pipeline, context);
    let lock = lake.lock(&fresh.run_id, &context.holder)?;
    check_source_and_day(lake, context.source.kind, context.today)?;
    off_async_threads(|| check_sql(pipeline))?;
    check_has_filings(&pipeline.spec, lake)?;
    let progress = Progress::new(context.events.clone());
    let client = make_client(pipeline, context, &progress)?;
    let mut finished_first = None;
    let is_resumable =
        |record: &RunRecord| record.pipeline_digest == pipeline.digest && record.today <= fresh.today;
    if let Some(record) = lake.unfinished_run(&pipeline.spec.name)?.filter(is_resumable) {
        let of_today = record.today == fresh.today;
        tracing::info!(run_id = record.run_id, today = %record.today, "resuming an unfinished run");
        let record = if RunState::of(lake.current()?.as_ref()).ended.as_ref() == Some(&record.run_id) {
            record
        } else {
            // Before today's own run.
            let at = fresh.started_at - SignedDuration::from_millis(1);
            lake.take_over(record, &new_run_id(at, &pipeline.spec.name, &context.token), at)?
        };
        let unfinished = record.clone();
        match one_run(pipeline, context, &lock, &client, &progress, Begun::Resumed(record)).await {
            // It would fail every day.
            Err(error @ (PipelineError::CheckFailed { .. } | PipelineError::LeftWindow { .. }))
                if !of_today =>
            {
                tracing::warn!(run_id = unfinished.run_id, "the run is given up: {error}");
                give_up(lake, unfinished)?
            }
            Ok(summary) if !of_today && summary.outcome != Outcome::Partial => {
                finished_first = Some(Box::new(summary));
            }
            ended => return ended,
        }
    }
    let summary = one_run(pipeline, context, &lock, &client, &progress, Begun::Fresh(fresh)).await?;
    Ok(RunSummary { finished_first, ..summary })
}

/// Closes a run that would end in the same error again, so that the next begins anew.
fn give_up(lake: &Lake, mut record: RunRecord) -> Result<()> {
    record.finished = Some(Outcome::Failed.name().to_owned());
    Ok(lake.run(&record.run_id)?.close(&mut record)?)
}

/// A run's record, and whether an earlier process began it.
enum Begun {
    Fresh(RunRecord),
    Resumed(RunRecord),
}

impl Begun {
    /// The account's limits: requested for the first run of this process if it is new, else only if they were not on this day.
    async fn limits(self, client: &Client) -> (RunRecord, Result<Allowance, ClientError>) {
        match self {
            Self::Fresh(record) if client.budget().sent() == 0 => {
                (record, client.account().await.map(|account| account.limits.into()))
            }
            Self::Fresh(record) | Self::Resumed(record) => (record, client.caps().await),
        }
    }
}

fn new_record(pipeline: &Pipeline, context: &RunContext) -> RunRecord {
    let started_at = (context.now)();
    let name = &pipeline.spec.name;
    let run_id = new_run_id(started_at, name, &context.token);
    RunRecord {
        pipeline_file: pipeline.file_or_name(),
        pipeline_digest: pipeline.digest.clone(),
        ..RunRecord::begun(&run_id, name, started_at, context.today)
    }
}

async fn one_run(
    pipeline: &Pipeline,
    context: &RunContext,
    lock: &LakeLock,
    client: &Client,
    progress: &Progress,
    begun: Begun,
) -> Result<RunSummary> {
    let lake = &context.lake;
    progress.restart();
    let started = Instant::now();
    let before = SentBefore::now(client);
    let began_on = eastern_day((context.now)());
    // After midnight the window has advanced, and its oldest day is refused.
    let day_has_turned =
        |error: &ClientError| error.refused_status() == Some(403) && eastern_day((context.now)()) != began_on;
    let (record, caps) = begun.limits(client).await;
    progress.report(Event::Begun(lake.run(&record.run_id)?.path()));
    let requests = before.at_start(client);
    progress.report(Event::Spent(&requests));
    tracing::info!(run_id = record.run_id, today = %record.today, lake = %lake, "the run begins");
    let caps = match caps {
        Err(error) if error.is_pause() => {
            let summary = nothing_done(&record, client, context, &error)?;
            return Ok(RunSummary { requests, elapsed_secs: started.elapsed().as_secs_f64(), ..summary });
        }
        other => other?,
    };
    let checked = api_day::check_clock(context, client).await;
    progress.report(Event::Spent(&before.at_start(client)));
    checked?;
    let mut run = begin(pipeline, context, lock, client, progress, record, caps)?;
    if let Some(ended) = &run.state.ended
        && *ended == run.record.run_id
    {
        return off_async_threads(|| end_published(run, before.requests_since(client), started));
    }
    let Extracted { landing, read, requests, answered } = extract(&mut run, context, before).await?;
    let (reference, stopped) = match read {
        Ok(reference) => (reference, None),
        Err((reference, PipelineError::Client(error))) if error.is_pause() || day_has_turned(&error) => {
            let left = run.stop_with(answered)?;
            (reference, Some(Stopped::by(&error, left, client, context)?))
        }
        Err((_, error @ (PipelineError::LaterDay { .. } | PipelineError::NoProgress(_)))) => {
            // Its archived answers would end it again.
            give_up(lake, run.record)?;
            return Err(error);
        }
        Err((_, error)) => return Err(error),
    };
    off_async_threads(|| publish(run, landing, Finished { reference, stopped, requests, started }))
}

/// Runs work that blocks: merging, aggregates and syncs. On a multi-threaded runtime another thread takes over the async tasks.
fn off_async_threads<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// The run at its start, with the state of the newest snapshot.
fn begin<'a>(
    pipeline: &'a Pipeline,
    context: &'a RunContext,
    lock: &'a LakeLock,
    client: &'a Client,
    progress: &Progress,
    mut record: RunRecord,
    caps: Allowance,
) -> Result<Run<'a>> {
    let lake = &context.lake;
    let dir = lake.run(&record.run_id)?;
    let state = RunState::of(lake.current()?.as_ref());
    let plan = plan_limits(caps, state.plan, &pipeline.spec.plan);
    let is_plan_found = plan_is_known(caps, state.plan, &pipeline.spec.plan);
    // They are listed again when the run ends.
    record.files.clear();
    dir.begin(&record)?;
    Ok(Run {
        pipeline,
        now: context.now,
        lake,
        lock,
        client,
        real_today: context.today,
        source: context.source.kind,
        from: first_day(pipeline.spec.extract.days, record.today, &plan),
        record,
        dir,
        state,
        plan,
        counts: Vec::new(),
        progress: progress.clone(),
        is_plan_found,
        register: RegisterProgress::default(),
        enrich: None,
    })
}

/// The summary of a run that could not send its first request.
fn nothing_done(
    record: &RunRecord,
    client: &Client,
    context: &RunContext,
    error: &ClientError,
) -> Result<RunSummary> {
    let stopped = Stopped::by(error, RunPlan::of_record(record).left, client, context)?;
    let mut summary = RunSummary::empty(&record.pipeline, record.today);
    summary.run_id = record.run_id.clone();
    summary.snapshot = context.lake.current()?.map(|commit| commit.snapshot);
    stopped.report(&mut summary);
    summary.end();
    Ok(summary)
}

impl Run<'_> {
    /// Stops the run early, after `answered` answers; notes how many requests it still needs, at least 1, for the next run.
    fn stop_with(&mut self, answered: u64) -> Result<Option<u64>> {
        let mut planned = self.planned();
        if let Some(needed) = self.progress.planned() {
            planned.left = Some(needed.saturating_sub(answered).max(1));
            self.write_plan(&planned)?;
        }
        Ok(planned.left)
    }
}
