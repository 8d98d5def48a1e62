//! What a run did, as told to people and schedulers.

use crate::lake::TableDelta;
use crate::normalize::OpenValues;
use crate::pipeline::state::registry::{Counted, RegisterStatus};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeMap;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All that was asked for is in the lake.
    Complete,
    /// Some of it is; run again to go on.
    Partial,
    /// Nothing differed from the newest snapshot.
    Unchanged,
    /// Nothing was published.
    Failed,
}

impl Outcome {
    /// The word in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Unchanged => "unchanged",
            Self::Failed => "failed",
        }
    }
}

/// Exit code of a run that stopped in good order: run again to go on.
pub const EXIT_RUN_AGAIN: u8 = 5;

/// Exit code of a run whose snapshot a check kept from readers.
pub const EXIT_CHECK_FAILED: u8 = 7;

/// Requests of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Requests {
    /// Sent by this process, retries included.
    pub sent: u64,
    /// Attempts beyond the first.
    pub retried: u64,
    /// Answers taken from the run's archive instead.
    pub replayed: u64,
    /// Sent, by stage.
    pub by_stage: BTreeMap<String, u64>,
}

/// What happened to a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TableRows {
    /// Rows given to it.
    pub read: u64,
    /// New rows.
    pub added: u64,
    /// Rows that differ from before.
    pub changed: u64,
    /// Filings no longer listed.
    pub vanished: u64,
    /// Rows now.
    pub total: u64,
}

impl From<&TableDelta> for TableRows {
    fn from(delta: &TableDelta) -> Self {
        Self {
            read: delta.read,
            added: delta.added,
            changed: delta.changed + delta.returned,
            vanished: delta.vanished,
            total: delta.total,
        }
    }
}

/// A day that is not whole in the lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IncompleteDay {
    /// The day.
    pub day: Date,
    /// Listing: `*` or a type.
    pub entity_type: String,
    /// Rows the API said it has; none while it was never read.
    pub expected: Option<u64>,
    /// Rows of it in the lake.
    pub landed: u64,
}

/// How much of the window is proven. A day counts once for each listing read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CoverageSummary {
    /// Days asked for.
    pub days: u64,
    /// Days proven whole.
    pub complete: u64,
    /// The others, and days with rows in quarantine.
    pub incomplete: Vec<IncompleteDay>,
}

/// A start of a name that could not be proven whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnprovenStart {
    /// The start.
    pub start: String,
    /// Listing: `*` or a type.
    pub entity_type: String,
    /// Rows the API said it has.
    pub expected: u64,
    /// Rows that came; they are in the lake.
    pub held: u64,
}

/// How far the register has been read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterSummary {
    /// Which businesses were asked for.
    pub status: RegisterStatus,
    /// Starts of a name read whole, by this run and earlier ones.
    pub starts: u64,
    /// Starts this run asked for that no name has.
    pub empty: u64,
    /// Starts that the API does not take as a search.
    pub refused: Vec<String>,
    /// Starts that are likely still to be asked for.
    pub left: u64,
    /// Rows found under the starts read.
    pub rows: u64,
    /// Businesses there are, as the API counts.
    pub businesses_total: u64,
    /// What that counts, once a whole reading has shown it.
    pub counted: Option<Counted>,
    /// Businesses counted that the lake does not hold; none where the count cannot be held against what was read.
    pub missing: Option<i64>,
    /// Starts that could not be proven whole.
    pub unproven: Vec<UnprovenStart>,
}

/// How far the look-ups have come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EnrichSummary {
    /// Businesses chosen whose details were due.
    pub chosen: u64,
    /// Of these, looked up by now.
    pub looked_up: u64,
    /// Of those, not known to the API.
    pub unknown: u64,
    /// Not looked up yet.
    pub left: u64,
}

/// What a run did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    /// The run.
    pub run_id: String,
    /// Its pipeline.
    pub pipeline: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What the process exits with.
    pub exit_code: u8,
    /// Eastern day it ran as.
    pub today: Date,
    /// Newest snapshot now; none in a lake without one.
    pub snapshot: Option<u64>,
    /// Requests.
    pub requests: Requests,
    /// Tables, by name.
    pub rows: BTreeMap<String, TableRows>,
    /// Days.
    pub coverage: CoverageSummary,
    /// How far the register has been read; none where the pipeline does not read it.
    pub register: Option<RegisterSummary>,
    /// How far look-ups have come; none where the pipeline makes none.
    pub enrich: Option<EnrichSummary>,
    /// Records in quarantine.
    pub quarantined: u64,
    /// Fields the schema does not know, and how often each was sent.
    pub unknown_fields: BTreeMap<String, u64>,
    /// Values never seen before in columns whose sets are open; none on a lake's first run, to which all are new.
    pub new_values: OpenValues,
    /// What failed checks found.
    pub checks: Vec<String>,
    /// The snapshot that the checks held instead of publishing it, if they did.
    pub held: Option<u64>,
    /// Old snapshots that the pipeline's `[retention]` pruned.
    pub pruned: Vec<u64>,
    /// Why the run stopped early, if it did.
    pub stopped: Option<String>,
    /// When it is worth to go on: a window of the account opens again, or a pause that the API asked for is over.
    pub go_on_after: Option<Timestamp>,
    /// Eastern day on which a run that stopped early will be complete, if it goes on every day.
    pub complete_on: Option<Date>,
    /// The run of an earlier day that the same command finished first, if there was one.
    pub finished_first: Option<Box<RunSummary>>,
    /// Wall-clock seconds.
    pub elapsed_secs: f64,
    /// Most memory the process held at once; 0 where the system does not tell.
    pub peak_rss_bytes: u64,
}

impl RunSummary {
    /// The summary of a run that has done nothing.
    pub fn empty(pipeline: &str, today: Date) -> Self {
        Self {
            run_id: String::new(),
            pipeline: pipeline.to_owned(),
            outcome: Outcome::Failed,
            exit_code: 0,
            today,
            snapshot: None,
            requests: Requests::default(),
            rows: BTreeMap::new(),
            coverage: CoverageSummary::default(),
            register: None,
            enrich: None,
            quarantined: 0,
            unknown_fields: BTreeMap::new(),
            new_values: OpenValues::default(),
            checks: Vec::new(),
            held: None,
            pruned: Vec::new(),
            stopped: None,
            go_on_after: None,
            complete_on: None,
            finished_first: None,
            elapsed_secs: 0.0,
            peak_rss_bytes: 0,
        }
    }
}
