//! The progress bar: one line on a terminal that is redrawn in place. Log lines are written above it.

use crate::cli::args::Common;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

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
        self.0.reset();
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

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::sync::{Mutex, PoisonError};

    /// Everything that bar and log have written, in order.
    static SCREEN: Mutex<String> = Mutex::new(String::new());

    #[derive(Debug)]
    struct Screen;

    fn put(text: &str) -> io::Result<()> {
        SCREEN.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
        Ok(())
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            put(&format!("{text}\n"))
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            put(text)
        }
        fn clear_line(&self) -> io::Result<()> {
            put("<clear>")
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Write for Screen {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            put(&String::from_utf8_lossy(text)).map(|()| text.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_bar_is_cleared_before_a_log_line() {
        let bar = Progress::hidden();
        bar.show_on(ProgressDrawTarget::term_like(Box::new(Screen)));
        bar.count("filings");
        let mut log = LinesAbove { bar: bar.clone(), writer: || Screen };
        log.write_all(b"WARN a log line\n").expect("written");
        bar.finish();
        let screen = SCREEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (before, _) = screen.split_once("WARN a log line\n").expect("the log line");
        assert!(before.contains("answers, filings"), "{screen:?}");
        assert!(before.trim_end().ends_with("<clear>"), "{screen:?}");
    }
}
