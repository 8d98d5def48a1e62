//! Bars: filings by day, month or year and type, filings by weekday.

use super::headline::SETTLED_AFTER;
use super::number::{compact, integer};
use super::periods::Period;
use crate::aggregate::{DayFigures, WeekdayFigures};
use crate::contract::eastern::{days_newest_first, minus_days, span_days};
use crate::contract::holiday::holiday_name;
use jiff::civil::Date;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Types in stacking order; other types are on top as `other`.
const TYPES: [&str; 6] = ["llc", "corporation", "nonprofit", "partnership", "trust", "fictitious"];
const OTHER: &str = "other";
const MOST_DAYS: u32 = 90;
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 28.0;
const TOP: f64 = 18.0;
/// Room for a label, in the larger letters of a phone.
const LABEL: f64 = 100.0;

/// One bar: its place from the left, its label below, and what is to be known of it.
struct Bar<'d> {
    place: u32,
    label: Option<String>,
    tip: String,
    by_type: &'d BTreeMap<String, i64>,
    /// Whether more of its filings arrive, or are read.
    is_hatched: bool,
    /// Whether it has a mark above its label.
    is_marked: bool,
}

/// The last 90 days, one stacked bar each. Days whose filings still arrive are hatched, holidays are marked.
pub(super) fn by_day(days: &[DayFigures]) -> Markup {
    let Some(newest) = days.last().map(|day| day.day) else {
        return html! { p.note { "No filings yet: nothing to show." } };
    };
    let oldest = minus_days(newest, MOST_DAYS - 1);
    let shown: Vec<&DayFigures> = days.iter().filter(|day| day.day >= oldest).collect();
    let first = shown.first().map_or(newest, |day| day.day);
    let slots = span_days(first, newest);
    let bars: Vec<Bar<'_>> = shown.iter().map(|day| bar_of_day(day, first, newest, slots)).collect();
    let holidays: Vec<String> = days_newest_first(first, newest)
        .filter_map(|day| Some(format!("{} {}", day.strftime("%-d %b"), holiday_name(day)?)))
        .collect();
    html! {
        (chart("Filings by day and type", &bars, slots, "more still arrive"))
        @if !holidays.is_empty() { p.legend { "▾ holidays: " (holidays.join(", ")) } }
    }
}

fn bar_of_day(day: &DayFigures, first: Date, newest: Date, slots: u32) -> Bar<'_> {
    let holiday = holiday_name(day.day);
    let is_labelled = day.day.day() == 1 || (slots < 20 && day.day.day() % 5 == 0);
    let closed = holiday.map(|name| format!(", {name}")).unwrap_or_default();
    Bar {
        place: span_days(first, day.day) - 1,
        label: is_labelled.then(|| day.day.strftime("%-d %b").to_string()),
        tip: format!("{}{closed}: {}", day.day.strftime("%a %Y-%m-%d"), tip(&day.by_type)),
        by_type: &day.by_type,
        is_hatched: day.day > minus_days(newest, SETTLED_AFTER),
        is_marked: holiday.is_some(),
    }
}

/// Months or years, oldest first, one stacked bar each; one that is not complete is hatched.
pub(super) fn by_period(name: &str, periods: &[Period]) -> Markup {
    let every = periods.len().div_ceil(13).max(1);
    let bars = periods.iter().enumerate().map(|(place, period)| Bar {
        place: place as u32,
        label: place.is_multiple_of(every).then(|| period.name.clone()),
        tip: format!("{}: {}", period.name, tip(&period.by_type)),
        by_type: &period.by_type,
        is_hatched: !period.is_complete,
        is_marked: false,
    });
    chart(name, &bars.collect::<Vec<_>>(), periods.len() as u32, "not complete")
}

fn chart(name: &str, bars: &[Bar<'_>], slots: u32, hatched: &str) -> Markup {
    let highest = bars.iter().map(|bar| bar.by_type.values().sum::<i64>()).max().unwrap_or(0);
    let scale = Scale::up_to(highest);
    let step = (WIDTH - LEFT) / f64::from(slots.max(1));
    let width = (step * 0.82).min(40.0);
    let labels = bars.iter().filter_map(|bar| Some((bar.place, bar.label.as_ref()?)));
    let has = |kind: &str| bars.iter().any(|bar| of_type(bar.by_type, kind) > 0);
    html! {
        div.wide tabindex="0" role="region" aria-label=(name) {
            svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(name) {
                (scale.lines())
                @for bar in bars {
                    @let x = LEFT + f64::from(bar.place) * step;
                    g {
                        title { (bar.tip) }
                        @for (kind, y, height) in stack(bar.by_type, &scale) {
                            rect.{ "type-" (kind) } x={ (format!("{x:.1}")) } y={ (format!("{y:.1}")) }
                                width={ (format!("{width:.1}")) } height={ (format!("{height:.1}")) } {}
                        }
                        @if bar.is_hatched { (hatch(x, width, scale.y(bar.by_type.values().sum()))) }
                    }
                    @if bar.is_marked { text x={ (format!("{x:.1}")) } y=(HEIGHT - BOTTOM + 8.0) { "▾" } }
                }
                @for (nth, (place, label)) in labels.enumerate() {
                    @let x = LEFT + f64::from(place) * step;
                    @let (x, anchor) = if x > WIDTH - LABEL { (x + width, "end") } else { (x, "start") };
                    text.odd[nth % 2 == 1] x={ (format!("{x:.1}")) } y=(HEIGHT - 4.0) text-anchor=(anchor) { (label) }
                }
            }
        }
        p.legend {
            @for kind in TYPES.into_iter().chain([OTHER]).filter(|kind| has(kind)) { span.key.{ "type-" (kind) } {} (kind) }
            @if bars.iter().any(|bar| bar.is_hatched) { span.key.hatched {} (hatched) }
        }
    }
}

/// Slanted lines over a bar.
fn hatch(x: f64, width: f64, top: f64) -> Markup {
    let bottom = HEIGHT - BOTTOM;
    let lines = (0..).map(|line| top + 5.0 * f64::from(line)).take_while(|y| *y < bottom);
    let path: Vec<String> =
        lines.map(|y| format!("M{x:.1} {:.1}l{width:.1} -4", (y + 4.0).min(bottom))).collect();
    html! { path.hatch d=(path.concat()) {} }
}

/// The parts of one bar, from the bottom up: type, top edge, height.
fn stack(by_type: &BTreeMap<String, i64>, scale: &Scale) -> Vec<(&'static str, f64, f64)> {
    let mut below = 0;
    let mut parts = Vec::new();
    for kind in TYPES.into_iter().chain([OTHER]) {
        let filings = of_type(by_type, kind);
        if filings > 0 {
            below += filings;
            let top = scale.y(below);
            parts.push((kind, top, scale.y(below - filings) - top));
        }
    }
    parts
}

fn of_type(by_type: &BTreeMap<String, i64>, kind: &str) -> i64 {
    let is_kind = |name: &str| name == kind || (kind == OTHER && !TYPES.contains(&name));
    by_type.iter().filter(|(name, _)| is_kind(name)).map(|(_, filings)| filings).sum()
}

fn tip(by_type: &BTreeMap<String, i64>) -> String {
    let parts: Vec<String> =
        by_type.iter().map(|(kind, filings)| format!("{} {kind}", integer(*filings))).collect();
    format!("{} filings ({})", integer(by_type.values().sum()), parts.join(", "))
}

/// Filings to positions on the page, with a round number on top.
struct Scale {
    top: i64,
    step: i64,
}

impl Scale {
    /// Four steps of 1, 2 or 5 times a power of ten.
    fn up_to(highest: i64) -> Self {
        let mut power = 1;
        loop {
            for step in [power, power * 2, power * 5] {
                if highest <= step * 4 || step > i64::MAX / 400 {
                    return Self { top: step * 4, step };
                }
            }
            power *= 10;
        }
    }

    fn y(&self, filings: i64) -> f64 {
        HEIGHT - BOTTOM - filings as f64 / self.top as f64 * (HEIGHT - BOTTOM - TOP)
    }

    fn lines(&self) -> Markup {
        html! {
            @for mark in 0..=4 {
                @let y = self.y(mark * self.step);
                line.grid x1=(LEFT) x2=(WIDTH) y1={ (format!("{y:.1}")) } y2={ (format!("{y:.1}")) } {}
                text x=(LEFT - 6.0) y={ (format!("{:.1}", y + 4.0)) } text-anchor="end" { (compact(mark * self.step)) }
            }
        }
    }
}

/// A bar in a table, as long as a share of its cell.
pub(super) fn bar(percent: f64) -> Markup {
    html! {
        svg.bar viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" {
            rect width={ (format!("{percent:.1}")) } height="1" {}
        }
    }
}

/// An average week: one bar a weekday.
pub(super) fn week(weekdays: &[WeekdayFigures]) -> Markup {
    const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let highest = weekdays.iter().filter_map(|day| day.filings_per_day).fold(0.0, f64::max);
    let name = |day: &WeekdayFigures| {
        usize::try_from(day.weekday - 1).ok().and_then(|place| NAMES.get(place)).copied().unwrap_or("?")
    };
    html! {
        @if highest == 0.0 {
            p.note { "No complete week has settled yet." }
        } @else {
            table.bars { @for day in weekdays { @let filings = day.filings_per_day.unwrap_or(0.0); tr {
                th scope="row" { (name(day)) }
                td { (bar(filings / highest * 100.0)) }
                td.number { (integer(filings.round() as i64)) }
            } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn scale_ends_at_a_round_number_above_the_highest_bar() {
        for (highest, top) in [(0, 4), (4, 4), (5, 8), (9, 20), (41, 80), (2_900, 4_000), (11_150, 20_000)] {
            assert_eq!(Scale::up_to(highest).top, top, "{highest}");
        }
        assert!(Scale::up_to(i64::MAX / 8).top > 0);
    }

    #[test]
    fn newest_days_are_hatched_and_holidays_named() {
        let newest = date(2026, 7, 20);
        let by_type = || BTreeMap::from([("llc".to_owned(), 3)]);
        let days: Vec<DayFigures> = days_newest_first(minus_days(newest, 29), newest)
            .map(|day| DayFigures { day, by_type: by_type() })
            .collect();
        let days: Vec<DayFigures> = days.into_iter().rev().collect();
        let page = by_day(&days).into_string();
        assert_eq!(page.matches("class=\"hatch\"").count(), 15);
        assert!(page.contains("Sat 2026-07-04, Independence Day: 3 filings (3 llc)"), "{page}");
    }

    #[test]
    fn bar_is_as_high_as_its_parts_and_unknown_types_are_other() {
        let by_type = BTreeMap::from([("llc".to_owned(), 3), ("guild".to_owned(), 1)]);
        let scale = Scale::up_to(4);
        let parts = stack(&by_type, &scale);
        assert_eq!(parts.iter().map(|part| part.0).collect::<Vec<_>>(), ["llc", "other"]);
        let height: f64 = parts.iter().map(|part| part.2).sum();
        assert!((height - (scale.y(0) - scale.y(4))).abs() < 1e-9);
    }
}
