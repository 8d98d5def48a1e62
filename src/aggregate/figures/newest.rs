//! The businesses that were filed last.

use super::values::NewBusiness;
use crate::aggregate::error::AggregateError;
use crate::aggregate::on_disk::{Cells, day, flag, text};
use crate::aggregate::tables::{SnapshotFiles, month_of_file};
use jiff::civil::Date;
use std::cmp::Reverse;
use std::path::PathBuf;

const MOST: usize = 100;

/// The newest listed businesses up to a day, from the newest months that have enough.
pub(super) fn read_newest(tables: &SnapshotFiles, until: Date) -> Result<Vec<NewBusiness>, AggregateError> {
    let mut newest = Vec::new();
    let mut files: Vec<&PathBuf> = tables.get("filings").into_iter().flatten().collect();
    files.sort_by_key(|file| Reverse(month_of_file(file)));
    for of_month in files.chunk_by(|a, b| month_of_file(a) == month_of_file(b)) {
        if newest.len() >= MOST {
            break;
        }
        for file in of_month {
            add_listed(&Cells::read(file)?, until, &mut newest)?;
        }
    }
    newest.sort_by(|(a, id), (b, other)| (b.filed_date, other).cmp(&(a.filed_date, id)));
    newest.truncate(MOST);
    Ok(newest.into_iter().map(|(business, _)| business).collect())
}

fn add_listed(
    cells: &Cells,
    until: Date,
    newest: &mut Vec<(NewBusiness, i64)>,
) -> Result<(), AggregateError> {
    let (ids, dates, listed) =
        (cells.longs("business_id")?, cells.days("filed_date")?, cells.flags("listed")?);
    let [names, types, cities, counties] =
        ["name", "entity_type", "city", "county"].map(|column| cells.texts(column));
    let (names, types, cities, counties) = (names?, types?, cities?, counties?);
    let is_shown = |row: &usize| flag(listed, *row) && day(dates, *row).is_some_and(|date| date <= until);
    let mut rows: Vec<usize> = cells.rows().filter(is_shown).collect();
    let key = |row: &usize| Reverse((day(dates, *row), ids.get(*row)));
    if rows.len() > MOST {
        rows.select_nth_unstable_by_key(MOST, key);
        rows.truncate(MOST);
    }
    newest.extend(rows.into_iter().map(|row| {
        let business = NewBusiness {
            name: text(names, row),
            entity_type: text(types, row),
            city: text(cities, row),
            county: text(counties, row),
            filed_date: day(dates, row),
        };
        (business, ids.get(row).unwrap_or_default())
    }));
    Ok(())
}
