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

    /// Coverage rows that do not say what the lake lists, corrected. A complete day stays so if the API counts these rows, or if
    /// nothing can show that it has others. Otherwise it must be read again: since `from` it can be. `read_now`: what this run has read.
    pub(crate) fn corrected(
        &self,
        coverage: Vec<CoverageRow>,
        from: Date,
        counted: &BTreeMap<Date, i64>,
        read_now: &BTreeSet<(Date, String)>,
    ) -> Vec<CoverageRow> {
        let correct = |row: CoverageRow| {
            let landed = self.listed_of(&row);
            let is_right = row.landed == landed && (!row.complete || row.expected == landed);
            let is_read = read_now.contains(&(row.filed_date, row.entity_type.clone()));
            let is_untyped = row.entity_type == Listing::Untyped.label();
            let counted = counted.get(&row.filed_date).copied().filter(|_| is_untyped);
            let fits = !is_read && counted.is_none_or(|counted| counted == landed);
            let complete = row.complete && (fits || row.filed_date < from);
            let expected = if complete { landed } else { counted.unwrap_or(row.expected) };
            (!is_right).then_some(CoverageRow { landed, expected, complete, ..row })
        };
        coverage.into_iter().filter_map(correct).collect()
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
    fn rows_are_counted_by_kind() {
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
        assert_eq!(counts.listed_on(day, Listing::Untyped), 1);
        assert_eq!(counts.listed_on(day, Listing::FICTITIOUS), 1);
    }

    #[test]
    fn a_day_with_other_rows_is_complete_if_counts_match_or_it_cannot_be_read_again() {
        let (day, from) = (date(2026, 11, 20), date(2026, 11, 10));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("part.parquet");
        let rows = [filing(1, day, "llc", "active"), filing(2, day, "trust", "active")];
        write_rows(&rows, &file, &[]).expect("written");
        let counts = LakeCounts::of(&[file], day).expect("counts");
        let covered = |filed_date, entity_type: &str, landed, complete| CoverageRow {
            filed_date,
            entity_type: entity_type.to_owned(),
            expected: 3,
            landed,
            complete,
            settled: false,
            checked_at: Timestamp::UNIX_EPOCH,
        };
        let correct = |row: CoverageRow, counted: Option<i64>, is_read: bool| {
            let read_now = is_read.then(|| (row.filed_date, row.entity_type.clone())).into_iter().collect();
            let counted = counted.map(|rows| (row.filed_date, rows)).into_iter().collect();
            let rows = counts.corrected(vec![row], from, &counted, &read_now);
            rows.first().map(|row| (row.expected, row.landed, row.complete))
        };
        let lost = || covered(day, "*", 3, true);
        assert_eq!(correct(lost(), Some(2), false), Some((2, 2, true)), "two rows left, two are counted");
        assert_eq!(correct(lost(), Some(3), false), Some((3, 2, false)), "another came during the run");
        assert_eq!(correct(lost(), Some(2), true), Some((2, 2, false)), "read by this run as three");
        assert_eq!(correct(lost(), None, false), Some((2, 2, true)), "nothing counts it");
        assert_eq!(
            correct(covered(date(2026, 11, 1), "*", 3, true), Some(2), false),
            Some((0, 0, true)),
            "it cannot be read again"
        );
        let gained = || CoverageRow { expected: 1, ..covered(day, "*", 1, true) };
        assert_eq!(correct(gained(), Some(2), false), Some((2, 2, true)), "one more, and it is counted");
        assert_eq!(correct(gained(), Some(1), false), Some((1, 2, false)), "another left, unseen");
        let of_type = CoverageRow { expected: 0, ..covered(day, "llc", 0, true) };
        assert_eq!(correct(of_type, Some(9), false), Some((1, 1, true)), "counts are of all types");
        assert_eq!(
            correct(covered(day, "*", 0, false), None, false),
            Some((3, 2, false)),
            "still incomplete"
        );
        assert_eq!(
            correct(covered(day, "*", 2, true), Some(2), false),
            Some((2, 2, true)),
            "as the lake lists"
        );
        let right = || CoverageRow { expected: 2, ..covered(day, "*", 2, true) };
        assert_eq!(correct(right(), Some(9), false), None);
    }
}
