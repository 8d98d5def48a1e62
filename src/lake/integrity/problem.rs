//! What a verification or an audit found.

use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Files that were looked at.
    pub files: u64,
    /// Rows in them.
    pub rows: u64,
    /// What is wrong; none in a sound snapshot.
    pub problems: Vec<Problem>,
}

/// Something wrong with one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where, in the lake's folder.
    pub path: PathBuf,
    /// What.
    pub what: String,
    /// What kind of thing lies there.
    #[serde(skip)]
    pub(crate) about: About,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub(crate) fn note(&mut self, path: &Path, what: impl Into<String>) {
        self.note_about(path, what, About::Tables);
    }

    pub(crate) fn note_about(&mut self, path: &Path, what: impl Into<String>, about: About) {
        self.problems.push(Problem { path: path.to_path_buf(), what: what.into(), about });
    }
}

/// What a problem is about, for whoever puts it right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum About {
    /// A file of a snapshot, or something that only a look at all files puts right.
    #[default]
    Tables,
    /// The commit of a snapshot.
    Commit(u64),
    /// The commit of a held snapshot.
    Held(u64),
    /// A mark on a snapshot.
    Mark(&'static str, u64),
    /// The record of a run.
    Record(String),
    /// A file that a finished run left.
    RunFile(String, String),
}
