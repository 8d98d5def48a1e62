//! The end of a run: tables merged, aggregates made, checks held against them, and the commit.

use super::PipelineError;
use super::check::{Evidence, Finding, findings};
use super::known::{coverage_rows, read_coverage_files};
use super::land::Landing;
use super::listed::LakeCounts;
use super::register::missing_words;
use super::report::write_report;
use super::run::{Run, Stopped};
use super::state::RunState;
use super::summary::{
    CoverageSummary, EXIT_RUN_AGAIN, IncompleteDay, Outcome, Requests, RunSummary, TableRows,
};
use super::work::listings;
use crate::aggregate::{head_comment, load_aggregates, run_aggregate};
use crate::contract::eastern::days_newest_first;
use crate::export::catalog::write_catalog;
use crate::extract::reference::Reference;
use crate::lake::{Commit, CommitInfo, Staging, TableDelta};
use crate::normalize::OpenValues;
use crate::table::{
    CountyRow, CoverageRow, DailyCountRow, EntityTypeRow, IndustryTypeRow, MonthlyCountRow, Row, SegmentRow,
    StatewideRow, Table, TypeCountRow,
};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

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
    run.remember_counts(&landing);
    run.remember_whole_readings(&landing);
    let mut summary = RunSummary::empty(&run.record.pipeline, run.record.today);
    summary.run_id = run.record.run_id.clone();
    summary.snapshot = landing.staging.parent().map(|commit| commit.snapshot);
    if let Some(stopped) = done.stopped {
        stopped.tell(&mut summary);
    }
    summary.requests = done.requests;
    if done.reference.is_some() || run.enrich.is_some() {
        let (deltas, counts) = merge(&run, &mut landing, done.reference.as_ref())?;
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
        let found = findings(&run.pipeline.spec.checks, &evidence(&landing, &deltas, &summary));
        summary.checks = found.iter().map(|finding| finding.what.clone()).collect();
        refuse(&found)?;
        // A first run that stopped before a day was whole has nothing to show yet; what it read waits in the archive.
        if summary.stopped.is_none() || has_filings(&landing.staging) {
            add_up(&run, &mut landing.staging)?;
            commit(&run, landing, &mut summary)?;
        }
    }
    conclude(&mut run, &mut summary)?;
    summary.elapsed_secs = done.started.elapsed().as_secs_f64();
    tell(&run, &summary)?;
    run.dir.write_summary(&summary)?;
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
    let snapshot = run.lake.snapshot_dir(commit.snapshot);
    summary.coverage = coverage_summary(&run, &commit.table_files(&snapshot, Table::Coverage.name()))?;
    conclude(&mut run, &mut summary)?;
    summary.elapsed_secs = started.elapsed().as_secs_f64();
    tell(&run, &summary)?;
    run.dir.write_summary(&summary)?;
    Ok(summary)
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

fn merge(
    run: &Run<'_>,
    landing: &mut Landing,
    reference: Option<&Reference>,
) -> Result<(BTreeMap<String, TableDelta>, Option<LakeCounts>), PipelineError> {
    let mut deltas = std::mem::take(&mut landing.looked_up);
    let filings = landing.staging.merge_filings(&landing.whole, (run.now)())?;
    let spec = &run.pipeline.spec;
    let counts = if spec.registry.is_some() || spec.enrich.is_some() {
        Some(count_listed(run, landing)?)
    } else {
        None
    };
    deltas.insert(Table::Filings.name().to_owned(), filings);
    deltas.insert(Table::Coverage.name().to_owned(), landing.stage_coverage()?);
    if let Some(reference) = reference {
        merge_reference(run, &mut landing.staging, reference, &mut deltas)?;
    }
    Ok((deltas, counts))
}

/// Rows that came by another way than their day's listing: what coverage says to be landed follows them.
fn count_listed(run: &Run<'_>, landing: &mut Landing) -> Result<LakeCounts, PipelineError> {
    let files = landing.staging.files().remove(Table::Filings.name()).unwrap_or_default();
    let counts = LakeCounts::of(&files, run.record.today)?;
    landing.coverage.extend(counts.put_right(coverage_rows(run.lake, landing.staging.parent())?));
    Ok(counts)
}

fn merge_reference(
    run: &Run<'_>,
    staging: &mut Staging,
    reference: &Reference,
    deltas: &mut BTreeMap<String, TableDelta>,
) -> Result<(), PipelineError> {
    let day = run.record.today;
    let stats = &reference.stats;
    let mut lay = |table: Table, rows| -> Result<(), PipelineError> {
        deltas.insert(table.name().to_owned(), staging.merge(table, &rows)?);
        Ok(())
    };
    lay(Table::DailyCounts, batch(run.counts.iter().map(|count| DailyCountRow::from(day, count)))?)?;
    lay(Table::Counties, batch(reference.counties.iter().map(|county| CountyRow::from(day, county)))?)?;
    lay(
        Table::MonthlyCounts,
        batch(stats.monthly.iter().flat_map(|month| MonthlyCountRow::from(day, month)))?,
    )?;
    lay(Table::Statewide, batch([StatewideRow::from(day, stats)])?)?;
    lay(Table::TypeSplit, batch(stats.type_split_30d.iter().map(|split| TypeCountRow::from(day, split)))?)?;
    let industries = &reference.industries;
    lay(
        Table::IndustryTypes,
        batch(industries.sectors.iter().flat_map(|sector| IndustryTypeRow::from(day, sector)))?,
    )?;
    lay(
        Table::IndustrySegments,
        batch(industries.segments.iter().flat_map(|segment| SegmentRow::from(day, segment)))?,
    )?;
    lay(
        Table::EntityTypes,
        batch(reference.entity_types.iter().map(|entry| EntityTypeRow::from(day, entry)))?,
    )
}

fn batch<R: Row>(
    rows: impl IntoIterator<Item = R>,
) -> Result<arrow::record_batch::RecordBatch, PipelineError> {
    Ok(R::batch(&rows.into_iter().collect::<Vec<_>>())?)
}

fn evidence(landing: &Landing, deltas: &BTreeMap<String, TableDelta>, summary: &RunSummary) -> Evidence {
    let filings = deltas.get(Table::Filings.name());
    let before = landing.staging.parent().and_then(|commit| commit.tables.get(Table::Filings.name()));
    Evidence {
        quarantined: summary.quarantined,
        unknown_fields: summary.unknown_fields.values().sum(),
        incomplete_days: match summary.stopped {
            // A run that stopped in good order will come back for them.
            Some(_) => 0,
            None => summary.coverage.days - summary.coverage.complete,
        },
        vanished: filings.map_or(0, |delta| delta.vanished),
        rows_before: before.map_or(0, |table| table.rows),
        missing_businesses: summary
            .register
            .as_ref()
            .filter(|register| summary.stopped.is_none() && register.left == 0)
            .and_then(missing_words),
    }
}

fn refuse(found: &[Finding]) -> Result<(), PipelineError> {
    for finding in found {
        tracing::warn!(holds = finding.holds, "{}", finding.what);
    }
    let failures: Vec<String> = found.iter().filter(|f| f.holds).map(|f| f.what.clone()).collect();
    if failures.is_empty() { Ok(()) } else { Err(PipelineError::CheckFailed { failures }) }
}

fn has_filings(staging: &Staging) -> bool {
    staging.files().get(Table::Filings.name()).is_some_and(|files| !files.is_empty())
}

fn add_up(run: &Run<'_>, staging: &mut Staging) -> Result<(), PipelineError> {
    let spec = &run.pipeline.spec.aggregates;
    if !spec.enabled {
        return Ok(());
    }
    let aggregates = load_aggregates(&run.pipeline.folder.join(&spec.folder))?;
    let tables = staging.files();
    if !has_filings(staging) {
        // A pipeline of lists and counts alone: there is nothing to add up.
        staging.retain_aggregates(&BTreeSet::new());
        return Ok(());
    }
    let out = run.dir.path().join("aggregates");
    let unwritten = |source| PipelineError::Write { path: out.clone(), source };
    std::fs::create_dir_all(&out).map_err(unwritten)?;
    for (name, sql) in &aggregates {
        let made = run_aggregate(name, sql, &tables, &out)?;
        staging.aggregate_file(name, &made.path, &head_comment(sql))?;
    }
    staging.retain_aggregates(&aggregates.into_iter().map(|(name, _)| name).collect());
    std::fs::remove_dir_all(&out).map_err(unwritten)
}

fn commit(run: &Run<'_>, landing: Landing, summary: &mut RunSummary) -> Result<(), PipelineError> {
    if landing.staging.is_unchanged() && !knows_more(run, landing.staging.parent()) {
        summary.outcome = Outcome::Unchanged;
        return Ok(());
    }
    let mut state = run.state.clone();
    if run.is_plan_found {
        state.plan = Some(run.plan);
    }
    state.source = Some(run.source);
    state.ended = summary.stopped.is_none().then(|| run.record.run_id.clone());
    let info = CommitInfo {
        committed_at: (run.now)(),
        today: run.record.today,
        pipeline: run.record.pipeline.clone(),
        requests_sent: summary.requests.sent,
        state: serde_json::to_value(&state).unwrap_or_default(),
        checks: serde_json::json!({ "findings": summary.checks }),
    };
    let commit = landing.staging.commit(info)?;
    summary.snapshot = Some(commit.snapshot);
    summary.outcome = Outcome::Complete;
    Ok(())
}

/// Whether what was found out beside rows must be kept: a start without names, a business that the API does not know.
fn knows_more(run: &Run<'_>, parent: Option<&Commit>) -> bool {
    let before = parent.map(|commit| RunState::from_commit(&commit.state)).unwrap_or_default();
    before.register != run.state.register || before.enrich != run.state.enrich
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

/// The outcome, and whether the run is over: one that paused goes on next time, one that found days it cannot read does not.
fn conclude(run: &mut Run<'_>, summary: &mut RunSummary) -> Result<(), PipelineError> {
    let is_behind = summary.coverage.complete < summary.coverage.days
        || summary
            .register
            .as_ref()
            .is_some_and(|register| register.left > 0 || !register.unproven.is_empty())
        || summary.enrich.as_ref().is_some_and(|enrich| enrich.left > 0);
    if summary.stopped.is_some() || is_behind {
        summary.outcome = Outcome::Partial;
        summary.exit_code = EXIT_RUN_AGAIN;
    }
    if summary.stopped.is_none() {
        run.record.finished = Some(summary.outcome.name().to_owned());
        run.dir.write_record(&run.record)?;
    }
    Ok(())
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
