//! Whether a text is all of what its name says. Counters while it is read, no second look at its bytes.

use super::files::layout::{Kind, NUMBER};
use super::files::lines::{Line, LineError};
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Newest days of a file that are counted.
const MOST_DAYS: usize = 64;
/// Lines of other lengths that every file may have: a few odd records go to quarantine.
const FEW_LINES: u64 = 3;
/// Records from which their last digits show whether a part of a set has another part's.
const ENOUGH_RECORDS: u64 = 20;

/// What is wrong with a text. It does not count then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of an error names its fields")]
pub enum Fault {
    #[error("it is empty")]
    Empty,
    #[error("it has a page of a web server in place of records")]
    Page,
    #[error("none of its {lines} lines is a record of {length} bytes")]
    NoRecord { lines: u64, length: usize },
    #[error("it has zero bytes in place of records: it was not written to its end")]
    Unwritten,
    #[error("it ends within a record: it was cut short")]
    Cut,
    #[error("{wrong} of its {lines} lines are no records of {length} bytes")]
    OtherLayout { wrong: u64, lines: u64, length: usize },
    #[error("only {own} of its {records} numbers end in {digit}: it has the records of another part")]
    OtherPart { own: u64, records: u64, digit: u8 },
}

/// What the name and the place of a text say of it.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// What its records are.
    pub kind: Kind,
    /// Whether it has the records of one day: one without any is valid.
    pub is_daily: bool,
    /// The last digit of its numbers, of a quarterly file of corporations.
    pub part: Option<u8>,
    /// Whether an archive's checksum says that nothing of it is missing. The state's own texts may end with a short line.
    pub is_checked: bool,
}

/// What is counted while a text is read.
#[derive(Debug, Clone, Default)]
pub struct Sound {
    lines: u64,
    rejected: u64,
    misfits: u64,
    of_part: u64,
    is_page: bool,
    is_unwritten: bool,
    ends_badly: bool,
    newest: BTreeMap<Date, u64>,
}

impl Sound {
    /// Counts a line; `is_record` says whether it became a record, `newest` is the newest day in it.
    pub fn note(&mut self, expected: Expected, line: Line<'_>, is_record: bool, newest: Option<Date>) {
        self.lines += 1;
        self.is_unwritten |= line.error == Some(LineError::Zeros);
        self.ends_badly = line.is_cut || line.error.is_some();
        if !is_record {
            self.rejected += 1;
            self.misfits += u64::from(line.error.is_some() && !line.is_cut);
            self.is_page |= line.bytes.trim_ascii_start().starts_with(b"<");
            return;
        }
        let last = |part: u8| NUMBER.of(line.bytes).trim_ascii_end().last() == Some(&(b'0' + part));
        self.of_part += u64::from(expected.part.is_some_and(last));
        if let Some(day) = newest {
            self.note_day(day);
        }
    }

    fn note_day(&mut self, day: Date) {
        let is_full = self.newest.len() == MOST_DAYS;
        if is_full && self.newest.first_key_value().is_some_and(|(oldest, _)| day < *oldest) {
            return;
        }
        *self.newest.entry(day).or_default() += 1;
        if self.newest.len() > MOST_DAYS {
            self.newest.pop_first();
        }
    }

    /// Lines that are not blank; a line of several records counts as these.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Lines that became records.
    pub fn records(&self) -> u64 {
        self.lines - self.rejected
    }

    /// The newest day of its content.
    pub fn newest(&self) -> Option<Date> {
        self.newest.last_key_value().map(|(day, _)| *day)
    }

    /// The records that are newer than a day, as far as its newest days show.
    pub fn newer_than(&self, day: Date) -> u64 {
        self.newest.iter().rev().take_while(|(known, _)| **known > day).map(|(_, records)| records).sum()
    }

    /// What is wrong with the text, after its last line.
    pub fn fault(&self, expected: Expected) -> Option<Fault> {
        let (lines, length) = (self.lines, expected.kind.length());
        let is_other = self.rejected * 2 > lines || self.misfits > FEW_LINES && self.misfits * 10 > lines;
        let is_rare_event = matches!(expected.kind, Kind::FictitiousEvent | Kind::PartnershipEvent);
        let may_be_empty = expected.is_daily || expected.is_checked || is_rare_event;
        let is_other_part = self.records() >= ENOUGH_RECORDS && self.of_part * 2 < self.records();
        let other_part = expected.part.filter(|_| is_other_part);
        let faults = [
            self.is_page.then_some(Fault::Page),
            self.is_unwritten.then_some(Fault::Unwritten),
            (lines == 0 && !may_be_empty).then_some(Fault::Empty),
            (lines > 0 && self.rejected == lines).then_some(Fault::NoRecord { lines, length }),
            (self.ends_badly && !expected.is_checked).then_some(Fault::Cut),
            is_other.then_some(Fault::OtherLayout { wrong: self.rejected, lines, length }),
            other_part.map(|digit| Fault::OtherPart { own: self.of_part, records: self.records(), digit }),
        ];
        faults.into_iter().flatten().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    const DAILY: Expected = Expected { kind: Kind::Corporate, is_daily: true, part: None, is_checked: false };
    const PART: Expected = Expected { part: Some(3), is_daily: false, ..DAILY };

    /// `L2…3` and the like, then lines of another length, then one that is cut.
    fn sound(expected: Expected, numbers: &[&[u8]], misfits: u64, is_cut: bool) -> Sound {
        let mut sound = Sound::default();
        let line = |bytes, error, is_cut| Line { number: 1, bytes, error, is_cut };
        (0..misfits)
            .for_each(|_| sound.note(expected, line(b"?", Some(LineError::Short), false), false, None));
        for number in numbers {
            sound.note(expected, line(number, None, false), true, None);
        }
        if is_cut {
            sound.note(expected, line(b"L2", Some(LineError::Short), true), false, None);
        }
        sound
    }

    #[test]
    fn a_few_odd_lines_are_no_fault_and_many_are() {
        let (own, other) = ([&b"L20000000003 "[..]; 40], [&b"L20000000004 "[..]; 40]);
        assert_eq!(sound(PART, &own, 4, false).fault(PART), None);
        assert_eq!(sound(DAILY, &other, 3, false).fault(DAILY), None);
        let layout = Fault::OtherLayout { wrong: 5, lines: 45, length: 1440 };
        assert_eq!(sound(PART, &own, 5, false).fault(PART), Some(layout));
        let part = Fault::OtherPart { own: 0, records: 40, digit: 3 };
        assert_eq!(sound(PART, &other, 0, false).fault(PART), Some(part));
        assert_eq!(sound(PART, &other[..19], 0, false).fault(PART), None);
        assert_eq!(sound(PART, &own, 0, true).fault(PART), Some(Fault::Cut));
        let checked = Expected { is_checked: true, ..PART };
        assert_eq!(sound(checked, &own, 0, true).fault(checked), None);
        let mut unwritten = sound(checked, &own, 0, false);
        let zeros = Line { number: 1, bytes: b"L2", error: Some(LineError::Zeros), is_cut: false };
        unwritten.note(checked, zeros, false, None);
        unwritten.note(checked, Line { bytes: own[0], error: None, ..zeros }, true, None);
        assert_eq!(unwritten.fault(checked), Some(Fault::Unwritten));
        assert_eq!(
            [PART, DAILY].map(|expected| Sound::default().fault(expected)),
            [Some(Fault::Empty), None]
        );
        assert_eq!(
            sound(DAILY, &[], 1, false).fault(DAILY),
            Some(Fault::NoRecord { lines: 1, length: 1440 })
        );
    }

    #[test]
    fn the_newest_days_are_counted_and_older_ones_left_out() {
        let mut sound = Sound::default();
        for day in (1..=28).chain(1..=28) {
            for month in [3, 1, 2] {
                sound.note_day(date(2026, month, day));
            }
        }
        assert_eq!(sound.newest(), Some(date(2026, 3, 28)));
        assert_eq!([date(2026, 3, 27), date(2026, 2, 28)].map(|day| sound.newer_than(day)), [2, 56]);
        assert_eq!(sound.newer_than(date(1900, 1, 1)), 128);
    }
}
