//! The figures at the top: settled weeks and days, the newest full month, what is new, what is complete.

use super::number::{change, integer};
use crate::aggregate::figures::values::EVERY_TYPE;
use crate::aggregate::{Figures, MonthFigures};
use crate::contract::eastern::{days_newest_first, minus_days, plus_days};
use crate::contract::holiday::holiday_name;
use jiff::civil::{Date, Weekday};
use maud::{Markup, html};

/// After this many days nearly all filings of a day have arrived.
pub(super) const SETTLED_AFTER: u32 = 15;

/// One figure with what it is compared to.
struct Card {
    name: String,
    value: String,
    notes: Vec<String>,
}

pub(super) fn headline(figures: &Figures) -> Markup {
    let cards = [
        settled_week(figures),
        settled_month(figures),
        full_month(figures),
        news(figures),
        complete(figures),
    ];
    html! {
        div.facts { @for card in cards.into_iter().flatten() { div {
            span.name { (card.name) } span.value { (card.value) }
            @for note in card.notes { span.name { (note) } }
        } } }
    }
}

/// The newest week, Monday to Sunday, whose filings have arrived.
fn settled_week(figures: &Figures) -> Option<Card> {
    let settled = minus_days(figures.as_of?, SETTLED_AFTER);
    let since_sunday = u32::try_from(settled.weekday().since(Weekday::Sunday)).ok()?;
    let monday = minus_days(settled, since_sunday + 6);
    let filings = week(figures, monday)?;
    let against = |name: &str, monday: Date| {
        let before = week(figures, monday).filter(|before| *before > 0)?;
        let growth = filings as f64 / before as f64 - 1.0;
        let holidays = holidays(monday).map(|names| format!(", which had {names}")).unwrap_or_default();
        Some(format!("{} on {name}{holidays}", change(Some(growth))))
    };
    let mut notes: Vec<String> =
        [("the week before", minus_days(monday, 7)), ("the same week a year ago", minus_days(monday, 364))]
            .into_iter()
            .filter_map(|(name, monday)| against(name, monday))
            .collect();
    notes.extend(holidays(monday).map(|names| format!("with {names}")));
    Some(Card { name: format!("settled week from {monday}"), value: integer(filings), notes })
}

/// The holidays of a week; one on a weekend and the day it is observed on are one.
fn holidays(monday: Date) -> Option<String> {
    let mut names: Vec<&str> = week_of(monday).filter_map(holiday_name).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(" and "))
}

fn week_of(monday: Date) -> impl Iterator<Item = Date> {
    days_newest_first(monday, plus_days(monday, 6))
}

/// Filings of a week; none unless every day of it is complete.
fn week(figures: &Figures, monday: Date) -> Option<i64> {
    let is_complete =
        |day: Date| figures.coverage.iter().any(|coverage| coverage.day == day && coverage.is_complete);
    let filings = |day: Date| {
        let of_day = figures.days.iter().find(|known| known.day == day);
        of_day.map_or(0, |known| known.by_type.values().sum::<i64>())
    };
    week_of(monday).all(is_complete).then(|| week_of(monday).map(filings).sum())
}

fn settled_month(figures: &Figures) -> Option<Card> {
    let sum = |of: fn(&crate::aggregate::CountyFigures) -> i64| figures.counties.iter().map(of).sum::<i64>();
    let (now, before) = (sum(|row| row.filings_settled_30_days), sum(|row| row.filings_before_30_days));
    let is_known = figures.counties.iter().any(|row| row.growth.is_some());
    let growth = (is_known && before > 0).then(|| now as f64 / before as f64 - 1.0);
    let notes = growth.map(|growth| format!("{} on the 30 days before", change(Some(growth))));
    (now > 0).then(|| Card {
        name: "days 15 to 44 ago".to_owned(),
        value: integer(now),
        notes: notes.into_iter().collect(),
    })
}

fn full_month(figures: &Figures) -> Option<Card> {
    let is_full = |month: &&MonthFigures| month.entity_type == EVERY_TYPE && month.is_complete;
    let month = figures.months.iter().filter(is_full).max_by(|a, b| a.month.cmp(&b.month))?;
    let against = |name: &str, ratio: Option<f64>| ratio.map(|_| format!("{} on {name}", change(ratio)));
    let notes =
        [against("the month before", month.month_over_month), against("a year ago", month.year_over_year)];
    Some(Card {
        name: format!("month {}", month.month),
        value: integer(month.filings),
        notes: notes.into_iter().flatten().collect(),
    })
}

fn news(figures: &Figures) -> Option<Card> {
    let day = figures.news.observed_on?;
    let counts = figures.news.by_type.values();
    let appeared: i64 = counts.clone().map(|counts| counts.appeared).sum();
    let vanished: i64 = counts.map(|counts| counts.vanished).sum();
    Some(Card {
        name: format!("first seen on {day}"),
        value: integer(appeared),
        notes: vec![format!("{} no longer listed", integer(vanished))],
    })
}

fn complete(figures: &Figures) -> Option<Card> {
    let days = figures.coverage.len();
    let complete = figures.coverage.iter().filter(|day| day.is_complete).count();
    let count = |number: usize| super::number::count(number as u64);
    (days > 0).then(|| Card {
        name: "days complete".to_owned(),
        value: count(complete),
        notes: vec![format!("of {} that were read", count(days))],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{CoverageDay, DayFigures};
    use jiff::civil::date;
    use std::collections::BTreeMap;

    /// Ten filings each day; twice as many from the 13th of July on.
    fn figures(incomplete: Option<Date>) -> Figures {
        let as_of = date(2026, 8, 2);
        let days: Vec<Date> = days_newest_first(minus_days(as_of, 60), as_of).collect();
        let coverage = days.iter().map(|day| CoverageDay {
            day: *day,
            expected: 10,
            landed: 10,
            is_complete: incomplete != Some(*day),
            is_settled: true,
        });
        let filings = |day: &Date| if *day >= date(2026, 7, 13) { 20 } else { 10 };
        let of_day = |day: &Date| DayFigures {
            day: *day,
            by_type: BTreeMap::from([("llc".to_owned(), filings(day))]),
        };
        Figures {
            as_of: Some(as_of),
            coverage: coverage.collect(),
            days: days.iter().rev().map(of_day).collect(),
            ..Figures::default()
        }
    }

    #[test]
    fn the_week_is_the_newest_whose_filings_have_arrived() {
        let card = settled_week(&figures(None)).expect("a week");
        assert_eq!((card.name.as_str(), card.value.as_str()), ("settled week from 2026-07-06", "70"));
        assert_eq!(card.notes, ["+0.0 % on the week before, which had Independence Day"]);
    }

    #[test]
    fn a_week_with_an_incomplete_day_has_no_figure_and_is_compared_with_none() {
        assert!(settled_week(&figures(Some(date(2026, 7, 8)))).is_none());
        assert!(settled_week(&figures(Some(date(2026, 7, 1)))).expect("a week").notes.is_empty());
    }
}
