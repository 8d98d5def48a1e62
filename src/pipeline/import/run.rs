//! The order of a run that imports the state's files: lock, read, merge, aggregate, check, publish.

use super::coverage::{
    broken_files, copies_of_days, days_without_events, missing_days, newest_day, newest_of, stage_coverage,
    stage_statewide,
};
use super::folder::{Texts, files_again, texts_in};
use super::load::{Import, Loaded, load};
use super::sets::missing_files;
use crate::import::files::layout::Kind;
use crate::import::files::source::Unread;
use crate::import::rules::industry::Industries;
use crate::lake::{Commit, Lake, LakeLock, RunDir, RunRecord, Staging};
use crate::pipeline::config::built_in;
use crate::pipeline::config::file::{Pipeline, aggregates_of, check_sql, read_regular};
use crate::pipeline::config::spec::ImportSpec;
use crate::pipeline::context::RunContext;
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::load::reference_tables::{stage_facts, stage_types};
use crate::pipeline::plan::lake_view::staged_rows;
use crate::pipeline::progress::{Done, Event, Work};
use crate::pipeline::publish::calendar::stage_calendar;
use crate::pipeline::publish::ending::Ending;
use crate::pipeline::publish::summary::{ImportSummary, Outcome, RunSummary, TableRows};
use crate::pipeline::state::provenance::{ImportedFiles, Journal};
use crate::pipeline::state::run_state::{RunState, SourceKind};
use crate::table::ImportRow;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

/// Commits that may be newer than that of a run which was cut short.
const LAST_COMMITS: usize = 16;

struct ImportRun<'a> {
    pipeline: &'a Pipeline,
    context: &'a RunContext,
    variables: &'a [(String, String)],
    lock: &'a LakeLock,
    record: RunRecord,
    dir: RunDir,
    started: Instant,
}

/// Imports the files of a pipeline's folder that the lake has not read, and returns what it did. A run that was killed left nothing:
/// the next one begins anew. `variables`: those of the environment for object stores, whose names begin as
/// [`CLOUD_VARIABLES`](crate::lake::CLOUD_VARIABLES).
///
/// # Errors
/// Everything: nothing is published then.
pub fn import(
    pipeline: &Pipeline,
    spec: &ImportSpec,
    context: &RunContext,
    variables: &[(String, String)],
) -> Result<RunSummary> {
    let started = Instant::now();
    let lake = &context.lake;
    let (record, lock) = context.begin(pipeline)?;
    check_sql(pipeline)?;
    let rules = Rules::of(pipeline, spec)?;
    close_unfinished(lake, &record.pipeline)?;
    let dir = lake.run(&record.run_id)?;
    dir.begin(&record)?;
    context.events.report(Event::Begun(dir.path()));
    tracing::info!(run_id = record.run_id, today = %context.today, lake = %lake, "the import begins");
    let run = ImportRun { pipeline, context, variables, lock: &lock, record, dir, started };
    let summary = run.import(spec, &rules);
    if summary.is_err()
        && let Err(error) = close_cut_short(lake, run.record)
    {
        tracing::warn!(%error, "the run stays open");
    }
    summary
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
        match read_regular(&path) {
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
    journal: &Journal,
    imported: &ImportedFiles,
    staging: &mut Staging,
) -> Result<()> {
    let run_id = &staging.run_id.clone();
    let rules = Rules::parse(imported.industries.clone(), dir.path().to_owned())?;
    let refuse = |why: String| PipelineError::NotReplayable { run_id: run_id.clone(), why };
    let scratch = dir.path().join("staged").join("import");
    let files = files_again(imported, &dir.copies()).map_err(refuse)?;
    let loaded = load(
        staging,
        Import {
            files,
            all: Vec::new(),
            has_all: false,
            // They were compared when they were imported.
            max_short: 100.0,
            is_rebuilt: imported.is_rebuilt,
            industries: &rules.industries,
            today: journal.today,
            observed_at: journal.merged_at.unwrap_or_default(),
            run_id,
            scratch: &scratch,
            copies: None,
        },
    )?;
    if loaded.opened == imported.files {
        stage_days(staging, journal.today)
    } else {
        Err(refuse("a file is not what the run read".to_owned()))
    }
}

/// Closes runs that a kill left open.
fn close_unfinished(lake: &Lake, pipeline: &str) -> Result<()> {
    while let Some(record) = lake.unfinished_run(pipeline)? {
        close_cut_short(lake, record)?;
    }
    Ok(())
}

/// Closes a run that was cut short: before its commit, or after it.
fn close_cut_short(lake: &Lake, mut record: RunRecord) -> Result<()> {
    let is_of_run = |commit: &Commit| commit.run_id == record.run_id;
    let mut ended = Outcome::Failed.name();
    for snapshot in lake.commits()?.into_iter().rev().take(LAST_COMMITS) {
        ended = if is_of_run(&lake.commit(snapshot)?) { Outcome::Complete.name() } else { ended };
    }
    for snapshot in lake.pending_snapshots()? {
        ended = if is_of_run(&lake.pending_commit(snapshot)?) { RunRecord::HELD } else { ended };
    }
    record.finished = Some(ended.to_owned());
    Ok(lake.run(&record.run_id)?.close(&mut record)?)
}

impl ImportRun<'_> {
    fn report(&self, event: Event<'_>) {
        self.context.events.report(event);
    }

    fn import(&self, spec: &ImportSpec, rules: &Rules) -> Result<RunSummary> {
        let folder = self.pipeline.import_folder(spec);
        let mut summary = RunSummary::of(&self.record);
        let mut staging = self.context.lake.stage(&self.record.run_id)?;
        summary.snapshot = staging.parent().map(|commit| commit.snapshot);
        summary.outcome = Outcome::Unchanged;
        let texts = texts_in(&folder, self.variables, &staging, self.record.today)?;
        let waiting: Vec<String> = texts.waiting.iter().map(|file| file.name.clone()).collect();
        let others = texts.others.clone();
        let observed_at = (self.context.now)();
        let loaded = self.load(&mut staging, texts, spec, rules, observed_at)?;
        let imports = staged_rows::<ImportRow>(&staging)?;
        summary.rows =
            loaded.deltas.iter().map(|(table, delta)| (table.clone(), TableRows::from(delta))).collect();
        summary.quarantined = loaded.rejected.len() as u64;
        summary.import = Some(ImportSummary { waiting, ..import_summary(&loaded, &imports, others) });
        let has_news = !loaded.files.is_empty();
        if has_news {
            self.report(Event::Done(Done::Read(loaded.records, self.started.elapsed())));
            self.quarantine(&loaded)?;
        }
        let journal = Journal {
            today: self.record.today,
            merged_at: Some(observed_at),
            imported: Some(ImportedFiles {
                folder,
                industries: rules.own.clone(),
                files: loaded.opened,
                is_rebuilt: loaded.is_rebuilt,
            }),
            aggregates: aggregates_of(self.pipeline)?,
            ..Journal::default()
        };
        if has_news || self.ending().has_other_aggregates(&journal, &staging) {
            self.publish(staging, &journal, &mut summary)?;
        } else {
            self.report(Event::Done(Done::Unchanged(summary.snapshot)));
        }
        self.ending().close(self.record.clone(), &mut summary, self.started)?;
        Ok(summary)
    }

    fn load(
        &self,
        staging: &mut Staging,
        texts: Texts,
        spec: &ImportSpec,
        rules: &Rules,
        observed_at: Timestamp,
    ) -> Result<Loaded> {
        if let Some(first) = texts.waiting.first() {
            tracing::warn!(
                files = texts.waiting.len(),
                first = first.name,
                "quarterly files wait for cordata0.txt to cordata9.txt of their set, which date it"
            );
        }
        self.report(Event::Working(Work::Merging));
        let copies = spec.archive.then(|| self.dir.copies());
        let import = Import {
            files: texts.unread,
            all: texts.all,
            has_all: texts.has_all,
            max_short: spec.max_short_percent,
            is_rebuilt: false,
            industries: &rules.industries,
            today: self.record.today,
            observed_at,
            run_id: &self.record.run_id,
            scratch: &self.dir.path().join("staged").join("import"),
            copies: copies.as_deref(),
        };
        load(staging, import)
    }

    fn quarantine(&self, loaded: &Loaded) -> Result<()> {
        let mut quarantine = self.dir.quarantine();
        for rejected in &loaded.rejected {
            quarantine.append(rejected)?;
        }
        Ok(quarantine.sync()?)
    }

    fn publish(&self, mut staging: Staging, journal: &Journal, summary: &mut RunSummary) -> Result<()> {
        let ending = self.ending();
        stage_days(&mut staging, journal.today)?;
        let mut state = RunState::of(staging.parent());
        // No API counts its days.
        let verdict = ending.audit(&mut staging, journal, &[], &state, summary)?;
        state.source = Some(SourceKind::State);
        state.read_once = true;
        state.ended = Some(self.record.run_id.clone());
        note_read_again(&mut state, &staged_rows(&staging)?);
        ending.commit(staging, journal, state, verdict, summary)
    }

    fn ending(&self) -> Ending<'_> {
        Ending { pipeline: self.pipeline, context: self.context, lock: self.lock, dir: &self.dir }
    }
}

/// Takes note of files whose rows a repair left out and that were read again since.
fn note_read_again(state: &mut RunState, imports: &[ImportRow]) {
    let was_lost = !state.lost_files.is_empty();
    imports.iter().for_each(|row| {
        state.lost_files.remove(&row.digest);
    });
    state.has_losses &= !(was_lost && state.lost_files.is_empty());
}

/// Stages the coverage of days, the statewide figures, the lists that the program knows, and the tables of days and months. Their day is
/// that of the newest file.
fn stage_days(staging: &mut Staging, today: Date) -> Result<()> {
    let imports = staged_rows::<ImportRow>(staging)?;
    let newest = newest_day(&imports).unwrap_or(today).min(today);
    stage_coverage(staging, &imports, today)?;
    stage_statewide(staging, newest)?;
    stage_types(staging, newest)?;
    stage_facts(&[], staging, &mut BTreeMap::new())?;
    stage_calendar(staging, newest, &mut BTreeMap::new())
}

fn warn_of_missing(days: &BTreeSet<Date>, consequence: &str) {
    if let (Some(first), Some(last)) = (days.first(), days.last()) {
        tracing::warn!(days = days.len(), %first, %last, "{consequence}");
    }
}

fn import_summary(loaded: &Loaded, imports: &[ImportRow], mut unread: Vec<Unread>) -> ImportSummary {
    unread.extend(
        broken_files(imports)
            .map(|row| Unread { file: row.file.clone(), why: row.fault.clone().unwrap_or_default() }),
    );
    unread.extend(copies_of_days(imports).map(|(copy, first)| Unread {
        file: copy.file.clone(),
        why: format!("it has the records of {}, which is of another day", first.file),
    }));
    for Unread { file, why } in &unread {
        tracing::warn!("{file} does not count: {why}");
    }
    let missing_files = missing_files(imports);
    for file in &missing_files {
        tracing::warn!("{file} is missing");
    }
    if !imports.is_empty() && newest_of(imports, Kind::Fictitious).is_none() {
        tracing::warn!(
            "no file of fictitious names was read: no day is complete with them (ficdata.zip has them)"
        );
    }
    let missing = missing_days(imports, Kind::Corporate);
    warn_of_missing(
        &missing,
        "days have no daily file: their filings are unknown until the next quarterly set",
    );
    let missing_names = missing_days(imports, Kind::Fictitious);
    warn_of_missing(
        &missing_names,
        "days have no daily file of fictitious names: those are unknown until the next quarterly set",
    );
    warn_of_missing(
        &days_without_events(imports),
        "days have no file of events of corporations: what changed on them is unknown until the next quarterly set",
    );
    ImportSummary {
        files: loaded.files.len() as u64,
        records: loaded.records,
        newest: newest_day(imports),
        missing_days: missing.into_iter().collect(),
        missing_days_of_names: missing_names.into_iter().collect(),
        waiting: Vec::new(),
        missing_files,
        unread,
    }
}
