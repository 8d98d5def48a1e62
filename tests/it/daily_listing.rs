//! Single days are read by the daily endpoint, unless it lists other rows than a search.

use crate::support::command::Sunlake;
use crate::support::lake;
use crate::support::proxy::{Proxy, Reply, with_a_row_more};
use crate::support::scratch::Scratch;
use crate::support::server::{ApiServer, Plan};
use crate::support::source;
use serde_json::Value;

/// Under these limits one day of the source is beyond reach, so that it is read alone.
const NARROW: Plan = Plan { name: "enterprise", rows_per_call: 50, max_offset: 90, window_days: 14 };

/// Pages of single days that were requested by a first reading and by a second, and what the lake knows of the endpoint.
fn read(proxy: &Proxy, key: &str) -> (usize, usize, Value) {
    let scratch = Scratch::new();
    let plan = "[plan]\nrows_per_call = 50\nmax_offset = 90\nwindow_days = 14\n";
    let pipeline = scratch.file("p.toml", &format!("name = \"p\"\n{plan}[aggregates]\nenabled = false\n"));
    let pages = || proxy.targets().iter().filter(|target| target.contains("/filings/daily/")).count();
    let run = || {
        let command = Sunlake::run(&pipeline, &scratch.lake());
        command.asking(&proxy.url(), source::small().today, key).finish().exits(0);
    };
    run();
    let first = pages();
    let found = lake::filings(&scratch.lake());
    lake::assert_same(&found, &lake::filings(&source::small().lake), "by the daily endpoint");
    let state = lake::commits(&scratch.lake()).pop().expect("a commit")["state"].clone();
    run();
    (first, pages() - first, state["daily_listing"].clone())
}

#[test]
fn a_day_beyond_reach_is_read_by_the_daily_endpoint_as_far_as_it_reaches() {
    let server = ApiServer::generous(source::small(), NARROW);
    let (first, _, known) = read(&Proxy::counting(server.address), &server.key);
    assert!(first >= 2, "{first} pages of single days");
    assert_eq!(known, "same");
}

/// The page, with a fictitious name on it.
fn with_a_fictitious_name(body: String) -> String {
    let mut page: Value = serde_json::from_str(&body).expect("a page");
    page["data"][0]["entity_type"] = "fictitious".into();
    page.to_string()
}

#[test]
fn an_endpoint_that_lists_other_rows_or_none_is_asked_once_and_searches_read_the_days() {
    let answers: [fn() -> Reply; 3] = [
        || Reply::Change(with_a_fictitious_name),
        || Reply::Change(with_a_row_more),
        || Reply::error(404, Vec::new()),
    ];
    for answer in answers {
        let server = ApiServer::generous(source::small(), NARROW);
        let proxy = Proxy::scripted(server.address, move |request| {
            if request.target.contains("/filings/daily/") { answer() } else { Reply::Forward }
        });
        assert_eq!(read(&proxy, &server.key), (1, 0, "differs".into()), "{:#?}", proxy.targets());
    }
}
