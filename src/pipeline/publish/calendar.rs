//! The tables `days` and `months` of the next snapshot.

use crate::aggregate::calendar::{DayCount, days, months};
use crate::contract::eastern::{minus_days, month_of};
use crate::lake::{Month, Staging, TableDelta};
use crate::pipeline::error::Result;
use crate::pipeline::load::recount::LakeCounts;
use crate::pipeline::plan::lake_view::staged_rows;
use crate::table::{DayRow, Row, StatewideRow, Table};
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
    let filings = count_days(staging, as_of, today)?;
    let days = days(&filings, &staged_rows(staging)?, today);
    let months = months(&days);
    stage(staging, &days, deltas)?;
    stage(staging, &months, deltas)
}

fn stage<R: Row>(staging: &mut Staging, rows: &[R], deltas: &mut BTreeMap<String, TableDelta>) -> Result<()> {
    let delta = staging.replace(R::TABLE, &R::batch(rows)?)?;
    deltas.insert(R::TABLE.name().to_owned(), delta);
    Ok(())
}

/// An API that shows a day for the first time after more days may have lost businesses of it.
const IN_TIME: u32 = 90;

/// The businesses of each day.
fn count_days(staging: &Staging, as_of: Date, today: Date) -> Result<BTreeMap<Date, DayCount>> {
    let before: Vec<DayRow> = staged_rows(staging)?;
    let changed = staging.changed_months();
    let changed_names: BTreeSet<String> = changed.keys().map(Month::to_string).collect();
    let files: Vec<PathBuf> = if before.is_empty() {
        staging.sound_table(Table::Filings)?
    } else {
        changed.into_values().flat_map(|files| files.after).collect()
    };
    // The state's files have the businesses of all times.
    let is_of_state = staging.manifests().contains_key(Table::Imports.name());
    let is_followed = |day: &&DayRow| day.complete && day.filed.is_some();
    let followed: BTreeSet<Date> = before.iter().filter(is_followed).map(|day| day.filed_date).collect();
    let kept = before.into_iter().filter(|day| !changed_names.contains(&month_of(day.filed_date)));
    let count = |day: DayRow| (day.filed_date, DayCount { listed: day.filings, filed: day.filed });
    let mut filings: BTreeMap<Date, DayCount> = kept.map(count).collect();
    filings.retain(|_, count| count.listed > 0 || count.filed != Some(0));
    filings.extend(LakeCounts::of(&files, as_of)?.by_day());
    let oldest = minus_days(today, IN_TIME);
    for (day, count) in filings.iter_mut().filter(|(day, _)| !is_of_state && **day < oldest) {
        count.filed = count.filed.filter(|_| followed.contains(day));
    }
    Ok(filings)
}
