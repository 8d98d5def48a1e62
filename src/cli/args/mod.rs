//! The command line as typed: commands, flags, and the variables in place of flags.
//!
//! # Files, in reading order
//!
//! - `commands`: commands, subcommands, and their flags
//! - `help`: examples, and which flags a command shows
//! - `mistakes`: what is said about flags from another place
//! - `values`: parsers of values, whose errors name the variable of a value that came from one

mod commands;
mod help;
mod mistakes;
mod values;

pub use commands::{
    Cli, Command, Common, ExportCommand, KeysCommand, LogFormat, Numbered, PruneFlags, Selection,
    ServeArguments, SnapshotCommand,
};
pub use help::command_line;
pub use mistakes::explain;
pub use values::{BaseUrl, SnapshotName, without_empty_variables};
