//! Parquet files: written always in the same way, read, and asked for their footers.
//!
//! # Files, in reading order
//!
//! - `row_group`: row groups of a file, encoded by two threads
//! - `write`: writing files
//! - `read`: reading them
//! - `footer`: what a footer says

pub(super) mod footer;
pub(super) mod read;
mod row_group;
pub(super) mod write;
