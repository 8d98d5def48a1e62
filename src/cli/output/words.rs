//! Results on stdout, and what their text is made of: numbers with their nouns, lists, and several lines.

use crate::cli::exit::CommandError;
use serde::Serialize;
use std::io::Write;

/// Prints to stdout. A reader that closed the pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), CommandError> {
    print_bytes(text.as_bytes())
}

/// As [`print()`], of bytes.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), CommandError> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(source) => Err(CommandError::Io("cannot write to stdout".to_owned(), source)),
        Ok(()) => Ok(()),
    }
}

/// Prints one line of JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CommandError> {
    let json = serde_json::to_string(value).map_err(|error| CommandError::Bug(error.to_string()))?;
    print(&format!("{json}\n"))
}

/// A text made by writing to it.
pub(crate) fn lines(write: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text);
    text
}

/// A number with its noun, such as `2 files`.
pub(crate) fn count(number: u64, singular: &str) -> String {
    format!("{number} {}", noun(number, singular))
}

/// The singular or the plural of a noun.
pub(crate) fn noun(number: u64, singular: &str) -> String {
    if number == 1 { singular.to_owned() } else { format!("{singular}s") }
}

/// Snapshots by number, such as `snapshots 1, 2`.
pub(crate) fn snapshots(numbers: &[u64]) -> String {
    let list = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    format!("{} {list}", noun(numbers.len() as u64, "snapshot"))
}

/// A number of prefixes.
pub(crate) fn prefixes(number: u64) -> String {
    if number == 1 { "1 prefix".to_owned() } else { format!("{number} prefixes") }
}

/// How many counted businesses the lake lacks, after their number; nothing where none is missing or where that is unknown.
pub(crate) fn of_these_missing(missing: Option<i64>) -> String {
    match missing {
        Some(missing @ 1..) => format!(", {missing} of them not in the lake"),
        Some(missing @ ..0) => format!(", {} fewer than the lake has", missing.unsigned_abs()),
        Some(0) | None => String::new(),
    }
}
