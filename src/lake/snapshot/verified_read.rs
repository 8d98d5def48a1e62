//! Files of a snapshot as they were committed: whoever reads through here never reads a damaged one.

use crate::lake::Lake;
use crate::lake::backend::disk;
use crate::lake::data_file::read_part;
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::{Commit, FileEntry};
use crate::table::Table;
use arrow::record_batch::RecordBatch;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

impl Lake {
    /// Where a file of a snapshot lies, after a look whether it is what its commit says.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn sound_file(&self, commit: &Commit, entry: &FileEntry) -> Result<PathBuf, LakeError> {
        let table = entry.path.split('/').next();
        self.home.bring(commit, table)?;
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
        self.home.bring(commit, Some(table))?;
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
    /// All rows of a table of a snapshot, a batch a file, in today's columns. For tables that fit in memory.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`], [`LakeError::Storage`].
    pub fn read_table(&self, commit: &Commit, table: Table) -> Result<Vec<RecordBatch>, LakeError> {
        let files = self.sound_files(commit, table.name())?;
        let read = |path: &PathBuf| self.upgraded(table, commit.schema_version, read_part(path, None)?);
        files.iter().map(read).collect()
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

/// Holds a file against its commit.
pub(crate) fn check_digest(path: &Path, entry: &FileEntry) -> Result<(), LakeError> {
    match Found::of(entry, disk::digest(path)?) {
        Found::Sound => Ok(()),
        _ => Err(LakeError::damaged(path, "its bytes are not those that were committed")),
    }
}

/// How a file lies where a commit names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// As it was committed.
    Sound,
    /// Not at all.
    Missing,
    /// With another size or digest (hex).
    Other(u64, String),
}

impl Found {
    /// Size and digest of a file, held against its commit.
    pub(crate) fn of(entry: &FileEntry, (bytes, blake3): (u64, String)) -> Self {
        if bytes == entry.bytes && blake3 == entry.blake3 { Self::Sound } else { Self::Other(bytes, blake3) }
    }
}

/// How a file of this machine lies there. A disk that does not say is an error, and tells nothing of the file.
pub(crate) fn found_at(path: &Path, entry: &FileEntry) -> Result<Found, LakeError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Found::of(entry, disk::digest(path)?)),
        Err(error) if !disk::is_absent(&error) => Err(LakeError::storage("look at", path)(error)),
        _ => Ok(Found::Missing),
    }
}
