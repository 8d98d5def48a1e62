//! The lake's tables: key, partition, order, columns. The only floor that knows Arrow schemas.
//!
//! [`columns`] is the one column dictionary; everything that describes a table (schema, checks,
//! catalogue, documentation) is derived from it.
//!
//! A row type ([`FilingRow`] and its like) is a [`Row`]: it goes to a batch of its table and back. Batches go to files
//! through [`ParquetFile`] and come back through [`read_table`].

mod business;
mod change;
mod column;
mod count;
mod error;
mod file;
mod footer;
mod layout;
mod order;
mod read;
mod reference;
mod row;
mod tables;
mod upgrade;

pub use business::{DetailRow, FilingRow, OfficerRow, dissolved_day};
pub use change::{Change, ChangeRow};
pub use column::{Column, ColumnKind, columns};
pub use count::{
    ALL_TYPES, CountyRow, CoverageRow, DailyCountRow, EVERY_OTHER_TYPE, MonthlyCountRow, StatewideRow,
    TypeCountRow,
};
pub use error::TableError;
#[cfg(test)]
pub(crate) use file::tests::write_rows;
pub use file::{ABOUT_KEY, ParquetFile, ROW_GROUP_ROWS, SCHEMA_VERSION_KEY, Sink, WrittenFile};
pub use footer::{Bounds, Footer, Span};
pub use layout::{FileLayout, check_schema};
pub use order::sort_batch;
pub use read::{ParquetRows, read_parquet, read_rows, read_table, read_whole};
pub use reference::{EntityTypeRow, IndustryTypeRow, SegmentRow, industries};
pub use row::{Row, disk_instant};
pub use tables::{SCHEMA_VERSION, Table};
pub use upgrade::{Step, Upgrades};
