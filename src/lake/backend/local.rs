//! The backend that is a folder: hard links, renames, and a sync before anything names a file.

use super::disk::{self, FileState, Storage, TEMPORARY};
use super::protocol::{Backend, Repair, kept_copy};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{CATALOG, COMMITS, JOURNAL, Layout, Mark, folder_of, snapshot_name};
use crate::lake::format::manifest::{Commit, Digest, FileEntry, StagedFile};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A folder, and the disk it is on.
#[derive(Debug, Clone)]
pub(crate) struct LocalBackend {
    pub(crate) layout: Layout,
    pub(crate) storage: Storage,
}

impl Backend for LocalBackend {
    fn file_state(&self, commit: &Commit, entry: &FileEntry) -> Result<FileState, LakeError> {
        disk::file_state(&self.layout.snapshot(commit.snapshot).join(&entry.path), entry)
    }

    /// Builds the snapshot's folder under a temporary name, then renames it.
    fn stage_files(&self, snapshot: u64, run_id: &str, files: &[&StagedFile]) -> Result<(), LakeError> {
        if matches!(self.layout.commit(snapshot).try_exists(), Ok(true)) {
            return Err(LakeError::Conflict { snapshot });
        }
        let built = self.layout.snapshots().join(format!("{TEMPORARY}{}-{run_id}", snapshot_name(snapshot)));
        let staged = self.build(&built, files).and_then(|()| {
            self.storage.rename(&built, &self.layout.snapshot(snapshot))?;
            self.storage.sync_dir(&self.layout.snapshots())
        });
        staged.map_err(|error| {
            self.storage.discard(&built);
            match error {
                LakeError::Storage { op: "rename", source, .. }
                    if matches!(source.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) =>
                {
                    LakeError::Conflict { snapshot }
                }
                other => other,
            }
        })
    }

    /// Keeps the files when the commit may exist.
    fn abort(&self, snapshot: u64, _files: &[&StagedFile]) {
        if matches!(self.layout.commit(snapshot).try_exists(), Ok(false)) {
            self.storage.discard(&self.layout.snapshot(snapshot));
        }
    }

    fn advance_pointer(&self, commit: &Commit) -> Result<(), LakeError> {
        self.point_current(commit.snapshot)
    }

    fn pointer(&self) -> PathBuf {
        self.layout.current()
    }

    fn is_pointer_stale(&self, newest: u64) -> Result<bool, LakeError> {
        Ok(!self.points_to(newest))
    }

    fn pointed_to(&self) -> Result<Option<u64>, LakeError> {
        let current = self.layout.current();
        match fs::read_link(&current) {
            // Nothing is there, or no symbolic link.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => Ok(None),
            other => Ok(Layout::shown_by(&other.map_err(LakeError::storage("read", &current))?)),
        }
    }

    fn digest(&self, name: &str) -> Result<Option<Digest>, LakeError> {
        let path = self.layout.root.join(name);
        path.is_file().then(|| disk::digest(&path)).transpose()
    }

    /// Renames a snapshot's folder to a temporary name first, so that no folder is ever partly deleted.
    fn drop_snapshots(&self, snapshots: &BTreeSet<u64>) -> Result<(), LakeError> {
        for snapshot in snapshots.iter().copied() {
            let dir = self.layout.snapshot(snapshot);
            if dir.is_dir() {
                let doomed = self.layout.snapshots().join(format!("{TEMPORARY}{}", snapshot_name(snapshot)));
                self.storage.remove_dir_all(&doomed)?;
                self.storage.rename(&dir, &doomed)?;
                self.storage.sync_dir(&self.layout.snapshots())?;
                self.storage.remove_dir_all(&doomed)?;
            }
        }
        Ok(())
    }

    fn recover(&self) -> Result<Repair, LakeError> {
        self.restore_shown_commit()?;
        let newest = self.newest()?;
        let mut repair = Repair { removed: self.clear_leftovers(newest, self)?, shown: None };
        if let Some(newest) =
            newest.filter(|newest| !self.points_to(*newest) && self.layout.snapshot(*newest).is_dir())
        {
            self.point_current(newest)?;
            repair.shown = Some(newest);
        }
        Ok(repair)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, LakeError> {
        disk::read(&self.layout.root.join(name))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), LakeError> {
        self.storage.replace(&self.path_in_folder(name)?, bytes)
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, LakeError> {
        self.storage.put_if_absent(&self.path_in_folder(name)?, bytes)
    }

    fn remove(&self, name: &str) -> Result<(), LakeError> {
        let path = self.layout.root.join(name);
        self.storage.remove_file(&path)?;
        path.parent().filter(|folder| folder.is_dir()).map_or(Ok(()), |folder| self.storage.sync_dir(folder))
    }

    fn remove_folder(&self, name: &str) -> Result<(), LakeError> {
        self.storage.remove_dir_all(&self.layout.root.join(name))
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, LakeError> {
        disk::names(&self.layout.root.join(folder))
    }
}

impl LocalBackend {
    /// The path of a small file, in a folder that exists.
    fn path_in_folder(&self, name: &str) -> Result<PathBuf, LakeError> {
        let path = self.layout.root.join(name);
        self.storage.create_durable_dir_all(folder_of(&path))?;
        Ok(path)
    }

    fn build(&self, root: &Path, files: &[&StagedFile]) -> Result<(), LakeError> {
        let new = files.iter().filter(|file| file.is_new).map(|file| file.path.as_path());
        self.storage.sync_files(&new.collect::<Vec<_>>())?;
        self.storage.remove_dir_all(root)?;
        self.storage.create_dir_all(root)?;
        let mut folders = BTreeSet::from([root.to_path_buf()]);
        for file in files {
            let target = root.join(&file.entry.path);
            self.storage.create_dir_all(folder_of(&target))?;
            let above = target.ancestors().skip(1).take_while(|above| *above != root);
            folders.extend(above.map(Path::to_path_buf));
            self.storage.link(&file.path, &target)?;
        }
        self.storage.sync_dirs(&folders)
    }

    fn points_to(&self, snapshot: u64) -> bool {
        fs::read_link(self.layout.current()).is_ok_and(|target| target == Layout::current_target(snapshot))
    }

    /// Writes the commit of the snapshot that `current` points to again, from the copy in its run's folder, if that
    /// commit is lost and would be the newest. `current` only ever points to committed snapshots, so such a folder is no
    /// leftover.
    fn restore_shown_commit(&self) -> Result<(), LakeError> {
        let (newest, pending) = (self.newest()?, self.numbers("held")?);
        let Some(shown) = self.pointed_to()? else { return Ok(()) };
        let dir = self.layout.snapshot(shown);
        let is_there = dir.try_exists().map_err(LakeError::storage("look at", &dir))?;
        if !is_there || Some(shown) <= newest || pending.contains(&shown) {
            return Ok(());
        }
        let lost = self.layout.commit(shown);
        let Some(bytes) = kept_copy(self, &self.layout, shown)? else {
            return Err(LakeError::damaged(
                &lost,
                "it is missing, though `current` leads to its snapshot, and no run has a copy",
            ));
        };
        self.storage.put_if_absent(&lost, &bytes)?;
        tracing::warn!(path = %lost.display(), "the commit was missing; written again from its run's copy");
        Ok(())
    }

    fn point_current(&self, snapshot: u64) -> Result<(), LakeError> {
        self.clear_copied_link()?;
        self.storage.point(&self.layout.current(), &Layout::current_target(snapshot))
    }

    /// Deletes the leftovers of killed runs and returns their paths. `backend` has the pending commits and the marks: the
    /// object store, if this is its working copy.
    pub(crate) fn clear_leftovers(
        &self,
        newest: Option<u64>,
        backend: &dyn Backend,
    ) -> Result<Vec<PathBuf>, LakeError> {
        let mut removed = Vec::new();
        for path in self.leftovers(newest, backend)? {
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                self.storage.remove_dir_all(&path)?;
            } else {
                self.storage.remove_file(&path)?;
            }
            removed.push(path);
        }
        Ok(removed)
    }

    /// Leftovers of killed runs: temporary names, snapshot folders without a commit, staged files.
    ///
    /// A snapshot folder counts only if its number can be a killed run's: from the newest commit up to the next number to
    /// be given, or marked as pruned. No run made other folders without a commit, so they stay. A pending snapshot has its
    /// commit in `held/`.
    fn leftovers(&self, newest: Option<u64>, backend: &dyn Backend) -> Result<Vec<PathBuf>, LakeError> {
        let layout = &self.layout;
        let (pending, pruned) = (backend.numbers("held")?, backend.numbers(Mark::Pruned.folder())?);
        let first = newest.unwrap_or(0) + 1;
        let next = pending.last().max(pruned.last()).map_or(first, |last| first.max(last + 1));
        let mut numbers: BTreeSet<u64> = (first..=next).collect();
        numbers.extend(pruned.difference(&self.commits()?));
        let mut found: Vec<PathBuf> =
            numbers.difference(&pending).map(|number| layout.snapshot(*number)).collect();
        let small = ["commits", "snapshots", "state", CATALOG, "held"].map(str::to_owned).into_iter();
        let small = small.chain(Mark::ALL.into_iter().flat_map(Mark::folders));
        let small = small.map(|name| layout.root.join(name));
        let mut folders: Vec<PathBuf> = small.chain([layout.root.clone()]).collect();
        for run in disk::names(&layout.runs())? {
            let dir = layout.run(&run);
            found.push(dir.join("staged"));
            folders.extend([dir.join(JOURNAL), dir.join(COMMITS), dir]);
        }
        for folder in folders {
            let names = disk::names(&folder).unwrap_or_default();
            let temporary = names.iter().filter(|name| name.starts_with(TEMPORARY));
            found.extend(temporary.map(|name| folder.join(name)));
        }
        found.retain(|path| fs::symlink_metadata(path).is_ok());
        Ok(found)
    }
}
