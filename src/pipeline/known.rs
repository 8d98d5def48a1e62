//! What the newest snapshot knows of each day: coverage, and the ids it lists.

use super::PipelineError;
use super::need::Held;
use crate::contract::eastern::month_of;
use crate::contract::reference::EntityType;
use crate::lake::{Commit, Lake};
use crate::table::{CoverageRow, Row, Table, day_of_epoch, read_table};
use arrow::array::AsArray;
use arrow::datatypes::{Date32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use jiff::civil::Date;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

/// Coverage of a snapshot by listing label and day.
pub(super) type Coverage = BTreeMap<String, BTreeMap<Date, Held>>;

/// Reads the coverage of the newest snapshot; empty for a new lake.
pub(super) fn read_coverage(lake: &Lake, commit: Option<&Commit>) -> Result<Coverage, PipelineError> {
    let mut coverage = Coverage::new();
    for row in coverage_rows(lake, commit)? {
        let expected = u64::try_from(row.expected).unwrap_or(0);
        let held = Held { expected, complete: row.complete };
        coverage.entry(row.entity_type).or_default().insert(row.filed_date, held);
    }
    Ok(coverage)
}

/// Rows of the coverage table of a snapshot.
pub(super) fn coverage_rows(lake: &Lake, commit: Option<&Commit>) -> Result<Vec<CoverageRow>, PipelineError> {
    let Some(commit) = commit else { return Ok(Vec::new()) };
    read_coverage_files(&lake.table_files(commit, Table::Coverage.name())?)
}

/// Rows of coverage files.
pub(super) fn read_coverage_files(files: &[PathBuf]) -> Result<Vec<CoverageRow>, PipelineError> {
    let mut rows = Vec::new();
    for file in files {
        for batch in read_table(Table::Coverage, file, None)? {
            rows.extend(CoverageRow::rows(&batch?)?);
        }
    }
    Ok(rows)
}

/// Ids that the newest snapshot lists on a day, for one listing; reads each month once.
pub(super) struct KnownIds {
    files: Vec<PathBuf>,
    label: &'static str,
    months: HashMap<String, HashMap<Date, HashSet<i64>>>,
}

impl KnownIds {
    pub(super) fn new(
        lake: &Lake,
        commit: Option<&Commit>,
        label: &'static str,
    ) -> Result<Self, PipelineError> {
        let files = commit.map(|commit| lake.table_files(commit, Table::Filings.name())).transpose()?;
        Ok(Self { files: files.unwrap_or_default(), label, months: HashMap::new() })
    }

    /// Ids listed on a day.
    pub(super) fn on(&mut self, day: Date) -> Result<HashSet<i64>, PipelineError> {
        let month = month_of(day);
        if !self.months.contains_key(&month) {
            let days = self.read_month(&month)?;
            self.months.insert(month.clone(), days);
        }
        Ok(self.months.get(&month).and_then(|days| days.get(&day)).cloned().unwrap_or_default())
    }

    fn read_month(&self, month: &str) -> Result<HashMap<Date, HashSet<i64>>, PipelineError> {
        let folder = format!("filed_month={month}");
        let mut days: HashMap<Date, HashSet<i64>> = HashMap::new();
        for file in
            self.files.iter().filter(|file| file.components().any(|part| part.as_os_str() == &*folder))
        {
            let columns = ["business_id", "filed_date", "entity_type", "listed"];
            for batch in read_table(Table::Filings, file, Some(&columns))? {
                note_listed(&batch?, self.label, &mut days);
            }
        }
        Ok(days)
    }
}

/// Whether a row of this type stands in the listing of this label.
pub(super) fn belongs(label: &str, entity_type: &str) -> bool {
    match label {
        super::EVERY_OTHER_TYPE => entity_type != EntityType::Fictitious.key(),
        kind => entity_type == kind,
    }
}

fn note_listed(batch: &RecordBatch, label: &str, days: &mut HashMap<Date, HashSet<i64>>) {
    let column = |name: &str| batch.column_by_name(name);
    let (Some(ids), Some(dates), Some(kinds), Some(listed)) =
        (column("business_id"), column("filed_date"), column("entity_type"), column("listed"))
    else {
        return;
    };
    let (ids, dates) = (ids.as_primitive::<Int64Type>(), dates.as_primitive::<Date32Type>());
    let (kinds, listed) = (kinds.as_string::<i32>(), listed.as_boolean());
    for row in 0..ids.len() {
        if listed.value(row)
            && belongs(label, kinds.value(row))
            && let Some(day) = day_of_epoch(dates.value(row))
        {
            days.entry(day).or_default().insert(ids.value(row));
        }
    }
}
