//! The lake's tables: key, partition, order and columns. Only this layer knows Arrow schemas.
//!
//! [`columns`] is the one column dictionary. Schemas, checks, catalogue and documentation come from it.
//!
//! A row type such as [`FilingRow`] is a [`Row`]: it converts to a batch of its table and back. [`ParquetFile`] writes
//! batches to files, [`read_table`] reads them.
//!
//! # Files, in reading order
//!
//! - `tables`: every table with key, partition and sort order
//! - `column`: the column dictionary
//! - `row`: rows as values, rows as columns
//! - `filing_columns`: columns of filings by name and type
//! - `business`: rows of filings, details and officers
//! - `change`: rows of changes
//! - `count`: rows of the API's own counts, of coverage, of days and months
//! - `reference`: rows of the filter values, their labels, and facts of counties
//! - `views`: queries with a name, over the tables of a snapshot
//! - `layout`: schema, order and bloom filters of a file
//! - `order`: sorting, and checking the order
//! - `file`: writing Parquet files
//! - `read`: reading them
//! - `footer`: what a footer says
//! - `error`: what can be wrong

mod business;
mod change;
mod column;
mod count;
mod error;
mod file;
mod filing_columns;
mod footer;
mod layout;
mod order;
mod read;
mod reference;
mod row;
mod tables;
pub(crate) mod views;

#[cfg(test)]
pub(crate) use business::tests::filing;
pub use business::{DetailRow, FROM_API, FilingRow, OfficerRow, dissolved_day, unheld_fields};
pub use change::{Change, ChangeRow};
pub use column::{Column, ColumnKind};
pub use count::{
    CountyRow, CoverageRow, DailyCountRow, DayRow, EVERY_OTHER_TYPE, MonthRow, MonthlyCountRow, StatewideRow,
    TypeCountRow, UNSPLIT,
};
pub use error::TableError;
#[cfg(test)]
pub(crate) use file::tests::write_rows;
pub use file::{ABOUT_KEY, ParquetFile, ROW_GROUP_ROWS, SCHEMA_VERSION_KEY, Sink, WrittenFile};
pub use filing_columns::FilingColumns;
pub(crate) use filing_columns::typed_column;
pub use footer::{Bounds, Footer, Span};
pub use layout::{FileLayout, check_schema};
pub use order::sort_batch;
pub(crate) use read::read_dictionaries;
pub use read::{ParquetRows, read_batch, read_parquet, read_rows, read_table};
pub use reference::{
    CountyFactsRow, EntityTypeRow, IndustryLabelRow, IndustryTypeRow, SegmentRow, industries,
};
pub use row::{Ratio, Row, disk_instant};
pub use tables::{SCHEMA_VERSION, Table, columns};
