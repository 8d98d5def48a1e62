//! The pages of the server for people: they need no key, run only their own script, and show the lake's report.

use crate::support::http::Answer;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::{source, wait_for};
use std::time::Duration;

fn policy(answer: &Answer) -> &str {
    answer.header("content-security-policy").expect("a policy")
}

#[test]
fn the_search_and_the_reference_are_pages_that_run_only_their_own_script() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for (target, has) in [("/", "id=\"found\""), ("/docs", "id=\"operation\"")] {
        let page = server.get_with(target, "");
        let text = page.text();
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert!(text.contains(has), "{text}");
        assert_eq!(text.matches("<script").count(), 1, "{target}");
        assert!(
            !text.contains("src=") && !text.contains("style="),
            "{target}: one file, no style outside its sheet"
        );
        let allowed = policy(&page);
        assert!(allowed.starts_with("default-src 'none'; style-src 'sha256-"), "{allowed}");
        assert!(allowed.contains("script-src 'sha256-") && !allowed.contains("unsafe"), "{allowed}");
        assert_eq!(server.send("POST", target, &[]).status, 405);
    }
    assert_eq!(policy(&server.get("/v1/me")), "default-src 'none'; frame-ancestors 'none'");
    let markdown = server.get_with("/docs.md", "");
    assert_eq!(markdown.header("content-type"), Some("text/markdown; charset=utf-8"));
}

#[test]
fn the_report_is_that_of_the_lake_and_follows_it() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let none = server.get_with("/report", "");
    assert_eq!((none.status, none.json()["message"].clone()), (404, "this lake has no report".into()));
    let catalog = server.scratch.path("served/catalog");
    std::fs::create_dir_all(&catalog).expect("a folder");
    let written = source::small().lake.join("catalog/report.html");
    std::fs::copy(&written, catalog.join("report.html")).expect("a report");
    let report = wait_for("the report", Duration::from_secs(20), || {
        Some(server.get_with("/report", "")).filter(|answer| answer.status == 200)
    });
    assert_eq!(report.body, std::fs::read(written).expect("a report"));
    assert_eq!(policy(&report), "frame-ancestors 'none'");
    assert!(server.get_with("/", "").text().contains("href=\"/report\""));
}
