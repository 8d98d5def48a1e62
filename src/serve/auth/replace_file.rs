//! Replacing a file of keys: who may read it and where a link to it points stay as they were.
//!
//! The lake's own replacement makes files that everybody may read; a temporary file of `tempfile` is its owner's.

use std::fs::{File, Metadata};
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

/// Replaces a file atomically and durably. It keeps owner, group and mode; a new one is its owner's alone. A reader sees all of
/// the old file or all of the new one.
pub(super) fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    match path.metadata() {
        Ok(before) => keep_access(file.as_file(), &before)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // Before the folder is synced, a power cut brings the old file back.
    File::open(folder)?.sync_all()
}

/// Gives a file the owner, group and mode of another. Only root can give a file away.
fn keep_access(file: &File, before: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (before.uid(), before.gid()) {
        fchown(file, Some(before.uid()), Some(before.gid())).map_err(|error| {
            io::Error::new(error.kind(), format!("its owner and group cannot be kept: {error}"))
        })?;
    }
    file.set_permissions(before.permissions())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
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
