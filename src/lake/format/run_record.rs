//! The record of a run.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

/// The content of `runs/<run_id>/run.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the run and of its folder.
    pub run_id: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Its file as it was found, or the name of a built-in one; empty in records from before it was kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pipeline_file: String,
    /// Digest of the pipeline file; a run resumes only with the same.
    pub pipeline_digest: String,
    /// The Eastern day it runs as.
    pub today: Date,
    /// When it began.
    pub started_at: Timestamp,
    /// How it ended; none while it runs, or when it was killed.
    pub finished: Option<String>,
    /// Its plan, as the planner writes it.
    #[serde(default)]
    pub plan: serde_json::Value,
    /// Its files, once it is finished or stopped in good order. Empty while it runs, and after a kill.
    #[serde(default)]
    pub files: Vec<RunFile>,
    /// Whether its raw pages were pruned.
    #[serde(default)]
    pub raw_pruned: bool,
}

/// A file that a closed run left in its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// Path in the run's folder, with `/`.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// blake3 digest of the file, hex.
    pub blake3: String,
}

/// The id of a run that begins now. `token` are random letters and digits of its process: other hosts make ids in the same millisecond.
pub fn new_run_id(at: Timestamp, purpose: &str, token: &str) -> String {
    format!("{}-{purpose}-{token}", at.strftime(STAMP))
}

const STAMP: &str = "%Y%m%dT%H%M%S%3fZ";

/// When a run began, and its pipeline, by its id.
pub(crate) fn begin_of(run_id: &str) -> Option<(Timestamp, &str)> {
    let (stamp, rest) = run_id.split_once('-')?;
    let (purpose, _) = rest.rsplit_once('-')?;
    let at = DateTime::strptime(STAMP, stamp).and_then(|at| at.in_tz("UTC")).ok()?;
    Some((at.timestamp(), purpose))
}

impl RunRecord {
    /// How a run ended whose snapshot is pending review.
    pub const HELD: &str = "held";

    /// Whether the run is running, or was killed: its folder may have more than its record says.
    pub(crate) const fn is_open(&self) -> bool {
        self.finished.is_none() && self.files.is_empty()
    }

    /// The record of a run that begins now, with nothing planned. A rollback is such a run too.
    pub fn begun(run_id: &str, pipeline: &str, started_at: Timestamp, today: Date) -> Self {
        Self {
            run_id: run_id.to_owned(),
            pipeline: pipeline.to_owned(),
            today,
            started_at,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_its_begin_and_its_pipeline_and_differs_by_its_token() {
        let at: Timestamp = "2026-11-20T10:00:00.123Z".parse().expect("an instant");
        let id = new_run_id(at, "my-daily", "k3f9q2");
        assert_eq!(id, "20261120T100000123Z-my-daily-k3f9q2");
        assert_eq!(begin_of(&id), Some((at, "my-daily")));
        assert_ne!(id, new_run_id(at, "my-daily", "k3f9q3"));
        for other in ["r", "r-s-t", "20261120T100000123Z-x"] {
            assert_eq!(begin_of(other), None, "{other}");
        }
    }
}
