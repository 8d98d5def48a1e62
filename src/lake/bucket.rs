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
//! - `commits/N.pruned` says that the files of a snapshot are gone.
//! - Files that no commit names, as a killed run leaves them, go with the next pruning, and only up to the newest
//!   commit: whoever still uploads for such a number has lost already, and whoever uploads for the next is not disturbed.

use super::error::LakeError;
use super::folder::Folder;
use super::home::Home;
use super::lock::Repair;
use super::manifest::{Commit, FileEntry};
use super::objects::{Document, Objects, Wanted};
use super::path::{self, snapshot_name};
use super::raw::chunk_name;
use super::run::RunRecord;
use super::staging::StagedFile;
use super::storage::{self, TEMPORARY};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What readers ask first.
const LATEST: &str = "latest.json";
/// How often `latest.json` is read and replaced, should others do the same at that moment.
const SHOWING_TRIES: u32 = 10;
/// Of how many runs, newest first, the records are brought.
const RUNS: usize = 20;

/// The store, the working copy, and what is known of them.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) folder: Folder,
    pub(super) objects: Objects,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    newest: Option<u64>,
    /// The snapshot that `latest.json` leads to.
    shown: Option<u64>,
    /// Files of the working copy that were found to be as their commit says.
    sound: BTreeSet<PathBuf>,
}

/// `latest.json`: the newest snapshot, and where each table's files lie.
#[derive(Debug, Serialize, Deserialize)]
struct Latest {
    snapshot: u64,
    commit: String,
    tables: BTreeMap<String, Vec<String>>,
}

impl Bucket {
    pub(super) fn new(folder: Folder, objects: Objects) -> Self {
        Self { folder, objects, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // What is known is put in whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Home for Bucket {
    fn refresh(&self) -> Result<(), LakeError> {
        let shown = self.objects.read(LATEST)?.and_then(|latest| snapshot_of(&latest));
        let after = shown.map(commit_name);
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
        Ok(self.list_commits()?.0.into_iter().collect())
    }

    fn read_commit(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError> {
        if let Some(bytes) = self.folder.read_commit(snapshot)? {
            return Ok(Some(bytes));
        }
        let Some(commit) = self.objects.read(&commit_name(snapshot))? else { return Ok(None) };
        self.folder.write(&commit_name(snapshot), &commit.bytes)?;
        Ok(Some(commit.bytes))
    }

    fn kept(&self) -> Result<BTreeSet<u64>, LakeError> {
        let (commits, pruned) = self.list_commits()?;
        Ok(commits.difference(&pruned).copied().collect())
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

    fn bring_anew(&self, commit: &Commit, entry: &FileEntry) -> Result<(), LakeError> {
        let (target, storage) = (self.target(commit, entry), &self.folder.storage);
        self.known().sound.remove(&target);
        storage.remove_file(&target)?;
        let waiting = self.folder.layout.root.join(format!("{TEMPORARY}{}-looked-at", std::process::id()));
        let wanted = Wanted { name: named_in(commit, entry), to: waiting.clone() };
        if let [None] = self.objects.download(storage, vec![wanted])?[..] {
            return Ok(());
        }
        self.make_folder_of(&target)?;
        storage.rename(&waiting, &target)
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
        let name = commit_name(snapshot);
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
        let Ok(Some(bytes)) = self.objects.read(&commit_name(snapshot)) else { return };
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

    /// The mark comes first: from then on nobody counts on the files.
    fn drop_snapshots(&self, snapshots: &BTreeSet<u64>) -> Result<Vec<u64>, LakeError> {
        let doomed: Vec<u64> = self.kept()?.intersection(snapshots).copied().collect();
        for snapshot in &doomed {
            self.objects.write(&format!("commits/{}.pruned", snapshot_name(*snapshot)), b"{}\n")?;
        }
        let needless = self.unnamed()?;
        self.objects.delete(&needless)?;
        self.folder.drop_snapshots(snapshots)?;
        Ok(doomed)
    }

    fn put_right(&self) -> Result<Repair, LakeError> {
        let (newest, shown) = {
            let known = self.known();
            (known.newest, known.shown)
        };
        let mut repair = Repair { removed: self.folder.clear_leftovers(newest)?, shown: None };
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

    fn bring_runs(&self) -> Result<(), LakeError> {
        let ids = self.objects.folders("runs")?;
        for id in ids.iter().rev().take(RUNS).filter(|id| path::check_run_id(id).is_ok()) {
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
        for name in storage::names(&dir)?.iter().filter(|name| name.ends_with(".zst")) {
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
    /// Holds the working copy against the newest commit. A working copy of another lake, one that lay at this address
    /// before, is cleared: its commits and files would be taken for this one's.
    fn meet(&self, newest: Option<u64>) -> Result<(), LakeError> {
        let Some(copied) = self.folder.newest()? else { return Ok(()) };
        let same = match newest {
            Some(newest) if self.known().newest == Some(copied) && copied <= newest => true,
            Some(newest) if copied <= newest => {
                let there = self.objects.read(&commit_name(copied))?.map(|commit| commit.bytes);
                there.is_some() && there == self.folder.read_commit(copied)?
            }
            _ => false,
        };
        if !same {
            tracing::warn!(lake = self.shown(), "the working copy is of another lake; it is made anew");
            self.known().sound.clear();
            for folder in [self.folder.layout.commits(), self.folder.layout.snapshots()] {
                self.folder.storage.remove_dir_all(&folder)?;
                self.folder.storage.create_durable_dir_all(&folder)?;
            }
        }
        Ok(())
    }

    /// Numbers of all commits, and of those whose files are gone.
    fn list_commits(&self) -> Result<(BTreeSet<u64>, BTreeSet<u64>), LakeError> {
        let names = self.objects.list("commits", None)?;
        let pruned = names.iter().filter_map(|name| numbered(name, ".pruned"));
        Ok((names.iter().filter_map(|name| committed(name)).collect(), pruned.collect()))
    }

    fn target(&self, commit: &Commit, entry: &FileEntry) -> PathBuf {
        self.folder.layout.snapshot(commit.snapshot).join(&entry.path)
    }

    /// Whether a file of the working copy is there and as its commit says.
    fn is_sound(&self, path: &Path, entry: &FileEntry) -> Result<bool, LakeError> {
        if !path.is_file() {
            return Ok(false);
        }
        if self.known().sound.contains(path) {
            return Ok(true);
        }
        let sound = storage::digest(path)? == (entry.bytes, entry.blake3.clone());
        if sound {
            self.known().sound.insert(path.to_path_buf());
        }
        Ok(sound)
    }

    /// Links the file from another snapshot of the working copy, where it lies under the same name.
    fn link_from_another(
        &self,
        commit: &Commit,
        entry: &FileEntry,
        target: &Path,
    ) -> Result<bool, LakeError> {
        for name in storage::names(&self.folder.layout.snapshots())?.iter().rev() {
            let Some(snapshot) = path::parse_snapshot(name).filter(|number| *number != commit.snapshot)
            else {
                continue;
            };
            let source = self.folder.layout.snapshot(snapshot).join(&entry.path);
            if self.is_sound(&source, entry)? {
                self.make_folder_of(target)?;
                self.folder.storage.remove_file(target)?;
                self.folder.storage.link(&source, target)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Fetches files of a snapshot, checks them, and puts them in their place.
    fn fetch(&self, commit: &Commit, entries: &[&FileEntry]) -> Result<(), LakeError> {
        if entries.is_empty() {
            return Ok(());
        }
        let storage = &self.folder.storage;
        let waiting = self.folder.layout.root.join(format!("{TEMPORARY}fetched-{}", std::process::id()));
        storage.create_dir_all(&waiting)?;
        let named = |at: usize, entry: &&FileEntry| Wanted {
            name: object_name(entry.lies_in.unwrap_or(commit.snapshot), entry),
            to: waiting.join(at.to_string()),
        };
        let wanted: Vec<Wanted> = entries.iter().enumerate().map(|(at, entry)| named(at, entry)).collect();
        let brought = self.objects.download(storage, wanted.clone())?;
        for ((entry, wanted), brought) in entries.iter().zip(wanted).zip(brought) {
            let url = PathBuf::from(self.objects.url(&wanted.name));
            match brought {
                Some(found) if found == (entry.bytes, entry.blake3.clone()) => {
                    let target = self.target(commit, entry);
                    self.make_folder_of(&target)?;
                    storage.rename(&wanted.to, &target)?;
                    self.known().sound.insert(target);
                }
                Some(_) => {
                    return Err(LakeError::damaged(&url, "its bytes are not those that were committed"));
                }
                None => return Err(LakeError::damaged(&url, "the file is missing")),
            }
        }
        storage.remove_dir_all(&waiting)
    }

    fn make_folder_of(&self, path: &Path) -> Result<(), LakeError> {
        path.parent().map_or(Ok(()), |folder| self.folder.storage.create_dir_all(folder))
    }

    /// Moves `latest.json` to a snapshot, forward only. Who finds a later one there leaves it.
    fn show_latest(&self, commit: &Commit) -> Result<(), LakeError> {
        let latest = Latest {
            snapshot: commit.snapshot,
            commit: commit_name(commit.snapshot),
            tables: commit
                .tables
                .iter()
                .map(|(table, manifest)| {
                    let names = manifest.files.iter().map(|entry| named_in(commit, entry));
                    (table.clone(), names.collect())
                })
                .collect(),
        };
        let failed = |error: serde_json::Error| LakeError::damaged(Path::new(LATEST), error.to_string());
        let mut bytes = serde_json::to_vec_pretty(&latest).map_err(failed)?;
        bytes.push(b'\n');
        for _ in 0..SHOWING_TRIES {
            let moved = match self.objects.read(LATEST)? {
                None => self.objects.create(LATEST, &bytes)?,
                Some(old) if snapshot_of(&old).is_some_and(|shown| shown >= commit.snapshot) => true,
                Some(old) => self.objects.replace(LATEST, &bytes, &old)?,
            };
            if moved {
                self.known().shown = Some(commit.snapshot);
                return Ok(());
            }
        }
        let what = "others replace it again and again".to_owned();
        Err(LakeError::Remote { op: "write", url: self.objects.url(LATEST), what })
    }

    /// Objects of snapshots up to the newest that no kept snapshot names.
    fn unnamed(&self) -> Result<Vec<String>, LakeError> {
        let newest = self.known().newest.unwrap_or(0);
        let mut named = BTreeSet::new();
        for snapshot in self.kept()? {
            let Some(bytes) = self.read_commit(snapshot)? else { continue };
            named.extend(names(&Commit::decode(&bytes, &self.folder.layout.commit(snapshot))?));
        }
        for name in self.names("held")? {
            let Some(held) = self.objects.read(&format!("held/{name}"))? else { continue };
            named.extend(names(&Commit::decode(&held.bytes, Path::new(&self.objects.url("held")))?));
        }
        let is_old = |name: &String| {
            let number = name.split('/').nth(1).and_then(path::parse_snapshot);
            number.is_some_and(|number| number <= newest)
        };
        let all = self.objects.list("snapshots", None)?;
        Ok(all.into_iter().filter(|name| is_old(name) && !named.contains(name)).collect())
    }

    /// Snapshots of the working copy other than the two newest: what is unchanged of them is linked in those.
    fn forget_old_copies(&self, newest: Option<u64>) -> Result<(), LakeError> {
        let copies = storage::names(&self.folder.layout.snapshots())?;
        let old = copies.iter().filter_map(|name| path::parse_snapshot(name));
        let old = old.filter(|number| number + 1 < newest.unwrap_or(0)).collect();
        self.folder.drop_snapshots(&old).map(|_| ())
    }

    /// A record that is new here, or that tells of an end which is not known here.
    fn bring_record(&self, run_id: &str) -> Result<(), LakeError> {
        let name = format!("runs/{run_id}/run.json");
        let parsed = |bytes: &[u8]| serde_json::from_slice::<RunRecord>(bytes).ok();
        let here = self.folder.read(&name)?;
        if here.as_deref().and_then(parsed).is_some_and(|record| record.finished.is_some()) {
            return Ok(());
        }
        let Some(there) = self.objects.read(&name)? else { return Ok(()) };
        let tells_more = parsed(&there.bytes).is_some_and(|record| record.finished.is_some());
        if here.is_none() || tells_more { self.folder.write(&name, &there.bytes) } else { Ok(()) }
    }

    /// A chunk that does not have the digest in its name does not come: its pages are asked for again.
    fn bring_chunk(&self, name: &str, to: &Path) -> Result<(), LakeError> {
        let file = to.file_name().unwrap_or_default().to_string_lossy();
        let waiting = to.with_file_name(format!("{TEMPORARY}{file}"));
        let wanted = Wanted { name: name.to_owned(), to: waiting.clone() };
        let brought = self.objects.download(&self.folder.storage, vec![wanted])?;
        let as_named = brought.into_iter().flatten().next().is_some_and(|(_, blake3)| {
            file.split(['-', '.']).nth(1).is_some_and(|digest| blake3.starts_with(digest))
        });
        if as_named {
            return self.folder.storage.rename(&waiting, to);
        }
        tracing::warn!(
            url = self.objects.url(name),
            "archived pages are damaged, and will be asked for again"
        );
        self.folder.storage.remove_file(&waiting)
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

fn snapshot_of(latest: &Document) -> Option<u64> {
    serde_json::from_slice::<Latest>(&latest.bytes).ok().map(|latest| latest.snapshot)
}

fn commit_name(snapshot: u64) -> String {
    format!("commits/{}.json", snapshot_name(snapshot))
}

/// The number of a commit in an object's name.
fn committed(name: &str) -> Option<u64> {
    numbered(name, ".json")
}

fn numbered(name: &str, end: &str) -> Option<u64> {
    path::parse_snapshot(name.strip_prefix("commits/")?.strip_suffix(end)?)
}

fn object_name(lies_in: u64, entry: &FileEntry) -> String {
    format!("snapshots/{}/{}", snapshot_name(lies_in), entry.path)
}

/// Where a file of a commit lies.
fn named_in(commit: &Commit, entry: &FileEntry) -> String {
    object_name(entry.lies_in.unwrap_or(commit.snapshot), entry)
}

/// Where all files of a commit lie.
pub(super) fn names(commit: &Commit) -> BTreeSet<String> {
    files(commit, None).map(|entry| named_in(commit, entry)).collect()
}

/// Files of a commit, of all tables or of one.
fn files<'a>(commit: &'a Commit, table: Option<&'a str>) -> impl Iterator<Item = &'a FileEntry> {
    let tables = commit.tables.iter().filter(move |(name, _)| table.is_none_or(|table| table == *name));
    tables.flat_map(|(_, manifest)| &manifest.files)
}

/// `000001-<16 hex>.zst`.
fn is_chunk(name: &str) -> bool {
    let parts = name.strip_suffix(".zst").and_then(|stem| stem.split_once('-'));
    parts.is_some_and(|(number, digest)| {
        number.len() >= 6
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && digest.len() == 16
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
