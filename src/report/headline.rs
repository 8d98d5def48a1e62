//! The figures at the top: settled weeks and days, the newest full month, what is new, what is complete.

use super::number::{change, integer, reliable};
use crate::aggregate::figures::values::EVERY_TYPE;
use crate::aggregate::{Figures, MonthFigures};
use crate::contract::eastern::{days_newest_first, minus_days, month_of, plus_days};
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
        let growth = growth(filings, week(figures, monday)?)?;
        let holidays = holidays(monday).map(|names| format!(", which had {names}")).unwrap_or_default();
        Some(format!("{} on {name}{holidays}", change(Some(growth))))
    };
    let year_ago = (!figures.older_are_fewer).then(|| minus_days(monday, 364));
    let year_ago = year_ago.and_then(|monday| against("the same week a year ago", monday));
    let mut notes: Vec<String> =
        against("the week before", minus_days(monday, 7)).into_iter().chain(year_ago).collect();
    notes.extend(holidays(monday).map(|names| format!("with {names}")));
    Some(Card { name: format!("settled week from {}", written(monday)), value: integer(filings), notes })
}

/// A day as people write it: `6 Jul 2026`.
fn written(day: Date) -> String {
    day.strftime("%-d %b %Y").to_string()
}

/// The change between two numbers of filings that are large enough to compare.
fn growth(filings: i64, before: i64) -> Option<f64> {
    reliable(filings, (before > 0).then(|| filings as f64 / before as f64 - 1.0))
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
    window(figures, monday, plus_days(monday, 6))
}

/// Filings of these days; none unless each of them is complete.
fn window(figures: &Figures, first: Date, last: Date) -> Option<i64> {
    let days = || days_newest_first(first, last);
    let is_complete = |day: Date| figures.coverage.iter().any(|known| known.day == day && known.is_complete);
    let filings = |day: Date| {
        let of_day = figures.days.iter().find(|known| known.day == day);
        of_day.map_or(0, |known| known.by_type.values().sum::<i64>())
    };
    days().all(is_complete).then(|| days().map(filings).sum())
}

fn settled_month(figures: &Figures) -> Option<Card> {
    let last = minus_days(figures.as_of?, SETTLED_AFTER);
    let ending = |last: Date| window(figures, minus_days(last, 29), last);
    let filings = ending(last)?;
    let growth = ending(minus_days(last, 30)).and_then(|before| growth(filings, before));
    Some(Card {
        name: format!("settled 30 days, to {}", written(last)),
        value: integer(filings),
        notes: growth
            .map(|growth| format!("{} on the 30 days before", change(Some(growth))))
            .into_iter()
            .collect(),
    })
}

/// The newest month that is complete and whose filings have arrived.
fn full_month(figures: &Figures) -> Option<Card> {
    let begun = month_of(plus_days(minus_days(figures.as_of?, SETTLED_AFTER), 1));
    let is_full =
        |month: &&MonthFigures| month.entity_type == EVERY_TYPE && month.is_complete && month.month < begun;
    let month = figures.months.iter().filter(is_full).max_by(|a, b| a.month.cmp(&b.month))?;
    let against = |name: &str, ratio: Option<f64>| {
        let ratio = reliable(month.filings, ratio);
        ratio.map(|_| format!("{} on {name}", change(ratio)))
    };
    let first: Option<Date> = format!("{}-01", month.month).parse().ok();
    let notes =
        [against("the month before", month.month_over_month), against("a year ago", month.year_over_year)];
    Some(Card {
        name: first.map_or_else(|| month.month.clone(), |first| first.strftime("%B %Y").to_string()),
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
        name: format!("first seen on {}", written(day)),
        value: integer(appeared),
        notes: vec![format!("{} no longer listed", integer(vanished))],
    })
}

fn complete(figures: &Figures) -> Option<Card> {
    let days = figures.coverage.len();
    let complete = figures.coverage.iter().filter(|day| day.is_complete).count();
    let count = |number: usize| super::number::count(number as u64);
    (days > 0).then(|| Card {
        name: "complete days".to_owned(),
        value: count(complete),
        notes: vec![format!("of {} in the lake", count(days))],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{CoverageDay, DayFigures};
    use jiff::civil::date;
    use std::collections::BTreeMap;

    /// 100 filings each day; 200 from the 13th of July on.
    fn figures(incomplete: Option<Date>) -> Figures {
        let as_of = date(2026, 8, 2);
        let days: Vec<Date> = days_newest_first(minus_days(as_of, 60), as_of).collect();
        let coverage = days.iter().map(|day| CoverageDay {
            day: *day,
            expected: 100,
            landed: 100,
            is_complete: incomplete != Some(*day),
            is_settled: true,
        });
        let filings = |day: &Date| if *day >= date(2026, 7, 13) { 200 } else { 100 };
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
        assert_eq!((card.name.as_str(), card.value.as_str()), ("settled week from 6 Jul 2026", "700"));
        assert_eq!(card.notes, ["+0.0 % on the week before, which had Independence Day"]);
    }

    #[test]
    fn thirty_days_are_those_that_have_settled() {
        let card = settled_month(&figures(None)).expect("30 days");
        // From 19 June to 18 July: six days have 200.
        assert_eq!((card.name.as_str(), card.value.as_str()), ("settled 30 days, to 18 Jul 2026", "3,600"));
        assert!(card.notes.is_empty(), "the 30 days before are not in the lake: {:?}", card.notes);
        assert!(settled_month(&figures(Some(date(2026, 7, 8)))).is_none());
    }

    #[test]
    fn a_week_with_an_incomplete_day_has_no_figure_and_is_compared_with_none() {
        assert!(settled_week(&figures(Some(date(2026, 7, 8)))).is_none());
        assert!(settled_week(&figures(Some(date(2026, 7, 1)))).expect("a week").notes.is_empty());
    }
}
