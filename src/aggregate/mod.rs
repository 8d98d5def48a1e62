//! The aggregates: SQL files run by polars over a snapshot's tables, one Parquet file each.
//!
//! A file `pipelines/aggregates/<name>.sql` becomes the table `agg_<name>`. The shipped files keep to the SQL that
//! polars, DuckDB and Spark share, so they run unchanged on each, and end in an `ORDER BY` over a key, so that the same
//! tables give the same bytes.
//!
//! **Architecture invariant:** polars is named in this module only. What leaves it is a Parquet file or plain values.
//!
//! Everything here blocks the calling thread; call it off the async threads.

mod adds_up;
mod cells;
mod choose;
mod definition;
mod dry_run;
mod error;
mod figures;
mod on_disk;
mod reconcile;
mod run;
#[cfg(test)]
mod shipped_tests;
#[cfg(test)]
mod tiny_lake;

pub use adds_up::{Sum, check_sum};
pub use choose::choose_businesses;
pub use definition::{TABLE_PREFIX, head_comment, load_aggregates};
pub use dry_run::{check_aggregate, check_condition};
pub use error::AggregateError;
pub use figures::{
    CityFigures, CountyFigures, CoverageDay, DayFigures, Figures, MonthFigures, SettlingDay, WeekdayFigures,
    ZipFigures, read_figures,
};
pub use reconcile::{Comparison, Reconciliation, Scope, read_reconciliation};
pub use run::{AggregateFile, SnapshotFiles, run_aggregate};
