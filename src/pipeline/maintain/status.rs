//! The status of a lake: snapshots, rows, coverage, requests used, last runs.

use crate::client::{AccountUsed, ClientError, Ledger};
use crate::contract::eastern::days_newest_first;
use crate::lake::{Commit, Lake, RunRecord};
use crate::pipeline::error::Result;
use crate::pipeline::plan::jobs::RunPlan;
use crate::pipeline::plan::lake_view::coverage_rows;
use crate::pipeline::state::registry::RegisterStatus;
use crate::pipeline::state::run_state::RunState;
use crate::table::CoverageRow;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

const LAST_RUNS: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SnapshotStatus {
    pub(crate) snapshot: u64,
    pub(crate) committed_at: Timestamp,
    pub(crate) today: Date,
    pub(crate) run_id: String,
    pub(crate) requests_sent: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DayStatus {
    pub(crate) day: Date,
    /// `*` or a type.
    pub(crate) entity_type: String,
    /// Rows the API reports.
    pub(crate) expected: i64,
    pub(crate) landed: i64,
    pub(crate) complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RunStatus {
    pub(crate) run_id: String,
    pub(crate) pipeline: String,
    /// Its file, or its name if it is built in.
    #[serde(skip)]
    pub(crate) pipeline_file: String,
    pub(crate) today: Date,
    /// How it ended; none while it can still resume.
    pub(crate) finished: Option<String>,
    #[serde(skip)]
    pub(crate) is_of_pipeline: bool,
    /// Whether it read days; a run of the registry or of look-ups has none.
    #[serde(skip)]
    pub(crate) reads_days: bool,
}

impl RunStatus {
    fn of(run: RunRecord) -> Self {
        let is_named = !run.pipeline_file.is_empty();
        Self {
            // A rollback or a repair has none.
            is_of_pipeline: !run.pipeline_digest.is_empty(),
            reads_days: !RunPlan::of_record(&run).day_ranges.is_empty(),
            pipeline_file: if is_named { run.pipeline_file } else { run.pipeline.clone() },
            run_id: run.run_id,
            pipeline: run.pipeline,
            today: run.today,
            finished: run.finished,
        }
    }
}

/// How far the register has been read, by the newest snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct RegisterReading {
    pub(crate) status: RegisterStatus,
    /// Complete prefixes.
    pub(crate) starts: u64,
    pub(crate) rows: u64,
    /// Oldest day on which one of them was read.
    pub(crate) oldest_read: Option<Date>,
    /// Businesses there are, by the API's count.
    pub(crate) businesses_total: u64,
    /// Businesses counted that the lake did not have after the last run.
    pub(crate) missing: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LakeStatus {
    /// Newest snapshot; none in a lake without one.
    pub(crate) snapshot: Option<u64>,
    /// Kept snapshots, newest first.
    pub(crate) snapshots: Vec<SnapshotStatus>,
    /// Rows by table of the newest snapshot.
    pub(crate) rows: BTreeMap<String, u64>,
    /// How far the register has been read; none in a lake that never read it.
    pub(crate) register: Option<RegisterReading>,
    /// Days wanted: those that the newest run of days wanted, and those read before. A day counts once for each listing.
    pub(crate) days_wanted: u64,
    /// Complete days.
    pub(crate) days_complete: u64,
    /// Newest day that is complete in every listing.
    pub(crate) newest_complete: Option<Date>,
    /// Newest day that is wanted and was never read.
    pub(crate) newest_unread: Option<Date>,
    /// The days wanted, as those of the calendar.
    #[serde(skip)]
    pub(crate) calendar: Calendar,
    /// Coverage, newest day first.
    pub(crate) coverage: Vec<DayStatus>,
    /// Requests each account has used, by this host's ledgers.
    pub(crate) budgets: Vec<AccountUsed>,
    /// Last runs, newest first.
    pub(crate) runs: Vec<RunStatus>,
    /// The process that runs the newest of them now.
    #[serde(skip)]
    pub(crate) runs_now: Option<String>,
}

/// Returns the status of a lake, and of the ledgers in the host's state folder.
pub(crate) fn lake_status(lake: &Lake, state: &Path, now: Timestamp) -> Result<LakeStatus> {
    let current = lake.current()?;
    let mut snapshots = Vec::new();
    for number in lake.kept_snapshots()?.into_iter().rev() {
        let commit = lake.commit(number)?;
        snapshots.push(SnapshotStatus {
            snapshot: commit.snapshot,
            committed_at: commit.committed_at,
            today: commit.today,
            run_id: commit.run_id,
            requests_sent: commit.requests_sent,
        });
    }
    let rows = current.iter().flat_map(|commit| &commit.tables);
    let coverage = coverage_rows(lake, current.as_ref())?;
    let unread = unread(current.as_ref(), &coverage);
    let calendar = Calendar::of(&coverage, &unread);
    let unreadable = |source| ClientError::Ledger { path: state.display().to_string(), source };
    let runs: Vec<RunRecord> = lake.runs()?.into_iter().rev().take(LAST_RUNS).collect();
    let is_open = runs.first().is_some_and(RunRecord::is_open);
    Ok(LakeStatus {
        snapshot: current.as_ref().map(|commit| commit.snapshot),
        snapshots,
        rows: rows.map(|(table, manifest)| (table.clone(), manifest.rows)).collect(),
        register: current.as_ref().and_then(register),
        days_wanted: (coverage.len() + unread.len()) as u64,
        days_complete: coverage.iter().filter(|row| row.complete).count() as u64,
        newest_complete: calendar.complete().max(),
        newest_unread: unread.iter().map(|(_, day)| *day).max(),
        calendar,
        coverage: coverage
            .into_iter()
            .map(|row| DayStatus {
                day: row.filed_date,
                entity_type: row.entity_type,
                expected: row.expected,
                landed: row.landed,
                complete: row.complete,
            })
            .collect(),
        budgets: Ledger::accounts(state, now).map_err(unreadable)?,
        runs_now: if is_open { lake.holder()? } else { None },
        runs: runs.into_iter().map(RunStatus::of).collect(),
    })
}

/// Days of the calendar, whatever the number of their listings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Calendar {
    pub(crate) wanted: BTreeSet<Date>,
    /// Days of which a listing is not complete.
    incomplete: BTreeSet<Date>,
    /// Days of which a listing was never read.
    pub(crate) unread: BTreeSet<Date>,
    pub(crate) listings: BTreeSet<String>,
}

impl Calendar {
    fn of(coverage: &[CoverageRow], unread: &[(String, Date)]) -> Self {
        let open = coverage.iter().filter(|row| !row.complete).map(|row| row.filed_date);
        let known = coverage.iter().map(|row| (&row.entity_type, row.filed_date));
        let all = known.chain(unread.iter().map(|(label, day)| (label, *day)));
        let (listings, wanted) = all.map(|(label, day)| (label.clone(), day)).unzip();
        let unread: BTreeSet<Date> = unread.iter().map(|(_, day)| *day).collect();
        Self { wanted, incomplete: open.chain(unread.iter().copied()).collect(), unread, listings }
    }

    /// The days that are complete in every listing.
    pub(crate) fn complete(&self) -> impl Iterator<Item = Date> {
        self.wanted.difference(&self.incomplete).copied()
    }
}

/// Days that the newest run of days wanted and that have no coverage, with the label of the listing.
fn unread(commit: Option<&Commit>, coverage: &[CoverageRow]) -> Vec<(String, Date)> {
    let Some(wanted) = RunState::of(commit).wanted else { return Vec::new() };
    let read: HashSet<(&str, Date)> =
        coverage.iter().map(|row| (row.entity_type.as_str(), row.filed_date)).collect();
    let days = |label: &String| {
        let label = label.clone();
        days_newest_first(wanted.from, wanted.to).map(move |day| (label.clone(), day))
    };
    let all = wanted.listings.iter().flat_map(days);
    all.filter(|(label, day)| !read.contains(&(label.as_str(), *day))).collect()
}

fn register(commit: &Commit) -> Option<RegisterReading> {
    let state = RunState::of(Some(commit)).register;
    Some(RegisterReading {
        status: state.status?,
        starts: state.starts().count() as u64,
        rows: state.rows(),
        oldest_read: state.days().min(),
        businesses_total: state.total.unwrap_or(0),
        missing: state.missing,
    })
}
