//! The SQL that runs: it is parsed once, given types, and planned as frames of polars. What has no plan is refused.
//!
//! polars' own SQL is not built in: this is the only way from SQL to rows.
//!
//! # Files, in reading order
//!
//! - `refusal`: SQL that is not run, and the hint
//! - `value`: types and values
//! - `convert`: values in another type
//! - `reduce`: functions of many rows
//! - `node`: an expression with types
//! - `texts`: functions of texts
//! - `days`: functions of days and times
//! - `functions`: the table of functions
//! - `literal`: literals and the names of types
//! - `coerce`: values in the types that are needed
//! - `calls`: calls of functions by name
//! - `names`: columns, found by name
//! - `resolve`: expressions
//! - `rows`: the clauses of a query, such as FROM and GROUP BY
//! - `statement`: the query of a text
//! - `plan`: from SQL to rows

mod calls;
mod coerce;
mod convert;
mod days;
mod functions;
mod literal;
mod names;
mod node;
mod plan;
mod reduce;
mod refusal;
mod resolve;
mod rows;
mod statement;
mod texts;
mod value;

pub use functions::sql_functions;
pub(super) use plan::{plan, rows, tables_named};
pub use refusal::Refusal;
pub(super) use statement::check_is_condition;
pub(crate) use statement::compared_texts;
