//! The command line as typed: commands, flags, and the variables in place of flags.
//!
//! # Files, in reading order
//!
//! - `commands`: commands, subcommands, and their flags
//! - `values`: parsers of values, whose errors name the variable of a value that came from one

mod commands;
mod values;

pub use commands::{
    Cli, Command, Common, ExportCommand, KeysCommand, LogFormat, Numbered, PruneFlags, Selection,
    ServeArguments, SnapshotCommand,
};
pub use values::{BaseUrl, SnapshotName, without_empty_variables};
