//! What is said about a command line with a flag from another place. The value of such a flag is never repeated.

use super::help::START;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// Flags that people try: the flag, what is wrong with it, and the way out.
const TRIED: [(&[&str], &str, &str); 3] = [
    (
        &["--api-key", "--apikey", "--key", "--token"],
        "the key of the API is never on the command line, where other users and logs see it",
        "set SUNLAKE_API_KEY, or set SUNLAKE_API_KEY_FILE to a file with the key",
    ),
    (
        &["--days", "--window"],
        "the days to read are no flag; they belong to the pipeline file",
        "set them there: `[extract]` with `days = 30`",
    ),
    (
        &["--dry-run", "--dryrun"],
        "there is no such flag here",
        "see what a run would request and cost: `sunlake plan PIPELINE`",
    ),
];

/// The text about a wrong command line, where clap's own does not help.
pub fn explain(error: &Error) -> Option<String> {
    let is_missing = [ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, ErrorKind::MissingSubcommand];
    if is_missing.contains(&error.kind()) && is_of_program(error) {
        return Some(START.to_owned());
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return None };
    let flag = flag.split('=').next().unwrap_or_default();
    let (_, wrong, way_out) = TRIED
        .iter()
        .find(|(flags, ..)| error.kind() == ErrorKind::UnknownArgument && flags.contains(&flag))?;
    Some(format!("error: {flag}: {wrong}\nhint: {way_out}\n"))
}

/// Whether the help that clap would show is that of the program, not of one of its commands.
fn is_of_program(error: &Error) -> bool {
    error.to_string().contains("Usage: sunlake [OPTIONS] <COMMAND>")
}
