//! A Delta Lake table of `filings` with a version for each snapshot, so that readers can query by version or by time.
//!
//! Data files of the lake become data files of the table, as hard links where the disk has them. Their names depend on their
//! content, so a file that several snapshots share is stored once. A version is made by creating its log entry, which
//! lists the files that were added and removed. Entries are created and never changed.
//!
//! Source: the Delta transaction log protocol, reader version 1, writer version 2.
//!
//! # Files, in reading order
//!
//! - `log`: the log of an existing table
//! - `export`: versions for new snapshots, and the actions of their log entries
//! - `in_place`: the log of a lake in an object store, over the lake's own files

mod export;
mod in_place;
mod log;

pub(crate) use export::export_delta;
pub(crate) use in_place::complete_log;
