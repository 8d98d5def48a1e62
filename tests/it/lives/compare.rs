//! Whether a lake has what the lake has that never had an accident.

use crate::support::lake::{Cells, current, names, rows};
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::path::Path;

/// Tables that are not compared, and why.
const TABLES: [(&str, &str); 2] = [
    ("changes", "says when a run saw what; a lake that was away sees it later"),
    ("_history", "says what the API reported on each day on which a run asked"),
];

/// Columns that are not compared, and why.
const COLUMNS: [(&str, &str); 9] = [
    ("first_seen_at", "when a run first saw the business"),
    ("changed_at", "when a run first saw the record as it is"),
    ("checked_at", "when a day was last checked"),
    ("observed_on", "when the API said it"),
    ("imported_at", "when a run read the file"),
    ("run_id", "which run read the file"),
    ("stamp", "the time of change of a file, which is copied again after damage"),
    ("extra", "fields that came after a day was read are in it once the day is read again"),
    ("settled", "whether a day was read again since it is 30 days old"),
];

/// Columns that count businesses that are listed no more: compared while both lakes know the same ones.
const OF_UNLISTED: [(&str, &str); 1] =
    [("filed", "a business that was dissolved while its rows were lost comes back from no source")];

/// Columns that count days out of reach: compared until `coverage` is lost, whose days the plan no longer shows then.
const OF_OLD_DAYS: [(&str, &str); 5] = [
    ("days_complete", "days of a month that no run can complete again"),
    ("complete", "the same, of days and months"),
    ("filed", "null of a day that is not complete"),
    ("four_weeks_before", "a mean over complete days"),
    ("usual_filings", "a mean over complete days"),
];

/// Rows that are not compared, and why. A listing of one type is in `coverage` since a pipeline asked for it alone.
fn is_excepted(table: &str, row: &Cells, reached: Option<Date>) -> bool {
    let day = row.get("filed_date").and_then(|day| day.as_deref()?.parse::<Date>().ok());
    if ["coverage", "days"].contains(&table) && day.zip(reached).is_some_and(|(day, reached)| day < reached) {
        return true;
    }
    let is = |column: &str, value: &str| row.get(column).is_some_and(|cell| cell.as_deref() == Some(value));
    match table {
        // Businesses that are listed no more: what was dissolved before a lake read it, no source shows.
        "filings" => is("listed", "false"),
        // What a file was before a good copy came.
        "imports" => row.get("fault").is_some_and(Option::is_some),
        "coverage" => !is("entity_type", "*") && !is("entity_type", "fictitious"),
        _ => false,
    }
}

fn is_compared(table: &str) -> bool {
    TABLES.iter().all(|(name, _)| table != *name && !table.ends_with(name))
}

/// The rows of a table that count, sorted.
fn counted(lake: &Path, table: &str, without: &[&str], reached: Option<Date>) -> Vec<Cells> {
    let mut rows = rows(lake, table, without);
    rows.retain(|row| !is_excepted(table, row, reached));
    rows.sort();
    rows
}

fn unlisted(lake: &Path) -> BTreeSet<Option<String>> {
    let rows = rows(lake, "filings", &[]).into_iter();
    let unlisted = rows.filter(|row| row["listed"].as_deref() == Some("false"));
    unlisted.map(|row| row["business_id"].clone()).collect()
}

/// The first differences of each table; empty when there is none. `reached` is the oldest day that the plan reaches, if the lake lost its
/// `coverage`.
pub(super) fn differences(lake: &Path, twin: &Path, reached: Option<Date>) -> String {
    let mut without: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    if unlisted(lake) != unlisted(twin) {
        without.extend(OF_UNLISTED.iter().map(|(name, _)| *name));
    }
    let of_old_days: Vec<&str> = OF_OLD_DAYS.iter().map(|(name, _)| *name).collect();
    let mut found = String::new();
    for table in names(&current(twin)).iter().filter(|table| is_compared(table)) {
        if !current(lake).join(table).is_dir() {
            found.push_str(&format!("{table}: is not there\n"));
            continue;
        }
        let mut without = without.clone();
        if reached.is_some() && ["days", "months"].contains(&table.as_str()) {
            without.extend(&of_old_days);
        }
        let [has, expected] = [lake, twin].map(|lake| counted(lake, table, &without, reached));
        if has != expected {
            found.push_str(&format!("{table}: {} rows, {} expected\n", has.len(), expected.len()));
            let more = |rows: &[Cells], others: &[Cells], sign: char| {
                let only = rows.iter().filter(|row| others.binary_search(row).is_err()).take(3);
                only.map(|row| format!("  {sign} {}\n", shown(row))).collect::<String>()
            };
            found.push_str(&more(&has, &expected, '+'));
            found.push_str(&more(&expected, &has, '-'));
        }
    }
    found
}

fn shown(row: &Cells) -> String {
    let cells = row.iter().map(|(name, cell)| format!("{name}={}", cell.as_deref().unwrap_or("null")));
    cells.collect::<Vec<_>>().join(" ")
}
