//! Finds an API whose pages do not depend on their offset. No reading of it would ever end, and each attempt uses requests.

use crate::extract::query::slice::Slice;
use jiff::civil::Date;

/// A shorter page may be repeated by rows that came above it.
const ENOUGH_ROWS: usize = 20;
/// Pages one after another that have the rows of the page before them. Rows that come during a reading cause no more than one.
const MOST_PAGES: u32 = 3;

/// The last page of a query, and how often it came at another offset.
#[derive(Debug, Default)]
pub(super) struct SamePages {
    last: Option<Page>,
    times: u32,
}

/// The query of a page, its offset and its rows.
type Page = (Slice, u32, Vec<(i64, Date)>);

impl SamePages {
    /// Notes a page of a query. An error says what was seen, if pages keep their rows whatever the offset.
    pub(super) fn note(&mut self, slice: &Slice, offset: u32, rows: &[(i64, Date)]) -> Result<(), String> {
        let before = self.last.as_ref().filter(|(query, ..)| query == slice);
        let is_far = |from: u32| offset.saturating_sub(from) as usize * 2 > rows.len();
        let is_same = rows.len() >= ENOUGH_ROWS
            && before.is_some_and(|(_, from, known)| is_far(*from) && known == rows);
        self.times = if is_same { self.times + 1 } else { 0 };
        let from = before.map_or(0, |(_, from, _)| *from);
        self.last = Some((slice.clone(), offset, rows.to_vec()));
        if self.times < MOST_PAGES {
            Ok(())
        } else {
            Err(format!("the same {} rows as at offset {from}, {MOST_PAGES} times in a row", rows.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::query::slice::Filter;
    use jiff::civil::date;

    fn slice(day: Date) -> Slice {
        Slice { from: day, to: day, filter: Filter::default() }
    }

    fn rows(first: i64, count: i64) -> Vec<(i64, Date)> {
        (first..first + count).map(|id| (id, date(2026, 11, 20))).collect()
    }

    #[test]
    fn pages_with_the_same_rows_at_any_offset_are_an_error_and_changed_or_short_ones_are_not() {
        let query = slice(date(2026, 11, 20));
        let mut same = SamePages::default();
        let mut noted = |offset: u32, rows: &[(i64, Date)]| same.note(&query, offset, rows);
        for offset in [0, 100, 199] {
            assert_eq!(noted(offset, &rows(1, 100)), Ok(()));
        }
        let error = noted(298, &rows(1, 100)).expect_err("no progress");
        assert_eq!(error, "the same 100 rows as at offset 199, 3 times in a row");
        // One other page in between, the same page asked for again, and short pages.
        for (offset, rows) in
            [(0, rows(1, 100)), (100, rows(1, 100)), (200, rows(7, 100)), (300, rows(7, 100))]
        {
            assert_eq!(noted(offset, &rows), Ok(()));
        }
        for offset in [300, 300, 301, 300, 301] {
            assert_eq!(noted(offset, &rows(7, 100)), Ok(()));
        }
        for offset in 0..9 {
            assert_eq!(noted(offset * 10, &rows(1, 10)), Ok(()));
        }
        for day in 1..9 {
            assert_eq!(same.note(&slice(date(2026, 11, day)), 100 * day as u32, &rows(1, 100)), Ok(()));
        }
    }
}
