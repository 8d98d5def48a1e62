//! Errors of commands, and their exit codes, by which a scheduler acts.

use crate::aggregate::AggregateError;
use crate::client::ClientError;
use crate::contract::hint::of_io;
use crate::export::ExportError;
use crate::import::files::source::SourceError;
use crate::lake::LakeError;
use crate::pipeline::PipelineError;
use crate::pipeline::publish::summary::RunSummary;
use crate::serve::{KeysError, LoadError, MeterError, ServeError};
use std::io::ErrorKind;

/// Done.
pub const DONE: u8 = 0;
/// A bug.
pub const BUG: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// The pipeline file or the settings are wrong, or the address cannot be that of the API.
pub const SETTINGS: u8 = 3;
/// The key was refused: 401 or 403.
pub const KEY_REFUSED: u8 = 4;
/// Stopped early; run again to resume.
pub const RUN_AGAIN: u8 = crate::pipeline::publish::summary::EXIT_RUN_AGAIN;
/// The API is unavailable, or answers with something that may pass, after retries.
pub const API: u8 = 6;
/// A check failed; nothing was published.
pub const CHECK_FAILED: u8 = crate::pipeline::publish::summary::EXIT_CHECK_FAILED;
/// Another run has the lock of the lake.
pub const HELD: u8 = 8;
/// Storage failed, or holds a damaged file.
pub const STORAGE: u8 = 9;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// A command line that leaves open what is meant.
    #[error("{0}")]
    Usage(String),
    /// A person answered no.
    #[error("the run was not started")]
    Declined,
    /// A flag, a variable or a file of settings.
    #[error("{0}")]
    Settings(String),
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    #[error(transparent)]
    Lake(#[from] LakeError),
    #[error(transparent)]
    Export(#[from] ExportError),
    /// An error whose way out, the text, depends on the flags or variables in use.
    #[error("{0}")]
    Hinted(#[source] Box<CommandError>, String),
    /// A run that published nothing, and what it did until then.
    #[error("{0}")]
    Run(#[source] Box<CommandError>, Box<RunSummary>),
    /// The server or its keys.
    #[error("{0}")]
    Serve(#[from] ServeError),
    /// A file of the lake that is not what was committed.
    #[error("{0}")]
    Damaged(String),
    /// What failed, and the system's error.
    #[error("{0}: {1}")]
    Io(String, #[source] std::io::Error),
    /// A state that cannot happen.
    #[error("{0}")]
    Bug(String),
}

impl CommandError {
    /// The same error with a hint.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self::Hinted(Box::new(self), hint.into())
    }

    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Hinted(_, hint) => Some(hint.clone()),
            Self::Run(source, _) => source.hint(),
            Self::Pipeline(error) => error.hint(),
            Self::Lake(error) => error.hint(),
            Self::Export(error) => error.hint(),
            Self::Serve(error) => error.hint(),
            Self::Io(_, source) => of_io(source),
            Self::Bug(_) => {
                Some("this is a bug in sunlake: report it with the command and its log".to_owned())
            }
            Self::Declined => Some("answer y, or skip the question with --yes".to_owned()),
            Self::Usage(_) | Self::Settings(_) | Self::Damaged(_) => None,
        }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => USAGE,
            Self::Declined => RUN_AGAIN,
            Self::Settings(_) => SETTINGS,
            Self::Serve(error) => serve(error),
            Self::Pipeline(error) => pipeline(error),
            Self::Lake(error) => lake(error),
            Self::Export(error) => export(error),
            Self::Io(..) | Self::Damaged(_) => STORAGE,
            Self::Bug(_) => BUG,
            Self::Run(source, _) | Self::Hinted(source, _) => source.code(),
        }
    }
}

fn serve(error: &ServeError) -> u8 {
    match error {
        ServeError::Keys(KeysError::Storage(..)) => STORAGE,
        ServeError::Keys(KeysError::Unwritable(_)) | ServeError::Panicked => BUG,
        ServeError::Keys(_) | ServeError::NoSnapshot(_) => SETTINGS,
        ServeError::Meter(MeterError::Locked(_) | MeterError::Foreign(_) | MeterError::Store(..)) => SETTINGS,
        ServeError::Tls(_) => SETTINGS,
        ServeError::Lake(error) | ServeError::Load(LoadError::Unsound(error)) => lake(error),
        ServeError::Load(_) | ServeError::Meter(_) => STORAGE,
        ServeError::Unreadable(..) | ServeError::Listener(_) => STORAGE,
    }
}

fn pipeline(error: &PipelineError) -> u8 {
    match error {
        PipelineError::Spec(_)
        | PipelineError::OtherSource { .. }
        | PipelineError::EarlierDay { .. }
        | PipelineError::LaterDay { .. }
        | PipelineError::LeftWindow { .. }
        | PipelineError::NoFilings { .. }
        | PipelineError::NotReplayable { .. } => SETTINGS,
        PipelineError::Client(error) => client(error),
        PipelineError::OutsideContract(_) | PipelineError::NoProgress(_) => API,
        PipelineError::Lake(error) => lake(error),
        // The folder that the pipeline file names.
        PipelineError::Import(SourceError::Unreadable { source, .. })
            if source.kind() == ErrorKind::NotFound =>
        {
            SETTINGS
        }
        PipelineError::Import(SourceError::Incomplete { .. } | SourceError::TwoClaims { .. })
        | PipelineError::Industries { .. }
        | PipelineError::UnreadableRules { .. } => SETTINGS,
        PipelineError::Import(_) => STORAGE,
        PipelineError::Table(_) | PipelineError::Write { .. } | PipelineError::PageGone { .. } => STORAGE,
        PipelineError::Aggregate(error) => aggregate(error),
        PipelineError::Export(error) => export(error),
        PipelineError::CheckFailed { .. } => CHECK_FAILED,
        PipelineError::Bug(_) => BUG,
    }
}

/// 5 and 6 only where the same command can succeed later, with nothing changed.
fn client(error: &ClientError) -> u8 {
    match error {
        ClientError::Refused { status: 401 | 403, .. } => KEY_REFUSED,
        ClientError::BudgetSpent { .. } | ClientError::WaitTooLong { .. } | ClientError::Stopped => RUN_AGAIN,
        ClientError::Ledger { .. } => STORAGE,
        ClientError::Settings(_)
        | ClientError::NoClient { .. }
        | ClientError::PlainHttp { .. }
        | ClientError::Untrusted { .. }
        | ClientError::ProxyRefused { .. }
        | ClientError::Refused { .. }
        | ClientError::OutsideContract { retryable: false, .. } => SETTINGS,
        ClientError::Busy { .. }
        | ClientError::Transport { .. }
        | ClientError::OutsideContract { retryable: true, .. }
        | ClientError::GaveUp { .. } => API,
    }
}

fn lake(error: &LakeError) -> u8 {
    match error {
        LakeError::Held { .. } | LakeError::Conflict { .. } => HELD,
        LakeError::NoSnapshot { .. }
        | LakeError::Address { .. }
        | LakeError::Setting { .. }
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
        ExportError::Table(_) | ExportError::Read(..) | ExportError::Write(..) | ExportError::Duckdb(..) => {
            STORAGE
        }
        ExportError::NoSnapshot(_)
        | ExportError::NoTable { .. }
        | ExportError::NoBusinesses(_)
        | ExportError::WrongTarget { .. }
        | ExportError::NotMade { .. }
        | ExportError::Overtaken(..)
        | ExportError::NoDuckdb(..)
        | ExportError::Foreign(..) => SETTINGS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::SpecError;
    use crate::table::REPAIR;
    use std::io::{Error, ErrorKind};
    use std::path::PathBuf;

    #[test]
    fn disk_failure_of_serve_and_keys_exits_with_9() {
        let (path, full) = (PathBuf::from("f"), || Error::from(ErrorKind::StorageFull));
        let missing = KeysError::NoFile(path.clone(), ErrorKind::NotFound.into());
        for (error, code) in [
            (KeysError::Storage(path.clone(), full()).into(), STORAGE),
            (MeterError::Storage(path.clone(), full()).into(), STORAGE),
            (ServeError::Unreadable(path.clone(), full()), STORAGE),
            (missing.into(), SETTINGS),
            (ServeError::NoSnapshot(path.clone()), SETTINGS),
        ] {
            assert_eq!(CommandError::Serve(error).code(), code);
        }
    }

    fn lost(name: &str) -> LakeError {
        let source = Error::from(ErrorKind::NotFound);
        LakeError::Storage { op: "open", path: PathBuf::from(name), source }
    }

    #[test]
    fn damage_and_a_missing_table_file_have_the_repair_as_hint() {
        let damaged = LakeError::Damaged { path: PathBuf::from("x"), what: "no".to_owned() };
        for error in [
            CommandError::from(PipelineError::from(damaged)),
            CommandError::from(lost("part-1.parquet")),
            CommandError::from(ExportError::from(lost("part-2.parquet"))),
        ] {
            assert_eq!(error.hint().as_deref(), Some(REPAIR), "{error}");
            assert_eq!(error.code(), STORAGE, "{error}");
        }
        assert_eq!(CommandError::from(lost("record.json")).hint(), None);
    }

    #[test]
    fn a_missing_folder_of_aggregates_has_the_key_that_rights_it_as_hint() {
        let (path, folder) = (PathBuf::from("p.toml"), PathBuf::from("aggregates"));
        let error = SpecError::NoAggregates { path, folder }.into();
        let hint = CommandError::Pipeline(error).hint().expect("a hint");
        assert!(hint.contains("[aggregates] enabled = false"), "{hint}");
    }
}
