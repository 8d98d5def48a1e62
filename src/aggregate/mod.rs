//! Aggregates: SQL files run by polars over a snapshot's tables, one Parquet file each.
//!
//! A file `pipelines/aggregates/<name>.sql` becomes the table `agg_<name>`. The shipped files use only SQL that
//! polars, DuckDB and Spark share, so they run unchanged on each. They end in an `ORDER BY` over a key, so the same
//! tables give the same bytes.
//!
//! **Architecture invariant:** only this module names polars. It returns Parquet files and plain values.
//!
//! Everything here blocks the calling thread; call it off the async threads.
//!
//! # Files, in reading order
//!
//! - `calendar`: days and months, which the SQL files build on
//! - `run`: the SQL files, running one of them, whether it adds up to its source
//! - `tables`: the tables that SQL may name
//! - `count`: plain counts of filings, without polars
//! - `dialect`: the SQL that runs
//! - `answer`: the rows of an aggregate's SQL
//! - `of_days`: reading only some months
//! - `order`: the order of SQL files that build on one another
//! - `by_month`: computing again only months that changed
//! - `on_disk`: its result as Parquet, and its cells
//! - `ask`: SQL that a person writes
//! - `figures`: the figures of the report
//! - `reconcile`: the lake's counts against the API's
//! - `error`: why an aggregate failed

mod answer;
mod ask;
mod by_month;
pub(crate) mod calendar;
mod count;
mod dialect;
mod error;
pub(crate) mod figures;
mod of_days;
mod on_disk;
mod order;
pub(crate) mod reconcile;
mod run;
#[cfg(test)]
mod shipped_tests;
#[cfg(test)]
mod sql_tests;
mod tables;
#[cfg(test)]
mod tiny_lake;

pub(crate) use ask::{check_aggregates, check_condition, choose_businesses, run_query, tables_of_query};
pub(crate) use by_month::{digest, is_by_month, run_changed_months};
pub(crate) use dialect::compared_texts;
pub use dialect::{Refusal, sql_functions};
pub use error::AggregateError;
pub(crate) use figures::read::{coverage_days, read_figures};
pub(crate) use figures::values::{
    CountyDetail, CountyFigures, CoverageDay, DayFigures, Figures, MonthFigures, NewsCounts, SettlingDay,
    WeekdayFigures,
};
pub use order::in_order;
pub(crate) use reconcile::{Reconciliation, Scope};
pub use run::{AggregateFile, load_aggregates, run_aggregate};
pub(crate) use run::{TABLE_PREFIX, check_sum, head_comment};
pub use tables::SnapshotFiles;
