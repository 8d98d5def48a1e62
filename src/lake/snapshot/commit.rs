//! The commit: an optimistic commit by put-if-absent. Staged files become a snapshot, and the snapshot becomes the lake.

use super::staging::Staging;
use crate::lake::backend::protocol::copy_name;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::{Commit, FORMAT_VERSION, StagedFile};
use crate::lake::format::sealed_json::sealed;
use crate::lake::handle::Lake;
use crate::table::SCHEMA_VERSION;
use jiff::Timestamp;
use jiff::civil::Date;

/// What a commit records about its run.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "a field without a sentence is what its name says")]
pub struct CommitInfo {
    pub committed_at: Timestamp,
    /// The Eastern day the run runs as.
    pub today: Date,
    pub pipeline: String,
    pub requests_sent: u64,
    /// The run state that is versioned with the data.
    pub state: serde_json::Value,
    pub checks: serde_json::Value,
}

impl Staging {
    /// Makes the staged snapshot the newest one.
    ///
    /// Files are placed where the commit names them, the commit is created if it is absent, and readers are pointed to
    /// it. Before the commit exists nothing has changed; from then on the snapshot is published.
    ///
    /// # Errors
    ///
    /// [`LakeError::Conflict`] when another writer made this snapshot first; [`LakeError::NotShown`] when the
    /// snapshot is committed but readers are not pointed to it yet; [`LakeError::Storage`] and [`LakeError::Remote`] when
    /// nothing was committed.
    pub fn commit(self, info: CommitInfo) -> Result<Commit, LakeError> {
        let (commit, bytes) = self.place_files(info)?;
        let created = self.lake.backend.create_commit(self.snapshot, &bytes);
        if !matches!(created, Ok(true)) {
            self.lake.backend.abort(self.snapshot, &self.staged_files());
        }
        self.check_created(created?)?;
        self.lake.show(&commit)?;
        self.lake.storage.discard(&self.dir);
        Ok(commit)
    }

    /// Keeps the staged snapshot for review, under its own number: readers still see the one before.
    pub fn commit_pending(self, info: CommitInfo) -> Result<Commit, LakeError> {
        let (commit, bytes) = self.place_files(info)?;
        // If this fails, the next lock deletes the placed files.
        self.check_created(self.lake.backend.create(&Layout::pending_name(self.snapshot), &bytes)?)?;
        self.lake.storage.discard(&self.dir);
        Ok(commit)
    }

    /// Puts the files where the commit names them. Returns the commit and its bytes, of which the run's folder keeps a copy:
    /// a damaged commit can be written again from it.
    fn place_files(&self, info: CommitInfo) -> Result<(Commit, Vec<u8>), LakeError> {
        let commit = self.describe(info);
        let bytes = self.lake.encoded(&commit)?;
        let backend = &self.lake.backend;
        backend.write(&copy_name(&self.run_id, self.snapshot), &bytes)?;
        backend.stage_files(self.snapshot, &self.run_id, &self.staged_files())?;
        Ok((commit, bytes))
    }

    fn staged_files(&self) -> Vec<&StagedFile> {
        self.tables.values().flatten().collect()
    }

    fn check_created(&self, is_created: bool) -> Result<(), LakeError> {
        if is_created { Ok(()) } else { Err(LakeError::Conflict { snapshot: self.snapshot }) }
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

impl Lake {
    pub(super) fn encoded(&self, commit: &Commit) -> Result<Vec<u8>, LakeError> {
        sealed(commit).map_err(LakeError::storage("write", &self.layout.commit(commit.snapshot)))
    }

    /// Points readers to a committed snapshot.
    pub(super) fn show(&self, commit: &Commit) -> Result<(), LakeError> {
        let snapshot = commit.snapshot;
        let shown = self.backend.advance_pointer(commit);
        shown.map_err(|source| LakeError::NotShown { snapshot, source: Box::new(source) })
    }
}
