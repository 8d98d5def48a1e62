//! Typed cells of a small table: polars' result as plain values.

use super::error::AggregateError;
use super::on_disk;
use crate::contract::eastern::day_of_epoch;
use jiff::civil::Date;
use polars::error::PolarsError;
use polars::frame::DataFrame;
use polars::prelude::{BooleanChunked, Float64Chunked, Int32Chunked, Int64Chunked, StringChunked};
use std::path::{Path, PathBuf};

/// One file's rows, read by column name.
#[derive(Debug)]
pub(super) struct Cells {
    path: PathBuf,
    frame: DataFrame,
}

impl Cells {
    pub(super) fn read(path: &Path) -> Result<Self, AggregateError> {
        Ok(Self { path: path.to_owned(), frame: on_disk::read(path)? })
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
