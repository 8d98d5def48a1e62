//! A lake at home in a folder: hard links, renames, and everything synced before it is spoken of.

use super::Home;
use super::disk;
use super::disk::{Storage, TEMPORARY};
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::{Layout, snapshot_name};
use crate::lake::format::manifest::{Commit, FileEntry};
use crate::lake::run::{COMMITS, JOURNAL};
use crate::lake::snapshot::commit::kept_copy;
use crate::lake::snapshot::pins::Mark;
use crate::lake::snapshot::staging::StagedFile;
use crate::lake::snapshot::verified_read::{Found, found_at};
use crate::lake::snapshot::write_lock::Repair;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder, and the disk it lies on.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) layout: Layout,
    pub(crate) storage: Storage,
}

impl Home for Folder {
    fn refresh(&self) -> Result<(), LakeError> {
        Ok(())
    }

    fn newest(&self) -> Result<Option<u64>, LakeError> {
        Ok(self.commits()?.last().copied())
    }

    fn commits(&self) -> Result<Vec<u64>, LakeError> {
        let numbers = layout::snapshot_numbers(&disk::names(&self.layout.commits())?);
        Ok(numbers.into_iter().collect())
    }

    fn read_commit(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError> {
        disk::read(&self.layout.commit(snapshot))
    }

    fn read_commit_anew(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError> {
        self.read_commit(snapshot)
    }

    fn kept(&self) -> Result<BTreeSet<u64>, LakeError> {
        let commits = self.commits()?.into_iter();
        Ok(commits.filter(|snapshot| self.layout.snapshot(*snapshot).is_dir()).collect())
    }

    fn lies_in(&self, _snapshot: u64, _entry: &FileEntry) -> Option<u64> {
        None
    }

    fn bring(&self, _commit: &Commit, _table: Option<&str>) -> Result<(), LakeError> {
        Ok(())
    }

    fn found_at_home(&self, commit: &Commit, entry: &FileEntry) -> Result<Found, LakeError> {
        found_at(&self.layout.snapshot(commit.snapshot).join(&entry.path), entry)
    }

    /// Builds the snapshot's folder under a temporary name and gives it its own.
    fn place(&self, snapshot: u64, run_id: &str, files: &[&StagedFile]) -> Result<(), LakeError> {
        if matches!(self.layout.commit(snapshot).try_exists(), Ok(true)) {
            return Err(LakeError::Conflict { snapshot });
        }
        let built = self.layout.snapshots().join(format!("{TEMPORARY}{}-{run_id}", snapshot_name(snapshot)));
        let placed = self.build(&built, files).and_then(|()| {
            self.storage.rename(&built, &self.layout.snapshot(snapshot))?;
            self.storage.sync_dir(&self.layout.snapshots())
        });
        placed.map_err(|error| {
            self.discard(&built);
            match error {
                LakeError::Storage { op: "rename", source, .. } if is_taken(&source) => {
                    LakeError::Conflict { snapshot }
                }
                other => other,
            }
        })
    }

    fn create_commit(&self, snapshot: u64, bytes: &[u8]) -> Result<bool, LakeError> {
        self.storage.put_if_absent(&self.layout.commit(snapshot), bytes)
    }

    /// A commit that may have landed keeps the files it names.
    fn withdraw(&self, snapshot: u64, _files: &[&StagedFile]) {
        if matches!(self.layout.commit(snapshot).try_exists(), Ok(false)) {
            self.discard(&self.layout.snapshot(snapshot));
        }
    }

    fn show(&self, commit: &Commit) -> Result<(), LakeError> {
        self.point_current(commit.snapshot)
    }

    fn misleads(&self, newest: u64) -> Result<Option<PathBuf>, LakeError> {
        Ok((!self.shows(newest)).then(|| self.layout.current()))
    }

    /// A snapshot's folder goes away under a temporary name first, so that none is ever half there.
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

    fn put_right(&self) -> Result<Repair, LakeError> {
        self.restore_shown_commit()?;
        let newest = self.newest()?;
        let mut repair = Repair { removed: self.clear_leftovers(newest, self)?, shown: None };
        if let Some(newest) =
            newest.filter(|newest| !self.shows(*newest) && self.layout.snapshot(*newest).is_dir())
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
        let path = self.layout.root.join(name);
        if let Some(folder) = path.parent() {
            self.storage.create_durable_dir_all(folder)?;
        }
        self.storage.replace(&path, bytes)
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, LakeError> {
        let path = self.layout.root.join(name);
        if let Some(folder) = path.parent() {
            self.storage.create_durable_dir_all(folder)?;
        }
        self.storage.put_if_absent(&path, bytes)
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

    fn keep(&self, _file: &Path, _name: &str) -> Result<(), LakeError> {
        Ok(())
    }

    fn bring_runs(&self, _most: usize) -> Result<(), LakeError> {
        Ok(())
    }

    fn bring_pages(&self, _run_id: &str) -> Result<Option<BTreeSet<String>>, LakeError> {
        Ok(None)
    }

    fn probe(&self, name: &str) -> Result<(), LakeError> {
        let path = self.layout.root.join(name);
        if let Some(folder) = path.parent() {
            self.storage.create_dir_all(folder)?;
        }
        let tried = self.try_out(&path, name.as_bytes());
        let cleared = self.storage.remove_file(&path);
        tried.and(cleared)
    }

    fn shown(&self) -> String {
        self.layout.root.display().to_string()
    }
}

impl Folder {
    fn build(&self, root: &Path, files: &[&StagedFile]) -> Result<(), LakeError> {
        self.storage.remove_dir_all(root)?;
        self.storage.create_dir_all(root)?;
        let mut folders = BTreeSet::from([root.to_path_buf()]);
        for file in files {
            let target = root.join(&file.entry.path);
            let above: Vec<PathBuf> = target
                .ancestors()
                .skip(1)
                .take_while(|above| *above != root)
                .map(Path::to_path_buf)
                .collect();
            if let Some(folder) = above.first().filter(|folder| !folders.contains(*folder)) {
                self.storage.create_dir_all(folder)?;
            }
            folders.extend(above);
            self.storage.link(&file.path, &target)?;
        }
        // Deepest first, so that a folder is durable before the one that names it.
        folders.iter().rev().try_for_each(|folder| self.storage.sync_dir(folder))
    }

    /// Whether `current` leads to a snapshot.
    fn shows(&self, snapshot: u64) -> bool {
        fs::read_link(self.layout.current()).is_ok_and(|shown| shown == Layout::current_target(snapshot))
    }

    /// The snapshot whose folder `current` leads to.
    fn led_to(&self) -> Result<Option<u64>, LakeError> {
        let current = self.layout.current();
        let target = match fs::read_link(&current) {
            Err(error) if is_no_link(&error) => return Ok(None),
            other => other.map_err(LakeError::storage("read", &current))?,
        };
        let Some(shown) = Layout::shown_by(&target) else { return Ok(None) };
        let dir = self.layout.snapshot(shown);
        let is_there = dir.try_exists().map_err(LakeError::storage("look at", &dir))?;
        Ok(is_there.then_some(shown))
    }

    /// A snapshot that `current` leads to was committed. Where its commit is gone and it would be the newest, whatever
    /// numbers held snapshots took before it, the commit is written again from the copy that its run keeps: no snapshot
    /// that `current` leads to is a leftover.
    fn restore_shown_commit(&self) -> Result<(), LakeError> {
        let newest = self.newest()?;
        let Some(shown) = self.led_to()?.filter(|shown| Some(*shown) > newest) else { return Ok(()) };
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

    /// Points `current` at a committed snapshot.
    fn point_current(&self, snapshot: u64) -> Result<(), LakeError> {
        self.storage.point(&self.layout.current(), &Layout::current_target(snapshot))
    }

    /// Removes what no commit speaks of; gives what it was. `home` has the held commits and the marks: of the working
    /// copy of a store, the store.
    pub(crate) fn clear_leftovers(
        &self,
        newest: Option<u64>,
        home: &dyn Home,
    ) -> Result<Vec<PathBuf>, LakeError> {
        let mut removed = Vec::new();
        for path in self.leftovers(newest, home)? {
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                self.storage.remove_dir_all(&path)?;
            } else {
                self.storage.remove_file(&path)?;
            }
            removed.push(path);
        }
        Ok(removed)
    }

    /// What a killed run can leave: temporary names, a snapshot without its commit, staged files.
    ///
    /// Only a number after the newest commit, up to the next one to be given, or one that is marked as pruned can be such
    /// a snapshot; others without a commit were not left by a run, so they are not touched. What is held has its commit
    /// elsewhere.
    fn leftovers(&self, newest: Option<u64>, home: &dyn Home) -> Result<Vec<PathBuf>, LakeError> {
        let layout = &self.layout;
        let held = layout::snapshot_numbers(&home.names("held")?);
        let pruned = layout::snapshot_numbers(&home.names(Mark::Pruned.folder())?);
        let committed: BTreeSet<u64> = self.commits()?.into_iter().collect();
        let first = newest.unwrap_or(0) + 1;
        let next = held.last().max(pruned.last()).map_or(first, |last| first.max(last + 1));
        let mut numbers: BTreeSet<u64> = (first..=next).collect();
        numbers.extend(pruned.difference(&committed));
        let mut found: Vec<PathBuf> =
            numbers.difference(&held).map(|number| layout.snapshot(*number)).collect();
        let mut folders = vec![layout.root.clone(), layout.commits(), layout.snapshots(), layout.state()];
        folders.extend([layout.catalog(), layout.held()]);
        folders.extend(Mark::ALL.map(|mark| layout.root.join(mark.folder())));
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

    /// Deletes what no one needs; what cannot be deleted now is cleared by the next lock.
    fn discard(&self, dir: &Path) {
        if let Err(error) = self.storage.remove_dir_all(dir) {
            tracing::debug!(path = %dir.display(), %error, "a leftover stays until the next repair");
        }
    }

    fn try_out(&self, path: &Path, bytes: &[u8]) -> Result<(), LakeError> {
        if !self.storage.put_if_absent(path, bytes)? {
            return Err(LakeError::damaged(path, "a file made for a trial was there before"));
        }
        if disk::read(path)?.as_deref() != Some(bytes) {
            return Err(LakeError::damaged(path, "what was written is not what is read"));
        }
        if self.storage.put_if_absent(path, b"again")? {
            return Err(LakeError::damaged(
                path,
                "it was created a second time; two runs would overwrite each other",
            ));
        }
        Ok(())
    }
}

/// Whether nothing is there, or no symbolic link.
fn is_no_link(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput)
}

fn is_taken(source: &io::Error) -> bool {
    matches!(source.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty)
}
