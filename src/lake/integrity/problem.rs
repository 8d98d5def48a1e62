//! What a verification or an audit found.

use crate::lake::error::LakeError;
use crate::lake::format::layout::Mark;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Number of files that were checked.
    pub files: u64,
    /// Rows in them.
    pub rows: u64,
    /// What is wrong; empty when everything is intact.
    pub problems: Vec<Problem>,
}

/// A damaged or unexpected file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where a user finds the file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What the file is, which decides how it is repaired.
    #[serde(skip)]
    pub(crate) kind: ProblemKind,
}

/// What a damaged file is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum ProblemKind {
    /// A file of a snapshot, or one that is repaired together with those.
    #[default]
    Tables,
    Commit(u64),
    /// The commit of a snapshot that is pending review.
    Pending(u64),
    Mark(Mark, u64),
    Record(String),
    /// A file of a finished run: its run id and its path in the run's folder.
    RunFile(String, String),
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn note(&mut self, path: &Path, what: impl Into<String>) {
        self.note_kind(path, what, ProblemKind::Tables);
    }

    pub(super) fn note_kind(&mut self, path: &Path, what: impl Into<String>, kind: ProblemKind) {
        self.problems.push(Problem { path: path.to_path_buf(), what: what.into(), kind });
    }

    /// What was read; none, and a problem, when its file is damaged.
    pub(super) fn intact<T>(
        &mut self,
        read: Result<T, LakeError>,
        kind: ProblemKind,
    ) -> Result<Option<T>, LakeError> {
        match read {
            Err(LakeError::Damaged { path, what }) => {
                self.note_kind(&path, what, kind);
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}
