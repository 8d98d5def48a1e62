//! The command line: reads flags and variables, runs one command, reports its result, and chooses the exit code.
//!
//! # Files, in reading order
//!
//! - `args`: the command line as typed
//! - `world`: clock, environment and randomness, as values from `main`
//! - [`exit`]: errors of commands and their exit codes
//! - `output`: results, errors, log and progress
//! - `session`: the flags, the world and the day of one invocation
//! - `context`: the lake, the API and the state folder
//! - `command`: the commands, a file each
//! - `dispatch`: one command from its flags to its exit code

mod args;
mod command;
mod context;
mod dispatch;
pub mod exit;
mod output;
mod session;
mod world;

pub use args::{
    Cli, Command, Common, ExportCommand, KeysCommand, LogFormat, PruneFlags, Selection, ServeArguments,
    SnapshotCommand,
};
pub use dispatch::carry_out;
pub use world::World;
