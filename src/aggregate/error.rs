//! Why an aggregate failed.

use polars::error::PolarsError;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Why an aggregate could not be read, run or written.
#[derive(Debug, thiserror::Error)]
pub enum AggregateError {
    /// The folder or file of SQL cannot be read.
    #[error("cannot read the aggregates of {}: {source}", path.display())]
    Unreadable {
        /// Folder or file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file name does not make a table name.
    #[error("{} cannot name a table: an aggregate's file name is made of a-z, 0-9 and _, then .sql", path.display())]
    BadName {
        /// The file.
        path: PathBuf,
    },
    /// The SQL names a table that the snapshot does not have.
    #[error(
        "aggregate {aggregate}.sql reads table {table}, which the snapshot does not have; it has {known}"
    )]
    MissingTable {
        /// Name of the aggregate.
        aggregate: String,
        /// Name of the table.
        table: String,
        /// The tables of the snapshot.
        known: String,
    },
    /// The SQL cannot be parsed or run.
    #[error("aggregate {aggregate}.sql cannot run: {}", first_line(source))]
    Sql {
        /// Name of the aggregate.
        aggregate: String,
        /// The error of polars.
        source: PolarsError,
    },
    /// A condition that chooses businesses cannot be parsed or run.
    #[error("`[enrich] where`, {condition:?}, cannot run: {reason}")]
    Condition {
        /// The condition.
        condition: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A column has a type that the lake does not store.
    #[error("aggregate {aggregate}.sql gives column {column} the type {dtype}")]
    ColumnType {
        /// Name of the aggregate.
        aggregate: String,
        /// The column.
        column: String,
        /// Its type, in polars' words.
        dtype: String,
    },
    /// The result cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: PolarsError,
    },
    /// The file of a table or an aggregate is damaged.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: PolarsError,
    },
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
