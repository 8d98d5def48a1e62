//! What the newest snapshot knows of each day: coverage, and the ids it lists.

use super::stale_days::Held;
use crate::contract::eastern::{day_of_epoch, days_newest_first, month_of};
use crate::contract::reference::EntityType;
use crate::extract::query::row_set::{Interner, SeenRow};
use crate::lake::{Commit, Lake, Staging};
use crate::pipeline::PipelineError;
use crate::table::{CoverageRow, Row, Table, read_table};
use arrow::array::AsArray;
use arrow::datatypes::{Date32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Coverage of a snapshot by listing label and day.
pub(crate) type Coverage = BTreeMap<String, BTreeMap<Date, Held>>;

/// The coverage of the newest snapshot; empty for a new lake.
pub(crate) fn read_coverage(lake: &Lake, commit: Option<&Commit>) -> Result<Coverage, PipelineError> {
    Ok(by_listing(coverage_rows(lake, commit)?))
}

/// The coverage that a coming snapshot begins with.
pub(crate) fn staged_coverage(staging: &Staging) -> Result<Coverage, PipelineError> {
    Ok(by_listing(read_coverage_files(&staging.sound_table(Table::Coverage)?)?))
}

fn by_listing(rows: Vec<CoverageRow>) -> Coverage {
    let mut coverage = Coverage::new();
    for row in rows {
        let expected = u64::try_from(row.expected).unwrap_or(0);
        let held = Held { expected, complete: row.complete };
        coverage.entry(row.entity_type).or_default().insert(row.filed_date, held);
    }
    coverage
}

/// Rows of the coverage table of a snapshot.
pub(crate) fn coverage_rows(lake: &Lake, commit: Option<&Commit>) -> Result<Vec<CoverageRow>, PipelineError> {
    let Some(commit) = commit else { return Ok(Vec::new()) };
    let mut rows = Vec::new();
    for batch in lake.open_snapshot(commit).rows(Table::Coverage)? {
        rows.extend(CoverageRow::rows(&batch)?);
    }
    Ok(rows)
}

/// Rows of coverage files.
pub(crate) fn read_coverage_files(files: &[PathBuf]) -> Result<Vec<CoverageRow>, PipelineError> {
    let mut rows = Vec::new();
    for file in files {
        for batch in read_table(Table::Coverage, file, None)? {
            rows.extend(CoverageRow::rows(&batch?)?);
        }
    }
    Ok(rows)
}

/// Rows that the newest snapshot lists, for one listing.
pub(crate) struct KnownRows {
    files: Vec<PathBuf>,
    label: &'static str,
    interner: Interner,
}

/// What extraction compares of a row.
const COMPARED: [&str; 9] = [
    "business_id",
    "filed_date",
    "entity_type",
    "listed",
    "industry_sector",
    "industry_type",
    "zip",
    "city",
    "name",
];

impl KnownRows {
    /// `files` are those of the filings.
    pub(crate) fn new(files: Vec<PathBuf>, label: &'static str) -> Self {
        Self { files, label, interner: Interner::default() }
    }

    /// Rows listed on the days `from` to `to`.
    pub(crate) fn between(&mut self, from: Date, to: Date) -> Result<Vec<SeenRow>, PipelineError> {
        let months: BTreeSet<String> =
            days_newest_first(from, to).map(|day| format!("filed_month={}", month_of(day))).collect();
        let of_months = |file: &&PathBuf| {
            file.components().any(|part| part.as_os_str().to_str().is_some_and(|part| months.contains(part)))
        };
        let files: Vec<PathBuf> = self.files.iter().filter(of_months).cloned().collect();
        let mut rows = Vec::new();
        for file in files {
            for batch in read_table(Table::Filings, &file, Some(&COMPARED))? {
                self.note_listed(&batch?, (from, to), &mut rows);
            }
        }
        Ok(rows)
    }

    fn note_listed(&mut self, batch: &RecordBatch, (from, to): (Date, Date), rows: &mut Vec<SeenRow>) {
        let column = |name: &str| batch.column_by_name(name);
        let text = |name: &str| Some(column(name)?.as_string::<i32>());
        let (Some(ids), Some(dates), Some(listed)) =
            (column("business_id"), column("filed_date"), column("listed"))
        else {
            return;
        };
        let (Some(kinds), Some(sectors), Some(types), Some(zips), Some(cities), Some(names)) = (
            text("entity_type"),
            text("industry_sector"),
            text("industry_type"),
            text("zip"),
            text("city"),
            text("name"),
        ) else {
            return;
        };
        let (ids, dates) = (ids.as_primitive::<Int64Type>(), dates.as_primitive::<Date32Type>());
        let listed = listed.as_boolean();
        for row in 0..ids.len() {
            let Some(filed_date) = day_of_epoch(dates.value(row)).filter(|day| from <= *day && *day <= to)
            else {
                continue;
            };
            if listed.value(row) && belongs(self.label, kinds.value(row)) {
                rows.push(SeenRow {
                    id: ids.value(row),
                    filed_date,
                    entity_type: self.interner.share(kinds.value(row)),
                    sector: self.interner.share(sectors.value(row)),
                    industry_type: self.interner.share(types.value(row)),
                    zip: self.interner.share(zips.value(row)),
                    city: self.interner.share(cities.value(row)),
                    name_start: self.interner.share_start(names.value(row)),
                });
            }
        }
    }
}

/// Whether a row of this type stands in the listing of this label.
pub(crate) fn belongs(label: &str, entity_type: &str) -> bool {
    match label {
        crate::pipeline::EVERY_OTHER_TYPE => entity_type != EntityType::Fictitious.key(),
        kind => entity_type == kind,
    }
}
