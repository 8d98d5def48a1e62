//! The counties: one table of all, and one part of the page for each.

use super::number::{change, county as county_name, integer, kind};
use super::table::industry;
use crate::aggregate::{CountyDetail, CountyFigures, Figures};
use crate::contract::county::county_facts;
use maud::{Markup, html};

/// One of Florida's counties, with or without filings.
pub(super) struct County<'f> {
    pub(super) name: &'static str,
    pub(super) fips: &'static str,
    population: i64,
    pub(super) figures: CountyFigures,
    detail: Option<&'f CountyDetail>,
}

impl County<'_> {
    /// Filings of 365 days per 10,000 residents.
    pub(super) fn per_10_000(&self) -> f64 {
        self.figures.filings as f64 * 10_000.0 / self.population as f64
    }

    /// The county in one line.
    pub(super) fn tip(&self) -> String {
        format!("{}: {}", self.name, self.facts())
    }

    fn facts(&self) -> String {
        let figures = &self.figures;
        let [week, month, year] =
            [figures.filings_last_7_days, figures.filings_last_30_days, figures.filings].map(integer);
        let growth = figures.growth.map(|growth| format!(", growth {}", change(Some(growth))));
        format!(
            "{month} {} in 30 days, {week} in 7, {year} in 365 ({:.0} per 10,000 people){}",
            if figures.filings_last_30_days == 1 { "filing" } else { "filings" },
            self.per_10_000(),
            growth.unwrap_or_default()
        )
    }
}

/// All counties with their filings, in the order of their names; without details.
pub(super) fn counties(figures: &[CountyFigures]) -> Vec<County<'static>> {
    let county = |facts: crate::contract::county::CountyFacts| County {
        name: facts.name,
        fips: facts.fips,
        population: facts.population,
        figures: figures
            .iter()
            .find(|row| is_same_county(&row.county, facts.name))
            .cloned()
            .unwrap_or_default(),
        detail: None,
    };
    county_facts().map(county).collect()
}

/// All counties with their filings and details.
pub(super) fn detailed(figures: &Figures) -> Vec<County<'_>> {
    let detail_of = |name: &str| {
        figures.county_details.iter().find(|(known, _)| is_same_county(known, name)).map(|(_, detail)| detail)
    };
    counties(&figures.counties)
        .into_iter()
        .map(|county| County { detail: detail_of(county.name), ..county })
        .collect()
}

/// The part of the page that shows a county: `county-st-johns`.
pub(super) fn slug(name: &str) -> String {
    let words: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    format!("county-{}", words.join("-").to_ascii_lowercase())
}

/// Names are equal by their letters: `St. Johns`, `ST JOHNS` and `Saint Johns` are one county.
fn is_same_county(a: &str, b: &str) -> bool {
    let letters = |name: &str| {
        let letters: String = name.chars().filter(char::is_ascii_alphabetic).collect();
        letters.to_ascii_lowercase().replace("saint", "st")
    };
    letters(a) == letters(b)
}

/// The table of all counties, and of filings outside them.
pub(super) fn table(counties: &[County<'_>], figures: &[CountyFigures]) -> Markup {
    let is_known =
        |row: &&CountyFigures| counties.iter().any(|county| is_same_county(&row.county, county.name));
    let cells = |row: &CountyFigures, per_10_000: Option<f64>| {
        html! {
            @for filings in [row.filings_last_7_days, row.filings_last_30_days, row.filings] {
                td.number { (integer(filings)) }
            }
            td.number { @if let Some(per_10_000) = per_10_000 { (format!("{per_10_000:.0}")) } @else { "–" } }
            td.number { (change(row.growth)) }
        }
    };
    let mut ordered: Vec<&County<'_>> = counties.iter().collect();
    ordered.sort_by_key(|county| std::cmp::Reverse(county.figures.filings_last_30_days));
    html! {
        div.wide.tall tabindex="0" role="region" aria-label="Counties" { table.search {
            caption { "Counties" }
            thead { tr {
                th { "county" } th.number { "7 days" } th.number { "30 days" } th.number { "365 days" }
                th.number { "per 10,000 people" } th.number { "growth" }
            } }
            tbody {
                @for county in ordered { tr {
                    th scope="row" { a href={ "#" (slug(county.name)) } { (county.name) } }
                    (cells(&county.figures, Some(county.per_10_000())))
                } }
                @for row in figures.iter().filter(|row| !is_known(row)) { tr {
                    th scope="row" { (county_name(&row.county)) } (cells(row, None))
                } }
            }
        } }
    }
}

/// One part for each county. A link to it shows it, with and without a script.
pub(super) fn parts(counties: &[County<'_>], figures: &Figures) -> Markup {
    html! { @for county in counties { article.county id=(slug(county.name)) {
        h3 { (county.name) }
        p { (county.facts()) ". " a href="#counties" { "Back to the map" } }
        @match county.detail {
            None => p.note { "No filings: nothing to show." },
            Some(detail) => (lists(county.name, detail, figures)),
        }
    } } }
}

fn lists(name: &str, detail: &CountyDetail, figures: &Figures) -> Markup {
    html! {
        div.pair {
            div { table {
                caption { (name) " by type" }
                thead { tr { th { "type" } th { "30 days" } th { "365 days" } td.picture { @if figures.trend_months.len() > 1 { (figures.trend_months.len()) " months" } } } }
                tbody { @for row in &detail.types { tr {
                    th scope="row" { (kind(&row.entity_type)) } td { (integer(row.filings_last_30_days)) }
                    td { (integer(row.filings)) } td.picture { (sparkline(&row.trend)) }
                } } }
            } }
            div { table {
                caption { (name) ": sectors, " (figures.sectors_month) }
                thead { tr { th { "sector" } th { "filings" } th { "times the state's share" } } }
                tbody { @for (sector, filings, quotient) in &detail.sectors { tr {
                    th scope="row" { (industry(sector)) } td { (integer(*filings)) }
                    td { @if let Some(quotient) = quotient { (format!("{quotient:.1}")) } @else { "–" } }
                } } }
            } }
        }
        p { b { "Cities, " (figures.cities_month) ": " } (places("no city", &detail.cities)) }
        p { b { "ZIP codes, 365 days: " } (places("no ZIP", &detail.zips)) }
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

    #[test]
    fn spellings_of_a_county_are_one_and_two_counties_are_two() {
        for other in ["St. Johns", "ST JOHNS", "Saint Johns", "st johns"] {
            assert!(is_same_county("St. Johns", other), "{other}");
        }
        assert!(!is_same_county("St. Johns", "St. Lucie"));
        assert!(!is_same_county("", "Bay"));
    }

    #[test]
    fn every_county_has_its_own_part() {
        let all = counties(&[]);
        let slugs: std::collections::BTreeSet<String> = all.iter().map(|county| slug(county.name)).collect();
        assert_eq!(slugs.len(), 67);
        assert!(slugs.contains("county-st-johns") && slugs.contains("county-miami-dade"));
    }

    #[test]
    fn filings_outside_the_counties_are_in_the_table() {
        let outside = CountyFigures { filings: 7_777, ..CountyFigures::default() };
        let page = table(&counties(&[]), std::slice::from_ref(&outside)).into_string();
        assert!(page.contains("outside Florida or unknown") && page.contains("7,777"));
    }
}
