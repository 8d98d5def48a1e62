//! Why an aggregate failed.

use polars::error::PolarsError;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Why an aggregate could not be read, run or written.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of a variant says what its fields are")]
pub enum AggregateError {
    /// The folder or file of SQL cannot be read.
    #[error("cannot read the aggregates of {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: std::io::Error },
    /// The file name does not make a table name.
    #[error("{} cannot name a table: an aggregate's file name is made of a-z, 0-9 and _, then .sql", path.display())]
    BadName { path: PathBuf },
    /// The SQL names a table that the snapshot does not have; `known` are those it has.
    #[error(
        "aggregate {aggregate}.sql reads table {table}, which the snapshot does not have; it has {known}"
    )]
    MissingTable { aggregate: String, table: String, known: String },
    /// The SQL cannot be parsed or run.
    #[error("aggregate {aggregate}.sql cannot run: {}", first_line(source))]
    Sql { aggregate: String, source: PolarsError },
    /// Aggregates build on each other; none can be first.
    #[error("the aggregates {aggregates} build on each other in a circle")]
    Circle { aggregates: String },
    /// A condition that chooses businesses cannot be parsed or run.
    #[error("`[enrich] where`, {condition:?}, cannot run: {reason}")]
    Condition { condition: String, reason: String },
    /// A query cannot be parsed or run; `hint` is the way out, or empty.
    #[error("the query cannot run: {problem}")]
    Query { problem: String, hint: String },
    /// A column has a type that the lake does not store; `dtype` is in polars' words.
    #[error("aggregate {aggregate}.sql gives column {column} the type {dtype}")]
    ColumnType { aggregate: String, column: String, dtype: String },
    /// The result cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: PolarsError },
    /// The file of a table or an aggregate is damaged.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: PolarsError },
}

impl AggregateError {
    /// The same error, with the folder of the aggregate's file.
    #[must_use]
    pub fn of_folder(mut self, folder: &Path) -> Self {
        if let Self::MissingTable { aggregate, .. }
        | Self::Sql { aggregate, .. }
        | Self::ColumnType { aggregate, .. } = &mut self
        {
            *aggregate = folder.join(aggregate.as_str()).display().to_string();
        }
        self
    }
}

/// The first sentence of polars' message; the rest is internal detail.
pub(super) fn first_line(said: &dyn Display) -> String {
    said.to_string().lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
