//! The page: its sections in order, and the frame around them.

use super::{ReportData, calendar, chart, map, run, table};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(super) fn page(data: &ReportData) -> Markup {
    let figures = &data.figures;
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Florida business filings" @if let Some(day) = figures.as_of { " as of " (day) } }
                style { (PreEscaped(STYLE)) }
            }
            body { main {
                header {
                    h1 { "Florida business filings" }
                    p.note {
                        @if let Some(day) = figures.as_of { "As of " (day) ", Eastern time" } @else { "No figures yet" }
                        @if let Some(snapshot) = data.snapshot { " · snapshot " (snapshot) }
                        " · counts are businesses the API lists, by filing date"
                    }
                }
                @if let Some(facts) = &data.run { (run::run(facts)) }
                (section("coverage", "What the lake holds", calendar::calendar(&figures.coverage)))
                (section("trend", "Filings by day", html! {
                    (chart::daily_trend(&figures.days))
                    (table::months(&figures.months))
                }))
                (section("settling", "How full the newest days are", table::settling(&figures.settling)))
                (section("counties", "Counties, last 30 days", map::map(&figures.counties)))
                (section("growth", "Growth", table::growth(&figures.counties)))
                (section("places", "Cities and ZIP codes", table::places(figures)))
                (section("week", "An ordinary week", chart::week(&figures.weekdays)))
                (section("reconciliation", "Against the API's own counts", table::reconciliation(&figures.reconciliation)))
                (section("queries", "Ask further", queries(data)))
            } }
        }
    }
}

fn section(id: &str, title: &str, content: Markup) -> Markup {
    html! { section id=(id) { h2 { (title) } (content) } }
}

/// Lines for DuckDB that run as they stand; over an object store, once the catalogue's views are there.
fn queries(data: &ReportData) -> Markup {
    let lake = data.lake.trim_end_matches('/').replace('\'', "''");
    let of = |table: &str| match data.is_folder {
        true => format!("'{lake}/current/{table}/**/*.parquet'"),
        false => table.to_owned(),
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
            "SELECT county, filings_last_30_days, growth_30_days FROM {} WHERE entity_type = '*' ORDER BY growth_30_days DESC NULLS LAST;",
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
