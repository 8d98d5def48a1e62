//! Which observations of businesses are the newest, for some twelve bytes an observed row.
//!
//! Rows come in pages: all of a page were seen at one instant, and many of one month stand together. So instants and months
//! are kept by run of rows, and ids alone by row.

use crate::lake::format::layout::Month;
use std::collections::{BTreeSet, HashSet};

/// One observation of one business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Observation {
    pub(crate) business_id: i64,
    /// `last_seen_at`, microseconds.
    pub(crate) seen: i64,
    /// Place among all observed rows; later wins where `seen` is equal.
    sequence: u32,
    pub(crate) month: Month,
}

/// Values of rows, by the first row of each run of equal ones.
#[derive(Debug)]
struct Runs<T>(Vec<(u32, T)>);

impl<T: Copy + PartialEq> Runs<T> {
    fn push(&mut self, row: u32, value: T) {
        if self.0.last().is_none_or(|(_, last)| *last != value) {
            self.0.push((row, value));
        }
    }

    fn at(&self, row: u32) -> Option<T> {
        let run = self.0.partition_point(|(first, _)| *first <= row).checked_sub(1)?;
        self.0.get(run).map(|(_, value)| *value)
    }
}

/// Observations in the order they were taken in.
#[derive(Debug)]
pub(crate) struct Observed {
    ids: Vec<i64>,
    seen: Runs<i64>,
    months: Runs<Month>,
    /// Rows of which a newer observation was taken in.
    stale: HashSet<u32>,
    /// Businesses of which the lake knows more than was observed.
    forgotten: BTreeSet<i64>,
}

impl Observed {
    pub(crate) fn new() -> Self {
        Self {
            ids: Vec::new(),
            seen: Runs(Vec::new()),
            months: Runs(Vec::new()),
            stale: HashSet::new(),
            forgotten: BTreeSet::new(),
        }
    }

    /// Rows taken in, repetitions included.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Takes a row in; false when there are more rows than can be numbered.
    pub(crate) fn push(&mut self, business_id: i64, seen: i64, month: Month) -> bool {
        let Ok(row) = u32::try_from(self.ids.len()) else { return false };
        self.ids.push(business_id);
        self.seen.push(row, seen);
        self.months.push(row, month);
        true
    }

    /// The month of a row.
    pub(crate) fn month(&self, row: usize) -> Option<Month> {
        self.months.at(u32::try_from(row).ok()?)
    }

    /// Finds out which rows are the newest of their business.
    pub(crate) fn settle(&mut self) {
        let mut order: Vec<u32> = (0..).take(self.ids.len()).collect();
        order.sort_unstable_by_key(|row| (self.ids[*row as usize], *row));
        for same in order.chunk_by(|one, other| self.ids[*one as usize] == self.ids[*other as usize]) {
            if same.len() > 1 {
                let newest = same.iter().max_by_key(|row| (self.seen.at(**row), **row));
                self.stale.extend(same.iter().filter(|row| Some(*row) != newest));
            }
        }
    }

    /// Forgets the observations of businesses: the lake knows newer ones.
    pub(crate) fn forget(&mut self, ids: &BTreeSet<i64>) {
        self.forgotten.extend(ids);
    }

    /// Whether a row is the newest observation of its business.
    pub(crate) fn is_newest(&self, business_id: i64, row: i64) -> bool {
        let stale = u32::try_from(row).is_ok_and(|row| self.stale.contains(&row));
        !stale && !self.forgotten.contains(&business_id)
    }

    /// The newest observation of each business.
    pub(crate) fn newest(&self) -> impl Iterator<Item = Observation> + '_ {
        let rows = (0..).zip(&self.ids);
        rows.filter(|(row, id)| self.is_newest(**id, i64::from(*row))).filter_map(|(sequence, id)| {
            let (seen, month) = (self.seen.at(sequence)?, self.months.at(sequence)?);
            Some(Observation { business_id: *id, seen, sequence, month })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_of_the_newest_instant_wins_and_what_is_forgotten_is_none() {
        let month = |text| Month::parse(text).expect("a month");
        let mut observed = Observed::new();
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
        observed.settle();
        let newest = |observed: &Observed| -> Vec<_> {
            observed.newest().map(|one| (one.business_id, one.seen, one.month.to_string())).collect()
        };
        let ten = || "2026-10".to_owned();
        assert_eq!(newest(&observed), [(7, 100, "2026-11".to_owned()), (8, 100, ten()), (9, 100, ten())]);
        observed.forget(&BTreeSet::from([9]));
        assert_eq!(newest(&observed).len(), 2);
        assert!(observed.is_newest(7, 0) && !observed.is_newest(7, 2) && !observed.is_newest(9, 4));
        assert_eq!((observed.len(), observed.month(2)), (6, Some(month("2026-10"))));
    }
}
