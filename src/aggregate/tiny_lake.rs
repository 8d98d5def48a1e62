//! Lakes of a few rows for tests, with the lake's table schemas; one of ten filings for the shipped SQL.

use super::calendar::{DayCount, days, months};
use super::dialect::tables_named;
use super::error::AggregateError;
use super::run::{AggregateFile, TABLE_PREFIX, run_aggregate};
use super::tables::SnapshotFiles;
use crate::contract::eastern::{days_newest_first, epoch_days};
use crate::table::{CoverageRow, DayRow, MonthRow, Row as _, Table};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field};
use jiff::civil::{Date, date};
use parquet::arrow::ArrowWriter;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// The cells that a test sets; every other column has a default of its type.
pub(super) type Row = BTreeMap<&'static str, String>;

/// A row of `column=value` pairs.
pub(super) fn row<const N: usize>(cells: [(&'static str, &str); N]) -> Row {
    cells.into_iter().map(|(name, value)| (name, value.to_owned())).collect()
}

/// Tables on disk, one file each.
pub(super) struct TinyLake {
    pub(super) dir: TempDir,
    pub(super) tables: SnapshotFiles,
}

impl Default for TinyLake {
    /// One filing, one day of everything else.
    fn default() -> Self {
        let filing = row([("filed_date", "2026-07-31"), ("county", "Duval"), ("listed", "true")]);
        Self::of([(Table::Filings, vec![filing])])
    }
}

impl TinyLake {
    /// A lake of these tables.
    pub(super) fn of<const N: usize>(tables: [(Table, Vec<Row>); N]) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |(table, rows): (Table, Vec<Row>)| {
            let path = dir.path().join(format!("{}.parquet", table.name()));
            write_table(table, &rows, &path);
            (table.name().to_owned(), vec![path])
        };
        let calendar = calendar(&tables);
        let mut tables: SnapshotFiles = tables.into_iter().map(write).collect();
        for (table, batch) in calendar {
            let path = dir.path().join(format!("{}.parquet", table.name()));
            write_batch(&batch, &path);
            tables.insert(table.name().to_owned(), vec![path]);
        }
        Self { dir, tables }
    }

    /// Runs an aggregate.
    pub(super) fn run(&self, name: &str, sql: &str) -> Result<AggregateFile, AggregateError> {
        run_aggregate(name, sql, &self.tables_of(sql), self.dir.path())
    }

    /// The tables, and the shipped aggregates that SQL builds on.
    pub(super) fn tables_of(&self, sql: &str) -> SnapshotFiles {
        let mut tables = self.tables.clone();
        let named = tables_named(sql).unwrap_or_default();
        for base in named.iter().filter_map(|table| table.strip_prefix(TABLE_PREFIX)) {
            let shipped = format!("{}/pipelines/aggregates/{base}.sql", env!("CARGO_MANIFEST_DIR"));
            let shipped = std::fs::read_to_string(shipped).expect(base);
            tables.extend(self.tables_of(&shipped));
            let made = run_aggregate(base, &shipped, &tables, self.dir.path()).expect(base);
            tables.insert(format!("{TABLE_PREFIX}{base}"), vec![made.path]);
        }
        tables
    }
}

fn write_table(table: Table, rows: &[Row], path: &Path) {
    let schema = table.schema();
    let columns = schema.fields().iter().map(|field| column(field, rows)).collect();
    write_batch(&RecordBatch::try_new(schema, columns).expect("columns of the schema"), path);
}

pub(super) fn write_batch(batch: &RecordBatch, path: &Path) {
    let file = std::fs::File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(batch).expect("rows");
    writer.close().expect("a footer");
}

/// The days and months of a lake's filings and coverage.
fn calendar(tables: &[(Table, Vec<Row>)]) -> [(Table, RecordBatch); 2] {
    let rows = |table| tables.iter().filter(move |(of, _)| *of == table).flat_map(|(_, rows)| rows);
    let day = |row: &Row, column| row[column].parse::<Date>().expect("a date");
    let mut filings: BTreeMap<Date, DayCount> = BTreeMap::new();
    for row in rows(Table::Filings) {
        let of_day = filings.entry(day(row, "filed_date")).or_default();
        of_day.listed += i64::from(row.get("listed").is_some_and(|listed| listed == "true"));
        of_day.filed = Some(of_day.filed.unwrap_or(0) + 1);
    }
    let coverage = rows(Table::Coverage).map(|row| CoverageRow {
        filed_date: day(row, "filed_date"),
        entity_type: row["entity_type"].clone(),
        expected: row["expected"].parse().expect("a number"),
        landed: row["landed"].parse().expect("a number"),
        complete: row["complete"] == "true",
        settled: false,
        checked_at: jiff::Timestamp::UNIX_EPOCH,
    });
    let today = rows(Table::Statewide).map(|row| day(row, "observed_on")).max();
    let days = days(&filings, &coverage.collect::<Vec<_>>(), today.unwrap_or(date(2026, 8, 2)));
    let months = months(&days);
    [
        (Table::Days, DayRow::batch(&days).expect("days")),
        (Table::Months, MonthRow::batch(&months).expect("months")),
    ]
}

fn column(field: &Field, rows: &[Row]) -> ArrayRef {
    let cells = rows.iter().map(|row| row.get(field.name().as_str()).map(String::as_str));
    match field.data_type() {
        DataType::Int64 => Arc::new(Int64Array::from_iter_values(
            cells.map(|cell| cell.unwrap_or("0").parse::<i64>().expect("a number")),
        )),
        DataType::Date32 => Arc::new(Date32Array::from_iter_values(
            cells.map(|cell| epoch_days(cell.unwrap_or("2026-01-01").parse().expect("a date"))),
        )),
        DataType::Boolean => {
            Arc::new(BooleanArray::from(cells.map(|cell| cell == Some("true")).collect::<Vec<_>>()))
        }
        DataType::Timestamp(..) => {
            Arc::new(TimestampMicrosecondArray::from_iter_values(cells.map(|_| 0)).with_timezone("UTC"))
        }
        DataType::Utf8 if field.is_nullable() => {
            Arc::new(cells.map(|cell| cell.filter(|text| !text.is_empty())).collect::<StringArray>())
        }
        DataType::Utf8 => Arc::new(StringArray::from_iter_values(cells.map(Option::unwrap_or_default))),
        other => panic!("no test value of {other}"),
    }
}

/// Ten filings as of 2 August 2026. June and July 2026 and July 2025 are complete, except `gap`.
pub(super) fn lake_with_gap(gap: Option<Date>) -> TinyLake {
    lake_covered_by(coverage(gap))
}

/// The same filings with other coverage.
pub(super) fn lake_covered_by(coverage: Vec<Row>) -> TinyLake {
    lake_as_of("2026-08-02", coverage)
}

/// The same filings on another day.
pub(super) fn lake_as_of(today: &str, coverage: Vec<Row>) -> TinyLake {
    TinyLake::of([
        (Table::Filings, filings()),
        (Table::Coverage, coverage),
        (Table::Changes, changes()),
        (Table::Statewide, vec![row([("observed_on", today)])]),
        (
            Table::DailyCounts,
            vec![
                row([("observed_on", "2026-08-02"), ("filed_date", "2026-07-06"), ("filings", "3")]),
                row([("observed_on", "2026-08-02"), ("filed_date", "2026-05-01"), ("filings", "7")]),
            ],
        ),
        (
            Table::MonthlyCounts,
            vec![month_count("llc", "4"), month_count("other", "0"), month_count("unsplit", "2")],
        ),
        (
            Table::Counties,
            vec![row([
                ("observed_on", "2026-08-02"),
                ("county_key", "DUVAL"),
                ("county", "Duval"),
                ("filings_last_30_days", "3"),
            ])],
        ),
    ])
}

fn changes() -> Vec<Row> {
    let change =
        |day, business, change| row([("observed_on", day), ("business_id", business), ("change", change)]);
    vec![
        change("2026-08-02", "1", "appeared"),
        change("2026-08-02", "1", "changed"),
        change("2026-08-02", "9", "vanished"),
        change("2026-08-01", "5", "returned"),
    ]
}

fn month_count(kind: &str, filings: &str) -> Row {
    let cells = [
        ("observed_on", "2026-08-02"),
        ("filed_month", "2026-07"),
        ("entity_type", kind),
        ("filings", filings),
    ];
    row(cells)
}

fn filings() -> Vec<Row> {
    let filing = |filed, kind, county, zip, city, sector| {
        row([
            ("filed_date", filed),
            ("entity_type", kind),
            ("county", county),
            ("zip", zip),
            ("city", city),
            ("city_clean", &city.to_uppercase().replace(", FL", "").replace(',', "")),
            ("industry_sector", sector),
            ("listed", "true"),
        ])
    };
    let mut vanished = filing("2026-07-06", "llc", "Duval", "32202", "Jacksonville", "food");
    vanished.insert("listed", "false".to_owned());
    let mut filings = vec![
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
    ];
    for (at, filing) in filings.iter_mut().enumerate() {
        filing.insert("business_id", (at + 1).to_string());
    }
    filings
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
