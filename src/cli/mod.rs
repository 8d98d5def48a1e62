//! The command line: reads flags and variables, runs one command, reports its result, and chooses the exit code.
//!
//! # Files, in reading order
//!
//! - `args`: the command line as typed
//! - [`exit`]: errors of commands and their exit codes
//! - `output`: results, errors, log and progress
//! - `session`: one invocation: its flags, its day, and clock, environment, randomness and signals
//! - `context`: the lake, the API and the state folder
//! - `command`: the commands, a file each
//! - `library_variables`: variables of libraries without which the program must start
//! - `dispatch`: one command from its flags to its exit code

mod args;
mod command;
mod context;
mod dispatch;
pub mod exit;
mod library_variables;
mod output;
mod session;

pub use args::{
    ChangesArguments, Cli, Command, Common, CsvFlags, DeltaFlags, DuckdbFlags, DucklakeFlags, Expiry,
    ExportCommand, KeysCommand, LogFormat, Numbered, PruneFlags, QueryArguments, RowFormat, Schedule,
    SchemaOf, Selection, ServeArguments, Since, SnapshotCommand, SnapshotName, command_line, explain,
    not_text, without_empty_variables,
};
pub use dispatch::carry_out;
pub use library_variables::{LEFT_OUT, unusable_variables};
pub use session::World;
