//! Replacing a file of keys: who may read it and where a link to it points stay as they were.
//!
//! The lake's own replacement makes files that everybody may read; a temporary file of `tempfile` is its owner's.

use crate::lake::folder_of;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

/// The file behind a path: the end of its links, whether that file exists or not.
pub(super) fn behind_links(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => match path.read_link() {
            Ok(target) => behind_links(&folder_of(path).join(target)),
            Err(_) => Ok(path.to_owned()),
        },
        found => found,
    }
}

/// Replaces a file atomically and durably. It keeps owner, group, mode and access list; a new one is its owner's alone. A reader
/// sees all of the old file or all of the new one.
pub(super) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    share_as(path, file.as_file())?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // Before the folder is synced, a power cut brings the old file back.
    File::open(folder)?.sync_all()
}

/// Opens the lock file of a file of keys, and makes it if it is missing. A user who may change the keys can open it, no matter who
/// made it.
pub(super) fn open_lock(path: &Path, keys: &Path) -> io::Result<File> {
    match File::create_new(path) {
        Ok(lock) => share_as(keys, &lock).map(|()| lock),
        // A lock needs no right to write, but on network file systems.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            File::options().write(true).open(path).or_else(|error| match error.kind() {
                ErrorKind::PermissionDenied => File::open(path),
                _ => Err(error),
            })
        }
        Err(error) => Err(error),
    }
}

/// Gives a file the owner, group, access list and mode of another, if that exists. Only root can give a file away.
fn share_as(other: &Path, file: &File) -> io::Result<()> {
    let before = match other.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found?,
    };
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (before.uid(), before.gid()) {
        fchown(file, Some(before.uid()), Some(before.gid())).map_err(unkept("owner and group"))?;
    }
    access_list::copy(other, file).map_err(unkept("access list"))?;
    file.set_permissions(before.permissions())
}

/// The error of a file whose `what` stays another.
fn unkept(what: &str) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("its {what} cannot be kept: {error}"))
}

/// The access list of Linux, an attribute of the file. `setfacl` makes it.
#[cfg(target_os = "linux")]
mod access_list {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr};
    use rustix::io::Errno;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    const NAME: &str = "system.posix_acl_access";
    /// The most that an attribute has.
    const MOST_BYTES: usize = 64 << 10;

    /// Gives a file the access list of another, or none.
    pub(super) fn copy(other: &Path, file: &File) -> io::Result<()> {
        let mut list = vec![0; MOST_BYTES];
        let copied = match getxattr(other, NAME, &mut list[..]) {
            Ok(length) => fsetxattr(file, NAME, &list[..length], XattrFlags::empty()),
            // The new file may have one from its folder.
            Err(Errno::NODATA) => fremovexattr(file, NAME).or_else(|error| match error {
                Errno::NODATA => Ok(()),
                other => Err(other),
            }),
            // A file system without such lists.
            Err(Errno::NOTSUP) => Ok(()),
            Err(error) => Err(error),
        };
        Ok(copied?)
    }
}

#[cfg(not(target_os = "linux"))]
mod access_list {
    /// On another system the mode says all that this program knows of.
    pub(super) const fn copy(_: &std::path::Path, _: &std::fs::File) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    #[test]
    fn owner_group_and_mode_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys.toml");
        let access = || path.metadata().map(|found| (found.uid(), found.gid(), found.mode() & 0o7777));
        replace_file(&path, b"new").expect("a new file");
        assert_eq!(access().expect("a file").2, 0o600);
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("a mode");
        // Only root can give it away; others keep their own.
        let _ = chown(&path, Some(12_345), Some(54_321));
        let before = access().expect("a file");
        replace_file(&path, b"newer").expect("replaced");
        assert_eq!((access().expect("a file"), before.2), (before, 0o640));
        assert_eq!(std::fs::read(&path).expect("a file"), b"newer");
    }

    #[test]
    fn lock_of_another_user_can_be_opened_by_those_who_may_change_the_keys() {
        let folder = tempfile::tempdir().expect("a folder");
        let (keys, lock) = (folder.path().join("keys.toml"), folder.path().join("keys.toml.lock"));
        std::fs::write(&keys, "").expect("a file");
        std::fs::set_permissions(&keys, Permissions::from_mode(0o660)).expect("a mode");
        open_lock(&lock, &keys).expect("a lock");
        assert_eq!(lock.metadata().expect("a lock").mode() & 0o777, 0o660);
        std::fs::set_permissions(&lock, Permissions::from_mode(0o444)).expect("a mode");
        open_lock(&lock, &keys).expect("a lock").lock().expect("locked");
        std::fs::remove_file(&lock).and_then(|()| std::fs::create_dir(&lock)).expect("a folder");
        open_lock(&lock, &keys).expect_err("a folder");
    }

    #[test]
    fn links_lead_to_the_file_though_it_is_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a folder");
        symlink("second", root.join("first")).expect("a link");
        symlink(root.join("file"), root.join("second")).expect("a link");
        assert_eq!(behind_links(&root.join("first")).expect("a path"), root.join("file"));
        std::fs::write(root.join("file"), "").expect("a file");
        assert_eq!(behind_links(&root.join("first")).expect("a path"), root.join("file"));
        symlink("ring", root.join("ring")).expect("a link");
        assert!(behind_links(&root.join("ring")).is_err());
    }
}
