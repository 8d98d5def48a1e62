//! Why a run ended without doing all it was asked to, told apart by what its caller does about it.

use super::config::file::SpecError;
use crate::aggregate::AggregateError;
use crate::client::ClientError;
use crate::export::ExportError;
use crate::extract::ExtractError;
use crate::lake::LakeError;
use crate::table::TableError;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The pipeline file.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The API, or the way to it.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A page that is not the answer to its question.
    #[error("{0}")]
    OutsideContract(String),
    /// The lake.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// A file of a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// An aggregate.
    #[error(transparent)]
    Aggregate(#[from] AggregateError),
    /// The catalogue.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The lake holds rows of another kind of source.
    #[error("the lake {lake} was filled from {held}, this run would read {asked}")]
    OtherSource {
        /// The lake.
        lake: String,
        /// What filled it.
        held: super::state::SourceKind,
        /// What the run would read.
        asked: super::state::SourceKind,
    },
    /// The day to run as is before the newest that the lake was read as of.
    #[error("the lake {lake} was read as of {newest} and would now be as of {today}")]
    EarlierDay {
        /// The lake.
        lake: String,
        /// Newest day that it was read as of.
        newest: jiff::civil::Date,
        /// Day of the run.
        today: jiff::civil::Date,
    },
    /// A check failed; nothing was published.
    #[error("nothing was published: {}", failures.join("; "))]
    CheckFailed {
        /// What each failed check found.
        failures: Vec<String>,
    },
    /// A page that a run archived is not there, or no longer readable.
    #[error("the archived page of {target} is gone")]
    PageGone {
        /// The request it answered.
        target: String,
    },
    /// A run whose snapshot cannot be made again.
    #[error("run {run_id} cannot be replayed: {why}")]
    NotReplayable {
        /// The run.
        run_id: String,
        /// Why.
        why: String,
    },
    /// A file beside the lake's tables, say the report.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl From<ExtractError> for PipelineError {
    fn from(error: ExtractError) -> Self {
        match error {
            ExtractError::Client(error) => Self::Client(error),
            ExtractError::WrongPage { .. } => Self::OutsideContract(error.to_string()),
            ExtractError::Store(source) | ExtractError::HandOver(source) => match source.downcast::<Self>() {
                Ok(error) => *error,
                Err(source) => match source.downcast::<LakeError>() {
                    Ok(error) => Self::Lake(*error),
                    Err(source) => Self::OutsideContract(source.to_string()),
                },
            },
        }
    }
}

impl PipelineError {
    /// Whether the run may go on later from where it stands.
    pub fn is_pause(&self) -> bool {
        matches!(self, Self::Client(error) if error.is_pause())
    }
}
