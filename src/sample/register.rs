//! The register before the days of a sample: 30 years of filings, many of them dissolved since.

use super::chance::{Draw, Purpose, Weighted};
use super::life::Life;
use super::name::Names;
use super::posting::Posting;
use super::record::{self, Numbered};
use super::series::{SERIES, Series};
use super::spec::{SampleBusiness, Shape};
use crate::contract::eastern::{minus_days, plus_days};
use jiff::civil::{Date, Weekday};

/// Days of 30 years.
const DAYS: u32 = 10_957;
/// Share of the newest filings that are dissolved, and what 30 years add to it; 30% of all.
const DISSOLVED: (f64, f64) = (0.08, 0.66);
/// Share of a weekend's filings that carry Monday's date.
const TO_MONDAY: f64 = 0.85;
/// Fictitious names for each LLC.
const FICTITIOUS: f64 = 0.22;
/// Document numbers of the register begin after those of the days.
const FIRST_NUMBER: u64 = 80_000_000;

/// An old register: its seed, its size, its last day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterSpec {
    /// What all draws depend on.
    pub seed: u64,
    /// The day after its newest filing.
    pub before: Date,
    /// Businesses, dissolved ones included.
    pub rows: u32,
}

/// The businesses of an old register, oldest first; their ids count from 1, below those of any sample's days.
///
/// Streams: nothing is kept between records.
pub fn old_register(spec: &RegisterSpec) -> impl Iterator<Item = SampleBusiness> + '_ {
    let names = Names::new(spec.seed);
    let kinds: Weighted<usize> = SERIES.iter().enumerate().map(|(at, series)| (at, weight(series))).collect();
    (1..=u64::from(spec.rows)).map(move |id| business(spec, &names, &kinds, id))
}

fn weight(series: &Series) -> u64 {
    let share = if series.is_fictitious() { FICTITIOUS } else { series.per_llc };
    (share * 1_000_000.0) as u64
}

fn business(spec: &RegisterSpec, names: &Names, kinds: &Weighted<usize>, id: u64) -> SampleBusiness {
    let mut draw = Draw::of(spec.seed, Purpose::Register, id);
    let series = kinds.draw(&mut draw).copied().unwrap_or_default();
    // Filings grow steadily: the number before a moment is proportional to the square of the time passed.
    let passed = (id as f64 / f64::from(spec.rows)).sqrt();
    let age_days = ((1.0 - passed) * f64::from(DAYS)) as u32;
    let newest = minus_days(spec.before, 1);
    let filed = workday(minus_days(newest, age_days), newest, &mut draw);
    let (least, more) = DISSOLVED;
    let ends = draw.happens(least + more * f64::from(age_days) / f64::from(DAYS));
    let dissolved = ends.then(|| plus_days(filed, draw.between(0, age_days as usize) as u32));
    let last_report_year = dissolved.unwrap_or(newest).year();
    let life = Life { dissolved, last_report_year, change: None };
    let posting = Posting { series, filed, is_back_dated: false };
    let filing = Numbered { posting, posted: filed, id, count: FIRST_NUMBER + id };
    record::business(spec.seed, Shape::Plain, names, filing, life)
}

fn workday(day: Date, newest: Date, draw: &mut Draw) -> Date {
    let to_monday = match day.weekday() {
        Weekday::Saturday => 2,
        Weekday::Sunday => 1,
        _ => return day,
    };
    if draw.happens(TO_MONDAY) { plus_days(day, to_monday).min(newest) } else { day }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use std::collections::{BTreeMap, HashSet};

    #[test]
    fn thirty_years_of_filings_are_a_third_dissolved_and_share_common_prefixes() {
        let spec = RegisterSpec { seed: 1, before: date(2026, 7, 1), rows: 30_000 };
        let (mut documents, mut starts) = (HashSet::new(), BTreeMap::new());
        let (mut dissolved, mut oldest, mut newest) = (0, spec.before, Date::ZERO);
        for (id, SampleBusiness { detail, .. }) in (1..).zip(old_register(&spec)) {
            let summary = detail.summary;
            assert_eq!(summary.business_id(), Some(id));
            assert!(documents.insert(summary.document_number));
            dissolved += usize::from(summary.status == "dissolved");
            assert_eq!(summary.status == "dissolved", summary.dissolved_date.is_some());
            (oldest, newest) = (oldest.min(summary.filed_date), newest.max(summary.filed_date));
            *starts.entry(summary.name[..2].to_owned()).or_insert(0) += 1;
        }
        assert!((8_100..=9_900).contains(&dissolved), "{dissolved}");
        assert!(oldest < date(1998, 1, 1) && newest == date(2026, 6, 30), "{oldest} {newest}");
        assert!(starts.len() > 300, "{}", starts.len());
        assert!(starts.values().max() > Some(&300), "{starts:?}");
    }
}
