//! Reading from the API, and turning pages into rows of the next snapshot.
//!
//! # Files, in reading order
//!
//! - `extraction`: what a run reads, in order
//! - `page_store`: the archive of raw pages, asked before the API; when lists arrived
//! - `landing`: readings → rows
//! - `coverage`: what the run knows of each day of each listing
//! - `record_findings`: rejects, unknown fields and new values
//! - `run_store`: the known rows of a listing, with what this run has read
//! - `day_counts`: days by their rows, compared with counts of them
//! - `day_check`: fresh counts and totals against the rows of every complete day
//! - `registry`: reading the register by prefix of a name
//! - `enrich`: looking businesses up
//! - `reference_tables`: lists and counts → their tables
//! - `recount`: rows of a snapshot, counted for coverage and totals

pub(super) mod coverage;
pub(super) mod day_check;
pub(super) mod day_counts;
pub(super) mod enrich;
pub(super) mod extraction;
pub(super) mod landing;
pub(super) mod page_store;
pub(super) mod record_findings;
pub(super) mod recount;
pub(super) mod reference_tables;
pub(super) mod registry;
pub(super) mod run_store;
