//! Months and years with their filings by type, from the figures of the months.

use crate::aggregate::figures::values::EVERY_TYPE;
use crate::aggregate::{Figures, MonthFigures};
use crate::contract::eastern::month_of;
use std::collections::{BTreeMap, BTreeSet};

/// A month or a year.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Period {
    /// `2026-07`, or `2026`.
    pub(super) name: String,
    pub(super) by_type: BTreeMap<String, i64>,
    /// Whether the lake has every day of it.
    pub(super) is_complete: bool,
    /// Whether the lake has a day of it, or filings.
    pub(super) is_read: bool,
}

/// The part of a year that is no longer listed, next to its types.
pub(super) const GONE: &str = "no longer listed";

impl Period {
    /// Filings that are still listed.
    pub(super) fn listed(&self) -> i64 {
        self.by_type.iter().filter(|(kind, _)| *kind != GONE).map(|(_, filings)| filings).sum()
    }
}

/// The newest months, oldest first.
pub(super) fn months(figures: &Figures, most: usize) -> Vec<Period> {
    newest(periods(&figures.months, 7), figures, most)
}

/// The newest years, oldest first, with what of them is no longer listed. A year is complete when its twelve months are.
pub(super) fn years(figures: &Figures, most: usize) -> Vec<Period> {
    let mut years = newest(periods(&figures.months, 4), figures, most);
    for year in &mut years {
        let filed = figures.filed_by_year.get(&year.name).copied().unwrap_or_default();
        let gone = filed - year.listed();
        if gone > 0 {
            year.by_type.insert(GONE.to_owned(), gone);
        }
    }
    years
}

/// The newest periods without a gap: one that has no filings is there too. It is read if a day of it was.
fn newest(mut known: BTreeMap<String, Period>, figures: &Figures, most: usize) -> Vec<Period> {
    let read: BTreeSet<String> = figures.coverage.iter().map(|day| month_of(day.day)).collect();
    let is_read = |name: &str| read.range(name.to_owned()..).next().is_some_and(|day| day.starts_with(name));
    let oldest = known.keys().next().cloned().unwrap_or_default();
    let mut next = known.keys().next_back().cloned();
    let mut periods = Vec::new();
    while let Some(name) = next.filter(|name| *name >= oldest && periods.len() < most) {
        next = before(&name);
        let is_read = is_read(&name);
        periods.push(known.remove(&name).unwrap_or_else(|| Period { name, is_read, ..Period::default() }));
    }
    periods.reverse();
    periods
}

/// `2026-06` before `2026-07`, `2025` before `2026`.
fn before(name: &str) -> Option<String> {
    let less = |number: &str| number.parse::<u32>().ok()?.checked_sub(1);
    match name.split_once('-') {
        None => Some(format!("{:04}", less(name)?)),
        Some((year, "01")) => Some(format!("{}-12", before(year)?)),
        Some((year, month)) => Some(format!("{year}-{:02}", less(month)?)),
    }
}

/// The periods whose names are the first `letters` of their months.
fn periods(figures: &[MonthFigures], letters: usize) -> BTreeMap<String, Period> {
    let mut periods: BTreeMap<String, (Period, usize)> = BTreeMap::new();
    for row in figures {
        let Some(name) = row.month.get(..letters) else { continue };
        let (period, months) = periods.entry(name.to_owned()).or_default();
        if row.entity_type == EVERY_TYPE {
            *months += usize::from(row.is_complete);
        } else {
            *period.by_type.entry(row.entity_type.clone()).or_default() += row.filings;
        }
    }
    let of_all = if letters == 4 { 12 } else { 1 };
    let period = |(name, (period, months)): (String, (Period, usize))| {
        (name.clone(), Period { name, is_complete: months == of_all, is_read: true, ..period })
    };
    periods.into_iter().map(period).collect()
}

/// Why the filings of a month are too few, in words after its name; nothing where they are not.
pub(super) const fn lacks(month: &MonthFigures) -> &'static str {
    match (month.is_complete, month.is_settled) {
        (false, _) => " (incomplete)",
        (true, false) => " (still filling)",
        (true, true) => "",
    }
}

/// A month of cities or sectors, in words that say if the lake lacks days of it.
pub(super) fn of_month(figures: &Figures, month: &str) -> String {
    let is_it = |row: &&MonthFigures| row.entity_type == EVERY_TYPE && row.month == month;
    match figures.months.iter().find(is_it) {
        None if month.is_empty() => String::new(),
        found => format!("{month}{}", found.map_or(" (incomplete)", lacks)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::CoverageDay;
    use jiff::civil::date;

    #[test]
    fn a_year_is_complete_with_twelve_months() {
        let month = |year: i32, month: i32, entity_type: &str| MonthFigures {
            month: format!("{year}-{month:02}"),
            entity_type: entity_type.to_owned(),
            filings: 2,
            year_over_year: None,
            is_complete: true,
            is_settled: true,
        };
        let mut rows: Vec<MonthFigures> = (1..=12).map(|of| month(2025, of, EVERY_TYPE)).collect();
        rows.extend((1..=12).map(|of| month(2025, of, "llc")));
        rows.extend([month(2026, 1, EVERY_TYPE), month(2026, 1, "llc")]);
        let figures = Figures { months: rows, ..Figures::default() };
        let months_of = months(&figures, 2);
        let names = |periods: &[Period]| periods.iter().map(|period| period.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&months_of), ["2025-12", "2026-01"]);
        let filed_by_year = BTreeMap::from([("2025".to_owned(), 30)]);
        let years = years(&Figures { filed_by_year, ..figures }, 9);
        let of: Vec<_> =
            years.iter().map(|year| (year.is_complete, year.listed(), year.by_type.get(GONE))).collect();
        assert_eq!(names(&years), ["2025", "2026"]);
        assert_eq!(of, [(true, 24, Some(&6)), (false, 2, None)]);
    }

    #[test]
    fn a_month_without_filings_has_its_place_and_is_read_if_a_day_of_it_was() {
        let month = |month: &str| MonthFigures {
            month: month.to_owned(),
            entity_type: "llc".to_owned(),
            filings: 1,
            year_over_year: None,
            is_complete: true,
            is_settled: true,
        };
        let figures = Figures {
            months: vec![month("2025-11"), month("2026-02")],
            coverage: vec![CoverageDay {
                day: date(2026, 1, 9),
                expected: 0,
                landed: 0,
                is_complete: true,
                is_settled: true,
                lacks: None,
            }],
            ..Figures::default()
        };
        let months = months(&figures, 25);
        let of: Vec<_> =
            months.iter().map(|month| (month.name.as_str(), month.listed(), month.is_read)).collect();
        let expected =
            [("2025-11", 1, true), ("2025-12", 0, false), ("2026-01", 0, true), ("2026-02", 1, true)];
        assert_eq!(of, expected);
    }

    #[test]
    fn a_month_that_lacks_days_says_so() {
        let month = MonthFigures {
            month: "2026-10".to_owned(),
            entity_type: EVERY_TYPE.to_owned(),
            filings: 1,
            year_over_year: None,
            is_complete: true,
            is_settled: true,
        };
        let newer = MonthFigures { month: "2026-11".to_owned(), is_settled: false, ..month.clone() };
        let figures = Figures { months: vec![newer, month], ..Figures::default() };
        assert_eq!(
            ["2026-11", "2026-10", "2026-09", ""].map(|month| of_month(&figures, month)),
            ["2026-11 (still filling)", "2026-10", "2026-09 (incomplete)", ""]
        );
    }
}
