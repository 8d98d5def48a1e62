//! The lake's tables: key, partition, order and columns. Only this layer knows Arrow schemas.
//!
//! [`columns`] is the one column dictionary. Schemas, checks, catalogue and documentation come from it.
//!
//! A row type such as [`FilingRow`] is a [`Row`]: it converts to a batch of its table and back. [`write_parquet`] writes
//! a batch to a file, [`read_table`] reads it.
//!
//! # Files, in reading order
//!
//! - `tables`: every table with key, partition and sort order; the views over them
//! - `cell`: one value of a column
//! - `column`: a column: name, type, null and meaning
//! - `row`: rows as values, rows as columns
//! - `business`: rows of filings, details and officers
//! - `filing_batch`: rows of filings from borrowed texts
//! - `change`: rows of changes; of the state's events, records and files
//! - `count`: rows of the API's own counts, of coverage, of days and months
//! - `reference`: rows of the filter values, their labels, and facts of counties
//! - `dictionary`: the columns of every table
//! - `filing_columns`: columns of filings by name and type
//! - `schema`: schemas of files, checked
//! - `order`: sorting, and checking the order
//! - `file`: Parquet files, written and read
//! - `error`: what can be wrong

mod business;
mod cell;
mod change;
mod column;
mod count;
mod dictionary;
mod error;
mod file;
mod filing_batch;
mod filing_columns;
mod order;
mod reference;
mod row;
mod schema;
mod tables;

#[cfg(test)]
pub(crate) use business::tests::filing;
pub use business::{DetailRow, FROM_API, FilingRow, OfficerRow, ShownDetail, ShownOfficer, unheld_fields};
pub use cell::{Cell, cell};
pub use change::{Change, ChangeRow, EventRow, ImportRow, RecordRow, UnmatchedEventRow};
pub use column::{Column, ColumnKind};
pub(crate) use count::counts_in_sums;
pub use count::{
    CountyRow, CoverageRow, DailyCountRow, DayRow, EVERY_OTHER_TYPE, MonthRow, MonthlyCountRow, StatewideRow,
    TypeCountRow, UNSPLIT,
};
pub use dictionary::columns;
pub use error::TableError;
pub(crate) use error::{REPAIR, of_lake_file};
pub use file::footer::{Footer, check_places};
pub use file::kept_footers::KeptFooters;
pub use file::properties::{ROW_GROUP_ROWS, SCHEMA_VERSION_KEY};
pub(crate) use file::read::read_dictionaries;
pub use file::read::{ParquetRows, decoded, read_batch, read_parquet, read_rows, read_table};
#[cfg(test)]
pub(crate) use file::write::tests::write_rows;
pub use file::write::{ABOUT_KEY, write_parquet};
pub(crate) use filing_batch::{FilingBatch, FilingText};
pub use filing_columns::FilingColumns;
pub(crate) use filing_columns::typed_column;
pub use order::sort_batch;
pub use reference::{
    CountyFactsRow, EntityTypeRow, IndustryLabelRow, IndustryTypeRow, SegmentRow, industries,
};
pub use row::{Part, Ratio, Row, disk_instant};
pub use schema::check_schema;
pub use tables::{SCHEMA_VERSION, Table};
pub(crate) use tables::{VIEWS, View};
