//! `run` and `plan`: selects the source, stops on a signal, and reports the result.

use super::ask::query::hint_at_condition;
use super::first_run::{confirm, needs_confirmation};
use super::run_text;
use crate::cli::context::api_access::Access;
use crate::cli::context::embedded_api::EmbeddedApi;
use crate::cli::context::open_lake::{open_lake, state_dir};
use crate::cli::context::pipeline_file::{read_pipeline, reads_sample};
use crate::cli::exit::{self, CommandError};
use crate::cli::output::error_text::with_causes;
use crate::cli::output::metrics_file;
use crate::cli::output::words::lines;
use crate::cli::session::{Session, Signals};
use crate::client::{Ledger, Stop, StopSwitch};
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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Facts about a run in case it fails: the run itself returns none then.
#[derive(Default)]
struct Facts {
    run_id: String,
    requests: Requests,
    left: Option<Remaining>,
}

/// A run or an estimate of a pipeline.
pub(super) struct Job<'a> {
    session: &'a Session<'a>,
    pipeline: &'a Pipeline,
    facts: Arc<Mutex<Facts>>,
}

pub(crate) async fn run(
    session: &Session<'_>,
    named: Option<&Path>,
    yes: bool,
    metrics_file: Option<&Path>,
) -> Result<u8, CommandError> {
    metrics_file.map_or(Ok(()), metrics_file::check)?;
    let (started, facts) = (Instant::now(), Arc::<Mutex<Facts>>::default());
    let failed = |name: &str, error: CommandError| {
        let text = with_causes(&error);
        tracing::info!(exit_code = error.code(), "the run failed: {text}");
        let Facts { run_id, requests, left } = std::mem::take(&mut *locked(&facts));
        let summary = RunSummary {
            run_id,
            pipeline: name.to_owned(),
            today: session.today,
            exit_code: error.code(),
            requests,
            stopped: Some(text),
            elapsed_secs: started.elapsed().as_secs_f64(),
            peak_rss_bytes: (session.world.peak_rss_bytes)(),
            ..RunSummary::default()
        };
        write_metrics(session, metrics_file, &summary, left);
        CommandError::Run(Box::new(error), Box::new(summary))
    };
    let given = named.and_then(Path::file_stem).and_then(|stem| stem.to_str()).unwrap_or("");
    let pipeline = &read_pipeline(session, named).map_err(|error| failed(given, error))?;
    let job = Job { session, pipeline, facts: facts.clone() };
    let (summary, lake) = job.published(yes).await.map_err(|error| failed(&pipeline.spec.name, error))?;
    write_metrics(session, metrics_file, &summary, locked(&facts).left.take());
    let place = run_text::Place {
        report: report_of(&lake),
        again: &session.run_command(named.unwrap_or(Path::new(&pipeline.spec.name)), summary.today),
        is_invented: reads_sample(session, pipeline)?,
        lake_flag: &session.lake_flag(),
    };
    session.report(&summary, |text| run_text::run(text, &summary, &place))?;
    hint_at_look_ups(session, pipeline);
    Ok(summary.exit_code)
}

/// Writes the metrics file. A failure does not change the run's exit code: the timestamp in the old file shows it.
fn write_metrics(session: &Session<'_>, file: Option<&Path>, summary: &RunSummary, left: Option<Remaining>) {
    let Some(file) = file else { return };
    if let Err(error) = metrics_file::write(file, summary, left, session.now()) {
        tracing::error!("the metrics file {} was not written: {error}", file.display());
    }
}

pub(crate) async fn plan(session: &Session<'_>, named: Option<&Path>) -> Result<u8, CommandError> {
    let pipeline = read_pipeline(session, named)?;
    if pipeline.spec.import.is_some() {
        let error =
            CommandError::Usage(format!("{} sends no requests: it imports files", pipeline.spec.name));
        return Err(error.with_hint(format!("run it: `sunlake run {}`", pipeline.spec.name)));
    }
    let lake = open_lake(session)?;
    let price = Job::new(session, &pipeline).price(&lake, &stop_of_requests()?).await?;
    session.report(&price, |text| run_text::price(text, &price))?;
    hint_at_look_ups(session, &pipeline);
    Ok(exit::DONE)
}

/// Says what the condition of look-ups may have meant by a text that no row has.
fn hint_at_look_ups(session: &Session<'_>, pipeline: &Pipeline) {
    let condition = pipeline.spec.enrich.as_ref().and_then(|enrich| enrich.condition.as_deref());
    if let Some(condition) = condition {
        hint_at_condition(session, condition, None);
    }
}

impl<'a> Job<'a> {
    pub(super) fn new(session: &'a Session<'a>, pipeline: &'a Pipeline) -> Self {
        Self { session, pipeline, facts: Arc::default() }
    }

    pub(super) async fn published(&self, yes: bool) -> Result<(RunSummary, Lake), CommandError> {
        let lake = open_lake(self.session)?;
        let mut summary = match &self.pipeline.spec.import {
            Some(spec) => self.imported(spec, &lake)?,
            None => self.read(&lake, yes).await?,
        };
        summary.peak_rss_bytes = (self.session.world.peak_rss_bytes)();
        Ok((summary, lake))
    }

    /// Reads the API.
    async fn read(&self, lake: &Lake, yes: bool) -> Result<RunSummary, CommandError> {
        let stop = stop_of_requests()?;
        if !yes && needs_confirmation(self.session, self.pipeline, lake)? {
            let price = self.price(lake, &stop).await?;
            confirm(&lines(|text| run_text::price(text, &price)), lake, &stop).await?;
        }
        let summary = self
            .with_source(lake, &stop, async |context, api| {
                Ok(crate::pipeline::run(self.pipeline, context, api).await?)
            })
            .await?;
        tracing::info!(
            outcome = summary.outcome.name(),
            snapshot = summary.snapshot,
            requests = summary.requests.sent,
            stopped = summary.stopped,
            "the run ends"
        );
        Ok(summary)
    }

    /// Imports the state's files. There is no account, no request and nothing to ask.
    fn imported(&self, spec: &ImportSpec, lake: &Lake) -> Result<RunSummary, CommandError> {
        let Session { world, log, .. } = *self.session;
        let shown = log.bar.start();
        let context = self.context(lake, SourceKind::State)?;
        let variables = (world.variables)(&CLOUD_VARIABLES);
        stop_on_signals(None)?;
        let imported = tokio::task::block_in_place(|| import(self.pipeline, spec, &context, &variables));
        drop(shown);
        Ok(imported.map_err(|error| self.pipeline.with_file(error))?)
    }

    async fn price(&self, lake: &Lake, stop: &Stop) -> Result<Price, CommandError> {
        self.with_source(lake, stop, async |context, api| {
            Ok(estimate::price(self.pipeline, context, api).await?)
        })
        .await
    }

    /// Runs `work` with the source of the pipeline, which `stop` ends. Starts the embedded API if the pipeline reads it.
    async fn with_source<T>(
        &self,
        lake: &Lake,
        stop: &Stop,
        work: impl AsyncFnOnce(&RunContext, &ApiContext) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let Session { world, log, today, .. } = *self.session;
        let spec = &self.pipeline.spec.source;
        let embedded = if reads_sample(self.session, self.pipeline)? {
            Some(EmbeddedApi::start(spec.sample.clone(), today, world.now).await?)
        } else {
            None
        };
        let (kind, source, state_dir, access) = match &embedded {
            Some(api) => (SourceKind::Embedded, api.source.clone(), api.state_dir(), None),
            None => {
                let access = Access::of_run(self.session, self.pipeline)?;
                let source = access.source(spec.allow_plain_http);
                (SourceKind::Account, source, state_dir(self.session, lake), Some(access))
            }
        };
        let shown = log.bar.start();
        let context = self.context(lake, kind)?;
        let api = ApiContext { state_dir, source, stop: stop.clone() };
        let result = work(&context, &api).await.map_err(|error| self.with_context(error, access.as_ref()));
        drop(shown);
        if access.is_some() {
            let ledger = Ledger::of(&api.state_dir, &api.source.base_url, &api.source.key);
            locked(&self.facts).left = ledger.left((world.now)());
        }
        if let Some(api) = embedded {
            api.stop().await?;
        }
        result
    }

    fn context(&self, lake: &Lake, source: SourceKind) -> Result<RunContext, CommandError> {
        Ok(RunContext {
            lake: lake.clone(),
            today: self.session.today,
            now: self.session.world.now,
            source,
            token: self.session.token()?,
            holder: (self.session.world.holder)(),
            events: self.events(),
        })
    }

    /// Notes what a run reports, and shows it.
    fn events(&self) -> Events {
        let log = self.session.log;
        let (run, bar, facts) = (log.run.clone(), log.bar.clone(), self.facts.clone());
        Events::new(move |event| {
            match &event {
                Event::Begun(folder) => {
                    run.begin(folder);
                    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("");
                    locked(&facts).run_id = name.to_owned();
                }
                Event::Spent(requests) => locked(&facts).requests = (*requests).clone(),
                _ => {}
            }
            bar.show(&event);
        })
    }

    /// An error with the file, the address or the key that it is about.
    fn with_context(&self, error: CommandError, access: Option<&Access>) -> CommandError {
        match (error, access) {
            (CommandError::Pipeline(PipelineError::Client(error)), Some(access)) => {
                access.with_context(error)
            }
            (CommandError::Pipeline(error), _) => self.pipeline.with_file(error).into(),
            (other, _) => other,
        }
    }
}

fn locked(facts: &Mutex<Facts>) -> MutexGuard<'_, Facts> {
    facts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stop of all requests of a command, from its estimate to its run: a signal sets it.
fn stop_of_requests() -> Result<Stop, CommandError> {
    let (switch, stop) = StopSwitch::new();
    stop_on_signals(Some(switch))?;
    Ok(stop)
}

/// The first signal stops the requests; the next ends the process, which loses nothing that was committed. An import has no requests and no
/// pages to keep: its first signal ends it, and the next import begins anew.
fn stop_on_signals(requests: Option<StopSwitch>) -> Result<(), CommandError> {
    let mut signals = Signals::listen()?;
    tokio::spawn(async move {
        signals.next().await;
        match &requests {
            None => tracing::warn!("stopped by a signal; run it again"),
            Some(switch) => {
                tracing::warn!("stopping; a second signal ends the process at once");
                switch.stop();
                signals.next().await;
            }
        }
        std::process::exit(i32::from(exit::RUN_AGAIN));
    });
    Ok(())
}
