//! The progress bar: one line on a terminal that is redrawn in place. Log lines are written above it.

use crate::cli::args::Common;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// The bar of a process; hidden until a run starts it.
#[derive(Debug, Clone)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Shows the bar if stderr is a terminal and no flag turns it off.
    pub(crate) fn start(&self, common: &Common) {
        if std::io::stderr().is_terminal() && !common.no_progress && !common.quiet {
            self.show_on(ProgressDrawTarget::stderr());
            self.0.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn show_on(&self, target: ProgressDrawTarget) {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise} {pos} answers, {msg}") {
            self.0.set_style(style);
        }
        self.0.reset_elapsed();
        self.0.set_draw_target(target);
    }

    /// Counts an answer.
    pub(crate) fn count(&self, stage: &'static str) {
        self.0.set_message(stage);
        self.0.inc(1);
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// A writer of log lines that clears the bar while it writes.
#[derive(Debug, Clone)]
pub(crate) struct LinesAbove<W> {
    pub(crate) bar: Progress,
    pub(crate) writer: fn() -> W,
}

impl<W: Write> Write for LinesAbove<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.bar.0.suspend(|| (self.writer)().write_all(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        (self.writer)().flush()
    }
}

impl<W: Write> MakeWriter<'_> for LinesAbove<W> {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        Self { bar: self.bar.clone(), writer: self.writer }
    }
}
