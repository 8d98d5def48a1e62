//! One invocation: its flags, its day, and what it has from outside: clock, environment, randomness and signals.

use super::args::Common;
use super::exit::{self, CommandError};
use super::output::words::{print, print_json};
use crate::lake::{Lake, LakeError, LakeLock};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
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
}

impl Session<'_> {
    pub(super) fn now(&self) -> Timestamp {
        (self.world.now)()
    }

    /// 256 random bits for `purpose`.
    pub(super) fn random(&self, purpose: &str) -> Result<[u8; 32], CommandError> {
        (self.world.random)()
            .map_err(|source| CommandError::Io(format!("no random bits for {purpose}"), source))
    }

    /// The lock of a lake, under a run id that ends with `purpose`.
    pub(super) fn lock(&self, lake: &Lake, purpose: &str) -> Result<(LakeLock, String), LakeError> {
        let run_id = self.run_id(purpose);
        Ok((lake.lock(&run_id, &(self.world.holder)())?, run_id))
    }

    /// As [`Session::lock`], for a repair: what a killed run left stays until the repair reports it.
    pub(super) fn lock_unrepaired(
        &self,
        lake: &Lake,
        purpose: &str,
    ) -> Result<(LakeLock, String), LakeError> {
        let run_id = self.run_id(purpose);
        Ok((lake.lock_unrepaired(&run_id, &(self.world.holder)())?, run_id))
    }

    fn run_id(&self, purpose: &str) -> String {
        format!("{}-{purpose}", self.now().strftime("%Y%m%dT%H%M%S%3fZ"))
    }

    /// Prints the result of a command: one JSON object with `--json`, text without. Returns the exit code of success.
    pub(super) fn report(
        &self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<u8, CommandError> {
        match self.common.json {
            true => print_json(value)?,
            false => print(&text())?,
        }
        Ok(exit::DONE)
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
