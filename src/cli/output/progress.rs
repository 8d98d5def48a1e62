//! Logs and progress on stderr: one line that moves on a terminal, plain lines elsewhere.

use super::run_log::RunLog;
use crate::cli::args::{Common, LogFormat};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt};

/// Counts answers and shows them while a run goes on.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar on a terminal; nothing elsewhere, or when it is not wanted.
    pub(crate) fn new(common: &Common) -> Self {
        let wanted = std::io::stderr().is_terminal() && !common.no_progress && !common.quiet;
        let bar = if wanted { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise} {pos} answers, {msg}") {
            bar.set_style(style);
        }
        if wanted {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar }
    }

    /// Notes an answer.
    pub(crate) fn tell(&self, stage: &'static str) {
        self.bar.inc(1);
        self.bar.set_message(stage);
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Sets up the log on stderr. `RUST_LOG` is not read: what a log shows must not depend on a variable for other programs.
///
/// What a run's own log shows depends on neither.
pub(crate) fn start_log(common: &Common) -> RunLog {
    let level = match (common.quiet, common.verbose) {
        (true, _) => "error",
        (_, 0) => "sunlake=warn,error",
        (_, 1) => "sunlake=info,warn",
        _ => "sunlake=debug,info",
    };
    let shown = || EnvFilter::new(level);
    let log = RunLog::default();
    // What the embedded API answers stands in the raw pages, request by request.
    let kept = EnvFilter::new("sunlake=info,sunlake::serve=warn,warn");
    let kept = fmt::layer().json().with_writer(log.clone()).with_filter(kept);
    let registry = tracing_subscriber::registry().with(kept);
    // The layer makes log lines and the moving line share stderr.
    let started = match common.log_format {
        LogFormat::Text => {
            let indicatif = tracing_indicatif::IndicatifLayer::new();
            let writer = indicatif.get_stderr_writer();
            let ansi = std::io::stderr().is_terminal();
            let text = fmt::layer().with_ansi(ansi).with_target(false).with_writer(writer);
            registry.with(text.with_filter(shown())).with(indicatif.with_filter(shown())).try_init()
        }
        LogFormat::Json => {
            let indicatif = tracing_indicatif::IndicatifLayer::new();
            let writer = indicatif.get_stderr_writer();
            let lines = fmt::layer().json().with_writer(writer);
            registry.with(lines.with_filter(shown())).with(indicatif.with_filter(shown())).try_init()
        }
    };
    if let Err(error) = started {
        // A second log in one process, as in tests: the first goes on.
        tracing::debug!(%error, "the log was set up before");
    }
    log
}
