//! The order of a run: an unfinished one of today is resumed in place of a new one; one of an earlier day is finished first, and is the last
//! if it stops again.

use super::api_day;
use super::config::file::{Pipeline, check_sql};
use super::context::{ApiContext, Run, RunContext, make_client};
use super::error::{PipelineError, Result};
use super::load::extraction::{Extracted, SentBefore, extract};
use super::plan::completion_date::{SpendableBudget, complete_on};
use super::plan::due::check_has_filings;
use super::plan::jobs::{RunPlan, first_day};
use super::progress::{Event, Progress};
use super::publish::finish::{end_published, publish};
use super::publish::summary::{Outcome, RunSummary};
use super::state::registry::RegisterProgress;
use super::state::run_state::RunState;
use crate::client::{Allowance, Client, ClientError};
use crate::contract::eastern::{eastern_day, span_days};
use crate::extract::reference::plan_limits;
use crate::lake::{Lake, LakeLock, RunRecord, new_run_id};
use jiff::{SignedDuration, Timestamp};
use std::time::Instant;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs a pipeline and returns what it did. A run that was killed or paused is finished first, as of its own day.
///
/// # Errors
/// Everything but a pause: a spent budget, a signal or a long Retry-After gives the outcome `partial`.
pub async fn run(pipeline: &Pipeline, context: &RunContext, api: &ApiContext) -> Result<RunSummary> {
    let lake = &context.lake;
    let (fresh, lock) = context.begin(pipeline)?;
    off_async_threads(|| check_sql(pipeline))?;
    check_has_filings(&pipeline.spec, lake)?;
    let progress = Progress::new(context.events.clone());
    let client = make_client(pipeline, context.now, api, &progress)?;
    let mut finished_first = None;
    let is_resumable =
        |record: &RunRecord| record.pipeline_digest == pipeline.digest && record.today <= fresh.today;
    if let Some(record) = lake.unfinished_run(&pipeline.spec.name)?.filter(is_resumable) {
        let of_today = record.today == fresh.today;
        tracing::info!(run_id = record.run_id, today = %record.today, "resuming an unfinished run");
        let record = if RunState::of(lake.current()?.as_ref()).ended.as_ref() == Some(&record.run_id) {
            record
        } else {
            // If another machine began it, it gets an id that sorts before today's own run.
            let at = fresh.started_at - SignedDuration::from_millis(1);
            lake.take_over(record, &new_run_id(at, &pipeline.spec.name, &context.token), at)?
        };
        let unfinished = record.clone();
        match one_run(pipeline, context, &lock, &client, &progress, record, false).await {
            // It would fail every day; an error of today is for a person to see.
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
    let summary = one_run(pipeline, context, &lock, &client, &progress, fresh, true).await?;
    Ok(RunSummary { finished_first, ..summary })
}

/// Closes a run that would end in the same error again, so that the next begins anew.
fn give_up(lake: &Lake, mut record: RunRecord) -> Result<()> {
    record.finished = Some(Outcome::Failed.name().to_owned());
    Ok(lake.run(&record.run_id)?.close(&mut record)?)
}

/// The account's limits. A new run that has sent nothing always requests them, another only if this host has no answer of today.
async fn limits(client: &Client, is_new: bool) -> Result<Allowance, ClientError> {
    if is_new && client.budget().sent() == 0 {
        return Ok(client.account().await?.limits.into());
    }
    client.caps().await
}

/// Begins or resumes a run.
async fn one_run(
    pipeline: &Pipeline,
    context: &RunContext,
    lock: &LakeLock,
    client: &Client,
    progress: &Progress,
    record: RunRecord,
    is_new: bool,
) -> Result<RunSummary> {
    let lake = &context.lake;
    progress.restart();
    let started = Instant::now();
    let before = SentBefore::now(client);
    let began_on = eastern_day((context.now)());
    // After midnight the window has advanced, and its oldest day is refused.
    let day_has_turned = |error: &ClientError| {
        matches!(error, ClientError::Refused { status: 403, .. }) && eastern_day((context.now)()) != began_on
    };
    let caps = limits(client, is_new).await;
    progress.report(Event::Begun(lake.run(&record.run_id)?.path()));
    let mut summary = RunSummary { requests: before.at_start(client), ..RunSummary::of(&record) };
    progress.report(Event::Spent(&summary.requests));
    tracing::info!(run_id = record.run_id, today = %record.today, lake = %lake, "the run begins");
    let caps = match caps {
        Err(error) if error.is_pause() => {
            summary.snapshot = lake.current()?.map(|commit| commit.snapshot);
            note_stop(&mut summary, &error, RunPlan::of_record(&record).left, client, context)?;
            summary.elapsed_secs = started.elapsed().as_secs_f64();
            summary.end();
            return Ok(summary);
        }
        other => other?,
    };
    let checked = api_day::check_clock(context, client).await;
    progress.report(Event::Spent(&before.at_start(client)));
    checked?;
    let mut run = begin(pipeline, context, lock, client, progress, record, caps)?;
    if run.state.ended.as_ref() == Some(&run.record.run_id) {
        summary.requests = before.requests_since(client);
        return off_async_threads(|| end_published(run, summary, started));
    }
    let Extracted { landing, reference, read, requests, answered } = extract(&mut run, before).await?;
    summary.requests = requests;
    match read {
        Err(PipelineError::Client(error)) if error.is_pause() || day_has_turned(&error) => {
            let left = run.stop_with(answered)?;
            note_stop(&mut summary, &error, left, client, context)?;
        }
        Err(error @ (PipelineError::LaterDay { .. } | PipelineError::NoProgress(_))) => {
            // Its archived answers would end it again.
            give_up(lake, run.record)?;
            return Err(error);
        }
        other => other?,
    }
    off_async_threads(|| publish(run, landing, reference.as_ref(), summary, started))
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
    let (plan, plan_basis) = plan_limits(caps, state.plan, &pipeline.spec.plan);
    // They are listed again when the run ends.
    record.files.clear();
    dir.begin(&record)?;
    Ok(Run {
        pipeline,
        context,
        lock,
        client,
        from: first_day(pipeline.spec.extract.days, record.today, &plan),
        record,
        dir,
        state,
        plan,
        counts: Vec::new(),
        progress: progress.clone(),
        plan_basis,
        register: RegisterProgress::default(),
        enrich: None,
    })
}

/// Notes why a run stopped early, and when it can resume. `left` is the number of requests that it still needs, where that is known.
fn note_stop(
    summary: &mut RunSummary,
    error: &ClientError,
    left: Option<u64>,
    client: &Client,
    context: &RunContext,
) -> Result<()> {
    let now = (context.now)();
    let bound_met = client.budget().bounds.max_requests.is_some_and(|most| client.budget().sent() >= most);
    let days_until = |at: Timestamp| span_days(eastern_day(now), eastern_day(at)).saturating_sub(1);
    let idle_days = error.run_again_after().map_or(0, days_until).max(u32::from(bound_met));
    let budget = SpendableBudget { idle_days, ..SpendableBudget::of(client)? };
    summary.stopped = Some(error.to_string());
    summary.go_on_after = error.run_again_after();
    summary.complete_on = left.and_then(|left| complete_on(left, context.today, &budget));
    Ok(())
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
