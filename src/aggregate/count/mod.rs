//! Plain counts of filings in SQL, counted without the SQL engine.
//!
//! # Files, in reading order
//!
//! - `plain`: finding them
//! - `rows`: counting the rows of files
//! - `in_sql`: the SQL with the counts as tables

mod in_sql;
mod plain;
mod rows;

pub(super) use in_sql::rows_of;
