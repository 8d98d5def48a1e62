//! Parquet files: written always in the same way, read, and asked for their footers.
//!
//! # Files, in reading order
//!
//! - `properties`: how files are written
//! - `write`: writing files, on all cores
//! - `read`: reading them
//! - `footer`: what a footer says
//! - `placed`: a file that is read by position
//! - `page_values`: the values of some rows of a page
//! - `column_values`: those of a column, from its pages
//! - `lookup`: the rows of one business in a file
//! - `kept_footers`: footers that stay in memory, and look-ups by them

mod column_values;
pub(super) mod footer;
pub(super) mod kept_footers;
mod lookup;
mod page_values;
mod placed;
pub(super) mod properties;
pub(super) mod read;
pub(super) mod write;
