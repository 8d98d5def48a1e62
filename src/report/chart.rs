//! Bars: filings by day, month or year and type, filings by weekday.

use super::headline::SETTLED_AFTER;
use super::number::{compact, integer, kind as words};
use super::periods::{GONE, Period};
use super::table::{bar, heads, tall, wide};
use crate::aggregate::{DayFigures, Figures, WeekdayFigures};
use crate::contract::eastern::{days_newest_first, minus_days, span_days};
use crate::contract::holiday::holiday_name;
use jiff::civil::{Date, Weekday};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Filings of a day that has none.
static NONE: BTreeMap<String, i64> = BTreeMap::new();
/// Types in stacking order; other types are on top as `other`, then what is no longer listed.
const TYPES: [&str; 6] = ["llc", "corporation", "nonprofit", "partnership", "trust", "fictitious"];
const OTHER: &str = "other";

/// All parts of a bar, from the bottom up.
fn kinds() -> impl Iterator<Item = &'static str> {
    TYPES.into_iter().chain([OTHER, GONE])
}

/// The class that colours a part.
fn class(kind: &str) -> String {
    format!("type-{}", if kind == GONE { "gone" } else { kind })
}
const MOST_DAYS: u32 = 90;
/// What a hatched day is.
const NOT_FINAL: &str = "not final";
/// A day or a month of which nothing was read, and its mark.
const NOT_READ: &str = "not read";
const UNKNOWN: &str = "?";
const HOLIDAY: &str = "▾";
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 28.0;
const TOP: f64 = 18.0;
/// Room for a letter of a label, as large as on a phone.
const LETTER: f64 = 14.0;

/// One bar: its place from the left, its label below, and what is to be known of it.
struct Bar<'d> {
    place: u32,
    label: Option<String>,
    tip: String,
    by_type: &'d BTreeMap<String, i64>,
    /// Whether more of its filings arrive, or are read.
    is_hatched: bool,
    /// Its mark above its label.
    mark: Option<&'static str>,
}

/// A day of the chart.
struct Day<'f> {
    day: Date,
    /// None where the lake has none, although it may have some.
    by_type: Option<&'f BTreeMap<String, i64>>,
    /// Why there may be more of them.
    open: Option<&'static str>,
}

/// The last 90 days, one stacked bar each, and the same as a table. Days that are not final are hatched; holidays are marked, and days of
/// which it is not known what was filed.
pub(super) fn by_day(figures: &Figures) -> Markup {
    let Some(newest) = figures.days.last().map(|day| day.day) else {
        return html! { p.note { "No filings yet: nothing to show." } };
    };
    let oldest = minus_days(newest, MOST_DAYS - 1);
    let first = figures.days.iter().map(|day| day.day).find(|day| *day >= oldest).unwrap_or(newest);
    let slots = span_days(first, newest);
    let shown = shown_days(figures, first, newest);
    let bars: Vec<Bar<'_>> = shown.iter().map(|day| bar_of_day(day, first, slots)).collect();
    let holidays = holidays(first, newest);
    html! {
        (chart("Filings by day and type", &bars, slots, NOT_FINAL))
        @if !holidays.is_empty() { p.legend { (HOLIDAY) " holidays: " (holidays) } }
        (days_table(&shown))
    }
}

/// The days that have filings or may have some, oldest first. A day is final when it is complete and its filings have arrived.
fn shown_days(figures: &Figures, first: Date, newest: Date) -> Vec<Day<'_>> {
    let by_day: BTreeMap<Date, &DayFigures> = figures.days.iter().map(|day| (day.day, day)).collect();
    let read: BTreeMap<Date, bool> = figures.coverage.iter().map(|day| (day.day, day.is_complete)).collect();
    let filling = minus_days(figures.as_of.unwrap_or(newest), SETTLED_AFTER - 1);
    let shown = |day: Date| {
        let by_type = by_day.get(&day).copied().map(|figures| &figures.by_type);
        let open = match (read.get(&day), by_type) {
            (Some(true), None) => return None,
            (Some(true), Some(_)) if day < filling => None,
            (None, None) => Some(NOT_READ),
            _ => Some(NOT_FINAL),
        };
        Some(Day { day, by_type, open })
    };
    let mut days: Vec<Day<'_>> = days_newest_first(first, newest).filter_map(shown).collect();
    days.reverse();
    days
}

fn days_table(days: &[Day<'_>]) -> Markup {
    let has =
        |kind: &str| days.iter().filter_map(|day| day.by_type).any(|by_type| of_type(by_type, kind) > 0);
    let types: Vec<&str> = kinds().filter(|kind| has(kind)).collect();
    let number = |filings: Option<i64>| filings.map_or_else(|| "–".to_owned(), integer);
    let numbers: Vec<&str> = ["all"].into_iter().chain(types.iter().map(|kind| words(kind))).collect();
    html! { details {
        summary { "The days as a table" }
        (tall("Filings by day", Some("types"), "Filings by day and type", heads(&["day", "note"], &numbers), html! {
            @for day in days.iter().rev() { tr {
                th.day scope="row" { (day.day) }
                td { (notes(day)) }
                td.number { (number(day.by_type.map(|by_type| by_type.values().sum()))) }
                @for kind in &types { td.number { (number(day.by_type.map(|by_type| of_type(by_type, kind)))) } }
            } }
        }))
    } }
}

/// The holidays of these days, oldest first: `3 Jul and 4 Jul Independence Day, 7 Sep Labor Day`.
fn holidays(first: Date, last: Date) -> String {
    let mut days: Vec<(Date, &str)> =
        days_newest_first(first, last).filter_map(|day| Some((day, holiday_name(day)?))).collect();
    days.reverse();
    let of_one = |days: &[(Date, &str)]| {
        let dates: Vec<String> = days.iter().map(|(day, _)| day.strftime("%-d %b").to_string()).collect();
        format!("{} {}", dates.join(" and "), days[0].1)
    };
    days.chunk_by(|a, b| a.1 == b.1).map(of_one).collect::<Vec<_>>().join(", ")
}

fn notes(day: &Day<'_>) -> String {
    holiday_name(day.day).into_iter().chain(day.open).collect::<Vec<_>>().join(", ")
}

fn bar_of_day<'f>(day: &Day<'f>, first: Date, slots: u32) -> Bar<'f> {
    let holiday = holiday_name(day.day);
    let is_labelled = match slots {
        ..20 => day.day.day() == 1 || day.day.day() % 5 == 0,
        20..45 => day.day.weekday() == Weekday::Monday,
        _ => day.day.day() == 1,
    };
    let closed = holiday.map(|name| format!(", {name}")).unwrap_or_default();
    let filings = day.by_type.map_or_else(|| day.open.unwrap_or(NOT_READ).to_owned(), tip);
    let unknown = day.by_type.is_none().then_some(UNKNOWN);
    Bar {
        place: span_days(first, day.day) - 1,
        label: is_labelled.then(|| day.day.strftime("%-d %b").to_string()),
        tip: format!("{}{closed}: {filings}", day.day.strftime("%a %Y-%m-%d")),
        by_type: day.by_type.unwrap_or(&NONE),
        is_hatched: day.by_type.is_some() && day.open.is_some(),
        mark: unknown.or(holiday.map(|_| HOLIDAY)),
    }
}

/// Months or years, oldest first, one stacked bar each; one that is not complete is hatched.
pub(super) fn by_period(name: &str, periods: &[Period]) -> Markup {
    let every = periods.len().div_ceil(13).max(1);
    let filings = |period: &Period| if period.is_read { tip(&period.by_type) } else { NOT_READ.to_owned() };
    let bars = periods.iter().enumerate().map(|(place, period)| Bar {
        place: place as u32,
        label: place.is_multiple_of(every).then(|| period.name.clone()),
        tip: format!("{}: {}", period.name, filings(period)),
        by_type: &period.by_type,
        is_hatched: period.is_read && !period.is_complete,
        mark: (!period.is_read).then_some(UNKNOWN),
    });
    chart(name, &bars.collect::<Vec<_>>(), periods.len() as u32, "not complete")
}

fn chart(name: &str, bars: &[Bar<'_>], slots: u32, hatched: &str) -> Markup {
    let highest = bars.iter().map(|bar| bar.by_type.values().sum::<i64>()).max().unwrap_or(0);
    let scale = Scale::up_to(highest);
    let step = (WIDTH - LEFT) / f64::from(slots.max(1));
    let width = (step * 0.82).min(40.0);
    let x = |place: u32| LEFT + f64::from(place) * step;
    let has = |kind: &str| bars.iter().any(|bar| of_type(bar.by_type, kind) > 0);
    let parts = |kind: &str| -> String {
        let of_bar =
            |bar: &Bar<'_>| part(bar.by_type, kind, &scale).map(|part| box_at(x(bar.place), width, part));
        bars.iter().filter_map(of_bar).collect()
    };
    let hatch = |bar: &Bar<'_>| hatch(x(bar.place), width, scale.y(bar.by_type.values().sum()));
    html! {
        div.wide tabindex="0" role="region" aria-label=(name) {
            svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(name) {
                (scale.lines())
                @for kind in kinds().filter(|kind| has(kind)) { path.(class(kind)) d=(parts(kind)) {} }
                path.hatch d=(bars.iter().filter(|bar| bar.is_hatched).map(hatch).collect::<String>()) {}
                @for bar in bars {
                    rect.hit x={ (format!("{:.1}", x(bar.place))) } width={ (format!("{step:.1}")) } { title { (bar.tip) } }
                    @if let Some(mark) = bar.mark { text x={ (format!("{:.1}", x(bar.place))) } y=(HEIGHT - BOTTOM + 8.0) { (mark) } }
                }
                (labels(bars, x, width))
            }
        }
        p.legend {
            @for kind in kinds().filter(|kind| has(kind)) { span { span.key.(class(kind)) {} (words(kind)) } " " }
            @if bars.iter().any(|bar| bar.is_hatched) { span { span.key.hatched {} (hatched) } " " }
            @if bars.iter().any(|bar| bar.mark == Some(UNKNOWN)) { span { (UNKNOWN) " not known" } }
        }
    }
}

/// The labels below the bars; the last one is left out where it has no room.
fn labels(bars: &[Bar<'_>], x: impl Fn(u32) -> f64, width: f64) -> Markup {
    let all: Vec<(f64, &str)> =
        bars.iter().filter_map(|bar| Some((x(bar.place), bar.label.as_deref()?))).collect();
    let room = all.windows(2).map(|pair| pair[1].0 - pair[0].0).fold(f64::INFINITY, f64::min);
    html! { @for (nth, (x, label)) in all.into_iter().enumerate() {
        @let wide = LETTER * label.len() as f64;
        @let is_last = x + wide > WIDTH;
        @let (x, anchor) = if is_last { (x + width, "end") } else { (x, "start") };
        @if !is_last || room > 2.0 * wide {
            text.odd[nth % 2 == 1] x={ (format!("{x:.1}")) } y=(HEIGHT - 4.0) text-anchor=(anchor) { (label) }
        }
    } }
}

/// A box: top edge and height.
type Part = (f64, f64);

fn box_at(x: f64, width: f64, (top, height): Part) -> String {
    format!("M{x:.1} {top:.1}h{width:.1}v{height:.1}h-{width:.1}z")
}

/// Slanted lines over a bar.
fn hatch(x: f64, width: f64, top: f64) -> String {
    let bottom = HEIGHT - BOTTOM;
    let lines = (0..).map(|line| top + 5.0 * f64::from(line)).take_while(|y| *y < bottom);
    lines.map(|y| format!("M{x:.1} {:.1}l{width:.1} -4", (y + 4.0).min(bottom))).collect()
}

/// The place of one part of a bar; none without filings.
fn part(by_type: &BTreeMap<String, i64>, kind: &str, scale: &Scale) -> Option<Part> {
    let filings = of_type(by_type, kind);
    let below: i64 = kinds().take_while(|other| *other != kind).map(|other| of_type(by_type, other)).sum();
    let top = scale.y(below + filings);
    (filings > 0).then(|| (top, scale.y(below) - top))
}

fn of_type(by_type: &BTreeMap<String, i64>, kind: &str) -> i64 {
    let is_kind = |name: &str| name == kind || (kind == OTHER && !TYPES.contains(&name) && name != GONE);
    by_type.iter().filter(|(name, _)| is_kind(name)).map(|(_, filings)| filings).sum()
}

fn tip(by_type: &BTreeMap<String, i64>) -> String {
    let parts: Vec<String> =
        by_type.iter().map(|(kind, filings)| format!("{} {}", integer(*filings), words(kind))).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
    format!("{} filings{parts}", integer(by_type.values().sum()))
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

/// An average week: one bar a weekday.
pub(super) fn week(weekdays: &[WeekdayFigures]) -> Markup {
    const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let highest = weekdays.iter().filter_map(|day| day.filings_per_day).fold(0.0, f64::max);
    let name = |day: &WeekdayFigures| {
        usize::try_from(day.weekday - 1).ok().and_then(|place| NAMES.get(place)).copied().unwrap_or("?")
    };
    let head = html! { th { "weekday" } td.picture {} th.number { "filings" } };
    html! {
        @if highest == 0.0 {
            p.note { "No complete week has settled yet." }
        } @else {
            (wide(Some("bars"), "Filings on a usual day of the week", head, html! {
                @for day in weekdays { @let filings = day.filings_per_day.unwrap_or(0.0); tr {
                    th scope="row" { (name(day)) }
                    td.picture { (bar(filings / highest * 100.0)) }
                    td.number { (integer(filings.round() as i64)) }
                } }
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::CoverageDay;
    use jiff::civil::date;

    #[test]
    fn scale_ends_at_a_round_number_above_the_highest_bar() {
        for (highest, top) in [(0, 4), (4, 4), (5, 8), (9, 20), (41, 80), (2_900, 4_000), (11_150, 20_000)] {
            assert_eq!(Scale::up_to(highest).top, top, "{highest}");
        }
        assert!(Scale::up_to(i64::MAX / 8).top > 0);
    }

    #[test]
    fn days_that_are_not_final_are_hatched_and_holidays_named() {
        let newest = date(2026, 7, 20);
        let by_type = || BTreeMap::from([("llc".to_owned(), 3)]);
        let days: Vec<DayFigures> = days_newest_first(minus_days(newest, 29), newest)
            .map(|day| DayFigures { day, by_type: by_type() })
            .collect();
        let days: Vec<DayFigures> = days.into_iter().rev().collect();
        let coverage = (0..30).map(|ago| covered(minus_days(newest, ago), ago != 20)).collect();
        let figures = Figures { days, coverage, ..Figures::default() };
        let page = by_day(&figures).into_string();
        assert!(!page.contains("not known"), "{page}");
        assert_eq!(page.matches("<td>not final</td>").count(), 15 + 1, "newest days, and the incomplete one");
        assert!(
            page.contains("<td>Independence Day</td>")
                && page.contains("holidays: 3 Jul and 4 Jul Independence Day"),
            "{page}"
        );
        assert!(page.contains("Sat 2026-07-04, Independence Day: 3 filings (3 LLC)"), "{page}");
    }

    fn covered(day: Date, is_complete: bool) -> CoverageDay {
        CoverageDay { day, expected: 4, landed: 3, is_complete, is_settled: false, lacks: None }
    }

    /// A register gives days some of their filings: only a reading of a day shows that it has no more, or none.
    #[test]
    fn a_day_without_coverage_is_not_final_and_one_without_filings_is_not_known() {
        let newest = date(2026, 7, 20);
        let of_day = |ago| DayFigures {
            day: minus_days(newest, ago),
            by_type: BTreeMap::from([("llc".to_owned(), 3)]),
        };
        let days = [25, 24, 22, 0].map(of_day).to_vec();
        let coverage = vec![covered(minus_days(newest, 25), true), covered(minus_days(newest, 23), true)];
        let figures = Figures { days, coverage, ..Figures::default() };
        let shown = shown_days(&figures, minus_days(newest, 25), newest);
        let ago = |day: &Day<'_>| (span_days(day.day, newest) - 1, day.open);
        let expected = [(25, None), (24, Some(NOT_FINAL)), (22, Some(NOT_FINAL)), (21, Some(NOT_READ))];
        assert_eq!(shown.iter().map(ago).take(4).collect::<Vec<_>>(), expected);
        let page = by_day(&figures).into_string();
        for words in ["Mon 2026-06-29: not read", "? not known", "<td class=\"number\">–</td>"] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }

    #[test]
    fn bar_is_as_high_as_its_parts_and_unknown_types_are_other() {
        let by_type = BTreeMap::from([("llc".to_owned(), 3), ("guild".to_owned(), 1)]);
        let scale = Scale::up_to(4);
        let parts: Vec<_> =
            kinds().filter_map(|kind| Some((kind, part(&by_type, kind, &scale)?.1))).collect();
        assert_eq!(parts.iter().map(|part| part.0).collect::<Vec<_>>(), ["llc", "other"]);
        let height: f64 = parts.iter().map(|part| part.1).sum();
        assert!((height - (scale.y(0) - scale.y(4))).abs() < 1e-9);
    }
}
