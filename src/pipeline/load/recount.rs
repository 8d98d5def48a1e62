//! What the filings of a snapshot add up to: rows listed on each day, and rows of each kind.

use crate::contract::business::ACTIVE;
use crate::contract::eastern::day_of_epoch;
use crate::contract::reference::EntityType;
use crate::pipeline::PipelineError;
use crate::pipeline::plan::lake_view::belongs;
use crate::pipeline::state::registry::Counted;
use crate::table::{CoverageRow, EVERY_OTHER_TYPE, Table, read_table};
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Date32Type;
use arrow::record_batch::RecordBatch;
use jiff::civil::Date;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

/// Counts of the filings of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct LakeCounts {
    /// Rows listed on a day, by type.
    listed: BTreeMap<Date, HashMap<String, u64>>,
    /// Rows by whether they are dissolved, fictitious, of a later day.
    kinds: [u64; 8],
}

impl LakeCounts {
    /// Counts the rows of filings files as of a day.
    pub(crate) fn of(files: &[PathBuf], today: Date) -> Result<Self, PipelineError> {
        let mut counts = Self::default();
        for file in files {
            let columns = ["filed_date", "entity_type", "status", "listed"];
            for batch in read_table(Table::Filings, file, Some(&columns))? {
                counts.add(&batch?, today);
            }
        }
        Ok(counts)
    }

    fn add(&mut self, batch: &RecordBatch, today: Date) {
        let column = |name: &str| -> Option<&ArrayRef> { batch.column_by_name(name) };
        let (Some(dates), Some(kinds), Some(states), Some(listed)) =
            (column("filed_date"), column("entity_type"), column("status"), column("listed"))
        else {
            return;
        };
        let dates = dates.as_primitive::<Date32Type>();
        let (kinds, states) = (kinds.as_string::<i32>(), states.as_string::<i32>());
        let listed = listed.as_boolean();
        for row in 0..dates.len() {
            let Some(day) = day_of_epoch(dates.value(row)) else { continue };
            let kind = kinds.value(row);
            let is_fictitious = kind == EntityType::Fictitious.key();
            self.kinds[bits(states.value(row) != ACTIVE, is_fictitious, day > today)] += 1;
            if listed.value(row) {
                let of_day = self.listed.entry(day).or_default();
                match of_day.get_mut(kind) {
                    Some(rows) => *rows += 1,
                    None => drop(of_day.insert(kind.to_owned(), 1)),
                }
            }
        }
    }

    /// Rows that a total would count.
    pub(crate) fn rows(&self, counted: Counted) -> u64 {
        let counts = |at: usize| {
            (counted.dissolved || at & 4 == 0)
                && (counted.fictitious || at & 2 == 0)
                && (counted.later || at & 1 == 0)
        };
        (0..8).filter(|at| counts(*at)).map(|at| self.kinds[at]).sum()
    }

    /// Rows listed on a day under a listing's label.
    fn listed_on(&self, day: Date, label: &str) -> u64 {
        let of_day = self.listed.get(&day).into_iter().flatten();
        of_day.filter(|(kind, _)| belongs(label, kind)).map(|(_, rows)| *rows).sum()
    }

    /// Coverage rows whose `landed` is no longer what the lake lists, put right.
    pub(crate) fn put_right(&self, coverage: Vec<CoverageRow>) -> Vec<CoverageRow> {
        let listed = |row: &CoverageRow| self.listed_on(row.filed_date, &row.entity_type) as i64;
        let moved = coverage.into_iter().filter(|row| row.complete && row.landed != listed(row));
        moved.map(|row| CoverageRow { landed: listed(&row), ..row }).collect()
    }

    /// Coverage rows of proven days whose rows have since moved to other days or types. Where the API counts as many as are left, or
    /// nothing can tell any more, the day is whole without them; else it must be read again.
    pub(crate) fn follow_moves(&self, coverage: Vec<CoverageRow>, told: &Told<'_>) -> Vec<CoverageRow> {
        let follow = |row: CoverageRow| {
            let left = self.listed_on(row.filed_date, &row.entity_type) as i64;
            if !row.complete || row.landed <= left {
                return None;
            }
            let expected = row.expected - (row.landed - left);
            let is_read = told.read_now.contains(&(row.filed_date, row.entity_type.clone()));
            let counted = told.counted.get(&row.filed_date).filter(|_| row.entity_type == EVERY_OTHER_TYPE);
            let is_whole = !is_read && counted.is_none_or(|counted| *counted == expected);
            let complete = is_whole || row.filed_date < told.from;
            let expected = if complete { expected } else { row.expected };
            Some(CoverageRow { landed: left, expected, complete, ..row })
        };
        coverage.into_iter().filter_map(follow).collect()
    }
}

/// What tells whether a day that lost rows to other days is whole without them.
pub(crate) struct Told<'t> {
    /// Oldest day that can be read again.
    pub(crate) from: Date,
    /// Rows the API counts, of the untyped listing.
    pub(crate) counted: BTreeMap<Date, i64>,
    /// Days read by this run, whose totals are those rows and others.
    pub(crate) read_now: &'t BTreeSet<(Date, String)>,
}

fn bits(is_dissolved: bool, is_fictitious: bool, is_later: bool) -> usize {
    usize::from(is_dissolved) << 2 | usize::from(is_fictitious) << 1 | usize::from(is_later)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::table::{FilingRow, write_rows};
    use jiff::Timestamp;
    use jiff::civil::date;

    pub(crate) fn filing(id: i64, day: Date, kind: &str, status: &str) -> FilingRow {
        FilingRow {
            business_id: id,
            id: id.to_string(),
            document_number: format!("L{id:011}"),
            name: "SUN".to_owned(),
            entity_type: kind.to_owned(),
            company_type: "LLC".to_owned(),
            status: status.to_owned(),
            filed_date: day,
            dissolved_date: None,
            city: String::new(),
            zip: String::new(),
            county: String::new(),
            industry_sector: "s".to_owned(),
            industry_type: "s.t".to_owned(),
            url: String::new(),
            listed: status == ACTIVE,
            first_seen_at: Timestamp::UNIX_EPOCH,
            last_seen_at: Timestamp::UNIX_EPOCH,
            extra: None,
        }
    }

    #[test]
    fn rows_are_counted_by_kind_and_coverage_follows_what_is_listed() {
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
        let right = counts.put_right(coverage);
        assert_eq!(right.len(), 1);
        assert_eq!((right[0].entity_type.as_str(), right[0].landed, right[0].expected), ("*", 1, 2));
    }

    #[test]
    fn a_day_whose_rows_moved_elsewhere_is_whole_where_the_api_counts_no_more_or_cannot_be_asked() {
        let (day, from) = (date(2026, 11, 20), date(2026, 11, 10));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("part.parquet");
        write_rows(&[filing(1, day, "llc", "active")], &file, &[]).expect("written");
        let counts = LakeCounts::of(&[file], day).expect("counts");
        let covered = |filed_date| CoverageRow {
            filed_date,
            entity_type: EVERY_OTHER_TYPE.to_owned(),
            expected: 2,
            landed: 2,
            complete: true,
            settled: false,
            checked_at: Timestamp::UNIX_EPOCH,
        };
        let follow = |filed_date, counted: Option<i64>, is_read| {
            let read_now =
                if is_read { [(filed_date, EVERY_OTHER_TYPE.to_owned())].into() } else { BTreeSet::new() };
            let counted = counted.map(|rows| (filed_date, rows)).into_iter().collect();
            let rows =
                counts.follow_moves(vec![covered(filed_date)], &Told { from, counted, read_now: &read_now });
            let row = rows.first().expect("a row that follows");
            (row.expected, row.landed, row.complete)
        };
        assert_eq!(follow(day, Some(1), false), (1, 1, true), "one row left, one is counted");
        assert_eq!(follow(day, Some(2), false), (2, 1, false), "another came meanwhile");
        assert_eq!(follow(day, Some(1), true), (2, 1, false), "read by this run as two");
        assert_eq!(follow(day, None, false), (1, 1, true), "nothing counts it");
        assert_eq!(follow(date(2026, 11, 1), Some(2), false), (0, 0, true), "it cannot be read again");
    }
}
