//! Counts: by day, by county, statewide. They move with the day, so they are made anew when it turns.

use super::case_fold::{equals_folded, folded};
use super::packed_row::{Field, flag};
use super::{Columns, CountyName, Index};
use crate::contract::count::{County, MonthlyCount, Stats, StatsFilings, TypeCount};
use crate::contract::eastern::{day_of_epoch, epoch_days, minus_days, month_of};
use crate::contract::reference::EntityType;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Months that the stats list, the current one included.
const STATS_MONTHS: usize = 13;
/// Days that the counts of a county look at, today included.
const COUNTY_DAYS: i32 = 60;
/// Key of the monthly counts for types outside the six.
const OTHER: &str = "other";

/// The filings of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DayTally {
    pub(crate) day: i32,
    /// Rows that the listing of the day has.
    pub(crate) listed: u32,
    /// Rows of each type, by its code; every status.
    pub(crate) by_type: Vec<u32>,
}

/// What does not move with the day.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// All days that have filings, newest first.
    pub(crate) days: Vec<DayTally>,
    /// Rows that are listed.
    pub(crate) listed: u64,
    /// Active businesses of each county, by its code.
    pub(crate) active_by_county: Vec<u32>,
}

impl Tally {
    /// Counts every row.
    pub(crate) fn of(columns: &Columns) -> Self {
        let mut tally = Self { active_by_county: vec![0; columns.counties.len()], ..Self::default() };
        for (row, (day, word)) in (0..).zip(columns.filed.iter().zip(&columns.words)) {
            if word & flag::LISTED == 0 {
                continue;
            }
            tally.listed += 1;
            if word & flag::ACTIVE != 0 {
                tally.active_by_county[columns.layout.code(Field::County, row, *word) as usize] += 1;
            }
            let of_day = tally.day(*day, columns.kinds.len());
            of_day.listed += u32::from(word & (flag::ACTIVE | flag::FICTITIOUS) == flag::ACTIVE);
            of_day.by_type[columns.layout.code(Field::Kind, row, *word) as usize] += 1;
        }
        tally
    }

    /// The tally of a day that is the last one or an older one.
    fn day(&mut self, day: i32, types: usize) -> &mut DayTally {
        if self.days.last().is_none_or(|tally| tally.day != day) {
            self.days.push(DayTally { day, listed: 0, by_type: vec![0; types] });
        }
        let last = self.days.len() - 1;
        &mut self.days[last]
    }
}

impl Index {
    /// Filings of a period by type, whatever their status.
    fn filed_by_type(&self, first: Date, last: Date) -> BTreeMap<&str, i64> {
        let (first, last) = (epoch_days(first), epoch_days(last));
        let start = self.days.partition_point(|tally| tally.day > last);
        let mut counts = BTreeMap::new();
        for tally in self.days[start..].iter().take_while(|tally| tally.day >= first) {
            for (kind, n) in self.columns.kinds.texts().zip(&tally.by_type) {
                *counts.entry(kind).or_insert(0) += i64::from(*n);
            }
        }
        counts
    }

    fn filed(&self, first: Date, last: Date) -> i64 {
        self.filed_by_type(first, last).values().sum()
    }

    /// Statewide stats as of a day.
    pub(crate) fn stats(&self, today: Date) -> Stats {
        let ago = |days| minus_days(today, days);
        let newest = self.days.iter().map(|tally| tally.day).find(|day| *day <= epoch_days(today));
        Stats {
            businesses_total: i64::try_from(self.listed).unwrap_or(i64::MAX),
            latest_filing_date: newest.and_then(day_of_epoch).unwrap_or(today),
            updated_at: self.updated_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            filings: StatsFilings {
                last_7_days: self.filed(ago(6), today),
                last_30_days: self.filed(ago(29), today),
                previous_30_days: self.filed(ago(59), ago(30)),
                last_365_days: self.filed(ago(364), today),
            },
            monthly: self.monthly(today),
            type_split_30d: self.type_split(ago(29), today),
        }
    }

    /// The last months, oldest first.
    fn monthly(&self, today: Date) -> Vec<MonthlyCount> {
        let mut first = today.first_of_month();
        let mut months = Vec::with_capacity(STATS_MONTHS);
        for _ in 0..STATS_MONTHS {
            months.push(self.month(first, today));
            first = minus_days(first, 1).first_of_month();
        }
        months.reverse();
        months
    }

    fn month(&self, first: Date, today: Date) -> MonthlyCount {
        let mut by_type: BTreeMap<String, i64> = EntityType::ALL
            .iter()
            .map(|kind| kind.key())
            .chain([OTHER])
            .map(|key| (key.to_owned(), 0))
            .collect();
        for (kind, n) in self.filed_by_type(first, first.last_of_month().min(today)) {
            let key = EntityType::from_key(kind).map_or(OTHER, EntityType::key);
            *by_type.entry(key.to_owned()).or_insert(0) += n;
        }
        let total = by_type.values().sum();
        MonthlyCount { month: month_of(first), total, partial: first == today.first_of_month(), by_type }
    }

    /// Types of a period, largest first, none without filings.
    fn type_split(&self, first: Date, last: Date) -> Vec<TypeCount> {
        let counts = self.filed_by_type(first, last).into_iter().filter(|(_, n)| *n > 0);
        let mut split: Vec<TypeCount> =
            counts.map(|(kind, n)| TypeCount { kind: kind.to_owned(), n }).collect();
        split.sort_by(|a, b| b.n.cmp(&a.n).then_with(|| a.kind.cmp(&b.kind)));
        split
    }

    /// Counts of every county as of a day, in the order of the list of counties.
    pub(crate) fn county_counts(&self, today: Date) -> Vec<County> {
        let place_of_code = self.county_places();
        let mut counts: Vec<County> = self.county_names.iter().map(empty_county).collect();
        for (place, active) in place_of_code.iter().zip(&self.active_by_county) {
            if let Some(place) = place {
                counts[*place].active_businesses += i64::from(*active);
            }
        }
        let (columns, today) = (&self.columns, epoch_days(today));
        for row in columns.filed_between(Some(today - (COUNTY_DAYS - 1)), today) {
            let listed = columns.words[row as usize] & flag::LISTED != 0;
            if let (true, Some(place)) = (listed, place_of_code[columns.code(Field::County, row) as usize]) {
                count_filing(&mut counts[place], today - columns.filed[row as usize]);
            }
        }
        counts
    }

    /// For each code of the county column, its place in the list of counties.
    fn county_places(&self) -> Vec<Option<usize>> {
        let listed: Vec<(String, String)> =
            self.county_names.iter().map(|county| (folded(&county.name), folded(&county.key))).collect();
        let place = |text: &str| {
            listed.iter().position(|(name, key)| equals_folded(text, name) || equals_folded(text, key))
        };
        self.columns.counties.texts().map(place).collect()
    }
}

fn empty_county(county: &CountyName) -> County {
    County {
        key: county.key.clone(),
        name: county.name.clone(),
        filings_last_7_days: 0,
        filings_last_30_days: 0,
        filings_previous_30_days: 0,
        active_businesses: 0,
    }
}

fn count_filing(county: &mut County, days_ago: i32) {
    county.filings_last_7_days += i64::from(days_ago < 7);
    county.filings_last_30_days += i64::from(days_ago < 30);
    county.filings_previous_30_days += i64::from(days_ago >= 30);
}
