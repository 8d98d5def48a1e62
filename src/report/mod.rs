//! The report of a snapshot: one HTML file that needs nothing else, from plain values, without I/O.
//!
//! No script, no font, no picture from elsewhere: the content security policy of the page forbids all of them. Every
//! text of the lake is escaped, since names and counties are what strangers typed.

mod calendar;
mod chart;
mod map;
mod number;
mod page;
mod run;
mod table;

use crate::aggregate::Figures;
use jiff::civil::Date;

/// What the report tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportData {
    /// Path of the lake as a reader of the report would type it; stands in the queries to try.
    pub lake: String,
    /// Whether it is a folder, which shows its newest snapshot as `current`; an object store has none.
    pub is_folder: bool,
    /// Snapshot the figures are of.
    pub snapshot: Option<u64>,
    /// The run that made the snapshot, where it is known.
    pub run: Option<RunFacts>,
    /// The figures of the snapshot's aggregates.
    pub figures: Figures,
}

/// What one run did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFacts {
    /// Id of the run.
    pub run_id: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// `complete`, `partial`, `unchanged` or `failed`.
    pub outcome: String,
    /// Eastern day it ran as.
    pub today: Date,
    /// Requests sent.
    pub requests_sent: u64,
    /// Requests that were sent again.
    pub requests_retried: u64,
    /// Requests by stage, in the order of the stages.
    pub requests_by_stage: Vec<(String, u64)>,
    /// Rows by table.
    pub rows: Vec<TableRows>,
    /// Records that could not be normalized and lie in the run's quarantine.
    pub quarantined: u64,
    /// Days whose rows are not proven complete.
    pub incomplete: Vec<IncompleteDay>,
    /// How far the register has been read, where the pipeline reads it.
    pub register: Option<RegisterFacts>,
    /// Businesses looked up, of how many chosen, where the pipeline does.
    pub looked_up: Option<(u64, u64)>,
    /// Seconds from start to end.
    pub elapsed_secs: f64,
}

/// Rows of one table in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableRows {
    /// Name of the table.
    pub table: String,
    /// Rows read from the API.
    pub read: u64,
    /// Rows the lake did not have.
    pub added: u64,
    /// Rows that changed.
    pub changed: u64,
    /// Rows that a complete reading no longer showed.
    pub vanished: u64,
    /// Rows of the table now.
    pub total: u64,
}

/// How far the register has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegisterFacts {
    /// Starts of a name read whole.
    pub starts: u64,
    /// Starts that likely have names and were not read yet.
    pub left: u64,
    /// Rows found.
    pub rows: u64,
    /// Businesses there are, as the API counts.
    pub businesses_total: u64,
    /// Businesses counted that the lake does not hold, where that can be said.
    pub missing: Option<i64>,
}

/// A day that is not proven complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteDay {
    /// The day.
    pub day: Date,
    /// Rows the API says it has.
    pub expected: u64,
    /// Rows that landed.
    pub landed: u64,
}

/// The report as one HTML document. The same data give the same bytes.
pub fn render(data: &ReportData) -> String {
    page::page(data).into_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{
        CityFigures, Comparison, CountyFigures, CoverageDay, DayFigures, MonthFigures, Reconciliation, Scope,
        ZipFigures,
    };
    use jiff::civil::date;
    use std::collections::BTreeMap;

    const EVIL: &str = "<script>alert(\"x\")</script>&'";

    fn county(name: &str, filings: i64, growth: Option<f64>) -> CountyFigures {
        CountyFigures {
            county: name.to_owned(),
            filings_last_7_days: filings / 4,
            filings_last_30_days: filings,
            filings_previous_30_days: filings,
            filings_last_365_days: filings * 12,
            growth_30_days: growth,
            share_of_state_30_days: Some(0.5),
            rank_30_days: 1,
        }
    }

    fn full() -> ReportData {
        let day = date(2026, 7, 31);
        let month = |entity_type: &str| MonthFigures {
            month: "2026-07".to_owned(),
            entity_type: entity_type.to_owned(),
            filings: 12_345,
            month_over_month: Some(-0.25),
            year_over_year: None,
            share_of_month: Some(1.0),
            is_whole: true,
        };
        let comparison = Comparison {
            scope: Scope::Day,
            period: "2026-07-30".to_owned(),
            subject: "*".to_owned(),
            observed_on: Some(day),
            api_count: 10,
            lake_count: 7,
            is_comparable: true,
        };
        let figures = Figures {
            as_of: Some(day),
            coverage: vec![CoverageDay {
                day,
                expected: 9,
                landed: 7,
                is_complete: false,
                is_settled: false,
            }],
            days: vec![DayFigures {
                day,
                by_type: BTreeMap::from([(EVIL.to_owned(), 5), ("llc".to_owned(), 7)]),
            }],
            months: vec![month("*"), month(EVIL)],
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
            reconciliation: Reconciliation { comparisons: vec![comparison] },
            ..Figures::default()
        };
        let run = RunFacts {
            run_id: EVIL.to_owned(),
            pipeline: EVIL.to_owned(),
            outcome: "partial".to_owned(),
            today: day,
            requests_sent: 1_234,
            requests_by_stage: vec![(EVIL.to_owned(), 1_234)],
            rows: vec![TableRows { table: EVIL.to_owned(), read: 198_674, ..TableRows::default() }],
            incomplete: vec![IncompleteDay { day, expected: 9, landed: 7 }],
            register: Some(RegisterFacts {
                starts: 812,
                left: 3,
                rows: 300_123,
                businesses_total: 300_130,
                missing: Some(7),
            }),
            looked_up: Some((40, 50)),
            elapsed_secs: 61.0,
            ..RunFacts::default()
        };
        ReportData {
            lake: format!("out'put{EVIL}"),
            is_folder: true,
            snapshot: Some(42),
            run: Some(run),
            figures,
        }
    }

    #[test]
    fn every_text_of_the_lake_is_escaped() {
        let html = render(&full());
        assert!(!html.contains("<script"), "a script got in");
        assert!(!html.contains("alert(\"x\")"), "a quote got in");
        assert!(html.contains("&lt;script&gt;"));
    }

    #[test]
    fn page_needs_nothing_from_elsewhere_and_forbids_it() {
        let html = render(&full());
        assert!(html.starts_with("<!DOCTYPE html>"));
        assert!(html.contains("default-src 'none'"));
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
    }

    #[test]
    fn report_tells_what_the_run_did_and_what_is_missing() {
        let html = render(&full());
        for told in [
            "198,674",
            "1,234",
            "partial",
            "snapshot 42",
            "12,345",
            "2 rows missing",
            "+12.5 %",
            "−50.0 %",
            "300,123",
        ] {
            assert!(html.contains(told), "{told}");
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
