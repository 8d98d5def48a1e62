//! The figures of the report, read from a snapshot's aggregates as plain values.
//!
//! # Files, in reading order
//!
//! - [`values`]: the figures
//! - `one_table`: values of one table, which a snapshot may lack
//! - `county`: more of each county
//! - `newest`: the businesses that were filed last
//! - [`read`]: all figures of a snapshot

mod county;
mod newest;
mod one_table;
pub(crate) mod read;
pub(crate) mod values;
