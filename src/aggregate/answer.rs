//! The rows of an aggregate's SQL.

use super::dialect::rows;
use super::error::AggregateError;
use super::tables::SnapshotFiles;
use polars::frame::DataFrame;

/// The rows of a query, in the types of SQL.
pub(super) fn rows_of(name: &str, sql: &str, tables: &SnapshotFiles) -> Result<DataFrame, AggregateError> {
    rows(sql, tables).map_err(|refusal| AggregateError::of_sql(name, refusal))
}
