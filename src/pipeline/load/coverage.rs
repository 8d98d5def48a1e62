//! What a run knows of each day of each listing: the lake's coverage, as changed by what the run reads.

use crate::contract::eastern::span_days;
use crate::contract::listing::Listing;
use crate::pipeline::plan::lake_view::{Coverage, by_listing};
use crate::pipeline::plan::stale_days::{KnownDay, SETTLED_DAYS};
use crate::pipeline::state::provenance::{JournalDay, JournalDifference, JournalReading};
use crate::table::CoverageRow;
use hashbrown::HashMap;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};

/// The label of a listing and a day.
pub(super) type ListingDay = (String, Date);

/// The coverage of a run.
#[derive(Default)]
pub(crate) struct RunCoverage {
    today: Date,
    /// What is known of every day.
    pub(crate) days: Coverage,
    changed: BTreeMap<ListingDay, CoverageRow>,
    /// The days that this run left complete.
    pub(crate) complete: BTreeSet<ListingDay>,
    /// The days read from their first row to their last.
    pub(crate) fully_read: BTreeSet<ListingDay>,
    /// The days that drifted while they were read, in the order of the readings.
    pub(crate) drifted: Vec<ListingDay>,
}

impl RunCoverage {
    /// That of a run that has read nothing: `rows` are the lake's.
    pub(super) fn new(rows: Vec<CoverageRow>, today: Date) -> Self {
        Self { today, days: by_listing(rows), ..Self::default() }
    }

    /// The rows of the days that were read, found to differ, or corrected when rows were merged.
    pub(crate) fn changed(&self) -> impl Iterator<Item = &CoverageRow> {
        self.changed.values()
    }

    /// Whether this run has read a day of a listing, or found that it differs.
    pub(crate) fn has_changed(&self, listing: Listing, day: Date) -> bool {
        self.changed.contains_key(&(listing.label().to_owned(), day))
    }

    /// Days on which a filing that was not seen counts as removed, each for fictitious names (`true`) or all others.
    pub(crate) fn fully_read_listings(&self) -> BTreeSet<(Date, bool)> {
        let is_of_every_type = |listing: &Listing| Listing::EVERY_TYPE.contains(listing);
        let listing = |label: &str| Listing::from_label(label).filter(is_of_every_type);
        let days = self.fully_read.iter();
        days.filter_map(|(label, day)| Some((*day, listing(label)?.is_fictitious()))).collect()
    }

    /// Adds the days of a reading, with the ids that landed of each. A day with a record in quarantine is not complete: the next run
    /// reads it again.
    pub(super) fn add_reading(&mut self, entry: &JournalReading, mut landed_ids: HashMap<Date, Vec<i64>>) {
        for JournalDay { reading: day, seen } in &entry.days {
            let (landed, complete) = if day.complete {
                let in_quarantine = seen.saturating_sub(landed_ids.get_mut(&day.day).map_or(0, distinct));
                (day.held.saturating_sub(in_quarantine), in_quarantine == 0)
            } else {
                // Nothing landed now; the lake keeps what it has.
                (self.landed_before(&entry.label, day.day), false)
            };
            let is_whole = day.whole && complete;
            self.put(CoverageRow {
                filed_date: day.day,
                entity_type: entry.label.clone(),
                expected: day.expected as i64,
                landed: landed as i64,
                complete,
                settled: is_whole && span_days(day.day, self.today) >= SETTLED_DAYS,
                checked_at: entry.at,
            });
            let key = || (entry.label.clone(), day.day);
            self.fully_read.extend(is_whole.then(key));
            self.complete.extend(complete.then(key));
        }
    }

    /// Adds days that differ from their newest totals or counts: they are not complete.
    pub(super) fn add_difference(&mut self, found: &JournalDifference) {
        for (day, total) in &found.totals {
            let landed = self.landed_before(&found.label, *day) as i64;
            self.put(CoverageRow {
                filed_date: *day,
                entity_type: found.label.clone(),
                expected: *total as i64,
                landed,
                complete: false,
                settled: false,
                checked_at: found.at,
            });
        }
    }

    /// Replaces the row of a day. A day that is no longer complete is not among those that this run left complete.
    pub(crate) fn put(&mut self, row: CoverageRow) {
        let days = self.days.entry(row.entity_type.clone()).or_default();
        days.insert(row.filed_date, KnownDay::of(&row));
        let key = (row.entity_type.clone(), row.filed_date);
        if !row.complete {
            self.complete.remove(&key);
        }
        self.changed.insert(key, row);
    }

    /// The changed rows for the next snapshot: a day that was settled in `before` stays so. It counts as settled while it is complete.
    pub(crate) fn changed_keeping_settled(&self, before: &[CoverageRow]) -> Vec<CoverageRow> {
        let key = |row: &CoverageRow| (row.entity_type.clone(), row.filed_date);
        let settled: BTreeSet<ListingDay> = before.iter().filter(|row| row.settled).map(key).collect();
        let mut rows: Vec<CoverageRow> = self.changed().cloned().collect();
        rows.iter_mut().for_each(|row| row.settled |= settled.contains(&key(row)));
        rows
    }

    fn landed_before(&self, label: &str, day: Date) -> u64 {
        self.days.get(label).and_then(|days| days.get(&day)).map_or(0, |known| known.landed)
    }
}

fn distinct(ids: &mut Vec<i64>) -> u64 {
    ids.sort_unstable();
    ids.dedup();
    ids.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;
    use jiff::civil::date;

    #[test]
    fn a_day_that_a_correction_leaves_incomplete_is_not_complete() {
        let (day, label) = (date(2026, 7, 1), Listing::Untyped.label());
        let row = CoverageRow {
            filed_date: day,
            entity_type: label.to_owned(),
            expected: 3,
            landed: 2,
            complete: false,
            settled: false,
            checked_at: Timestamp::UNIX_EPOCH,
        };
        let mut coverage = RunCoverage::new(Vec::new(), day);
        coverage.complete.insert((label.to_owned(), day));
        coverage.put(row.clone());
        assert!(coverage.complete.is_empty());
        assert!(coverage.has_changed(Listing::Untyped, day));
        let before = CoverageRow { settled: true, ..row };
        assert!(
            coverage.changed_keeping_settled(&[before])[0].settled,
            "it counts again once it is complete"
        );
    }
}
