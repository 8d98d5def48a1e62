//! The end of a run: tables merged, aggregates made, checks held against them, and the commit.

pub(super) mod check_input;
pub(super) mod checks;
pub mod report;
pub mod summary;

use super::PipelineError;
use super::config::spec::OnFailure;
use super::config::sql::aggregates_of;
use super::load::landing::Landing;
use super::load::recount::{LakeCounts, Told};
use super::load::reference_tables::merge_lists;
use super::plan::jobs::listings;
use super::plan::lake_view::read_coverage_files;
use super::run::{Run, Stopped};
use super::state::RunState;
use crate::aggregate::{head_comment, run_aggregate};
use crate::contract::count::DailyCount;
use crate::contract::eastern::days_newest_first;
use crate::export::catalog::write_catalog;
use crate::extract::PlanOverride;
use crate::extract::reference::Reference;
use crate::lake::{Commit, CommitInfo, Month, PruneRules, Staging, TableDelta};
use crate::normalize::OpenValues;
use crate::table::{CoverageRow, Table};
use check_input::evidence;
use checks::{findings, grave, verdict};
use jiff::Timestamp;
use jiff::civil::Date;
use report::write_report;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;
use summary::{
    CoverageSummary, EXIT_CHECK_FAILED, EXIT_RUN_AGAIN, IncompleteDay, Outcome, Requests, RunSummary,
    TableRows,
};

/// How a run ended whose snapshot is held.
const HELD: &str = "held";

/// How the reading went.
pub(super) struct Finished {
    /// Lists and counts; none when the run stopped before they were read.
    pub(super) reference: Option<Reference>,
    /// Why it stopped early, if it did.
    pub(super) stopped: Option<Stopped>,
    pub(super) requests: Requests,
    pub(super) started: Instant,
}

/// Merges what landed, checks it, and publishes it if anything differs from the newest snapshot.
pub(super) fn publish(
    mut run: Run<'_>,
    mut landing: Landing,
    done: Finished,
) -> Result<RunSummary, PipelineError> {
    run.remember(&landing);
    let mut summary = RunSummary::empty(&run.record.pipeline, run.record.today);
    summary.run_id = run.record.run_id.clone();
    summary.snapshot = landing.staging.parent().map(|commit| commit.snapshot);
    if let Some(stopped) = done.stopped {
        stopped.tell(&mut summary);
    }
    summary.requests = done.requests;
    if done.reference.is_some() || run.enrich.is_some() {
        let (deltas, counts) = merge_landed(&run, &mut landing, done.reference.as_ref())?;
        if done.reference.is_some() {
            run.state.lists.note(run.record.today, &landing.lists_came);
        }
        summary.rows = deltas.iter().map(|(table, delta)| (table.clone(), TableRows::from(delta))).collect();
        let coverage = landing.staging.files().remove(Table::Coverage.name()).unwrap_or_default();
        summary.coverage = coverage_summary(&run, &coverage)?;
        if run.pipeline.spec.registry.is_some() {
            summary.register = counts.map(|counts| run.register_summary(&counts, summary.stopped.is_none()));
        }
        summary.enrich = run.enrich.clone();
        summary.quarantined = landing.rejected.len() as u64;
        summary.unknown_fields = landing.unknown_fields.clone();
        summary.new_values = new_values(&mut run, &landing);
        // A first run that stopped before a day was whole has nothing to show yet; what it read waits in the archive.
        if summary.stopped.is_none() || has_filings(&landing.staging) {
            publish_checked(&run, landing, &mut summary)?;
        }
    }
    conclude(&mut run, &mut summary, done.started)?;
    Ok(summary)
}

/// Ends a run that was killed after its commit: nothing is left to do but to say so.
pub(super) fn end_published(
    mut run: Run<'_>,
    commit: &Commit,
    requests: Requests,
    started: Instant,
) -> Result<RunSummary, PipelineError> {
    let mut summary = RunSummary::empty(&run.record.pipeline, run.record.today);
    summary.run_id = run.record.run_id.clone();
    summary.snapshot = Some(commit.snapshot);
    summary.requests = requests;
    summary.outcome = Outcome::Complete;
    let coverage = run.lake.open_snapshot(commit).files(Table::Coverage.name())?;
    summary.coverage = coverage_summary(&run, &coverage)?;
    conclude(&mut run, &mut summary, started)?;
    Ok(summary)
}

/// Adds up, holds the checks against the result, and publishes it, or holds it.
fn publish_checked(
    run: &Run<'_>,
    mut landing: Landing,
    summary: &mut RunSummary,
) -> Result<(), PipelineError> {
    landing.journal.aggregates = aggregates_of(run.pipeline)?;
    if let Some(aggregates) = &landing.journal.aggregates {
        add_up(aggregates, &mut landing.staging, &run.dir.path().join("aggregates"))?;
    }
    let found = findings(&run.pipeline.spec.checks, &evidence(run, &landing, summary)?);
    for finding in &found {
        tracing::warn!(then = finding.then.name(), "{}", finding.what);
    }
    summary.checks = found.iter().map(|finding| finding.what.clone()).collect();
    match verdict(&found) {
        OnFailure::Fail => Err(PipelineError::CheckFailed { failures: grave(&found, OnFailure::Fail) }),
        _ if landing.staging.is_unchanged() && !knows_more(run, landing.staging.parent()) => {
            summary.outcome = Outcome::Unchanged;
            Ok(())
        }
        // A run that goes on later is looked at once it is over.
        OnFailure::Hold if summary.stopped.is_some() => Ok(()),
        OnFailure::Hold => hold(run, landing, summary),
        OnFailure::Tell => commit(run, landing, summary),
    }
}

/// Values this run saw first. They are kept like any other, and told.
fn new_values(run: &mut Run<'_>, landing: &Landing) -> OpenValues {
    let first = run.state.open_values.is_empty();
    let new = landing.open_values.unseen_in(&run.state.open_values);
    run.state.open_values.absorb(new.clone());
    if first {
        return OpenValues::default();
    }
    for (column, values) in new.iter() {
        tracing::warn!(column, ?values, "values never seen before");
    }
    new
}

/// What the tables are merged from, beside what landed.
pub(super) struct Facts<'a> {
    pub(super) today: Date,
    /// When this is said to have been seen.
    pub(super) observed_at: Timestamp,
    /// Lists and counts, where they were read.
    pub(super) lists: Option<(&'a Reference, &'a [DailyCount])>,
    /// The coverage before, where it is to follow what the tables list.
    pub(super) covered: Option<&'a [CoverageRow]>,
    /// Oldest day that can be read again, where coverage is to follow rows that moved between days.
    pub(super) readable_from: Option<Date>,
}

/// Merges what the run read, and notes in the journal how.
fn merge_landed(
    run: &Run<'_>,
    landing: &mut Landing,
    reference: Option<&Reference>,
) -> Result<(BTreeMap<String, TableDelta>, Option<LakeCounts>), PipelineError> {
    let spec = &run.pipeline.spec;
    let observed_at = (run.now)();
    let follows_listed = spec.registry.is_some() || spec.enrich.is_some();
    landing.journal.merged_at = Some(observed_at);
    landing.journal.has_lists = reference.is_some();
    landing.journal.follows_listed = follows_listed;
    landing.journal.counted_days = run.counted_days.unwrap_or(0);
    landing.journal.silent_about = spec.enrich.is_some().then(|| "businesses that were looked up".to_owned());
    let covered = match follows_listed {
        true => Some(read_coverage_files(&landing.staging.sound_table(Table::Coverage)?)?),
        false => None,
    };
    let lists = reference.map(|reference| (reference, &run.counts[..]));
    let readable_from = (!follows_listed).then_some(run.from);
    landing.journal.readable_from = readable_from;
    let today = run.record.today;
    merge(landing, &Facts { today, observed_at, lists, covered: covered.as_deref(), readable_from })
}

/// Merges what landed, and the lists and counts, into the coming snapshot.
pub(super) fn merge(
    landing: &mut Landing,
    facts: &Facts<'_>,
) -> Result<(BTreeMap<String, TableDelta>, Option<LakeCounts>), PipelineError> {
    landing.end()?;
    let mut deltas = std::mem::take(&mut landing.looked_up);
    let filings = landing.staging.merge_filings(&landing.whole, facts.observed_at)?;
    let counts = match facts.covered {
        Some(covered) => Some(count_listed(landing, facts.today, covered)?),
        None => None,
    };
    if let Some(from) = facts.readable_from {
        follow_moves(landing, facts, from)?;
    }
    deltas.insert(Table::Filings.name().to_owned(), filings);
    deltas.insert(Table::Coverage.name().to_owned(), landing.stage_coverage()?);
    if let Some((reference, counts)) = facts.lists {
        merge_lists(facts.today, (reference, counts), landing, &mut deltas)?;
    }
    Ok((deltas, counts))
}

/// Rows that came by another way than their day's listing: what coverage says to be landed follows them.
fn count_listed(
    landing: &mut Landing,
    today: Date,
    covered: &[CoverageRow],
) -> Result<LakeCounts, PipelineError> {
    let files = landing.staging.files().remove(Table::Filings.name()).unwrap_or_default();
    let counts = LakeCounts::of(&files, today)?;
    landing.coverage.extend(counts.put_right(covered.to_vec()));
    Ok(counts)
}

/// Rows that a reading of one day took away from another: what coverage says of that one follows them.
fn follow_moves(landing: &mut Landing, facts: &Facts<'_>, from: Date) -> Result<(), PipelineError> {
    let months = landing.staging.changed_months();
    let files: Vec<PathBuf> = months.values().flat_map(|files| files.after.iter().cloned()).collect();
    let listed = LakeCounts::of(&files, facts.today)?;
    let key = |row: &CoverageRow| (row.filed_date, row.entity_type.clone());
    let read_now: BTreeSet<(Date, String)> = landing.coverage.iter().map(key).collect();
    let mut coverage = read_coverage_files(&landing.staging.sound_table(Table::Coverage)?)?;
    coverage.retain(|row| !read_now.contains(&key(row)));
    coverage.extend(landing.coverage.iter().cloned());
    coverage.retain(|row| Month::of(row.filed_date).is_some_and(|month| months.contains_key(&month)));
    let counts = facts.lists.map_or(&[][..], |(_, counts)| counts);
    let counted = counts.iter().map(|count| (count.date, count.count)).collect();
    for row in listed.follow_moves(coverage, &Told { from, counted, read_now: &read_now }) {
        tracing::info!(day = %row.filed_date, listing = row.entity_type, row.landed, "rows moved elsewhere");
        landing.coverage.retain(|before| key(before) != key(&row));
        landing.coverage.push(row);
    }
    Ok(())
}

pub(super) fn has_filings(staging: &Staging) -> bool {
    staging.files().get(Table::Filings.name()).is_some_and(|files| !files.is_empty())
}

/// Makes the aggregates of the coming snapshot anew, by way of files in the folder `out`.
pub(super) fn add_up(
    aggregates: &[(String, String)],
    staging: &mut Staging,
    out: &Path,
) -> Result<(), PipelineError> {
    if !has_filings(staging) {
        // A pipeline of lists and counts alone: there is nothing to add up.
        staging.retain_aggregates(&BTreeSet::new());
        return Ok(());
    }
    let tables = staging.sound_files()?;
    let unwritten = |source| PipelineError::Write { path: out.to_owned(), source };
    std::fs::create_dir_all(out).map_err(unwritten)?;
    for (name, sql) in aggregates {
        let made = run_aggregate(name, sql, &tables, out)?;
        staging.aggregate_file(name, &made.path, &head_comment(sql))?;
    }
    staging.retain_aggregates(&aggregates.iter().map(|(name, _)| name.clone()).collect());
    std::fs::remove_dir_all(out).map_err(unwritten)
}

/// Writes down how the snapshot came about, and publishes it.
fn commit(run: &Run<'_>, landing: Landing, summary: &mut RunSummary) -> Result<(), PipelineError> {
    run.dir.write_journal(landing.staging.snapshot(), &landing.journal)?;
    let commit = landing.staging.commit(commit_info(run, summary))?;
    summary.snapshot = Some(commit.snapshot);
    summary.outcome = Outcome::Complete;
    Ok(())
}

/// Keeps the snapshot whole beside the others, for a person to look at; readers go on seeing the one before.
fn hold(run: &Run<'_>, landing: Landing, summary: &mut RunSummary) -> Result<(), PipelineError> {
    run.dir.write_journal(landing.staging.snapshot(), &landing.journal)?;
    let held = landing.staging.commit_pending(commit_info(run, summary))?;
    let number = held.snapshot;
    tracing::warn!(
        "snapshot {number} is held, not published; look: sunlake snapshot show {number}; publish: sunlake snapshot accept {number}"
    );
    summary.held = Some(number);
    summary.exit_code = EXIT_CHECK_FAILED;
    Ok(())
}

fn commit_info(run: &Run<'_>, summary: &RunSummary) -> CommitInfo {
    let mut state = run.state.clone();
    // What a pipeline file says of the plan holds for its own runs.
    if run.is_plan_found && run.pipeline.spec.plan == PlanOverride::default() {
        state.plan = Some(run.plan);
    }
    state.source = Some(run.source);
    state.as_of = state.as_of.max(Some(run.record.today));
    state.ended = summary.stopped.is_none().then(|| run.record.run_id.clone());
    CommitInfo {
        committed_at: (run.now)(),
        today: run.record.today,
        pipeline: run.record.pipeline.clone(),
        requests_sent: summary.requests.sent,
        state: serde_json::to_value(&state).unwrap_or_default(),
        checks: serde_json::json!({ "findings": summary.checks }),
    }
}

/// Whether what was found out beside rows must be kept: a start without names, a business that the API does not know, a day that was
/// looked at again.
fn knows_more(run: &Run<'_>, parent: Option<&Commit>) -> bool {
    let before = parent.map(|commit| RunState::from_commit(&commit.state)).unwrap_or_default();
    before.register != run.state.register
        || before.enrich != run.state.enrich
        || before.stirred != run.state.stirred
        || before.vain != run.state.vain
}

/// Writes the catalogue of the newest snapshot, and the report with what this run did.
fn tell(run: &Run<'_>, summary: &RunSummary) -> Result<(), PipelineError> {
    let Some(commit) = run.lake.current()? else { return Ok(()) };
    write_catalog(run.lake, &commit)?;
    if run.pipeline.spec.report.enabled {
        write_report(run.lake, &commit, Some(summary))?;
    }
    Ok(())
}

/// The outcome, the old snapshots that may go, and whether the run is over: one that paused goes on next time, one that found
/// days it cannot read, or was held, does not.
fn conclude(run: &mut Run<'_>, summary: &mut RunSummary, started: Instant) -> Result<(), PipelineError> {
    let is_behind = summary.coverage.complete < summary.coverage.days
        || summary
            .register
            .as_ref()
            .is_some_and(|register| register.left > 0 || !register.unproven.is_empty())
        || summary.enrich.as_ref().is_some_and(|enrich| enrich.left > 0);
    if (summary.stopped.is_some() || is_behind) && summary.held.is_none() {
        summary.outcome = Outcome::Partial;
        summary.exit_code = EXIT_RUN_AGAIN;
    }
    if summary.stopped.is_none() {
        run.record.finished =
            Some(if summary.held.is_some() { HELD } else { summary.outcome.name() }.to_owned());
    }
    summary.pruned = retain(run)?;
    summary.elapsed_secs = started.elapsed().as_secs_f64();
    tell(run, summary)?;
    run.dir.write_summary(summary)?;
    run.dir.close(&mut run.record)?;
    Ok(())
}

/// Prunes as the pipeline's `[retention]` says; without one nothing goes.
fn retain(run: &Run<'_>) -> Result<Vec<u64>, PipelineError> {
    let spec = &run.pipeline.spec.retention;
    let rules = PruneRules { keep: spec.retention(), raw_days: spec.raw_days, today: run.record.today };
    let pruning = run.lake.prune(run.lock, &rules, (run.now)())?;
    Ok(pruning.snapshots)
}

/// The coverage of the window as these files of the coverage table have it.
fn coverage_summary(run: &Run<'_>, files: &[PathBuf]) -> Result<CoverageSummary, PipelineError> {
    let rows: BTreeMap<(String, Date), CoverageRow> = read_coverage_files(files)?
        .into_iter()
        .map(|row| ((row.entity_type.clone(), row.filed_date), row))
        .collect();
    let mut summary = CoverageSummary::default();
    let labels: BTreeSet<&str> = listings(&run.pipeline.spec).iter().map(|listing| listing.label).collect();
    for label in labels {
        for day in days_newest_first(run.from, run.record.today) {
            summary.days += 1;
            let row = rows.get(&(label.to_owned(), day));
            summary.complete += u64::from(row.is_some_and(|row| row.complete));
            if row.is_none_or(|row| !row.complete || row.landed != row.expected) {
                summary.incomplete.push(IncompleteDay {
                    day,
                    entity_type: label.to_owned(),
                    expected: row.and_then(|row| u64::try_from(row.expected).ok()),
                    landed: row.and_then(|row| u64::try_from(row.landed).ok()).unwrap_or(0),
                });
            }
        }
    }
    Ok(summary)
}
