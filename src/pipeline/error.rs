//! Why a run ended early, by what its caller does about it.

use super::config::mistakes::Mistake;
use super::state::run_state::SourceKind;
use crate::aggregate::AggregateError;
use crate::client::ClientError;
use crate::contract::hint::of_io;
use crate::export::ExportError;
use crate::extract::ExtractError;
use crate::import::files::source::SourceError;
use crate::import::rules::industry::RuleError;
use crate::lake::LakeError;
use crate::table::TableError;
use jiff::civil::Date;
use std::path::{Path, PathBuf};

/// What a step of a run returns.
pub(crate) type Result<T, E = PipelineError> = std::result::Result<T, E>;

/// A pipeline file that cannot be run. A `hint` has the nearest right name, or is empty.
#[expect(missing_docs, reason = "the message of an error names its fields")]
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The file cannot be read.
    #[error("cannot read the pipeline file {path}: {source}")]
    Unreadable { path: PathBuf, source: std::io::Error, hint: String },
    /// The file is not a valid pipeline.
    #[error("{}", in_one_line(path, mistakes))]
    Wrong { path: PathBuf, mistakes: Vec<Mistake> },
    /// The folder of aggregates does not exist.
    #[error("{path}: its folder of aggregates, {folder}, is not there")]
    NoAggregates { path: PathBuf, folder: PathBuf },
}

impl SpecError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Unreadable { hint, .. } => {
                Some(hint.trim_start_matches("; ").to_owned()).filter(|hint| !hint.is_empty())
            }
            Self::Wrong { mistakes, .. } => mistakes.first()?.hint.clone(),
            Self::NoAggregates { .. } => {
                Some("make the folder, or set `[aggregates] enabled = false`".to_owned())
            }
        }
    }
}

fn in_one_line(path: &Path, mistakes: &[Mistake]) -> String {
    let mistakes = mistakes.iter().map(|Mistake { line, problem, .. }| format!("line {line}: {problem}"));
    format!("{}, {}", path.display(), mistakes.collect::<Vec<_>>().join("; "))
}

/// Why a run ended early.
#[expect(missing_docs, reason = "the message of an error names its fields")]
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The API, or the connection to it.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// An answer that does not fit its request.
    #[error("{0}")]
    OutsideContract(String),
    /// Pages that contradict each other whenever they are read. Their run is given up: it would read them again from its archive.
    #[error("{0}")]
    NoProgress(String),
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// A file of a table.
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Aggregate(#[from] AggregateError),
    /// The catalogue.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The lake holds rows of another kind of source.
    #[error("the lake {lake} was filled from {filled_from}, this run would read {asked}")]
    OtherSource { lake: String, filled_from: SourceKind, asked: SourceKind },
    /// The run's day is before the newest day of the lake. `undo` is the newest snapshot as of the run's day or an earlier one.
    #[error("the lake {lake} was read as of {newest} and would now be as of {today}")]
    EarlierDay { lake: String, newest: Date, today: Date, undo: Option<u64> },
    /// The pipeline looks businesses up, and the lake has none; `first` is the pipeline that reads them.
    #[error("the lake {lake} has no filings whose details could be looked up")]
    NoFilings { lake: String, first: &'static str },
    /// The run's day has not come at the API.
    #[error("the run would be as of {today}, but the API's day is {api_day}")]
    LaterDay { today: Date, api_day: Date },
    /// An unfinished run cannot read its own day any more. It is given up.
    #[error("no day up to {today} can be read any more: the window begins on {oldest}")]
    LeftWindow { today: Date, oldest: Date },
    /// A check failed; nothing was published.
    #[error("nothing was published: {}", failures.join("; "))]
    CheckFailed { failures: Vec<String> },
    /// An archived page of a run is missing, or no longer readable.
    #[error("the archived page of {target} is gone")]
    PageGone { target: String },
    /// A run whose snapshot cannot be rebuilt.
    #[error("run {run_id} cannot be replayed: {why}")]
    NotReplayable { run_id: String, why: String },
    /// A file outside the lake's tables, such as the report.
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: std::io::Error },
    /// A file of the state, the folder of these files, or a file that an import writes.
    #[error(transparent)]
    Import(#[from] SourceError),
    /// The file of industry rules.
    #[error("the industry rules in {path}: {source}")]
    Industries { path: PathBuf, source: RuleError },
    /// The file of industry rules cannot be read.
    #[error("cannot read the industry rules {path}: {source}")]
    UnreadableRules { path: PathBuf, source: std::io::Error },
    /// An error that only a bug can cause.
    #[error("{0}; this is a bug in sunlake")]
    Bug(String),
}

impl PipelineError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Spec(error) => return error.hint(),
            Self::Client(error) => return error.hint(),
            Self::Lake(error) => return error.hint(),
            Self::Table(error) => return error.hint(),
            Self::Aggregate(error) => return error.hint(),
            Self::Export(error) => return error.hint(),
            Self::Import(error) => return error.hint(),
            Self::OtherSource { .. } => "give another lake with --lake",
            Self::EarlierDay { undo: Some(undo), .. } => {
                return Some(format!(
                    "check the clock, or the day of --today; if the run of the later day was a mistake, undo it: \
                     `sunlake snapshot rollback {undo}`"
                ));
            }
            Self::EarlierDay { undo: None, .. } => {
                "check the clock, or the day of --today; no snapshot is as of an earlier day: give another lake with --lake"
            }
            Self::NoFilings { first, .. } => {
                return Some(format!("read filings into this lake first: `sunlake run {first}`"));
            }
            Self::LaterDay { .. } => "check the clock, or the day of --today",
            Self::Write { source, .. } | Self::UnreadableRules { source, .. } => return of_io(source),
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Whether a later process of the run can continue where this one stops.
    pub(crate) fn is_pause(&self) -> bool {
        matches!(self, Self::Client(error) if error.is_pause())
    }
}

impl From<std::io::Error> for PipelineError {
    fn from(error: std::io::Error) -> Self {
        SourceError::Spool(error).into()
    }
}

impl From<ExtractError> for PipelineError {
    /// Extraction stores pages and hands readings over through this module, so a boxed error is one of its own.
    fn from(error: ExtractError) -> Self {
        match error {
            ExtractError::Client(error) => Self::Client(error),
            ExtractError::WrongPage { .. } => Self::OutsideContract(error.to_string()),
            ExtractError::NoProgress { .. } => Self::NoProgress(error.to_string()),
            ExtractError::Lost { .. } => Self::Bug(error.to_string()),
            ExtractError::Store(source) => match source.downcast::<Self>() {
                Ok(error) => *error,
                Err(source) => Self::Bug(source.to_string()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_error_of_extraction_is_a_bug_and_not_the_apis_fault() {
        let unknown = PipelineError::from(ExtractError::Store("no such error".into()));
        assert!(matches!(&unknown, PipelineError::Bug(why) if why == "no such error"), "{unknown}");
        let lost = PipelineError::from(ExtractError::Lost { target: "/v1/me".to_owned() });
        assert!(matches!(&lost, PipelineError::Bug(_)), "{lost}");
        let own = PipelineError::PageGone { target: "/v1/me".to_owned() };
        let own = PipelineError::from(ExtractError::Store(own.into()));
        assert!(matches!(&own, PipelineError::PageGone { .. }), "{own}");
    }
}
