//! Checks that an aggregate adds up to its source.
//!
//! A line in the head of an aggregate's file gives both sides:
//!
//! ```sql
//! -- Adds up: SELECT SUM(filings) FROM agg_county_type_day equals SELECT COUNT(*) FROM filings WHERE listed
//! ```
//!
//! Both sides are SQL that returns one integer.

use super::error::AggregateError;
use super::run::{SnapshotFiles, register_tables};
use polars::prelude::{DataType, LazyFrame};

const HEAD: &str = "-- Adds up: ";
const BETWEEN: &str = " equals ";

/// The two sides of an aggregate's sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) aggregate: i64,
    pub(crate) source: i64,
}

/// Both sides of an aggregate's sum; none where its SQL has no such line. `tables` are the snapshot's, with the aggregate
/// among them.
pub(crate) fn check_sum(
    name: &str,
    sql: &str,
    tables: &SnapshotFiles,
) -> Result<Option<Sum>, AggregateError> {
    let line = sql.lines().map_while(|line| line.starts_with("--").then_some(line));
    let sides = line.filter_map(|line| line.strip_prefix(HEAD)?.split_once(BETWEEN)).next();
    let Some((aggregate, source)) = sides else { return Ok(None) };
    Ok(Some(Sum { aggregate: number(name, aggregate, tables)?, source: number(name, source, tables)? }))
}

fn number(name: &str, sql: &str, tables: &SnapshotFiles) -> Result<i64, AggregateError> {
    let failed = |source| AggregateError::Sql { aggregate: name.to_owned(), source };
    let mut context = register_tables(name, sql, tables)?;
    let result = context.execute(sql).and_then(LazyFrame::collect).map_err(failed)?;
    let column =
        result.columns().first().map(|column| column.cast(&DataType::Int64)).transpose().map_err(failed)?;
    // An empty aggregate has no sum.
    Ok(column.and_then(|column| column.i64().ok().and_then(|cells| cells.first())).unwrap_or(0))
}
