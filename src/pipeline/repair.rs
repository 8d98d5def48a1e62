//! Damage put right, the surest way first: a sound copy elsewhere in the lake, then the archived pages of the run that wrote
//! the file, then a new snapshot that leaves the lost rows out and marks their days as unproven, so that the next run
//! reads them again.

use super::PipelineError;
use super::known::coverage_rows;
use super::replay::remake;
use super::state::RunState;
use crate::lake::{Commit, CommitInfo, DamagedFile, Lake, LakeLock, Month, Problem, RunRecord};
use crate::table::{CoverageRow, Row, Table};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Repaired {
    /// What was done, file by file.
    pub actions: Vec<Action>,
    /// The new snapshot that leaves lost rows out, if one was needed.
    pub snapshot: Option<u64>,
    /// What could not be put right.
    pub left: Vec<Problem>,
}

/// What was done about one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Action {
    /// The file.
    pub path: PathBuf,
    /// What was wrong with it.
    pub what: String,
    /// What was done.
    pub done: String,
}

/// Puts right what can be put right in the lake.
///
/// # Errors
/// What the lake says while writing; damage that stays stands in the result.
pub fn repair(
    lake: &Lake,
    lock: &LakeLock,
    run_id: &str,
    (now, today): (Timestamp, Date),
) -> Result<Repaired, PipelineError> {
    let mut repair = Repair { lake, lock, now, done: Repaired::default() };
    repair.small_things()?;
    let lost = repair.tables()?;
    let newest = lake.current()?;
    let of_newest: Vec<DamagedFile> = match &newest {
        Some(newest) => lost.into_iter().filter(|file| names(newest, file)).collect(),
        None => Vec::new(),
    };
    if let Some(newest) = newest.filter(|_| !of_newest.is_empty()) {
        repair.leave_out(&newest, &of_newest, run_id, today)?;
    }
    repair.done.left = lake.audit()?.problems;
    Ok(repair.done)
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
    fn note(&mut self, path: PathBuf, what: &str, done: impl Into<String>) {
        self.done.actions.push(Action { path, what: what.to_owned(), done: done.into() });
    }

    /// Commits, marks, and the records of runs: what stands on them comes later.
    fn small_things(&mut self) -> Result<(), PipelineError> {
        for problem in self.lake.audit()?.problems {
            if let Some(done) = self.lake.mend_small(self.lock, &problem, self.now)? {
                self.note(problem.path, &problem.what, done);
            }
        }
        Ok(())
    }

    /// Files of tables; gives those that neither a copy nor archived pages brought back. Oldest first, since a snapshot is made
    /// again on top of the one before.
    fn tables(&mut self) -> Result<Vec<DamagedFile>, PipelineError> {
        let mut lost = Vec::new();
        for file in self.lake.damaged_files()? {
            const WHAT: &str = "missing or damaged";
            if let Some((snapshot, twin)) = self.lake.twin_of(&file)? {
                self.lake.put_in_place(self.lock, &file, &twin)?;
                self.note(
                    file.at_home,
                    WHAT,
                    format!("taken from snapshot {snapshot}, which has the same file"),
                );
                continue;
            }
            match self.made_from_pages(&file) {
                Ok(run_id) => {
                    self.note(
                        file.at_home,
                        WHAT,
                        format!("made again from the archived pages of run {run_id}"),
                    );
                }
                Err(why) => {
                    tracing::debug!(path = %file.path.display(), %why, "no archived pages bring it back");
                    lost.push(file);
                }
            }
        }
        Ok(lost)
    }

    /// Makes the snapshot again that first had the file, and takes the file from there if it is the same to the byte.
    fn made_from_pages(&self, file: &DamagedFile) -> Result<String, PipelineError> {
        let refuse = |run_id: &str, why: &str| PipelineError::NotReplayable {
            run_id: run_id.to_owned(),
            why: why.to_owned(),
        };
        let maker = self.lake.maker_of(&file.entry)?.ok_or_else(|| refuse("", "no commit names the file"))?;
        let made = remake(self.lake, &maker)?;
        let mended = match made.staging.file_of(&file.entry.blake3) {
            Some(path) => self.lake.put_in_place(self.lock, file, &path).map_err(PipelineError::from),
            None => Err(refuse(&maker.run_id, "it comes out otherwise")),
        };
        made.staging.discard()?;
        mended.map(|()| maker.run_id)
    }

    /// Publishes a snapshot without the lost files.
    fn leave_out(
        &mut self,
        newest: &Commit,
        lost: &[DamagedFile],
        run_id: &str,
        today: Date,
    ) -> Result<(), PipelineError> {
        let run = self.lake.run(run_id)?;
        let mut record = RunRecord::begun(run_id, REPAIR, (self.now, today));
        run.write_record(&record)?;
        let mut staging = self.lake.stage_without(run_id, lost)?;
        let mut state = RunState::from_commit(&newest.state);
        let lost_coverage = lost.iter().any(|file| file.table == Table::Coverage.name());
        let months: BTreeSet<Month> = lost.iter().filter_map(month_of).collect();
        let in_lost_month = |day: Date| Month::of(day).is_some_and(|month| months.contains(&month));
        if lost_coverage {
            state.counts.clear();
        } else if !months.is_empty() {
            let mut rows = coverage_rows(self.lake, Some(newest))?;
            rows.retain(|row| in_lost_month(row.filed_date));
            for row in &mut rows {
                (row.complete, row.settled, row.landed, row.checked_at) = (false, false, 0, self.now);
            }
            staging.merge(Table::Coverage, &CoverageRow::batch(&rows)?)?;
            state.counts.retain(|day, _| !in_lost_month(*day));
        }
        let commit = staging.commit(CommitInfo {
            committed_at: self.now,
            today,
            pipeline: REPAIR.to_owned(),
            requests_sent: 0,
            state: serde_json::to_value(&state).unwrap_or_default(),
            checks: serde_json::json!({ "findings": ["rows were lost and left out; their days are unproven"] }),
        })?;
        record.finished = Some("complete".to_owned());
        run.close(&mut record)?;
        self.done.snapshot = Some(commit.snapshot);
        let mut told = BTreeMap::new();
        for file in lost {
            told.insert(
                file.at_home.clone(),
                format!("snapshot {} leaves it out: {}", commit.snapshot, loss(file)),
            );
        }
        for (path, done) in told {
            self.note(path, "lost", done);
        }
        Ok(())
    }
}

/// What stands in the place of a pipeline's name.
const REPAIR: &str = "repair";

fn month_of(file: &DamagedFile) -> Option<Month> {
    let is_filings = file.table == Table::Filings.name();
    file.entry.path.split('/').nth(1).filter(|_| is_filings).and_then(Month::from_folder)
}

/// What the loss of a file means.
fn loss(file: &DamagedFile) -> String {
    let rows = file.entry.rows;
    match (Table::from_name(&file.table), month_of(file)) {
        (_, Some(month)) => format!(
            "the days of {month} count as unproven, and the next run reads those that the plan still reaches"
        ),
        (None, _) => "the next run makes the aggregate again".to_owned(),
        (Some(Table::Coverage), _) => {
            "every day counts as unproven, and the next run reads it again".to_owned()
        }
        (Some(Table::Details | Table::Officers), _) => {
            format!("{rows} rows; they are looked up again as they are chosen")
        }
        (Some(_), _) => format!("{rows} rows of history"),
    }
}
