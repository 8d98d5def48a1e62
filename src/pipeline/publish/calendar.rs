//! The tables `days` and `months` of the next snapshot.

use crate::aggregate::calendar::{days, months};
use crate::contract::eastern::month_of;
use crate::lake::{Month, Staging, TableDelta};
use crate::pipeline::error::Result;
use crate::pipeline::load::landing::Landing;
use crate::pipeline::load::recount::LakeCounts;
use crate::pipeline::plan::lake_view::staged_coverage_rows;
use crate::table::{DayRow, Row, StatewideRow, Table, read_rows};
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Makes both tables anew. Only months whose filings changed are counted; the others keep the counts of the parent snapshot.
pub(super) fn stage_calendar(landing: &mut Landing, deltas: &mut BTreeMap<String, TableDelta>) -> Result<()> {
    let statewide: Vec<StatewideRow> = staged_rows(&landing.staging)?;
    let today = statewide.iter().map(|row| row.observed_on).max().unwrap_or(landing.today);
    let filings = count_days(landing)?;
    let days = days(&filings, &staged_coverage_rows(&landing.staging)?, today);
    let months = months(&days);
    stage(&mut landing.staging, &days, deltas)?;
    stage(&mut landing.staging, &months, deltas)
}

fn staged_rows<R: Row>(staging: &Staging) -> Result<Vec<R>> {
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
fn count_days(landing: &Landing) -> Result<BTreeMap<Date, i64>> {
    let before: Vec<DayRow> = staged_rows(&landing.staging)?;
    let changed = landing.staging.changed_months();
    let changed_names: BTreeSet<String> = changed.keys().map(Month::to_string).collect();
    let files: Vec<PathBuf> = match before.is_empty() {
        true => landing.staging.sound_table(Table::Filings)?,
        false => changed.into_values().flat_map(|files| files.after).collect(),
    };
    let kept = before.into_iter().filter(|day| !changed_names.contains(&month_of(day.filed_date)));
    let mut filings: BTreeMap<Date, i64> = kept.map(|day| (day.filed_date, day.filings)).collect();
    filings.retain(|_, filings| *filings > 0);
    filings.extend(LakeCounts::of(&files, landing.today)?.by_day());
    Ok(filings)
}
