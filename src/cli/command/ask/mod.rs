//! Questions to the lake: what a person or a script asks, and rows as the answer.
//!
//! # Files, in reading order
//!
//! - `query`: `query`, SQL over the tables and views of a snapshot
//! - `near_miss`: what a text meant that no row has
//! - `changes`: `changes`, what appeared, changed, vanished or returned
//! - `in_duckdb`: the way out of SQL that is not run here
//! - `rows`: rows in the form that is asked for
//! - `atom`: changes as a feed

mod atom;
pub(crate) mod changes;
pub(crate) mod in_duckdb;
mod near_miss;
pub(crate) mod query;
mod rows;
