//! The working copy of a lake in an object store: whose it is, what is brought there, and when a file in it counts as sound.

use super::Home;
use super::disk;
use super::disk::TEMPORARY;
use super::object_client::Wanted;
use super::remote::{Bucket, named_in};
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::manifest::{Commit, FileEntry};
use crate::lake::run::RunRecord;
use crate::lake::snapshot::verified_read::{Found, found_at};
use std::path::{Path, PathBuf};

impl Bucket {
    /// Holds the working copy against the newest commit. A working copy of another lake, one that lay at this address
    /// before, is cleared: its commits and files would be taken for this one's.
    pub(super) fn meet(&self, newest: Option<u64>) -> Result<(), LakeError> {
        let Some(copied) = self.folder.newest()? else { return Ok(()) };
        let same = match newest {
            Some(newest) if self.known().newest == Some(copied) && copied <= newest => true,
            Some(newest) if copied <= newest => {
                let (there, here) = (self.read_commit_anew(copied)?, self.folder.read_commit(copied)?);
                // A commit that is damaged on either side tells nothing.
                let is_damaged =
                    |bytes: &Vec<u8>| Commit::decode(bytes, &self.folder.layout.commit(copied)).is_err();
                there.is_some() && (there == here || there.iter().chain(&here).any(is_damaged))
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

    pub(super) fn target(&self, commit: &Commit, entry: &FileEntry) -> PathBuf {
        self.folder.layout.snapshot(commit.snapshot).join(&entry.path)
    }

    /// Whether a file of the working copy is there and as its commit says.
    pub(super) fn is_sound(&self, path: &Path, entry: &FileEntry) -> Result<bool, LakeError> {
        if !path.is_file() {
            return Ok(false);
        }
        if self.known().sound.contains(path) {
            return Ok(true);
        }
        let sound = disk::digest(path)? == (entry.bytes, entry.blake3.clone());
        if sound {
            self.known().sound.insert(path.to_path_buf());
        }
        Ok(sound)
    }

    /// Links the file from another snapshot of the working copy, where it lies under the same name.
    pub(super) fn link_from_another(
        &self,
        commit: &Commit,
        entry: &FileEntry,
        target: &Path,
    ) -> Result<bool, LakeError> {
        for name in disk::names(&self.folder.layout.snapshots())?.iter().rev() {
            let Some(snapshot) = layout::parse_snapshot(name).filter(|number| *number != commit.snapshot)
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
    pub(super) fn fetch(&self, commit: &Commit, entries: &[&FileEntry]) -> Result<(), LakeError> {
        if entries.is_empty() {
            return Ok(());
        }
        let storage = &self.folder.storage;
        let waiting = self.folder.layout.root.join(format!("{TEMPORARY}fetched-{}", std::process::id()));
        storage.create_dir_all(&waiting)?;
        let named = |at: usize, entry: &&FileEntry| Wanted {
            name: named_in(commit, entry),
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

    /// Brings a file to `waiting` and, if it is sound, from there to its place; a sound one that lies there stays.
    pub(super) fn look_by_way_of(
        &self,
        waiting: &Path,
        commit: &Commit,
        entry: &FileEntry,
    ) -> Result<Found, LakeError> {
        let storage = &self.folder.storage;
        let wanted = Wanted { name: named_in(commit, entry), to: waiting.to_path_buf() };
        let brought = self.objects.download(storage, vec![wanted])?;
        let Some(brought) = brought.into_iter().flatten().next() else { return Ok(Found::Missing) };
        let (found, target) = (Found::of(entry, brought), self.target(commit, entry));
        if found == Found::Sound {
            if !found_at(&target, entry).is_ok_and(|here| here == Found::Sound) {
                self.make_folder_of(&target)?;
                storage.rename(waiting, &target)?;
            }
            self.known().sound.insert(target);
        }
        Ok(found)
    }

    pub(super) fn make_folder_of(&self, path: &Path) -> Result<(), LakeError> {
        path.parent().map_or(Ok(()), |folder| self.folder.storage.create_dir_all(folder))
    }

    /// Snapshots of the working copy other than the two newest: what is unchanged of them is linked in those.
    pub(super) fn forget_old_copies(&self, newest: Option<u64>) -> Result<(), LakeError> {
        let copies = disk::names(&self.folder.layout.snapshots())?;
        let old = copies.iter().filter_map(|name| layout::parse_snapshot(name));
        let old = old.filter(|number| number + 1 < newest.unwrap_or(0)).collect();
        self.folder.drop_snapshots(&old)
    }

    /// A record that is new here, or that tells of an end which is not known here.
    pub(super) fn bring_record(&self, run_id: &str) -> Result<(), LakeError> {
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
    pub(super) fn bring_chunk(&self, name: &str, to: &Path) -> Result<(), LakeError> {
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
}

/// `000001-<16 hex>.zst`.
pub(super) fn is_chunk(name: &str) -> bool {
    let parts = name.strip_suffix(".zst").and_then(|stem| stem.split_once('-'));
    parts.is_some_and(|(number, digest)| {
        number.len() >= 6
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && digest.len() == 16
            && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}
