//! The status of a lake: snapshots, rows, coverage, requests used, last runs.

use crate::aggregate::{CoverageDay, coverage_days};
use crate::client::{AccountUsed, ClientError, Ledger};
use crate::contract::eastern::days_newest_first;
use crate::contract::listing::Listing;
use crate::lake::{Commit, Lake, RunRecord};
use crate::pipeline::error::Result;
use crate::pipeline::plan::jobs::RunPlan;
use crate::pipeline::plan::lake_view::coverage_rows;
use crate::pipeline::state::registry::RegisterStatus;
use crate::pipeline::state::run_state::RunState;
use crate::table::{CoverageRow, EVERY_OTHER_TYPE, counts_in_sums};
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
    /// Newest day that is complete in every listing that counts for it: of all types where the lake has them of any day.
    pub(crate) newest_complete: Option<Date>,
    /// Newest day of which a listing is wanted and was never read.
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
        newest_complete: calendar.complete.last().copied(),
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

/// Days of the calendar, whatever the number of their listings. As in the report, a day is complete in all types where the lake has them
/// of any day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Calendar {
    pub(crate) wanted: BTreeSet<Date>,
    pub(crate) complete: BTreeSet<Date>,
    /// What was never read of a day, in words; an empty text where nothing was read.
    pub(crate) unread: BTreeMap<Date, String>,
    /// The listings that count.
    pub(crate) listings: BTreeSet<String>,
}

impl Calendar {
    fn of(coverage: &[CoverageRow], unread: &[(String, Date)]) -> Self {
        let known: BTreeMap<Date, CoverageDay> =
            coverage_days(coverage).into_iter().map(|day| (day.day, day)).collect();
        let labels = coverage.iter().map(|row| &row.entity_type).chain(unread.iter().map(|(label, _)| label));
        let mut listings: BTreeSet<String> = labels.cloned().collect();
        let has_all_types = listings.contains(EVERY_OTHER_TYPE);
        listings.retain(|label| counts_in_sums(label, has_all_types));
        let unread = unread_parts(coverage, &known, unread);
        let is_complete = |day: &&CoverageDay| day.is_complete && !unread.contains_key(&day.day);
        Self {
            wanted: known.keys().chain(unread.keys()).copied().collect(),
            complete: known.values().filter(is_complete).map(|day| day.day).collect(),
            unread,
            listings,
        }
    }
}

/// What was never read of each day: what it lacks, and the wanted listings that count for it.
fn unread_parts(
    coverage: &[CoverageRow],
    known: &BTreeMap<Date, CoverageDay>,
    unread: &[(String, Date)],
) -> BTreeMap<Date, String> {
    let untyped = coverage.iter().filter(|row| row.entity_type == EVERY_OTHER_TYPE);
    let untyped: BTreeSet<Date> = untyped.map(|row| row.filed_date).collect();
    let lacks = known.values().filter_map(|day| Some((day.day, vec![day.lacks?])));
    let mut parts: BTreeMap<Date, Vec<&str>> = lacks.collect();
    for (label, day) in unread {
        match known.get(day) {
            None => parts.entry(*day).or_default().clear(),
            Some(known) if known.lacks.is_some() || !counts_in_sums(label, untyped.contains(day)) => {}
            Some(_) => parts.entry(*day).or_default().push(Listing::name_of(label)),
        }
    }
    parts.into_iter().map(|(day, parts)| (day, parts.join(" and "))).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    const fn day(day: i8) -> Date {
        date(2026, 11, day)
    }

    fn read(of: i8, listing: &str) -> CoverageRow {
        CoverageRow {
            filed_date: day(of),
            entity_type: listing.to_owned(),
            expected: 3,
            landed: 3,
            complete: true,
            settled: false,
            checked_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn parts(calendar: &Calendar) -> Vec<(Date, &str)> {
        calendar.unread.iter().map(|(day, part)| (*day, part.as_str())).collect()
    }

    #[test]
    fn a_day_says_what_was_not_read_of_it() {
        let both = [read(3, "*"), read(3, "fictitious"), read(2, "*")];
        let unread = [("fictitious", 2), ("*", 1), ("fictitious", 1)];
        let calendar = Calendar::of(&both, &unread.map(|(label, of)| (label.to_owned(), day(of))));
        assert_eq!(parts(&calendar), [(day(1), ""), (day(2), "fictitious names")]);
        assert_eq!((calendar.wanted.len(), calendar.complete), (3, BTreeSet::from([day(3)])));
        let of_types = Calendar::of(&[read(1, "llc")], &[("trust".to_owned(), day(1))]);
        assert_eq!(parts(&of_types), [(day(1), "trust")]);
        assert!(of_types.complete.is_empty());
    }

    #[test]
    fn days_count_by_all_listings_of_the_lake_not_by_those_of_the_last_run() {
        let rows = [read(1, "llc"), read(2, "llc"), read(2, "*"), read(2, "fictitious")];
        // The days of the last run have a type that the second day has with all others.
        let calendar = Calendar::of(&rows, &[("trust".to_owned(), day(1)), ("trust".to_owned(), day(2))]);
        assert_eq!((calendar.wanted.len(), &calendar.complete), (2, &BTreeSet::from([day(2)])));
        assert_eq!(parts(&calendar), [(day(1), "other types")]);
        assert_eq!(calendar.listings, BTreeSet::from(["*", "fictitious"].map(str::to_owned)));
        let of_a_type = Calendar::of(&rows[..2], &[]);
        assert_eq!(of_a_type.complete.len(), 2);
        assert_eq!(of_a_type.listings, BTreeSet::from(["llc".to_owned()]));
    }
}
