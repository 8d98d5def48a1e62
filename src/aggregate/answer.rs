//! The rows of an aggregate's SQL.

use super::dialect::plan;
use super::error::AggregateError;
use super::tables::SnapshotFiles;
use polars::frame::DataFrame;

/// The rows of a query, in the types of SQL.
pub(super) fn rows_of(name: &str, sql: &str, tables: &SnapshotFiles) -> Result<DataFrame, AggregateError> {
    let planned = plan(sql, tables).map_err(|refusal| AggregateError::of_sql(name, refusal))?;
    planned.collect().map_err(|error| AggregateError::of_sql(name, error))
}
