//! The commit: staged files become a snapshot, and the snapshot becomes the lake.

use super::error::LakeError;
use super::manifest::{Commit, FORMAT_VERSION};
use super::staging::{StagedFile, Staging};
use crate::table::SCHEMA_VERSION;
use jiff::Timestamp;
use jiff::civil::Date;

/// What a commit says beside its files.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitInfo {
    /// Now.
    pub committed_at: Timestamp,
    /// The Eastern day the run runs as.
    pub today: Date,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Requests sent so far.
    pub requests_sent: u64,
    /// The run state that moves with the data.
    pub state: serde_json::Value,
    /// What the checks said.
    pub checks: serde_json::Value,
}

impl Staging {
    /// Makes the staged snapshot the newest one.
    ///
    /// Files are placed where the commit names them, the commit is created if it is absent, the snapshot is shown.
    /// Before the commit exists nothing has happened; from then on it has.
    ///
    /// # Errors
    ///
    /// [`LakeError::Conflict`] when another writer made this snapshot first; [`LakeError::NotShown`] when the
    /// snapshot is committed but readers are not led to it yet; [`LakeError::Storage`] and [`LakeError::Remote`] when
    /// nothing was committed.
    pub fn commit(self, info: CommitInfo) -> Result<Commit, LakeError> {
        let commit = self.describe(info);
        let path = self.lake.layout.commit(self.snapshot);
        let bytes = commit.encode().map_err(|error| LakeError::damaged(&path, error.to_string()))?;
        let files: Vec<&StagedFile> = self.tables.values().flatten().collect();
        let home = &self.lake.home;
        home.place(self.snapshot, &self.run_id, &files)?;
        match home.create_commit(self.snapshot, &bytes) {
            Ok(true) => {}
            Ok(false) => {
                home.withdraw(self.snapshot, &files);
                return Err(LakeError::Conflict { snapshot: self.snapshot });
            }
            Err(error) => {
                home.withdraw(self.snapshot, &files);
                return Err(error);
            }
        }
        home.show(&commit)
            .map_err(|source| LakeError::NotShown { snapshot: self.snapshot, source: Box::new(source) })?;
        if let Err(error) = self.lake.storage.remove_dir_all(&self.dir) {
            tracing::debug!(path = %self.dir.display(), %error, "a leftover stays until the next repair");
        }
        Ok(commit)
    }

    fn describe(&self, info: CommitInfo) -> Commit {
        Commit {
            format_version: FORMAT_VERSION,
            schema_version: SCHEMA_VERSION,
            snapshot: self.snapshot,
            parent: self.parent.as_ref().map(|parent| parent.snapshot),
            committed_at: info.committed_at,
            today: info.today,
            run_id: self.run_id.clone(),
            pipeline: info.pipeline,
            requests_sent: info.requests_sent,
            tables: self.manifests(),
            state: info.state,
            checks: info.checks,
        }
    }
}
