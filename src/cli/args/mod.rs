//! The command line as typed: commands, flags, and the variables in place of flags.
//!
//! # Files, in reading order
//!
//! - `commands`: commands, and the flags that every command has
//! - `subcommands`: flags and subcommands of single commands
//! - `values`: parsers of values, whose errors name the variable of a value that came from one

mod commands;
mod subcommands;
mod values;

pub use commands::{Cli, Command, Common, LogFormat};
pub use subcommands::{
    ExportCommand, KeysCommand, Numbered, PruneFlags, Selection, ServeArguments, SnapshotCommand,
};
