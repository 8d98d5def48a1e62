//! An aggregate on disk: Parquet with the lake's types; and its typed cells as plain values.

use super::error::AggregateError;
use crate::contract::eastern::day_of_epoch;
use jiff::civil::Date;
use polars::error::PolarsError;
use polars::frame::DataFrame;
use polars::prelude::{
    BooleanChunked, Float64Chunked, Int32Chunked, Int64Chunked, ParquetCompression, ParquetWriter,
    SerReader as _, StringChunked,
};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// Writes the rows; returns their number.
///
/// The footer has no Arrow schema: polars would declare its texts as views, and readers would follow it.
pub(super) fn write(frame: &mut DataFrame, path: &Path) -> Result<u64, AggregateError> {
    let failed = |source: PolarsError| AggregateError::Write { path: path.to_owned(), source };
    let file = File::create(path).map_err(|source| failed(source.into()))?;
    frame.rechunk_mut();
    let mut writer = ParquetWriter::new(file)
        .with_compression(ParquetCompression::Zstd(None))
        .set_parallel(false)
        .batched(frame.schema())
        .map_err(failed)?;
    writer.write_batch(frame).map_err(failed)?;
    writer
        .get_writer()
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .end(Some(Vec::new()))
        .map_err(failed)?;
    Ok(frame.height() as u64)
}

/// Reads all rows of a file that [`write()`] or the lake wrote.
pub(super) fn read(path: &Path) -> Result<DataFrame, AggregateError> {
    let failed = |source: PolarsError| AggregateError::Read { path: path.to_owned(), source };
    let file = File::open(path).map_err(|source| failed(source.into()))?;
    polars::prelude::ParquetReader::new(file).finish().map_err(failed)
}

/// One file's rows, read by column name.
#[derive(Debug)]
pub(super) struct Cells {
    path: PathBuf,
    frame: DataFrame,
}

impl Cells {
    pub(super) fn read(path: &Path) -> Result<Self, AggregateError> {
        Ok(Self { path: path.to_owned(), frame: read(path)? })
    }

    pub(super) fn rows(&self) -> std::ops::Range<usize> {
        0..self.frame.height()
    }

    fn failed(&self, source: PolarsError) -> AggregateError {
        AggregateError::Read { path: self.path.clone(), source }
    }

    pub(super) fn texts(&self, name: &str) -> Result<&StringChunked, AggregateError> {
        self.frame.column(name).and_then(|column| column.str()).map_err(|source| self.failed(source))
    }

    pub(super) fn longs(&self, name: &str) -> Result<&Int64Chunked, AggregateError> {
        self.frame.column(name).and_then(|column| column.i64()).map_err(|source| self.failed(source))
    }

    pub(super) fn doubles(&self, name: &str) -> Result<&Float64Chunked, AggregateError> {
        self.frame.column(name).and_then(|column| column.f64()).map_err(|source| self.failed(source))
    }

    pub(super) fn flags(&self, name: &str) -> Result<&BooleanChunked, AggregateError> {
        self.frame.column(name).and_then(|column| column.bool()).map_err(|source| self.failed(source))
    }

    pub(super) fn days(&self, name: &str) -> Result<&Int32Chunked, AggregateError> {
        let days = self.frame.column(name).and_then(|column| column.date());
        days.map(|days| &days.phys).map_err(|source| self.failed(source))
    }
}

/// The text of a cell; empty for null.
pub(super) fn text(cells: &StringChunked, row: usize) -> String {
    cells.get(row).unwrap_or_default().to_owned()
}

/// The number of a cell; 0 for null.
pub(super) fn long(cells: &Int64Chunked, row: usize) -> i64 {
    cells.get(row).unwrap_or_default()
}

/// The flag of a cell; false for null.
pub(super) fn flag(cells: &BooleanChunked, row: usize) -> bool {
    cells.get(row).unwrap_or_default()
}

/// The day of a cell; none for null or a day outside the calendar.
pub(super) fn day(cells: &Int32Chunked, row: usize) -> Option<Date> {
    cells.get(row).and_then(day_of_epoch)
}

#[cfg(test)]
mod tests {
    use crate::aggregate::tiny_lake::TinyLake;
    use arrow_schema::{DataType, TimeUnit};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    #[test]
    fn files_have_only_the_types_of_the_lake() {
        let lake = TinyLake::default();
        let sql = "SELECT county, LENGTH(county) AS n, COUNT(*) AS c, EXTRACT(MONTH FROM filed_date) AS m, filed_date, \
                   listed, first_seen_at, 1.5 AS r FROM filings GROUP BY county, filed_date, listed, first_seen_at \
                   ORDER BY county, filed_date";
        let file = lake.run("types", sql).expect("runs");
        let reader = std::fs::File::open(file.path).expect("a file");
        let schema = ParquetRecordBatchReaderBuilder::try_new(reader).expect("parquet").schema().clone();
        let of = |name: &str| schema.field_with_name(name).expect(name).data_type().clone();
        assert_eq!(of("county"), DataType::Utf8);
        assert_eq!(of("n"), DataType::Int64);
        assert_eq!(of("c"), DataType::Int64);
        assert_eq!(of("m"), DataType::Int64);
        assert_eq!(of("filed_date"), DataType::Date32);
        assert_eq!(of("listed"), DataType::Boolean);
        assert_eq!(of("first_seen_at"), DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
        assert_eq!(of("r"), DataType::Float64);
    }

    #[test]
    fn empty_result_is_a_file_with_columns() {
        let lake = TinyLake::default();
        let file = lake.run("none", "SELECT county FROM filings WHERE county = 'Atlantis'").expect("runs");
        assert_eq!(file.rows, 0);
        assert!(super::read(&file.path).expect("reads").column("county").is_ok());
    }
}
