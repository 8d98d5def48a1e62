//! Where a lake stands: snapshots, rows, coverage, requests used, last runs.

use super::PipelineError;
use super::known::coverage_rows;
use crate::client::Ledger;
use crate::lake::Lake;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeMap;

/// Runs told of.
const LAST_RUNS: usize = 10;

/// One snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapshotStanding {
    /// Number.
    pub snapshot: u64,
    /// When it was committed.
    pub committed_at: Timestamp,
    /// Eastern day of its run.
    pub today: Date,
    /// The run.
    pub run_id: String,
    /// Requests it had sent.
    pub requests_sent: u64,
}

/// Coverage of one day of one listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DayStanding {
    /// The day.
    pub day: Date,
    /// `*` or a type.
    pub entity_type: String,
    /// Rows the API said it has.
    pub expected: i64,
    /// Rows of it in the lake.
    pub landed: i64,
    /// Whether it was proven whole.
    pub complete: bool,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunStanding {
    /// The run.
    pub run_id: String,
    /// Its pipeline.
    pub pipeline: String,
    /// Eastern day it ran as.
    pub today: Date,
    /// How it ended; none while it can still go on.
    pub finished: Option<String>,
}

/// Requests one account has used, by this lake's ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BudgetStanding {
    /// Digest of the account's key.
    pub account: String,
    /// Used in the last 60 s.
    pub minute: u32,
    /// Used this Eastern day.
    pub day: u32,
    /// Used this Eastern month.
    pub month: u32,
}

/// Where a lake stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Newest snapshot; none in a lake without one.
    pub snapshot: Option<u64>,
    /// All snapshots, newest first.
    pub snapshots: Vec<SnapshotStanding>,
    /// Rows by table of the newest snapshot.
    pub rows: BTreeMap<String, u64>,
    /// Coverage, newest day first.
    pub coverage: Vec<DayStanding>,
    /// Requests used.
    pub budgets: Vec<BudgetStanding>,
    /// Last runs, newest first.
    pub runs: Vec<RunStanding>,
}

/// Looks at a lake; changes nothing.
///
/// # Errors
/// A lake that cannot be read.
pub fn standing(lake: &Lake, now: Timestamp) -> Result<Standing, PipelineError> {
    let current = lake.current()?;
    let mut snapshots = Vec::new();
    for number in lake.commits()?.into_iter().rev() {
        let commit = lake.commit(number)?;
        snapshots.push(SnapshotStanding {
            snapshot: commit.snapshot,
            committed_at: commit.committed_at,
            today: commit.today,
            run_id: commit.run_id,
            requests_sent: commit.requests_sent,
        });
    }
    let rows = current.iter().flat_map(|commit| &commit.tables);
    let coverage = coverage_rows(lake, current.as_ref())?;
    let runs = lake.runs()?.into_iter().rev().take(LAST_RUNS);
    Ok(Standing {
        snapshot: current.as_ref().map(|commit| commit.snapshot),
        snapshots,
        rows: rows.map(|(table, manifest)| (table.clone(), manifest.rows)).collect(),
        coverage: coverage
            .into_iter()
            .map(|row| DayStanding {
                day: row.filed_date,
                entity_type: row.entity_type,
                expected: row.expected,
                landed: row.landed,
                complete: row.complete,
            })
            .collect(),
        budgets: budgets(lake, now)?,
        runs: runs
            .map(|run| RunStanding {
                run_id: run.run_id,
                pipeline: run.pipeline,
                today: run.today,
                finished: run.finished,
            })
            .collect(),
    })
}

fn budgets(lake: &Lake, now: Timestamp) -> Result<Vec<BudgetStanding>, PipelineError> {
    let unreadable = |source| PipelineError::Write { path: lake.state_dir(), source };
    let mut budgets = Vec::new();
    let entries = match std::fs::read_dir(lake.state_dir()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(budgets),
        other => other.map_err(unreadable)?,
    };
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
        if let Some(account) = name.strip_prefix("budget-").and_then(|rest| rest.strip_suffix(".json")) {
            let used = Ledger::at(&path).update(|counts| counts.used(now)).map_err(unreadable)?;
            budgets.push(BudgetStanding {
                account: account.to_owned(),
                minute: used.minute,
                day: used.day,
                month: used.month,
            });
        }
    }
    Ok(budgets)
}
