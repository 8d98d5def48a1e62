//! The calendar of complete days: one cell a day, one column a week.

use super::number::integer;
use crate::aggregate::CoverageDay;
use crate::contract::eastern::{minus_days, span_days};
use jiff::civil::{Date, Weekday};
use maud::{Markup, html};
use std::collections::BTreeMap;

const CELL: u32 = 15;
const LEFT: u32 = 34;
const TOP: u32 = 18;
/// A year and the days that fill its first week.
const MOST_DAYS: u32 = 371;

/// The days of coverage, at most the newest year.
pub(super) fn calendar(coverage: &[CoverageDay]) -> Markup {
    let days = || coverage.iter().map(|day| day.day);
    let (Some(newest), Some(oldest)) = (days().max(), days().min()) else {
        return html! { p.note { "No day was read yet: nothing to show." } };
    };
    let start = monday_of(oldest.max(minus_days(newest, MOST_DAYS - 1)));
    let by_day: BTreeMap<Date, &CoverageDay> = coverage.iter().map(|day| (day.day, day)).collect();
    let weeks = span_days(start, newest).div_ceil(7);
    let width = LEFT + weeks * CELL;
    html! {
        div.wide.newest tabindex="0" role="region" aria-label="Calendar of coverage" { svg.calendar viewBox={ "0 0 " (width) " " (TOP + 7 * CELL) } width=(width * 3 / 2)
            role="img" aria-label="Coverage by day" {
            @for (row, name) in ["Mon", "Wed", "Fri"].into_iter().enumerate() {
                text x="0" y=(TOP + (row as u32 * 2 + 1) * CELL - 4) { (name) }
            }
            @for back in (0..span_days(start, newest)).rev() {
                @let day = minus_days(newest, back);
                @let (since_start, known) = (span_days(start, day) - 1, by_day.get(&day).copied());
                @let (x, y) = (LEFT + since_start / 7 * CELL, TOP + since_start % 7 * CELL);
                @if day.day() == 1 { text x=(x) y="11" { (day.strftime("%b")) } }
                rect.(state(known)) x=(x) y=(y) { title { (day) " " (tip(known)) } }
            }
        } }
        p.legend {
            @for (state, text) in [
                ("settled", "complete 30 days after it ended"),
                ("complete", "complete, younger: may still fill"),
                ("incomplete", "incomplete"),
                ("unread", "not read"),
            ] { span { span.key.(state) {} (text) } " " }
        }
        (incomplete(coverage))
    }
}

fn state(coverage: Option<&CoverageDay>) -> &'static str {
    match coverage {
        None => "unread",
        Some(day) if !day.is_complete => "incomplete",
        Some(day) if day.is_settled => "settled",
        Some(_) => "complete",
    }
}

fn tip(coverage: Option<&CoverageDay>) -> String {
    let Some(day) = coverage else { return "not read".to_owned() };
    let of = if day.is_complete { String::new() } else { format!(" of {}", integer(day.expected)) };
    let without = day.lacks.map(|lacks| format!(", without {lacks}")).unwrap_or_default();
    format!("{}: {}{of} rows{without}", state(coverage), integer(day.landed))
}

/// Why a day is not complete.
fn reason(day: &CoverageDay) -> String {
    match (day.expected - day.landed, day.lacks) {
        (missing @ 1.., _) => format!("{} missing", integer(missing)),
        (_, Some(lacks)) => format!("{lacks} not read"),
        _ => "not checked to its end".to_owned(),
    }
}

fn incomplete(coverage: &[CoverageDay]) -> Markup {
    let days: Vec<&CoverageDay> = coverage.iter().filter(|day| !day.is_complete).collect();
    html! {
        @if days.is_empty() {
            p { "Every day that was read is complete." }
        } @else {
            details open[days.len() <= 10] {
                summary { "Incomplete days: " (days.len()) " of " (coverage.len()) }
                ul {
                    @for day in days {
                        li { (day.day) ": " (integer(day.landed)) " of " (integer(day.expected)) " rows, " (reason(day)) }
                    }
                }
            }
        }
    }
}

fn monday_of(day: Date) -> Date {
    let since_monday = day.weekday().since(Weekday::Monday);
    minus_days(day, u32::try_from(since_monday).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn long_coverage_shows_its_newest_year() {
        let day = |back: i32| CoverageDay {
            day: date(2026, 7, 31) - jiff::Span::new().days(back),
            expected: 1,
            landed: 1,
            is_complete: true,
            is_settled: true,
            lacks: None,
        };
        let html = calendar(&(0..2_000).map(day).collect::<Vec<_>>()).into_string();
        let cells = html.matches("<rect").count();
        assert!((371..378).contains(&cells), "{cells}");
        assert!(html.contains("2026-07-31 settled"));
    }

    #[test]
    fn weeks_start_on_monday() {
        assert_eq!(monday_of(date(2026, 8, 2)), date(2026, 7, 27));
        assert_eq!(monday_of(date(2026, 7, 27)), date(2026, 7, 27));
    }
}
