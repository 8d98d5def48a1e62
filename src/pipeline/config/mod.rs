//! Pipeline files: reading and checking them.
//!
//! # Files, in reading order
//!
//! - [`spec`]: the keys of a file, typed
//! - `built_in`: the files that the program carries with it
//! - `rules`: what its values must keep to
//! - [`mistakes`]: all mistakes of a file, with their places
//! - `watch_list`: document numbers of businesses to look up
//! - `file`: reading a file; errors with their line; its SQL

pub(crate) mod built_in;
pub mod file;
pub mod mistakes;
mod rules;
pub mod spec;
mod watch_list;
