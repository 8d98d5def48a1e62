//! Files for those who read a snapshot without the lake's help: looked at first, so that nothing damaged is passed on.

use super::Lake;
use super::error::LakeError;
use super::manifest::{Commit, FileEntry};
use super::{path, storage};
use std::fs;
use std::path::PathBuf;

impl Lake {
    /// Where a file of a snapshot lies on this machine, once its bytes have been found to be those of the commit.
    /// [`Lake::table_files`] brings it first, where it lies in an object store.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`] when it is not there, as after a pruning; [`LakeError::Damaged`] when it is another.
    pub fn sound_file(&self, commit: &Commit, entry: &FileEntry) -> Result<PathBuf, LakeError> {
        let path = self.snapshot_dir(commit.snapshot).join(&entry.path);
        let (bytes, blake3) = storage::digest(&path)?;
        if (bytes, &blake3) != (entry.bytes, &entry.blake3) {
            return Err(LakeError::damaged(&path, "its bytes are not those that were committed"));
        }
        Ok(path)
    }

    /// The snapshot that `current` shows; none where nothing is shown that way, as in an object store.
    pub fn shown(&self) -> Option<u64> {
        let target = fs::read_link(self.layout.current()).ok()?;
        path::parse_snapshot(target.file_name()?.to_str()?)
    }
}
