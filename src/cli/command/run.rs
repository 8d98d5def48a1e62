//! `run` and `plan`: selects the source, stops on a signal, and reports the result.

use super::first_run::{confirm, needs_confirmation};
use super::run_text;
use crate::cli::context::api_access::Access;
use crate::cli::context::embedded_api::EmbeddedApi;
use crate::cli::context::open_lake::{open_lake, state_dir};
use crate::cli::context::pipeline_file::{read_pipeline, reads_sample};
use crate::cli::exit::{self, CommandError};
use crate::cli::output::error_text::with_causes;
use crate::cli::output::log::Log;
use crate::cli::output::metrics_file;
use crate::cli::session::{Session, Signals};
use crate::client::{Ledger, StopSwitch};
use crate::contract::account::Remaining;
use crate::lake::{CLOUD_VARIABLES, Lake};
use crate::pipeline::config::file::Pipeline;
use crate::pipeline::config::spec::ImportSpec;
use crate::pipeline::plan::estimate::{self, Price};
use crate::pipeline::publish::report::report_of;
use crate::pipeline::publish::summary::{Requests, RunSummary};
use crate::pipeline::state::SourceKind;
use crate::pipeline::{ApiContext, Event, Events, PipelineError, RunContext, import};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Facts about a run in case it fails: the run itself returns none then.
#[derive(Default)]
struct Facts {
    run_id: String,
    requests: Requests,
    left: Option<Remaining>,
}

#[derive(Clone, Default)]
pub(super) struct RunProbe(Arc<Mutex<Facts>>);

impl RunProbe {
    fn note<T>(&self, act: impl FnOnce(&mut Facts) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(crate) async fn run(
    session: &Session<'_>,
    named: Option<&Path>,
    yes: bool,
    metrics_file: Option<&Path>,
    log: &Log,
) -> Result<u8, CommandError> {
    metrics_file.map_or(Ok(()), metrics_file::check)?;
    let (started, probe) = (Instant::now(), RunProbe::default());
    let failed = |name: &str, error: CommandError| {
        let text = with_causes(&error);
        tracing::info!(exit_code = error.code(), "the run failed: {text}");
        let (run_id, requests) = probe.note(|facts| (facts.run_id.clone(), facts.requests.clone()));
        let summary = RunSummary {
            run_id,
            exit_code: error.code(),
            requests,
            stopped: Some(text),
            elapsed_secs: started.elapsed().as_secs_f64(),
            peak_rss_bytes: (session.world.peak_rss_bytes)(),
            ..RunSummary::empty(name, session.today)
        };
        write_metrics(session, metrics_file, &summary, &probe);
        CommandError::Run(Box::new(error), Box::new(summary))
    };
    let given = named.and_then(Path::file_stem).and_then(|stem| stem.to_str()).unwrap_or("");
    let pipeline = &read_pipeline(session, named).map_err(|error| failed(given, error))?;
    let (summary, lake) = published(session, pipeline, yes, log, &probe)
        .await
        .map_err(|error| failed(&pipeline.spec.name, error))?;
    write_metrics(session, metrics_file, &summary, &probe);
    let place = run_text::Place {
        report: report_of(&lake),
        again: &session.command_line("run", Some(named.unwrap_or(Path::new(&pipeline.spec.name)))),
        is_invented: reads_sample(session, pipeline)?,
        lake_flag: &session.lake_flag(),
    };
    session.report(&summary, || run_text::run(&summary, &place))?;
    Ok(summary.exit_code)
}

/// Writes the metrics file. A failure does not change the run's exit code: the timestamp in the old file shows it.
fn write_metrics(session: &Session<'_>, file: Option<&Path>, summary: &RunSummary, probe: &RunProbe) {
    let Some(file) = file else { return };
    if let Err(error) =
        metrics_file::write(file, summary, probe.note(|facts| facts.left.take()), session.now())
    {
        tracing::error!("the metrics file {} was not written: {error}", file.display());
    }
}

pub(super) async fn published(
    session: &Session<'_>,
    pipeline: &Pipeline,
    yes: bool,
    log: &Log,
    probe: &RunProbe,
) -> Result<(RunSummary, Lake), CommandError> {
    let lake = open_lake(session)?;
    if let Some(spec) = &pipeline.spec.import {
        return imported(session, pipeline, spec, lake, log, probe);
    }
    if !yes && needs_confirmation(session, pipeline, &lake)? {
        let price = price(session, pipeline, &lake, log).await?;
        confirm(&run_text::price(&price), &lake)?;
    }
    let mut summary = with_source(session, pipeline, &lake, log, probe, async |context, api| {
        Ok(crate::pipeline::run(pipeline, context, api).await?)
    })
    .await?;
    tracing::info!(
        outcome = summary.outcome.name(),
        snapshot = summary.snapshot,
        requests = summary.requests.sent,
        stopped = summary.stopped,
        "the run ends"
    );
    summary.peak_rss_bytes = (session.world.peak_rss_bytes)();
    Ok((summary, lake))
}

/// Imports the state's files. There is no account, no request and nothing to ask.
fn imported(
    session: &Session<'_>,
    pipeline: &Pipeline,
    spec: &ImportSpec,
    lake: Lake,
    log: &Log,
    probe: &RunProbe,
) -> Result<(RunSummary, Lake), CommandError> {
    let lines = log.bar.start();
    let context = context(session, &lake, SourceKind::State, log, probe)?;
    let variables = (session.world.variables)(&CLOUD_VARIABLES);
    end_on_a_signal()?;
    let imported = tokio::task::block_in_place(|| import(pipeline, spec, &context, &variables));
    drop(lines);
    log.bar.finish();
    let mut summary = imported.map_err(|error| pipeline.with_file(error))?;
    summary.peak_rss_bytes = (session.world.peak_rss_bytes)();
    Ok((summary, lake))
}

pub(crate) async fn plan(session: &Session<'_>, named: Option<&Path>, log: &Log) -> Result<u8, CommandError> {
    let pipeline = read_pipeline(session, named)?;
    if pipeline.spec.import.is_some() {
        let error =
            CommandError::Usage(format!("{} sends no requests: it imports files", pipeline.spec.name));
        return Err(error.with_hint(format!("run it: `sunlake run {}`", pipeline.spec.name)));
    }
    let lake = open_lake(session)?;
    let price = price(session, &pipeline, &lake, log).await?;
    session.report(&price, || run_text::price(&price))
}

async fn price(
    session: &Session<'_>,
    pipeline: &Pipeline,
    lake: &Lake,
    log: &Log,
) -> Result<Price, CommandError> {
    with_source(session, pipeline, lake, log, &RunProbe::default(), async |context, api| {
        Ok(estimate::price(pipeline, context, api).await?)
    })
    .await
}

/// Runs `work` with the source of the pipeline, and stops it on a signal. Starts the embedded API if the pipeline reads it.
async fn with_source<T>(
    session: &Session<'_>,
    pipeline: &Pipeline,
    lake: &Lake,
    log: &Log,
    probe: &RunProbe,
    work: impl AsyncFnOnce(&RunContext, &ApiContext) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let spec = &pipeline.spec.source;
    let embedded = if reads_sample(session, pipeline)? {
        Some(EmbeddedApi::start(spec.sample.clone(), session.today, session.world.now).await?)
    } else {
        None
    };
    let (kind, source, access) = match &embedded {
        Some(api) => (SourceKind::Embedded, api.source.clone(), None),
        None => {
            let access = Access::of_run(session, pipeline)?;
            (SourceKind::Account, access.source(spec.allow_plain_http), Some(access))
        }
    };
    let (switch, stop) = StopSwitch::new();
    stop_on_signals(switch)?;
    let lines = log.bar.start();
    let api = ApiContext {
        state_dir: match &embedded {
            Some(api) => api.state_dir(),
            None => state_dir(session, lake),
        },
        source,
        stop,
    };
    let context = context(session, lake, kind, log, probe)?;
    let result = work(&context, &api).await.map_err(|error| with_context(error, pipeline, access.as_ref()));
    drop(lines);
    log.bar.finish();
    if access.is_some() {
        let ledger = Ledger::of(&api.state_dir, &api.source.base_url, &api.source.key);
        probe.note(|facts| facts.left = ledger.left(session.now()));
    }
    if let Some(api) = embedded {
        api.stop().await?;
    }
    result
}

fn context(
    session: &Session<'_>,
    lake: &Lake,
    source: SourceKind,
    log: &Log,
    probe: &RunProbe,
) -> Result<RunContext, CommandError> {
    Ok(RunContext {
        lake: lake.clone(),
        today: session.today,
        now: session.world.now,
        source,
        token: session.token()?,
        holder: (session.world.holder)(),
        events: events(log, probe),
    })
}

/// Notes what a run reports in the probe, and shows it.
fn events(log: &Log, probe: &RunProbe) -> Events {
    let (run, bar, probe) = (log.run.clone(), log.bar.clone(), probe.clone());
    Events::new(move |event| {
        match &event {
            Event::Begun(folder) => {
                run.begin(folder);
                let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("");
                probe.note(|facts| facts.run_id = name.to_owned());
            }
            Event::Spent(requests) => probe.note(|facts| facts.requests = (*requests).clone()),
            _ => {}
        }
        bar.show(&event);
    })
}

/// The first signal stops the requests; the second ends the process, which loses nothing that was committed.
fn stop_on_signals(switch: StopSwitch) -> Result<(), CommandError> {
    let mut signals = Signals::listen()?;
    tokio::spawn(async move {
        signals.next().await;
        tracing::warn!("stopping; a second signal ends the process at once");
        switch.stop();
        signals.next().await;
        std::process::exit(i32::from(exit::RUN_AGAIN));
    });
    Ok(())
}

/// A signal ends an import at once. It has no pages to keep: the next one begins anew, and what was committed stays.
fn end_on_a_signal() -> Result<(), CommandError> {
    let mut signals = Signals::listen()?;
    tokio::spawn(async move {
        signals.next().await;
        tracing::warn!("stopped by a signal; run it again");
        std::process::exit(i32::from(exit::RUN_AGAIN));
    });
    Ok(())
}

/// An error with the file, the address or the key that it is about.
fn with_context(error: CommandError, pipeline: &Pipeline, access: Option<&Access>) -> CommandError {
    match (error, access) {
        (CommandError::Pipeline(PipelineError::Client(error)), Some(access)) => access.with_context(error),
        (CommandError::Pipeline(error), _) => pipeline.with_file(error).into(),
        (other, _) => other,
    }
}
