//! The values that the report shows.

use crate::aggregate::Figures;
use jiff::civil::Date;

/// Everything the report shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportData {
    /// Path of the lake as the reader would type it; used in the example queries.
    pub lake: String,
    /// Whether it is a folder, which shows its newest snapshot as `current`; an object store has none.
    pub is_folder: bool,
    /// Snapshot the figures are of.
    pub snapshot: Option<u64>,
    /// The run that made the snapshot, if known.
    pub run: Option<RunFacts>,
    /// The figures of the snapshot's aggregates.
    pub figures: Figures,
}

/// What one run did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFacts {
    /// Id of the run.
    pub run_id: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// `complete`, `partial`, `unchanged` or `failed`.
    pub outcome: String,
    /// Eastern day of the run.
    pub today: Date,
    /// Requests sent.
    pub requests_sent: u64,
    /// Requests that were retried.
    pub requests_retried: u64,
    /// Requests by stage, in the order of the stages.
    pub requests_by_stage: Vec<(String, u64)>,
    /// Rows by table.
    pub rows: Vec<TableRows>,
    /// Records that could not be normalized and are in the run's quarantine.
    pub quarantined: u64,
    /// Days that are not complete.
    pub incomplete: Vec<IncompleteDay>,
    /// How far the register has been read, if the pipeline reads it.
    pub register: Option<RegisterFacts>,
    /// Businesses looked up, and businesses chosen, if the pipeline looks up any.
    pub looked_up: Option<(u64, u64)>,
    /// Seconds from start to end.
    pub elapsed_secs: f64,
}

/// Rows of one table in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableRows {
    /// Name of the table.
    pub table: String,
    /// Rows read from the API.
    pub read: u64,
    /// Rows that are new in the lake.
    pub added: u64,
    /// Rows that changed.
    pub changed: u64,
    /// Rows that a complete reading no longer showed.
    pub vanished: u64,
    /// Rows of the table now.
    pub total: u64,
}

/// How far the register has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterFacts {
    /// Prefixes read to their end.
    pub starts: u64,
    /// Prefixes that likely have names and were not read yet.
    pub left: u64,
    /// Rows found.
    pub rows: u64,
    /// Businesses in the API's count.
    pub businesses_total: u64,
    /// Counted businesses that the lake lacks, if known.
    pub missing: Option<i64>,
}

/// A day that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteDay {
    /// The day.
    pub day: Date,
    /// Rows the API counts.
    pub expected: u64,
    /// Rows in the lake.
    pub landed: u64,
}
