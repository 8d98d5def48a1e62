//! The log: lines on stderr by level, and the log file of a run.

use super::progress::{LinesAbove, Progress};
use super::run_log::RunLog;
use crate::cli::args::{Common, LogFormat};
use std::io::IsTerminal;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// The log file of a run, and the bar that log lines are written above.
pub(crate) struct Log {
    pub(crate) run: RunLog,
    pub(crate) bar: Progress,
}

/// Starts the log on stderr. `RUST_LOG` is not read, because other programs use it.
pub(crate) fn start_log(common: &Common) -> Log {
    let log = Log { run: RunLog::default(), bar: Progress::hidden() };
    let (own, others) = match (common.quiet, common.verbose) {
        (true, _) => (LevelFilter::ERROR, LevelFilter::ERROR),
        (_, 0) => (LevelFilter::WARN, LevelFilter::ERROR),
        (_, 1) => (LevelFilter::INFO, LevelFilter::WARN),
        _ => (LevelFilter::DEBUG, LevelFilter::INFO),
    };
    let shown = Targets::new().with_default(others).with_target("sunlake", own);
    let of_run = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("sunlake", LevelFilter::INFO)
        // The answers of the embedded API are in the raw pages.
        .with_target("sunlake::serve", LevelFilter::WARN);
    let bar = log.bar.clone();
    let stderr = move || LinesAbove { bar: bar.clone(), writer: std::io::stderr };
    let to_stderr = match common.log_format {
        LogFormat::Text => {
            let ansi = std::io::stderr().is_terminal();
            fmt::layer().with_ansi(ansi).with_target(false).with_writer(stderr).with_filter(shown).boxed()
        }
        LogFormat::Json => fmt::layer().json().with_writer(stderr).with_filter(shown).boxed(),
    };
    let run = log.run.clone();
    let to_run = fmt::layer().json().with_writer(move || run.clone()).with_filter(of_run);
    if let Err(error) = tracing_subscriber::registry().with(to_stderr).with(to_run).try_init() {
        // Tests start several commands in one process; the first log stays.
        tracing::debug!(%error, "the log was set up before");
    }
    log
}
