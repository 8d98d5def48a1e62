//! The pages of the server for people: they need no key, run only their own script, and show the lake's report.

use crate::support::command::{Sunlake, project, succeed};
use crate::support::http::Answer;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source::{self, Source};
use crate::support::{node, wait_for};
use serde_json::{Value, json};
use std::process::Command;
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
    // As the report says, though the run was on another day.
    let home = server.get_with("/", "").text();
    assert!(home.contains(" businesses, as of 2026-03-20."), "{home}");
    assert_eq!(policy(&server.get("/v1/me")), "default-src 'none'; frame-ancestors 'none'");
    let markdown = server.get_with("/docs.md", "");
    assert_eq!(markdown.header("content-type"), Some("text/markdown; charset=utf-8"));
}

#[test]
fn the_start_says_where_the_pages_are_and_what_is_served() {
    let mut server = ApiServer::generous(source::small(), AGENCY);
    let url = server.url();
    let said: Vec<String> = (0..4).map(|_| server.process.line()).collect();
    assert_eq!(said[..2], [format!("page      {url}/"), format!("docs      {url}/docs, {url}/openapi.json")]);
    assert_eq!(said[2], "accounts  1");
    assert!(said[3].starts_with("rows      ") && said[3].ends_with(", as of 2026-03-20"), "{said:?}");
}

#[test]
fn the_report_is_that_of_the_lake_and_follows_it() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let none = server.get_with("/report", "");
    assert_eq!((none.status, none.json()["message"].clone()), (404, "this lake has no report".into()));
    let catalog = server.scratch.path("served/catalog");
    std::fs::create_dir_all(&catalog).expect("a folder");
    let of_lake = source::small().lake.join("catalog");
    let written = of_lake.join("report.html");
    for name in ["files.json", "report.html"] {
        std::fs::copy(of_lake.join(name), catalog.join(name)).expect("a file of the catalogue");
    }
    let report = wait_for("the report", Duration::from_secs(20), || {
        Some(server.get_with("/report", "")).filter(|answer| answer.status == 200)
    });
    assert_eq!(report.body, std::fs::read(written).expect("a report"));
    assert_eq!(policy(&report), "frame-ancestors 'none'");
    assert!(server.get_with("/", "").text().contains("href=\"/report\""));
    // A page that no run wrote would have its own script on this address.
    std::fs::write(catalog.join("report.html"), "<script>alert(1)</script>").expect("another page");
    wait_for("no report", Duration::from_secs(20), || {
        (server.get_with("/report", "").status == 404).then_some(())
    });
}

#[test]
#[ignore = "needs Debian's package chromium; installs node packages, a minute"]
fn a_person_finds_a_business_and_its_changes_and_tries_an_operation() {
    succeed(Command::new("chromium").arg("--version"));
    let scratch = Scratch::new();
    let files = project().join("tests/state_files/files");
    let text = format!(
        "name = \"state\"\n[import]\nfolder = {files:?}\n[checks]\nquarantine = \"tell\"\ndrop = \"tell\"\n"
    );
    let source = Source { lake: scratch.lake(), today: "2026-11-22" };
    let run = Sunlake::run(&scratch.file("state.toml", &text), &source.lake);
    run.args(["--today", source.today]).finish().complete();
    let sql = "SELECT c.name, c.old, c.new FROM changes_detail c JOIN filings f USING (business_id) \
               WHERE c.field = 'city' AND f.status = 'active' AND f.entity_type = 'llc' ORDER BY c.name LIMIT 1";
    let asked = Sunlake::on(&source.lake, ["query", sql, "--format", "json"]).finish().exits(0);
    let changed: Value = serde_json::from_str(&asked.stdout).expect("JSON");
    let of = |column: &str| changed[0][column].as_str().expect("text");
    let server = ApiServer::generous(&source, AGENCY);
    let task = json!({"url": server.url(), "key": server.key, "name": of("name")});
    let seen = node::json("pages.mjs", &server.scratch.file("task.json", &task.to_string()));
    let line = format!(": city: {} → {}", of("old"), of("new"));
    for view in seen.as_array().expect("views") {
        let name = &view["name"];
        assert_eq!(view["faults"], json!([]), "{name}: console, requests, accessibility");
        assert_eq!(view["wider"], json!([0, 0]), "{name}: nothing is wider than the window");
        assert_eq!(view["title"], changed[0]["name"], "{name}");
        assert!(view["changes"].as_str().is_some_and(|changes| changes.contains(&line)), "{view}");
        assert!(view["status"].as_str().is_some_and(|said| said.starts_with("Status 200")), "{view}");
        assert_eq!(
            (&view["kept"], &view["other_tab"]),
            (&json!(true), &json!("")),
            "{name}: the key is the tab's"
        );
    }
    assert_eq!(seen.as_array().map(Vec::len), Some(4));
}
