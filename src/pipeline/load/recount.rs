//! Counts the rows of a snapshot: listed and filed on each day, and of each kind.

use crate::aggregate::calendar::DayCount;
use crate::contract::business::ACTIVE;
use crate::contract::eastern::day_of_epoch;
use crate::contract::listing::Listing;
use crate::pipeline::error::Result;
use crate::pipeline::state::registry::Counted;
use crate::table::{CoverageRow, FilingColumns, Table, TableError, read_table};
use arrow_array::RecordBatch;
use hashbrown::HashMap;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Row counts of the filings of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct LakeCounts {
    /// Rows listed on a day, by type.
    listed: BTreeMap<Date, HashMap<String, u64>>,
    /// Rows of a day, listed or no more.
    filed: BTreeMap<Date, u64>,
    /// Rows by whether they are dissolved, fictitious, dated after today.
    kinds: [u64; 8],
}

impl LakeCounts {
    pub(crate) fn of(files: &[PathBuf], today: Date) -> Result<Self> {
        let mut counts = Self::default();
        for file in files {
            let columns = ["filed_date", "entity_type", "status", "listed"];
            for batch in read_table(Table::Filings, file, Some(&columns))? {
                counts.add(&batch?, today)?;
            }
        }
        Ok(counts)
    }

    fn add(&mut self, batch: &RecordBatch, today: Date) -> Result<(), TableError> {
        let columns = FilingColumns::new(batch);
        let (dates, kinds) = (columns.filed_date()?, columns.entity_type()?);
        let (states, listed) = (columns.status()?, columns.listed()?);
        for row in 0..columns.rows() {
            let Some(day) = day_of_epoch(dates.value(row)) else { continue };
            let kind = kinds.value(row);
            let is_fictitious = Listing::FICTITIOUS.holds(kind);
            self.kinds[bits(states.value(row) != ACTIVE, is_fictitious, day > today)] += 1;
            *self.filed.entry(day).or_default() += 1;
            if listed.value(row) {
                let of_day = self.listed.entry(day).or_default();
                *of_day.entry_ref(kind).or_insert(0) += 1;
            }
        }
        Ok(())
    }

    /// Rows that a total counts.
    pub(crate) fn rows(&self, counted: Counted) -> u64 {
        let counted = bits(counted.dissolved, counted.fictitious, counted.later);
        (0..8).filter(|at| at & !counted == 0).map(|at| self.kinds[at]).sum()
    }

    /// Rows listed and filed on each day.
    pub(crate) fn by_day(&self) -> impl Iterator<Item = (Date, DayCount)> + '_ {
        self.filed.iter().map(|(day, filed)| {
            let listed = self.listed.get(day).map_or(0, |kinds| kinds.values().sum::<u64>());
            (*day, DayCount { listed: listed as i64, filed: Some(*filed as i64) })
        })
    }

    /// Days with listed rows.
    pub(crate) fn days(&self) -> impl Iterator<Item = Date> + '_ {
        self.listed.keys().copied()
    }

    /// Rows listed on a day in a listing.
    pub(crate) fn listed_on(&self, day: Date, listing: Listing) -> i64 {
        let of_day = self.listed.get(&day).into_iter().flatten();
        of_day.filter(|(kind, _)| listing.holds(kind)).map(|(_, rows)| *rows).sum::<u64>() as i64
    }

    /// Rows listed on the day and in the listing of a coverage row.
    fn listed_of(&self, row: &CoverageRow) -> i64 {
        let listing = Listing::from_label(&row.entity_type);
        listing.map_or(0, |listing| self.listed_on(row.filed_date, listing))
    }

    /// Coverage rows whose `landed` differs from what the lake lists, corrected.
    pub(crate) fn corrected(&self, coverage: Vec<CoverageRow>) -> Vec<CoverageRow> {
        let wrong = coverage.into_iter().filter(|row| row.complete && row.landed != self.listed_of(row));
        wrong.map(|row| CoverageRow { landed: self.listed_of(&row), ..row }).collect()
    }

    /// Coverage rows of complete days, corrected for rows that have since changed their day or type. A day stays complete if the API
    /// counts only the rows that are left, or if nothing can show that it changed. Otherwise it must be read again: since `from` it can be.
    pub(crate) fn follow_moves(
        &self,
        coverage: Vec<CoverageRow>,
        from: Date,
        counted: &BTreeMap<Date, i64>,
        read_now: &BTreeSet<(Date, String)>,
    ) -> Vec<CoverageRow> {
        let follow = |row: CoverageRow| {
            let left = self.listed_of(&row);
            if !row.complete || row.landed <= left {
                return None;
            }
            let expected = row.expected - (row.landed - left);
            let is_read = read_now.contains(&(row.filed_date, row.entity_type.clone()));
            let is_untyped = row.entity_type == Listing::Untyped.label();
            let counted = counted.get(&row.filed_date).filter(|_| is_untyped);
            let fits = !is_read && counted.is_none_or(|counted| *counted == expected);
            let complete = fits || row.filed_date < from;
            let expected = if complete { expected } else { row.expected };
            Some(CoverageRow { landed: left, expected, complete, ..row })
        };
        coverage.into_iter().filter_map(follow).collect()
    }
}

fn bits(is_dissolved: bool, is_fictitious: bool, is_later: bool) -> usize {
    usize::from(is_dissolved) << 2 | usize::from(is_fictitious) << 1 | usize::from(is_later)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::table::{self, FilingRow, write_rows};
    use jiff::Timestamp;
    use jiff::civil::date;

    pub(crate) fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("an instant")
    }

    pub(crate) fn filing(id: i64, day: Date, kind: &str, status: &str) -> FilingRow {
        let (entity_type, status, listed) = (kind.to_owned(), status.to_owned(), status == ACTIVE);
        FilingRow { entity_type, status, listed, ..table::filing(id, day, Timestamp::UNIX_EPOCH) }
    }

    #[test]
    fn rows_are_counted_by_kind_and_coverage_is_corrected() {
        let (day, later) = (date(2026, 11, 20), date(2026, 11, 25));
        let rows = [
            filing(1, day, "llc", "active"),
            filing(2, day, "llc", "dissolved"),
            filing(3, day, "fictitious", "active"),
            filing(4, later, "trust", "active"),
        ];
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("part.parquet");
        write_rows(&rows, &file, &[]).expect("written");
        let counts = LakeCounts::of(&[file], day).expect("counts");
        let all = Counted { dissolved: true, fictitious: true, later: true };
        assert_eq!(counts.rows(all), 4);
        assert_eq!(counts.rows(Counted { later: false, ..all }), 3);
        assert_eq!(counts.rows(Counted { dissolved: false, fictitious: false, later: false }), 1);
        let covered = |label: &str, landed, complete| CoverageRow {
            filed_date: day,
            entity_type: label.to_owned(),
            expected: 2,
            landed,
            complete,
            settled: false,
            checked_at: Timestamp::UNIX_EPOCH,
        };
        let coverage = vec![covered("*", 2, true), covered("fictitious", 1, true), covered("llc", 9, false)];
        let right = counts.corrected(coverage);
        assert_eq!(right.len(), 1);
        assert_eq!((right[0].entity_type.as_str(), right[0].landed, right[0].expected), ("*", 1, 2));
    }

    #[test]
    fn a_day_without_its_lost_rows_is_complete_if_counts_match_or_it_cannot_be_read_again() {
        let (day, from) = (date(2026, 11, 20), date(2026, 11, 10));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("part.parquet");
        write_rows(&[filing(1, day, "llc", "active")], &file, &[]).expect("written");
        let counts = LakeCounts::of(&[file], day).expect("counts");
        let covered = |filed_date| CoverageRow {
            filed_date,
            entity_type: Listing::Untyped.label().to_owned(),
            expected: 2,
            landed: 2,
            complete: true,
            settled: false,
            checked_at: Timestamp::UNIX_EPOCH,
        };
        let follow = |filed_date, counted: Option<i64>, is_read| {
            let read_now = if is_read {
                [(filed_date, Listing::Untyped.label().to_owned())].into()
            } else {
                BTreeSet::new()
            };
            let counted = counted.map(|rows| (filed_date, rows)).into_iter().collect();
            let rows = counts.follow_moves(vec![covered(filed_date)], from, &counted, &read_now);
            let row = rows.first().expect("a row that follows");
            (row.expected, row.landed, row.complete)
        };
        assert_eq!(follow(day, Some(1), false), (1, 1, true), "one row left, one is counted");
        assert_eq!(follow(day, Some(2), false), (2, 1, false), "another came during the run");
        assert_eq!(follow(day, Some(1), true), (2, 1, false), "read by this run as two");
        assert_eq!(follow(day, None, false), (1, 1, true), "nothing counts it");
        assert_eq!(follow(date(2026, 11, 1), Some(2), false), (0, 0, true), "it cannot be read again");
    }
}
