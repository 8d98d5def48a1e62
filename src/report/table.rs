//! Tables of figures: the run, months, growth, cities, ZIP codes, settling, reconciliation.

use super::chart::bar;
use super::data::RunFacts;
use super::number::{change, count, county, integer, kind as words, reliable, share, span};
use super::periods::Period;
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
    html! {
        div.wide tabindex="0" { table {
            caption { "Filings by month; changes where both months are complete and have 100 filings" }
            thead { tr {
                th { "month" } th.number { "filings" } th.number { "on the month before" } th.number { "on a year ago" }
            } }
            tbody { @for month in &months { @if let Some(all) = find(month, EVERY_TYPE) { tr {
                th scope="row" { (month) @if !all.is_complete { " (incomplete)" } }
                td.number { (integer(all.filings)) }
                (change_cell(reliable(all.filings, all.month_over_month)))
                (change_cell(reliable(all.filings, all.year_over_year)))
            } } } }
        } }
        div.wide tabindex="0" { table.types {
            caption { "Filings by month and type" }
            thead { tr { th { "month" } @for kind in &types { th.number { (words(kind)) } } } }
            tbody { @for month in &months { tr {
                th.day scope="row" { (month) @if find(month, EVERY_TYPE).is_some_and(|all| !all.is_complete) { " (incomplete)" } }
                @for kind in &types { td.number { (integer(find(month, kind).map_or(0, |row| row.filings))) } }
            } } }
        } }
    }
}

/// Of the businesses filed in each year, those that are still listed.
pub(super) fn years(years: &[Period]) -> Markup {
    let filed = |year: &Period| year.by_type.values().sum::<i64>();
    html! {
        div.wide tabindex="0" { table {
            caption { "Businesses by year of filing" }
            thead { tr { th { "year" } th.number { "filed" } th.number { "still listed" } th.number { "share" } } }
            tbody { @for year in years.iter().rev().filter(|year| filed(year) > 0) {
                @let (filed, listed) = (filed(year), year.listed());
                tr {
                    th scope="row" { (year.name) } td.number { (integer(filed)) } td.number { (integer(listed)) }
                    td.number { (share(Some(listed as f64 / filed as f64))) }
                }
            } }
        } }
    }
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

/// A county's growth, and its difference from the state's in percentage points.
struct Growth<'a> {
    figures: &'a CountyFigures,
    points: f64,
}

pub(super) fn growth(counties: &[CountyFigures]) -> Markup {
    let known = growths(counties);
    let rising: Vec<&Growth<'_>> = known.iter().filter(|row| row.points > 0.0).take(GROWTH_ROWS).collect();
    let falling: Vec<&Growth<'_>> =
        known.iter().rev().filter(|row| row.points < 0.0).take(GROWTH_ROWS).collect();
    html! {
        @if known.is_empty() {
            p.note {
                "No county has a growth yet: that needs 60 complete days, from 15 to 74 days ago, with 100 filings in each half."
            }
        } @else {
            p.note {
                "Days 15 to 44 ago against days 45 to 74 ago: filings of these days have arrived. Counties with fewer than 100 "
                "filings in one of the two are left out."
            }
            div.pair {
                (growth_table("Faster than the state", &rising))
                (growth_table("Slower than the state", &falling))
            }
        }
    }
}

/// Counties with a reliable growth, largest difference from the state first.
fn growths(counties: &[CountyFigures]) -> Vec<Growth<'_>> {
    let settled: i64 = counties.iter().map(|row| row.filings_settled_30_days).sum();
    let before: i64 = counties.iter().map(|row| row.filings_before_30_days).sum();
    let state = settled as f64 / before.max(1) as f64 - 1.0;
    let in_florida = counties.iter().filter(|figures| !figures.county.is_empty());
    let growth = |figures: &'_ CountyFigures| Some((figures.growth? - state) * 100.0);
    let mut known: Vec<Growth<'_>> =
        in_florida.filter_map(|figures| Some(Growth { figures, points: growth(figures)? })).collect();
    known.sort_by(|a, b| b.points.total_cmp(&a.points));
    known
}

fn growth_table(caption: &str, rows: &[&Growth<'_>]) -> Markup {
    html! { @if !rows.is_empty() {
        div.wide tabindex="0" { table {
            caption { (caption) }
            thead { tr {
                th { "county" } th.number { "filings" } th.number { "30 days before" } th.number { "growth" }
                th.number { "points from the state's" }
            } }
            tbody { @for row in rows { tr {
                th scope="row" { (county(&row.figures.county)) }
                td.number { (integer(row.figures.filings_settled_30_days)) }
                td.number { (integer(row.figures.filings_before_30_days)) }
                td.number { (change(row.figures.growth)) }
                td.number.(direction(row.points)) { (format!("{:+.1}", row.points).replace('-', "−")) }
            } } }
        } }
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
                caption { "Sectors in " (figures.sectors_month) }
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

pub(super) fn places(figures: &Figures) -> Markup {
    html! {
        div.pair {
            div.wide tabindex="0" { table {
                caption { "Cities with most filings in " (figures.cities_month) }
                thead { tr { th { "city" } th { "county" } th.number { "filings" } th.number { "spellings" } } }
                tbody { @for row in &figures.cities { tr {
                    th scope="row" { @if row.city.is_empty() { "no city" } @else { (row.city) } }
                    td { (county(&row.county)) } td.number { (integer(row.filings)) } td.number { (integer(row.spellings)) }
                } } }
            } }
            div.wide tabindex="0" { table {
                caption { "ZIP codes with most filings, 365 days" }
                thead { tr { th { "ZIP" } th { "county" } th.number { "filings" } th.number { "of the county" } th.number { "times the county's mean" } } }
                tbody { @for row in &figures.zips { tr.hot[row.times_county_mean > Some(HOT_TIMES)] {
                    th scope="row" { @if row.zip.is_empty() { "no ZIP" } @else { (row.zip) } }
                    td { (county(&row.county)) }
                    td.number { (integer(row.filings)) }
                    td.number { (share(row.share_of_county)) }
                    td.number { @if let Some(times) = row.times_county_mean { (format!("{times:.1}")) } @else { "–" } }
                } } }
            } }
        }
        p.note { "A ZIP code far above the mean of its county (in red) is mostly the address of a registration service, not a busy town." }
    }
}

pub(super) fn settling(days: &[SettlingDay]) -> Markup {
    html! {
        @if days.is_empty() {
            p.note { "No recent day was read: nothing to show." }
        } @else {
            div.wide tabindex="0" { table.bars {
                caption { "Filings of the newest days, against the mean of their weekday" }
                thead { tr { th { "day" } td.picture {} th.number { "filings" } th.number { "of usual" } } }
                tbody { @for row in days.iter().take(14) { tr {
                    th.day scope="row" { (row.day) }
                    td.picture { (bar(row.fullness.unwrap_or(0.0).min(1.0) * 100.0)) }
                    td.number { (integer(row.filings)) } td.number { (share(row.fullness)) }
                } } }
            } }
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
    html! {
        div.wide tabindex="0" { table {
            caption { "The lake's counts against the API's, for complete periods" }
            thead { tr { th { "counts of" } th.number { "compared" } th.number { "agree" } th.number { "differ" } th { "rule" } } }
            tbody { @for (scope, name, meaning) in scopes {
                @let compared = reconciliation.comparable(scope).count();
                @let differ = reconciliation.differences(scope).len();
                tr {
                    th scope="row" { (name) } td.number { (compared) } td.number { (compared - differ) }
                    td.number.down[differ > 0 && scope == Scope::Day] { (differ) } td { (meaning) }
                }
            } }
        } }
        @for (scope, name, _) in scopes { (differences(reconciliation, scope, name)) }
    }
}

fn differences(reconciliation: &Reconciliation, scope: Scope, name: &str) -> Markup {
    let rows = reconciliation.differences(scope);
    html! { @if !rows.is_empty() {
        details open[scope == Scope::Day] {
            summary { "Largest differences: " (name) }
            div.wide tabindex="0" { table {
                caption { "Differences: " (name) }
                thead { tr { th { "period" } th { "of" } th.number { "API" } th.number { "lake" } th.number { "difference" } } }
                tbody { @for row in rows.into_iter().take(DIFFERENCES) { tr {
                    th scope="row" { (row.period) }
                    td { @if row.subject.is_empty() { "all" } @else { (words(&row.subject)) } }
                    td.number { (integer(row.api_count)) } td.number { (integer(row.lake_count)) }
                    td.number { (integer(row.difference())) }
                } } }
            } }
        }
    } }
}

pub(super) fn run(run: &RunFacts) -> Markup {
    html! {
        section id="run" { details {
            summary { "The run that made this snapshot" }
            div.facts {
                (fact("outcome", &run.outcome))
                (fact("pipeline", &run.pipeline))
                (fact("ran as", &run.today.to_string()))
                (fact("requests", &count(run.requests_sent)))
                (fact("retried", &count(run.requests_retried)))
                (fact("quarantined records", &count(run.quarantined)))
                @if let Some(register) = &run.register {
                    (fact("prefixes read", &count(register.starts)))
                    (fact("prefixes left", &count(register.left)))
                    (fact("businesses found under them", &count(register.rows)))
                    (fact("businesses, as the API counts", &count(register.businesses_total)))
                    @if let Some(missing) = register.missing { (fact("of these not in the lake", &missing.to_string())) }
                }
                @if let Some((done, chosen)) = run.looked_up {
                    (fact("looked up", &format!("{} of {}", count(done), count(chosen))))
                }
                (fact("took", &span(run.elapsed_secs)))
                (fact("run", &run.run_id))
            }
            (rows(run))
            (requests(run))
            (incomplete(run))
        } }
    }
}

fn fact(name: &str, value: &str) -> Markup {
    html! { div { span.name { (name) } span.value { (value) } } }
}

fn rows(run: &RunFacts) -> Markup {
    html! {
        @if run.rows.is_empty() {
            p.note { "No rows were read: nothing to show." }
        } @else {
            div.wide tabindex="0" { table.files {
                caption { "Rows by table" }
                thead { tr { th { "table" } @for name in ["read", "added", "changed", "vanished", "in the lake"] { th.number { (name) } } } }
                tbody { @for table in &run.rows { tr {
                    th scope="row" { (table.table) }
                    @for number in [table.read, table.added, table.changed, table.vanished, table.total] {
                        td.number { (count(number)) }
                    }
                } } }
            } }
        }
    }
}

fn requests(run: &RunFacts) -> Markup {
    html! {
        @if !run.requests_by_stage.is_empty() {
            div.wide tabindex="0" { table {
                caption { "Requests by stage" }
                thead { tr { th { "stage" } th.number { "requests" } } }
                tbody { @for (stage, requests) in &run.requests_by_stage {
                    tr { th scope="row" { (stage) } td.number { (count(*requests)) } }
                } }
            } }
        }
    }
}

fn incomplete(run: &RunFacts) -> Markup {
    html! {
        @if !run.incomplete.is_empty() {
            details open[run.incomplete.len() <= 10] {
                summary { "Days this run could not prove complete: " (run.incomplete.len()) }
                ul { @for day in &run.incomplete {
                    li { (day.day) ": " (count(day.landed)) " of " (count(day.expected)) " rows" }
                } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counties_are_ranked_against_the_state_without_small_ones() {
        let county = |name: &str, before: i64, settled: i64| CountyFigures {
            county: name.to_owned(),
            filings_settled_30_days: settled,
            filings_before_30_days: before,
            growth: Some(settled as f64 / before as f64 - 1.0).filter(|_| before >= 100),
            ..CountyFigures::default()
        };
        // The state halves: 1,010 before, 505 now.
        let counties = [county("Lee", 600, 255), county("Bay", 400, 240), county("Glades", 10, 10)];
        let names: Vec<(&str, bool)> =
            growths(&counties).iter().map(|row| (row.figures.county.as_str(), row.points > 0.0)).collect();
        assert_eq!(names, [("Bay", true), ("Lee", false)]);
        assert!((growths(&counties)[0].points - 10.0).abs() < 1e-9, "60% against 50%");
    }
}
