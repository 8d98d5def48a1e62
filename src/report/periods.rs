//! Months and years with their filings by type, from the figures of the months.

use crate::aggregate::MonthFigures;
use crate::aggregate::figures::values::EVERY_TYPE;
use std::collections::BTreeMap;

/// A month or a year.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Period {
    /// `2026-07`, or `2026`.
    pub(super) name: String,
    pub(super) by_type: BTreeMap<String, i64>,
    /// Whether the lake has every day of it.
    pub(super) is_complete: bool,
}

/// The newest months, oldest first.
pub(super) fn months(figures: &[MonthFigures], most: usize) -> Vec<Period> {
    newest(periods(figures, 7), most)
}

/// The newest years that have filings, oldest first. A year is complete when its twelve months are.
pub(super) fn years(figures: &[MonthFigures], most: usize) -> Vec<Period> {
    newest(periods(figures, 4), most)
}

fn newest(mut periods: Vec<Period>, most: usize) -> Vec<Period> {
    periods.split_off(periods.len().saturating_sub(most))
}

/// The periods whose names are the first `letters` of their months.
fn periods(figures: &[MonthFigures], letters: usize) -> Vec<Period> {
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
    let period = |(name, (period, months))| Period { name, is_complete: months == of_all, ..period };
    periods.into_iter().map(period).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_is_complete_with_twelve_months() {
        let month = |year: i32, month: i32, entity_type: &str| MonthFigures {
            month: format!("{year}-{month:02}"),
            entity_type: entity_type.to_owned(),
            filings: 2,
            month_over_month: None,
            year_over_year: None,
            is_complete: true,
        };
        let mut rows: Vec<MonthFigures> = (1..=12).map(|of| month(2025, of, EVERY_TYPE)).collect();
        rows.extend((1..=12).map(|of| month(2025, of, "llc")));
        rows.extend([month(2026, 1, EVERY_TYPE), month(2026, 1, "llc")]);
        let years = years(&rows, 9);
        let of: Vec<_> =
            years.iter().map(|year| (year.name.as_str(), year.is_complete, year.by_type["llc"])).collect();
        assert_eq!(of, [("2025", true, 24), ("2026", false, 2)]);
        assert_eq!(
            months(&rows, 2).iter().map(|month| month.name.as_str()).collect::<Vec<_>>(),
            ["2025-12", "2026-01"]
        );
    }
}
