//! A place for a lake, on a disk or in a store in memory. It can be copied and opened from another machine.

use super::*;
use crate::lake::backend::disk;
use crate::lake::backend::fault_injection::Faults;
use crate::lake::backend::object_client::Objects;
use futures::TryStreamExt as _;
use futures::executor::block_on;
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Place {
    /// The lake's folder, or its working copy.
    pub(super) dir: PathBuf,
    pub(super) store: Option<InMemory>,
}

impl Place {
    pub(super) fn disk(dir: PathBuf) -> Self {
        Self { dir, store: None }
    }

    pub(super) fn store(dir: PathBuf) -> Self {
        Self { dir, store: Some(InMemory::new()) }
    }

    /// A copy of the lake, with a folder of its own.
    pub(super) fn copy(&self, dir: PathBuf) -> Self {
        copy(&self.dir, &dir);
        Self { dir, store: self.store.as_ref().map(InMemory::fork) }
    }

    /// The lake as another machine sees it: a folder is the same everywhere, of a store it has no copy yet.
    pub(super) fn other_machine(&self) -> Self {
        match &self.store {
            None => Self::disk(self.dir.clone()),
            Some(store) => {
                let dir = self.dir.with_extension("other_machine");
                fs::remove_dir_all(&dir).ok();
                Self { dir, store: Some(store.clone()) }
            }
        }
    }

    /// A digest of all names and bytes of the folder and the store.
    pub(super) fn content(&self) -> blake3::Hash {
        let mut digest = blake3::Hasher::new();
        add_folder(&mut digest, &self.dir);
        if let Some(store) = &self.store {
            let objects = block_on(store.list(None).try_collect::<Vec<_>>()).expect("a list");
            let objects: BTreeSet<ObjectPath> = objects.into_iter().map(|object| object.location).collect();
            for name in objects {
                let bytes = block_on(async { store.get(&name).await?.bytes().await }).expect("an object");
                add(&mut digest, name.as_ref().as_bytes(), &bytes);
            }
        }
        digest.finalize()
    }

    pub(super) fn open(&self) -> Result<Lake> {
        self.open_under(&Faults::default())
    }

    pub(super) fn open_under(&self, faults: &Faults) -> Result<Lake> {
        let storage = Storage::with_faults(faults.clone());
        match &self.store {
            None => open_on(&self.dir, storage, None),
            Some(_) => open_on(&self.dir, storage, Some(self.objects().with_faults(faults.clone()))),
        }
    }

    pub(super) fn objects(&self) -> Objects {
        let store = self.store.clone().expect("a store");
        Objects::new(Arc::new(store), &ObjectPath::from("lakes/one"), "s3://bucket/lakes/one")
            .expect("a store")
    }
}

fn add(digest: &mut blake3::Hasher, name: &[u8], bytes: &[u8]) {
    for part in [name, bytes] {
        digest.update(&part.len().to_le_bytes()).update(part);
    }
}

fn add_folder(digest: &mut blake3::Hasher, folder: &Path) {
    for name in disk::names(folder).expect("names") {
        let path = folder.join(&name);
        let kind = fs::symlink_metadata(&path).expect("an entry").file_type();
        if kind.is_symlink() {
            let points = fs::read_link(&path).expect("a link");
            add(digest, name.as_bytes(), points.as_os_str().as_encoded_bytes());
        } else if kind.is_dir() {
            add(digest, name.as_bytes(), b"(");
            add_folder(digest, &path);
            add(digest, b"", b")");
        } else {
            add(digest, name.as_bytes(), &fs::read(&path).expect("a file"));
        }
    }
}

pub(super) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        let target = to.join(entry.file_name());
        if kind.is_symlink() {
            let points = fs::read_link(&path).expect("a link");
            std::os::unix::fs::symlink(points, &target).expect("a link");
        } else if kind.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).map(|_| ()).expect("a copy");
        }
    }
}
