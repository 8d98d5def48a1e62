//! The newest observation of each business, in about 12 bytes a row.
//!
//! Rows come in pages. A page has one timestamp, and its neighbouring rows often share a month, so timestamps and months
//! are run-length encoded. Only ids are stored for each row.

use crate::lake::format::layout::Month;
use hashbrown::HashSet;
use std::collections::BTreeSet;

/// One observation of one business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Observation {
    pub(super) business_id: i64,
    /// `changed_at`, microseconds.
    pub(super) seen: i64,
    pub(super) month: Month,
}

/// A run-length encoded column: the first row and the value of each run.
type Runs<T> = Vec<(u32, T)>;

fn push_value<T: PartialEq>(runs: &mut Runs<T>, row: u32, value: T) {
    if runs.last().is_none_or(|(_, last)| *last != value) {
        runs.push((row, value));
    }
}

fn value_at<T: Copy>(runs: &[(u32, T)], row: u32) -> Option<T> {
    let runs_up_to_row = runs.partition_point(|(first, _)| *first <= row);
    runs[..runs_up_to_row].last().map(|(_, value)| *value)
}

/// Observations in the order they came.
#[derive(Debug, Default)]
pub(super) struct Observed {
    ids: Vec<i64>,
    seen: Runs<i64>,
    months: Runs<Month>,
    /// Rows with a newer row of the same business.
    stale: HashSet<u32>,
    /// Businesses of which the lake has a newer observation.
    forgotten: BTreeSet<i64>,
}

impl Observed {
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.ids.len()).unwrap_or(u32::MAX)
    }

    /// Adds a row; false when 4,294,967,295 rows are there already.
    pub(super) fn push(&mut self, business_id: i64, seen: i64, month: Month) -> bool {
        let row = self.len();
        if row == u32::MAX {
            return false;
        }
        self.ids.push(business_id);
        push_value(&mut self.seen, row, seen);
        push_value(&mut self.months, row, month);
        true
    }

    pub(super) fn month(&self, row: u32) -> Option<Month> {
        value_at(&self.months, row)
    }

    /// Marks every row that has a newer row of the same business as stale.
    pub(super) fn dedupe(&mut self) {
        let mut order: Vec<u32> = (0..self.len()).collect();
        order.sort_unstable_by_key(|row| (self.ids[*row as usize], *row));
        for same in order.chunk_by(|one, other| self.ids[*one as usize] == self.ids[*other as usize]) {
            if same.len() > 1 {
                let newest = same.iter().max_by_key(|row| (value_at(&self.seen, **row), **row));
                self.stale.extend(same.iter().filter(|row| Some(*row) != newest));
            }
        }
    }

    /// Drops the observations of businesses of which the lake has newer ones.
    pub(super) fn forget(&mut self, ids: &BTreeSet<i64>) {
        self.forgotten.extend(ids);
    }

    /// Whether a row is the newest observation of its business.
    pub(super) fn is_newest(&self, row: u32) -> bool {
        let id = self.ids.get(row as usize);
        !self.stale.contains(&row) && id.is_some_and(|id| !self.forgotten.contains(id))
    }

    pub(super) fn newest(&self) -> impl Iterator<Item = Observation> + '_ {
        let rows = (0..).zip(&self.ids).filter(|(row, _)| self.is_newest(*row));
        rows.filter_map(|(row, id)| {
            let (seen, month) = (value_at(&self.seen, row)?, value_at(&self.months, row)?);
            Some(Observation { business_id: *id, seen, month })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_timestamps_the_later_row_wins_and_forgotten_businesses_have_no_newest_row() {
        let month = |text| Month::parse(text).expect("a month");
        let mut observed = Observed::default();
        for (id, seen, text) in [
            (7, 100, "2026-11"),
            (8, 100, "2026-11"),
            (7, 90, "2026-10"),
            (8, 100, "2026-10"),
            (9, 100, "2026-10"),
            (7, 80, "2026-11"),
        ] {
            assert!(observed.push(id, seen, month(text)));
        }
        observed.dedupe();
        let newest = |observed: &Observed| -> Vec<_> {
            observed.newest().map(|one| (one.business_id, one.seen, one.month.to_string())).collect()
        };
        let ten = || "2026-10".to_owned();
        assert_eq!(newest(&observed), [(7, 100, "2026-11".to_owned()), (8, 100, ten()), (9, 100, ten())]);
        observed.forget(&BTreeSet::from([9]));
        assert_eq!(newest(&observed).len(), 2);
        assert!(observed.is_newest(0) && !observed.is_newest(2) && !observed.is_newest(4));
        assert_eq!((observed.len(), observed.month(2)), (6, Some(month("2026-10"))));
    }
}
