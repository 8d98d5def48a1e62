//! The merge of new rows into a staged snapshot: an upsert by key that also logs what changed.
//!
//! Filings are merged month by month, because a month is one file. First they are spilled to disk, sorted by month
//! (external partitioning, as in a Grace hash join: Kitsuregawa, Tanaka & Moto-oka 1983). Then each month's old and new
//! rows are joined by business id in memory. So memory depends on the largest month, not on the number of rows.
//! The other tables are small and merged in one step.
//!
//! # Files, in reading order
//!
//! - `row_key`: keys, digests and text of rows
//! - `upsert`: the merge of a table that is one file, by key
//! - `change_log`: rows of the `changes` table
//! - `latest`: the newest observation of each business
//! - `spill`: observed filings on disk, by month
//! - `moved_month`: businesses whose filing month changed
//! - `losses`: months whose filings a repair left out
//! - `known_before`: what the lake knew of their businesses
//! - `month`: one month of filings
//! - `filings`: the merge of all months
//! - `partition`: tables by month that are written by several threads

mod change_log;
mod filings;
mod known_before;
mod latest;
pub(super) mod losses;
mod month;
mod moved_month;
pub(super) mod partition;
pub(super) mod row_key;
pub(super) mod spill;
mod upsert;
