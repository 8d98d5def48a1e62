//! Tables of figures: the run, months, growth, cities, ZIP codes, settling, reconciliation.

use super::data::{OpenDay, RunFacts};
use super::number::{RELIABLE, change, count, county, integer, kind as words, points, reliable, share};
use super::periods::{Period, lacks, of_month};
use super::windows::{Windows, YEAR};
use crate::aggregate::figures::values::EVERY_TYPE;
use crate::aggregate::{CountyFigures, Figures, MonthFigures, Reconciliation, Scope, SettlingDay};
use crate::contract::reference::{industry_labels, label_of_key};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Rows of the growth tables.
const GROWTH_ROWS: usize = 10;
/// A ZIP code with this many times its county's mean is marked.
const HOT_TIMES: f64 = 5.0;
/// Rows of differences shown.
const DIFFERENCES: usize = 15;

/// A table in a box that scrolls where it has no room. Its class is for the style.
pub(super) fn wide(class: Option<&str>, caption: &str, head: Markup, rows: Markup) -> Markup {
    html! { div.wide tabindex="0" { (table(class, caption, head, rows)) } }
}

/// A long table, in a box that is no higher than the screen.
pub(super) fn tall(label: &str, class: Option<&str>, caption: &str, head: Markup, rows: Markup) -> Markup {
    html! { div.wide.tall tabindex="0" role="region" aria-label=(label) { (table(class, caption, head, rows)) } }
}

fn table(class: Option<&str>, caption: &str, head: Markup, rows: Markup) -> Markup {
    html! { table class=[class] { caption { (caption) } thead { tr { (head) } } tbody { (rows) } } }
}

/// Names of columns: first of texts, then of numbers.
pub(super) fn heads(texts: &[&str], numbers: &[&str]) -> Markup {
    html! { @for text in texts { th { (text) } } @for number in numbers { th.number { (number) } } }
}

/// A name, and numbers.
pub(super) fn row(name: &str, numbers: &[String]) -> Markup {
    html! { tr { th scope="row" { (name) } @for number in numbers { td.number { (number) } } } }
}

/// A bar in a table, as long as a share of its cell.
pub(super) fn bar(percent: f64) -> Markup {
    html! {
        svg.bar viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" {
            rect width={ (format!("{percent:.1}")) } height="1" {}
        }
    }
}

/// The newest months, `most` of them.
pub(super) fn months(figures: &[MonthFigures], most: usize) -> Markup {
    let newest: BTreeSet<&str> = figures.iter().map(|row| row.month.as_str()).collect();
    let months: Vec<&str> = newest.into_iter().rev().take(most).collect();
    let types: BTreeSet<&str> = figures
        .iter()
        .filter(|row| months.contains(&row.month.as_str()))
        .map(|row| row.entity_type.as_str())
        .filter(|kind| *kind != EVERY_TYPE)
        .collect();
    let find =
        |month: &str, kind: &str| figures.iter().find(|row| row.month == month && row.entity_type == kind);
    let caption = "Filings by month; changes where both months are complete and no filings are still to come, over all that was filed";
    let names: Vec<&str> = types.iter().map(|kind| words(kind)).collect();
    html! {
        (wide(None, caption, heads(&["month"], &["filings", "on a year ago"]), html! {
            @for month in &months { @if let Some(all) = find(month, EVERY_TYPE) { tr {
                th scope="row" { (month) (lacks(all)) }
                td.number { (integer(all.filings)) }
                (change_cell(reliable(all.filings, all.year_over_year)))
            } } }
        }))
        (wide(Some("types"), "Filings by month and type", heads(&["month"], &names), html! {
            @for month in &months { tr {
                th.day scope="row" { (month) (find(month, EVERY_TYPE).map_or("", lacks)) }
                @for kind in &types { td.number { (integer(find(month, kind).map_or(0, |row| row.filings))) } }
            } }
        }))
    }
}

/// Of the businesses filed in each year, those that are still listed.
pub(super) fn years(years: &[Period]) -> Markup {
    let filed = |year: &Period| year.by_type.values().sum::<i64>();
    let rows = html! { @for year in years.iter().rev().filter(|year| filed(year) > 0) {
        @let (filed, listed) = (filed(year), year.listed());
        (row(&year.name, &[integer(filed), integer(listed), share(Some(listed as f64 / filed as f64))]))
    } };
    wide(None, "Businesses by year of filing", heads(&["year"], &["filed", "still listed", "share"]), rows)
}

fn change_cell(ratio: Option<f64>) -> Markup {
    html! { td.number.(direction(ratio.unwrap_or(0.0))) { (change(ratio)) } }
}

fn direction(ratio: f64) -> &'static str {
    match ratio {
        ..0.0 => "down",
        0.0 => "flat",
        _ => "up",
    }
}

/// The growth of the counties against the state's; of those that chance alone hardly explains.
pub(super) fn growth(counties: &[CountyFigures]) -> Markup {
    let known: Vec<&CountyFigures> =
        counties.iter().filter(|row| !row.county.is_empty() && row.growth.is_some()).collect();
    let different = different(&known);
    let rising: Vec<_> = different.iter().copied().filter(|row| row.points_from_state > Some(0.0)).collect();
    let falling: Vec<_> =
        different.iter().rev().copied().filter(|row| row.points_from_state < Some(0.0)).collect();
    html! {
        @if known.is_empty() {
            p.note {
                "No county has a growth yet: that needs ten complete ordinary days of 15 to 42 days ago, and those 28 days before them."
            }
        } @else {
            p.note {
                "Of the days 15 to 42 ago those that are complete, each against the same weekday 28 days before, without holidays, the "
                "day after one, and 1sts and 15ths of a month. "
                @if let Some(state) = known[0].state_growth { "The state: " (change(Some(state))) ", season included. " }
                "A county is shown if it has " (RELIABLE) " filings or more on the days of each, and chance alone would make such a difference in "
                "1 of 100 counties; "
                (known.len() - different.len()) " of " (known.len()) " are no different from the state, or too small to say."
            }
            div.pair {
                (growth_table("Faster than the state", &rising))
                (growth_table("Slower than the state", &falling))
            }
        }
    }
}

/// The counties that differ from the state, largest difference upward first.
fn different<'f>(known: &[&'f CountyFigures]) -> Vec<&'f CountyFigures> {
    let mut different: Vec<&CountyFigures> = known.iter().copied().filter(|row| row.is_different).collect();
    let points = |row: &CountyFigures| row.points_from_state.unwrap_or_default();
    different.sort_by(|a, b| points(b).total_cmp(&points(a)));
    different
}

fn growth_table(caption: &str, rows: &[&CountyFigures]) -> Markup {
    let heads = heads(&["county"], &["filings", "28 days before", "growth", "points from the state's"]);
    html! { @if !rows.is_empty() {
        (wide(None, caption, heads, html! {
            @for row in rows.iter().take(GROWTH_ROWS) { @let points_from_state = row.points_from_state.unwrap_or_default(); tr {
                th scope="row" { (county(&row.county)) }
                td.number { (integer(row.filings_newer)) }
                td.number { (integer(row.filings_older)) }
                td.number { (change(row.growth)) }
                td.number.(direction(points_from_state)) { (points(points_from_state)) }
            } }
        }))
    } }
}

/// The label of a sector or an industry type.
pub(super) fn industry(key: &str) -> String {
    let known = industry_labels().find(|(known, _)| *known == key);
    match known {
        Some((_, label)) => label.to_owned(),
        None if key.is_empty() => "not known".to_owned(),
        None => label_of_key(key),
    }
}

pub(super) fn sectors(figures: &Figures) -> Markup {
    html! {
        @if figures.sectors.is_empty() {
            p.note { "No filings yet: nothing to show." }
        } @else {
            div.wide tabindex="0" role="region" aria-label="Sectors" { table {
                caption { "Sectors in " (of_month(figures, &figures.sectors_month)) }
                thead { tr { th { "sector" } th.number { "filings" } th.number { "of the month" } th.number { "on a year ago" } } }
                tbody { @for row in &figures.sectors { tr {
                    th scope="row" { (industry(&row.sector)) } td.number { (integer(row.filings)) }
                    td.number { (share(row.share_of_month)) } (change_cell(reliable(row.filings, row.year_over_year)))
                } } }
            } }
            p.note { "The sector is inferred from the name of a business; most names do not say it." }
        }
    }
}

pub(super) fn places(figures: &Figures, windows: &Windows) -> Markup {
    let cities = format!("Cities with most filings in {}", of_month(figures, &figures.cities_month));
    let zips = format!("ZIP codes with most filings, {}", windows.label(YEAR));
    html! {
        div.pair {
            (wide(None, &cities, heads(&["city", "county"], &["filings", "spellings"]), html! {
                @for row in &figures.cities { tr {
                    th scope="row" { @if row.city.is_empty() { "no city" } @else { (row.city) } }
                    td { (county(&row.county)) } td.number { (integer(row.filings)) } td.number { (integer(row.spellings)) }
                } }
            }))
            (wide(None, &zips, heads(&["ZIP", "county"], &["filings", "of the county", "times the county's mean"]), html! {
                @for row in &figures.zips { tr.hot[row.times_county_mean > Some(HOT_TIMES)] {
                    th scope="row" { @if row.zip.is_empty() { "no ZIP" } @else { (row.zip) } }
                    td { (county(&row.county)) }
                    td.number { (integer(row.filings)) }
                    td.number { (share(row.share_of_county)) }
                    td.number { @if let Some(times) = row.times_county_mean { (format!("{times:.1}")) } @else { "–" } }
                } }
            }))
        }
        p.note { "A ZIP code far above the mean of its county (in red) is mostly the address of a registration service, not a busy town." }
    }
}

pub(super) fn settling(days: &[SettlingDay]) -> Markup {
    let head = html! { th { "day" } td.picture {} (heads(&[], &["filings", "of usual"])) };
    html! {
        @if days.iter().all(|day| day.fullness.is_none()) {
            p.note { "No day of a usual week has settled yet: nothing to compare the newest days with." }
        } @else {
            (wide(Some("bars"), "Filings of the newest days, against the mean of their weekday", head, html! {
                @for row in days.iter().take(14) { tr {
                    th.day scope="row" { (row.day) }
                    td.picture { (bar(row.fullness.unwrap_or(0.0).min(1.0) * 100.0)) }
                    td.number { (integer(row.filings)) } td.number { (share(row.fullness)) }
                } }
            }))
        }
    }
}

pub(super) fn reconciliation(reconciliation: &Reconciliation) -> Markup {
    let scopes = [
        (Scope::Day, "days", "must agree to the row"),
        (
            Scope::Month,
            "months",
            "may differ by dissolved businesses, which the API counts and does not list",
        ),
        (Scope::MonthType, "months by type", "may differ likewise"),
        (Scope::County, "counties, last 30 days", "may differ likewise"),
    ];
    let head = html! { (heads(&["counts of"], &["compared", "agree", "differ"])) th { "rule" } };
    html! {
        (wide(None, "The lake's counts against the API's, for complete periods", head, html! {
            @for (scope, name, meaning) in scopes {
                @let compared = reconciliation.comparable(scope).count();
                @let differ = reconciliation.differences(scope).len();
                tr {
                    th scope="row" { (name) } td.number { (compared) } td.number { (compared - differ) }
                    td.number.down[differ > 0 && scope == Scope::Day] { (differ) } td { (meaning) }
                }
            }
        }))
        @for (scope, name, _) in scopes { (differences(reconciliation, scope, name)) }
    }
}

fn differences(reconciliation: &Reconciliation, scope: Scope, name: &str) -> Markup {
    let rows = reconciliation.differences(scope);
    let heads = heads(&["period", "of"], &["API", "lake", "difference"]);
    html! { @if !rows.is_empty() {
        details open[scope == Scope::Day] {
            summary { "Largest differences: " (name) }
            (wide(None, &format!("Differences: {name}"), heads, html! {
                @for row in rows.into_iter().take(DIFFERENCES) { tr {
                    th scope="row" { (row.period) }
                    td { @if row.subject.is_empty() { "all" } @else { (words(&row.subject)) } }
                    td.number { (integer(row.api_count)) } td.number { (integer(row.lake_count)) }
                    td.number { (integer(row.difference())) }
                } }
            }))
        }
    } }
}

pub(super) fn run(run: &RunFacts) -> Markup {
    html! {
        section id="run" { details {
            summary { "The run that made this snapshot" }
            div.facts { @for (name, value) in &run.figures { div {
                span.name { (name) } span.value { (value) }
            } } }
            (rows(run))
            (requests(run))
            (incomplete(run))
        } }
    }
}

fn rows(run: &RunFacts) -> Markup {
    let heads = heads(&["table"], &["read", "added", "changed", "vanished", "in the lake"]);
    html! {
        @if run.rows.is_empty() {
            p.note { "No rows were read: nothing to show." }
        } @else {
            (wide(Some("files"), "Rows by table", heads, html! {
                @for (table, rows) in &run.rows { (row(table, &rows.map(count))) }
            }))
        }
    }
}

fn requests(run: &RunFacts) -> Markup {
    html! {
        @if !run.requests_by_stage.is_empty() {
            (wide(None, "Requests by stage", heads(&["stage"], &["requests"]), html! {
                @for (stage, requests) in &run.requests_by_stage { (row(stage, &[count(*requests)])) }
            }))
        }
    }
}

fn incomplete(run: &RunFacts) -> Markup {
    html! {
        @let days = &run.incomplete;
        @if !days.is_empty() {
            details open[days.len() <= 10] {
                summary { "Days this run could not prove complete: " (days.len()) }
                ul { @for (day, open) in days.iter().rev() { li { (day) ": " (found(open)) } } }
            }
        }
    }
}

/// What was found of a day, and what was not read of it.
fn found(open: &OpenDay) -> String {
    let rows = open.expected.map(|rows| format!("{} of {} rows", count(open.landed), count(rows)));
    let unread = open.unread.as_ref().map(|part| format!("{part} not read").trim_start().to_owned());
    rows.into_iter().chain(unread).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_which_some_was_read_says_what_was_not() {
        let open = |expected, unread: Option<&str>| {
            found(&OpenDay { landed: 7, expected, unread: unread.map(str::to_owned) })
        };
        assert_eq!(open(Some(1_009), None), "7 of 1,009 rows");
        assert_eq!(open(Some(9), Some("fictitious names")), "7 of 9 rows, fictitious names not read");
        assert_eq!(open(None, Some("fictitious names")), "fictitious names not read");
        assert_eq!(open(None, Some("")), "not read");
    }

    #[test]
    fn counties_that_differ_are_ranked_and_the_others_counted() {
        let county = |name: &str, points: f64, is_different: bool| CountyFigures {
            county: name.to_owned(),
            growth: Some(points / 100.0),
            points_from_state: Some(points),
            state_growth: Some(0.0),
            is_different,
            ..CountyFigures::default()
        };
        let counties = [
            county("Lee", -7.0, true),
            county("Bay", 10.0, true),
            county("Glades", 90.0, false),
            county("Polk", 20.0, true),
        ];
        let known: Vec<&CountyFigures> = counties.iter().collect();
        let names: Vec<&str> = different(&known).iter().map(|row| row.county.as_str()).collect();
        assert_eq!(names, ["Polk", "Bay", "Lee"]);
        let page = growth(&counties).into_string();
        assert!(
            page.contains("1 of 4 are no different from the state, or too small to say")
                && page.contains("if it has 100 filings or more on the days of each")
                && !page.contains("Glades"),
            "{page}"
        );
    }
}
