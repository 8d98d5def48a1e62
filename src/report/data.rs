//! TODO.

use crate::aggregate::Figures;
use jiff::civil::Date;

/// What the report tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportData {
    /// Path of the lake as a reader of the report would type it; stands in the queries to try.
    pub lake: String,
    /// Whether it is a folder, which shows its newest snapshot as `current`; an object store has none.
    pub is_folder: bool,
    /// Snapshot the figures are of.
    pub snapshot: Option<u64>,
    /// The run that made the snapshot, where it is known.
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
    /// Eastern day it ran as.
    pub today: Date,
    /// Requests sent.
    pub requests_sent: u64,
    /// Requests that were sent again.
    pub requests_retried: u64,
    /// Requests by stage, in the order of the stages.
    pub requests_by_stage: Vec<(String, u64)>,
    /// Rows by table.
    pub rows: Vec<TableRows>,
    /// Records that could not be normalized and lie in the run's quarantine.
    pub quarantined: u64,
    /// Days whose rows are not proven complete.
    pub incomplete: Vec<IncompleteDay>,
    /// How far the register has been read, where the pipeline reads it.
    pub register: Option<RegisterFacts>,
    /// Businesses looked up, of how many chosen, where the pipeline does.
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
    /// Rows the lake did not have.
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
    /// Starts of a name read whole.
    pub starts: u64,
    /// Starts that likely have names and were not read yet.
    pub left: u64,
    /// Rows found.
    pub rows: u64,
    /// Businesses there are, as the API counts.
    pub businesses_total: u64,
    /// Businesses counted that the lake does not hold, where that can be said.
    pub missing: Option<i64>,
}

/// A day that is not proven complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteDay {
    /// The day.
    pub day: Date,
    /// Rows the API says it has.
    pub expected: u64,
    /// Rows that landed.
    pub landed: u64,
}
