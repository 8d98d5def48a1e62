//! Rows in the order of their names, so that the names with one beginning lie next to each other.

use super::column::TextColumn;
use super::fold::{compare_folded, compare_start, first_eight_folded};
use std::cmp::Ordering;
use std::ops::Range;

/// Rows by name, each with a copy of its word: a filter then reads memory from one end to the other.
#[derive(Debug, Default)]
pub(super) struct NameOrder {
    rows: Vec<u32>,
    words: Vec<u64>,
}

impl NameOrder {
    /// Sorts all rows; case does not matter, and of equal names the newest comes first.
    pub(super) fn sorted(names: &TextColumn, words: &[u64]) -> Self {
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
        let rows = merged(one, other, order);
        let words = rows.iter().map(|row| words[*row as usize]).collect();
        Self { rows, words }
    }

    /// Where the names stand that begin with this; it is folded already.
    pub(super) fn beginning_with(&self, names: &TextColumn, folded: &str) -> Range<usize> {
        let order = |row: &u32| compare_start(names.get(*row), folded);
        let start = self.rows.partition_point(|row| order(row) == Ordering::Less);
        let end = self.rows.partition_point(|row| order(row) != Ordering::Greater);
        start..end
    }

    /// Rows and words of a range.
    pub(super) fn rows_and_words(&self, range: Range<usize>) -> (&[u32], &[u64]) {
        (&self.rows[range.clone()], &self.words[range])
    }

    /// Memory it holds.
    pub(super) fn bytes(&self) -> usize {
        size_of::<u32>() * self.rows.capacity() + size_of::<u64>() * self.words.capacity()
    }
}

/// The rows of two sorted lists in one.
fn merged(
    one: &[(u64, u32)],
    other: &[(u64, u32)],
    order: impl Fn(&(u64, u32), &(u64, u32)) -> Ordering,
) -> Vec<u32> {
    let mut rows = Vec::with_capacity(one.len() + other.len());
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if order(a, b) == Ordering::Less => left.next(),
            (_, Some(_)) => right.next(),
            (_, None) => left.next(),
        };
        let Some((_, row)) = next else { return rows };
        rows.push(*row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_order_and_are_found_by_their_beginning() {
        let texts =
            ["Sunset", "SUN", "the sun", "sunshine bakery", "SUNSHINE ACRES", "sun", "Ñandú", "", "SU"];
        let mut names = TextColumn::default();
        texts.iter().for_each(|text| names.push(text));
        let words: Vec<u64> = (100..109).collect();
        let order = NameOrder::sorted(&names, &words);
        let found = |prefix: &str| {
            let (rows, words) = order.rows_and_words(order.beginning_with(&names, prefix));
            assert!(rows.iter().zip(words).all(|(row, word)| u64::from(*row) + 100 == *word));
            rows.to_vec()
        };
        assert_eq!(found("sun"), [1, 5, 0, 4, 3]);
        assert_eq!(found("sunshine b"), [3]);
        assert_eq!(found("ñ"), [6]);
        assert_eq!(found("x"), [0; 0]);
        assert_eq!(found("").len(), 9);
    }
}
