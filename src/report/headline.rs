//! The figures at the top: settled weeks and days, the newest full month, what is new, what is complete.

use super::number::{change, integer, reliable, share};
use crate::aggregate::figures::values::EVERY_TYPE;
use crate::aggregate::{Figures, MonthFigures};
use crate::contract::eastern::{days_newest_first, minus_days, month_of, plus_days};
use crate::contract::holiday::holiday_name;
use jiff::civil::Date;
use maud::{Markup, html};

/// After this many days nearly all filings of a day have arrived.
pub(super) const SETTLED_AFTER: u32 = 15;

/// One figure with what it is compared to.
struct Card {
    name: String,
    value: String,
    notes: Vec<String>,
}

/// `unread` are days that the run was to read and did not reach.
pub(super) fn headline(figures: &Figures, unread: usize) -> Markup {
    let cards = [
        settled_week(figures),
        settled_month(figures),
        full_month(figures),
        news(figures),
        complete(figures, unread),
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
    let week = figures.weeks.iter().find(|week| week.is_settled)?;
    let usual = |usual: f64| {
        if week.is_unusual {
            format!(": unusual, weeks differ by {} as a rule", share(Some(usual)))
        } else {
            format!(": usual, weeks differ by {}", share(Some(usual)))
        }
    };
    let against = |ratio: f64| {
        let usual = week.usual_change.map(usual).unwrap_or_default();
        format!("ordinary days {} on the four weeks before{usual}", change(Some(ratio)))
    };
    // A holiday on a weekend and the day it is observed on are one.
    let mut special: Vec<&str> = week_of(week.monday).filter_map(holiday_name).collect();
    special.dedup();
    special.extend(week_of(week.monday).any(|day| day.day() == 1).then_some("a 1st of a month"));
    let special = (!special.is_empty()).then(|| format!("with {}", special.join(" and ")));
    Some(Card {
        name: format!("settled week from {}", written(week.monday)),
        value: integer(week.filings),
        notes: week.change.map(against).into_iter().chain(special).collect(),
    })
}

/// A day as people write it: `6 Jul 2026`.
fn written(day: Date) -> String {
    day.strftime("%-d %b %Y").to_string()
}

fn week_of(monday: Date) -> impl Iterator<Item = Date> {
    days_newest_first(monday, plus_days(monday, 6))
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
    Some(Card {
        name: format!("30 settled days, to {}", written(last)),
        value: integer(filings),
        notes: vec![format!("{} a day", integer((filings + 15) / 30))],
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
    let notes = against("a year ago, by all that was filed", month.year_over_year);
    Some(Card {
        name: first.map_or_else(|| month.month.clone(), |first| first.strftime("%B %Y").to_string()),
        value: integer(month.filings),
        notes: notes.into_iter().collect(),
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

fn complete(figures: &Figures, unread: usize) -> Option<Card> {
    let days = figures.coverage.len();
    let complete = figures.coverage.iter().filter(|day| day.is_complete).count();
    let count = |number: usize| super::number::count(number as u64);
    let unread = (unread > 0).then(|| format!("{} more days were not read yet", count(unread)));
    (days > 0).then(|| Card {
        name: "complete days".to_owned(),
        value: count(complete),
        notes: [format!("of {} in the lake", count(days))].into_iter().chain(unread).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::figures::values::WeekFigures;
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
            lacks: None,
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
    fn the_week_is_the_newest_whose_filings_have_arrived_and_says_what_moves_it() {
        let week = |monday: Date, is_settled, is_unusual| WeekFigures {
            monday,
            filings: 3_532,
            is_settled,
            change: Some(-0.01),
            usual_change: Some(0.034),
            is_unusual,
        };
        let newest = week(date(2026, 7, 27), false, false);
        let card = |week: WeekFigures| {
            settled_week(&Figures { weeks: vec![newest.clone(), week], ..Figures::default() })
                .expect("a week")
        };
        let first = card(week(date(2026, 6, 29), true, false));
        assert_eq!((first.name.as_str(), first.value.as_str()), ("settled week from 29 Jun 2026", "3,532"));
        let usual = "ordinary days −1.0 % on the four weeks before: usual, weeks differ by 3.4 %";
        assert_eq!(first.notes, [usual, "with Independence Day and a 1st of a month"]);
        let unusual = card(week(date(2026, 7, 13), true, true));
        assert!(
            unusual.notes[0].ends_with(": unusual, weeks differ by 3.4 % as a rule"),
            "{:?}",
            unusual.notes
        );
        assert!(settled_week(&Figures { weeks: vec![newest.clone()], ..Figures::default() }).is_none());
    }

    #[test]
    fn thirty_days_are_those_that_have_settled() {
        let card = settled_month(&figures(None)).expect("30 days");
        // From 19 June to 18 July: six days have 200.
        assert_eq!((card.name.as_str(), card.value.as_str()), ("30 settled days, to 18 Jul 2026", "3,600"));
        assert_eq!(card.notes, ["120 a day"]);
        assert!(settled_month(&figures(Some(date(2026, 7, 8)))).is_none());
    }
}
