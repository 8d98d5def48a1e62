//! `run` and `plan`: the source found, signals heard, the result told.

use crate::cli::args::Common;
use crate::cli::context::api_access::Access;
use crate::cli::context::embedded_api::EmbeddedApi;
use crate::cli::context::open_lake::open_lake;
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::progress::Progress;
use crate::cli::output::run_log::RunLog;
use crate::cli::output::text;
use crate::cli::{World, print_line};
use crate::client::StopSwitch;
use crate::lake::Lake;
use crate::pipeline::config::file::Pipeline;
use crate::pipeline::plan::estimate;
use crate::pipeline::publish::summary::{Requests, RunSummary};
use crate::pipeline::{PipelineError, RunContext};
use jiff::civil::Date;
use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;
use tokio::signal::unix::{SignalKind, signal};

/// What a run told of itself, for the case that it fails.
struct Heard<'l> {
    log: &'l RunLog,
    run_id: RefCell<String>,
    requests: RefCell<Requests>,
}

impl<'l> Heard<'l> {
    fn new(log: &'l RunLog) -> Self {
        Self { log, run_id: RefCell::default(), requests: RefCell::default() }
    }

    fn begin(&self, folder: &Path) {
        self.log.begin(folder);
        self.run_id.replace(folder.file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned());
    }
}

pub(crate) async fn run(
    common: &Common,
    world: &World,
    today: Date,
    file: &Path,
    log: &RunLog,
) -> Result<u8, CommandError> {
    let (started, heard) = (Instant::now(), Heard::new(log));
    match published(common, world, today, file, &heard).await {
        Ok((summary, lake)) => {
            let text = if common.json { text::json(&summary)? } else { text::run(&summary, lake.root()) };
            print_line(&text)?;
            Ok(summary.exit_code)
        }
        Err(error) => {
            tracing::info!(exit_code = error.code(), "the run failed: {error}");
            let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
            let summary = RunSummary {
                run_id: heard.run_id.take(),
                exit_code: error.code(),
                requests: heard.requests.take(),
                stopped: Some(error.to_string()),
                elapsed_secs: started.elapsed().as_secs_f64(),
                peak_rss_bytes: (world.peak_rss_bytes)(),
                ..RunSummary::empty(name, today)
            };
            Err(CommandError::Run { summary: Box::new(summary), source: Box::new(error) })
        }
    }
}

async fn published(
    common: &Common,
    world: &World,
    today: Date,
    file: &Path,
    heard: &Heard<'_>,
) -> Result<(RunSummary, Lake), CommandError> {
    let pipeline = Pipeline::read(file).map_err(PipelineError::from)?;
    let lake = open_lake(common, world)?;
    let mut summary = with_context(common, world, today, &pipeline, &lake, heard, async |context| {
        Ok(crate::pipeline::run(&pipeline, context).await?)
    })
    .await?;
    tracing::info!(
        outcome = summary.outcome.name(),
        snapshot = summary.snapshot,
        requests = summary.requests.sent,
        stopped = summary.stopped,
        "the run ends"
    );
    summary.peak_rss_bytes = (world.peak_rss_bytes)();
    Ok((summary, lake))
}

pub(crate) async fn plan(
    common: &Common,
    world: &World,
    today: Date,
    file: &Path,
) -> Result<u8, CommandError> {
    let pipeline = Pipeline::read(file).map_err(PipelineError::from)?;
    let log = RunLog::default();
    let lake = open_lake(common, world)?;
    let heard = Heard::new(&log);
    let price = with_context(common, world, today, &pipeline, &lake, &heard, async |context| {
        Ok(estimate::price(&pipeline, context).await?)
    })
    .await?;
    print_line(&if common.json { text::json(&price)? } else { text::price(&price) })?;
    Ok(exit::DONE)
}

/// Finds the source, starting the embedded API where the pipeline asks for it, and hears signals while `work` runs.
async fn with_context<T>(
    common: &Common,
    world: &World,
    today: Date,
    pipeline: &Pipeline,
    lake: &Lake,
    heard: &Heard<'_>,
    work: impl AsyncFnOnce(&RunContext<'_>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let spec = &pipeline.spec.source;
    let embedded = match spec.embedded && common.base_url.is_none() {
        true => Some(EmbeddedApi::start(spec.sample.clone(), today, world.now).await?),
        false => None,
    };
    let (source, access) = match &embedded {
        Some(api) => (api.source.clone(), None),
        None => {
            let access = Access::of_run(common, world, pipeline)?;
            (access.source(spec.allow_plain_http), Some(access))
        }
    };
    let (switch, stop) = StopSwitch::new();
    listen_for_signals(switch)?;
    let progress = Progress::new(common);
    let tell = |stage: &'static str, _sent: u64| progress.tell(stage);
    let begin = |folder: &Path| heard.begin(folder);
    let spent = |requests: &Requests| drop(heard.requests.replace(requests.clone()));
    let context = RunContext {
        lake: lake.clone(),
        state_dir: match &embedded {
            // Its account lives as long as it does.
            Some(api) => api.state_dir(),
            None => crate::cli::state_dir(common, world, lake),
        },
        today,
        now: world.now,
        source,
        stop,
        holder: (world.holder)(),
        begin: &begin,
        tell: &tell,
        spent: &spent,
    };
    let result = work(&context).await.map_err(|error| told(error, pipeline, access.as_ref()));
    progress.finish();
    if let Some(api) = embedded {
        api.stop().await?;
    }
    result
}

/// The first signal stops the asking; the second stops the process, which loses nothing that was committed.
fn listen_for_signals(switch: StopSwitch) -> Result<(), CommandError> {
    let unheard = |source| CommandError::Io { what: "cannot listen for signals".to_owned(), source };
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    tokio::spawn(async move {
        for heard in 0.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if heard > 0 {
                std::process::exit(i32::from(exit::RUN_AGAIN));
            }
            tracing::warn!("stopping in good order; a second signal stops at once");
            switch.stop();
        }
    });
    Ok(())
}

/// An error with what the command line knows of it: files, address, key.
fn told(error: CommandError, pipeline: &Pipeline, access: Option<&Access>) -> CommandError {
    match (error, access) {
        (CommandError::Pipeline(PipelineError::Client(error)), Some(access)) => access.told(error),
        (CommandError::Pipeline(error), _) => pipeline.with_file(error).into(),
        (other, _) => other,
    }
}
