//! A lake of ten filings for the tests of the shipped SQL.

use super::tiny_lake::{Row, TinyLake, row};
use crate::contract::eastern::days_newest_first;
use crate::table::Table;
use jiff::civil::{Date, date};

/// Ten filings as of 2 August 2026. June and July 2026 and July 2025 are complete, except `gap`.
pub(super) fn lake_with_gap(gap: Option<Date>) -> TinyLake {
    lake_covered_by(coverage(gap))
}

/// The same filings with other coverage.
pub(super) fn lake_covered_by(coverage: Vec<Row>) -> TinyLake {
    TinyLake::of([
        (Table::Filings, filings()),
        (Table::Coverage, coverage),
        (Table::Statewide, vec![row([("observed_on", "2026-06-30")]), row([("observed_on", "2026-08-02")])]),
        (
            Table::DailyCounts,
            vec![
                row([("observed_on", "2026-08-01"), ("date", "2026-07-06"), ("count", "9")]),
                row([("observed_on", "2026-08-02"), ("date", "2026-07-06"), ("count", "3")]),
                row([("observed_on", "2026-08-02"), ("date", "2026-05-01"), ("count", "7")]),
            ],
        ),
        (
            Table::MonthlyCounts,
            vec![
                row([("observed_on", "2026-07-05"), ("month", "2026-07"), ("type", "*"), ("n", "1")]),
                row([("observed_on", "2026-08-02"), ("month", "2026-07"), ("type", "*"), ("n", "6")]),
                row([("observed_on", "2026-08-02"), ("month", "2026-07"), ("type", "other"), ("n", "0")]),
            ],
        ),
        (
            Table::Counties,
            vec![row([
                ("observed_on", "2026-08-02"),
                ("key", "DUVAL"),
                ("name", "Duval"),
                ("filings_last_30_days", "3"),
            ])],
        ),
    ])
}

fn filings() -> Vec<Row> {
    let filing = |filed, kind, county, zip, city, sector| {
        row([
            ("filed_date", filed),
            ("entity_type", kind),
            ("county", county),
            ("zip", zip),
            ("city", city),
            ("industry_sector", sector),
            ("listed", "true"),
        ])
    };
    let mut vanished = filing("2026-07-06", "llc", "Duval", "32202", "Jacksonville", "food");
    vanished.insert("listed", "false".to_owned());
    vec![
        filing("2026-07-01", "llc", "Duval", "32202", "Jacksonville", "food"),
        filing("2026-07-06", "llc", "Duval", "32202", "JACKSONVILLE, Fl", "food"),
        filing("2026-07-06", "corporation", "Duval", "32210", "Jacksonville", "trade"),
        filing("2026-07-06", "llc", "", "", "", "food"),
        filing("2026-06-15", "llc", "Lee", "33901", "Fort Myers", "trade"),
        filing("2026-06-15", "llc", "Duval", "32202", "Jacksonville,", "food"),
        filing("2025-07-04", "llc", "Duval", "32202", "Jacksonville", "food"),
        filing("2026-07-06", "fictitious", "Duval", "32202", "Jacksonville", "food"),
        vanished,
        filing("2026-08-15", "llc", "Duval", "32202", "Jacksonville", "food"),
    ]
}

pub(super) fn coverage(gap: Option<Date>) -> Vec<Row> {
    let read = days_newest_first(date(2026, 6, 1), date(2026, 8, 2))
        .chain(days_newest_first(date(2025, 7, 1), date(2025, 7, 31)));
    let listings = |day: Date| {
        let complete = if Some(day) == gap { "false" } else { "true" };
        [covered(day, "*", "1", complete), covered(day, "fictitious", "0", complete)]
    };
    read.flat_map(listings).collect()
}

pub(super) fn covered(day: Date, listing: &str, rows: &str, complete: &str) -> Row {
    row([
        ("filed_date", &day.to_string()),
        ("entity_type", listing),
        ("expected", rows),
        ("landed", rows),
        ("complete", complete),
    ])
}
