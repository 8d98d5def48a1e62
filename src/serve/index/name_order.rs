//! Rows in the order of their names, and those with the same first two characters newest first.
//!
//! What a listing asks of a name is its beginning, so its rows lie next to each other in the order of names, and all of them among
//! those with the same first two characters. A few of many are best looked at one by one; many are best filtered in the order
//! they are shown in, where the place by name is one number more to filter by.

use super::bit_slices::{Slices, Test, Wanted};
use super::case_fold::{compare_folded, compare_start, first_eight_folded};
use super::column::TextColumn;
use std::cmp::Ordering;
use std::ops::Range;

/// Rows by name. A run is the rows whose names share the first two characters.
#[derive(Debug, Default)]
pub(crate) struct NameOrder {
    by_name: Vec<u32>,
    /// The same runs, each newest first.
    by_age: Vec<u32>,
    /// Where each run begins, in both.
    runs: Vec<u32>,
    /// Of the rows in `by_age`, their words and above them their places by name in the run.
    slices: Slices,
    word_bits: u32,
    place_bits: u32,
}

impl NameOrder {
    /// Sorts all rows; case does not matter, and of equal names the newest comes first. Words have so many bits.
    pub(crate) fn sorted(names: &TextColumn, words: &[u64], word_bits: u32) -> Self {
        let (by_name, runs) = sorted(names);
        let mut order = Self { by_age: by_name.clone(), by_name, runs, word_bits, ..Self::default() };
        order.by_name.shrink_to_fit();
        let ends = order.runs.iter().skip(1).copied().chain([count(order.by_name.len())]);
        let runs: Vec<Range<usize>> =
            order.runs.iter().zip(ends).map(|(start, end)| *start as usize..end as usize).collect();
        let mut place_in_run = vec![0; order.by_name.len()];
        for run in &runs {
            order.by_age[run.clone()].sort_unstable();
            for (place, row) in (0_u32..).zip(&order.by_name[run.clone()]) {
                place_in_run[*row as usize] = place;
            }
        }
        let longest = runs.iter().map(Range::len).max().unwrap_or(0);
        order.place_bits = usize::BITS - longest.leading_zeros();
        order.slices = Slices::cut(order.by_age.len(), word_bits + order.place_bits, |at| {
            let row = order.by_age[at] as usize;
            u128::from(words[row]) | u128::from(place_in_run[row]) << word_bits
        });
        order
    }

    /// Where the names stand that begin with this; it is folded already.
    pub(crate) fn beginning_with(&self, names: &TextColumn, folded: &str) -> Range<usize> {
        let order = |row: &u32| compare_start(names.get(*row), folded);
        let start = self.by_name.partition_point(|row| order(row) == Ordering::Less);
        let end = self.by_name.partition_point(|row| order(row) != Ordering::Greater);
        start..end
    }

    /// The rows of some places, in the order of names.
    pub(crate) fn rows(&self, named: Range<usize>) -> &[u32] {
        &self.by_name[named]
    }

    /// The run that some places lie in; `None` when there is no such run, or the places are too few of it to filter it whole.
    pub(crate) fn run_worth_filtering(&self, named: &Range<usize>) -> Option<Range<usize>> {
        /// Looking up one row by itself takes as long as filtering so many in their order.
        const FILTERED_FOR_ONE: usize = 64;
        let after = self.runs.partition_point(|start| *start as usize <= named.start);
        let start = *self.runs.get(after.checked_sub(1)?)? as usize;
        let end = self.runs.get(after).map_or(self.by_name.len(), |end| *end as usize);
        (named.end <= end && named.len() * FILTERED_FOR_ONE > end - start).then_some(start..end)
    }

    /// Of the names at some places of a run, gives those filed in a period and passing a test, newest first: some rows, and a
    /// bit for each that does.
    pub(crate) fn passing(
        &self,
        run: Range<usize>,
        named: &Range<usize>,
        period: &Range<u32>,
        mut test: Test,
        mut take: impl FnMut(&[u32], u64),
    ) {
        if named.len() < run.len() {
            let place = |at: usize| count(at - run.start);
            let places = place(named.start)..place(named.end);
            let wanted = Wanted { shift: self.word_bits, bits: self.place_bits, ranges: vec![places] };
            test.fields.push(wanted);
        }
        let rows = &self.by_age[run.clone()];
        let first = run.start + rows.partition_point(|row| *row < period.start);
        let end = run.start + rows.partition_point(|row| *row < period.end);
        self.slices.passing(first..end, &test, |at, bits| take(&self.by_age[at..], bits));
    }

    /// Memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        let rows = self.by_name.capacity() + self.by_age.capacity() + self.runs.capacity();
        size_of::<u32>() * rows + self.slices.bytes()
    }
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// All rows by name, and where each run of them begins.
fn sorted(names: &TextColumn) -> (Vec<u32>, Vec<u32>) {
    let mut keyed: Vec<(u64, u32)> =
        (0_u32..).take(names.len()).map(|row| (first_eight_folded(names.get(row)), row)).collect();
    let order = |a: &(u64, u32), b: &(u64, u32)| {
        let rest = || compare_folded(names.get(a.1), names.get(b.1));
        a.0.cmp(&b.0).then_with(rest).then(a.1.cmp(&b.1))
    };
    let middle = keyed.len() / 2;
    let (one, other) = keyed.split_at_mut(middle);
    std::thread::scope(|scope| {
        scope.spawn(|| one.sort_unstable_by(order));
        other.sort_unstable_by(order);
    });
    merged(one, other, order)
}

/// The rows of two sorted lists in one, and where its runs begin.
fn merged(
    one: &[(u64, u32)],
    other: &[(u64, u32)],
    order: impl Fn(&(u64, u32), &(u64, u32)) -> Ordering,
) -> (Vec<u32>, Vec<u32>) {
    let mut rows = Vec::with_capacity(one.len() + other.len());
    let (mut runs, mut last) = (Vec::new(), None);
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if order(a, b) == Ordering::Less => left.next(),
            (_, Some(_)) => right.next(),
            (_, None) => left.next(),
        };
        let Some((key, row)) = next else { return (rows, runs) };
        let start = first_two(*key);
        if last.replace(start) != Some(start) {
            runs.push(count(rows.len()));
        }
        rows.push(*row);
    }
}

/// The first two characters alone of the first eight bytes of a text; two characters are never longer.
fn first_two(eight: u64) -> u64 {
    let length = |first: u8| match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let bytes = eight.to_be_bytes();
    let one = length(bytes[0]);
    let two = one + length(bytes[one]);
    if two == bytes.len() { eight } else { eight & !(u64::MAX >> (8 * two)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 11] = [
        "Sunset",
        "SUN",
        "the sun",
        "sunshine bakery",
        "SUNSHINE ACRES",
        "sun",
        "Ñandú",
        "",
        "SU",
        "S",
        "ÑA 1",
    ];

    fn order() -> (TextColumn, NameOrder) {
        let mut names = TextColumn::default();
        TEXTS.iter().for_each(|text| names.push(text));
        // Every third row has the lowest bit.
        let words: Vec<u64> = (0..TEXTS.len() as u64).map(|row| u64::from(row % 3 == 0)).collect();
        let order = NameOrder::sorted(&names, &words, 1);
        (names, order)
    }

    #[test]
    fn names_stand_in_order_and_are_found_by_their_beginning() {
        let (names, order) = order();
        let found = |prefix: &str| order.rows(order.beginning_with(&names, prefix)).to_vec();
        assert_eq!(found("su"), [8, 1, 5, 0, 4, 3]);
        assert_eq!(found("sun"), [1, 5, 0, 4, 3]);
        assert_eq!(found("sunshine b"), [3]);
        assert_eq!(found("ñ"), [10, 6]);
        assert_eq!(found("x"), [0; 0]);
        assert_eq!(found("").len(), TEXTS.len());
    }

    #[test]
    fn names_of_a_run_are_filtered_newest_first() {
        let (names, order) = order();
        let found = |prefix: &str, period: Range<u32>, mask: u64| {
            let named = order.beginning_with(&names, prefix);
            let run = order.run_worth_filtering(&named).expect("a run");
            let mut found = Vec::new();
            let test = Test { mask, want: mask, fields: Vec::new() };
            order.passing(run, &named, &period, test, |rows, bits| {
                found.extend(
                    rows.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, row)| *row),
                );
            });
            found
        };
        assert_eq!(found("su", 0..11, 0), [0, 1, 3, 4, 5, 8]);
        assert_eq!(found("sun", 0..11, 0), [0, 1, 3, 4, 5]);
        assert_eq!(found("sunshine", 0..11, 0), [3, 4]);
        assert_eq!(found("su", 1..5, 0), [1, 3, 4]);
        assert_eq!(found("sun", 0..11, 1), [0, 3]);
        assert_eq!(found("ña", 0..11, 0), [6, 10]);
        assert_eq!(found("su", 0..0, 0), [0; 0]);
    }

    #[test]
    fn places_outside_one_run_are_in_none() {
        let (names, order) = order();
        let run = |prefix: &str| order.run_worth_filtering(&order.beginning_with(&names, prefix));
        assert_eq!(run(""), None);
        assert_eq!(run("s"), None, "the name of one letter has a run of its own");
        assert_eq!(run("x"), None);
        assert!(run("th").is_some());
        assert_eq!(order.run_worth_filtering(&(0..0)), None);
    }

    #[test]
    fn the_first_two_characters_are_told_whatever_their_length() {
        for (text, two) in [
            ("", ""),
            ("a", "a"),
            ("abc", "ab"),
            ("ñandú", "ña"),
            ("aéc", "aé"),
            ("𝒳𝒴z", "𝒳𝒴"),
            ("…-x", "…-"),
        ] {
            assert_eq!(first_two(first_eight_folded(text)), first_eight_folded(two), "{text}");
        }
    }
}
