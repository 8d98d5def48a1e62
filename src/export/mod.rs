//! A snapshot for other programs: the catalogue of the lake, and copies in other formats.
//!
//! Every file that is read is first verified against its commit. A file that is written gets its name when it is complete.
//!
//! # Files, in reading order
//!
//! - `error`: why an export failed
//! - `outlet`: files outside the lake, complete or absent
//! - `snapshot`: the snapshot and the tables to export
//! - `described`: tables and columns of a snapshot in words, and as comments in DuckDB's SQL
//! - `replaceable`: what an export may replace
//! - `ducklake`: a DuckLake catalogue of all kept snapshots over the files of the lake
//! - `catalog`: `datapackage.json`, `TABLES.md`, `views.sql` and `ducklake.sql`
//! - `csv`: a text file for each table, safe to open in a spreadsheet
//! - `duckdb`: a DuckDB database file, made by the `duckdb` program
//! - `delta`: a Delta Lake table of `filings`, a version for each snapshot

pub(crate) mod catalog;
pub(crate) mod csv;
pub(crate) mod delta;
pub(crate) mod described;
pub(crate) mod duckdb;
pub(crate) mod ducklake;
mod error;
mod outlet;
mod replaceable;
mod snapshot;

pub use described::pattern_expression;
pub use error::ExportError;
pub(crate) use outlet::{check_target, write_new};
pub(crate) use snapshot::snapshot;
