//! A DuckLake 1.0 catalogue over the files of the lake where they are: a version for each kept snapshot, with its number and
//! the time of its commit.
//!
//! DuckLake keeps a catalogue in the tables of an SQL database. Here it is an SQL script, `catalog/ducklake.sql`, which DuckDB
//! turns into such a database. No row is copied. A row of the catalogue says from which snapshot on it applies, and at which it
//! ends: a file that ten snapshots share is named once.
//!
//! Source: the specification of DuckLake 1.0, its tables.
//!
//! # Files, in reading order
//!
//! - `shape`: the columns of a table in a snapshot
//! - `life`: tables, columns and files, and in which snapshots they are
//! - `versions`: the snapshots that are kept, as versions
//! - `script`: the catalogue as SQL
//! - `export`: a database file made from it

mod export;
mod life;
mod script;
mod shape;
mod versions;

pub(crate) use export::export_ducklake;
pub(super) use script::ducklake_script;
