//! The progress of a run: a bar on a terminal, otherwise a log line a minute. Log lines are written above the bar.

use super::plain_line::PlainLine;
use super::progress_line::{Shown, done_words, pause_words};
use super::terminal::{ProgressForm, Terminal};
use crate::client::Pause;
use crate::pipeline::{Done, Event};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// Log lines of progress have these targets, so that they are shown although they are no warnings: as fields, and as words.
pub(super) const PROGRESS: &str = "sunlake::progress";
pub(super) const PROGRESS_WORDS: &str = "sunlake::progress_words";
/// Log lines of finished parts, which a terminal shows without the log.
pub(super) const DONE: &str = "sunlake::done";

/// Time between two log lines of progress.
const A_MINUTE: Duration = Duration::from_secs(60);

/// The bar of a process; hidden until a run starts it.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    bar: ProgressBar,
    terminal: Terminal,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    shown: Shown,
    /// When the newest reading came.
    read_at: Option<Instant>,
    pause: Option<(Pause, Instant)>,
}

impl Progress {
    pub(crate) fn hidden(terminal: Terminal) -> Self {
        Self { bar: ProgressBar::hidden(), terminal, state: Arc::default() }
    }

    /// Shows progress in the form that the terminal allows, until the result is dropped.
    pub(crate) fn start(&self) -> Showing {
        let lines = match self.terminal.progress {
            ProgressForm::Bar => {
                let width = || usize::from(console::Term::stderr().size().1);
                let target = if self.terminal.has_colour {
                    ProgressDrawTarget::stderr()
                } else {
                    ProgressDrawTarget::term_like(Box::new(PlainLine(console::Term::stderr())))
                };
                self.show_on(target, width);
                self.bar.enable_steady_tick(Duration::from_millis(200));
                None
            }
            ProgressForm::Lines => Some(self.lines()),
            ProgressForm::Plain | ProgressForm::Hidden => None,
        };
        Showing { bar: self.clone(), lines }
    }

    fn show_on(&self, target: ProgressDrawTarget, width: fn() -> usize) {
        let state = self.state.clone();
        let line = move |_: &ProgressState, out: &mut dyn fmt::Write| {
            // The spinner and a space are before it; a line that fills the terminal would wrap.
            let line = now(&state).line(width().saturating_sub(3));
            // Writing to a String cannot fail.
            let _ = out.write_str(&line);
        };
        let template = if self.terminal.has_colour { "{spinner:.green} {line}" } else { "{spinner} {line}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.with_key("line", line));
        }
        self.bar.reset();
        self.bar.set_draw_target(target);
    }

    /// Log lines of progress.
    fn lines(&self) -> JoinHandle<()> {
        let state = self.state.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(A_MINUTE).await;
                log(&now(&state));
            }
        })
    }

    /// Takes in an event of the run.
    pub(crate) fn show(&self, event: &Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Begun(_) => *state = State::default(),
            Event::Reading(reading) => {
                (state.shown.reading, state.read_at) = (*reading, Some(Instant::now()));
            }
            Event::Pausing(pause) => {
                tracing::debug!("{}", pause_words(*pause));
                state.pause = Some((*pause, Instant::now()));
            }
            Event::Working(work) => state.shown.work = Some(*work),
            Event::Done(done) => {
                // Drawing reads the state.
                drop(state);
                self.say(*done);
            }
            Event::Spent(_) => {}
        }
    }

    /// A line for a finished part.
    fn say(&self, done: Done) {
        let words = done_words(done);
        tracing::info!(target: DONE, "{words}");
        let mark = if self.terminal.has_colour { "\u{1b}[32m✓\u{1b}[0m" } else { "✓" };
        if matches!(self.terminal.progress, ProgressForm::Bar | ProgressForm::Plain) {
            // If stderr is closed, nobody can read the line.
            let _ = self.bar.suspend(|| io::stderr().write_all(format!("{mark} {words}\n").as_bytes()));
        }
    }

    /// Clears the line.
    fn finish(&self) {
        self.bar.finish_and_clear();
        // The next run of the process begins by drawing the old line.
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
    }
}

/// Shown progress, until this is dropped.
pub(crate) struct Showing {
    bar: Progress,
    lines: Option<JoinHandle<()>>,
}

impl Drop for Showing {
    fn drop(&mut self) {
        if let Some(lines) = &self.lines {
            lines.abort();
        }
        self.bar.finish();
    }
}

/// What is shown now: times have passed since the events.
fn now(state: &Mutex<State>) -> Shown {
    let state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut shown = state.shown;
    let left = |length: Duration, since: Instant| length.saturating_sub(since.elapsed());
    shown.pause = state
        .pause
        .map(|(pause, since)| (pause.reason, left(pause.length, since)))
        .filter(|(_, left)| left.as_millis() >= 500);
    if let (Some(time), Some(since)) = (shown.reading.time_left, state.read_at) {
        let paused = shown.pause.map(|(_, left)| left).unwrap_or_default();
        shown.reading.time_left = Some(left(time, since).max(paused));
    }
    shown
}

/// Log lines: the words for people, and the same as fields.
fn log(shown: &Shown) {
    let reading = &shown.reading;
    tracing::info!(
        target: PROGRESS,
        requests = reading.requests,
        planned = reading.planned,
        filings = reading.filings,
        days = reading.days,
        days_wanted = reading.days_wanted,
        waits_secs = shown.pause.map(|(_, left)| left.as_secs()),
        left_today = reading.quota.map(|(today, _)| today),
        left_this_month = reading.quota.map(|(_, month)| month),
        secs_to_go = reading.time_left.map(|left| left.as_secs()),
        "progress"
    );
    tracing::info!(target: PROGRESS_WORDS, "{}", shown.all());
}

/// A writer of log lines that clears the bar while it writes.
pub(crate) struct LinesAbove<W> {
    pub(crate) bar: Progress,
    pub(crate) writer: fn() -> W,
}

impl<W: Write> Write for LinesAbove<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.bar.bar.suspend(|| (self.writer)().write_all(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        (self.writer)().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::PauseReason;
    use crate::pipeline::Reading;
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

    /// Everything that is logged.
    #[derive(Clone, Default)]
    struct Logged(Arc<Mutex<Vec<u8>>>);

    impl Write for Logged {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(text)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_line_has_the_fields_of_the_bar() {
        let logged = Logged::default();
        let writer = logged.clone();
        let lines = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).finish();
        let reading = Reading {
            requests: 340,
            planned: Some(1_704),
            filings: 31_353,
            days: 12,
            days_wanted: 90,
            quota: Some((9_660, 99_660)),
            time_left: Some(Duration::from_secs(1_382)),
        };
        let pause = Some((PauseReason::Minute, Duration::from_secs(31)));
        tracing::subscriber::with_default(lines, || log(&Shown { reading, pause, work: None }));
        let text = logged.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let lines: Vec<serde_json::Value> =
            text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let fields = serde_json::json!({
            "message": "progress", "requests": 340, "planned": 1_704, "filings": 31_353, "days": 12, "days_wanted": 90,
            "waits_secs": 31, "left_today": 9_660, "left_this_month": 99_660, "secs_to_go": 1_382,
        });
        assert_eq!(lines[0]["fields"], fields);
        let words = "340/1,704 requests  31,353 filings  12/90 days  waiting 31 s for the minute's quota  9,660 left today  24 min to go";
        assert_eq!(lines[1]["fields"]["message"], words);
    }

    #[test]
    fn the_bar_is_cleared_before_a_log_line() {
        let terminal = Terminal { has_colour: false, progress: ProgressForm::Bar };
        let bar = Progress::hidden(terminal);
        bar.show_on(ProgressDrawTarget::term_like(Box::new(Screen)), || 80);
        let reading = Reading { requests: 3, ..Reading::default() };
        bar.show(&Event::Reading(reading));
        bar.bar.tick();
        let mut log = LinesAbove { bar: bar.clone(), writer: || Screen };
        log.write_all(b"WARN a log line\n").expect("written");
        bar.finish();
        let screen = SCREEN.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (before, _) = screen.split_once("WARN a log line\n").expect("the log line");
        assert!(before.contains("3 requests"), "{screen:?}");
        assert!(before.trim_end().ends_with("<clear>"), "{screen:?}");
    }
}
