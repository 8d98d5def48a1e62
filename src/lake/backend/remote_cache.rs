//! A lake in an object store and its working copy: which lake the copy belongs to, what is downloaded into it, and which of
//! its files are intact.

use super::disk::{self, TEMPORARY};
use super::local::LocalBackend;
use super::object_client::{Objects, Wanted};
use super::protocol::Backend;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{self, Layout, RECORD, folder_of};
use crate::lake::format::manifest::{Commit, Digest, FileEntry};
use crate::lake::format::run_record::RunRecord;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The store, the folder that mirrors it, and what the last refresh found.
#[derive(Debug)]
pub(crate) struct RemoteBackend {
    pub(super) local: LocalBackend,
    pub(super) objects: Objects,
    pub(super) known: Mutex<Known>,
    /// Files whose digest was checked.
    intact: Mutex<BTreeSet<PathBuf>>,
}

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Known {
    pub(super) newest: Option<u64>,
    pub(super) pointed_to: Option<u64>,
}

impl RemoteBackend {
    pub(crate) fn new(local: LocalBackend, objects: Objects) -> Self {
        Self { local, objects, known: Mutex::default(), intact: Mutex::default() }
    }

    /// Clears the working copy if it belongs to another lake that was at this address before: its commits and files would
    /// be taken for this lake's. `newest` is the store's newest commit, `checked` the one of the last call.
    pub(super) fn reset_foreign_cache(
        &self,
        newest: Option<u64>,
        checked: Option<u64>,
    ) -> Result<(), LakeError> {
        let Some(cached) = self.local.newest()? else { return Ok(()) };
        let is_same = newest.is_some_and(|newest| cached <= newest)
            && (checked == Some(cached) || self.has_same_commit(cached)?);
        if is_same {
            return Ok(());
        }
        tracing::warn!(lake = self.objects.url(""), "the working copy is of another lake; it is made anew");
        self.update_intact(BTreeSet::clear);
        for folder in [self.local.layout.commits(), self.local.layout.snapshots()] {
            self.local.storage.remove_dir_all(&folder)?;
            self.local.storage.create_durable_dir_all(&folder)?;
        }
        Ok(())
    }

    /// Whether the store and the working copy have the same commit. A commit that is damaged on either side proves
    /// nothing, so the working copy stays.
    fn has_same_commit(&self, snapshot: u64) -> Result<bool, LakeError> {
        let stored = self.read(&Layout::commit_name(snapshot))?;
        let cached = self.local.read_commit(snapshot)?;
        let is_damaged =
            |bytes: &Vec<u8>| Commit::decode(bytes, &self.local.layout.commit(snapshot)).is_err();
        Ok(stored.is_some() && (stored == cached || stored.iter().chain(&cached).any(is_damaged)))
    }

    pub(super) fn update_intact<T>(&self, update: impl FnOnce(&mut BTreeSet<PathBuf>) -> T) -> T {
        // Each update is one call, so a panic leaves no partial one.
        update(&mut self.intact.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn target(&self, commit: &Commit, entry: &FileEntry) -> PathBuf {
        self.local.layout.snapshot(commit.snapshot).join(&entry.path)
    }

    /// Whether a file of the working copy matches its entry. Each file is read once.
    pub(super) fn is_intact(&self, path: &Path, entry: &FileEntry) -> Result<bool, LakeError> {
        if !path.is_file() {
            return Ok(false);
        }
        if self.update_intact(|intact| intact.contains(path)) {
            return Ok(true);
        }
        let is_intact = disk::digest(path)?.matches(entry.bytes, &entry.blake3);
        if is_intact {
            self.update_intact(|intact| intact.insert(path.to_path_buf()));
        }
        Ok(is_intact)
    }

    /// Links the file from another snapshot of the working copy that has it under the same name.
    pub(super) fn link_from_another(
        &self,
        commit: &Commit,
        entry: &FileEntry,
        target: &Path,
    ) -> Result<bool, LakeError> {
        for name in disk::names(&self.local.layout.snapshots())?.iter().rev() {
            let Some(snapshot) = layout::parse_snapshot(name).filter(|number| *number != commit.snapshot)
            else {
                continue;
            };
            let source = self.local.layout.snapshot(snapshot).join(&entry.path);
            if self.is_intact(&source, entry)? {
                self.local.storage.create_dir_all(folder_of(target))?;
                self.local.storage.remove_file(target)?;
                self.local.storage.link(&source, target)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Downloads files of a snapshot, checks them, and moves them to their places.
    pub(super) fn download_missing(&self, commit: &Commit, entries: &[&FileEntry]) -> Result<(), LakeError> {
        if entries.is_empty() {
            return Ok(());
        }
        let storage = &self.local.storage;
        let waiting = self.local.layout.root.join(format!("{TEMPORARY}fetched-{}", std::process::id()));
        storage.create_dir_all(&waiting)?;
        let wanted = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| Wanted { name: commit.object_of(entry), to: waiting.join(at.to_string()) });
        let wanted: Vec<Wanted> = wanted.collect();
        let downloaded = self.objects.download(storage, wanted.clone())?;
        for ((entry, wanted), downloaded) in entries.iter().zip(wanted).zip(downloaded) {
            let damaged = |what| Err(LakeError::damaged(Path::new(&self.objects.url(&wanted.name)), what));
            match downloaded {
                Some(found) if found.matches(entry.bytes, &entry.blake3) => {
                    self.move_to_place(&wanted.to, self.target(commit, entry))?;
                }
                Some(_) => return damaged("its bytes are not those that were committed"),
                None => return damaged("the file is missing"),
            }
        }
        storage.remove_dir_all(&waiting)
    }

    pub(super) fn move_to_place(&self, from: &Path, target: PathBuf) -> Result<(), LakeError> {
        self.local.storage.create_dir_all(folder_of(&target))?;
        self.local.storage.rename(from, &target)?;
        self.update_intact(|intact| intact.insert(target));
        Ok(())
    }

    /// Downloads an object to a temporary file, and looks at that and its digest; none where there is no such object.
    pub(super) fn look_at<T>(
        &self,
        name: String,
        look: impl FnOnce(&Path, Option<Digest>) -> Result<T, LakeError>,
    ) -> Result<T, LakeError> {
        let (root, storage) = (&self.local.layout.root, &self.local.storage);
        storage.create_dir_all(root)?;
        let waiting = root.join(format!("{TEMPORARY}{}-checked", std::process::id()));
        let downloaded = self.objects.download(storage, vec![Wanted { name, to: waiting.clone() }]);
        let found = downloaded.and_then(|digests| look(&waiting, digests.into_iter().flatten().next()));
        storage.discard(&waiting);
        found
    }

    /// Deletes all snapshots of the working copy but the 2 newest, which link the unchanged files.
    pub(super) fn drop_old_snapshots(&self, newest: Option<u64>) -> Result<(), LakeError> {
        let cached = disk::names(&self.local.layout.snapshots())?;
        let old = cached.iter().filter_map(|name| layout::parse_snapshot(name));
        let old = old.filter(|number| number + 1 < newest.unwrap_or(0)).collect();
        self.local.drop_snapshots(&old)
    }

    /// Downloads a run's record if the working copy has none, or one of a run that has finished since.
    pub(super) fn download_run_record(&self, run_id: &str) -> Result<(), LakeError> {
        let name = format!("runs/{run_id}/{RECORD}");
        let is_finished = |bytes: &[u8]| {
            serde_json::from_slice::<RunRecord>(bytes).is_ok_and(|record| record.finished.is_some())
        };
        let cached = self.local.read(&name)?;
        if cached.as_deref().is_some_and(is_finished) {
            return Ok(());
        }
        let Some(stored) = self.objects.read(&name)? else { return Ok(()) };
        let is_news = cached.is_none() || is_finished(&stored.bytes);
        if is_news { self.local.write(&name, &stored.bytes) } else { Ok(()) }
    }

    /// Skips a chunk whose bytes do not match the digest in its name: the run requests its pages again.
    pub(super) fn download_chunks<'n>(
        &self,
        folder: &str,
        dir: &Path,
        names: impl Iterator<Item = &'n String>,
    ) -> Result<(), LakeError> {
        let storage = &self.local.storage;
        let names: Vec<&String> = names.collect();
        let waiting = |name: &str| dir.join(format!("{TEMPORARY}{name}"));
        let wanted = names.iter().map(|name| Wanted { name: format!("{folder}/{name}"), to: waiting(name) });
        let downloaded = self.objects.download(storage, wanted.collect())?;
        for (name, downloaded) in names.into_iter().zip(downloaded) {
            let has_digest =
                |digest: &str| downloaded.as_ref().is_some_and(|found| found.blake3.starts_with(digest));
            if name.split(['-', '.']).nth(1).is_some_and(has_digest) {
                storage.rename(&waiting(name), &dir.join(name))?;
            } else {
                let url = self.objects.url(&format!("{folder}/{name}"));
                tracing::warn!(url, "archived pages are damaged; the run requests them again");
                storage.remove_file(&waiting(name))?;
            }
        }
        Ok(())
    }
}

/// The name of a segment of raw pages as a chunk in the store: its number, and the digest of its bytes. A downloaded
/// segment has this name already.
pub(super) fn chunk_name(segment: &Path) -> Result<String, LakeError> {
    let name = segment.file_name().unwrap_or_default().to_string_lossy();
    Ok(chunk_of(&name, &disk::digest(segment)?.blake3))
}

/// As [`chunk_name`], by the digest.
pub(super) fn chunk_of(segment: &str, blake3: &str) -> String {
    let number = segment.split(['-', '.']).next().unwrap_or_default();
    format!("{number}-{}.zst", blake3.get(..16).unwrap_or(blake3))
}

/// Whether a name is `000001-<16 hex>.zst`.
pub(super) fn is_chunk(name: &str) -> bool {
    let parts = name.strip_suffix(".zst").and_then(|stem| stem.split_once('-'));
    parts.is_some_and(|(number, digest)| {
        number.len() >= 6
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && digest.len() == 16
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Uploads finished segments of one archive.
#[derive(Debug)]
pub(crate) struct ChunkUpload {
    backend: Arc<dyn Backend>,
    /// The archive's folder in the lake.
    folder: String,
    /// Names of the chunks in the store.
    stored: BTreeSet<String>,
    /// How many segments are in the store, so that none is read twice.
    uploaded: usize,
}

impl ChunkUpload {
    pub(crate) fn new(backend: Arc<dyn Backend>, folder: String, stored: BTreeSet<String>) -> Self {
        Self { backend, folder, stored, uploaded: 0 }
    }

    /// Uploads the segments of an archive that are not in the store; the first are those of the call before. A chunk's name has its digest,
    /// so 2 machines that resume the same run never overwrite each other's pages.
    pub(crate) fn upload(&mut self, segments: &[PathBuf]) -> Result<(), LakeError> {
        for segment in segments.iter().skip(self.uploaded) {
            let name = chunk_name(segment)?;
            if !self.stored.contains(&name) {
                self.backend.upload(segment, &format!("{}/{name}", self.folder))?;
                self.stored.insert(name);
            }
            self.uploaded += 1;
        }
        Ok(())
    }
}
