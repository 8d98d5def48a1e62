//! The commands, a file each. A command finds what it needs, calls the module that does the work, and reports the result.
//!
//! # Files, in reading order
//!
//! - `run`: `run` and `plan`
//! - `first_run`: the question before the first run into a new lake
//! - `run_text`: their results as text
//! - `start`: `demo` and `init`
//! - `ask`: `query` and `changes`
//! - `status`: `status` and `report`
//! - `snapshot`: `snapshot` and its subcommands
//! - `snapshot_text`: snapshots, differences and pruned files as text
//! - `verify`: `verify` and `verify --repair`
//! - `replay`: `replay`
//! - `export`: `export` and its subcommands
//! - `serve`: `serve`
//! - `keys`: `keys` and its subcommands
//! - `doctor`: `doctor`
//! - `manual`: `completions`, `man` and `schema`

pub(super) mod ask;
pub(super) mod doctor;
pub(super) mod export;
mod first_run;
pub(super) mod keys;
pub(super) mod manual;
pub(super) mod replay;
pub(super) mod run;
mod run_text;
pub(super) mod serve;
pub(super) mod snapshot;
mod snapshot_text;
pub(super) mod start;
pub(super) mod status;
pub(super) mod verify;
