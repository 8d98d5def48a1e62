//! What the rows of a query go through.
//!
//! # Files, in reading order
//!
//! - `from`: joins
//! - `window`: windows
//! - `group`: groups and windows of a query
//! - `order`: the order of rows, and how many of them
//! - `title`: names of columns that a query does not name
//! - `select`: one `SELECT`
//! - `query`: a query with its `WITH`
//! - `relation`: tables, views, subqueries in `FROM`
//! - `set_operation`: `UNION`, `INTERSECT`, `EXCEPT`
//! - `subquery`: subqueries that are values

mod from;
mod group;
mod order;
mod query;
mod relation;
mod select;
mod set_operation;
mod subquery;
mod title;
mod window;

pub(super) use order::orders_kept;
pub(super) use query::Planner;
