//! Tables of figures: months, growth, cities, ZIP codes, settling, reconciliation.

use super::number::{change, county, share, whole};
use crate::aggregate::{CountyFigures, Figures, MonthFigures, Reconciliation, Scope, SettlingDay};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Months shown.
const MONTHS: usize = 13;
/// Rows of the growth tables.
const GROWTH_ROWS: usize = 10;
/// Filings of the last and the previous 30 days together below which a change is chance.
const ENOUGH_FILINGS: i64 = 40;
/// A ZIP code with so many times its county's mean is marked.
const HOT_TIMES: f64 = 5.0;
/// Rows of differences shown.
const DIFFERENCES: usize = 15;

pub(super) fn months(figures: &[MonthFigures]) -> Markup {
    let newest: BTreeSet<&str> = figures.iter().map(|row| row.month.as_str()).collect();
    let months: Vec<&str> = newest.into_iter().rev().take(MONTHS).collect();
    let types: BTreeSet<&str> = figures
        .iter()
        .filter(|row| months.contains(&row.month.as_str()))
        .map(|row| row.entity_type.as_str())
        .filter(|kind| *kind != "*")
        .collect();
    let find =
        |month: &str, kind: &str| figures.iter().find(|row| row.month == month && row.entity_type == kind);
    html! {
        div.wide { table {
            caption { "Filings by month and type; changes where the lake holds both months whole" }
            thead { tr {
                th { "month" } th.number { "all" } th.number { "on the month before" } th.number { "on a year ago" }
                @for kind in &types { th.number { (kind) } }
            } }
            tbody { @for month in months { @if let Some(all) = find(month, "*") { tr {
                th scope="row" { (month) @if !all.is_whole { " (not whole)" } }
                td.number { (whole(all.filings)) }
                (change_cell(all.month_over_month))
                (change_cell(all.year_over_year))
                @for kind in &types { td.number { (whole(find(month, kind).map_or(0, |row| row.filings))) } }
            } } } }
        } }
    }
}

fn change_cell(ratio: Option<f64>) -> Markup {
    let direction = match ratio {
        Some(ratio) if ratio > 0.0 => "up",
        Some(ratio) if ratio < 0.0 => "down",
        _ => "flat",
    };
    html! { td.number.(direction) { (change(ratio)) } }
}

pub(super) fn growth(counties: &[CountyFigures]) -> Markup {
    let enough = |row: &&CountyFigures| {
        row.growth_30_days.is_some()
            && row.filings_last_30_days + row.filings_previous_30_days >= ENOUGH_FILINGS
    };
    let mut known: Vec<&CountyFigures> = counties.iter().filter(enough).collect();
    known.sort_by(|a, b| b.growth_30_days.unwrap_or(0.0).total_cmp(&a.growth_30_days.unwrap_or(0.0)));
    let rising: Vec<_> =
        known.iter().copied().filter(|row| row.growth_30_days > Some(0.0)).take(GROWTH_ROWS).collect();
    let falling: Vec<_> =
        known.iter().rev().copied().filter(|row| row.growth_30_days < Some(0.0)).take(GROWTH_ROWS).collect();
    html! {
        @if known.is_empty() {
            p.note { "No growth yet: the lake must hold 60 days, proven complete, to compare 30 with 30." }
            (county_table("Counties with most filings", &counties.iter().take(GROWTH_ROWS).collect::<Vec<_>>()))
        } @else {
            p.note { "The newest days still fill, so every change leans to the low side; compare counties with each other." }
            div.pair {
                (county_table("Rising", &rising))
                (county_table("Falling", &falling))
            }
        }
    }
}

fn county_table(caption: &str, rows: &[&CountyFigures]) -> Markup {
    html! {
        div.wide { table {
            caption { (caption) }
            thead { tr { th { "county" } th.number { "last 30 days" } th.number { "30 before" } th.number { "change" } th.number { "of the state" } } }
            tbody { @for row in rows { tr {
                th scope="row" { (county(&row.county)) }
                td.number { (whole(row.filings_last_30_days)) }
                td.number { (whole(row.filings_previous_30_days)) }
                (change_cell(row.growth_30_days))
                td.number { (share(row.share_of_state_30_days)) }
            } } }
        } }
    }
}

pub(super) fn places(figures: &Figures) -> Markup {
    html! {
        div.pair {
            div.wide { table {
                caption { "Cities with most filings " (figures.cities_month) }
                thead { tr { th { "city" } th { "county" } th.number { "filings" } th.number { "spellings" } } }
                tbody { @for row in &figures.cities { tr {
                    th scope="row" { @if row.city.is_empty() { "no city" } @else { (row.city) } }
                    td { (county(&row.county)) } td.number { (whole(row.filings)) } td.number { (whole(row.spellings)) }
                } } }
            } }
            div.wide { table {
                caption { "ZIP codes with most filings, 365 days" }
                thead { tr { th { "ZIP" } th { "county" } th.number { "filings" } th.number { "of the county" } th.number { "times its mean" } } }
                tbody { @for row in &figures.zips { tr.hot[row.times_county_mean > Some(HOT_TIMES)] {
                    th scope="row" { @if row.zip.is_empty() { "no ZIP" } @else { (row.zip) } }
                    td { (county(&row.county)) }
                    td.number { (whole(row.filings)) }
                    td.number { (share(row.share_of_county)) }
                    td.number { @if let Some(times) = row.times_county_mean { (format!("{times:.1}")) } @else { "–" } }
                } } }
            } }
        }
        p.note { "A ZIP code far above its county's mean is mostly one registration service's address, not a busy town." }
    }
}

pub(super) fn settling(days: &[SettlingDay]) -> Markup {
    html! {
        @if days.is_empty() {
            p.note { "No recent day was read: nothing to show." }
        } @else {
            table.bars { @for row in days.iter().take(14) { tr {
                th scope="row" { (row.day) }
                td { div.bar style={ "width:" (format!("{:.1}", row.fullness.unwrap_or(0.0).min(1.0) * 100.0)) "%" } {} }
                td.number { (whole(row.filings)) }
                td.number { @if row.fullness.is_some() { (share(row.fullness)) " of usual" } @else { "–" } }
            } } }
        }
    }
}

pub(super) fn reconciliation(reconciliation: &Reconciliation) -> Markup {
    let scopes = [
        (Scope::Day, "days", "must agree to the row"),
        (
            Scope::Month,
            "months and types",
            "may differ by dissolved businesses, which the API counts and does not list",
        ),
        (Scope::County, "counties, last 30 days", "may differ likewise"),
    ];
    html! {
        @if reconciliation.comparisons.is_empty() {
            p.note { "The API gave no counts: nothing to show." }
        } @else {
            div.wide { table {
                caption { "Our counts against the API's own, for periods the lake proves to hold whole" }
                thead { tr { th { "counts of" } th.number { "compared" } th.number { "agree" } th.number { "differ" } th { "" } } }
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
}

fn differences(reconciliation: &Reconciliation, scope: Scope, name: &str) -> Markup {
    let rows = reconciliation.differences(scope);
    html! { @if !rows.is_empty() {
        details open[scope == Scope::Day] {
            summary { "Largest differences: " (name) }
            div.wide { table {
                thead { tr { th { "period" } th { "of" } th.number { "API" } th.number { "lake" } th.number { "difference" } } }
                tbody { @for row in rows.into_iter().take(DIFFERENCES) { tr {
                    th scope="row" { (row.period) }
                    td { @if row.subject == "*" { "all" } @else { (row.subject) } }
                    td.number { (whole(row.api_count)) } td.number { (whole(row.lake_count)) }
                    td.number { (whole(row.difference())) }
                } } }
            } }
        }
    } }
}
