//! SQL that a person writes: a query, or the condition of a pipeline file.
//!
//! # Files, in reading order
//!
//! - `choose`: businesses chosen by a condition, and checking SQL before the first request
//! - `query`: one query, for a person

mod choose;
mod query;

pub(crate) use choose::{check_aggregates, check_condition, choose_businesses};
pub(crate) use query::{run_query, tables_of_query};
