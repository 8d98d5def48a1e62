//! The order of a run that imports the state's files: lock, read, merge, aggregate, check, publish.

use super::coverage::{missing_days, stage_coverage, stage_statewide};
use super::load::{Import, Loaded, files_again, load, unread_files};
use crate::aggregate::digest;
use crate::export::catalog::{leave_out, write_catalog};
use crate::import::rules::industry::Industries;
use crate::lake::{CommitInfo, Lake, LakeLock, PruneRules, RunDir, RunRecord, Staging};
use crate::pipeline::config::built_in;
use crate::pipeline::config::file::{Pipeline, aggregates_of, check_sql};
use crate::pipeline::config::spec::{ImportSpec, OnFailure};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::progress::{Done, Event, Events, Work};
use crate::pipeline::publish::calendar::stage_calendar;
use crate::pipeline::publish::check_input::evidence_of_import;
use crate::pipeline::publish::checks::{findings, findings_that, verdict};
use crate::pipeline::publish::merge::add_up;
use crate::pipeline::publish::report::write_report;
use crate::pipeline::publish::summary::{ImportSummary, Outcome, RunSummary, TableRows};
use crate::pipeline::state::provenance::{ImportedFiles, Journal};
use crate::pipeline::state::run_state::{RunState, SourceKind};
use crate::table::{ImportRow, Table, read_rows};
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// What an import takes from outside.
pub struct ImportContext {
    /// The lake.
    pub lake: Lake,
    /// Eastern day to run as.
    pub today: Date,
    /// The wall clock.
    pub now: fn() -> Timestamp,
    /// Names the process that holds the lake's lock, for others who want it.
    pub holder: String,
    /// Variables of the environment for object stores, whose names begin as [`CLOUD_VARIABLES`](crate::lake::CLOUD_VARIABLES).
    pub variables: Vec<(String, String)>,
    /// Takes what happens.
    pub events: Events,
}

struct ImportRun<'a> {
    pipeline: &'a Pipeline,
    context: &'a ImportContext,
    lock: &'a LakeLock,
    record: RunRecord,
    dir: RunDir,
    started: Instant,
}

/// Imports the files of a pipeline's folder that the lake has not read, and returns what it did. A run that was killed left nothing:
/// the next one begins anew.
///
/// # Errors
/// Everything: nothing is published then.
pub fn import(pipeline: &Pipeline, spec: &ImportSpec, context: &ImportContext) -> Result<RunSummary> {
    let started = Instant::now();
    let begun_at = (context.now)();
    let name = &pipeline.spec.name;
    let run_id = format!("{}-{name}", begun_at.strftime("%Y%m%dT%H%M%S%3fZ"));
    let lake = &context.lake;
    let lock = lake.lock(&run_id, &context.holder)?;
    check_source(lake)?;
    check_sql(pipeline)?;
    let rules = Rules::of(pipeline, spec)?;
    give_up_unfinished(lake, name)?;
    let record = RunRecord {
        pipeline_digest: pipeline.digest.clone(),
        ..RunRecord::begun(&run_id, name, (begun_at, context.today))
    };
    let dir = lake.run(&run_id)?;
    dir.begin(&record)?;
    context.events.report(Event::Begun(dir.path()));
    tracing::info!(run_id, today = %context.today, lake = %lake, "the import begins");
    let mut run = ImportRun { pipeline, context, lock: &lock, record, dir, started };
    let summary = run.import(spec, &rules);
    if summary.is_err() {
        run.record.finished = Some(Outcome::Failed.name().to_owned());
        run.dir.close(&mut run.record)?;
    }
    summary
}

/// Refuses a lake that an API filled: its ids are others.
fn check_source(lake: &Lake) -> Result<()> {
    let Some(commit) = lake.current()? else { return Ok(()) };
    match RunState::from_commit(&commit.state).source {
        Some(filled_from) if filled_from != SourceKind::State => {
            Err(PipelineError::OtherSource { lake: lake.to_string(), filled_from, asked: SourceKind::State })
        }
        _ => Ok(()),
    }
}

/// The rules of industries, and their text where it is not the program's own.
struct Rules {
    industries: Industries,
    own: Option<String>,
}

impl Rules {
    /// The rules of a pipeline: its own file, else the built-in one.
    fn of(pipeline: &Pipeline, spec: &ImportSpec) -> Result<Self> {
        let Some(file) = &spec.industries else { return Self::parse(None, built_in::INDUSTRIES.0.into()) };
        let path = pipeline.path_of(file);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(Some(text), path),
            Err(source) => Err(PipelineError::UnreadableRules { path, source }),
        }
    }

    fn parse(own: Option<String>, path: PathBuf) -> Result<Self> {
        let industries = Industries::parse(own.as_deref().unwrap_or(built_in::INDUSTRIES.1));
        let industries = industries.map_err(|source| PipelineError::Industries { path, source })?;
        Ok(Self { industries, own })
    }
}

/// Imports the files of a journal again, from the copies of the run or from their folder.
pub(in crate::pipeline) fn import_again(
    dir: &RunDir,
    (journal, imported): (&Journal, &ImportedFiles),
    run_id: &str,
    staging: &mut Staging,
) -> Result<()> {
    let rules = Rules::parse(imported.industries.clone(), dir.path().to_owned())?;
    let refuse = |why: String| PipelineError::NotReplayable { run_id: run_id.to_owned(), why };
    let scratch = dir.path().join("staged").join("import");
    let files = files_again(imported, &dir.copies()).map_err(refuse)?;
    let loaded = load(
        staging,
        Import {
            files,
            industries: &rules.industries,
            today: journal.today,
            observed_at: journal.merged_at.unwrap_or_default(),
            run_id,
            scratch: &scratch,
            copies: None,
        },
    )?;
    match loaded.opened == imported.files {
        true => stage_days(staging, journal.today),
        false => Err(refuse("a file is not what the run read".to_owned())),
    }
}

/// Closes runs that a kill left open. They published nothing.
fn give_up_unfinished(lake: &Lake, pipeline: &str) -> Result<()> {
    while let Some(mut record) = lake.unfinished_run(pipeline)? {
        record.finished = Some(Outcome::Failed.name().to_owned());
        lake.run(&record.run_id)?.close(&mut record)?;
    }
    Ok(())
}

impl ImportRun<'_> {
    fn report(&self, event: Event<'_>) {
        self.context.events.report(event);
    }

    fn import(&mut self, spec: &ImportSpec, rules: &Rules) -> Result<RunSummary> {
        let folder = self.pipeline.import_folder(spec);
        let copies = spec.archive.then(|| self.dir.copies());
        let mut summary = RunSummary::empty(&self.record.pipeline, self.record.today);
        summary.run_id = self.record.run_id.clone();
        let mut staging = self.context.lake.stage(&self.record.run_id)?;
        summary.snapshot = staging.parent().map(|commit| commit.snapshot);
        summary.outcome = Outcome::Unchanged;
        let (files, waiting) = unread_files((&folder, &self.context.variables), &staging)?;
        let waiting: Vec<String> = waiting.into_iter().map(|file| file.name).collect();
        if let Some(first) = waiting.first() {
            tracing::warn!(
                files = waiting.len(), %first,
                "quarterly files wait for cordata0.txt to cordata9.txt of their set, which date it"
            );
        }
        let observed_at = (self.context.now)();
        let scratch = self.dir.path().join("staged").join("import");
        self.report(Event::Working(Work::Merging));
        let loaded = load(
            &mut staging,
            Import {
                files,
                industries: &rules.industries,
                today: self.record.today,
                observed_at,
                run_id: &self.record.run_id,
                scratch: &scratch,
                copies: copies.as_deref(),
            },
        )?;
        let imports = imports_of(&staging)?;
        summary.rows =
            loaded.deltas.iter().map(|(table, delta)| (table.clone(), TableRows::from(delta))).collect();
        summary.quarantined = loaded.rejected.len() as u64;
        summary.import = Some(ImportSummary { waiting, ..import_summary(&loaded, &imports) });
        if loaded.files.is_empty() {
            self.report(Event::Done(Done::Unchanged(summary.snapshot)));
        } else {
            self.report(Event::Done(Done::Read(
                loaded.files.iter().map(|row| row.records as u64).sum(),
                self.started.elapsed(),
            )));
            self.quarantine(&loaded)?;
            let journal = Journal {
                today: self.record.today,
                merged_at: Some(observed_at),
                imported: Some(ImportedFiles { folder, industries: rules.own.clone(), files: loaded.opened }),
                aggregates: aggregates_of(self.pipeline)?,
                ..Journal::default()
            };
            self.publish(staging, journal, &mut summary)?;
        }
        self.conclude(&mut summary)?;
        Ok(summary)
    }

    fn quarantine(&self, loaded: &Loaded) -> Result<()> {
        let mut quarantine = self.dir.quarantine();
        for rejected in &loaded.rejected {
            quarantine.append(rejected)?;
        }
        Ok(quarantine.sync()?)
    }

    fn publish(&self, mut staging: Staging, journal: Journal, summary: &mut RunSummary) -> Result<()> {
        let today = self.record.today;
        stage_days(&mut staging, today)?;
        if let Some(aggregates) = &journal.aggregates {
            let by = RunState::of(staging.parent()).aggregates;
            let (begun, number) = (Instant::now(), aggregates.len() as u64);
            self.report(Event::Working(Work::AddingUp(number)));
            add_up(aggregates, &by, &mut staging, &self.dir.path().join("aggregates"))?;
            self.report(Event::Done(Done::AddedUp(number, begun.elapsed())));
        }
        self.report(Event::Working(Work::Publishing));
        let evidence =
            evidence_of_import(&staging, today, journal.aggregates.as_deref(), summary.quarantined)?;
        let found = findings(&self.pipeline.spec.checks, &evidence);
        for finding in &found {
            tracing::warn!(then = ?finding.then, "{}", finding.what);
        }
        summary.checks = found.iter().map(|finding| finding.what.clone()).collect();
        match verdict(&found) {
            OnFailure::Fail => {
                Err(PipelineError::CheckFailed { failures: findings_that(&found, OnFailure::Fail) })
            }
            OnFailure::Hold => self.hold(staging, &journal, summary),
            OnFailure::Tell => self.commit(staging, &journal, summary),
        }
    }

    fn commit(&self, staging: Staging, journal: &Journal, summary: &mut RunSummary) -> Result<()> {
        self.dir.write_journal(staging.snapshot(), journal)?;
        let info = self.commit_info(&staging, journal, summary);
        let snapshot = staging.commit(info)?.snapshot;
        self.report(Event::Done(Done::Published(snapshot)));
        (summary.snapshot, summary.outcome) = (Some(snapshot), Outcome::Complete);
        Ok(())
    }

    /// Leaves the snapshot for review. Readers still see the one before.
    fn hold(&self, staging: Staging, journal: &Journal, summary: &mut RunSummary) -> Result<()> {
        self.dir.write_journal(staging.snapshot(), journal)?;
        let info = self.commit_info(&staging, journal, summary);
        let number = staging.commit_pending(info)?.snapshot;
        tracing::warn!(
            "snapshot {number} is `held` for review, not published; look: sunlake snapshot show {number}; publish: sunlake snapshot accept {number}"
        );
        self.report(Event::Done(Done::Held(number)));
        (summary.held, summary.outcome) = (Some(number), Outcome::Failed);
        Ok(())
    }

    fn commit_info(&self, staging: &Staging, journal: &Journal, summary: &RunSummary) -> CommitInfo {
        let mut state = RunState::of(staging.parent());
        state.source = Some(SourceKind::State);
        state.as_of = state.as_of.max(Some(self.record.today));
        state.read_once = true;
        state.ended = Some(self.record.run_id.clone());
        let aggregates = journal.aggregates.iter().flatten();
        state.aggregates = aggregates.map(|(name, sql)| (name.clone(), digest(sql))).collect();
        CommitInfo {
            committed_at: (self.context.now)(),
            today: self.record.today,
            pipeline: self.record.pipeline.clone(),
            requests_sent: 0,
            state: serde_json::to_value(&state).unwrap_or_default(),
            checks: serde_json::json!({ "findings": summary.checks }),
        }
    }

    /// Prunes old snapshots, writes catalogue, report and summary, and closes the run.
    fn conclude(&mut self, summary: &mut RunSummary) -> Result<()> {
        let lake = &self.context.lake;
        summary.end(summary.outcome);
        self.record.finished =
            Some(if summary.held.is_some() { RunRecord::HELD } else { summary.outcome.name() }.to_owned());
        let spec = &self.pipeline.spec.retention;
        let rules = PruneRules { keep: spec.retention(), raw_days: spec.raw_days, today: self.record.today };
        leave_out(lake, &lake.would_prune(&rules)?.snapshots)?;
        summary.pruned = lake.prune(self.lock, &rules, (self.context.now)())?.snapshots;
        summary.elapsed_secs = self.started.elapsed().as_secs_f64();
        if let Some(commit) = lake.current()? {
            write_catalog(lake, &commit)?;
            if self.pipeline.spec.report.enabled {
                write_report(lake, &commit, Some(summary))?;
            }
        }
        self.dir.write_summary(summary)?;
        Ok(self.dir.close(&mut self.record)?)
    }
}

/// Stages the coverage of days, the statewide figures, and the tables of days and months. Their day is that of the newest file.
fn stage_days(staging: &mut Staging, today: Date) -> Result<()> {
    let imports = imports_of(staging)?;
    let newest = imports.iter().map(|row| row.source_date).max().unwrap_or(today).min(today);
    stage_coverage(staging, &imports, today)?;
    stage_statewide(staging, newest)?;
    stage_calendar(staging, newest, &mut BTreeMap::new())
}

fn imports_of(staging: &Staging) -> Result<Vec<ImportRow>> {
    let mut rows = Vec::new();
    for file in staging.sound_table(Table::Imports)? {
        rows.extend(read_rows(&file)?);
    }
    Ok(rows)
}

fn import_summary(loaded: &Loaded, imports: &[ImportRow]) -> ImportSummary {
    let missing = missing_days(imports);
    if let (Some(first), Some(last)) = (missing.first(), missing.last()) {
        tracing::warn!(
            days = missing.len(), %first, %last,
            "days have no daily file: their filings are unknown until the next quarterly set"
        );
    }
    ImportSummary {
        files: loaded.files.len() as u64,
        records: loaded.files.iter().map(|row| row.records as u64).sum(),
        newest: imports.iter().map(|row| row.source_date).max(),
        missing_days: missing,
        waiting: Vec::new(),
    }
}
