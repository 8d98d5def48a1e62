//! Damage put right, the surest way first: a sound copy elsewhere in the lake, then the archived pages of the run that wrote
//! the file, then a new snapshot that leaves the lost rows out and marks their days as unproven, so that the next run
//! reads them again.

use super::replay::remake;
use crate::contract::reference::EntityType;
use crate::extract::registry::prefixes::{Start, start_of};
use crate::lake::{
    Base, Commit, CommitInfo, DamagedFile, Lake, LakeError, LakeLock, Month, Problem, RunRecord,
};
use crate::pipeline::PipelineError;
use crate::pipeline::plan::lake_view::coverage_rows;
use crate::pipeline::publish::report::write_shown;
use crate::pipeline::state::RunState;
use crate::pipeline::state::registry::{RegisterState, RegisterStatus};
use crate::table::{CoverageRow, Row, Table, read_table};
use arrow::array::AsArray;
use arrow::datatypes::TimestampMicrosecondType;
use arrow::record_batch::RecordBatch;
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
            if let Some(done) = self.lake.repair_small_file(self.lock, &problem, self.now)? {
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
            if let Some((snapshot, twin)) = self.lake.intact_copy(&file)? {
                self.lake.replace_damaged(self.lock, &file, &twin)?;
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
                // What fails for want of a disk or a network says nothing of the file.
                Err(why) if may_pass(&why) => return Err(why),
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
        let maker =
            self.lake.origin_commit(&file.entry)?.ok_or_else(|| refuse("", "no commit names the file"))?;
        let made = remake(self.lake, &maker)?;
        let mended = match made.staging.file_of(&file.entry.blake3) {
            Some(path) => self.lake.replace_damaged(self.lock, file, &path).map_err(PipelineError::from),
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
        let digests = lost.iter().map(|file| file.entry.blake3.as_str()).collect();
        let mut staging = self.lake.stage_on(Base::NewestWithout(&digests), run_id)?;
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
        let mut lost_starts = BTreeSet::new();
        if !months.is_empty() && !state.register.is_empty() {
            let filings = staging.files().remove(Table::Filings.name()).unwrap_or_default();
            lost_starts = starts_with_losses(&state.register, &told_at(self.lake)?, &filings)?;
            state.register.forget(&lost_starts);
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
        write_shown(self.lake, &commit)?;
        self.done.snapshot = Some(commit.snapshot);
        let mut told = BTreeMap::new();
        for file in lost {
            told.insert(
                file.user_path.clone(),
                format!("snapshot {} leaves it out: {}", commit.snapshot, loss(file, &lost_starts)),
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

/// Whether trying again may go well: a disk that is full, a store that does not answer.
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

/// A start of a name, and whether fictitious names are meant.
type Reading = (Start, bool);

/// Since when each start of a name counts as read, with as many rows as it has now: the time of the oldest commit that says so.
/// Commits of pruned snapshots tell it too; a damaged one does not.
fn told_at(lake: &Lake) -> Result<BTreeMap<Reading, (u64, Timestamp)>, LakeError> {
    let mut told: BTreeMap<Reading, (u64, Timestamp)> = BTreeMap::new();
    for snapshot in lake.commits()? {
        let commit = match lake.commit(snapshot) {
            Err(LakeError::Damaged { .. }) => continue,
            other => other?,
        };
        let before = std::mem::take(&mut told);
        let state = RunState::from_commit(&commit.state);
        for (start, is_fictitious, rows) in state.register.starts() {
            let reading = (start, is_fictitious);
            let since = before.get(&reading).filter(|(known, _)| *known == rows).map(|(_, since)| *since);
            told.insert(reading, (rows, since.unwrap_or(commit.committed_at)));
        }
    }
    Ok(told)
}

/// The starts of a name that count as read, and of whose rows some are not in these files of filings. A row that came after its
/// start was read is none of those that were found then.
fn starts_with_losses(
    register: &RegisterState,
    told_at: &BTreeMap<Reading, (u64, Timestamp)>,
    filings: &[PathBuf],
) -> Result<BTreeSet<Reading>, PipelineError> {
    let listed_alone = register.status == Some(RegisterStatus::Active);
    let mut left: BTreeMap<Reading, u64> = BTreeMap::new();
    for file in filings {
        let columns = ["name", "entity_type", "listed", "first_seen_at"];
        for batch in read_table(Table::Filings, file, Some(&columns))? {
            count_rows(&batch?, listed_alone, told_at, &mut left);
        }
    }
    let is_short = |reading: &Reading, rows: u64| left.get(reading).copied().unwrap_or(0) < rows;
    let starts = register.starts().map(|(start, is_fictitious, rows)| ((start, is_fictitious), rows));
    Ok(starts.filter(|(reading, rows)| is_short(reading, *rows)).map(|(reading, _)| reading).collect())
}

/// Counts rows that were there when their start was read.
fn count_rows(
    batch: &RecordBatch,
    listed_alone: bool,
    told_at: &BTreeMap<Reading, (u64, Timestamp)>,
    left: &mut BTreeMap<Reading, u64>,
) {
    let column = |name: &str| batch.column_by_name(name);
    let (Some(names), Some(kinds), Some(listed), Some(seen)) =
        (column("name"), column("entity_type"), column("listed"), column("first_seen_at"))
    else {
        return;
    };
    let (names, kinds) = (names.as_string::<i32>(), kinds.as_string::<i32>());
    let (listed, seen) = (listed.as_boolean(), seen.as_primitive::<TimestampMicrosecondType>());
    for row in 0..batch.num_rows() {
        let Some(start) = start_of(names.value(row)) else { continue };
        let reading = (start, kinds.value(row) == EntityType::Fictitious.key());
        let was_there = told_at.get(&reading).is_some_and(|(_, at)| seen.value(row) <= at.as_microsecond());
        if was_there && (listed.value(row) || !listed_alone) {
            *left.entry(reading).or_default() += 1;
        }
    }
}

/// What the loss of a file means; with filings, rows of some starts of a name may be lost.
fn loss(file: &DamagedFile, starts: &BTreeSet<Reading>) -> String {
    let rows = file.entry.rows;
    match (Table::from_name(&file.table), month_of(file)) {
        (_, Some(month)) => {
            let register = match starts.len() {
                0 => String::new(),
                starts => format!("; starts of names that the register is asked for again: {starts}"),
            };
            format!(
                "the days of {month} count as unproven, and the next run reads those that the plan still reaches{register}"
            )
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{FilingRow, write_rows};
    use jiff::civil::date;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("an instant")
    }

    fn filing(id: i64, name: &str, kind: EntityType, listed: bool, seen: i64) -> FilingRow {
        let plain =
            crate::pipeline::load::recount::tests::filing(id, date(2026, 11, 20), kind.key(), "active");
        FilingRow { name: name.to_owned(), listed, first_seen_at: at(seen), last_seen_at: at(seen), ..plain }
    }

    #[test]
    fn a_start_has_losses_where_fewer_rows_are_left_than_were_found_and_later_ones_make_up_for_none() {
        let (read_at, today) = (10, date(2026, 11, 20));
        let rows = [
            filing(1, "SUN", EntityType::Llc, true, read_at),
            filing(2, "SUNDIAL", EntityType::Llc, true, read_at + 1),
            filing(3, "SUNNY", EntityType::Fictitious, true, read_at),
            filing(4, "sara", EntityType::Llc, false, read_at),
        ];
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("part.parquet");
        write_rows(&rows, &file, &[]).expect("written");
        let found = [((['S', 'U'], false), 2), ((['S', 'U'], true), 1), ((['S', 'A'], false), 1)];
        let told: BTreeMap<Reading, (u64, Timestamp)> =
            found.iter().map(|(reading, rows)| (*reading, (*rows, at(read_at)))).collect();
        for (status, short) in [
            (RegisterStatus::All, vec![(['S', 'U'], false)]),
            (RegisterStatus::Active, vec![(['S', 'A'], false), (['S', 'U'], false)]),
        ] {
            let mut register = RegisterState::default();
            register.begin(status, today, None);
            for ((start, is_fictitious), rows) in found {
                register.finish(start, is_fictitious, today, rows);
            }
            let lost = starts_with_losses(&register, &told, std::slice::from_ref(&file)).expect("rows");
            assert_eq!(lost.into_iter().collect::<Vec<_>>(), short, "{status:?}");
        }
    }
}
