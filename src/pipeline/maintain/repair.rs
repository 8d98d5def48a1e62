//! Repairs damaged files, the safest way first: from an intact copy in the lake, or else from the archived pages of the run that wrote
//! the file. If both fail, a new snapshot omits the lost rows and marks their days as incomplete, so that the next run reads them.

use super::prefix_losses::{Reading, read_since, starts_with_losses};
use super::replay::remake;
use crate::lake::{
    Base, Commit, CommitInfo, DamagedFile, Lake, LakeError, LakeLock, Month, Problem, RunRecord,
};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::import::known::forget;
use crate::pipeline::plan::lake_view::coverage_rows;
use crate::pipeline::publish::report::write_newest;
use crate::pipeline::state::run_state::{RunState, SourceKind};
use crate::table::{CoverageRow, Row, Table};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Repaired {
    pub(crate) actions: Vec<Action>,
    /// The new snapshot that omits lost rows, if one was needed.
    pub(crate) snapshot: Option<u64>,
    pub(crate) left: Vec<Problem>,
    /// What stays known and is no damage, as of a verification.
    pub(crate) notes: Vec<Problem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Action {
    pub(crate) path: PathBuf,
    pub(crate) what: String,
    pub(crate) done: String,
}

/// Repairs the lake as far as possible, and returns what was done and what could not be repaired. `lock` is one that
/// repaired nothing: what it would do is reported too.
pub(crate) fn repair(
    lake: &Lake,
    lock: &LakeLock,
    run_id: &str,
    now: Timestamp,
    today: Date,
) -> Result<Repaired> {
    let mut repair = Repair { lake, lock, now, done: Repaired::default() };
    repair.all(run_id, today)?;
    let found = lake.audit()?;
    Ok(Repaired { left: found.problems, notes: found.notes, ..repair.done })
}

fn names(commit: &Commit, file: &DamagedFile) -> bool {
    let mut files = commit.tables.values().flat_map(|table| &table.files);
    files.any(|known| known.blake3 == file.entry.blake3)
}

struct Repair<'a> {
    lake: &'a Lake,
    lock: &'a LakeLock,
    now: Timestamp,
    done: Repaired,
}

impl Repair<'_> {
    /// Repairs everything: what others depend on first.
    fn all(&mut self, run_id: &str, today: Date) -> Result<()> {
        self.small_things()?;
        if !self.leftovers()? {
            return Ok(());
        }
        let mut lost = self.tables()?;
        let newest = match self.lake.current() {
            // Its commit stays lost, and with it what its files are.
            Err(LakeError::Damaged { .. }) => return Ok(()),
            other => other?,
        };
        if let Some(newest) = newest {
            lost.retain(|file| names(&newest, file));
            if !lost.is_empty() {
                self.leave_out(&newest, &lost, run_id, today)?;
            }
        }
        self.catalog()
    }

    fn note(&mut self, path: PathBuf, what: &str, done: impl Into<String>) {
        self.done.actions.push(Action { path, what: what.to_owned(), done: done.into() });
    }

    /// Repairs commits, marks, the pointer, and the records of runs; tables depend on them. A repaired file can show that
    /// another is missing, so this is repeated until nothing new is found.
    fn small_things(&mut self) -> Result<()> {
        let mut tried = BTreeSet::new();
        loop {
            let known = tried.len();
            for problem in self.lake.audit_small_files()?.problems {
                if tried.insert(problem.path.clone())
                    && let Some(done) = self.lake.repair_small_file(self.lock, &problem, self.now)?
                {
                    self.note(problem.path, &problem.what, done);
                }
            }
            if tried.len() == known {
                return Ok(());
            }
        }
    }

    /// Does what every run does first: deletes what killed runs left, and points readers to the newest snapshot. False, and
    /// nothing is deleted, if a commit stays lost: its files would count as left by a killed run.
    fn leftovers(&mut self) -> Result<bool> {
        let repair = match self.lake.recover(self.lock) {
            Err(LakeError::Damaged { .. }) => return Ok(false),
            other => other?,
        };
        for path in repair.removed {
            self.note(path, "a killed run left it", "deleted");
        }
        if let Some(snapshot) = repair.shown {
            let path = self.lake.pointer_for_user();
            self.note(
                path,
                "a killed run did not replace it",
                format!("it leads to snapshot {snapshot} now"),
            );
        }
        Ok(true)
    }

    /// Writes the descriptions of the newest snapshot again, if one of them is damaged.
    fn catalog(&mut self) -> Result<()> {
        let mut damaged = self.lake.audit_small_files()?.problems;
        damaged.retain(Problem::is_of_catalog);
        let Some(newest) = self.lake.current()?.filter(|_| !damaged.is_empty()) else { return Ok(()) };
        self.lake.remove_damaged_delta_versions()?;
        match write_newest(self.lake, true, None) {
            Err(why) if may_pass(&why) => return Err(why),
            // It is made from the tables: where those stay damaged, so does it.
            Err(_) => return Ok(()),
            Ok(()) => {}
        }
        for problem in damaged {
            self.note(
                problem.path,
                &problem.what,
                format!("written again from snapshot {}", newest.snapshot),
            );
        }
        Ok(())
    }

    /// Repairs files of tables, oldest first, since snapshots are rebuilt on each other. Returns those that were not restored.
    fn tables(&mut self) -> Result<Vec<DamagedFile>> {
        let mut lost = Vec::new();
        for file in self.lake.damaged_files()? {
            const WHAT: &str = "missing or damaged";
            if let Some((snapshot, copy)) = self.lake.intact_copy(&file)? {
                self.lake.replace_damaged(self.lock, &file, &copy)?;
                self.note(file.user_path, WHAT, format!("taken from the sound copy in snapshot {snapshot}"));
                continue;
            }
            match self.made_from_pages(&file) {
                Ok(run_id) => {
                    self.note(
                        file.user_path,
                        WHAT,
                        format!("made again from the archived pages of run {run_id}"),
                    );
                }
                // A failing disk or network says nothing about the file.
                Err(why) if may_pass(&why) => return Err(why),
                Err(why) => {
                    tracing::debug!(path = %file.path.display(), %why, "archived pages do not restore it");
                    lost.push(file);
                }
            }
        }
        Ok(lost)
    }

    /// Rebuilds the snapshot that first had the file, and takes the file from there if it is equal byte for byte.
    fn made_from_pages(&self, file: &DamagedFile) -> Result<String> {
        let refuse = |run_id: &str, why: &str| PipelineError::NotReplayable {
            run_id: run_id.to_owned(),
            why: why.to_owned(),
        };
        let origin =
            self.lake.origin_commit(&file.entry)?.ok_or_else(|| refuse("", "no commit names the file"))?;
        let made = remake(self.lake, &origin, Base::Again(&origin))?;
        let restored = match made.staging.file_of(&file.entry.blake3) {
            Some(path) => self.lake.replace_damaged(self.lock, file, &path).map_err(PipelineError::from),
            None => Err(refuse(&origin.run_id, "it is rebuilt differently")),
        };
        made.staging.discard()?;
        restored.map(|()| origin.run_id)
    }

    /// Notes what the next runs must know of rows that are left out.
    fn note_losses(&self, lost: &[DamagedFile], state: &mut RunState) -> Result<()> {
        state.sums_may_differ = true;
        // An import knows by the source of its records what is news.
        for file in lost.iter().filter(|_| state.source != Some(SourceKind::State)) {
            if let Some(month) = month_of(file) {
                let had_at = self.lake.origin_commit(&file.entry)?.map(|commit| commit.committed_at);
                state.losses.note(month, had_at.unwrap_or(self.now));
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, newest: &Commit, lost: &[DamagedFile], run_id: &str, today: Date) -> Result<()> {
        let run = self.lake.run(run_id)?;
        let mut record = RunRecord::begun(run_id, REPAIR, self.now, today);
        run.write_record(&record)?;
        let digests = lost.iter().map(|file| file.entry.blake3.as_str()).collect();
        let mut staging = self.lake.stage_on(Base::NewestWithout(&digests), run_id)?;
        let mut state = RunState::of(Some(newest));
        let lost_coverage = lost.iter().any(|file| file.table == Table::Coverage.name());
        let months: BTreeSet<Month> = lost.iter().filter_map(month_of).collect();
        let in_lost_month = |day: Date| Month::of(day).is_some_and(|month| months.contains(&month));
        if !lost_coverage && !months.is_empty() {
            let mut rows = coverage_rows(self.lake, Some(newest))?;
            rows.retain(|row| in_lost_month(row.filed_date));
            for row in &mut rows {
                (row.complete, row.settled, row.landed, row.checked_at) = (false, false, 0, self.now);
            }
            staging.merge(Table::Coverage, &CoverageRow::batch(&rows)?)?;
        }
        self.note_losses(lost, &mut state)?;
        let mut lost_starts = BTreeSet::new();
        if !months.is_empty() && !state.register.is_empty() {
            let filings = staging.files().remove(Table::Filings.name()).unwrap_or_default();
            lost_starts = starts_with_losses(&state.register, &read_since(self.lake)?, &filings)?;
            state.register.forget(&lost_starts);
        }
        if state.source == Some(SourceKind::State) {
            state.has_losses = true;
            state.lost_files.extend(forget(&mut staging, &months)?);
        }
        let commit = staging.commit(CommitInfo {
            committed_at: self.now,
            today,
            pipeline: REPAIR.to_owned(),
            requests_sent: 0,
            state: serde_json::to_value(&state).unwrap_or_default(),
            checks: serde_json::json!({ "findings": ["rows were lost and omitted; their days are incomplete"] }),
        })?;
        record.finished = Some("complete".to_owned());
        run.close(&mut record)?;
        write_newest(self.lake, true, None)?;
        self.done.snapshot = Some(commit.snapshot);
        let lost: BTreeMap<&PathBuf, &DamagedFile> =
            lost.iter().map(|file| (&file.user_path, file)).collect();
        for (path, file) in lost {
            let loss = match (state.source, Table::from_name(&file.table)) {
                (Some(SourceKind::State), Some(_)) => {
                    "the next import reads all files of its folder again".to_owned()
                }
                _ => loss(file, &lost_starts),
            };
            let done = format!("snapshot {} leaves it out: {loss}", commit.snapshot);
            self.note(path.clone(), "lost", done);
        }
        Ok(())
    }
}

/// Takes the place of a pipeline's name.
const REPAIR: &str = "repair";

/// Whether a retry may succeed: after a full disk, or a store that does not answer.
fn may_pass(why: &PipelineError) -> bool {
    match why {
        PipelineError::Write { .. } | PipelineError::Lake(LakeError::Remote { .. }) => true,
        PipelineError::Lake(LakeError::Storage { source, .. }) => {
            source.kind() != std::io::ErrorKind::NotFound
        }
        _ => false,
    }
}

fn month_of(file: &DamagedFile) -> Option<Month> {
    let is_filings = file.table == Table::Filings.name();
    file.entry.path.split('/').nth(1).filter(|_| is_filings).and_then(Month::from_folder)
}

/// What the loss of a file means. With filings, some prefixes may lose rows.
fn loss(file: &DamagedFile, starts: &BTreeSet<Reading>) -> String {
    let rows = file.entry.rows;
    match (Table::from_name(&file.table), month_of(file)) {
        (_, Some(month)) => {
            let register = match starts.len() {
                0 => String::new(),
                starts => format!("; prefixes of names that the register is asked for again: {starts}"),
            };
            format!(
                "the days of {month} count as incomplete, and the next run reads those that the plan still reaches{register}"
            )
        }
        (None, _) => "the next run makes the aggregate again".to_owned(),
        (Some(Table::Coverage), _) => {
            "every day counts as incomplete, and the next run reads it again".to_owned()
        }
        (Some(Table::Details | Table::Officers), _) => {
            format!("{rows} rows; they are looked up again when they are selected")
        }
        (Some(_), _) => format!("{rows} rows of history"),
    }
}
