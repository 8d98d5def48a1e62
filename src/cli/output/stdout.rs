//! Results on stdout.

use crate::cli::exit::CommandError;
use serde::Serialize;
use std::io::Write;

/// Prints to stdout. A reader that closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(source) => Err(CommandError::Io { what: "cannot write to stdout".to_owned(), source }),
        Ok(()) => Ok(()),
    }
}

/// Prints one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    let json = serde_json::to_string(value).map_err(|error| CommandError::Bug(error.to_string()))?;
    print(&format!("{json}\n"))
}
