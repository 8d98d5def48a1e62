//! One invocation: its flags, its world and its day, and how it reports a result.

use super::args::Common;
use super::exit::{self, CommandError};
use super::output::stdout::{print, print_json};
use super::world::World;
use crate::lake::{Lake, LakeError, LakeLock};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

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
            .map_err(|source| CommandError::Io { what: format!("no random bits for {purpose}"), source })
    }

    /// The lock of a lake, under a run id that ends with `purpose`.
    pub(super) fn lock(&self, lake: &Lake, purpose: &str) -> Result<(LakeLock, String), LakeError> {
        let run_id = format!("{}-{purpose}", self.now().strftime("%Y%m%dT%H%M%S%3fZ"));
        let lock = lake.lock(&run_id, &(self.world.holder)())?;
        Ok((lock, run_id))
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
