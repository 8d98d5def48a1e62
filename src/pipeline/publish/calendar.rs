//! The tables `days` and `months` of the next snapshot.

use crate::aggregate::calendar::{days, months};
use crate::contract::eastern::month_of;
use crate::lake::{Month, Staging, TableDelta};
use crate::pipeline::error::Result;
use crate::pipeline::load::recount::LakeCounts;
use crate::pipeline::plan::lake_view::staged_coverage_rows;
use crate::table::{DayRow, Row, StatewideRow, Table, read_rows};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Makes both tables anew. Only months whose filings changed are counted; the others keep the counts of the parent snapshot.
pub(crate) fn stage_calendar(
    staging: &mut Staging,
    as_of: Date,
    deltas: &mut BTreeMap<String, TableDelta>,
) -> Result<()> {
    let statewide: Vec<StatewideRow> = staged_rows(staging)?;
    let today = statewide.iter().map(|row| row.observed_on).max().unwrap_or(as_of);
    let filings = count_days(staging, as_of)?;
    let days = days(&filings, &staged_coverage_rows(staging)?, today);
    let months = months(&days);
    stage(staging, &days, deltas)?;
    stage(staging, &months, deltas)
}

/// All rows of a table that is not by month, as staged.
pub(in crate::pipeline) fn staged_rows<R: Row>(staging: &Staging) -> Result<Vec<R>> {
    let mut rows = Vec::new();
    for file in staging.sound_table(R::TABLE)? {
        rows.extend(read_rows(&file)?);
    }
    Ok(rows)
}

fn stage<R: Row>(staging: &mut Staging, rows: &[R], deltas: &mut BTreeMap<String, TableDelta>) -> Result<()> {
    let delta = staging.replace(R::TABLE, &R::batch(rows)?)?;
    deltas.insert(R::TABLE.name().to_owned(), delta);
    Ok(())
}

/// The listed businesses of each day.
fn count_days(staging: &Staging, as_of: Date) -> Result<BTreeMap<Date, i64>> {
    let before: Vec<DayRow> = staged_rows(staging)?;
    let changed = staging.changed_months();
    let changed_names: BTreeSet<String> = changed.keys().map(Month::to_string).collect();
    let files: Vec<PathBuf> = match before.is_empty() {
        true => staging.sound_table(Table::Filings)?,
        false => changed.into_values().flat_map(|files| files.after).collect(),
    };
    let kept = before.into_iter().filter(|day| !changed_names.contains(&month_of(day.filed_date)));
    let mut filings: BTreeMap<Date, i64> = kept.map(|day| (day.filed_date, day.filings)).collect();
    filings.retain(|_, filings| *filings > 0);
    filings.extend(LakeCounts::of(&files, as_of)?.by_day());
    Ok(filings)
}
