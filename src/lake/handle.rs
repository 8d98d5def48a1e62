//! An open lake: how it is opened, and what every other file of this module reads and writes through it.

use super::backend::disk::Storage;
use super::backend::local::LocalBackend;
use super::backend::object_client::Objects;
use super::backend::protocol::Backend;
use super::backend::remote_cache::RemoteBackend;
use super::backend::url;
use super::error::LakeError;
use super::format::layout::Layout;
use super::format::manifest::Commit;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};

/// A lake: in a folder, or in an object store with a folder as its working copy.
#[derive(Debug, Clone)]
pub struct Lake {
    pub(super) layout: Layout,
    pub(super) storage: Storage,
    pub(super) backend: Arc<dyn Backend>,
}

/// How a lake is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct LakeOptions<'a> {
    /// Address of the object store that has the lake (`s3://…`, `gs://…`, `az://…`); none for a lake in a folder.
    pub address: Option<&'a str>,
    /// Variables of the environment whose names begin as [`CLOUD_VARIABLES`](url::CLOUD_VARIABLES): keys, regions,
    /// endpoints.
    pub variables: &'a [(String, String)],
    /// Opens the lake also when its newest commit is damaged, for a verification or a repair.
    pub allow_damaged: bool,
}

impl LakeOptions<'_> {
    /// Opens the lake in `folder`; with an address, `folder` is the working copy.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`] when `folder` is not a folder. [`LakeError::Address`]; [`LakeError::Remote`] when the store
    /// cannot be reached or refuses. [`LakeError::Newer`] and [`LakeError::Damaged`] about the newest commit.
    pub fn open(self, folder: &Path) -> Result<Lake, LakeError> {
        let objects = self.address.map(|address| url::open(address, self.variables)).transpose()?;
        let lake = Lake::on(folder, Storage::default(), objects)?;
        if !self.allow_damaged {
            lake.current()?;
        }
        Ok(lake)
    }
}

impl fmt::Display for Lake {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.backend.remote_url() {
            Some(url) => out.write_str(&url),
            None => self.root().display().fmt(out),
        }
    }
}

impl Lake {
    /// The lake in a folder. A missing folder is an empty lake; nothing is written before [`Lake::lock`].
    pub fn open(root: &Path) -> Result<Self, LakeError> {
        LakeOptions::default().open(root)
    }

    /// A lake in a folder that is deleted before the process ends: what is written is not synced.
    pub fn temporary(root: &Path) -> Result<Self, LakeError> {
        Self::on(root, Storage::temporary(), None)
    }

    /// The lake in a folder, or in an object store with that folder as its working copy. The newest commit is not read.
    pub(super) fn on(root: &Path, storage: Storage, objects: Option<Objects>) -> Result<Self, LakeError> {
        check_folder(root)?;
        let layout = Layout { root: root.to_path_buf() };
        let local = LocalBackend { layout: layout.clone(), storage: storage.clone() };
        let backend: Arc<dyn Backend> = match objects {
            Some(objects) => Arc::new(RemoteBackend::new(local, objects)),
            None => Arc::new(local),
        };
        backend.refresh()?;
        Ok(Self { layout, storage, backend })
    }

    /// Folder of the lake, or its working copy.
    pub fn root(&self) -> &Path {
        &self.layout.root
    }

    /// The newest commit; none in an empty lake.
    pub fn current(&self) -> Result<Option<Commit>, LakeError> {
        self.backend.newest()?.map(|snapshot| self.commit(snapshot)).transpose()
    }

    /// Looks for commits of other machines in an object store. A folder needs no refresh.
    pub fn refresh(&self) -> Result<(), LakeError> {
        self.backend.refresh()
    }

    /// The commit of a snapshot.
    pub fn commit(&self, snapshot: u64) -> Result<Commit, LakeError> {
        self.decoded(snapshot, self.backend.read_commit(snapshot)?, &self.layout.commit(snapshot))
    }

    /// The commit of a snapshot in the file with this name, as it is stored, ignoring the working copy.
    pub(super) fn stored_commit(&self, name: &str, snapshot: u64) -> Result<Commit, LakeError> {
        self.decoded(snapshot, self.backend.read(name)?, &self.root().join(name))
    }

    /// The commit of a snapshot in the bytes of a local file.
    pub(super) fn decoded(
        &self,
        snapshot: u64,
        bytes: Option<Vec<u8>>,
        path: &Path,
    ) -> Result<Commit, LakeError> {
        let bytes = bytes.ok_or(LakeError::NoSnapshot { snapshot })?;
        let path = self.path_for_user(path);
        let commit = Commit::decode(&bytes, &path)?;
        if commit.snapshot != snapshot {
            return Err(LakeError::damaged(
                &path,
                format!("it is the commit of snapshot {}", commit.snapshot),
            ));
        }
        Ok(commit)
    }

    /// Whether the lake is in an object store, and its folder is a working copy.
    pub(crate) fn is_remote(&self) -> bool {
        self.backend.remote_url().is_some()
    }

    /// Where a user finds a file, given its local path: in the object store, not in the working copy.
    pub(super) fn path_for_user(&self, path: &Path) -> PathBuf {
        match (self.backend.remote_url(), path.strip_prefix(self.root())) {
            (Some(url), Ok(inside)) => Path::new(&url).join(inside),
            _ => path.to_path_buf(),
        }
    }

    /// Whether readers are led to a snapshot, whether or not its commit exists.
    pub(crate) fn leads_to_a_snapshot(&self) -> Result<bool, LakeError> {
        Ok(self.backend.pointed_to()?.is_some())
    }

    /// Where a user finds what leads readers to the newest snapshot.
    pub(crate) fn pointer_for_user(&self) -> PathBuf {
        self.path_for_user(&self.backend.pointer())
    }

    /// Numbers of all commits, oldest first.
    pub fn commits(&self) -> Result<Vec<u64>, LakeError> {
        Ok(self.backend.commits()?.into_iter().collect())
    }

    /// The snapshot that `current` points to; none where there is no such link, as in an object store.
    pub fn shown(&self) -> Option<u64> {
        Layout::shown_by(&fs::read_link(self.layout.current()).ok()?)
    }

    /// Folder of what outlives a run without being data: the lock, the budget ledger.
    pub fn state_dir(&self) -> PathBuf {
        self.layout.state()
    }
}

/// Entries of which every lake has one.
const ENTRIES: [&str; 6] = ["commits", "runs", "snapshots", "current", "held", "state"];

/// Whether a folder has anything of a lake, even of one that has no snapshot.
pub(crate) fn is_lake_folder(folder: &Path) -> bool {
    ENTRIES.iter().any(|name| folder.join(name).symlink_metadata().is_ok())
}

/// Whether a folder is a lake with commits.
pub(crate) fn holds_lake(folder: &Path) -> bool {
    folder.join("commits").is_dir() && folder.join("snapshots").is_dir()
}

fn check_folder(root: &Path) -> Result<(), LakeError> {
    let source = match fs::metadata(root) {
        Ok(found) if !found.is_dir() => io::Error::from(io::ErrorKind::NotADirectory),
        Err(error) if error.kind() != io::ErrorKind::NotFound => error,
        _ => return Ok(()),
    };
    Err(LakeError::storage("open", root)(source))
}
