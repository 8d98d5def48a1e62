//! Results on stdout, and what their text is made of: numbers with their nouns, lists, and several lines.

use crate::cli::exit::CommandError;
use crate::contract::eastern::eastern;
use jiff::Timestamp;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

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

/// A number with separators, such as `131,353`.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration for people: `0.8 s`, `31 s`, `12 min`, `3 h 20 min`. From ten seconds on, a part that has begun counts.
pub(crate) fn duration(time: Duration) -> String {
    let secs = time.as_secs_f64();
    let minutes = (secs / 60.0).ceil() as u64;
    match secs {
        ..9.95 => format!("{secs:.1} s"),
        ..100.0 => format!("{:.0} s", secs.ceil()),
        ..6_000.0 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// An instant to the minute, in Eastern time, such as `2026-11-21 00:00 Eastern time`.
pub(crate) fn instant(at: Timestamp) -> String {
    format!("{} Eastern time", eastern(at).strftime("%Y-%m-%d %H:%M"))
}

/// A number with its noun, such as `2 files`.
pub(crate) fn count(number: u64, singular: &str) -> String {
    format!("{} {}", self::number(number), noun(number, singular))
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
    if number == 1 { "1 prefix".to_owned() } else { format!("{} prefixes", self::number(number)) }
}

/// How many counted businesses the lake lacks, after their number; nothing where none is missing or where that is unknown.
pub(crate) fn of_these_missing(missing: Option<i64>) -> String {
    match missing {
        Some(missing @ 1..) => format!(", {} of them not in the lake", number(missing.unsigned_abs())),
        Some(missing @ ..0) => format!(", {} fewer than the lake has", number(missing.unsigned_abs())),
        Some(0) | None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_written_for_people() {
        assert_eq!(
            [0, 999, 1_000, 131_353, 12_810_000].map(number),
            ["0", "999", "1,000", "131,353", "12,810,000"]
        );
        let shown = |secs: f64| duration(Duration::from_secs_f64(secs));
        for (secs, words) in [
            (0.0, "0.0 s"),
            (4.21, "4.2 s"),
            (9.96, "10 s"),
            (30.4, "31 s"),
            (99.5, "100 s"),
            (100.0, "2 min"),
            (700.0, "12 min"),
            (5_990.0, "100 min"),
            (12_000.0, "3 h 20 min"),
        ] {
            assert_eq!(shown(secs), words, "{secs}");
        }
        let at = "2026-11-21T05:00:00.123456789Z".parse().expect("an instant");
        assert_eq!(instant(at), "2026-11-21 00:00 Eastern time");
    }
}
