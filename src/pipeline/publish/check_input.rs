//! Collects what the checks compare, from the next snapshot and the one before.

use super::checks::{Evidence, Miscount, MonthRows};
use super::summary::{RegisterSummary, RunSummary};
use crate::aggregate::check_sum;
use crate::contract::count::DailyCount;
use crate::contract::eastern::{day_of_epoch, minus_days, plus_days};
use crate::contract::listing::Listing;
use crate::lake::{Month, MonthFiles, Staging};
use crate::pipeline::error::Result;
use crate::pipeline::plan::stale_days::{MAX_DAYS_AHEAD, SETTLED_DAYS};
use crate::pipeline::state::provenance::Journal;
use crate::table::{FilingColumns, Table, read_parquet};
use arrow_array::{Array, RecordBatch};
use jiff::civil::{Date, date};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// No business of the register was filed before.
const FIRST_DAY: Date = date(1800, 1, 1);

/// What the checks compare of the snapshot that a run is about to publish. `counted` are the API's counts of the days that it read completely.
pub(super) fn evidence(
    staging: &Staging,
    journal: &Journal,
    counted: &[DailyCount],
    summary: &RunSummary,
) -> Result<Evidence> {
    let filings = summary.rows.get(Table::Filings.name());
    let before = staging.parent().and_then(|commit| commit.tables.get(Table::Filings.name()));
    let months = staging.changed_months();
    let mut evidence = Evidence {
        quarantined: summary.quarantined,
        unknown_fields: summary.unknown_fields.clone(),
        incomplete_days: match summary.stopped {
            // A paused run reads them when it resumes.
            Some(_) => 0,
            None => summary.coverage.days - summary.coverage.complete,
        },
        vanished: filings.map_or(0, |rows| rows.vanished),
        rows_before: before.map_or(0, |table| table.rows),
        missing_businesses: summary
            .register
            .as_ref()
            .filter(|register| summary.stopped.is_none() && register.left == 0)
            .and_then(RegisterSummary::missing_businesses),
        ..Evidence::default()
    };
    let seen = look_at_months(&months, journal.today, &mut evidence)?;
    evidence.miscounted = miscounted(counted, &months, &seen);
    let invalid_keys = staging.invalid_keys()?.into_iter();
    evidence.repeated_keys = invalid_keys.map(|(table, rows)| (table.name().to_owned(), rows)).collect();
    evidence.sums = wrong_sums(staging, journal)?;
    Ok(evidence)
}

/// Notes the rows of changed months: impossible dates, and how many settled months list.
fn look_at_months(
    months: &BTreeMap<Month, MonthFiles>,
    today: Date,
    evidence: &mut Evidence,
) -> Result<Seen> {
    let mut seen = Seen { limit: plus_days(today, MAX_DAYS_AHEAD), ..Seen::default() };
    let settled = Month::of(minus_days(today, SETTLED_DAYS));
    for (month, files) in months {
        let after = seen.read(&files.after)?;
        if settled.is_some_and(|settled| *month < settled) {
            let before = Seen::default().read(&files.before)?;
            evidence.settled_months.push(MonthRows { month: month.to_string(), before, after });
        }
    }
    evidence.impossible_dates = std::mem::take(&mut seen.impossible_dates);
    evidence.farthest = seen.farthest;
    Ok(seen)
}

/// Days in changed months whose number of rows differs from the API's count.
fn miscounted(counted: &[DailyCount], months: &BTreeMap<Month, MonthFiles>, seen: &Seen) -> Vec<Miscount> {
    let is_changed = |day: Date| Month::of(day).is_some_and(|month| months.contains_key(&month));
    let days = counted.iter().filter(|count| is_changed(count.date));
    days.map(|count| Miscount {
        day: count.date,
        counted: count.count,
        listed: seen.listed.get(&count.date).copied().unwrap_or(0),
    })
    .filter(|miscount| miscount.counted != miscount.listed)
    .collect()
}

fn wrong_sums(staging: &Staging, journal: &Journal) -> Result<Vec<(String, i64, i64)>> {
    let tables = staging.files();
    let mut wrong = Vec::new();
    for (name, sql) in journal.aggregates.iter().flatten() {
        if !tables.contains_key(&format!("{}{name}", crate::aggregate::TABLE_PREFIX)) {
            continue;
        }
        if let Some(sum) = check_sum(name, sql, &tables)?.filter(|sum| sum.aggregate != sum.source) {
            wrong.push((name.clone(), sum.aggregate, sum.source));
        }
    }
    Ok(wrong)
}

/// What was found in files of filings.
#[derive(Debug, Default)]
struct Seen {
    /// Newest possible filing date.
    limit: Date,
    /// Listed filings by day, without fictitious names.
    listed: BTreeMap<Date, i64>,
    impossible_dates: BTreeMap<(&'static str, Option<Month>), u64>,
    /// The newest impossible filing date.
    farthest: Option<Date>,
}

impl Seen {
    /// Adds files; returns their number of listed rows.
    fn read(&mut self, files: &[PathBuf]) -> Result<u64> {
        let mut listed_rows = 0;
        for file in files {
            let columns = ["entity_type", "filed_date", "dissolved_date", "listed"];
            for batch in read_parquet(file, Some(&columns))? {
                listed_rows += self.add(&batch?)?;
            }
        }
        Ok(listed_rows)
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<u64> {
        let columns = FilingColumns::new(batch);
        let (filed, dissolved) = (columns.filed_date()?, columns.dissolved_date()?);
        let (kinds, listed) = (columns.entity_type()?, columns.listed()?);
        let mut listed_rows = 0;
        for row in 0..columns.rows() {
            let Some(day) = day_of_epoch(filed.value(row)) else { continue };
            self.note_dates(day, dissolved.is_valid(row) && dissolved.value(row) < filed.value(row));
            if listed.value(row) {
                listed_rows += 1;
                let counts = Listing::Untyped.holds(kinds.value(row));
                *self.listed.entry(day).or_default() += i64::from(counts);
            }
        }
        Ok(listed_rows)
    }

    fn note_dates(&mut self, filed: Date, dissolved_before: bool) {
        self.farthest = self.farthest.max(Some(filed).filter(|day| *day > self.limit));
        let kinds = [
            ("filed before 1800", filed < FIRST_DAY),
            ("filed more than a year from now", filed > self.limit),
            ("dissolved before they were filed", dissolved_before),
        ];
        for (what, _) in kinds.into_iter().filter(|(_, is_found)| *is_found) {
            *self.impossible_dates.entry((what, Month::of(filed))).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::load::recount::tests::filing;
    use crate::table::write_rows;

    #[test]
    fn a_date_far_ahead_is_named_with_its_month_and_the_day_before_it_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let today = date(2026, 11, 20);
        let days =
            [date(2062, 7, 16), plus_days(today, MAX_DAYS_AHEAD), plus_days(today, MAX_DAYS_AHEAD + 1)];
        let mut months = BTreeMap::new();
        for (id, day) in (1..).zip(days) {
            let path = folder.path().join(format!("{id}.parquet"));
            write_rows(&[filing(id, day, "llc", "active")], &path, &[]).expect("written");
            let none = MonthFiles { before: Vec::new(), after: Vec::new() };
            months.entry(Month::of(day).expect("a month")).or_insert(none).after.push(path);
        }
        let mut evidence = Evidence::default();
        look_at_months(&months, today, &mut evidence).expect("read");
        let odd = |day: Date| (("filed more than a year from now", Month::of(day)), 1);
        assert_eq!(evidence.impossible_dates, BTreeMap::from([odd(days[0]), odd(days[2])]));
        assert_eq!(evidence.farthest, Some(days[0]));
    }
}
