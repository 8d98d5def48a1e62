//! The page: its sections in order, and the frame around them.

use super::data::ReportData;
use super::windows::{FILLING, Windows};
use super::{calendar, chart, county, county_table, headline, map, news, periods, table};
use crate::aggregate::Figures;
use crate::contract::escape::{escaped, pattern_of};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::Date;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// Months and years of the trends.
const MONTHS: usize = 25;
const YEARS: usize = 40;

/// The report as one HTML document. The same data give the same bytes. What steers a terminal is written out, here for all parts.
pub(crate) fn render(data: &ReportData) -> String {
    let figures = &data.figures;
    let sections = sections(data);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Florida business filings" @if let Some(day) = figures.as_of { " as of " (day) } }
                style { (PreEscaped(STYLE)) }
            }
            body { main {
                header {
                    h1 { "Florida business filings" }
                    @if data.is_invented { p.note { strong { "A sample, invented by sunlake: no business in it exists." } } }
                    p.note {
                        @if let Some(day) = figures.as_of { "As of " (day) ", Eastern time" } @else { "No figures yet" }
                        @if let Some(snapshot) = data.snapshot { " · snapshot " (snapshot) }
                        " · counts are listed businesses by filing date"
                    }
                }
                nav aria-label="Parts of this page" {
                    @for (id, title, _) in sections.iter().skip(1) { a href={ "#" (id) } { (title) } }
                    @if data.run.is_some() { a href="#run" { "The run" } }
                }
                @for (id, title, content) in &sections { section id=(id) { h2 { (title) } (content) } }
                @if let Some(facts) = &data.run { (table::run(facts)) }
            } script { (PreEscaped(SCRIPT)) } }
        }
    };
    escaped(&page.into_string(), &['\n', '\t']).into_owned()
}

/// Days that the run was to read, and of which the lake holds nothing.
fn unread_days(data: &ReportData) -> usize {
    let held: BTreeSet<Date> = data.figures.coverage.iter().map(|day| day.day).collect();
    let wanted = data.run.iter().flat_map(|run| run.incomplete.keys());
    wanted.filter(|day| !held.contains(day)).count()
}

/// Identifier, title and content of each section, in their order.
fn sections(data: &ReportData) -> Vec<(&'static str, &'static str, Markup)> {
    let figures = &data.figures;
    let windows = Windows::of(figures);
    let mut sections = vec![
        ("headline", "In short", headline::headline(figures, unread_days(data))),
        ("news", "New and gone", news::news(figures)),
        ("counties", "Counties", counties(figures, &windows)),
        ("growth", "Growth", table::growth(&figures.counties)),
        ("trend", "Filings over time", trend(figures)),
        ("sectors", "Industries", table::sectors(figures)),
        ("places", "Cities and ZIP codes", table::places(figures, &windows)),
        ("week", "A usual week", chart::week(&figures.weekdays)),
        ("coverage", "What the lake holds", calendar::calendar(&figures.coverage)),
        ("settling", "How full the newest days are", table::settling(&figures.settling)),
    ];
    // A lake of the state's files has no counts of the API.
    if !figures.reconciliation.comparisons.is_empty() {
        let against = table::reconciliation(&figures.reconciliation);
        sections.push(("reconciliation", "Against the API's own counts", against));
    }
    sections.push(("queries", "Ask further", queries(data)));
    sections
}

/// Only the style of the page, and only its script.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn counties(figures: &Figures, windows: &Windows) -> Markup {
    let counties = county::counties(figures);
    html! {
        (map::map(&counties, windows))
        p.note { "Of the newest 15 days filings still arrive: a week or a month that counts them is marked as " (FILLING) ", and is too low." }
        (county_table::parts(&counties, figures, windows))
        (county_table::table(&counties, &figures.counties, windows))
    }
}

fn trend(figures: &Figures) -> Markup {
    let months = periods::months(figures, MONTHS);
    let years = periods::years(figures, YEARS);
    html! {
        h3 { "Filings by day" }
        (chart::by_day(figures))
        @if months.len() > 1 { h3 { "Filings by month" } (chart::by_period("Filings by month and type", &months)) }
        @if years.len() > 2 {
            h3 { "By year" }
            (chart::by_period("Businesses by year of filing", &years))
            details { summary { "How many of each year are still listed" } (table::years(&years)) }
        }
        @if figures.older_are_fewer { p.note {
            "Days and months have only businesses that are still listed, and older ones have lost more of them. A change on a year ago "
            "counts all that were filed."
        } }
        (table::months(&figures.months, MONTHS))
    }
}

/// Example queries for DuckDB that run as printed; over an object store they need the catalogue's views.
fn queries(data: &ReportData) -> Markup {
    let lake = pattern_of(data.lake.trim_end_matches('/')).replace('\'', "''");
    let of = |table: &str| {
        if data.is_folder { format!("'{lake}/current/{table}/**/*.parquet'") } else { table.to_owned() }
    };
    let queries = [
        format!(
            "SELECT filed_date, count(*) FROM {} WHERE listed GROUP BY ALL ORDER BY ALL DESC LIMIT 14;",
            of("filings")
        ),
        format!(
            "SELECT name, city, filed_date FROM {} WHERE listed AND county = 'Duval' AND industry_sector = 'construction' ORDER BY filed_date DESC LIMIT 50;",
            of("filings")
        ),
        format!(
            "SELECT county, filings_newer, filings_older, points_from_state FROM {} WHERE is_reliable ORDER BY points_from_state DESC;",
            of("agg_county_window")
        ),
        format!("SELECT * FROM {} WHERE NOT complete ORDER BY filed_date DESC;", of("coverage")),
    ];
    html! {
        @if data.is_folder {
            p { "Paste a line into DuckDB, where the lake's folder is in reach:" }
        } @else {
            p { "Run the lake's " code { "catalog/views.sql" } " in DuckDB, then paste a line:" }
        }
        @for query in queries { pre { code { (query) } } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::figures::values::*;
    use crate::aggregate::reconcile::Comparison;
    use crate::aggregate::{Reconciliation, Scope};
    use crate::report::data::*;
    use jiff::civil::{Date, date};
    use std::collections::BTreeMap;

    const EVIL: &str = "<script>alert(\"x\")</script>&'";

    fn county(name: &str, filings: i64, growth: Option<f64>) -> CountyFigures {
        CountyFigures {
            county: name.to_owned(),
            filings_last_30_days: filings,
            filings_settled_30_days: filings,
            filings_newer: filings,
            filings_older: filings,
            growth,
            points_from_state: growth.map(|growth| growth * 100.0),
            is_different: growth.is_some(),
            ..CountyFigures::default()
        }
    }

    const DAY: Date = date(2026, 7, 31);

    fn figures() -> Figures {
        let month = |entity_type: &str| MonthFigures {
            month: "2026-07".to_owned(),
            entity_type: entity_type.to_owned(),
            filings: 12_345,
            year_over_year: None,
            is_complete: true,
            is_settled: true,
        };
        Figures {
            as_of: Some(DAY),
            coverage: vec![CoverageDay {
                day: DAY,
                expected: 9,
                landed: 7,
                is_complete: false,
                is_settled: false,
                lacks: None,
            }],
            days: vec![DayFigures {
                day: DAY,
                by_type: BTreeMap::from([(EVIL.to_owned(), 5), ("llc".to_owned(), 7)]),
            }],
            months: vec![month(EVERY_TYPE), month(EVIL)],
            counties: vec![
                county("Duval", 400, Some(0.125)),
                county(EVIL, 300, Some(-0.5)),
                county("", 20, None),
            ],
            cities_month: "2026-07".to_owned(),
            cities: vec![CityFigures {
                city: EVIL.to_owned(),
                county: EVIL.to_owned(),
                filings: 3,
                spellings: 1,
            }],
            zips: vec![ZipFigures {
                zip: EVIL.to_owned(),
                county: EVIL.to_owned(),
                filings: 3,
                share_of_county: Some(0.5),
                times_county_mean: Some(24.6),
            }],
            reconciliation: Reconciliation { comparisons: vec![comparison()] },
            newest: vec![NewBusiness {
                name: EVIL.to_owned(),
                city: EVIL.to_owned(),
                ..NewBusiness::default()
            }],
            sectors: vec![sector()],
            county_details: BTreeMap::from([("Duval".to_owned(), detail())]),
            ..Figures::default()
        }
    }

    fn comparison() -> Comparison {
        Comparison {
            scope: Scope::Day,
            period: "2026-07-30".to_owned(),
            subject: String::new(),
            api_count: 10,
            lake_count: 7,
            is_comparable: true,
        }
    }

    fn sector() -> SectorFigures {
        SectorFigures { sector: EVIL.to_owned(), filings: 3, share_of_month: None, year_over_year: None }
    }

    fn detail() -> CountyDetail {
        let of_type = CountyType { entity_type: EVIL.to_owned(), trend: vec![1, 2], ..CountyType::default() };
        let place = || vec![(EVIL.to_owned(), 3)];
        CountyDetail {
            types: vec![of_type],
            sectors: vec![(EVIL.to_owned(), 3, Some(1.5))],
            cities: place(),
            zips: place(),
        }
    }

    fn run_facts() -> RunFacts {
        RunFacts {
            figures: vec![
                ("outcome", "partial".to_owned()),
                ("pipeline", EVIL.to_owned()),
                ("run", EVIL.to_owned()),
            ],
            requests_by_stage: BTreeMap::from([(EVIL.to_owned(), 1_234)]),
            rows: BTreeMap::from([(EVIL.to_owned(), [198_674, 0, 0, 0, 0])]),
            incomplete: BTreeMap::from([(DAY, OpenDay { landed: 7, expected: Some(9), unread: None })]),
        }
    }

    fn full() -> ReportData {
        ReportData {
            lake: format!("out'put{EVIL}"),
            is_folder: true,
            snapshot: Some(42),
            is_invented: true,
            run: Some(run_facts()),
            figures: figures(),
        }
    }

    #[test]
    fn every_text_of_the_lake_is_escaped() {
        let html = render(&full());
        assert_eq!(html.matches("<script").count(), 1, "a script got in");
        assert!(!html.contains("alert(\"x\")"), "a quote got in");
        assert!(html.contains("&lt;script&gt;"));
    }

    #[test]
    fn page_loads_nothing_and_forbids_it() {
        let html = render(&full());
        assert!(html.starts_with("<!DOCTYPE html>"));
        assert!(html.contains("default-src 'none'"));
        for outside in ["http://", "https://", "src=", "@import", "url(", "style="] {
            assert!(!html.contains(outside), "{outside}");
        }
    }

    #[test]
    fn report_shows_the_run_and_what_is_missing() {
        let html = render(&full());
        for expected in [
            "198,674",
            "1,234",
            "partial",
            "snapshot 42",
            "12,345",
            "2 missing",
            "+12.5 %",
            "−50.0 %",
            "7 of 9 rows",
        ] {
            assert!(html.contains(expected), "{expected}");
        }
        assert!(html.contains("outside Florida or unknown"), "an empty county has a name");
        assert!(html.contains("FROM 'out''put"), "the path is quoted for SQL");
    }

    #[test]
    fn empty_lake_has_a_report_that_says_so() {
        let html = render(&ReportData::default());
        assert!(html.contains("</html>"));
        assert!(html.contains("nothing to show"));
    }

    #[test]
    fn same_data_give_the_same_bytes() {
        assert_eq!(render(&full()), render(&full()));
    }
}
