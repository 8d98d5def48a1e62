//! Counts: by day, by county, statewide. Those that depend on the current day are computed again when it changes.

use super::case_fold::folded;
use super::columns::{CodedField, Columns};
use super::packed_row::{Field, flag};
use crate::contract::count::{County, MonthlyCount, Stats, StatsFilings, TypeCount};
use crate::contract::eastern::{day_of_epoch, epoch_days, minus_days, month_of};
use crate::contract::reference::EntityType;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::BTreeMap;

/// Months in the statistics, the current one included.
const STATS_MONTHS: usize = 13;
/// Days that the counts of a county cover, today included.
const COUNTY_DAYS: i32 = 60;
/// Key of the monthly counts for types outside the six; in a lake of the state's files also a type of rows.
pub(super) const OTHER: &str = "other";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CountyName {
    pub(crate) key: String,
    pub(crate) name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DayTally {
    /// Days since 1970-01-01.
    day: i32,
    /// Rows in the default listing of the day.
    listed: u32,
    /// Rows of each type, by its code; every status.
    by_type: Vec<u32>,
}

/// The counts that do not depend on the current day.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// All days that have filings, newest first.
    days: Vec<DayTally>,
    listed: u64,
    /// Active businesses of each county, by its code.
    active_by_county: Vec<u32>,
}

impl Tally {
    pub(crate) fn of(columns: &Columns) -> Self {
        let mut tally =
            Self { active_by_county: vec![0; columns.texts(CodedField::County).len()], ..Self::default() };
        for (row, (day, packed)) in (0..).zip(columns.uncoded.filed.iter().zip(&columns.packed_rows)) {
            if packed & flag::LISTED == 0 {
                continue;
            }
            tally.listed += 1;
            if packed & flag::ACTIVE != 0 && columns.is_served(row) {
                tally.active_by_county[columns.layout.code(Field::County, row, *packed) as usize] += 1;
            }
            let of_day = tally.day(*day, columns.texts(CodedField::EntityType).len());
            of_day.listed += u32::from(packed & (flag::ACTIVE | flag::ONLY_BY_TYPE) == flag::ACTIVE);
            of_day.by_type[columns.layout.code(Field::Kind, row, *packed) as usize] += 1;
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

    pub(crate) fn listed_on(&self, day: Date) -> u32 {
        let wanted = epoch_days(day);
        let found = self.days.binary_search_by(|tally| wanted.cmp(&tally.day));
        found.map_or(0, |place| self.days[place].listed)
    }

    /// Filings of a period by type, in any status.
    fn filed_by_type<'a>(&self, columns: &'a Columns, first: Date, last: Date) -> BTreeMap<&'a str, i64> {
        let (first, last) = (epoch_days(first), epoch_days(last));
        let start = self.days.partition_point(|tally| tally.day > last);
        let mut counts = BTreeMap::new();
        for tally in self.days[start..].iter().take_while(|tally| tally.day >= first) {
            for (kind, n) in columns.texts(CodedField::EntityType).texts().zip(&tally.by_type) {
                *counts.entry(kind).or_insert(0) += i64::from(*n);
            }
        }
        counts
    }

    pub(crate) fn stats(&self, columns: &Columns, updated_at: Timestamp, today: Date) -> Stats {
        let ago = |days| minus_days(today, days);
        let filed = |first, last| self.filed_by_type(columns, first, last).values().sum();
        let newest = self.days.iter().map(|tally| tally.day).find(|day| *day <= epoch_days(today));
        Stats {
            businesses_total: i64::try_from(self.listed).unwrap_or(i64::MAX),
            latest_filing_date: newest.and_then(day_of_epoch).unwrap_or(today),
            updated_at: updated_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            filings: StatsFilings {
                last_7_days: filed(ago(6), today),
                last_30_days: filed(ago(29), today),
                previous_30_days: filed(ago(59), ago(30)),
                last_365_days: filed(ago(364), today),
            },
            monthly: self.monthly(columns, today),
            type_split_30d: type_split(self.filed_by_type(columns, ago(29), today)),
        }
    }

    /// The last months, oldest first.
    fn monthly(&self, columns: &Columns, today: Date) -> Vec<MonthlyCount> {
        let this_month = today.first_of_month();
        let firsts =
            std::iter::successors(Some(this_month), |first| Some(minus_days(*first, 1).first_of_month()));
        let month = |first: Date| {
            let counts = self.filed_by_type(columns, first, first.last_of_month().min(today));
            MonthlyCount {
                month: month_of(first),
                total: counts.values().sum(),
                partial: first == this_month,
                by_type: by_documented_type(counts),
            }
        };
        let mut months: Vec<MonthlyCount> = firsts.take(STATS_MONTHS).map(month).collect();
        months.reverse();
        months
    }

    /// Counts of every county as of a day, in the order of the list of counties.
    pub(crate) fn county_counts(&self, columns: &Columns, names: &[CountyName], today: Date) -> Vec<County> {
        let place_of_code = county_places(columns, names);
        let mut counts: Vec<County> = names.iter().map(empty_county).collect();
        for (place, active) in place_of_code.iter().zip(&self.active_by_county) {
            if let Some(place) = place {
                counts[*place].active_businesses += i64::from(*active);
            }
        }
        let today = epoch_days(today);
        for row in columns.uncoded.filed_between(Some(today - (COUNTY_DAYS - 1)), today) {
            let counts_it = columns.packed_rows[row as usize] & flag::LISTED != 0 && columns.is_served(row);
            if let (true, Some(place)) = (counts_it, place_of_code[columns.code(Field::County, row) as usize])
            {
                count_filing(&mut counts[place], today - columns.uncoded.filed[row as usize]);
            }
        }
        counts
    }
}

/// The counts of the six types, 0 included, and of all others together.
fn by_documented_type(counts: BTreeMap<&str, i64>) -> BTreeMap<String, i64> {
    let keys = EntityType::ALL.into_iter().map(EntityType::key).chain([OTHER]);
    let mut by_type: BTreeMap<String, i64> = keys.map(|key| (key.to_owned(), 0)).collect();
    for (kind, n) in counts {
        let key = EntityType::from_key(kind).map_or(OTHER, EntityType::key);
        *by_type.entry(key.to_owned()).or_insert(0) += n;
    }
    by_type
}

/// The types that have filings, largest first.
fn type_split(counts: BTreeMap<&str, i64>) -> Vec<TypeCount> {
    let counts = counts.into_iter().filter(|(_, n)| *n > 0);
    let mut split: Vec<TypeCount> = counts.map(|(kind, n)| TypeCount { kind: kind.to_owned(), n }).collect();
    split.sort_by(|a, b| b.n.cmp(&a.n).then_with(|| a.kind.cmp(&b.kind)));
    split
}

/// For each code of the county column, its place in the list of counties.
fn county_places(columns: &Columns, names: &[CountyName]) -> Vec<Option<usize>> {
    let names: Vec<(String, String)> =
        names.iter().map(|county| (folded(&county.name), folded(&county.key))).collect();
    let place = |text: &str| {
        let text = folded(text);
        names.iter().position(|(name, key)| text == *name || text == *key)
    };
    columns.texts(CodedField::County).texts().map(place).collect()
}

fn empty_county(county: &CountyName) -> County {
    County { key: county.key.clone(), name: county.name.clone(), ..County::default() }
}

fn count_filing(county: &mut County, days_ago: i32) {
    county.filings_last_7_days += i64::from(days_ago < 7);
    county.filings_last_30_days += i64::from(days_ago < 30);
    county.filings_previous_30_days += i64::from(days_ago >= 30);
}
