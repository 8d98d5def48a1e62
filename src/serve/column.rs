//! Columns in memory: texts in one arena, repeated texts by code, days as numbers.

use jiff::civil::{Date, date};
use jiff::{SpanRound, ToSpan, Unit};
use std::collections::HashMap;

const EPOCH: Date = date(1970, 1, 1);

/// Days since 1970-01-01, as Arrow's `Date32` counts them.
pub(super) fn epoch_day(day: Date) -> i32 {
    let span =
        EPOCH.until(day).and_then(|span| span.round(SpanRound::new().largest(Unit::Day).days_are_24_hours()));
    span.map_or(0, |span| span.get_days())
}

/// The day of a number; stays at the calendar's edge instead of passing it.
pub(super) fn from_epoch_day(number: i32) -> Date {
    EPOCH.saturating_add(i64::from(number).days())
}

/// Texts that mostly differ, one after the other.
#[derive(Debug, Default)]
pub(super) struct TextColumn {
    texts: String,
    ends: Vec<usize>,
}

impl TextColumn {
    pub(super) fn push(&mut self, text: &str) {
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
    }

    pub(super) fn get(&self, row: u32) -> &str {
        let row = row as usize;
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.texts[start..self.ends[row]]
    }

    /// Memory it holds.
    pub(super) fn bytes(&self) -> usize {
        self.texts.capacity() + size_of::<usize>() * self.ends.capacity()
    }

    /// The same texts in another order.
    pub(super) fn permuted(&self, order: &[u32]) -> Self {
        let mut sorted =
            Self { texts: String::with_capacity(self.texts.len()), ends: Vec::with_capacity(order.len()) };
        for row in order {
            sorted.push(self.get(*row));
        }
        sorted
    }
}

/// Texts that repeat: a code a row, each text once.
#[derive(Debug, Default)]
pub(super) struct CodedColumn {
    codes: Vec<u32>,
    values: Vec<Box<str>>,
    code_of: HashMap<Box<str>, u32>,
}

impl CodedColumn {
    pub(super) fn push(&mut self, text: &str) {
        let repeated = self.codes.last().copied().filter(|code| &*self.values[*code as usize] == text);
        let code = repeated.or_else(|| self.code_of.get(text).copied()).unwrap_or_else(|| self.add(text));
        self.codes.push(code);
    }

    pub(super) fn get(&self, row: u32) -> &str {
        &self.values[self.codes[row as usize] as usize]
    }

    pub(super) fn code(&self, row: u32) -> u32 {
        self.codes[row as usize]
    }

    pub(super) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Every text, at the place of its code.
    pub(super) fn values(&self) -> &[Box<str>] {
        &self.values
    }

    /// For each code, whether its text is wanted.
    pub(super) fn wanted(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<bool> {
        self.values.iter().map(|text| is_wanted(text)).collect()
    }

    /// Memory it holds.
    pub(super) fn bytes(&self) -> usize {
        let texts: usize =
            self.values.iter().map(|text| 2 * (text.len() + size_of::<(Box<str>, u32)>())).sum();
        size_of::<u32>() * self.codes.capacity() + texts
    }

    pub(super) fn permute(&mut self, order: &[u32]) {
        self.codes = permuted(&self.codes, order);
    }

    fn add(&mut self, text: &str) -> u32 {
        let code = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(text.into());
        self.code_of.insert(text.into(), code);
        code
    }
}

/// Values in another order.
pub(super) fn permuted<T: Copy>(values: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|row| values[*row as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_arrow_counts_them() {
        for (day, number) in [
            (date(1970, 1, 1), 0),
            (date(1969, 12, 31), -1),
            (date(2026, 7, 16), 20_650),
            (date(1845, 3, 3), -45_594),
        ] {
            assert_eq!(epoch_day(day), number, "{day}");
            assert_eq!(from_epoch_day(number), day);
        }
    }

    #[test]
    fn columns_give_back_what_was_pushed_in_any_order() {
        let (mut texts, mut coded) = (TextColumn::default(), CodedColumn::default());
        for text in ["b", "", "a", "b"] {
            texts.push(text);
            coded.push(text);
        }
        coded.permute(&[3, 2, 1, 0]);
        let texts = texts.permuted(&[3, 2, 1, 0]);
        let read: Vec<_> = (0..4).map(|row| (texts.get(row), coded.get(row))).collect();
        assert_eq!(read, [("b", "b"), ("a", "a"), ("", ""), ("b", "b")]);
        assert_eq!(coded.values().len(), 3);
    }
}
