//! The values that the report shows.

use crate::aggregate::Figures;
use jiff::civil::Date;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ReportData {
    /// Path of the lake as the reader would type it; used in the example queries.
    pub(crate) lake: String,
    /// Whether it is a folder, which shows its newest snapshot as `current`; an object store has none.
    pub(crate) is_folder: bool,
    pub(crate) snapshot: Option<u64>,
    /// Whether the data is the embedded sample.
    pub(crate) is_invented: bool,
    /// The run that made the snapshot, if known.
    pub(crate) run: Option<RunFacts>,
    pub(crate) figures: Figures,
}

/// What one run did.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RunFacts {
    pub(crate) run_id: String,
    pub(crate) pipeline: String,
    /// `complete`, `partial`, `unchanged` or `failed`.
    pub(crate) outcome: String,
    pub(crate) today: Date,
    pub(crate) requests_sent: u64,
    pub(crate) requests_retried: u64,
    /// Requests by stage, in the order of the stages.
    pub(crate) requests_by_stage: Vec<(String, u64)>,
    pub(crate) rows: Vec<TableRows>,
    /// Records that could not be normalized and are in the run's quarantine.
    pub(crate) quarantined: u64,
    pub(crate) incomplete: Vec<IncompleteDay>,
    /// How far the register has been read, if the pipeline reads it.
    pub(crate) register: Option<RegisterFacts>,
    /// Businesses looked up, and businesses chosen, if the pipeline looks up any.
    pub(crate) looked_up: Option<(u64, u64)>,
    pub(crate) elapsed_secs: f64,
}

impl RunFacts {
    /// The days that the run could not prove complete, with the rows of their listings: found, and expected.
    pub(super) fn incomplete_days(&self) -> BTreeMap<Date, (u64, u64)> {
        let mut days: BTreeMap<Date, (u64, u64)> = BTreeMap::new();
        for day in &self.incomplete {
            let (landed, expected) = days.entry(day.day).or_default();
            (*landed, *expected) = (*landed + day.landed, *expected + day.expected);
        }
        days
    }
}

/// Rows of one table in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TableRows {
    pub(crate) table: String,
    pub(crate) read: u64,
    pub(crate) added: u64,
    pub(crate) changed: u64,
    /// Rows that a complete reading no longer showed.
    pub(crate) vanished: u64,
    pub(crate) total: u64,
}

/// How far the register has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegisterFacts {
    /// Prefixes read to their end.
    pub(crate) starts: u64,
    /// Prefixes that likely have names and were not read yet.
    pub(crate) left: u64,
    pub(crate) rows: u64,
    /// Businesses in the API's count.
    pub(crate) businesses_total: u64,
    /// Counted businesses that the lake lacks, if known.
    pub(crate) missing: Option<i64>,
}

/// A day that is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IncompleteDay {
    pub(crate) day: Date,
    pub(crate) expected: u64,
    pub(crate) landed: u64,
}
