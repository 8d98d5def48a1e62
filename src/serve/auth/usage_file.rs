//! The usage file: a line of fixed width for each account, which one server at a time writes.

use super::counted::MeterError;
use crate::contract::usage::Usage;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::ops::Range;
use std::path::Path;

/// Room of a line for counts that become longer.
const ROOM: usize = 128;
/// The width of a line is a multiple of this.
const WIDTH_STEP: usize = 64;

/// What the file has of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) account: String,
    #[serde(flatten)]
    pub(super) usage: Usage,
    /// When each key was used last, by its id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) keys: BTreeMap<String, Timestamp>,
}

/// Where a line is in the file.
pub(super) type Place = Range<u64>;

/// The lines of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) lines: Vec<(Line, Place)>,
    /// Numbers of lines that cannot be read.
    pub(super) damaged: Vec<usize>,
    /// Whether the last line has no end.
    pub(super) is_torn: bool,
}

/// The file, made when it is missing, under a lock that no other process has; it is released with the value.
pub(super) fn open_locked(path: &Path) -> Result<File, MeterError> {
    let failed = |source| MeterError::Storage(path.to_owned(), source);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(MeterError::Foreign(path.to_owned()));
    }
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(MeterError::Locked(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

impl Line {
    /// The line as it is written: as wide as its place, or as a new one where it has none or has outgrown it.
    pub(super) fn text(&self, place: Option<&Place>) -> Vec<u8> {
        // Writing to memory does not fail, and every key of the record is text.
        let mut text = serde_json::to_vec(self).unwrap_or_default();
        let width = place.map_or(0, width);
        let new = (text.len() + ROOM).next_multiple_of(WIDTH_STEP);
        text.resize(if width > text.len() { width } else { new } - 1, b' ');
        text.push(b'\n');
        text
    }
}

/// The bytes of a place.
pub(super) fn width(place: &Place) -> usize {
    // Read from a file that was in memory.
    (place.end - place.start) as usize
}

impl Contents {
    /// The lines of a file's bytes; `None` for a file that is something else. Zeros are what a power cut may leave.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if !bytes.first().is_none_or(|first| matches!(first, b'{' | b'\n' | b' ' | 0)) {
            return None;
        }
        let is_torn = bytes.last().is_some_and(|last| *last != b'\n');
        let (mut contents, mut end) = (Self { is_torn, ..Self::default() }, 0);
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let zeros = line.iter().take_while(|byte| **byte == 0).count();
            let begin = end + zeros as u64;
            end += line.len() as u64;
            match serde_json::from_slice::<Line>(&line[zeros..]) {
                Ok(read) => contents.lines.push((read, begin..end)),
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(_) => contents.damaged.push(number),
            }
        }
        Some(contents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;

    fn line(account: &str) -> Line {
        Line { account: account.to_owned(), ..Line::default() }
    }

    fn read(bytes: &[u8]) -> (Vec<(Line, Place)>, Vec<usize>) {
        let contents = Contents::of(bytes).expect("lines");
        (contents.lines, contents.damaged)
    }

    #[test]
    fn lines_stay_in_their_place_and_are_read_again() {
        let new = line("the \"other\"\n").text(None);
        let place = 10..10 + new.len() as u64;
        let used = Timestamp::UNIX_EPOCH;
        let changed = Line { keys: [("key_1".to_owned(), used)].into(), ..line("the \"other\"\n") };
        let text = changed.text(Some(&place));
        assert_eq!(text.len(), new.len());
        let first = line("one").text(None);
        let places = [0..first.len() as u64, first.len() as u64..(first.len() + text.len()) as u64];
        let lines = [line("one"), changed].into_iter().zip(places).collect();
        assert_eq!(read(&[first, text].concat()), (lines, vec![]));
    }

    #[test]
    fn widest_counts_fit_their_line() {
        let new = line("\u{1}").text(None);
        let widest = "2026-07-31T12:00:00.123456789Z";
        let text = format!(
            "{{\"account\":\"\u{1}\",\"minute_since\":\"{widest}\",\"minute\":{0},\"day_on\":\"2026-07-31\",\
             \"day\":{0},\"month_on\":\"2026-07-01\",\"month\":{0}}}",
            u32::MAX
        );
        let widest: Line = serde_json::from_str(&text.replace('\u{1}', "\\u0001")).expect("a line");
        assert_eq!(widest.text(Some(&(0..new.len() as u64))).len(), new.len());
        let outgrown = Line { account: "x".repeat(1_000), ..widest };
        assert!(outgrown.text(Some(&(0..new.len() as u64))).len() > 1_000, "a new place");
    }

    #[test]
    fn damaged_line_costs_its_account_and_what_is_no_usage_file_is_refused() {
        let [one, two, three] = ["one", "two", "three"].map(|account| line(account).text(None));
        for damage in [&b"{\"accou"[..], b"\0\0\0\0", b"\xff\xfe"] {
            let rest = vec![b'x'; two.len() - 1 - damage.len()];
            let (lines, damaged) = read(&[&one, damage, &rest, b"\n", &three].concat());
            let accounts: Vec<_> = lines.iter().map(|(line, _)| line.account.as_str()).collect();
            assert_eq!((accounts, damaged), (vec!["one", "three"], vec![2]));
        }
        for foreign in ["# Ours.\n", "[[key]]\n"] {
            assert!(Contents::of(foreign.as_bytes()).is_none(), "{foreign}");
        }
        assert!(Contents::of(b"").is_some_and(|contents| !contents.is_torn));
    }

    #[test]
    fn lines_after_zeros_are_read_and_a_torn_end_is_known() {
        let one = line("one").text(None);
        let contents = Contents::of(&[&[0; 100], &*one, b"{\"acc"].concat()).expect("lines");
        assert_eq!(contents.lines, [(line("one"), 100..100 + one.len() as u64)]);
        assert_eq!((contents.damaged, contents.is_torn), (vec![2], true));
    }

    #[test]
    fn fuzz_of_usage_files() {
        let lines = ["acme", "other"].map(|account| line(account).text(None));
        try_changed(&[lines.concat()], |input| {
            if let Some(contents) = Contents::of(input) {
                assert!(contents.lines.iter().all(|(_, place)| place.end <= input.len() as u64));
            }
        });
    }
}
