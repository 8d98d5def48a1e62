//! Exit codes: what a scheduler acts on.

use super::output::repair_hint;
use crate::aggregate::AggregateError;
use crate::client::ClientError;
use crate::export::ExportError;
use crate::lake::LakeError;
use crate::pipeline::PipelineError;
use crate::pipeline::publish::summary::RunSummary;

/// Done.
pub const DONE: u8 = 0;
/// A bug.
pub const BUG: u8 = 1;
/// The command line cannot be understood.
pub const USAGE: u8 = 2;
/// The pipeline file or the settings are wrong.
pub const SETTINGS: u8 = 3;
/// The key was refused: 401 or 403.
pub const KEY_REFUSED: u8 = 4;
/// Stopped in good order; run again to go on.
pub const RUN_AGAIN: u8 = crate::pipeline::publish::summary::EXIT_RUN_AGAIN;
/// The API is unavailable, or answers outside its contract, after retries.
pub const API: u8 = 6;
/// A check failed; nothing was published.
pub const CHECK_FAILED: u8 = crate::pipeline::publish::summary::EXIT_CHECK_FAILED;
/// Another run holds the lake.
pub const HELD: u8 = 8;
/// Storage failed, or holds a damaged file.
pub const STORAGE: u8 = 9;

/// What a command ended with, if not well.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Settings that lead nowhere.
    #[error("{0}")]
    Settings(String),
    /// A run or its price.
    #[error("{0}{way_out}", way_out = repair_hint::of_pipeline(.0))]
    Pipeline(#[from] PipelineError),
    /// The lake.
    #[error("{0}{way_out}", way_out = repair_hint::of_lake(.0))]
    Lake(#[from] LakeError),
    /// An export.
    #[error("{0}{way_out}", way_out = repair_hint::of_export(.0))]
    Export(#[from] ExportError),
    /// An error with what its own words leave out.
    #[error("{source}; {more}")]
    Told {
        /// What failed.
        source: Box<CommandError>,
        /// On what, and the way out.
        more: String,
    },
    /// A run that published nothing.
    #[error("{source}")]
    Run {
        /// What it did nevertheless.
        summary: Box<RunSummary>,
        /// Why it failed.
        source: Box<CommandError>,
    },
    /// The server or its keys.
    #[error("{0}")]
    Serve(String),
    /// A file of the lake that is not what was committed.
    #[error("{0}")]
    Damaged(String),
    /// A file or a stream.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something that cannot happen did.
    #[error("{0}; this is a bug in sunlake")]
    Bug(String),
}

impl CommandError {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Settings(_) | Self::Serve(_) => SETTINGS,
            Self::Pipeline(error) => pipeline(error),
            Self::Lake(error) => lake(error),
            Self::Export(error) => export(error),
            Self::Io { .. } | Self::Damaged(_) => STORAGE,
            Self::Bug(_) => BUG,
            Self::Run { source, .. } | Self::Told { source, .. } => source.code(),
        }
    }
}

fn pipeline(error: &PipelineError) -> u8 {
    match error {
        PipelineError::Spec(_)
        | PipelineError::OtherSource { .. }
        | PipelineError::EarlierDay { .. }
        | PipelineError::NotReplayable { .. } => SETTINGS,
        PipelineError::Client(error) => client(error),
        PipelineError::OutsideContract(_) => API,
        PipelineError::Lake(error) => lake(error),
        PipelineError::Table(_) | PipelineError::Write { .. } | PipelineError::PageGone { .. } => STORAGE,
        PipelineError::Aggregate(error) => aggregate(error),
        PipelineError::Export(error) => export(error),
        PipelineError::CheckFailed { .. } => CHECK_FAILED,
        PipelineError::Bug(_) => BUG,
    }
}

fn client(error: &ClientError) -> u8 {
    match error {
        ClientError::Refused { status: 401 | 403, .. } => KEY_REFUSED,
        ClientError::BudgetSpent { .. } | ClientError::WaitTooLong { .. } | ClientError::Stopped => RUN_AGAIN,
        ClientError::Settings(_) => SETTINGS,
        ClientError::Ledger { .. } => STORAGE,
        ClientError::Refused { .. }
        | ClientError::Busy { .. }
        | ClientError::Transport { .. }
        | ClientError::OutsideContract { .. }
        | ClientError::GaveUp { .. } => API,
    }
}

fn lake(error: &LakeError) -> u8 {
    match error {
        LakeError::Held { .. } | LakeError::Conflict { .. } => HELD,
        LakeError::NoSnapshot { .. }
        | LakeError::Address { .. }
        | LakeError::Pruned { .. }
        | LakeError::NotHeld { .. }
        | LakeError::Overtaken { .. } => SETTINGS,
        _ => STORAGE,
    }
}

fn aggregate(error: &AggregateError) -> u8 {
    match error {
        AggregateError::Write { .. } | AggregateError::Read { .. } => STORAGE,
        _ => SETTINGS,
    }
}

fn export(error: &ExportError) -> u8 {
    match error {
        ExportError::Lake(error) => lake(error),
        ExportError::Table(_) | ExportError::Write { .. } | ExportError::Duckdb { .. } => STORAGE,
        ExportError::Asked(_) | ExportError::NoDuckdb { .. } | ExportError::Foreign { .. } => SETTINGS,
    }
}
