//! How often growth is shown where there is none, and how soon where there is some: a simulated Florida, two years of mornings.
//!
//! Its calendar is that of the state's daily files of 2026: weekdays, months, holidays, the days after them, 1sts and 15ths of a month.
//! Each day of the state is up to a fifth fuller or emptier by chance, and each county has its share of it.

use super::shipped_sql;
use crate::aggregate::calendar::{DayCount, days};
use crate::aggregate::on_disk::{Cells, flag, text};
use crate::aggregate::run::run_aggregate;
use crate::aggregate::tables::SnapshotFiles;
use crate::aggregate::tiny_lake::write_batch;
use crate::contract::county::county_facts;
use crate::contract::eastern::{days_newest_first, epoch_days, minus_days, plus_days};
use crate::contract::holiday::{holiday_name, is_ordinary};
use crate::table::{CoverageRow, DayRow, Row as _, StatewideRow};
use arrow_array::{ArrayRef, Date32Array, Int64Array, RecordBatch, StringArray};
use jiff::Timestamp;
use jiff::civil::{Date, date};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const WEEKDAYS: [f64; 7] = [1.33, 0.96, 1.01, 0.91, 0.81, 0.21, 0.19];
const MONTHS: [f64; 12] = [1.12, 1.04, 1.07, 1.03, 1.00, 0.97, 0.95, 0.94, 0.96, 0.99, 0.94, 0.99];
/// Filings of a mean business day, fictitious names included.
const BUSINESS_DAY: f64 = 3_000.0;
const FIRST_MORNING: Date = date(2025, 3, 3);
const MORNINGS: u32 = 104;
/// The ten counties that change, by the rank of their population: from the second to the twentieth.
const CHANGING: [usize; 10] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19];

/// Chance from a seed (splitmix64).
struct Chance(u64);

impl Chance {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    fn poisson(&mut self, mean: f64) -> i64 {
        if mean > 40.0 {
            return (mean + mean.sqrt() * self.normal()).round() as i64;
        }
        let (mut left, mut number) = (self.unit(), 0);
        while left > (-mean).exp() {
            left *= self.unit();
            number += 1;
        }
        number
    }
}

/// Expected filings of the state on a day.
fn expected(day: Date) -> f64 {
    let weekday = WEEKDAYS[usize::from(day.weekday().to_monday_zero_offset().unsigned_abs())];
    let month = MONTHS[usize::from(day.month().unsigned_abs()) - 1];
    let is_open = holiday_name(day).is_none() && weekday > 0.5;
    let times = match (day.month(), day.day()) {
        (1, 1) => return 11_000.0,
        (_, 1) if !is_open => return 3_900.0,
        (_, 1) => 1.7 * weekday,
        (_, 15) if is_open => 1.15 * weekday,
        _ if holiday_name(day).is_some() => 0.12,
        _ if is_open && !is_ordinary(day) => 1.9,
        _ => weekday,
    };
    BUSINESS_DAY * month * times
}

/// Filings of each county by day; `change` is what the changing counties have more of from a day on.
struct Florida {
    counties: Vec<&'static str>,
    filings: BTreeMap<Date, Vec<i64>>,
}

impl Florida {
    fn new(seed: u64, change: Option<(Date, f64)>) -> Self {
        let mut chance = Chance(seed);
        let mut facts: Vec<_> = county_facts().collect();
        facts.sort_by_key(|county| std::cmp::Reverse(county.population));
        let people: i64 = facts.iter().map(|county| county.population).sum();
        let last = plus_days(FIRST_MORNING, 7 * MORNINGS);
        let mut all: Vec<Date> = days_newest_first(minus_days(FIRST_MORNING, 440), last).collect();
        all.reverse();
        let mut of_day = |day: Date| -> Vec<i64> {
            let state = expected(day) * (1.0 + 0.07 * chance.normal()).max(0.2);
            let share = |(rank, population): (usize, i64)| {
                let times = change.filter(|(from, _)| day >= *from && CHANGING.contains(&rank));
                let more = times.map_or(1.0, |(_, more)| if rank % 4 == 1 { 1.0 + more } else { 1.0 - more });
                state * more * population as f64 / people as f64
            };
            let means: Vec<f64> =
                facts.iter().map(|county| county.population).enumerate().map(share).collect();
            means.into_iter().map(|mean| chance.poisson(mean)).collect()
        };
        let filings = all.into_iter().map(|day| (day, of_day(day))).collect();
        Self { counties: facts.iter().map(|county| county.name).collect(), filings }
    }

    /// Counties that are shown to differ from the state, and whether the newest settled week is unusual, on a morning.
    fn shown(&self, today: Date, dir: &Path) -> (BTreeMap<String, f64>, bool) {
        let mut tables = self.tables(today, dir);
        for name in ["county_type_window", "county_window", "week"] {
            let made = run_aggregate(name, &shipped_sql(name), &tables, dir).expect(name);
            tables.insert(format!("agg_{name}"), vec![made.path]);
        }
        let cells = Cells::read(&tables["agg_county_window"][0]).expect("cells");
        let (names, flags) =
            (cells.texts("county").expect("names"), cells.flags("is_reliable").expect("flags"));
        let points = cells.doubles("points_from_state").expect("points");
        let counties = cells.rows().filter(|row| flag(flags, *row));
        let counties = counties.map(|row| (text(names, row), points.get(row).expect("points"))).collect();
        let weeks = Cells::read(&tables["agg_week"][0]).expect("cells");
        let (settled, unusual) =
            (weeks.flags("settled").expect("flags"), weeks.flags("is_unusual").expect("flags"));
        let newest = weeks.rows().find(|row| flag(settled, *row)).expect("a settled week");
        (counties, flag(unusual, newest))
    }

    fn tables(&self, today: Date, dir: &Path) -> SnapshotFiles {
        let read: Vec<Date> = days_newest_first(minus_days(today, 420), today).collect();
        let count = |day: &Date| self.filings[day].iter().sum::<i64>();
        let counts: BTreeMap<Date, DayCount> =
            read.iter().map(|day| (*day, DayCount { listed: count(day), filed: Some(count(day)) })).collect();
        let covered = |day: &Date, listing: &str| CoverageRow {
            filed_date: *day,
            entity_type: listing.to_owned(),
            expected: 1,
            landed: 1,
            complete: true,
            settled: false,
            checked_at: Timestamp::UNIX_EPOCH,
        };
        let coverage: Vec<CoverageRow> =
            read.iter().flat_map(|day| ["*", "fictitious"].map(|listing| covered(day, listing))).collect();
        let rows: Vec<(Date, usize)> =
            read.iter().take(75).flat_map(|day| (0..67).map(|county| (*day, county))).collect();
        let columns: [(&str, ArrayRef); 4] = [
            ("filed_date", Arc::new(Date32Array::from_iter_values(rows.iter().map(|row| epoch_days(row.0))))),
            ("county", Arc::new(StringArray::from_iter_values(rows.iter().map(|row| self.counties[row.1])))),
            ("entity_type", Arc::new(StringArray::from_iter_values(rows.iter().map(|_| "llc")))),
            (
                "filings",
                Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| self.filings[&row.0][row.1]))),
            ),
        ];
        let filed = || {
            let times = |row: &(Date, usize)| usize::try_from(self.filings[&row.0][row.1]).unwrap_or(0);
            rows.iter().flat_map(move |row| std::iter::repeat_n(*row, times(row)))
        };
        let each: [(&str, ArrayRef); 3] = [
            ("filed_date", Arc::new(Date32Array::from_iter_values(filed().map(|row| epoch_days(row.0))))),
            ("county", Arc::new(StringArray::from_iter_values(filed().map(|row| self.counties[row.1])))),
            ("entity_type", Arc::new(StringArray::from_iter_values(filed().map(|_| "llc")))),
        ];
        let statewide = StatewideRow {
            observed_on: today,
            businesses_total: 0,
            latest_filing_date: today,
            updated_at: String::new(),
            filings_last_7_days: 0,
            filings_last_30_days: 0,
            filings_previous_30_days: 0,
            filings_last_365_days: 0,
        };
        let batches = [
            ("days", DayRow::batch(&days(&counts, &coverage, today)).expect("days")),
            ("statewide", StatewideRow::batch(&[statewide]).expect("a row")),
            ("filings", RecordBatch::try_from_iter(each).expect("columns")),
            ("agg_county_type_day", RecordBatch::try_from_iter(columns).expect("columns")),
        ];
        let write = |(name, batch): (&str, RecordBatch)| {
            let path = dir.join(format!("{name}-simulated.parquet"));
            write_batch(&batch, &path);
            (name.to_owned(), vec![path])
        };
        batches.into_iter().map(write).collect()
    }
}

fn mornings() -> impl Iterator<Item = Date> {
    (0..MORNINGS).map(|week| plus_days(FIRST_MORNING, 7 * week))
}

#[test]
#[ignore = "a minute; prints how often growth is shown that is none"]
fn without_growth_at_most_one_week_and_one_county_in_twenty_is_shown_to_differ() {
    let (florida, dir) = (Florida::new(1, None), tempfile::tempdir().expect("a folder"));
    let shown: Vec<_> = mornings().map(|today| florida.shown(today, dir.path())).collect();
    let counties: usize = shown.iter().map(|(counties, _)| counties.len()).sum();
    let weeks = shown.iter().filter(|(_, is_unusual)| *is_unusual).count();
    let of_counties = counties as f64 / f64::from(67 * MORNINGS);
    let of_weeks = weeks as f64 / f64::from(MORNINGS);
    println!("counties shown {:.2} %, weeks shown {:.2} %", of_counties * 100.0, of_weeks * 100.0);
    assert!(of_counties <= 0.05 && of_weeks <= 0.05, "{of_counties} {of_weeks}");
    assert!(of_counties > 0.0, "an interval of 99 % leaves some out");
}

#[test]
#[ignore = "half a minute; prints how soon a true change is shown"]
fn a_change_of_ten_per_cent_is_shown_in_large_counties() {
    let change = date(2025, 9, 8);
    let (florida, dir) = (Florida::new(2, Some((change, 0.1))), tempfile::tempdir().expect("a folder"));
    let ten: Vec<&str> = CHANGING.iter().map(|rank| florida.counties[*rank]).collect();
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    for week in 0..=12 {
        let (shown, _) = florida.shown(plus_days(change, 7 * week), dir.path());
        for (at, county) in ten.iter().enumerate() {
            let is_right = shown.get(*county).is_some_and(|points| (*points > 0.0) == at.is_multiple_of(2));
            if is_right {
                first.entry(county).or_insert(week);
            }
        }
        println!("after {week} weeks {} of 10 were shown", first.len());
    }
    println!("{first:?}");
    assert!(first.len() >= 5, "{first:?}");
}
