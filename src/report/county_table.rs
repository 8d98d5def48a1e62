//! The counties on the page: one table of all, and one part of the page for each.

use super::county::{County, is_same_county, slug};
use super::measure::Measure;
use super::number::{RELIABLE, county as county_name, integer, kind};
use super::periods::of_month;
use super::table::{industry, tall};
use super::windows::{FILLING, MONTH, WEEK, Windows, YEAR};
use crate::aggregate::{CountyDetail, CountyFigures, Figures};
use maud::{Markup, html};

/// The table of all counties, and of filings outside them. Its columns are the measures of the map.
pub(super) fn table(counties: &[County<'_>], figures: &[CountyFigures], windows: &Windows) -> Markup {
    let is_known =
        |row: &&CountyFigures| counties.iter().any(|county| is_same_county(&row.county, county.name));
    let measures = Measure::shown(windows, counties);
    let cells = |row: &CountyFigures, population: Option<i64>| {
        html! { @for measure in &measures { td.number { (measure.cell(measure.value(row, population, windows))) } } }
    };
    let mut ordered: Vec<&County<'_>> = counties.iter().collect();
    ordered.sort_by_key(|county| {
        std::cmp::Reverse((county.figures.filings_settled_30_days, county.figures.filings_last_30_days))
    });
    let head =
        html! { th { "county" } @for measure in &measures { th.number { (heading(*measure, windows)) } } };
    html! {
        (tall("Counties", Some("search"), "Counties", head, html! {
            @for county in ordered { tr {
                th scope="row" { a href={ "#" (slug(county.name)) } { (county.name) } }
                (cells(&county.figures, Some(county.population)))
            } }
            @for row in figures.iter().filter(|row| !is_known(row)) { tr {
                th scope="row" { (county_name(&row.county)) } (cells(row, None))
            } }
        }))
        p.note { "Growth is in percentage points from the state's, and shown where both windows have " (RELIABLE) " filings and chance alone hardly explains it; a dash is no difference, or not known. A dash in another column is a count of days that were not read." }
    }
}

fn heading(measure: Measure, windows: &Windows) -> String {
    match measure {
        Measure::Growth => "growth, points from the state's".to_owned(),
        _ => measure.label(windows),
    }
}

/// One part for each county. A link to it shows it, with and without a script.
pub(super) fn parts(counties: &[County<'_>], figures: &Figures, windows: &Windows) -> Markup {
    html! { @for county in counties { article.county id=(slug(county.name)) {
        h3 { (county.name) }
        p { (county.facts(windows)) ". " a href="#counties" { "Back to the map" } }
        @match county.detail {
            None if windows.known(0, YEAR).is_none() => p.note { "Not read: nothing to show." },
            None => p.note { "No filings: nothing to show." },
            Some(detail) => (lists(county.name, detail, figures, windows)),
        }
    } } }
}

fn lists(name: &str, detail: &CountyDetail, figures: &Figures, windows: &Windows) -> Markup {
    let (has_month, has_year) = (windows.is_longer(MONTH, WEEK), windows.is_longer(YEAR, MONTH));
    html! {
        div.pair {
            div { table {
                caption { (name) " by type" }
                thead { tr { th { "type" } @if has_year { th { (windows.label(YEAR)) } } @if has_month { th { (windows.label(MONTH)) ", " (FILLING) } } td.picture { @if figures.trend_months.len() > 1 { (figures.trend_months.len()) " months" } } } }
                tbody { @for row in &detail.types { tr {
                    th scope="row" { (kind(&row.entity_type)) } @if has_year { td { (integer(row.filings)) } }
                    @if has_month { td { @if let Some(filings) = windows.known(row.filings_last_30_days, MONTH) { (integer(filings)) } @else { "–" } } } td.picture { (sparkline(&row.trend)) }
                } } }
            } }
            div { table {
                caption { (name) ": sectors, " (of_month(figures, &figures.sectors_month)) }
                thead { tr { th { "sector" } th { "filings" } th { "times the state's share" } } }
                tbody { @for (sector, filings, quotient) in &detail.sectors { tr {
                    th scope="row" { (industry(sector)) } td { (integer(*filings)) }
                    td { @if let Some(quotient) = quotient { (format!("{quotient:.1}")) } @else { "–" } }
                } } }
            } }
        }
        p { b { "Cities, " (of_month(figures, &figures.cities_month)) ": " } (places("no city", &detail.cities)) }
        p { b { "ZIP codes, " (windows.label(YEAR)) ": " } (places("no ZIP", &detail.zips)) }
    }
}

/// Names with their filings in one line; a name that is written from right to left does not turn the others.
fn places(nameless: &str, rows: &[(String, i64)]) -> Markup {
    html! { @for (nth, (name, filings)) in rows.iter().enumerate() {
        @if nth > 0 { " · " }
        bdi { @if name.is_empty() { (nameless) } @else { (name) } } " " (integer(*filings))
    } }
}

/// A line without axes: the course of a few months.
fn sparkline(trend: &[i64]) -> Markup {
    let highest = trend.iter().copied().max().unwrap_or(0).max(1);
    let heights: Vec<i64> = trend.iter().map(|filings| 18 - filings * 16 / highest).collect();
    let steps: String = heights.windows(2).map(|pair| format!("l6 {}", pair[1] - pair[0])).collect();
    html! { @if let [first, _, ..] = heights[..] {
        svg.spark viewBox={ "0 0 " (trend.len() * 6) " 20" } aria-hidden="true" { path d={ "M0 " (first) (steps) } {} }
    } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::county::counties;

    #[test]
    fn filings_outside_the_counties_are_in_the_table() {
        let outside = CountyFigures { filings: 7_777, ..CountyFigures::default() };
        let windows = Windows::default();
        let none = Figures::default();
        let page = table(&counties(&none), std::slice::from_ref(&outside), &windows).into_string();
        assert!(page.contains("outside Florida or unknown") && page.contains("7,777"));
    }
}
