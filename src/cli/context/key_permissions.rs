//! Who may read a file of keys.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Permission of users that are neither the file's owner nor of its group.
const READABLE_BY_OTHERS: u32 = 0o004;

/// Warns about a file of keys that every user of this machine can read.
pub(crate) fn warn_if_readable(file: &Path) {
    let mode = std::fs::metadata(file).map_or(0, |found| found.permissions().mode());
    if mode & READABLE_BY_OTHERS != 0 {
        let file = file.display();
        tracing::warn!("every user of this machine can read the key file {file}; run `chmod 600 {file}`");
    }
}
