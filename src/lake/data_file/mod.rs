//! One Parquet file of a lake, and the rows in it.
//!
//! # Files, in reading order
//!
//! - [`columns`]: columns by name; rows checked against their table
//! - [`part`]: a file written, read and checked
//! - [`portable_types`]: the column types that every reader of a lake knows

mod columns;
mod part;
pub(super) mod portable_types;

pub(super) use columns::{check_schema, column, sorted};
pub(super) use part::{
    about, business_ids, filed_dates, ids_in_part, may_hold_text, read_part, read_schema, write_part,
};
