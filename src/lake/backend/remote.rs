//! A lake at home in an object store, with a folder of this machine as its working copy.
//!
//! The store holds `commits/`, `snapshots/`, `catalog/`, `runs/` and `latest.json` under the names that they have in a
//! folder. The working copy has the same shape: what a run writes begins there, and what is read is brought there and
//! checked against its commit. It may be deleted whenever no run is under way: only the last pages of an unfinished
//! run are lost with it.
//!
//! - A store knows no links, so a commit names an unchanged file in the folder of the snapshot that it came with.
//! - `commits/N.json` is created if absent, and is the truth. `latest.json` is what readers ask first. A kill between
//!   the two leaves it behind, so whoever opens the lake looks for later commits too.
//! - A snapshot that is marked as pruned is history: nobody counts on its files.
//! - Files that no commit names, as a killed run leaves them, go with the next pruning, and only up to the newest
//!   commit: whoever still uploads for such a number has lost already, and whoever uploads for the next is not disturbed.

use super::Home;
use super::disk;
use super::disk::TEMPORARY;
use super::latest::{LATEST, snapshot_of};
use super::local::Folder;
use super::object_client::Objects;
use super::remote_cache::is_chunk;
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::{Layout, snapshot_name};
use crate::lake::format::manifest::{Commit, FileEntry};
use crate::lake::format::sealed_json::{Seal, look};
use crate::lake::run::page_archive::chunk_name;
use crate::lake::snapshot::pins::Mark;
use crate::lake::snapshot::staging::StagedFile;
use crate::lake::snapshot::verified_read::Found;
use crate::lake::snapshot::write_lock::Repair;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The store, the working copy, and what is known of them.
#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) folder: Folder,
    pub(crate) objects: Objects,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) newest: Option<u64>,
    /// The snapshot that `latest.json` leads to.
    pub(super) shown: Option<u64>,
    /// Files of the working copy that were found to be as their commit says.
    pub(super) sound: BTreeSet<PathBuf>,
}

impl Bucket {
    pub(crate) fn new(folder: Folder, objects: Objects) -> Self {
        Self { folder, objects, known: Mutex::default() }
    }

    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        // What is known is put in whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Home for Bucket {
    fn refresh(&self) -> Result<(), LakeError> {
        let shown = self.objects.read(LATEST)?.and_then(|latest| snapshot_of(&latest));
        let after = shown.map(Layout::commit_name);
        let later = self.objects.list("commits", after.as_deref())?;
        let newest = later.iter().filter_map(|name| committed(name)).max().max(shown);
        self.meet(newest)?;
        let mut known = self.known();
        known.newest = newest;
        known.shown = shown;
        Ok(())
    }

    fn newest(&self) -> Result<Option<u64>, LakeError> {
        Ok(self.known().newest)
    }

    fn commits(&self) -> Result<Vec<u64>, LakeError> {
        Ok(self.list_commits()?.into_iter().collect())
    }

    fn read_commit(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError> {
        if let Some(bytes) = self.folder.read_commit(snapshot)?.filter(|bytes| look(bytes) == Seal::Whole) {
            return Ok(Some(bytes));
        }
        let bytes = self.read_commit_anew(snapshot)?;
        if let Some(whole) = bytes.as_deref().filter(|bytes| look(bytes) == Seal::Whole) {
            self.folder.write(&Layout::commit_name(snapshot), whole)?;
        }
        Ok(bytes)
    }

    fn read_commit_anew(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError> {
        self.read(&Layout::commit_name(snapshot))
    }

    fn kept(&self) -> Result<BTreeSet<u64>, LakeError> {
        let pruned = layout::snapshot_numbers(&self.names(Mark::Pruned.folder())?);
        Ok(self.list_commits()?.difference(&pruned).copied().collect())
    }

    fn lies_in(&self, snapshot: u64, entry: &FileEntry) -> Option<u64> {
        Some(entry.lies_in.unwrap_or(snapshot))
    }

    fn bring(&self, commit: &Commit, table: Option<&str>) -> Result<(), LakeError> {
        let mut missing = Vec::new();
        for entry in files(commit, table) {
            let target = self.target(commit, entry);
            if !self.is_sound(&target, entry)? && !self.link_from_another(commit, entry, &target)? {
                missing.push(entry);
            }
        }
        self.fetch(commit, &missing)
    }

    fn found_at_home(&self, commit: &Commit, entry: &FileEntry) -> Result<Found, LakeError> {
        let (root, storage) = (&self.folder.layout.root, &self.folder.storage);
        storage.create_dir_all(root)?;
        let waiting = root.join(format!("{TEMPORARY}{}-looked-at", std::process::id()));
        let found = self.look_by_way_of(&waiting, commit, entry);
        storage.discard(&waiting);
        found
    }

    /// The working copy first: what fails here has not cost an upload.
    fn place(&self, snapshot: u64, run_id: &str, files: &[&StagedFile]) -> Result<(), LakeError> {
        self.folder.place(snapshot, run_id, files)?;
        let new = files.iter().filter(|file| file.is_new);
        let uploads: Vec<_> =
            new.map(|file| (file.path.clone(), object_name(snapshot, &file.entry))).collect();
        self.objects.upload(&uploads).inspect_err(|_| self.folder.withdraw(snapshot, files))
    }

    /// An answer that got lost, or a refusal after a try that got through, is no loss: the commit itself tells whose it is.
    fn create_commit(&self, snapshot: u64, bytes: &[u8]) -> Result<bool, LakeError> {
        let name = Layout::commit_name(snapshot);
        let created = self.objects.create(&name, bytes);
        if !matches!(created, Ok(true)) {
            match self.objects.read(&name) {
                Ok(Some(found)) if found.bytes == bytes => {}
                Ok(Some(_)) => return Ok(false),
                _ => return created,
            }
        }
        self.known().newest = Some(snapshot);
        if let Err(error) = self.folder.write(&name, bytes) {
            tracing::warn!(%error, "the working copy does not have the new commit; it is brought when it is needed");
        }
        Ok(true)
    }

    /// Only a commit of that number, not ours, says for sure that nobody will name our files, but those it names.
    fn withdraw(&self, snapshot: u64, files: &[&StagedFile]) {
        self.folder.withdraw(snapshot, files);
        let Ok(Some(bytes)) = self.objects.read(&Layout::commit_name(snapshot)) else { return };
        let Ok(winner) = Commit::decode(&bytes.bytes, &self.folder.layout.commit(snapshot)) else { return };
        let named = names(&winner);
        let ours = files.iter().filter(|file| file.is_new).map(|file| object_name(snapshot, &file.entry));
        let needless: Vec<String> = ours.filter(|name| !named.contains(name)).collect();
        if let Err(error) = self.objects.delete(&needless) {
            tracing::debug!(%error, "uploads that no commit names stay until the next pruning");
        }
    }

    fn show(&self, commit: &Commit) -> Result<(), LakeError> {
        self.show_latest(commit)?;
        self.folder.show(commit)
    }

    /// Another machine may have led them further meanwhile.
    fn misleads(&self, newest: u64) -> Result<Option<PathBuf>, LakeError> {
        let shown = self.objects.read(LATEST)?.and_then(|latest| snapshot_of(&latest));
        Ok((shown < Some(newest)).then(|| self.folder.layout.root.join(LATEST)))
    }

    fn drop_snapshots(&self, snapshots: &BTreeSet<u64>) -> Result<(), LakeError> {
        self.objects.delete(&self.unnamed()?)?;
        self.folder.drop_snapshots(snapshots)
    }

    fn put_right(&self) -> Result<Repair, LakeError> {
        let (newest, shown) = {
            let known = self.known();
            (known.newest, known.shown)
        };
        let mut repair = Repair { removed: self.folder.clear_leftovers(newest, self)?, shown: None };
        self.forget_old_copies(newest)?;
        if let Some(newest) = newest.filter(|newest| Some(*newest) != shown) {
            let Some(bytes) = self.read_commit(newest)? else {
                return Err(LakeError::NoSnapshot { snapshot: newest });
            };
            self.show_latest(&Commit::decode(&bytes, &self.folder.layout.commit(newest))?)?;
            repair.shown = Some(newest);
        }
        Ok(repair)
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, LakeError> {
        Ok(self.objects.read(name)?.map(|document| document.bytes))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), LakeError> {
        self.folder.write(name, bytes)?;
        self.objects.write(name, bytes)
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, LakeError> {
        self.objects.create(name, bytes)
    }

    fn remove(&self, name: &str) -> Result<(), LakeError> {
        self.objects.delete(&[name.to_owned()])
    }

    fn remove_folder(&self, name: &str) -> Result<(), LakeError> {
        self.objects.delete(&self.objects.list(name, None)?)
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, LakeError> {
        let inside = |name: &String| name.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
        Ok(self.objects.list(folder, None)?.iter().filter_map(inside).collect())
    }

    fn keep(&self, file: &Path, name: &str) -> Result<(), LakeError> {
        self.objects.upload(&[(file.to_path_buf(), name.to_owned())])
    }

    fn bring_runs(&self, most: usize) -> Result<(), LakeError> {
        let ids = self.objects.folders("runs")?;
        for id in ids.iter().rev().take(most).filter(|id| layout::check_run_id(id).is_ok()) {
            self.bring_record(id)?;
        }
        Ok(())
    }

    fn bring_pages(&self, run_id: &str) -> Result<Option<BTreeSet<String>>, LakeError> {
        let (folder, dir) = (format!("runs/{run_id}/raw"), self.folder.layout.run(run_id).join("raw"));
        self.folder.storage.create_durable_dir_all(&dir)?;
        let there: BTreeSet<String> = self
            .objects
            .list(&folder, None)?
            .iter()
            .filter_map(|name| name.rsplit_once('/'))
            .map(|(_, name)| name.to_owned())
            .filter(|name| is_chunk(name))
            .collect();
        let mut here = BTreeSet::new();
        for name in disk::names(&dir)?.iter().filter(|name| name.ends_with(".zst")) {
            here.insert(chunk_name(&dir.join(name))?);
        }
        for name in there.difference(&here) {
            self.bring_chunk(&format!("{folder}/{name}"), &dir.join(name))?;
        }
        Ok(Some(there))
    }

    fn probe(&self, name: &str) -> Result<(), LakeError> {
        let tried = self.try_out(name);
        let cleared = self.objects.delete(&[name.to_owned()]);
        tried.and(cleared)
    }

    fn shown(&self) -> String {
        self.objects.url("")
    }
}

impl Bucket {
    fn list_commits(&self) -> Result<BTreeSet<u64>, LakeError> {
        Ok(self.objects.list("commits", None)?.iter().filter_map(|name| committed(name)).collect())
    }

    /// Objects of snapshots up to the newest that no kept snapshot names.
    fn unnamed(&self) -> Result<Vec<String>, LakeError> {
        let newest = self.known().newest.unwrap_or(0);
        let mut named = BTreeSet::new();
        for snapshot in self.kept()? {
            let Some(bytes) = self.read_commit(snapshot)? else { continue };
            named.extend(names(&Commit::decode(&bytes, &self.folder.layout.commit(snapshot))?));
        }
        for snapshot in layout::snapshot_numbers(&self.names("held")?) {
            let name = Layout::held_name(snapshot);
            let Some(bytes) = self.read(&name)? else { continue };
            named.extend(names(&Commit::decode(&bytes, Path::new(&self.objects.url(&name)))?));
        }
        let is_old = |name: &String| {
            let number = name.split('/').nth(1).and_then(layout::parse_snapshot);
            number.is_some_and(|number| number <= newest)
        };
        let all = self.objects.list("snapshots", None)?;
        Ok(all.into_iter().filter(|name| is_old(name) && !named.contains(name)).collect())
    }

    fn try_out(&self, name: &str) -> Result<(), LakeError> {
        let wrong = |what: &str| LakeError::damaged(Path::new(&self.objects.url(name)), what);
        if !self.objects.create(name, name.as_bytes())? {
            return Err(wrong("an object made for a trial was there before"));
        }
        if self.objects.read(name)?.is_none_or(|found| found.bytes != name.as_bytes()) {
            return Err(wrong("what was written is not what is read"));
        }
        if self.objects.create(name, b"again")? {
            return Err(wrong("it was created a second time; two runs would overwrite each other"));
        }
        Ok(())
    }
}

/// The number of a commit in an object's name.
fn committed(name: &str) -> Option<u64> {
    layout::parse_snapshot(name.strip_prefix("commits/")?.strip_suffix(".json")?)
}

fn object_name(lies_in: u64, entry: &FileEntry) -> String {
    format!("snapshots/{}/{}", snapshot_name(lies_in), entry.path)
}

/// Where a file of a commit lies.
pub(super) fn named_in(commit: &Commit, entry: &FileEntry) -> String {
    object_name(entry.lies_in.unwrap_or(commit.snapshot), entry)
}

/// Where all files of a commit lie.
pub(crate) fn names(commit: &Commit) -> BTreeSet<String> {
    files(commit, None).map(|entry| named_in(commit, entry)).collect()
}

/// Files of a commit, of all tables or of one.
fn files<'a>(commit: &'a Commit, table: Option<&'a str>) -> impl Iterator<Item = &'a FileEntry> {
    let tables = commit.tables.iter().filter(move |(name, _)| table.is_none_or(|table| table == *name));
    tables.flat_map(|(_, manifest)| &manifest.files)
}
