//! Secrets: a variable, or a file that another variable names; never the command line.

use super::key_permissions::warn_if_readable;
use crate::cli::exit::CommandError;
use crate::cli::session::World;
use std::path::Path;

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
            .hint(format!("give the path of a file with the {noun} and nothing else"))
    })?;
    warn_if_readable(Path::new(&file));
    Ok(Some((text, format!("the file {file} of {variable}"))))
}
