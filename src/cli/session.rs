//! One invocation: its flags, its day, and what it has from outside: clock, environment, randomness and signals.

use super::args::Common;
use super::exit::{self, CommandError};
use super::output::log::Log;
use super::output::words::{folded, lines, print, print_json};
use crate::contract::eastern::eastern_day;
use crate::lake::{Lake, LakeLock, new_run_id};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::fmt;
use std::io::IsTerminal as _;
use std::path::Path;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a command takes from outside the program.
pub struct World {
    /// The clock.
    pub now: fn() -> Timestamp,
    /// Reads an environment variable; an empty one counts as unset.
    pub variable: fn(&str) -> Option<String>,
    /// The environment variables whose names have one of these prefixes.
    pub variables: fn(&[&str]) -> Vec<(String, String)>,
    /// Name of this process and its host.
    pub holder: fn() -> String,
    /// Peak memory of the process in bytes; 0 where the system does not report it.
    pub peak_rss_bytes: fn() -> u64,
    /// Number of files the process may have open; `None` where the system does not report it.
    pub max_open_files: fn() -> Option<u64>,
    /// 256 random bits.
    pub random: fn() -> Result<[u8; 32], std::io::Error>,
}

/// What every command needs.
#[derive(Clone, Copy)]
pub(super) struct Session<'a> {
    pub(super) common: &'a Common,
    pub(super) world: &'a World,
    /// Eastern day to run as.
    pub(super) today: Date,
    pub(super) log: &'a Log,
}

impl Session<'_> {
    pub(super) fn now(&self) -> Timestamp {
        (self.world.now)()
    }

    /// The flag of the lake in use, with a space before it; empty where it is the usual one or comes from a variable.
    pub(super) fn lake_flag(&self) -> String {
        let lake = &self.common.lake;
        let is_in_variable =
            (self.world.variable)("SUNLAKE_LAKE").is_some_and(|named| Path::new(&named) == lake);
        if is_in_variable || lake == Path::new("output") {
            String::new()
        } else {
            format!(" --lake {}", shell_word(&lake.to_string_lossy()))
        }
    }

    /// The command that runs a pipeline as of a day or later, with the lake and the address in use. A day that has not come is named.
    pub(super) fn run_command(&self, pipeline: &Path, day: Date) -> String {
        let (pipeline, lake) = (shell_word(&pipeline.to_string_lossy()), self.lake_flag());
        let typed = self.common.base_url.as_ref().filter(|_| self.common.is_url_typed);
        let address = typed.map(|url| format!(" --base-url {}", shell_word(url)));
        let day = (day > eastern_day(self.now())).then(|| format!(" --today {day}"));
        format!("sunlake run {pipeline}{lake}{}{}", address.unwrap_or_default(), day.unwrap_or_default())
    }

    /// 256 random bits for `purpose`.
    pub(super) fn random(&self, purpose: &str) -> Result<[u8; 32], CommandError> {
        (self.world.random)()
            .map_err(|source| CommandError::Io(format!("no random bits for {purpose}"), source))
    }

    /// The id of a run that is made now; it ends with `purpose`.
    pub(super) fn run_id(&self, purpose: &str) -> Result<String, CommandError> {
        Ok(new_run_id(self.now(), purpose, &self.token()?))
    }

    /// The lock of a lake, under a run id that ends with `purpose`.
    pub(super) fn lock(&self, lake: &Lake, purpose: &str) -> Result<(LakeLock, String), CommandError> {
        let run_id = self.run_id(purpose)?;
        Ok((lake.lock(&run_id, &(self.world.holder)())?, run_id))
    }

    /// Random letters and digits for ids of runs: other hosts make theirs in the same millisecond.
    pub(super) fn token(&self) -> Result<String, CommandError> {
        const LETTERS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
        let random = self.random("the id of a run")?;
        Ok(random[..6].iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
    }

    /// Prints the result of a command: one JSON object with `--json`, else what `write` writes. Returns the exit code of success.
    pub(super) fn report(
        &self,
        value: &impl Serialize,
        write: impl FnOnce(&mut String) -> fmt::Result,
    ) -> Result<u8, CommandError> {
        if self.common.json {
            print_json(value)?
        } else {
            print(&fit(lines(write)))?
        }
        Ok(exit::DONE)
    }
}

/// A screen as wide as the terminal; in a file or a pipe, as it is.
fn fit(screen: String) -> String {
    if std::io::stdout().is_terminal() {
        folded(&screen, usize::from(console::Term::stdout().size().1))
    } else {
        screen
    }
}

/// A word as a shell takes it.
pub(super) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@%+=,~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The two signals that stop a command.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on; the signals no longer end the process.
    pub(crate) fn listen() -> Result<Self, CommandError> {
        let failed = |source| CommandError::Io("cannot listen for signals".to_owned(), source);
        let interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Self { interrupt, terminate })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
