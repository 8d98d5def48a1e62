//! The end of a run that read the API: merge, aggregates, checks, commit, summary.

use super::ending::Ending;
use super::merge::{has_filings, merge_landed};
use super::summary::{CoverageSummary, IncompleteDay, Outcome, RunSummary, TableRows};
use crate::contract::count::DailyCount;
use crate::contract::eastern::days_newest_first;
use crate::contract::listing::Listing;
use crate::contract::plan::PlanLimits;
use crate::extract::PlanOverride;
use crate::extract::reference::{PlanBasis, Reference};
use crate::lake::Commit;
use crate::normalize::OpenValues;
use crate::pipeline::config::file::aggregates_of;
use crate::pipeline::config::spec::OnFailure;
use crate::pipeline::context::Run;
use crate::pipeline::error::Result;
use crate::pipeline::load::landing::Landing;
use crate::pipeline::plan::jobs::listings;
use crate::pipeline::plan::lake_view::{coverage_rows, staged_rows};
use crate::pipeline::progress::{Done, Event, Work};
use crate::pipeline::state::run_state::RunState;
use crate::table::{CoverageRow, Table};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Merges what landed, checks it, and publishes it if anything differs from the newest snapshot. `reference` has lists and counts; none
/// when the run stopped before they were read.
pub(crate) fn publish(
    mut run: Run<'_>,
    mut landing: Landing,
    reference: Option<&Reference>,
    mut summary: RunSummary,
    started: Instant,
) -> Result<RunSummary> {
    run.remember(&landing);
    summary.snapshot = landing.staging.parent().map(|commit| commit.snapshot);
    if reference.is_some() || run.enrich.is_some() {
        let reading = started.elapsed();
        run.progress.report(Event::Working(Work::Merging));
        let (deltas, counts) = merge_landed(&run, &mut landing, reference)?;
        if reference.is_some() {
            run.state.lists.note(run.record.today, &landing.lists_came);
        }
        summary.rows = deltas.iter().map(|(table, delta)| (table.clone(), TableRows::from(delta))).collect();
        run.progress.report(Event::Done(has_read(&summary, reading)));
        summary.coverage = coverage_summary(&run, staged_rows(&landing.staging)?);
        if run.pipeline.spec.registry.is_some() {
            summary.register = counts.map(|counts| run.register_summary(&counts, summary.stopped.is_none()));
        }
        summary.enrich = run.enrich.clone();
        summary.quarantined = landing.findings.rejected();
        summary.unknown_fields = landing.findings.unknown_fields.clone();
        summary.new_values = new_values(&mut run, &landing);
        // A first run that stopped before a day was complete has nothing to show; its pages stay in the archive.
        if summary.stopped.is_none() || has_filings(&landing.staging) {
            publish_checked(&run, landing, &mut summary)?;
        }
    }
    ending(&run).close(run.record.clone(), &mut summary, started)?;
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
pub(crate) fn end_published(run: Run<'_>, mut summary: RunSummary, started: Instant) -> Result<RunSummary> {
    summary.outcome = Outcome::Complete;
    let commit = run.context.lake.current()?;
    summary.snapshot = commit.as_ref().map(|commit| commit.snapshot);
    summary.coverage = coverage_summary(&run, coverage_rows(&run.context.lake, commit.as_ref())?);
    ending(&run).close(run.record.clone(), &mut summary, started)?;
    Ok(summary)
}

/// Computes the aggregates, runs the checks, and publishes the snapshot or leaves it for review.
fn publish_checked(run: &Run<'_>, mut landing: Landing, summary: &mut RunSummary) -> Result<()> {
    let ending = ending(run);
    landing.journal.aggregates = aggregates_of(run.pipeline)?;
    let counted = counts_of_complete_days(run, &landing);
    let verdict = ending.audit(&mut landing.staging, &landing.journal, &counted, &run.state, summary)?;
    if landing.staging.is_unchanged() && !knows_more(run, landing.staging.parent()) {
        summary.outcome = Outcome::Unchanged;
        run.progress.report(Event::Done(Done::Unchanged(summary.snapshot)));
        return Ok(());
    }
    // A run that resumes later is reviewed once it has ended.
    if verdict.then != OnFailure::Tell && summary.stopped.is_some() {
        return Ok(());
    }
    ending.commit(landing.staging, &landing.journal, state_of(run, summary), verdict, summary)
}

/// The API's counts of the days that the run read completely, where they can be compared.
fn counts_of_complete_days(run: &Run<'_>, landing: &Landing) -> Vec<DailyCount> {
    let complete = &landing.coverage.complete;
    let is_complete = |day: Date| complete.contains(&(Listing::Untyped.label().to_owned(), day));
    let counts = run.counts.iter().filter(|count| !run.state.miscounted.contains(&count.date));
    counts.filter(|count| is_complete(count.date)).cloned().collect()
}

fn ending<'r>(run: &'r Run<'_>) -> Ending<'r> {
    Ending { pipeline: run.pipeline, context: run.context, lock: run.lock, dir: &run.dir }
}

/// Values that this run saw first. They are kept like any other, and logged unless the first window is still being read.
fn new_values(run: &mut Run<'_>, landing: &Landing) -> OpenValues {
    let new = landing.findings.open_values.unseen_in(&run.state.open_values);
    run.state.open_values.absorb(new.clone());
    if !run.state.read_once {
        return OpenValues::default();
    }
    for (column, values) in new.iter() {
        tracing::warn!(column, ?values, "values never seen before");
    }
    new
}

/// The state of the lake after this run.
fn state_of(run: &Run<'_>, summary: &RunSummary) -> RunState {
    let mut state = run.state.clone();
    state.plan = plan_to_keep(run).or(state.plan);
    state.source = Some(run.context.source);
    state.wanted = run.wanted_days().or(state.wanted);
    state.read_once |= summary.stopped.is_none() && !summary.is_behind();
    state.ended = summary.stopped.is_none().then(|| run.record.run_id.clone());
    state
}

/// The plan's numbers for later runs. Those in a pipeline file apply to its own runs.
fn plan_to_keep(run: &Run<'_>) -> Option<PlanLimits> {
    let is_own = run.pipeline.spec.plan != PlanOverride::default();
    (run.plan_basis != PlanBasis::Assumed && !is_own).then_some(run.plan)
}

/// Whether the state must be published though no row differs: for an empty prefix, an unknown business, a day read again, a plan that was
/// measured.
fn knows_more(run: &Run<'_>, parent: Option<&Commit>) -> bool {
    let before = RunState::of(parent);
    before.register != run.state.register
        || before.enrich != run.state.enrich
        || before.drifted != run.state.drifted
        || before.backoffs != run.state.backoffs
        || before.losses != run.state.losses
        || (run.plan_basis == PlanBasis::Learned && before.plan != plan_to_keep(run).or(before.plan))
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
