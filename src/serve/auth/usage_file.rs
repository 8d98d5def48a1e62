//! The usage file: a line of fixed width for each account, which one server at a time writes.

use super::counted::MeterError;
use crate::contract::usage::Usage;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, TryLockError};
use std::io;
use std::ops::Range;
use std::path::Path;

/// Room of a line for counts that become longer.
const ROOM: usize = 128;
/// The width of a line is a multiple of this.
const WIDTH_STEP: usize = 64;
/// Lines with no more bytes between them are written at once.
const MAX_GAP: usize = 16 * 1024;

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

/// The file as it should be, and where each account's line is in it.
#[derive(Debug, Default)]
pub(super) struct Image {
    bytes: Vec<u8>,
    slots: HashMap<String, Range<usize>>,
}

/// The lines of a file.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) image: Image,
    pub(super) lines: Vec<Line>,
    /// Numbers of lines that cannot be read.
    pub(super) damaged: Vec<usize>,
}

/// The file, under a lock that no other process has; it is released with the value.
pub(super) fn open_locked(path: &Path) -> Result<File, MeterError> {
    let failed = |source| MeterError::Storage(path.to_owned(), source);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let file = open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(MeterError::Foreign(path.to_owned()));
    }
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(MeterError::Locked(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

/// Opens the file to write; makes it when it is missing.
pub(super) fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

impl Contents {
    /// The lines of a file's bytes; `None` for a file that is something else. Zeros are what a power cut may leave.
    pub(super) fn of(bytes: Vec<u8>) -> Option<Self> {
        if !bytes.first().is_none_or(|first| matches!(first, b'{' | b'\n' | b' ' | 0)) {
            return None;
        }
        let (mut contents, mut begin) = (Self::default(), 0);
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let zeros = line.iter().take_while(|byte| **byte == 0).count();
            let slot = begin + zeros..begin + line.len();
            begin = slot.end;
            match serde_json::from_slice::<Line>(&line[zeros..]) {
                Ok(read) => {
                    contents.image.slots.insert(read.account.clone(), slot);
                    contents.lines.push(read);
                }
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(_) => contents.damaged.push(number),
            }
        }
        contents.image.bytes = bytes;
        // What is appended begins a line of its own.
        if contents.image.bytes.last().is_some_and(|last| *last != b'\n') {
            contents.image.bytes.push(b'\n');
        }
        Some(contents)
    }
}

impl Image {
    /// Puts an account's line into its place, or at the end; returns that place.
    pub(super) fn put(&mut self, line: &Line) -> Range<usize> {
        // Writing to memory does not fail, and every key of the record is text.
        let mut text = serde_json::to_vec(line).unwrap_or_default();
        let fits = |slot: &&Range<usize>| slot.len() > text.len() && slot.end <= self.bytes.len();
        let slot = self.slots.get(&line.account).filter(fits).cloned().unwrap_or_else(|| {
            let begin = self.bytes.len();
            begin..begin + (text.len() + ROOM).next_multiple_of(WIDTH_STEP)
        });
        text.resize(slot.len() - 1, b' ');
        text.push(b'\n');
        self.bytes.resize(self.bytes.len().max(slot.end), b' ');
        self.bytes[slot.clone()].copy_from_slice(&text);
        self.slots.insert(line.account.clone(), slot.clone());
        slot
    }

    /// The bytes of a part of the file.
    pub(super) fn part(&self, part: &Range<usize>) -> &[u8] {
        &self.bytes[part.clone()]
    }
}

/// The parts of the file to write for these lines: lines that are close to each other are one part.
pub(super) fn parts_of(mut lines: Vec<Range<usize>>) -> Vec<Range<usize>> {
    lines.sort_unstable_by_key(|line| line.start);
    let mut parts: Vec<Range<usize>> = Vec::new();
    for line in lines {
        match parts.last_mut() {
            Some(last) if line.start <= last.end + MAX_GAP => last.end = last.end.max(line.end),
            _ => parts.push(line),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;

    fn line(account: &str) -> Line {
        Line { account: account.to_owned(), ..Line::default() }
    }

    fn accounts(contents: &Contents) -> Vec<&str> {
        contents.lines.iter().map(|line| line.account.as_str()).collect()
    }

    #[test]
    fn lines_stay_in_their_place_and_are_read_again() {
        let mut image = Image::default();
        let [one, other] = ["one", "the \"other\"\n"].map(|account| image.put(&line(account)));
        assert_eq!((one.end, image.bytes.len()), (other.start, other.end));
        let used = Timestamp::UNIX_EPOCH;
        let changed = Line { keys: [("key_1".to_owned(), used)].into(), ..line("one") };
        assert_eq!(image.put(&changed), one);
        let read = Contents::of(image.bytes).expect("lines");
        assert_eq!(read.lines, [changed, line("the \"other\"\n")]);
        assert_eq!((read.image.slots["one"].clone(), read.damaged.len()), (one, 0));
    }

    #[test]
    fn widest_counts_fit_their_line() {
        let mut image = Image::default();
        let place = image.put(&line("\u{1}"));
        let widest = "2026-07-31T12:00:00.123456789Z";
        let text = format!(
            "{{\"account\":\"\u{1}\",\"minute_since\":\"{widest}\",\"minute\":{0},\"day_on\":\"2026-07-31\",\
             \"day\":{0},\"month_on\":\"2026-07-01\",\"month\":{0}}}",
            u32::MAX
        );
        let line = serde_json::from_str(&text.replace('\u{1}', "\\u0001")).expect("a line");
        assert_eq!(image.put(&line), place);
    }

    #[test]
    fn damaged_line_costs_its_account_and_what_is_no_usage_file_is_refused() {
        let mut image = Image::default();
        let places = ["one", "two", "three"].map(|account| image.put(&line(account)));
        for damage in [&b"{\"accou"[..], b"\0\0\0\0", b"\xff\xfe"] {
            let mut bytes = image.bytes.clone();
            bytes[places[1].start..places[1].end - 1].fill(b'x');
            bytes[places[1].start..][..damage.len()].copy_from_slice(damage);
            let mut read = Contents::of(bytes).expect("lines");
            assert_eq!((accounts(&read), &*read.damaged), (vec!["one", "three"], &[2][..]));
            assert_eq!(read.image.put(&line("two")).start, places[2].end, "a new line");
        }
        for foreign in ["# Ours.\n", "[[key]]\n"] {
            assert!(Contents::of(foreign.into()).is_none(), "{foreign}");
        }
        assert!(Contents::of(Vec::new()).is_some());
    }

    #[test]
    fn lines_after_zeros_are_read_and_a_torn_end_is_left_behind() {
        let mut image = Image::default();
        let place = image.put(&line("one"));
        let mut read = Contents::of([&[0; 100], image.part(&place), b"{\"acc"].concat()).expect("lines");
        assert_eq!((accounts(&read), &*read.damaged), (vec!["one"], &[2][..]));
        assert_eq!(read.image.put(&line("one")), 100..100 + place.len());
        assert_eq!(read.image.put(&line("two")).start, 100 + place.len() + 6);
    }

    #[test]
    fn lines_side_by_side_are_one_part() {
        let far = MAX_GAP * 3;
        let parts = parts_of(vec![far..far + 10, 128..192, 0..64]);
        assert_eq!(parts, [0..192, far..far + 10]);
    }

    #[test]
    fn fuzz_of_usage_files() {
        let mut image = Image::default();
        for account in ["acme", "other"] {
            image.put(&line(account));
        }
        try_changed(&[image.bytes], |input| {
            if let Some(contents) = Contents::of(input.to_vec()) {
                assert!(contents.image.slots.len() <= contents.lines.len());
            }
        });
    }
}
