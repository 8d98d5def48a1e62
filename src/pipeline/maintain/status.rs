//! Where a lake stands: snapshots, rows, coverage, requests used, last runs.

use crate::client::{AccountUsed, ClientError, Ledger};
use crate::lake::{Commit, Lake};
use crate::pipeline::PipelineError;
use crate::pipeline::plan::lake_view::coverage_rows;
use crate::pipeline::state::RunState;
use crate::pipeline::state::registry::RegisterStatus;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

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

/// Requests one account has used, by this host's ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BudgetStanding {
    /// Address of the service.
    pub service: String,
    /// Digests of the account's keys.
    pub keys: Vec<String>,
    /// Used in the last 60 s.
    pub minute: u32,
    /// Used this Eastern day.
    pub day: u32,
    /// Used this Eastern month.
    pub month: u32,
}

/// How far the register has been read, as the newest snapshot has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegisterStanding {
    /// Which businesses were asked for.
    pub status: RegisterStatus,
    /// Starts of a name read whole.
    pub starts: u64,
    /// Rows found under them.
    pub rows: u64,
    /// Oldest day on which one of them was read.
    pub oldest_read: Option<Date>,
}

/// Where a lake stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// Newest snapshot; none in a lake without one.
    pub snapshot: Option<u64>,
    /// Snapshots that are kept, newest first.
    pub snapshots: Vec<SnapshotStanding>,
    /// Rows by table of the newest snapshot.
    pub rows: BTreeMap<String, u64>,
    /// How far the register has been read; none in a lake that never read it.
    pub register: Option<RegisterStanding>,
    /// Coverage, newest day first.
    pub coverage: Vec<DayStanding>,
    /// Requests used by the accounts of this host.
    pub budgets: Vec<BudgetStanding>,
    /// Last runs, newest first.
    pub runs: Vec<RunStanding>,
}

/// Looks at a lake and at the ledgers in the host's state folder; changes nothing.
///
/// # Errors
/// A lake that cannot be read.
pub fn standing(lake: &Lake, state: &Path, now: Timestamp) -> Result<Standing, PipelineError> {
    let current = lake.current()?;
    let mut snapshots = Vec::new();
    for number in lake.kept_snapshots()?.into_iter().rev() {
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
        register: current.as_ref().and_then(register),
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
        budgets: budgets(state, now)?,
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

fn register(commit: &Commit) -> Option<RegisterStanding> {
    let state = RunState::from_commit(&commit.state).register;
    Some(RegisterStanding {
        status: state.status?,
        starts: state.starts().count() as u64,
        rows: state.rows(),
        oldest_read: state.read.values().flat_map(BTreeMap::keys).min().copied(),
    })
}

fn budgets(state: &Path, now: Timestamp) -> Result<Vec<BudgetStanding>, PipelineError> {
    let unreadable = |source| ClientError::Ledger { path: state.display().to_string(), source };
    let accounts = Ledger::accounts(state, now).map_err(unreadable)?;
    let standing = |account: AccountUsed| BudgetStanding {
        service: account.service,
        keys: account.keys,
        minute: account.used.minute,
        day: account.used.day,
        month: account.used.month,
    };
    Ok(accounts.into_iter().map(standing).collect())
}
