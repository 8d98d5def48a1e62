//! A lake of a few rows for tests, with the lake's table schemas.

use super::error::AggregateError;
use super::run::{AggregateFile, SnapshotFiles, run_aggregate};
use crate::table::Table;
use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field};
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
    dir: TempDir,
    tables: SnapshotFiles,
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
        let tables = tables.into_iter().map(write).collect();
        Self { dir, tables }
    }

    pub(super) fn out(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn tables(&self) -> &SnapshotFiles {
        &self.tables
    }

    pub(super) fn run(&self, name: &str, sql: &str) -> Result<AggregateFile, AggregateError> {
        run_aggregate(name, sql, &self.tables, self.out())
    }
}

fn write_table(table: Table, rows: &[Row], path: &Path) {
    let schema = table.schema();
    let columns = schema.fields().iter().map(|field| column(field, rows)).collect();
    let batch = RecordBatch::try_new(schema.clone(), columns).expect("columns of the schema");
    let file = std::fs::File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, schema, None).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.close().expect("a footer");
}

fn column(field: &Field, rows: &[Row]) -> ArrayRef {
    let cells = rows.iter().map(|row| row.get(field.name().as_str()).map(String::as_str));
    match field.data_type() {
        DataType::Int64 => Arc::new(Int64Array::from_iter_values(
            cells.map(|cell| cell.unwrap_or("0").parse::<i64>().expect("a number")),
        )),
        DataType::Date32 => Arc::new(Date32Array::from_iter_values(
            cells.map(|cell| since_epoch(cell.unwrap_or("2026-01-01").parse().expect("a date"))),
        )),
        DataType::Boolean => {
            Arc::new(BooleanArray::from(cells.map(|cell| cell == Some("true")).collect::<Vec<_>>()))
        }
        DataType::Timestamp(..) => {
            Arc::new(TimestampMicrosecondArray::from_iter_values(cells.map(|_| 0)).with_timezone("UTC"))
        }
        DataType::Utf8 => Arc::new(StringArray::from_iter_values(cells.map(Option::unwrap_or_default))),
        other => panic!("no test value of {other}"),
    }
}

fn since_epoch(day: Date) -> i32 {
    (day - date(1970, 1, 1)).get_days()
}
