//! What a verification found: each damaged file, what is wrong with it, what that means, and how it is repaired.

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
    /// What stays known and needs no repair: files that are lost for good, and files that nothing proves.
    pub notes: Vec<Problem>,
}

/// A damaged or unexpected file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where a user finds the file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What that means, and the way out.
    pub means: &'static str,
    /// What the file is, which decides how it is repaired.
    #[serde(skip)]
    pub(crate) kind: ProblemKind,
}

/// What a damaged file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// A file of a snapshot.
    Tables,
    /// A file in a snapshot's folder that its commit does not name.
    Orphan,
    Commit(u64),
    /// The copy of a commit in its run's folder.
    CommitCopy(u64),
    /// The commit of a snapshot that is pending review.
    Pending(u64),
    /// What leads readers to the newest snapshot.
    Pointer(u64),
    Mark(Mark, u64),
    Record(String),
    /// A file of a closed run: its run id and its path in the run's folder.
    RunFile(String, String),
    /// The same of a run whose record is lost.
    Unrecorded(String, String),
    /// A file of a run that a repair could not bring back.
    KnownLoss,
    /// A file of a run of which only the lost record had a digest.
    Unproven,
    /// A file of a run that was killed.
    OpenRun,
    Catalog,
}

impl ProblemKind {
    /// What the damage means, and the way out.
    const fn means(&self) -> &'static str {
        match self {
            Self::Tables => {
                "readers of this snapshot fail or miss rows; the repair takes an intact copy, or makes the file again"
            }
            Self::Orphan => "readers of the folder read its rows too; delete the file",
            Self::Commit(_) => {
                "this snapshot cannot be opened; the repair takes the copy in the folder of its run"
            }
            Self::CommitCopy(_) => "only a copy of the commit; the repair writes it again",
            Self::Pending(_) => {
                "this snapshot cannot be accepted; the repair takes the copy in the folder of its run"
            }
            Self::Pointer(_) => {
                "readers do not see the newest snapshot; the repair or the next run corrects it"
            }
            Self::Mark(Mark::Pinned, _) => "the snapshot stays pinned; the repair writes the mark again",
            Self::Mark(Mark::Pruned, _) => "the snapshot stays pruned; the repair writes the mark again",
            Self::Record(_) => {
                "this run cannot be resumed; no row is lost; the repair makes the record again"
            }
            Self::RunFile(..) | Self::Unrecorded(..) => {
                "this run may not be replayed; no row is lost; the repair notes what is left of it"
            }
            Self::KnownLoss => "this run may not be replayed; no row is lost; no repair brings the file back",
            Self::Unproven => "it may have changed; no row depends on it",
            Self::OpenRun => "the run requests what is lost again when it resumes",
            Self::Catalog => "only a description of the newest snapshot; the repair writes it again",
        }
    }
}

impl Problem {
    /// Whether the file is one of a snapshot, so that its damage goes with the snapshot.
    pub(crate) fn is_of_rows(&self) -> bool {
        self.kind == ProblemKind::Tables
    }

    /// Whether the file describes the newest snapshot for other programs, and can be made again.
    pub(crate) fn is_of_catalog(&self) -> bool {
        self.kind == ProblemKind::Catalog
    }
}

impl VerifyReport {
    /// Whether nothing is wrong; notes do not count.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn note(&mut self, path: &Path, what: impl Into<String>, kind: ProblemKind) {
        let list = match kind {
            ProblemKind::KnownLoss | ProblemKind::Unproven => &mut self.notes,
            _ => &mut self.problems,
        };
        let problem = Problem { path: path.to_path_buf(), what: what.into(), means: kind.means(), kind };
        // Snapshots in an object store share files.
        if !list.contains(&problem) {
            list.push(problem);
        }
    }

    /// What was read; none, and a problem, when its file is damaged.
    pub(super) fn intact<T>(
        &mut self,
        read: Result<T, LakeError>,
        kind: ProblemKind,
    ) -> Result<Option<T>, LakeError> {
        match read {
            Err(LakeError::Damaged { path, what }) => {
                self.note(&path, what, kind);
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}
