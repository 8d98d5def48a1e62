//! What the checks look at: gathered from the coming snapshot, as far as it differs from the one before.

use super::checks::{Evidence, Miscount, MonthRows};
use super::summary::RunSummary;
use crate::aggregate::check_sum;
use crate::contract::eastern::{day_of_epoch, minus_days, plus_days};
use crate::lake::{Month, MonthFiles};
use crate::pipeline::EVERY_OTHER_TYPE;
use crate::pipeline::PipelineError;
use crate::pipeline::load::landing;
use crate::pipeline::load::landing::Landing;
use crate::pipeline::load::registry::missing_words;
use crate::pipeline::plan::lake_view::belongs;
use crate::pipeline::run::Run;
use crate::table::{Table, read_parquet};
use arrow::array::{Array, AsArray};
use arrow::datatypes::Date32Type;
use jiff::civil::{Date, date};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// No business of the register was filed before.
const FIRST_DAY: Date = date(1800, 1, 1);
/// A filing may carry a date to come, but not further than this.
const DAYS_AHEAD: u32 = 366;

const FILED_EARLY: &str = "filed before 1800";
const FILED_LATE: &str = "filed more than a year from now";
const DISSOLVED_BEFORE: &str = "dissolved before they were filed";

/// Looks at what a run is about to publish.
pub(crate) fn evidence(
    run: &Run<'_>,
    landing: &Landing,
    summary: &RunSummary,
) -> Result<Evidence, PipelineError> {
    let staging = &landing.staging;
    let filings = summary.rows.get(Table::Filings.name());
    let before = staging.parent().and_then(|commit| commit.tables.get(Table::Filings.name()));
    let months = staging.changed_months();
    let mut evidence = Evidence {
        quarantined: summary.quarantined,
        unknown_fields: summary.unknown_fields.values().sum(),
        incomplete_days: match summary.stopped {
            // A run that stopped in good order will come back for them.
            Some(_) => 0,
            None => summary.coverage.days - summary.coverage.complete,
        },
        vanished: filings.map_or(0, |rows| rows.vanished),
        rows_before: before.map_or(0, |table| table.rows),
        missing_businesses: summary
            .register
            .as_ref()
            .filter(|register| summary.stopped.is_none() && register.left == 0)
            .and_then(missing_words),
        ..Evidence::default()
    };
    let mut seen = Seen { limit: plus_days(run.record.today, DAYS_AHEAD), ..Seen::default() };
    let settled = minus_days(run.record.today, landing::SETTLED_DAYS).to_string();
    for (month, files) in &months {
        let after = seen.read(&files.after)?;
        if is_over(*month, &settled) {
            let before = Seen::default().read(&files.before)?;
            evidence.settled_months.push(MonthRows { month: month.to_string(), before, after });
        }
    }
    evidence.miscounted = miscounted(run, landing, &months, &seen);
    evidence.odd_dates = seen.odd.into_iter().collect();
    let odd_keys = staging.odd_keys()?.into_iter();
    evidence.repeated_keys = odd_keys.map(|(table, rows)| (table.name().to_owned(), rows)).collect();
    evidence.sums = wrong_sums(landing)?;
    Ok(evidence)
}

/// Whether the whole month lies before a day, `YYYY-MM-DD`.
fn is_over(month: Month, day: &str) -> bool {
    month.to_string().as_str() < &day[..7]
}

/// Days proven now whose rows in the changed months are not as many as the API counts.
fn miscounted(
    run: &Run<'_>,
    landing: &Landing,
    months: &BTreeMap<Month, MonthFiles>,
    seen: &Seen,
) -> Vec<Miscount> {
    let is_proven = |day: Date| landing.proven.contains(&(EVERY_OTHER_TYPE.to_owned(), day));
    let is_changed = |day: Date| Month::of(day).is_some_and(|month| months.contains_key(&month));
    let days = run.counts.iter().filter(|count| is_proven(count.date) && is_changed(count.date));
    days.map(|count| Miscount {
        day: count.date,
        counted: count.count,
        listed: seen.listed.get(&count.date).copied().unwrap_or(0),
    })
    .filter(|miscount| miscount.counted != miscount.listed)
    .collect()
}

/// Aggregates whose sum is not that of their source.
fn wrong_sums(landing: &Landing) -> Result<Vec<(String, i64, i64)>, PipelineError> {
    let tables = landing.staging.files();
    let mut wrong = Vec::new();
    for (name, sql) in landing.journal.aggregates.iter().flatten() {
        if !tables.contains_key(&format!("{}{name}", crate::aggregate::TABLE_PREFIX)) {
            continue;
        }
        if let Some(sum) = check_sum(name, sql, &tables)?.filter(|sum| sum.aggregate != sum.source) {
            wrong.push((name.clone(), sum.aggregate, sum.source));
        }
    }
    Ok(wrong)
}

/// What was seen in files of filings.
#[derive(Debug, Default)]
struct Seen {
    /// Newest filing date that can be.
    limit: Date,
    /// Listed filings by day, fictitious names apart.
    listed: BTreeMap<Date, i64>,
    odd: BTreeMap<&'static str, u64>,
}

impl Seen {
    /// Takes files in; gives their listed rows.
    fn read(&mut self, files: &[PathBuf]) -> Result<u64, PipelineError> {
        let mut listed_rows = 0;
        for file in files {
            let columns = ["entity_type", "filed_date", "dissolved_date", "listed"];
            for batch in read_parquet(file, Some(&columns))? {
                let batch = batch?;
                let column = |name: &str| batch.column_by_name(name);
                let (Some(kinds), Some(filed), Some(dissolved), Some(listed)) =
                    (column("entity_type"), column("filed_date"), column("dissolved_date"), column("listed"))
                else {
                    continue;
                };
                let (filed, dissolved) =
                    (filed.as_primitive::<Date32Type>(), dissolved.as_primitive::<Date32Type>());
                let (kinds, listed) = (kinds.as_string::<i32>(), listed.as_boolean());
                for row in 0..batch.num_rows() {
                    let Some(day) = day_of_epoch(filed.value(row)) else { continue };
                    let gone = dissolved.is_valid(row) && dissolved.value(row) < filed.value(row);
                    self.note_dates(day, gone);
                    if listed.value(row) {
                        listed_rows += 1;
                        let counts = belongs(EVERY_OTHER_TYPE, kinds.value(row));
                        *self.listed.entry(day).or_default() += i64::from(counts);
                    }
                }
            }
        }
        Ok(listed_rows)
    }

    fn note_dates(&mut self, filed: Date, dissolved_before: bool) {
        let odd = [
            (FILED_EARLY, filed < FIRST_DAY),
            (FILED_LATE, filed > self.limit),
            (DISSOLVED_BEFORE, dissolved_before),
        ];
        for (what, _) in odd.into_iter().filter(|(_, is_odd)| *is_odd) {
            *self.odd.entry(what).or_default() += 1;
        }
    }
}
