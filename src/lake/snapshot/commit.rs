//! The commit: staged files become a snapshot, and the snapshot becomes the lake.

use super::staging::Staging;
use crate::lake::backend::commit_copy::copy_name;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::{Commit, FORMAT_VERSION, StagedFile};
use crate::table::SCHEMA_VERSION;
use jiff::Timestamp;
use jiff::civil::Date;
use std::path::Path;

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
        let path = self.lake.layout.commit(self.snapshot);
        let files: Vec<&StagedFile> = self.tables.values().flatten().collect();
        let commit = self.describe(info);
        let bytes = encoded(&commit, &path)?;
        self.keep_copy(&bytes)?;
        let backend = &self.lake.backend;
        backend.stage_files(self.snapshot, &self.run_id, &files)?;
        match backend.create_commit(self.snapshot, &bytes) {
            Ok(true) => {}
            Ok(false) => {
                backend.abort(self.snapshot, &files);
                return Err(LakeError::Conflict { snapshot: self.snapshot });
            }
            Err(error) => {
                backend.abort(self.snapshot, &files);
                return Err(error);
            }
        }
        backend
            .advance_pointer(&commit)
            .map_err(|source| LakeError::NotShown { snapshot: self.snapshot, source: Box::new(source) })?;
        self.clear();
        Ok(commit)
    }

    /// Keeps the staged snapshot whole, under its own number, beside those that are published: readers go on seeing the
    /// one before.
    ///
    /// # Errors
    ///
    /// As [`Staging::commit`].
    pub fn hold(self, info: CommitInfo) -> Result<Commit, LakeError> {
        let files: Vec<&StagedFile> = self.tables.values().flatten().collect();
        let commit = self.describe(info);
        let path = self.lake.layout.held_commit(self.snapshot);
        let bytes = encoded(&commit, &path)?;
        self.keep_copy(&bytes)?;
        self.lake.backend.stage_files(self.snapshot, &self.run_id, &files)?;
        // What is placed and not held in the end is cleared by the next lock.
        if !self.lake.backend.create(&Layout::held_name(self.snapshot), &bytes)? {
            return Err(LakeError::Conflict { snapshot: self.snapshot });
        }
        self.clear();
        Ok(commit)
    }

    /// A second copy of the commit, in the folder of its run: small, and all that a damaged commit file takes to be
    /// written again.
    fn keep_copy(&self, bytes: &[u8]) -> Result<(), LakeError> {
        self.lake.backend.write(&copy_name(&self.run_id, self.snapshot), bytes)
    }

    fn clear(&self) {
        if let Err(error) = self.lake.storage.remove_dir_all(&self.dir) {
            tracing::debug!(path = %self.dir.display(), %error, "a leftover stays until the next repair");
        }
    }

    fn describe(&self, info: CommitInfo) -> Commit {
        Commit {
            format_version: FORMAT_VERSION,
            schema_version: SCHEMA_VERSION,
            snapshot: self.snapshot,
            parent: self.parent.as_ref().map(|parent| parent.snapshot),
            restores: self.restores,
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

fn encoded(commit: &Commit, path: &Path) -> Result<Vec<u8>, LakeError> {
    commit.encode().map_err(LakeError::storage("write", path))
}
