//! Splits a text into records, and says what is wrong with a line.
//!
//! Up to 4 missing bytes are blanks, and blanks beyond the record are cut. A record with a line end inside a field is joined again,
//! if that gives exactly its length. A byte order mark before the first record is skipped. Only the first bytes of a very long line are
//! kept. Zeros in place of a block of a disk, or up to the end of the text, are bytes that were never written: they are no blanks.

use std::io::{self, Read};

/// Bytes of a piece of the text in memory.
const PIECE: usize = 1 << 20;
/// Bytes that are kept of a line that fills the memory for a piece.
const KEPT_OF_ENDLESS: usize = 1 << 16;
/// Bytes that a line may lack at its end.
const MISSING: usize = 4;
/// Half of the smallest block of a disk: 512 zeros in a row have all of one of the halves that are counted from the start of their line.
const HALF_BLOCK: usize = 256;
/// UTF-8's mark, which some editors write at the start of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineError {
    /// It is shorter than a record.
    Short,
    /// It is longer than a record.
    Long,
    /// It has several records: the line ends between them are lost.
    Several,
    /// It has bytes of zero that were never written.
    Zeros,
}

impl LineError {
    /// The reason in the quarantine.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Short => "short line",
            Self::Long => "long line",
            Self::Several => "line of several records",
            Self::Zeros => "zero bytes",
        }
    }
}

/// One line of a text, blank ones excluded. A line of several records is handed on as one [`Line`] a record, so that each counts.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Its bytes, without the line end and at most as long as a record if it is one; of a line above 1 MiB the first 64 KiB.
    pub bytes: &'a [u8],
    /// What is wrong with it.
    pub error: Option<LineError>,
    /// Whether the text ends in it: it has no line end, and is shorter than a record or longer than 1 MiB.
    pub is_cut: bool,
}

/// Reads a text to its end; `each` receives every line that is not blank.
pub fn read_lines(
    text: &mut impl Read,
    length: usize,
    each: impl FnMut(Line<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut splitter = Splitter { length, each, number: 0, endless: None };
    let mut buffer = vec![0; PIECE + 4 * length];
    let mut filled = 0;
    loop {
        let read = text.read(&mut buffer[filled..])?;
        filled += read;
        let used = splitter.split(&buffer[..filled], read == 0)?;
        if read == 0 {
            return Ok(());
        }
        buffer.copy_within(used..filled, 0);
        filled -= used;
        if filled == buffer.len() {
            splitter.begin_endless(&buffer)?;
            filled = 0;
        }
    }
}

struct Splitter<F> {
    length: usize,
    each: F,
    /// Lines so far, blank ones included.
    number: u64,
    /// The first bytes of a line whose end is not there yet, although it filled the memory for a piece.
    endless: Option<Vec<u8>>,
}

impl<F: FnMut(Line<'_>) -> io::Result<()>> Splitter<F> {
    /// Splits what can be split; returns the bytes used. A line whose successor is not there yet stays, unless the text ends.
    fn split(&mut self, text: &[u8], is_last: bool) -> io::Result<usize> {
        let mut used = self.end_endless(text, is_last)?;
        while let Some(end) = line_end(text, used, is_last) {
            let number = self.number + 1;
            if number == 1 && text[used..end].starts_with(BYTE_ORDER_MARK) {
                used += BYTE_ORDER_MARK.len();
            }
            let line = without_return(&text[used..end]);
            let mut next = end + 1;
            if is_blank(line) && !has_hole(line) {
                self.number += 1;
                used = next;
                continue;
            }
            let (mut line, mut lines) = (line, 1);
            if line.len() + MISSING < self.length {
                let Some(second_end) = line_end(text, next, is_last) else {
                    if is_last {
                        self.hand(number, line, end == text.len())?;
                        return Ok(text.len());
                    }
                    return Ok(used);
                };
                let joined = without_return(&text[used..second_end]);
                if joined.len() == self.length {
                    (line, lines, next) = (joined, 2, second_end + 1);
                }
            }
            self.hand(number, line, next > text.len())?;
            self.number += lines;
            used = next;
        }
        Ok(used.min(text.len()))
    }

    /// Takes the first bytes of a line that fills `text`, perhaps after a short line that waited for its successor.
    fn begin_endless(&mut self, text: &[u8]) -> io::Result<()> {
        let start = memchr::memchr(b'\n', text).map_or(0, |end| end + 1);
        if start > 0 {
            self.number += 1;
            self.hand(self.number, without_return(&text[..start - 1]), false)?;
        }
        let rest = &text[start..];
        self.endless = Some(rest[..rest.len().min(KEPT_OF_ENDLESS)].to_vec());
        Ok(())
    }

    /// Skips the rest of a line without an end so far, and hands on its first bytes; returns the bytes used.
    fn end_endless(&mut self, text: &[u8], is_last: bool) -> io::Result<usize> {
        let Some(first) = self.endless.take() else { return Ok(0) };
        let end = memchr::memchr(b'\n', text);
        if end.is_none() && !is_last {
            self.endless = Some(first);
            return Ok(text.len());
        }
        self.number += 1;
        let error = Some(if has_hole(&first) { LineError::Zeros } else { LineError::Long });
        (self.each)(Line { number: self.number, bytes: &first, error, is_cut: end.is_none() })?;
        Ok(end.map_or(text.len(), |end| end + 1))
    }

    fn hand(&mut self, number: u64, line: &[u8], is_open: bool) -> io::Result<()> {
        let is_padded = line.len() > self.length && is_padding(&line[self.length..]);
        let bytes = if is_padded { &line[..self.length] } else { line };
        let error = match bytes.len() {
            _ if has_hole(line) || is_open && self.ends_unwritten(line) => Some(LineError::Zeros),
            short if short + MISSING < self.length => Some(LineError::Short),
            long if 2 * long >= 3 * self.length => Some(LineError::Several),
            long if long > self.length => Some(LineError::Long),
            _ => None,
        };
        let is_cut = is_open && (bytes.len() < self.length || error == Some(LineError::Zeros));
        let mut rest = bytes;
        while error == Some(LineError::Several) && 2 * rest.len() >= 3 * self.length {
            let (bytes, later) = rest.split_at(self.length);
            (self.each)(Line { number, bytes, error, is_cut })?;
            rest = later;
        }
        (self.each)(Line { number, bytes: rest, error, is_cut })
    }

    /// Whether the last line, which has no line end, ends in more zeros than a record may have, or in zeros in place of its line end.
    fn ends_unwritten(&self, line: &[u8]) -> bool {
        line.ends_with(&[0; MISSING + 1]) || line.len() > self.length && line.ends_with(&[0])
    }
}

/// Where the line from `from` ends: at its line feed, or at the end of the text.
fn line_end(text: &[u8], from: usize, is_last: bool) -> Option<usize> {
    let rest = text.get(from..)?;
    match memchr::memchr(b'\n', rest) {
        Some(at) => Some(from + at),
        None => (is_last && !rest.is_empty()).then_some(text.len()),
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_padding(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | 0))
}

/// Whether a line has nothing but blanks, NULs and the Ctrl-Z of old systems.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | 0 | 0x1A))
}

/// Whether a line has a block of zeros: a piece of a file that was never written, with the records and line ends in it.
fn has_hole(line: &[u8]) -> bool {
    let (halves, _) = line.as_chunks::<HALF_BLOCK>();
    halves.contains(&[0; HALF_BLOCK])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;
    use crate::import::files::layout::Kind;

    /// A reader that gives few bytes at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(out.len());
            let (now, later) = self.0.split_at(length);
            out[..length].copy_from_slice(now);
            self.0 = later;
            Ok(length)
        }
    }

    fn lines(text: &[u8], length: usize, step: usize) -> Vec<(u64, Vec<u8>, Option<LineError>)> {
        let mut found = Vec::new();
        read_lines(&mut Slowly(text, step), length, |line| {
            found.push((line.number, line.bytes.to_vec(), line.error));
            Ok(())
        })
        .expect("read");
        found
    }

    #[test]
    fn lines_are_padded_cut_joined_or_wrong_whatever_the_pieces() {
        let text = b"1234567890\r\n\r\n12345678\n1234567890  \n1234\r\n6789\nab\n1234567890x\nabcdefghij\n12\x1a\n\x1a";
        let good = |number, line: &[u8]| (number, line.to_vec(), None);
        for step in [1, 3, 7, 1000] {
            let found = lines(text, 10, step);
            assert_eq!(found[0], good(1, b"1234567890"));
            assert_eq!(found[1], good(3, b"12345678"));
            assert_eq!(found[2], good(4, b"1234567890"));
            assert_eq!(found[3], good(5, b"1234\r\n6789"));
            assert_eq!(found[4], (7, b"ab".to_vec(), Some(LineError::Short)));
            assert_eq!(found[5], (8, b"1234567890x".to_vec(), Some(LineError::Long)));
            assert_eq!(found[6], good(9, b"abcdefghij"));
            assert_eq!(found[7], (10, b"12\x1a".to_vec(), Some(LineError::Short)));
            assert_eq!(found.len(), 8);
        }
    }

    #[test]
    fn each_record_of_a_line_counts_where_line_ends_are_lost() {
        let wrong = |number, line: &[u8], error| (number, line.to_vec(), Some(error));
        for (text, of_line) in [
            ("abcdefghijABCDEFGHIJ", &["abcdefghij", "ABCDEFGHIJ"][..]),
            ("abcdefghij\rABCDEFGHIJ\r1234567890", &["abcdefghij", "\rABCDEFGHI", "J\r1234567890"]),
            ("abcdefghijABCDE", &["abcdefghij", "ABCDE"]),
        ] {
            let found = lines(format!("1234567890\n{text}\n0987654321\n").as_bytes(), 10, 7);
            let mut expected = vec![(1, b"1234567890".to_vec(), None)];
            expected.extend(of_line.iter().map(|line| wrong(2, line.as_bytes(), LineError::Several)));
            expected.push((3, b"0987654321".to_vec(), None));
            assert_eq!(found, expected);
        }
        assert_eq!(lines(b"abcdefghijABCD\n", 10, 7), [wrong(1, b"abcdefghijABCD", LineError::Long)]);
    }

    #[test]
    fn a_line_of_many_megabytes_is_one_long_line_between_others() {
        let long = "x".repeat(3 * PIECE);
        for (before, after) in [("1234567890\n", "\nabcdefghij\n"), ("1234\n", "\r\nabcdefghij")] {
            let text = format!("{before}{long}{after}");
            let found = lines(text.as_bytes(), 10, 1 << 16);
            assert_eq!(found.len(), 3);
            let (number, bytes, error) = &found[1];
            assert_eq!((*number, bytes.len(), *error), (2, KEPT_OF_ENDLESS, Some(LineError::Long)));
            assert_eq!(found[2], (3, b"abcdefghij".to_vec(), None));
        }
        let is_cut = |text: &mut dyn Read| {
            let (mut text, mut is_cut) = (text, false);
            read_lines(&mut text, 10, |line| {
                is_cut = line.is_cut;
                Ok(())
            })
            .map(|()| is_cut)
            .expect("read")
        };
        assert!(is_cut(&mut io::repeat(b'x').take(99 << 20)) && is_cut(&mut io::repeat(0).take(99 << 20)));
        assert!(!is_cut(&mut format!("{long}\n").as_bytes()));
    }

    #[test]
    fn zeros_that_were_never_written_are_no_blanks() {
        let record = |digit: &str| digit.repeat(996) + "\0\0\0\0";
        let (one, other) = (record("1"), record("2"));
        let text = format!("{one}\n{other}\n");
        let errors = |text: &[u8]| -> Vec<_> {
            lines(text, 1000, 333).into_iter().map(|(number, _, error)| (number, error)).collect()
        };
        let zeros = Some(LineError::Zeros);
        for from in 1..text.len() {
            let (mut tail, mut hole) = (text.clone().into_bytes(), text.clone().into_bytes());
            tail[from..].fill(0);
            hole[from..(from + 512).min(text.len())].fill(0);
            let expected = if from <= one.len() { vec![(1, zeros)] } else { vec![(1, None), (2, zeros)] };
            assert_eq!(errors(&tail), expected, "from {from}");
            assert!(errors(&hole).iter().any(|(_, error)| *error == zeros), "from {from}");
        }
        // Zeros at the end of a record are blanks, with a line end or without, and so are a few after the last line.
        let (with_more, longer) = (format!("{text}\0\0\0"), text.replace('\n', "\0\0\r\n"));
        for text in [text.as_str(), text.trim_end(), with_more.as_str(), longer.as_str()] {
            assert_eq!(errors(text.as_bytes()), [(1, None), (2, None)]);
        }
    }

    #[test]
    fn a_last_line_without_an_end_is_a_line() {
        assert_eq!(lines(b"12345678", 10, 100)[0].2, None);
        assert_eq!(lines(b"12", 10, 100)[0].2, Some(LineError::Short));
        assert!(lines(b"", 10, 100).is_empty());
    }

    #[test]
    fn fuzz_of_lines() {
        let line = "L26000000001  SUN LLC".to_owned() + &" ".repeat(700);
        let examples = [format!("{line}\r\n{line}\r\n\r\n"), format!("{line}\n"), "\0".repeat(900) + &line];
        let kinds = [
            Kind::Corporate,
            Kind::Fictitious,
            Kind::Partnership,
            Kind::CorporateEvent,
            Kind::FictitiousEvent,
            Kind::PartnershipEvent,
        ];
        try_changed(&examples, |input| {
            for kind in kinds {
                let mut bytes = 0;
                let read = read_lines(&mut &input[..], kind.length(), |line| {
                    bytes += line.bytes.len();
                    Ok(())
                });
                assert!(read.is_ok() && bytes <= input.len(), "no byte is read twice");
            }
        });
    }
}
