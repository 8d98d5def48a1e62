//! Files of a snapshot as they were committed: whoever reads through here never reads a damaged one.

use crate::lake::backend::disk;
use crate::lake::backend::disk::check_digest;
use crate::lake::data_file::read_part;
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::{Commit, FileEntry};
use crate::lake::handle::Lake;
use crate::table::Table;
use arrow::record_batch::RecordBatch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

impl Lake {
    /// Where a file of a snapshot lies, after a look whether it is what its commit says.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn sound_file(&self, commit: &Commit, entry: &FileEntry) -> Result<PathBuf, LakeError> {
        let table = entry.path.split('/').next();
        self.backend.download_files(commit, table)?;
        let path = self.snapshot_dir(commit.snapshot).join(&entry.path);
        check_digest(&path, entry)?;
        Ok(path)
    }

    /// Paths of a table's files, after a look whether they are what the commit says; none when the table is absent.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn sound_files(&self, commit: &Commit, table: &str) -> Result<Vec<PathBuf>, LakeError> {
        self.backend.download_files(commit, Some(table))?;
        let dir = self.snapshot_dir(commit.snapshot);
        let files = commit.tables.get(table).map_or(&[][..], |manifest| &manifest.files);
        let sound = |entry: &FileEntry| {
            let path = dir.join(&entry.path);
            check_digest(&path, entry).map(|()| path)
        };
        files.iter().map(sound).collect()
    }

    /// As [`Lake::sound_files`], of every table.
    ///
    /// # Errors
    ///
    /// As [`Lake::sound_files`].
    pub fn sound_tables(&self, commit: &Commit) -> Result<BTreeMap<String, Vec<PathBuf>>, LakeError> {
        let tables = commit.tables.keys();
        tables.map(|table| Ok((table.clone(), self.sound_files(commit, table)?))).collect()
    }
}

impl Lake {
    /// All rows of a table of a snapshot, a batch a file. For tables that fit in memory.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn read_table(&self, commit: &Commit, table: Table) -> Result<Vec<RecordBatch>, LakeError> {
        let files = self.sound_files(commit, table.name())?;
        files.iter().map(|path| read_part(path, None)).collect()
    }
}

/// Holds the tables in a snapshot's folder against the commit that lies beside it in its lake. A folder alone, without a
/// commit, has nothing to be held against.
///
/// # Errors
///
/// [`LakeError::Damaged`] names the first file that is not what was committed; [`LakeError::Storage`].
pub fn check_snapshot_folder(folder: &Path) -> Result<(), LakeError> {
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    let number = folder.file_name().and_then(|name| layout::parse_snapshot(name.to_str()?));
    let root = folder.parent().filter(|above| above.ends_with("snapshots")).and_then(Path::parent);
    let (Some(number), Some(root)) = (number, root) else { return Ok(()) };
    let path = Layout { root: root.to_path_buf() }.commit(number);
    let Some(bytes) = disk::read(&path)? else { return Ok(()) };
    let commit = Commit::decode(&bytes, &path)?;
    let known = commit.tables.iter().filter(|(name, _)| Table::from_name(name).is_some());
    known
        .flat_map(|(_, table)| &table.files)
        .try_for_each(|entry| check_digest(&folder.join(&entry.path), entry))
}
