//! The backend that is an object store, with a local folder as its working copy.
//!
//! The store has `commits/`, `snapshots/`, `catalog/`, `runs/` and `latest.json` under the same names as a folder. The
//! working copy has the same shape. A run writes there first; what is read is downloaded there and checked against its
//! commit. You can delete the working copy while no run is active: only the last pages of an unfinished run are lost.
//!
//! - Object stores have no hard links, so a commit points at the older snapshot's file.
//! - `commits/N.json` is created if absent, and is the truth. Readers ask `latest.json` first. A kill between the 2 steps
//!   leaves it stale, so opening the lake also looks for later commits.
//! - Nobody reads the files of a snapshot that is marked as pruned.
//! - Pruning also deletes orphan objects, which killed runs leave, but only up to the newest commit. A writer that still
//!   uploads for such a number has lost already. A writer of the next number is not disturbed.

use super::disk::{self, FileState};
use super::protocol::{Backend, Repair};
use super::remote_cache::{Known, RemoteBackend, chunk_name, chunk_of, is_chunk};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{self, Layout, Mark};
use crate::lake::format::manifest::{Commit, Digest, FileEntry, StagedFile, object_name};
use crate::lake::format::run_record::RunFile;
use crate::lake::format::sealed_json::{is_sealed, sealed, unseal};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

/// The pointer of an object store to its newest snapshot. It only moves forward, also with concurrent writers.
const LATEST: &str = "latest.json";
/// Attempts to replace `latest.json` while other writers do the same.
const ATTEMPTS: u32 = 10;

impl Backend for RemoteBackend {
    fn remote_url(&self) -> Option<String> {
        Some(self.objects.url(""))
    }

    fn place(&self) -> Option<String> {
        Some(self.objects.place.clone())
    }

    fn refresh(&self) -> Result<(), LakeError> {
        let pointed_to = self.pointed_to()?;
        let after = pointed_to.map(Layout::commit_name);
        let later = self.objects.list("commits", after.as_deref())?;
        let numbers = layout::snapshot_numbers(&inside("commits", &later));
        let newest = numbers.last().copied().max(pointed_to);
        let checked = self.known().newest;
        self.reset_foreign_cache(newest, checked)?;
        *self.known() = Known { newest, pointed_to };
        Ok(())
    }

    fn download_files(&self, commit: &Commit, table: Option<&str>) -> Result<(), LakeError> {
        let mut missing = Vec::new();
        for entry in commit.files(table) {
            let target = self.target(commit, entry);
            if !self.is_intact(&target, entry)? && !self.link_from_another(commit, entry, &target)? {
                missing.push(entry);
            }
        }
        self.download_missing(commit, &missing)
    }

    fn download_run_records(&self, most: usize) -> Result<(), LakeError> {
        let ids = self.objects.folders("runs")?;
        let mut ids = ids.iter().rev().take(most).filter(|id| layout::check_run_id(id).is_ok());
        ids.try_for_each(|id| self.download_run_record(id))
    }

    fn download_pages(&self, run_id: &str) -> Result<Option<BTreeSet<String>>, LakeError> {
        let (folder, dir) = (format!("runs/{run_id}/raw"), self.local.layout.run(run_id).join("raw"));
        self.local.storage.create_durable_dir_all(&dir)?;
        let stored: BTreeSet<String> =
            self.names(&folder)?.into_iter().filter(|name| is_chunk(name)).collect();
        let mut cached = BTreeSet::new();
        for name in disk::names(&dir)?.iter().filter(|name| name.ends_with(".zst")) {
            cached.insert(chunk_name(&dir.join(name))?);
        }
        self.download_chunks(&folder, &dir, stored.difference(&cached))?;
        Ok(Some(stored))
    }

    fn upload(&self, file: &Path, name: &str) -> Result<(), LakeError> {
        self.objects.upload(&[(file.to_path_buf(), name.to_owned())])
    }

    fn newest(&self) -> Result<Option<u64>, LakeError> {
        Ok(self.known().newest)
    }

    fn read_commit(&self, snapshot: u64) -> Result<Option<Vec<u8>>, LakeError> {
        let local = &self.local;
        if let Some(bytes) = local.read_commit(snapshot)?.filter(|bytes| is_sealed(bytes)) {
            return Ok(Some(bytes));
        }
        let name = Layout::commit_name(snapshot);
        let bytes = self.read(&name)?;
        if let Some(intact) = bytes.as_ref().filter(|bytes| is_sealed(bytes)) {
            local.write(&name, intact)?;
        }
        Ok(bytes)
    }

    fn file_state(&self, commit: &Commit, entry: &FileEntry) -> Result<FileState, LakeError> {
        self.look_at(commit.object_of(entry), |downloaded, digest| {
            let Some(digest) = digest else { return Ok(FileState::Missing) };
            let (found, target) = (FileState::of(entry, digest), self.target(commit, entry));
            if found == FileState::Intact {
                if disk::file_state(&target, entry).is_ok_and(|cached| cached == FileState::Intact) {
                    self.update_intact(|intact| intact.insert(target));
                } else {
                    self.move_to_place(downloaded, target)?;
                }
            }
            Ok(found)
        })
    }

    /// Stages in the working copy first: a failure there wastes no upload.
    fn stage_files(&self, snapshot: u64, run_id: &str, files: &[&StagedFile]) -> Result<(), LakeError> {
        let local = &self.local;
        local.stage_files(snapshot, run_id, files)?;
        let new = files.iter().filter(|file| file.is_new);
        let uploads: Vec<_> =
            new.map(|file| (file.path.clone(), object_name(snapshot, &file.entry))).collect();
        self.objects.upload(&uploads).inspect_err(|_| local.abort(snapshot, files))
    }

    /// After an error the stored commit shows whether ours was created.
    fn create_commit(&self, snapshot: u64, bytes: &[u8]) -> Result<bool, LakeError> {
        let name = Layout::commit_name(snapshot);
        let is_ours = match self.objects.create(&name, bytes) {
            Ok(is_ours) => is_ours,
            Err(error) => match self.read(&name) {
                Ok(Some(stored)) => stored == bytes,
                _ => return Err(error),
            },
        };
        if !is_ours {
            return Ok(false);
        }
        self.known().newest = Some(snapshot);
        if let Err(error) = self.local.write(&name, bytes) {
            tracing::warn!(%error, "the working copy lacks the new commit; it is downloaded when it is needed");
        }
        Ok(true)
    }

    /// Deletes our uploads only if another writer's commit has this number and does not name them.
    fn abort(&self, snapshot: u64, files: &[&StagedFile]) {
        self.local.abort(snapshot, files);
        let Ok(Some(bytes)) = self.read(&Layout::commit_name(snapshot)) else { return };
        let Ok(winner) = Commit::decode(&bytes, &self.local.layout.commit(snapshot)) else { return };
        let named = winner.objects();
        let ours = files.iter().filter(|file| file.is_new).map(|file| object_name(snapshot, &file.entry));
        let orphans: Vec<String> = ours.filter(|name| !named.contains(name)).collect();
        if let Err(error) = self.objects.delete(&orphans) {
            tracing::debug!(%error, "uploads that no commit names stay until the next pruning");
        }
    }

    fn advance_pointer(&self, commit: &Commit) -> Result<(), LakeError> {
        self.advance_latest(commit)?;
        self.local.advance_pointer(commit)
    }

    fn pointer(&self) -> PathBuf {
        self.local.layout.root.join(LATEST)
    }

    /// Reads the pointer again: another machine may have advanced it since the last refresh.
    fn is_pointer_stale(&self, newest: u64) -> Result<bool, LakeError> {
        Ok(self.pointed_to()? < Some(newest))
    }

    fn pointed_to(&self) -> Result<Option<u64>, LakeError> {
        Ok(self.read(LATEST)?.and_then(|latest| snapshot_of(&latest)))
    }

    /// Raw pages have the name of their chunk.
    fn run_file_name(&self, run_id: &str, file: &RunFile) -> String {
        match file.path.strip_prefix("raw/") {
            Some(segment) => format!("runs/{run_id}/raw/{}", chunk_of(segment, &file.blake3)),
            None => format!("runs/{run_id}/{}", file.path),
        }
    }

    fn digest(&self, name: &str) -> Result<Option<Digest>, LakeError> {
        self.look_at(name.to_owned(), |_, digest| Ok(digest))
    }

    fn drop_snapshots(&self, snapshots: &BTreeSet<u64>) -> Result<(), LakeError> {
        self.objects.delete(&self.orphan_objects()?)?;
        self.local.drop_snapshots(snapshots)
    }

    fn recover(&self) -> Result<Repair, LakeError> {
        let Known { newest, pointed_to } = *self.known();
        self.local.clear_copied_link()?;
        let removed = self.local.clear_leftovers(newest, self)?;
        self.drop_old_snapshots(newest)?;
        let stale = newest.filter(|newest| Some(*newest) != pointed_to);
        if let Some(snapshot) = stale {
            let bytes = self.read_commit(snapshot)?.ok_or(LakeError::NoSnapshot { snapshot })?;
            self.advance_latest(&Commit::decode(&bytes, &self.local.layout.commit(snapshot))?)?;
        }
        Ok(Repair { removed, shown: stale })
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, LakeError> {
        Ok(self.objects.read(name)?.map(|document| document.bytes))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), LakeError> {
        self.local.write(name, bytes)?;
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
        Ok(inside(folder, &self.objects.list(folder, None)?))
    }
}

impl RemoteBackend {
    fn known(&self) -> MutexGuard<'_, Known> {
        // Each field is one number, so a panic leaves no partial update.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves `latest.json` to a snapshot, unless it names that one or a later one.
    fn advance_latest(&self, commit: &Commit) -> Result<(), LakeError> {
        let tables = commit.tables.iter().map(|(table, manifest)| {
            let names = manifest.files.iter().map(|entry| commit.object_of(entry));
            (table.clone(), names.collect())
        });
        let latest = Latest {
            snapshot: commit.snapshot,
            commit: Layout::commit_name(commit.snapshot),
            tables: tables.collect(),
        };
        let bytes = sealed(&latest).map_err(LakeError::storage("write", Path::new(LATEST)))?;
        for _ in 0..ATTEMPTS {
            let is_advanced = match self.objects.read(LATEST)? {
                None => self.objects.create(LATEST, &bytes)?,
                Some(old) if snapshot_of(&old.bytes).is_some_and(|shown| shown >= commit.snapshot) => true,
                Some(old) => self.objects.replace(LATEST, &bytes, &old)?,
            };
            if is_advanced {
                self.known().pointed_to = Some(commit.snapshot);
                return Ok(());
            }
        }
        let what = format!("other writers replaced it during each of {ATTEMPTS} attempts");
        Err(LakeError::Remote { op: "write", url: self.objects.url(LATEST), what })
    }

    /// Objects of snapshots, up to the newest commit, that no kept or pending snapshot names.
    fn orphan_objects(&self) -> Result<Vec<String>, LakeError> {
        let newest = self.known().newest.unwrap_or(0);
        let pruned = self.numbers(Mark::Pruned.folder())?;
        let mut named = BTreeSet::new();
        for snapshot in self.commits()?.difference(&pruned).copied() {
            let Some(bytes) = self.read_commit(snapshot)? else { continue };
            named.extend(Commit::decode(&bytes, &self.local.layout.commit(snapshot))?.objects());
        }
        for snapshot in self.numbers("held")? {
            let name = Layout::pending_name(snapshot);
            let Some(bytes) = self.read(&name)? else { continue };
            named.extend(Commit::decode(&bytes, Path::new(&self.objects.url(&name)))?.objects());
        }
        let is_old = |name: &String| {
            let number = name.split('/').nth(1).and_then(layout::parse_snapshot);
            number.is_some_and(|number| number <= newest)
        };
        let all = self.objects.list("snapshots", None)?;
        Ok(all.into_iter().filter(|name| is_old(name) && !named.contains(name)).collect())
    }
}

/// Names of objects, without the folder that they are in.
fn inside(folder: &str, names: &[String]) -> Vec<String> {
    let inside = |name: &String| name.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned);
    names.iter().filter_map(inside).collect()
}

/// The newest snapshot, and the objects of each table.
#[derive(Debug, Serialize, Deserialize)]
struct Latest {
    snapshot: u64,
    commit: String,
    tables: BTreeMap<String, Vec<String>>,
}

fn snapshot_of(latest: &[u8]) -> Option<u64> {
    unseal::<Latest>(latest, Path::new(LATEST)).ok().map(|latest| latest.snapshot)
}
