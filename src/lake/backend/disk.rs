//! Every operation that changes the local disk: write, link, rename, sync, delete. Tests count them and let them fail here.

use crate::lake::error::LakeError;
use crate::lake::format::layout::folder_of;
use crate::lake::format::manifest::{Digest, FileEntry};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

type Done = Result<(), LakeError>;

/// The local disk, for operations that change it. Reads do not need it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Storage {
    /// Whether nothing here has to outlive this process.
    is_temporary: bool,
    #[cfg(test)]
    faults: super::fault_injection::Faults,
}

impl Storage {
    /// A disk that fails as `faults` says.
    #[cfg(test)]
    pub(crate) fn with_faults(faults: super::fault_injection::Faults) -> Self {
        Self { faults, ..Self::default() }
    }

    /// A disk whose files are deleted before the process ends: they are not synced.
    pub(crate) fn temporary() -> Self {
        Self {
            is_temporary: true,
            #[cfg(test)]
            faults: super::fault_injection::Faults::default(),
        }
    }

    /// Makes a folder and its parents; an existing one is no error.
    pub(crate) fn create_dir_all(&self, path: &Path) -> Done {
        if path.is_dir() {
            return Ok(());
        }
        self.attempt("create", path, || fs::create_dir_all(path))
    }

    /// Makes a folder and its parents, and makes their names durable; an existing one is no error.
    pub(crate) fn create_durable_dir_all(&self, path: &Path) -> Done {
        if path.is_dir() {
            return Ok(());
        }
        let parent = folder_of(path);
        if parent != Path::new(".") {
            self.create_durable_dir_all(parent)?;
        }
        self.create_dir_all(path)?;
        self.sync_dir(parent)
    }

    /// Creates a file, or truncates an existing one.
    pub(crate) fn create(&self, path: &Path) -> Result<StoredFile, LakeError> {
        let file = self.attempt("create", path, || File::create(path))?;
        Ok(StoredFile { storage: self.clone(), path: path.to_path_buf(), file })
    }

    /// Opens a file to append; creates a missing one.
    pub(crate) fn append(&self, path: &Path) -> Result<StoredFile, LakeError> {
        let file = self.attempt("open", path, || OpenOptions::new().create(true).append(true).open(path))?;
        Ok(StoredFile { storage: self.clone(), path: path.to_path_buf(), file })
    }

    /// Replaces a file atomically: writes a temporary file next to it, syncs it, and renames it over `path`.
    pub(crate) fn replace(&self, path: &Path, bytes: &[u8]) -> Done {
        let staged = self.stage_next_to(path, bytes)?;
        self.rename(&staged, path)?;
        self.sync_dir(folder_of(path))
    }

    /// Creates a file atomically with its content (put-if-absent); `false` when it exists.
    ///
    /// Only a hard link does this on every system. A rename may overwrite a file. A file that is created under its final
    /// name may be incomplete after a kill. A disk without hard links is an error.
    pub(crate) fn put_if_absent(&self, path: &Path, bytes: &[u8]) -> Result<bool, LakeError> {
        let staged = self.stage_next_to(path, bytes)?;
        let link = || fs::hard_link(&staged, path).map_err(name_lack_of_links);
        let linked = is_new(self.attempt("link", path, link)).inspect_err(|_| self.discard(&staged))?;
        if linked {
            self.sync_dir(folder_of(path))?;
        }
        // The name is taken either way. The next repair deletes a temporary file that stays.
        self.discard(&staged);
        Ok(linked)
    }

    /// Creates an empty file, which a full disk has room for; `false` when it exists.
    pub(crate) fn put_empty_if_absent(&self, path: &Path) -> Result<bool, LakeError> {
        let created = is_new(self.attempt("create", path, || File::create_new(path)).map(drop))?;
        if created {
            self.sync_dir(folder_of(path))?;
        }
        Ok(created)
    }

    fn stage_next_to(&self, path: &Path, bytes: &[u8]) -> Result<PathBuf, LakeError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let staged = path.with_file_name(format!("{TEMPORARY}{}-{name}", std::process::id()));
        let mut file = self.create(&staged)?;
        let written = file.write_all(bytes).map_err(LakeError::storage("write", &staged));
        if let Err(error) = written.and_then(|()| file.sync()) {
            self.discard(&staged);
            return Err(error);
        }
        Ok(staged)
    }

    /// Makes a hard link; a copy where the disk has no hard links.
    pub(crate) fn link(&self, from: &Path, to: &Path) -> Done {
        self.attempt("link", to, || match fs::hard_link(from, to) {
            Err(error) if wants_a_copy(&error) => fs::copy(from, to).and_then(|_| File::open(to)?.sync_all()),
            other => other,
        })
    }

    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Done {
        self.attempt("rename", to, || fs::rename(from, to))
    }

    /// Points the symbolic link `at` to `target` atomically.
    pub(crate) fn point(&self, at: &Path, target: &Path) -> Done {
        let name = at.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let staged = at.with_file_name(format!("{TEMPORARY}{}-{name}", std::process::id()));
        self.remove_file(&staged)?;
        self.attempt("link", &staged, || std::os::unix::fs::symlink(target, &staged))?;
        self.rename(&staged, at).inspect_err(|_| self.discard(&staged))?;
        self.sync_dir(folder_of(at))
    }

    /// Deletes a file; a missing one is no error.
    pub(crate) fn remove_file(&self, path: &Path) -> Done {
        self.attempt("delete", path, || absent_is_fine(fs::remove_file(path)))
    }

    /// Deletes a folder with its content; a missing one is no error.
    pub(crate) fn remove_dir_all(&self, path: &Path) -> Done {
        self.attempt("delete", path, || absent_is_fine(fs::remove_dir_all(path)))
    }

    /// Deletes a file or folder that nobody needs. If that fails, the next repair deletes it.
    pub(crate) fn discard(&self, path: &Path) {
        let deleted = if path.is_dir() { self.remove_dir_all(path) } else { self.remove_file(path) };
        if let Err(error) = deleted {
            tracing::debug!(path = %path.display(), %error, "what nobody needs stays until the next repair");
        }
    }

    pub(crate) fn truncate(&self, path: &Path, length: u64) -> Done {
        self.attempt("truncate", path, || OpenOptions::new().write(true).open(path)?.set_len(length))
    }

    /// Makes the names in a folder durable.
    pub(crate) fn sync_dir(&self, path: &Path) -> Done {
        if self.is_temporary {
            return Ok(());
        }
        self.attempt("sync", path, || File::open(path)?.sync_all())?;
        #[cfg(test)]
        self.faults.folder_synced(path);
        Ok(())
    }

    /// Makes the bytes of files durable. The disk is asked for many at a time: it writes them together.
    pub(crate) fn sync_files(&self, paths: &[&Path]) -> Done {
        self.sync_many(paths, |path| {
            let file = self.attempt("open", path, || File::open(path))?;
            StoredFile { storage: self.clone(), path: path.to_path_buf(), file }.sync()
        })
    }

    /// Makes the names in folders durable, the deepest first: a folder is durable before its parent names it.
    pub(crate) fn sync_dirs(&self, folders: &BTreeSet<PathBuf>) -> Done {
        let mut levels: BTreeMap<usize, Vec<&Path>> = BTreeMap::new();
        for folder in folders {
            levels.entry(folder.components().count()).or_default().push(folder);
        }
        levels.values().rev().try_for_each(|level| self.sync_many(level, |folder| self.sync_dir(folder)))
    }

    /// Syncs each path, several at a time. Returns the first error; the rest of that thread's paths are left.
    fn sync_many(&self, paths: &[&Path], sync: impl Fn(&Path) -> Done + Sync) -> Done {
        if self.is_temporary {
            return Ok(());
        }
        let sync = &sync;
        std::thread::scope(|scope| {
            let share = paths.len().div_ceil(AT_A_TIME).max(1);
            let threads: Vec<_> = paths
                .chunks(share)
                .map(|share| scope.spawn(move || share.iter().try_for_each(|path| sync(path))))
                .collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    fn attempt<T>(
        &self,
        op: &'static str,
        path: &Path,
        act: impl FnOnce() -> io::Result<T>,
    ) -> Result<T, LakeError> {
        self.step().and_then(|()| act()).map_err(LakeError::storage(op, path))
    }

    /// Counts one operation; the tests' place to fail it.
    fn step(&self) -> io::Result<()> {
        #[cfg(test)]
        self.faults.step()?;
        Ok(())
    }
}

/// Syncs that wait for the disk at the same time.
const AT_A_TIME: usize = 16;

/// Prefix of the names of temporary files and folders.
pub(crate) const TEMPORARY: &str = ".tmp-";

/// Whether a name was taken; false when it exists.
fn is_new(taken: Done) -> Result<bool, LakeError> {
    match taken {
        Err(LakeError::Storage { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        other => other.map(|()| true),
    }
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Whether an error says that there is no such file.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn wants_a_copy(error: &io::Error) -> bool {
    lacks_links(error) || matches!(error.kind(), io::ErrorKind::CrossesDevices | io::ErrorKind::TooManyLinks)
}

/// Error of `link` on a disk without hard links that does not return `Unsupported`.
const EPERM: i32 = 1;

fn lacks_links(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error() == Some(EPERM)
}

fn name_lack_of_links(error: io::Error) -> io::Error {
    if lacks_links(&error) {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "this disk has no hard links, which atomic commits need; put the lake on one that has them",
        )
    } else {
        error
    }
}

/// A file being written.
#[derive(Debug)]
pub(crate) struct StoredFile {
    storage: Storage,
    path: PathBuf,
    file: File,
}

impl StoredFile {
    /// Makes the written bytes durable.
    pub(crate) fn sync(&self) -> Done {
        if self.storage.is_temporary {
            return Ok(());
        }
        self.storage.attempt("sync", &self.path, || self.file.sync_all())?;
        #[cfg(test)]
        self.storage.faults.file_synced(&self.path);
        Ok(())
    }
}

impl Write for StoredFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        {
            self.storage.faults.write(&mut self.file, bytes)
        }
        #[cfg(not(test))]
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The bytes of a file; none where there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, LakeError> {
    match fs::read(path) {
        Err(error) if is_absent(&error) => Ok(None),
        other => other.map(Some).map_err(LakeError::storage("read", path)),
    }
}

/// Names in a folder, sorted; empty when the folder is missing.
pub(crate) fn names(path: &Path) -> Result<Vec<String>, LakeError> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(LakeError::storage("list", path))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(LakeError::storage("list", path))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// All that is in a folder and its sub-folders and is no folder.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, LakeError> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for name in names(&folder)? {
            let path = folder.join(name);
            let found = fs::symlink_metadata(&path).map_err(LakeError::storage("look at", &path))?;
            if found.is_dir() { &mut folders } else { &mut files }.push(path);
        }
    }
    Ok(files)
}

/// The digest of a file. Uses constant memory.
pub(crate) fn digest(path: &Path) -> Result<Digest, LakeError> {
    let mut hasher = blake3::Hasher::new();
    let file = File::open(path).map_err(LakeError::storage("open", path))?;
    hasher.update_reader(file).map_err(LakeError::storage("read", path))?;
    Ok(Digest { bytes: hasher.count(), blake3: hasher.finalize().to_hex().to_string() })
}

/// A file compared with its entry in a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileState {
    /// It has the size and digest of the entry.
    Intact,
    Missing,
    Altered(Digest),
}

impl FileState {
    /// The state of a file with this digest.
    pub(crate) fn of(entry: &FileEntry, found: Digest) -> Self {
        if found.matches(entry.bytes, &entry.blake3) { Self::Intact } else { Self::Altered(found) }
    }
}

/// The state of a local file. A disk that fails is an error, not a missing file.
pub(crate) fn file_state(path: &Path, entry: &FileEntry) -> Result<FileState, LakeError> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(FileState::of(entry, digest(path)?)),
        Err(error) if !is_absent(&error) => Err(LakeError::storage("look at", path)(error)),
        _ => Ok(FileState::Missing),
    }
}

/// Checks the size and digest of a local file.
pub(crate) fn check_digest(path: &Path, entry: &FileEntry) -> Result<(), LakeError> {
    match FileState::of(entry, digest(path)?) {
        FileState::Intact => Ok(()),
        _ => Err(LakeError::damaged(path, "its bytes are not those that were committed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_without_hard_links_is_named_and_other_errors_stay_as_they_are() {
        for refusal in [io::Error::from_raw_os_error(EPERM), io::Error::from(io::ErrorKind::Unsupported)] {
            assert!(wants_a_copy(&refusal), "{refusal}");
            let named = name_lack_of_links(refusal);
            let error = LakeError::storage("link", Path::new("commits/000001.json"))(named).to_string();
            assert!(error.contains("no hard links") && !error.contains("writable"), "{error}");
        }
        for kind in [io::ErrorKind::AlreadyExists, io::ErrorKind::StorageFull] {
            assert_eq!(name_lack_of_links(io::Error::from(kind)).kind(), kind);
        }
    }
}
