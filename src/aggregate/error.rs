//! Why an aggregate failed.

use super::dialect::Refusal;
use crate::contract::hint::of_io;
use crate::table::TableError;
use polars::error::PolarsError;
use std::error::Error as _;
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
    /// The SQL names a table that the snapshot does not have.
    #[error("aggregate {aggregate}.sql reads table {table}, which the snapshot does not have")]
    MissingTable { aggregate: String, table: String, hint: Option<String> },
    /// The SQL cannot be parsed or run.
    #[error("aggregate {aggregate}.sql cannot run: {}", refusal.reason)]
    Sql { aggregate: String, refusal: Refusal },
    /// Aggregates build on each other; none can be first.
    #[error("the aggregates {aggregates} build on each other in a circle")]
    Circle { aggregates: String },
    /// A condition that chooses businesses cannot be parsed or run.
    #[error("`where` cannot run: {}", .0.reason)]
    Condition(Refusal),
    /// A query cannot be parsed or run.
    #[error("the query cannot run: {}", .0.reason)]
    Query(Refusal),
    /// The result cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: PolarsError },
    /// The file of a table or an aggregate is damaged.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: PolarsError },
}

impl AggregateError {
    /// A file of a table that cannot be read.
    pub(super) fn of_file(path: &Path, error: TableError) -> Self {
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        Self::Read { path: path.to_owned(), source: PolarsError::ComputeError(cause.into()) }
    }

    /// An error of an aggregate's SQL.
    pub(super) fn of_sql(aggregate: &str, refusal: impl Into<Refusal>) -> Self {
        let (aggregate, mut refusal) = (aggregate.to_owned(), refusal.into());
        match refusal.missing.take() {
            Some(table) => Self::MissingTable { aggregate, table, hint: refusal.hint },
            None => Self::Sql { aggregate, refusal },
        }
    }

    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { source, .. } => of_io(source),
            Self::Sql { refusal, .. } | Self::Condition(refusal) | Self::Query(refusal) => {
                refusal.hint.clone()
            }
            Self::MissingTable { hint, .. } => hint.clone(),
            _ => None,
        }
    }

    /// The same error, with the folder of the aggregate's file.
    #[must_use]
    pub fn of_folder(mut self, folder: &Path) -> Self {
        if let Self::MissingTable { aggregate, .. } | Self::Sql { aggregate, .. } = &mut self {
            *aggregate = folder.join(aggregate.as_str()).display().to_string();
        }
        self
    }
}
