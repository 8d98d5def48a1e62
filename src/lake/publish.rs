//! The commit: staged files become a snapshot, and the snapshot becomes the lake.

use super::error::LakeError;
use super::manifest::{Commit, FORMAT_VERSION};
use super::path::snapshot_name;
use super::staging::Staging;
use super::storage::TEMPORARY;
use crate::table::SCHEMA_VERSION;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

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
    /// Files are linked into a folder under a temporary name, the folder is renamed, the commit is created if it is
    /// absent, `current` is swapped. Before the commit exists nothing has happened; from then on it has.
    ///
    /// # Errors
    ///
    /// [`LakeError::Conflict`] when another writer made this snapshot first; [`LakeError::NotShown`] when the
    /// snapshot is committed but `current` could not be moved; [`LakeError::Storage`] when nothing was committed.
    pub fn commit(self, info: CommitInfo) -> Result<Commit, LakeError> {
        let commit = self.describe(info);
        let path = self.lake.layout.commit(self.snapshot);
        let bytes = commit.encode().map_err(|error| LakeError::damaged(&path, error.to_string()))?;
        if matches!(path.try_exists(), Ok(true)) {
            return Err(LakeError::Conflict { snapshot: self.snapshot });
        }
        self.place_snapshot()?;
        match self.lake.storage.put_if_absent(&path, &bytes) {
            Ok(true) => {}
            Ok(false) => return Err(LakeError::Conflict { snapshot: self.snapshot }),
            Err(error) => {
                // A commit that may have landed keeps the files it names.
                if matches!(path.try_exists(), Ok(false)) {
                    self.discard(&self.lake.layout.snapshot(self.snapshot));
                }
                return Err(error);
            }
        }
        self.lake
            .show(self.snapshot)
            .map_err(|source| LakeError::NotShown { snapshot: self.snapshot, source: Box::new(source) })?;
        self.discard(&self.dir);
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

    /// Builds the snapshot's folder under a temporary name and gives it its own.
    fn place_snapshot(&self) -> Result<(), LakeError> {
        let layout = &self.lake.layout;
        let name = format!("{TEMPORARY}{}-{}", snapshot_name(self.snapshot), self.run_id);
        let built = layout.snapshots().join(name);
        let placed = self.build(&built).and_then(|()| {
            self.lake.storage.rename(&built, &layout.snapshot(self.snapshot))?;
            self.lake.storage.sync_dir(&layout.snapshots())
        });
        placed.map_err(|error| {
            self.discard(&built);
            match error {
                LakeError::Storage { op: "rename", source, .. } if is_taken(&source) => {
                    LakeError::Conflict { snapshot: self.snapshot }
                }
                other => other,
            }
        })
    }

    fn build(&self, root: &Path) -> Result<(), LakeError> {
        let storage = &self.lake.storage;
        storage.remove_dir_all(root)?;
        storage.create_dir_all(root)?;
        let mut folders = BTreeSet::from([root.to_path_buf()]);
        for file in self.tables.values().flatten() {
            let target = root.join(&file.entry.path);
            let above: Vec<PathBuf> = target
                .ancestors()
                .skip(1)
                .take_while(|above| *above != root)
                .map(Path::to_path_buf)
                .collect();
            if let Some(folder) = above.first().filter(|folder| !folders.contains(*folder)) {
                storage.create_dir_all(folder)?;
            }
            folders.extend(above);
            storage.link(&file.path, &target)?;
        }
        // Deepest first, so that a folder is durable before the one that names it.
        folders.iter().rev().try_for_each(|folder| storage.sync_dir(folder))
    }

    /// Deletes what no one needs; what cannot be deleted now is cleared by the next lock.
    fn discard(&self, dir: &Path) {
        if let Err(error) = self.lake.storage.remove_dir_all(dir) {
            tracing::debug!(path = %dir.display(), %error, "a leftover stays until the next repair");
        }
    }
}

fn is_taken(source: &io::Error) -> bool {
    matches!(source.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}
