//! What is extracted is what is there: a source lake is served under each plan's limits, with a max offset that fits its
//! size, read back over HTTP through the shipped backfill pipeline, and compared field by field. Runs add up nothing where
//! aggregates are not compared.

use crate::support::command::{Sunlake, shipped};
use crate::support::lake::{self, Cells};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, ENTERPRISE, Plan, STARTER};
use crate::support::source::{self, Source, WITHOUT_AGGREGATES};
use std::collections::BTreeMap;

/// Rows that the API lists for a window: active ones, from its first day to today.
fn within_window(source: &Source, window_days: i64) -> BTreeMap<i64, Cells> {
    let today: jiff::civil::Date = source.today.parse().expect("a day");
    let first = today.checked_sub(jiff::Span::new().days(window_days - 1)).expect("a day").to_string();
    let mut rows = lake::filings(&source.lake);
    rows.retain(|_, cells| {
        let day = cells["filed_date"].as_deref().expect("a day");
        cells["status"].as_deref() == Some("active") && (first.as_str()..=source.today).contains(&day)
    });
    rows
}

/// Checks that a backfill lands every row, for at most this number of requests a page of rows: a day beyond reach costs some hundreds
/// besides its pages, which weigh most where pages are few.
fn backfill(source: &Source, plan: Plan, most: f64) {
    let server = ApiServer::generous(source, plan);
    let scratch = Scratch::new();
    let shipped = std::fs::read_to_string(shipped("backfill.toml")).expect("a pipeline");
    // A plan of no table, so that the run need not find it out.
    let limits = format!(
        "[plan]\nrows_per_call = {}\nmax_offset = {}\nwindow_days = {}\n",
        plan.rows_per_call, plan.max_offset, plan.window_days
    );
    let pipeline =
        scratch.file("backfill.toml", &format!("{shipped}{limits}[aggregates]\n{WITHOUT_AGGREGATES}\n"));
    let summary = Sunlake::run(&pipeline, &scratch.lake())
        .asking(&server.url(), source.today, &server.key)
        .finish()
        .complete();
    let expected = within_window(source, plan.window_days);
    let found = lake::filings(&scratch.lake());
    lake::assert_same(&found, &expected, plan.name);
    assert_eq!(summary["rows"]["filings"]["total"], expected.len());
    let ids = lake::integers(&scratch.lake(), "filings", "business_id");
    assert_eq!(ids.len(), expected.len(), "no row is there twice");
    assert_beyond_reach(&expected, plan);
    let pages = expected.len() as f64 / plan.rows_per_call as f64;
    let sent = summary["requests"]["sent"].as_f64().expect("a number");
    assert!(
        sent <= pages * most,
        "{sent} requests for {pages:.0} pages of rows: requests are the scarce good"
    );
}

/// The comparison would say less if every day could be paged to its end.
fn assert_beyond_reach(rows: &BTreeMap<i64, Cells>, plan: Plan) {
    let mut by_day: BTreeMap<&str, i64> = BTreeMap::new();
    for cells in rows.values().filter(|cells| cells["entity_type"].as_deref() != Some("fictitious")) {
        *by_day.entry(cells["filed_date"].as_deref().expect("a day")).or_default() += 1;
    }
    let heaviest = by_day.values().max().copied().unwrap_or(0);
    let reach = plan.max_offset + plan.rows_per_call;
    assert!(heaviest > reach, "the heaviest day has {heaviest} rows, within the reach of {reach}");
}

#[test]
fn backfill_under_starter_limits_lands_every_row_once() {
    backfill(source::large(), STARTER, 1.7);
}

#[test]
fn backfill_under_agency_limits_lands_every_row_once() {
    backfill(source::large(), Plan { max_offset: 1_000, ..AGENCY }, 2.1);
}

#[test]
fn backfill_under_enterprise_limits_lands_every_row_once() {
    backfill(source::large(), Plan { max_offset: 1_500, ..ENTERPRISE }, 1.2);
}

#[test]
fn counts_of_the_api_and_rows_of_the_lake_agree_day_by_day() {
    let source = source::small();
    let server = ApiServer::generous(source, AGENCY);
    let scratch = Scratch::new();
    Sunlake::run(&shipped("backfill.toml"), &scratch.lake())
        .asking(&server.url(), source.today, &server.key)
        .finish()
        .complete();
    let mut compared = 0;
    for row in lake::rows(&scratch.lake(), "agg_reconcile", &[]) {
        if row["scope"].as_deref() == Some("day") && row["is_comparable"].as_deref() == Some("true") {
            assert_eq!(row["difference"].as_deref(), Some("0"), "{row:?}");
            compared += 1;
        }
    }
    assert!(compared >= 14, "{compared} days were compared");
}
