//! The command line as typed: commands, flags, and the variables in place of flags.
//!
//! # Files, in reading order
//!
//! - `commands`: commands, and the flags that every command has
//! - `subcommands`: flags and subcommands of single commands
//! - `values`: parsers of values
//! - `env_errors`: an error of a value from a variable names the variable

mod commands;
mod env_errors;
mod subcommands;
mod values;

pub use commands::{Cli, Command, Common, LogFormat};
pub use subcommands::{ExportCommand, KeysCommand, PruneFlags, Selection, ServeArguments, SnapshotCommand};
