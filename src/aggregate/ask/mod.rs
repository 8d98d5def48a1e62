//! SQL that a person writes: a query, or the condition of a pipeline file.
//!
//! # Files, in reading order
//!
//! - `statement`: what is given as a query and is none
//! - `compared`: a day that is compared with a number
//! - `choose`: businesses chosen by a condition, and checking SQL before the first request
//! - `query`: one query, for a person

mod choose;
mod compared;
mod query;
mod statement;

pub(crate) use choose::{check_aggregates, check_condition, choose_businesses};
pub(crate) use query::{run_query, tables_of_query};
