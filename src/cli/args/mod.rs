//! The command line as typed: commands, flags, and the variables in place of flags.
//!
//! # Files, in reading order
//!
//! - `commands`: commands, subcommands, and their flags
//! - `ask`: flags of `query` and `changes`
//! - `serve`: flags of `serve`
//! - `help`: examples, and which flags a command shows
//! - `mistakes`: what is said about a wrong command line
//! - `values`: parsers of values, whose errors name the variable of a value that came from one

mod ask;
mod commands;
mod help;
mod mistakes;
mod serve;
mod values;

pub use ask::{ChangesArguments, QueryArguments, RowFormat};
pub use commands::{
    Cli, Command, Common, CsvFlags, DeltaFlags, DuckdbFlags, DucklakeFlags, ExportCommand, KeysCommand,
    LogFormat, Numbered, PruneFlags, Schedule, SchemaOf, Selection, SnapshotCommand,
};
pub use help::command_line;
pub use mistakes::{explain, not_text};
pub use serve::ServeArguments;
pub use values::{Expiry, Since, SnapshotName, without_empty_variables};
