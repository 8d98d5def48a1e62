//! Secrets: a variable, or a file that another variable names; never the command line. And who may read such a file.

use crate::cli::exit::CommandError;
use crate::cli::session::World;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Permission of users that are neither the file's owner nor of its group.
const READABLE_BY_OTHERS: u32 = 0o004;

/// The text of a secret, and where it was given: the variable, or the file of `VARIABLE_FILE`. `noun` is for the hint.
pub(crate) fn secret(
    world: &World,
    variable: &str,
    noun: &str,
) -> Result<Option<(String, String)>, CommandError> {
    if let Some(text) = (world.variable)(variable) {
        return Ok(Some((text, variable.to_owned())));
    }
    let variable = format!("{variable}_FILE");
    let Some(file) = (world.variable)(&variable) else { return Ok(None) };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        CommandError::Settings(format!("cannot read {variable} {file}: {error}"))
            .with_hint(format!("give the path of a file with the {noun} and nothing else"))
    })?;
    // A file of several lines is another file.
    if text.trim().lines().count() == 1 {
        warn_if_readable(Path::new(&file));
    }
    Ok(Some((text, format!("the file {file} of {variable}"))))
}

/// Warns about a file that is known to be one of keys, and that every user of this machine can read.
pub(crate) fn warn_if_readable(file: &Path) {
    let mode = std::fs::metadata(file).map_or(0, |found| found.permissions().mode());
    if mode & READABLE_BY_OTHERS != 0 {
        let file = file.display();
        tracing::warn!("every user of this machine can read the key file {file}; run `chmod 600 {file}`");
    }
}
