//! What is known of the day range that is being read: one value, replaced when the next range begins.

use super::drift::Drift;
use super::outcome::{ResidualSearch, Walked};
use crate::extract::fetch::PageKey;
use crate::extract::query::histogram::Shares;
use crate::extract::query::row::SeenRow;
use crate::extract::query::row_set::Seen;
use crate::extract::query::slice::Slice;
use std::collections::BTreeMap;

/// Weight of a row of the same day, at most.
const MOST_WEIGHT: u64 = 100;

/// What is known of the day range that is being read.
#[derive(Default)]
pub(crate) struct RangeState {
    pub(crate) seen: Seen,
    pub(crate) pages: Vec<PageKey>,
    pub(crate) drift: Drift,
    /// Whether rows of one day came in another order than by id, so that a row's rank says nothing.
    pub(crate) unordered: bool,
    /// Rows read before the range was split by filters; none while it is not split.
    sample: Option<Vec<SeenRow>>,
    /// Rows of the lake on days over reach: they show under which addresses rows are.
    pub(crate) hints: Vec<SeenRow>,
    pub(crate) residual: ResidualSearch,
    /// Number of rows that left a part of their day and are still listed.
    pub(crate) kept: u64,
}

impl RangeState {
    pub(crate) fn next(&self) -> Self {
        Self { drift: self.drift.of_next_range(), ..Self::default() }
    }

    /// Whether `rows` are all rows of a slice. No row was missed, and their number equals the total. Under drift, no number does.
    pub(crate) fn is_complete(&self, rows: u64, walked: &Walked) -> bool {
        walked.doubtful.is_empty() && (self.drift.is_seen() || rows == walked.total)
    }

    /// Takes the rows read so far as the sample: from now on rows are read by filters.
    pub(crate) fn begin_split(&mut self) {
        if self.sample.is_none() {
            self.sample = Some(self.new_rows().cloned().collect());
        }
    }

    fn new_rows(&self) -> impl Iterator<Item = &SeenRow> {
        self.seen.rows().filter(|row| !self.seen.is_from_lake(row.id))
    }

    /// How rows are distributed, with `learned` from earlier ranges. Sectors and types by the sample, because later rows came by a filter;
    /// addresses by all rows.
    pub(crate) fn shares(&self, learned: &Shares) -> Shares {
        let mut fair = learned.clone();
        fair.learn(self.sample.iter().flatten());
        let mut shares = Shares {
            zip3: learned.zip3.clone(),
            no_zip_cities: learned.no_zip_cities.clone(),
            rows: learned.rows,
            ..Shares::default()
        };
        shares.learn(self.new_rows());
        let scale = |counts: BTreeMap<String, u64>| {
            counts.into_iter().map(|(key, rows)| (key, rows * shares.rows / fair.rows.max(1))).collect()
        };
        (shares.sector, shares.kind) = (scale(fair.sector), scale(fair.kind));
        shares
    }

    /// How rows of a single day are distributed: the rows of its slice have as much weight as all others together.
    pub(crate) fn shares_of_day(&self, slice: &Slice, learned: &Shares) -> Shares {
        let mut shares = self.shares(learned);
        let rows = || self.seen.rows_of(slice.from, slice.to).filter(|row| slice.filter.matches(row));
        let weight = (shares.rows / (rows().count() as u64).max(1)).clamp(1, MOST_WEIGHT);
        (0..weight).for_each(|_| shares.learn(rows()));
        shares
    }

    /// How the hints in a slice are distributed that were not read yet; none without such hints.
    pub(crate) fn hinted(&self, slice: &Slice) -> Option<Shares> {
        let mut hinted = Shares::default();
        hinted.learn(self.hints.iter().filter(|row| slice.holds(row) && !self.seen.has(row.id)));
        (hinted.rows > 0).then_some(hinted)
    }
}
