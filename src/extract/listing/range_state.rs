//! What is known of the day range that is being read: one value, replaced when the next range begins.

use super::read_pages::ReadPages;
use crate::contract::plan::PlanLimits;
use crate::extract::plan::day_range::DaySpan;
use crate::extract::query::histogram::Shares;
use crate::extract::query::row::SeenRow;
use crate::extract::query::row_set::Seen;
use crate::extract::query::slice::Slice;
use hashbrown::HashSet;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// What was noticed of drift: rows that arrive, leave or change while they are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Drift {
    /// Whether rows drifted during the current reading.
    pub(crate) is_seen: bool,
    /// Whether rows drifted during this day range.
    pub(crate) is_in_range: bool,
    range_before: bool,
}

impl Drift {
    pub(crate) fn note(&mut self) {
        (self.is_seen, self.is_in_range) = (true, true);
    }

    /// Begins another reading of the same day range.
    pub(crate) fn begin_reading(&mut self) {
        self.is_seen = false;
    }

    pub(crate) fn of_next_range(self) -> Self {
        Self { range_before: self.is_in_range, ..Self::default() }
    }

    /// Whether rows drifted during this day range or the one before. No sum over several queries proves anything then.
    pub(crate) fn is_likely(self) -> bool {
        self.is_in_range || self.range_before
    }
}

/// Rows expected of a slice, by day; other days are unknown.
pub(crate) type Expected = BTreeMap<Date, f64>;

pub(crate) struct Walked {
    /// The slice's total, by its first page.
    pub(crate) total: u64,
    /// Days in which drift may have hidden a row.
    pub(crate) doubtful: Vec<DaySpan>,
}

impl Walked {
    /// Whether it may have missed a row of a day.
    pub(crate) fn doubts(&self, day: Date) -> bool {
        self.doubtful.iter().any(|span| (span.from..=span.to).contains(&day))
    }
}

/// What the searches for rows of a day range that no part returned have spent and tried.
#[derive(Default)]
pub(crate) struct SearchBudget {
    /// Parts by ZIP prefix or city that were read.
    requested: HashSet<String>,
    /// Requests for single rows, and for ZIP prefixes, cities and names.
    spent: u32,
    /// Rows of an earlier search that were not found; a search in a wider slice would miss the same.
    pub(crate) given_up: u64,
}

/// Requests for finding single rows of a day range, at most.
const MOST_REQUESTS: u32 = 3_000;

/// Part of a month's requests that may find single rows of a day range.
const SHARE_OF_MONTH: u32 = 40;

impl SearchBudget {
    pub(crate) fn note_requested(&mut self, part: &Slice) {
        if part.filter.zip.is_some() || part.filter.city.is_some() {
            self.requested.insert(part.to_string());
        }
    }

    pub(crate) fn is_requested(&self, part: &Slice) -> bool {
        self.requested.contains(&part.to_string())
    }

    pub(crate) fn spend(&mut self, requests: u64) {
        self.spent = self.spent.saturating_add(u32::try_from(requests).unwrap_or(u32::MAX));
    }

    /// Requests left under a plan. Rows that are not found by then are reported as missing.
    pub(crate) fn left(&self, plan: &PlanLimits) -> u32 {
        (plan.per_month / SHARE_OF_MONTH).min(MOST_REQUESTS).saturating_sub(self.spent)
    }
}

/// Weight of a row of the same day, at most.
const MOST_WEIGHT: u64 = 100;

/// What is known of the day range that is being read.
#[derive(Default)]
pub(crate) struct RangeState {
    pub(crate) seen: Seen,
    /// Rows known before the range was read, and their days.
    pub(crate) known: BTreeMap<i64, Date>,
    pub(crate) pages: ReadPages,
    /// The total of its first page, which is that of all its days.
    pub(crate) total: Option<u64>,
    pub(crate) drift: Drift,
    /// Whether the last page came from the archive.
    pub(crate) is_archived: bool,
    /// Whether rows of one day came in another order than by id, so that a row's rank says nothing.
    pub(crate) unordered: bool,
    /// Rows read before the range was split by filters; none while it is not split.
    sample: Option<Vec<SeenRow>>,
    /// Rows of the lake on days over reach: they show under which addresses rows are.
    pub(crate) hints: Vec<SeenRow>,
    pub(crate) search_budget: SearchBudget,
    /// Whether days are read by searches, because a reading of a day failed.
    pub(crate) is_searched: bool,
    /// Number of rows that left a part of their day and are still listed.
    pub(crate) kept: u64,
}

impl RangeState {
    pub(crate) fn next(&self) -> Self {
        Self { drift: self.drift.of_next_range(), seen: self.seen.with_room(), ..Self::default() }
    }

    pub(crate) fn insert_known(&mut self, row: SeenRow) {
        self.known.insert(row.id, row.filed_date);
        self.seen.insert_known(row);
    }

    /// Whether `rows` are all rows of a slice. No row was missed, and their number equals the total. Under drift, no number does.
    pub(crate) fn is_complete(&self, rows: u64, walked: &Walked) -> bool {
        walked.doubtful.is_empty() && (self.drift.is_seen || rows == walked.total)
    }

    /// Whether what was read so far shows other rows than the `held` ones, or may.
    pub(crate) fn may_differ_from(&self, held: u64) -> bool {
        self.drift.is_in_range || self.total.is_some_and(|total| total != held)
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

    /// How rows are distributed, with `learned`: sectors and types by the sample, for later rows came by a filter; addresses by all.
    pub(crate) fn shares(&self, learned: &Shares) -> Shares {
        let mut fair = learned.clone();
        fair.learn(self.sample.iter().flatten());
        let mut shares = learned.clone();
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
        let weight = (shares.rows / self.seen.count(slice).max(1)).clamp(1, MOST_WEIGHT);
        shares.learn_weighted(self.seen.rows_in(slice), weight);
        shares
    }

    /// How the hints in a slice are distributed that were not read yet; none without such hints.
    pub(crate) fn hinted(&self, slice: &Slice) -> Option<Shares> {
        let mut hinted = Shares::default();
        hinted.learn(self.hints.iter().filter(|row| slice.holds(row) && self.seen.row(row.id).is_none()));
        (hinted.rows > 0).then_some(hinted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_likely_until_a_day_range_without_it() {
        let mut drift = Drift::default();
        assert!(!drift.is_seen && !drift.is_likely());
        drift.note();
        drift.begin_reading();
        assert!(!drift.is_seen && drift.is_in_range && drift.is_likely(), "another reading of it");
        drift = drift.of_next_range();
        assert!(!drift.is_in_range && drift.is_likely(), "the next range");
        assert_eq!(drift.of_next_range(), Drift::default());
    }
}
