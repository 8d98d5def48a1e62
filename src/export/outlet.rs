//! Files outside the lake: written under another name in the same folder, synced, and renamed when they are complete.
//!
//! The lake replaces its own files by its own rules; these files are streamed and never overwrite a version.

use super::error::ExportError;
use crate::lake::folder_of;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::{NamedTempFile, TempDir};

/// A file without its name yet; it is deleted if it is dropped before [`Pending::publish`].
pub(super) struct Pending {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl Pending {
    /// Begins the file that will be `path`; makes its folder if it is missing, and deletes what killed exports left in it.
    pub(super) fn new(path: &Path) -> Result<Self, ExportError> {
        Self::with_mode(path, 0o644)
    }

    fn with_mode(path: &Path, mode: u32) -> Result<Self, ExportError> {
        drop_leftovers(folder_of(path));
        Ok(Self {
            file: BufWriter::with_capacity(1 << 18, temporary_near(path, mode)?),
            path: path.to_owned(),
        })
    }

    /// Appends bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.file.write_all(bytes).map_err(ExportError::write(&self.path))
    }

    /// Sets the time of its last change.
    pub(super) fn set_modified(&mut self, at: SystemTime) -> Result<(), ExportError> {
        let file = &mut self.file;
        file.flush()
            .and_then(|()| file.get_ref().as_file().set_modified(at))
            .map_err(ExportError::write(&self.path))
    }

    /// Gives the file its name, and replaces a file of that name.
    pub(super) fn publish(self) -> Result<(), ExportError> {
        let (file, path) = self.synced()?;
        file.persist(&path).map_err(|error| ExportError::write(&path)(error.error))?;
        sync_folder(&path)
    }

    /// Gives the file its name unless the name is taken; returns whether it did.
    pub(super) fn publish_if_absent(self) -> Result<bool, ExportError> {
        let (file, path) = self.synced()?;
        match file.persist_noclobber(&path) {
            Ok(_) => sync_folder(&path).map(|()| true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(ExportError::write(&path)(error.error)),
        }
    }

    fn synced(self) -> Result<(NamedTempFile, PathBuf), ExportError> {
        let failed = || ExportError::write(&self.path);
        let file = self.file.into_inner().map_err(|error| failed()(error.into_error()))?;
        file.as_file().sync_all().map_err(failed())?;
        Ok((file, self.path))
    }
}

/// Writes a file of this mode unless its name is taken; returns whether it did. Nothing is left of a file that cannot be written.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<bool, ExportError> {
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let mut file = Pending::with_mode(path, mode)?;
    file.put(bytes)?;
    file.publish_if_absent()
}

/// A folder of its own next to `path`, for a file of another program and what that leaves next to it; deleted when it is dropped.
pub(super) fn folder_near(path: &Path) -> Result<TempDir, ExportError> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(ExportError::write(folder))?;
    tempfile::Builder::new().prefix(FOREIGN).tempdir_in(folder).map_err(ExportError::write(path))
}

/// Gives a finished file of the same disk the name `path`.
pub(super) fn publish(made: &Path, path: &Path) -> Result<(), ExportError> {
    let readable = fs::Permissions::from_mode(0o644);
    fs::set_permissions(made, readable).map_err(ExportError::write(path))?;
    File::open(made).and_then(|file| file.sync_all()).map_err(ExportError::write(path))?;
    fs::rename(made, path).map_err(ExportError::write(path))?;
    sync_folder(path)
}

/// Makes `to` a hard link to a file of the lake, or a copy if `copy` is set or a link is not possible. Another file that is there is replaced.
pub(super) fn link_or_copy(from: &Path, to: &Path, copy: bool) -> Result<(), ExportError> {
    let failed = || ExportError::write(to);
    fs::create_dir_all(folder_of(to)).map_err(failed())?;
    if !copy {
        let inode = |path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
        match inode(to) {
            Ok(there) if there == inode(from).map_err(failed())? => return Ok(()),
            Ok(_) => fs::remove_file(to).map_err(failed())?,
            Err(_) => {}
        }
        if fs::hard_link(from, to).is_ok() {
            return sync_folder(to);
        }
    }
    let mut pending = Pending::new(to)?;
    let mut source = File::open(from).map_err(failed())?;
    io::copy(&mut source, &mut pending.file).map_err(failed())?;
    pending.publish()
}

/// Fails if `path` is there and not what is wanted: a `folder` or a `file`.
pub(crate) fn check_target(path: &Path, wanted: &'static str) -> Result<(), ExportError> {
    let found = match fs::metadata(path) {
        Ok(there) if there.is_dir() => "folder",
        Ok(there) if there.is_file() => "file",
        // A pipe or a device.
        Ok(_) => "special file",
        Err(_) => return Ok(()),
    };
    if found == wanted {
        Ok(())
    } else {
        Err(ExportError::WrongTarget { path: path.to_owned(), found, wanted })
    }
}

/// Begins the names of files that this program writes, and holds locked while it does.
const OWN: &str = ".tmp-sunlake-";
/// Begins the names of folders that another program writes into.
const FOREIGN: &str = ".tmp-";

/// A file without a name in the folder of `path`, which is made if it is missing. Its mode, unlike that of most temporary files, is what
/// the named file is to have.
fn temporary_near(path: &Path, mode: u32) -> Result<NamedTempFile, ExportError> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(ExportError::write(folder))?;
    let permissions = fs::Permissions::from_mode(mode);
    loop {
        let made = tempfile::Builder::new().prefix(OWN).permissions(permissions.clone()).tempfile_in(folder);
        let made = made.map_err(ExportError::write(path))?;
        // Another export may have taken it for a leftover before it was locked.
        let is_ours = !matches!(made.as_file().try_lock(), Err(TryLockError::WouldBlock));
        if is_ours && made.path().symlink_metadata().is_ok() {
            return Ok(made);
        }
    }
}

/// Deletes what killed exports left in a folder: a file that no process has locked.
fn drop_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let leftovers =
        entries.filter_map(Result::ok).filter(|entry| entry.file_name().to_string_lossy().starts_with(OWN));
    for path in leftovers.map(|entry| entry.path()) {
        let Ok(file) = File::options().write(true).open(&path) else { continue };
        if file.try_lock().is_ok()
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::debug!(path = %path.display(), %error, "the leftover of an export stays");
        }
    }
}

/// Makes the name of a file durable.
fn sync_folder(path: &Path) -> Result<(), ExportError> {
    let folder = folder_of(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(ExportError::write(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_dead_exports_are_deleted_and_files_of_living_ones_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.csv");
        let mut living = Pending::new(&path).expect("begun");
        for name in [".tmp-sunlake-dead", ".tmp-of-duckdb", "table.txt"] {
            fs::write(folder.path().join(name), "x").expect("a file");
        }
        drop_leftovers(folder.path());
        living.put(b"a").expect("put");
        living.publish().expect("published");
        assert_eq!(names(folder.path()), [".tmp-of-duckdb", "table.csv", "table.txt"]);
        // The lock goes with the process, not with the name.
        drop_leftovers(&folder.path().join("missing"));
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_has_its_name_when_it_is_complete_and_leaves_nothing_otherwise() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b.csv");
        let mut pending = Pending::new(&path).expect("begun");
        pending.put(b"half").expect("written");
        drop(pending);
        assert!(names(&folder.path().join("a")).is_empty());
        let mut pending = Pending::new(&path).expect("begun");
        pending.put(b"complete").expect("written");
        pending.publish().expect("published");
        assert_eq!(fs::read(&path).expect("a file"), b"complete");
        assert_eq!(names(&folder.path().join("a")), ["b.csv"]);
    }

    #[test]
    fn a_file_is_not_a_folder_and_a_folder_not_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, absent) = (folder.path().join("file"), folder.path().join("absent"));
        fs::write(&file, b"rows").expect("a file");
        assert!(check_target(folder.path(), "folder").is_ok() && check_target(&absent, "folder").is_ok());
        assert!(check_target(&file, "file").is_ok() && check_target(&absent, "file").is_ok());
        let error = check_target(&file, "folder").expect_err("a file").to_string();
        assert!(error.contains("is a file; a folder is wanted"), "{error}");
        let error = check_target(folder.path(), "file").expect_err("a folder").to_string();
        assert!(error.contains("is a folder; a file is wanted"), "{error}");
    }

    #[test]
    fn a_taken_name_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("0.json");
        for (text, got) in [("one", true), ("two", false)] {
            let mut pending = Pending::new(&path).expect("begun");
            pending.put(text.as_bytes()).expect("written");
            assert_eq!(pending.publish_if_absent().expect("tried"), got);
        }
        assert_eq!(fs::read(&path).expect("a file"), b"one");
        assert_eq!(names(folder.path()), ["0.json"]);
    }

    #[test]
    fn a_new_file_has_its_mode_and_replaces_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("script");
        for (text, got) in [("one", true), ("two", false)] {
            assert_eq!(write_new(&path, text.as_bytes(), 0o700).expect("tried"), got);
        }
        assert_eq!(fs::read(&path).expect("a file"), b"one");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o700);
        assert_eq!(names(folder.path()), ["script"]);
    }

    #[test]
    fn a_file_becomes_a_link_or_a_copy() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("from"), b"rows").expect("a file");
        link_or_copy(&at("from"), &at("x/linked"), false).expect("made");
        link_or_copy(&at("from"), &at("x/copied"), true).expect("made");
        link_or_copy(&at("from"), &at("x/linked"), false).expect("made again");
        fs::write(at("x/copied"), b"half").expect("a file of the same length");
        link_or_copy(&at("from"), &at("x/copied"), true).expect("replaced");
        assert_eq!(names(&at("x")), ["copied", "linked"]);
        let inode = |name: &str| fs::metadata(at(name)).expect("a file").ino();
        assert_eq!(inode("from"), inode("x/linked"));
        assert_ne!(inode("from"), inode("x/copied"));
        assert_eq!(fs::read(at("x/copied")).expect("a file"), b"rows");
    }
}
