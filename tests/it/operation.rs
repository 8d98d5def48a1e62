//! What goes wrong around a server, as its operator meets it: a key file that cannot be read, a log that nobody reads.

use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::command::{Sunlake, succeed};
use crate::support::http::Connection;
use crate::support::mcp;
use crate::support::server::{AGENCY, ApiServer, STARTER};
use crate::support::{PATIENCE, http, source, wait_for};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::Command;

/// The value of a metric.
pub(crate) fn metric(metrics: SocketAddr, name: &str) -> f64 {
    let page = http::send(metrics, "GET", "/metrics", &[]).expect("the page").text();
    let found = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("{name} in\n{page}"))
}

pub(crate) fn becomes(metrics: SocketAddr, name: &str, value: f64) {
    let shown = || (metric(metrics, name) == value).then_some(());
    wait_for(&format!("{name} to be {value}"), PATIENCE, shown);
}

#[test]
fn a_key_file_that_cannot_be_read_is_reported_at_once_and_so_is_its_return() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &TOLD_METRICS);
    let metrics = metrics_address(&server);
    let (keys, away) = (server.scratch.path("keys.toml"), server.scratch.path("away.toml"));
    std::fs::rename(&keys, &away).expect("put away");
    becomes(metrics, "sunlake_key_file_unread", 1.0);
    assert_eq!(server.get("/v1/me").status, 200, "for a minute the keys stay valid");
    std::fs::rename(&away, &keys).expect("put back");
    becomes(metrics, "sunlake_key_file_unread", 0.0);
    server.process.terminate();
    let done = server.process.finish().exits(0).says("the key file cannot be read;");
    done.says("the key file can be read again");
}

#[test]
fn a_request_counted_by_a_clock_far_ahead_does_not_close_the_account() {
    let source = source::small();
    let server = ApiServer::strict(source, STARTER);
    assert_eq!(server.get("/v1/me").status, 200);
    let usage = server.scratch.path("served/state/usage.jsonl");
    let server = server.again(source.today, |process| {
        process.terminate();
        process.finish().exits(0);
        let text = std::fs::read_to_string(&usage).expect("counts");
        let mut line: Value = serde_json::from_str(&text).expect("one line");
        (line["day"], line["day_on"]) = (1_000.into(), "2036-01-02".into());
        (line["month"], line["month_on"]) = (10_000.into(), "2036-01-01".into());
        std::fs::write(&usage, format!("{line}\n")).expect("counts of days to come");
    });
    let answer = server.get("/v1/me");
    assert_eq!((answer.status, answer.header("retry-after")), (200, None), "{}", answer.text());
    assert_eq!(answer.json()["remaining"]["day"], 999);
    server.process.terminate();
    server.process.finish().exits(0).says("counted were of days to come");
}

#[test]
fn no_text_of_a_client_is_in_the_log() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &["-vv"]);
    let forged = "1\n2026-11-20T00:00:00Z ERROR forged\u{1b}[2J";
    for (method, params) in [
        ("tools/call", json!({"name": forged, "arguments": {}})),
        ("tools/call", json!({"name": "get_county", "arguments": {forged: forged}})),
        (forged, json!({})),
        ("notifications/cancelled", json!({"requestId": forged, "reason": forged})),
    ] {
        let message = json!({"jsonrpc": "2.0", "id": forged, "method": method, "params": params});
        let version = [("MCP-Protocol-Version".to_owned(), "2025-11-25".to_owned())];
        mcp::post(&server, &version, message.to_string().as_bytes());
    }
    server.process.terminate();
    let done = server.process.finish().exits(0);
    assert!(!done.stderr.contains("forged") && !done.stderr.contains("rmcp"), "{}", done.shown());
}

#[test]
fn requests_without_a_valid_key_are_counted_and_logged_once_a_second() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &TOLD_METRICS);
    let metrics = metrics_address(&server);
    for _ in 0..25 {
        assert_eq!(server.get_with("/v1/me", "flb_wrong").status, 401);
        assert_eq!(server.send("GET", "/v1/me", &[]).status, 401);
        assert_eq!(mcp::post_with(&server, "flb_wrong", &[], b"{}").status, 401);
    }
    assert_eq!(metric(metrics, "sunlake_refused_keys_total"), 75.0);
    server.process.terminate();
    let done = server.process.finish().exits(0);
    let lines: Vec<Value> =
        done.stderr.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    let refused: Vec<_> =
        lines.iter().filter(|line| line["fields"]["message"] == "no valid key: answered 401").collect();
    let seconds = done.took.as_secs() as usize + 1;
    assert!((1..=seconds).contains(&refused.len()), "{}", done.shown());
    assert!(refused.iter().all(|line| line["level"] == "WARN"), "{}", done.shown());
    let peer = refused[0]["fields"]["peer"].as_str().unwrap_or_default();
    assert!(peer.starts_with("127.0.0.1:"), "{}", done.shown());
}

#[test]
fn a_log_that_nobody_reads_stops_no_request() {
    let source = source::small();
    let server = ApiServer::generous(source, AGENCY);
    server.process.terminate();
    server.process.finish().exits(0);
    let pipe = server.scratch.path("pipe");
    succeed(Command::new("mkfifo").arg(&pipe));
    // Open for both ends, so that neither waits for the other.
    let held = File::options().read(true).write(true).open(&pipe).expect("a pipe");
    let (lake, keys) = (server.scratch.path("served"), server.scratch.path("keys.toml"));
    let mut process = Sunlake::serve(&lake, &keys)
        .args(["--today", source.today])
        .args(TOLD_METRICS)
        .through(&["sh", "-c", "exec \"$@\" 2> \"$0\"", &pipe.to_string_lossy()])
        .start();
    let address = process.address().expect("an address");
    let mut lines = BufReader::new(held).lines().map(|line| line.expect("a line"));
    let metrics = lines.find_map(|line| {
        serde_json::from_str::<Value>(&line).ok()?["fields"]["address"].as_str()?.parse().ok()
    });
    let metrics = metrics.expect("the address of the metrics");
    let mut connection = Connection::open(address).expect("a connection");
    let mut ask = || {
        assert_eq!(connection.get("/v1/fl/entity-types", &server.key).expect("an answer").status, 200);
    };
    // Several times what a pipe holds.
    (0..1_000).for_each(|_| ask());
    wait_for("dropped lines", PATIENCE, || {
        ask();
        (metric(metrics, "sunlake_log_lines_dropped_total") > 0.0).then_some(())
    });
    process.terminate();
    process.finish().exits(0);
}

#[test]
fn accounts_that_no_server_can_keep_apart_or_let_in_do_not_start_one() {
    let server = ApiServer::strict(source::small(), STARTER);
    server.process.terminate();
    server.process.finish().exits(0);
    let (lake, keys) = (server.scratch.path("served"), server.scratch.path("keys.toml"));
    let text = std::fs::read_to_string(&keys).expect("a key file");
    let limits =
        "rows_per_call = 1, max_offset = 1, window_days = 1, per_minute = 0, per_day = 1, per_month = 1";
    let other = format!("\n[[account]]\nname = \"other\"\nplan = \"agency\"\nlimits = {{ {limits} }}\n");
    for (added, says) in [
        ("\n[[account]]\nname = \"acme\"\nplan = \"agency\"\n", "two accounts named \"acme\""),
        (other.as_str(), "account \"other\" has per_minute = 0"),
    ] {
        std::fs::write(&keys, format!("{text}{added}")).expect("a key file");
        Sunlake::serve(&lake, &keys).finish().exits(3).says(says).says("hint:");
    }
}
