//! The log: lines on stderr by level, and the log file of a run: JSON lines of bounded size, in the run's folder.

use super::lossy_lines::LossyLines;
use super::progress::{DONE, LinesAbove, PROGRESS, PROGRESS_WORDS, Progress};
use super::terminal::{ProgressForm, Terminal};
use crate::cli::args::{Common, LogFormat};
use crate::contract::escape::escaped;
use prometheus_client::metrics::counter::Counter;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

/// The log file of a run, and the bar that log lines are written above.
pub(crate) struct Log {
    pub(crate) run: RunLog,
    pub(crate) bar: Progress,
    /// Lines on stderr that were dropped because nobody read them.
    pub(crate) dropped: Counter,
    /// The lines of a server.
    lossy: Option<LossyLines>,
}

impl Log {
    /// Writes the last text, after all lines before it; what steers a terminal is written out. A server whose stderr nobody reads ends
    /// without it.
    pub(crate) fn finish(&self, last: &str) {
        let last = escaped(last, &['\n', '\t']);
        // If stderr is closed, the exit code is all that is left.
        let _ = match &self.lossy {
            Some(lines) => lines.finish(&last),
            None => io::stderr().lock().write_all(last.as_bytes()),
        };
    }

    /// The writer of lines on stderr. A server drops lines rather than wait for their reader.
    fn stderr(&self) -> BoxMakeWriter {
        match self.lossy.clone() {
            Some(lines) => BoxMakeWriter::new(move || lines.clone()),
            None => {
                let bar = self.bar.clone();
                BoxMakeWriter::new(move || LinesAbove { bar: bar.clone(), writer: io::stderr })
            }
        }
    }
}

/// Starts the log on stderr. `RUST_LOG` is not read, because other programs use it.
pub(crate) fn start_log(common: &Common, terminal: Terminal, is_server: bool) -> Log {
    let dropped = Counter::default();
    let lossy = is_server.then(|| LossyLines::new(io::stderr(), dropped.clone()));
    let log = Log { run: RunLog::default(), bar: Progress::hidden(terminal), dropped, lossy };
    let own = match (common.quiet, common.verbose) {
        (true, _) => LevelFilter::ERROR,
        (_, 0) => LevelFilter::WARN,
        (_, 1) => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let shown = shown(terminal, common.log_format, own);
    let of_run = errors_of_others()
        .with_target("sunlake", LevelFilter::INFO)
        // The answers of the embedded API are in the raw pages.
        .with_target("sunlake::serve", LevelFilter::WARN)
        .with_target(PROGRESS_WORDS, LevelFilter::OFF);
    let stderr = log.stderr();
    let to_stderr = match common.log_format {
        LogFormat::Text => fmt::layer()
            .with_ansi(terminal.has_colour)
            .with_target(false)
            .with_writer(stderr)
            .with_filter(shown)
            .boxed(),
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

/// What is shown on stderr. The terminal shows progress and finished parts without the log; other readers get progress at every
/// level, as words or as fields.
fn shown(terminal: Terminal, format: LogFormat, own: LevelFilter) -> Targets {
    let is_shown = |wanted| {
        if terminal.progress == ProgressForm::Lines && format == wanted {
            LevelFilter::INFO
        } else {
            LevelFilter::OFF
        }
    };
    let of_done = match terminal.progress {
        ProgressForm::Bar | ProgressForm::Plain => LevelFilter::OFF,
        ProgressForm::Lines | ProgressForm::Hidden => own,
    };
    errors_of_others()
        .with_target("sunlake", own)
        .with_target(PROGRESS, is_shown(LogFormat::Json))
        .with_target(PROGRESS_WORDS, is_shown(LogFormat::Text))
        .with_target(DONE, of_done)
}

/// Errors of other crates, which know nothing of our rules for logs. Those of rmcp have text of the server's clients.
fn errors_of_others() -> Targets {
    let all = Targets::new().with_default(LevelFilter::ERROR);
    all.with_target("rmcp", LevelFilter::OFF)
}

/// Most bytes that one process writes into the log of a run.
const MOST_BYTES: usize = 4 << 20;
/// Most bytes that are kept until the run has a folder.
const MOST_WAITING: usize = 64 << 10;
/// The last line of a log that is full.
const FULL: &[u8] =
    b"{\"level\":\"WARN\",\"fields\":{\"message\":\"the log of this run ends here: it is full\"}}\n";

/// A writer of log lines: keeps them until a run begins, then writes them to its folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunLog(Arc<Mutex<Target>>);

#[derive(Debug, Default)]
struct Target {
    /// Lines that wait until the run has a folder.
    waiting: Vec<u8>,
    file: Option<File>,
    /// Bytes in the file.
    written: usize,
    is_full: bool,
}

impl RunLog {
    /// Appends to the log in the folder of a run. A log that cannot be written is a warning, and the run continues.
    pub(crate) fn begin(&self, folder: &Path) {
        let path = folder.join("log");
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let begun = opened.and_then(|file| self.target(|target| target.begin(file)));
        if let Err(error) = begun {
            tracing::warn!(path = %path.display(), %error, "the run has no log");
        }
    }

    fn target<T>(&self, act: impl FnOnce(&mut Target) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Target {
    fn begin(&mut self, mut file: File) -> io::Result<()> {
        if self.is_full {
            return Ok(());
        }
        file.write_all(&self.waiting)?;
        self.written += std::mem::take(&mut self.waiting).len();
        self.file = Some(file);
        Ok(())
    }

    /// Writes a line completely or not at all.
    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        match &mut self.file {
            _ if self.is_full => {}
            None if self.waiting.len() + line.len() <= MOST_WAITING => self.waiting.extend_from_slice(line),
            None => {}
            Some(file) if self.written + line.len() <= MOST_BYTES => {
                self.written += line.len();
                file.write_all(line)?;
            }
            Some(file) => {
                self.is_full = true;
                file.write_all(FULL)?;
            }
        }
        Ok(())
    }
}

impl Write for RunLog {
    /// The subscriber gives a line at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.target(|target| target.line(line))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wait_for_the_run_and_end_when_the_log_is_full() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = RunLog::default();
        log.write_all(b"before\n").expect("kept");
        log.begin(folder.path());
        let line = [b"x".repeat(1023), b"\n".to_vec()].concat();
        for _ in 0..2 * MOST_BYTES / line.len() {
            log.write_all(&line).expect("written");
        }
        let text = std::fs::read(folder.path().join("log")).expect("a log");
        assert!(text.starts_with(b"before\nxxx") && text.ends_with(FULL));
        assert!(text.len() <= MOST_BYTES + FULL.len());
        let other = folder.path().join("other");
        std::fs::create_dir(&other).expect("a folder");
        log.begin(&other);
        log.write_all(&line).expect("left out");
        assert_eq!(std::fs::read(folder.path().join("log")).expect("a log"), text);
    }
}
