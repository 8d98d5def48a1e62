//! The end of a run: merge, aggregates, checks, commit, summary.

use super::check_input::evidence;
use super::checks::{findings, findings_that, verdict};
use super::merge::{add_up, has_filings, merge_landed};
use super::report::write_report;
use super::summary::{CoverageSummary, IncompleteDay, Outcome, Requests, RunSummary, TableRows};
use crate::aggregate::digest;
use crate::contract::eastern::days_newest_first;
use crate::contract::listing::Listing;
use crate::export::catalog::{leave_out, write_catalog};
use crate::extract::PlanOverride;
use crate::extract::reference::Reference;
use crate::lake::{Commit, CommitInfo, PruneRules, RunRecord};
use crate::normalize::OpenValues;
use crate::pipeline::config::file::aggregates_of;
use crate::pipeline::config::spec::OnFailure;
use crate::pipeline::context::{Run, Stopped};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::load::landing::Landing;
use crate::pipeline::plan::jobs::listings;
use crate::pipeline::plan::lake_view::{coverage_rows, read_coverage_files};
use crate::pipeline::progress::{Done, Event, Work};
use crate::pipeline::state::provenance::Journal;
use crate::pipeline::state::run_state::RunState;
use crate::table::{CoverageRow, Table};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

pub(crate) struct Finished {
    /// Lists and counts; none when the run stopped before they were read.
    pub(crate) reference: Option<Reference>,
    pub(crate) stopped: Option<Stopped>,
    pub(crate) requests: Requests,
    pub(crate) started: Instant,
}

/// Merges what landed, checks it, and publishes it if anything differs from the newest snapshot.
pub(crate) fn publish(mut run: Run<'_>, mut landing: Landing, done: Finished) -> Result<RunSummary> {
    run.remember(&landing);
    let mut summary = RunSummary::empty(&run.record.pipeline, run.record.today);
    summary.run_id = run.record.run_id.clone();
    summary.snapshot = landing.staging.parent().map(|commit| commit.snapshot);
    if let Some(stopped) = done.stopped {
        stopped.report(&mut summary);
    }
    summary.requests = done.requests;
    if done.reference.is_some() || run.enrich.is_some() {
        let reading = done.started.elapsed();
        run.progress.report(Event::Working(Work::Merging));
        let (deltas, counts) = merge_landed(&run, &mut landing, done.reference.as_ref())?;
        if done.reference.is_some() {
            run.state.lists.note(run.record.today, &landing.lists_came);
        }
        summary.rows = deltas.iter().map(|(table, delta)| (table.clone(), TableRows::from(delta))).collect();
        run.progress.report(Event::Done(has_read(&summary, reading)));
        let coverage = landing.staging.files().remove(Table::Coverage.name()).unwrap_or_default();
        summary.coverage = coverage_summary(&run, read_coverage_files(&coverage)?);
        if run.pipeline.spec.registry.is_some() {
            summary.register = counts.map(|counts| run.register_summary(&counts, summary.stopped.is_none()));
        }
        summary.enrich = run.enrich.clone();
        summary.quarantined = landing.rejected.len() as u64;
        summary.unknown_fields = landing.unknown_fields.clone();
        summary.new_values = new_values(&mut run, &landing);
        // A first run that stopped before a day was complete has nothing to show; its pages stay in the archive.
        if summary.stopped.is_none() || has_filings(&landing.staging) {
            publish_checked(&run, landing, &mut summary)?;
        }
    }
    conclude(&mut run, &mut summary, done.started)?;
    Ok(summary)
}

/// What a run read in this time: filings, or the details of businesses.
fn has_read(summary: &RunSummary, time: Duration) -> Done {
    let rows = |table: Table| summary.rows.get(table.name()).map_or(0, |rows| rows.read);
    match rows(Table::Details) {
        0 => Done::Read(rows(Table::Filings), time),
        businesses => Done::LookedUp(businesses, time),
    }
}

/// Ends a run that was killed after its commit.
pub(crate) fn end_published(mut run: Run<'_>, requests: Requests, started: Instant) -> Result<RunSummary> {
    let mut summary = RunSummary::empty(&run.record.pipeline, run.record.today);
    summary.run_id = run.record.run_id.clone();
    summary.requests = requests;
    summary.outcome = Outcome::Complete;
    let commit = run.lake.current()?;
    summary.snapshot = commit.as_ref().map(|commit| commit.snapshot);
    summary.coverage = coverage_summary(&run, coverage_rows(run.lake, commit.as_ref())?);
    conclude(&mut run, &mut summary, started)?;
    Ok(summary)
}

/// Computes the aggregates, runs the checks, and publishes the snapshot or leaves it for review.
fn publish_checked(run: &Run<'_>, mut landing: Landing, summary: &mut RunSummary) -> Result<()> {
    landing.journal.aggregates = aggregates_of(run.pipeline)?;
    if let Some(aggregates) = &landing.journal.aggregates {
        let by = RunState::of(landing.staging.parent()).aggregates;
        let (begun, number) = (Instant::now(), aggregates.len() as u64);
        run.progress.report(Event::Working(Work::AddingUp(number)));
        add_up(aggregates, &by, &mut landing.staging, &run.dir.path().join("aggregates"))?;
        run.progress.report(Event::Done(Done::AddedUp(number, begun.elapsed())));
    }
    run.progress.report(Event::Working(Work::Publishing));
    let found = findings(&run.pipeline.spec.checks, &evidence(run, &landing, summary)?);
    for finding in &found {
        tracing::warn!(then = ?finding.then, "{}", finding.what);
    }
    summary.checks = found.iter().map(|finding| finding.what.clone()).collect();
    match verdict(&found) {
        OnFailure::Fail => {
            Err(PipelineError::CheckFailed { failures: findings_that(&found, OnFailure::Fail) })
        }
        _ if landing.staging.is_unchanged() && !knows_more(run, landing.staging.parent()) => {
            summary.outcome = Outcome::Unchanged;
            run.progress.report(Event::Done(Done::Unchanged(summary.snapshot)));
            Ok(())
        }
        // A run that resumes later is reviewed once it has ended.
        OnFailure::Hold if summary.stopped.is_some() => Ok(()),
        OnFailure::Hold => hold(run, landing, summary),
        OnFailure::Tell => commit(run, landing, summary),
    }
}

/// Values that this run saw first. They are kept like any other, and logged unless the first window is still being read.
fn new_values(run: &mut Run<'_>, landing: &Landing) -> OpenValues {
    let new = landing.open_values.unseen_in(&run.state.open_values);
    run.state.open_values.absorb(new.clone());
    if !run.state.read_once {
        return OpenValues::default();
    }
    for (column, values) in new.iter() {
        tracing::warn!(column, ?values, "values never seen before");
    }
    new
}

/// Writes the journal, and publishes the snapshot.
fn commit(run: &Run<'_>, landing: Landing, summary: &mut RunSummary) -> Result<()> {
    run.dir.write_journal(landing.staging.snapshot(), &landing.journal)?;
    let snapshot = landing.staging.commit(commit_info(run, &landing.journal, summary))?.snapshot;
    run.progress.report(Event::Done(Done::Published(snapshot)));
    summary.snapshot = Some(snapshot);
    summary.outcome = Outcome::Complete;
    Ok(())
}

/// Leaves the snapshot for review. Readers still see the one before.
fn hold(run: &Run<'_>, landing: Landing, summary: &mut RunSummary) -> Result<()> {
    run.dir.write_journal(landing.staging.snapshot(), &landing.journal)?;
    let number = landing.staging.commit_pending(commit_info(run, &landing.journal, summary))?.snapshot;
    tracing::warn!(
        "snapshot {number} is `held` for review, not published; look: sunlake snapshot show {number}; publish: sunlake snapshot accept {number}"
    );
    run.progress.report(Event::Done(Done::Held(number)));
    summary.held = Some(number);
    Ok(())
}

fn commit_info(run: &Run<'_>, journal: &Journal, summary: &RunSummary) -> CommitInfo {
    let mut state = run.state.clone();
    // The plan's numbers in a pipeline file apply to its own runs.
    if run.is_plan_found && run.pipeline.spec.plan == PlanOverride::default() {
        state.plan = Some(run.plan);
    }
    state.source = Some(run.source);
    state.as_of = state.as_of.max(Some(run.record.today));
    state.wanted = run.wanted_days().or(state.wanted);
    state.read_once |= summary.stopped.is_none() && !summary.is_behind();
    state.ended = summary.stopped.is_none().then(|| run.record.run_id.clone());
    let aggregates = journal.aggregates.iter().flatten();
    state.aggregates = aggregates.map(|(name, sql)| (name.clone(), digest(sql))).collect();
    CommitInfo {
        committed_at: (run.now)(),
        today: run.record.today,
        pipeline: run.record.pipeline.clone(),
        requests_sent: summary.requests.sent,
        state: serde_json::to_value(&state).unwrap_or_default(),
        checks: serde_json::json!({ "findings": summary.checks }),
    }
}

/// Whether the state must be published though no row differs: for an empty prefix, an unknown business, a day read again.
fn knows_more(run: &Run<'_>, parent: Option<&Commit>) -> bool {
    let before = RunState::of(parent);
    before.register != run.state.register
        || before.enrich != run.state.enrich
        || before.drifted != run.state.drifted
        || before.backoffs != run.state.backoffs
}

/// Writes the catalogue of the newest snapshot, and the report with what this run did.
fn show(run: &Run<'_>, summary: &RunSummary) -> Result<()> {
    let Some(commit) = run.lake.current()? else { return Ok(()) };
    write_catalog(run.lake, &commit)?;
    if run.pipeline.spec.report.enabled {
        write_report(run.lake, &commit, Some(summary))?;
    }
    Ok(())
}

/// Sets the outcome, prunes old snapshots, and closes the run unless it paused. Incomplete days and a review do not keep it open.
fn conclude(run: &mut Run<'_>, summary: &mut RunSummary, started: Instant) -> Result<()> {
    let is_partial = (summary.stopped.is_some() || summary.is_behind()) && summary.held.is_none();
    summary.end(if is_partial { Outcome::Partial } else { summary.outcome });
    if summary.stopped.is_none() {
        run.record.finished =
            Some(if summary.held.is_some() { RunRecord::HELD } else { summary.outcome.name() }.to_owned());
    }
    let spec = &run.pipeline.spec.retention;
    let rules = PruneRules { keep: spec.retention(), raw_days: spec.raw_days, today: run.record.today };
    leave_out(run.lake, &run.lake.would_prune(&rules)?.snapshots)?;
    summary.pruned = run.lake.prune(run.lock, &rules, (run.now)())?.snapshots;
    summary.elapsed_secs = started.elapsed().as_secs_f64();
    show(run, summary)?;
    run.dir.write_summary(summary)?;
    run.dir.close(&mut run.record)?;
    Ok(())
}

/// The coverage of the window, by the rows of the coverage table.
fn coverage_summary(run: &Run<'_>, rows: Vec<CoverageRow>) -> CoverageSummary {
    let rows: BTreeMap<(String, Date), CoverageRow> =
        rows.into_iter().map(|row| ((row.entity_type.clone(), row.filed_date), row)).collect();
    let mut summary = CoverageSummary::default();
    let labels: BTreeSet<&str> = listings(&run.pipeline.spec).into_iter().map(Listing::label).collect();
    for label in labels {
        summary.listings.push(label.to_owned());
        for day in days_newest_first(run.from, run.record.today) {
            summary.days += 1;
            let row = rows.get(&(label.to_owned(), day));
            summary.complete += u64::from(row.is_some_and(|row| row.complete));
            if row.is_none_or(|row| !row.complete) {
                summary.incomplete.push(IncompleteDay {
                    day,
                    entity_type: label.to_owned(),
                    expected: row.and_then(|row| u64::try_from(row.expected).ok()),
                    landed: row.and_then(|row| u64::try_from(row.landed).ok()).unwrap_or(0),
                });
            }
        }
    }
    summary
}
