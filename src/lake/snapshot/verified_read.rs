//! The files of one snapshot, each compared with its commit before it is read.

use crate::lake::backend::disk::{self, check_digest};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{self, Layout};
use crate::lake::format::manifest::{Commit, FileEntry};
use crate::lake::handle::Lake;
use crate::table::Table;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of a snapshot. A file of an object store is downloaded when it is asked for. A file is compared with its
/// commit once, when it is first returned.
#[derive(Debug)]
pub struct Snapshot<'a> {
    lake: &'a Lake,
    commit: &'a Commit,
    dir: PathBuf,
    /// Files that are as their commit says.
    intact: RefCell<BTreeSet<PathBuf>>,
}

impl Lake {
    /// The files of a snapshot, by its commit. Nothing is read yet.
    pub fn open_snapshot<'a>(&'a self, commit: &'a Commit) -> Snapshot<'a> {
        let dir = self.layout.snapshot(commit.snapshot);
        Snapshot { lake: self, commit, dir, intact: RefCell::default() }
    }
}

impl Snapshot<'_> {
    /// The commit of the snapshot.
    pub fn commit(&self) -> &Commit {
        self.commit
    }

    /// Local folder with the files of all tables, not compared with the commit.
    pub fn folder(&self) -> Result<&Path, LakeError> {
        self.lake.backend.download_files(self.commit, None)?;
        Ok(&self.dir)
    }

    /// Local paths of a table's files, not compared with the commit; empty when the snapshot has no such table.
    pub fn paths(&self, table: &str) -> Result<Vec<PathBuf>, LakeError> {
        self.lake.backend.download_files(self.commit, Some(table))?;
        Ok(self.commit.files(Some(table)).map(|entry| self.dir.join(&entry.path)).collect())
    }

    /// Local path of a file that is as the commit says.
    pub fn file(&self, entry: &FileEntry) -> Result<PathBuf, LakeError> {
        self.lake.backend.download_files(self.commit, entry.path.split('/').next())?;
        self.compared(entry)
    }

    fn compared(&self, entry: &FileEntry) -> Result<PathBuf, LakeError> {
        let path = self.dir.join(&entry.path);
        if !self.intact.borrow().contains(&path) {
            check_digest(&path, entry)?;
            self.intact.borrow_mut().insert(path.clone());
        }
        Ok(path)
    }

    /// Local paths of a table's files that are as the commit says; empty when the snapshot has no such table.
    pub fn files(&self, table: &str) -> Result<Vec<PathBuf>, LakeError> {
        self.lake.backend.download_files(self.commit, Some(table))?;
        self.commit.files(Some(table)).map(|entry| self.compared(entry)).collect()
    }

    /// As [`Snapshot::files`], of every table.
    pub fn tables(&self) -> Result<BTreeMap<String, Vec<PathBuf>>, LakeError> {
        self.commit.tables.keys().map(|table| Ok((table.clone(), self.files(table)?))).collect()
    }

    /// Where a user finds the snapshot's folder: in the object store, not in the working copy.
    pub fn folder_for_user(&self) -> PathBuf {
        self.lake.path_for_user(&self.dir)
    }

    /// Where a user finds a file: in the object store, in the folder of the snapshot that it came with.
    pub fn path_for_user(&self, entry: &FileEntry) -> PathBuf {
        let origin = entry.origin_snapshot.unwrap_or(self.commit.snapshot);
        self.lake.path_for_user(&self.lake.layout.snapshot(origin).join(&entry.path))
    }
}

/// Compares the tables in a snapshot's folder with the commit in its lake. Returns that commit, which names the files;
/// none for a folder without a lake.
pub fn check_snapshot_folder(folder: &Path) -> Result<Option<Commit>, LakeError> {
    let Ok(folder) = folder.canonicalize() else { return Ok(None) };
    let number = folder.file_name().and_then(|name| layout::parse_snapshot(name.to_str()?));
    let root = folder.parent().filter(|above| above.ends_with("snapshots")).and_then(Path::parent);
    let (Some(number), Some(root)) = (number, root) else { return Ok(None) };
    let path = Layout { root: root.to_path_buf() }.commit(number);
    let Some(bytes) = disk::read(&path)? else { return Ok(None) };
    let commit = Commit::decode(&bytes, &path)?;
    let files: Vec<&FileEntry> =
        Table::ALL.iter().flat_map(|table| commit.files(Some(table.name()))).collect();
    files.par_iter().try_for_each(|file| check_digest(&folder.join(&file.path), file))?;
    Ok(Some(commit))
}
