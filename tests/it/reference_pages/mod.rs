//! The pages of `docs/reference`, generated from the program. A test compares each page with what it would be today;
//! `SUNLAKE_BLESS=1 cargo test reference_pages` writes the pages.
//!
//! # Files, in reading order
//!
//! - `page`: Markdown helpers; compares a page or writes it
//! - `source`: the documented fields of a struct, read from the sources
//! - `commands`: commands, flags, and the variables of the environment
//! - `exit_codes`: exit codes
//! - `configuration`: the keys of a pipeline file, with what they accept and their defaults
//! - `json`: the objects of `--json`
//! - `sql`: the functions of SQL
//! - `tables`: tables and aggregates, column by column
//! - `dbt`: the same as sources of dbt

mod commands;
mod configuration;
mod dbt;
mod exit_codes;
mod json;
pub(crate) mod page;
mod source;
mod sql;
mod tables;
