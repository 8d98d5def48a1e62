//! Pipeline files: reading and checking them.
//!
//! # Files, in reading order
//!
//! - [`spec`]: the keys of a file, typed
//! - `file`: reading a file; errors with their line
//! - [`sql`]: its SQL, checked before a request is spent

pub mod file;
pub mod spec;
pub mod sql;
