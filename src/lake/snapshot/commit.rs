//! The commit: staged files become a snapshot, and the snapshot becomes the lake.

use super::staging::{StagedFile, Staging};
use crate::lake::backend::Home;
use crate::lake::backend::disk;
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::{Layout, snapshot_name};
use crate::lake::format::manifest::{Commit, FORMAT_VERSION};
use crate::lake::run::COMMITS;
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
        self.lake.home.place(self.snapshot, &self.run_id, &files)?;
        // What is placed and not held in the end is cleared by the next lock.
        if !self.lake.home.create(&Layout::held_name(self.snapshot), &bytes)? {
            return Err(LakeError::Conflict { snapshot: self.snapshot });
        }
        self.clear();
        Ok(commit)
    }

    /// A second copy of the commit, in the folder of its run: small, and all that a damaged commit file takes to be
    /// written again.
    fn keep_copy(&self, bytes: &[u8]) -> Result<(), LakeError> {
        self.lake.home.write(&copy_name(&self.run_id, self.snapshot), bytes)
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

/// Name in the lake of the copy of a commit that its run keeps.
fn copy_name(run_id: &str, snapshot: u64) -> String {
    format!("runs/{run_id}/{COMMITS}/{}.json", snapshot_name(snapshot))
}

/// The copy of a commit that its run keeps; none where no run has a sound one. The number that a killed run was about
/// to commit is given again: of two copies the one committed later counts.
pub(crate) fn kept_copy(
    home: &dyn Home,
    layout: &Layout,
    snapshot: u64,
) -> Result<Option<Vec<u8>>, LakeError> {
    let mut newest: Option<(Timestamp, Vec<u8>)> = None;
    for run_id in disk::names(&layout.runs())?.iter().filter(|name| layout::check_run_id(name).is_ok()) {
        let name = copy_name(run_id, snapshot);
        let path = layout.root.join(&name);
        let sound = |bytes: Vec<u8>| {
            let commit = Commit::decode(&bytes, &path).ok().filter(|commit| commit.snapshot == snapshot)?;
            Some((commit.committed_at, bytes))
        };
        let found = match disk::read(&path)?.and_then(sound) {
            Some(here) => Some(here),
            None => home.read(&name)?.and_then(sound),
        };
        newest = newest.max(found);
    }
    Ok(newest.map(|(_, bytes)| bytes))
}

fn encoded(commit: &Commit, path: &Path) -> Result<Vec<u8>, LakeError> {
    commit.encode().map_err(LakeError::storage("write", path))
}
