//! Bars: filings by day and type, filings by weekday.

use super::number::integer;
use crate::aggregate::{DayFigures, WeekdayFigures};
use crate::contract::eastern::minus_days;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Types in stacking order; other types are on top as `other`.
const TYPES: [&str; 6] = ["llc", "corporation", "nonprofit", "partnership", "trust", "fictitious"];
const OTHER: &str = "other";
const MOST_DAYS: u32 = 90;
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 52.0;
const BOTTOM: f64 = 20.0;
const TOP: f64 = 8.0;

/// The last 90 days, one stacked bar each.
pub(super) fn daily_trend(days: &[DayFigures]) -> Markup {
    let Some(newest) = days.last().map(|day| day.day) else {
        return html! { p.note { "No filings yet: nothing to show." } };
    };
    let oldest = minus_days(newest, MOST_DAYS - 1);
    let shown: Vec<&DayFigures> = days.iter().filter(|day| day.day >= oldest).collect();
    let highest = shown.iter().map(|day| day.by_type.values().sum::<i64>()).max().unwrap_or(0);
    let scale = Scale::up_to(highest);
    let first = shown.first().map_or(newest, |day| day.day);
    let slots = (newest - first).get_days() + 1;
    let step = (WIDTH - LEFT) / f64::from(slots);
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label="Filings by day and type" {
            (scale.lines())
            @for day in &shown {
                @let x = LEFT + f64::from((day.day - first).get_days()) * step;
                g {
                    title { (day.day) ": " (tip(day)) }
                    @for (kind, y, height) in stack(day, &scale) {
                        rect.{ "type-" (kind) } x={ (format!("{x:.1}")) } y={ (format!("{y:.1}")) }
                            width={ (format!("{:.1}", (step * 0.82).min(40.0))) } height={ (format!("{height:.1}")) } {}
                    }
                }
                @if day.day.day() == 1 || (slots < 20 && day.day.day() % 5 == 0) {
                    text x={ (format!("{x:.1}")) } y=(HEIGHT - 5.0) { (day.day.strftime("%-d %b")) }
                }
            }
        }
        p.legend { @for kind in TYPES.into_iter().chain([OTHER]) { @if shown.iter().any(|day| of_type(day, kind) > 0) {
            span.key.{ "type-" (kind) } {} (kind)
        } } }
    }
}

/// The parts of one bar, from the bottom up: type, top edge, height.
fn stack(day: &DayFigures, scale: &Scale) -> Vec<(&'static str, f64, f64)> {
    let mut below = 0;
    let mut parts = Vec::new();
    for kind in TYPES.into_iter().chain([OTHER]) {
        let filings = of_type(day, kind);
        if filings > 0 {
            below += filings;
            let top = scale.y(below);
            parts.push((kind, top, scale.y(below - filings) - top));
        }
    }
    parts
}

fn of_type(day: &DayFigures, kind: &str) -> i64 {
    let is_kind = |name: &str| name == kind || (kind == OTHER && !TYPES.contains(&name));
    day.by_type.iter().filter(|(name, _)| is_kind(name)).map(|(_, filings)| filings).sum()
}

fn tip(day: &DayFigures) -> String {
    let by_type: &BTreeMap<String, i64> = &day.by_type;
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
                text x=(LEFT - 6.0) y={ (format!("{:.1}", y + 4.0)) } text-anchor="end" { (integer(mark * self.step)) }
            }
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
                td { div.bar style={ "width:" (format!("{:.1}", filings / highest * 100.0)) "%" } {} }
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
    fn bar_is_as_high_as_its_parts_and_unknown_types_are_other() {
        let by_type = BTreeMap::from([("llc".to_owned(), 3), ("guild".to_owned(), 1)]);
        let day = DayFigures { day: date(2026, 7, 31), by_type };
        let scale = Scale::up_to(4);
        let parts = stack(&day, &scale);
        assert_eq!(parts.iter().map(|part| part.0).collect::<Vec<_>>(), ["llc", "other"]);
        let height: f64 = parts.iter().map(|part| part.2).sum();
        assert!((height - (scale.y(0) - scale.y(4))).abs() < 1e-9);
    }
}
