//! `current` in a copy of a lake: a program that follows links makes a folder of it, with the files of the snapshot.

use super::disk::{FileState, TEMPORARY, file_state, files_below};
use super::local::LocalBackend;
use super::protocol::Backend;
use crate::lake::error::LakeError;
use crate::lake::format::manifest::Commit;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

impl LocalBackend {
    /// Removes `current` if it is a folder with the files of the newest snapshot and nothing else, so that a link can take its name.
    ///
    /// # Errors
    ///
    /// [`LakeError::InTheWay`] for any other folder, which stays as it is.
    pub(super) fn clear_copied_link(&self) -> Result<(), LakeError> {
        let current = self.layout.current();
        if !fs::symlink_metadata(&current).is_ok_and(|found| found.is_dir()) {
            return Ok(());
        }
        if !self.is_newest_snapshot(&current)? {
            return Err(LakeError::InTheWay { path: current });
        }
        let copied = current.with_file_name(format!("{TEMPORARY}copied-link"));
        self.storage.remove_dir_all(&copied)?;
        self.storage.rename(&current, &copied)?;
        tracing::warn!(path = %current.display(), "a copy of the newest snapshot; it becomes a link again");
        self.storage.remove_dir_all(&copied)
    }

    /// Whether a folder has the files of the newest snapshot, and its own folder has them too.
    fn is_newest_snapshot(&self, folder: &Path) -> Result<bool, LakeError> {
        let Some(snapshot) = self.newest()? else { return Ok(false) };
        let Some(bytes) = self.read_commit(snapshot)? else { return Ok(false) };
        let commit = Commit::decode(&bytes, &self.layout.commit(snapshot))?;
        let expected: BTreeSet<PathBuf> = commit.files(None).map(|entry| folder.join(&entry.path)).collect();
        if expected != BTreeSet::from_iter(files_below(folder)?) {
            return Ok(false);
        }
        for entry in commit.files(None) {
            let own = self.file_state(&commit, entry)?;
            if own != FileState::Intact || file_state(&folder.join(&entry.path), entry)? != FileState::Intact
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
