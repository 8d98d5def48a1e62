//! The end of a run, by write, audit, publish: the next snapshot is staged, checked, and only then shown to readers. A check can fail the
//! run, or leave the snapshot for review (the pattern is known from Netflix's use of Apache Iceberg, "write-audit-publish").
//!
//! # Files, in reading order
//!
//! - `finish`: the end of a run that read the API
//! - `ending`: what all runs do at their end
//! - `news`: which businesses are news
//! - `merge`: merging what was read into the tables; computing the aggregates
//! - `calendar`: the tables of days and months
//! - `check_input`: what the checks compare
//! - `checks`: the checks (pure)
//! - [`summary`]: what a run did
//! - [`report`]: the report of a snapshot

pub(super) mod calendar;
mod check_input;
mod checks;
pub(super) mod ending;
pub(super) mod finish;
pub(super) mod merge;
mod news;
pub mod report;
pub mod summary;
