//! Folders that a command writes into, and files where one is wanted.

use crate::cli::exit::CommandError;
use std::path::Path;

/// Fails if there is a file where a folder is wanted.
pub(crate) fn require_folder_or_nothing(path: &Path) -> Result<(), CommandError> {
    if path.is_file() {
        Err(CommandError::Settings(format!("{} is a file; a folder is wanted", path.display())))
    } else {
        Ok(())
    }
}

/// Fails if the folder of a file is not there.
pub(crate) fn require_folder_of(file: &Path) -> Result<(), CommandError> {
    match file.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        None => Ok(()),
        Some(folder) => {
            let error = format!("cannot use {}: there is no folder {}", file.display(), folder.display());
            Err(CommandError::Settings(error).with_hint("make the folder, or name another file"))
        }
    }
}
