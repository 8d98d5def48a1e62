//! What goes wrong around a server, as its operator meets it: a key file that cannot be read, a log that nobody reads.

use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::command::{Running, Sunlake, succeed};
use crate::support::http::Connection;
use crate::support::mcp;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, Plan, STARTER, create_key};
use crate::support::{PATIENCE, bad_disk, http, source, wait_for};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Runs a program as another user where root runs the tests, because root may read and write everything.
pub(crate) const AS_NOBODY: [&str; 4] = [
    "sh",
    "-c",
    "[ $(id -u) -ne 0 ] || exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"; exec \"$@\"",
    "sh",
];

/// A lake and a key file with one key of a plan, for servers to come.
pub(crate) fn prepared(plan: Plan) -> (Scratch, String) {
    let server = ApiServer::strict(source::small(), plan);
    server.process.terminate();
    server.process.finish().exits(0);
    (server.scratch, server.key)
}

/// A server of what was prepared.
pub(crate) fn serve(scratch: &Scratch) -> Sunlake {
    let (lake, keys) = (scratch.path("served"), scratch.path("keys.toml"));
    Sunlake::serve(&lake, &keys).args(["--today", source::small().today])
}

/// The address of a log line that begins with some words.
pub(crate) fn logged_address(process: &Running, words: &str) -> SocketAddr {
    wait_for(words, PATIENCE, || {
        process.said().lines().find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            let fields = &line["fields"];
            fields["message"]
                .as_str()?
                .starts_with(words)
                .then(|| fields["address"].as_str()?.parse().ok())?
        })
    })
}

pub(crate) fn make_pipe(path: &Path) {
    succeed(Command::new("mkfifo").arg(path));
}

/// Gives a file or folder a mode.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
}

/// The status of a request for the account record.
pub(crate) fn status(server: SocketAddr, key: &str) -> u16 {
    Connection::open(server).expect("a connection").get("/v1/me", key).expect("an answer").status
}

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
    let done = server.process.finish().exits(0).says("the key file cannot be used;");
    done.says("the key file can be used again");
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
    make_pipe(&pipe);
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
fn an_error_at_the_end_waits_for_no_reader_of_the_log() {
    let (scratch, first) = prepared(STARTER);
    let second = create_key(&scratch, "second", "starter", &["data"]);
    std::fs::remove_file(scratch.path("served/state/usage.jsonl")).expect("no counts");
    let pipe = scratch.path("pipe");
    make_pipe(&pipe);
    let _unread = File::options().read(true).write(true).open(&pipe).expect("a pipe");
    // Room for the counts of one account, and a log that nobody reads.
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$@\" 2> \"$0\"";
    let mut process =
        serve(&scratch).args(["-v"]).through(&["sh", "-c", script, &pipe.to_string_lossy()]).start();
    let server = process.address().expect("an address");
    assert_eq!([status(server, &first), status(server, &second)], [200, 503]);
    let mut connection = Connection::open(server).expect("a connection");
    // Several times what a pipe holds.
    for _ in 0..1_000 {
        assert_eq!(connection.get("/healthz", "").expect("an answer").status, 200);
    }
    process.terminate();
    process.finish().exits(9);
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
        (
            "\n[[account]]\nname = \"acme\"\nplan = \"agency\"\n",
            "has the account \"acme\" twice, in lines 2 and ",
        ),
        (other.as_str(), "account \"other\" has per_minute = 0"),
    ] {
        std::fs::write(&keys, format!("{text}{added}")).expect("a key file");
        Sunlake::serve(&lake, &keys).finish().exits(3).says(says).says("hint:");
    }
}

#[test]
fn a_slow_disk_delays_neither_other_accounts_nor_pages_without_a_key() {
    let (scratch, busy) = prepared(STARTER);
    let idle = create_key(&scratch, "idle", "starter", &["data"]);
    let library = bad_disk::library().to_string_lossy().into_owned();
    let mut process = serve(&scratch).env("LD_PRELOAD", &library).start();
    let server = process.address().expect("an address");
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..19 {
            scope.spawn(|| assert_eq!(status(server, &busy), 200));
        }
        let watched = Instant::now();
        for _ in 0..10 {
            assert_eq!(http::send(server, "GET", "/healthz", &[]).expect("an answer").status, 200);
        }
        assert!(watched.elapsed() < bad_disk::WRITE, "10 pages took {:?}", watched.elapsed());
        let watched = Instant::now();
        assert_eq!(status(server, &idle), 200);
        assert!(watched.elapsed() < bad_disk::WRITE * 4, "another account took {:?}", watched.elapsed());
    });
    assert!(begun.elapsed() < bad_disk::WRITE * 8, "19 requests took {:?}", begun.elapsed());
    process.kill();
    let mut process = serve(&scratch).start();
    let server = process.address().expect("an address");
    assert_eq!([status(server, &busy), status(server, &busy)], [200, 429], "no request is forgotten");
}

#[test]
fn a_full_disk_refuses_only_accounts_whose_counts_it_cannot_take() {
    let (scratch, first) = prepared(STARTER);
    let second = create_key(&scratch, "second", "starter", &["data"]);
    std::fs::remove_file(scratch.path("served/state/usage.jsonl")).expect("no counts");
    // A block of room, which is one account's.
    let small = ["sh", "-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"];
    let mut process = serve(&scratch).args(TOLD_METRICS).through(&small).start();
    let server = process.address().expect("an address");
    for _ in 0..3 {
        assert_eq!([status(server, &first), status(server, &second)], [200, 503]);
    }
    process.terminate();
    let done = process.finish().exits(9).says("usage.jsonl").says("hint:");
    assert_eq!(done.stderr.matches("request counts cannot be written").count(), 1, "{}", done.shown());
}

#[test]
fn a_snapshot_whose_reading_hangs_delays_neither_a_revocation_nor_the_end() {
    let (scratch, key) = prepared(STARTER);
    let (hung, current) = (scratch.path("hung"), scratch.path("served/current"));
    std::fs::create_dir_all(hung.join("filings")).expect("a folder");
    // To open a pipe that nobody writes takes for ever.
    make_pipe(&hung.join("filings/f.parquet"));
    std::fs::remove_file(&current).and_then(|()| symlink(&hung, &current)).expect("a link");
    let process = serve(&scratch).args(TOLD_METRICS).start();
    let server = logged_address(&process, "the port is open");
    let get = |target| http::send(server, "GET", target, &[]).expect("an answer");
    assert_eq!((get("/healthz").status, get("/readyz").status), (200, 503));
    let loading = Connection::open(server).expect("a connection").get("/v1/me", &key).expect("an answer");
    assert_eq!((loading.status, loading.header("retry-after")), (503, Some("1")), "{}", loading.text());
    assert_eq!(status(server, "flb_wrong"), 401);
    let keys = scratch.path("keys.toml");
    let listed = Sunlake::new(["keys", "list", "--keys", &keys.to_string_lossy()]).finish().exits(0).stdout;
    let id = listed.split_whitespace().next().expect("an id");
    Sunlake::new(["keys", "revoke", id, "--keys", &keys.to_string_lossy()]).finish().exits(0);
    wait_for("the key to be refused", PATIENCE, || (status(server, &key) == 401).then_some(()));
    process.terminate();
    process.finish().exits(0);
}

#[test]
fn a_key_file_whose_reading_hangs_is_reported_and_delays_no_end() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &TOLD_METRICS);
    let metrics = metrics_address(&server);
    let (keys, pipe) = (server.scratch.path("keys.toml"), server.scratch.path("pipe"));
    make_pipe(&pipe);
    std::fs::rename(&pipe, &keys).expect("a pipe in the place of the keys");
    becomes(metrics, "sunlake_key_file_unread", 1.0);
    assert_eq!(server.get("/v1/me").status, 200, "for a minute the keys stay valid");
    server.process.terminate();
    server.process.finish().exits(0).says("timed out");
}

#[test]
fn a_lake_that_cannot_be_written_is_served_and_its_counts_are_kept_where_the_operator_says() {
    let (scratch, key) = prepared(STARTER);
    let (state, counts) = (scratch.path("served/state"), scratch.path("counts"));
    std::fs::create_dir(&counts).expect("a folder");
    for (path, mode) in
        [(scratch.path(""), 0o755), (scratch.path("keys.toml"), 0o644), (counts.clone(), 0o777)]
    {
        set_mode(&path, mode);
    }
    set_mode(&state.join("usage.jsonl"), 0o444);
    set_mode(&state, 0o555);
    let file = counts.join("usage.jsonl").to_string_lossy().into_owned();
    for (flags, warns, spent) in
        [(&[][..], true, 1), (&[], true, 1), (&["--usage", &file], false, 1), (&["--usage", &file], false, 2)]
    {
        let mut process = serve(&scratch).args(flags).through(&AS_NOBODY).start();
        let server = process.address().expect("an address");
        let me = Connection::open(server).expect("a connection").get("/v1/me", &key).expect("an answer");
        assert_eq!(me.json()["remaining"]["day"], 1_000 - spent, "{flags:?}");
        process.terminate();
        let done = process.finish().exits(0);
        assert_eq!(done.stderr.contains("requests are counted in memory"), warns, "{}", done.shown());
    }
    set_mode(&state, 0o755);
}

#[test]
fn a_damaged_line_of_the_counts_is_reported_and_costs_one_account() {
    let (scratch, first) = prepared(STARTER);
    let second = create_key(&scratch, "second", "starter", &["data"]);
    let usage = scratch.path("served/state/usage.jsonl");
    let spend = |says: &str, expected: [i64; 2]| {
        let mut process = serve(&scratch).start();
        let server = process.address().expect("an address");
        let left = [&first, &second].map(|key| {
            let me = Connection::open(server).expect("a connection").get("/v1/me", key).expect("an answer");
            me.json()["remaining"]["day"].as_i64().expect("a number")
        });
        assert_eq!(left, expected);
        process.terminate();
        process.finish().exits(0).says(says);
    };
    spend("", [999, 999]);
    let text = std::fs::read_to_string(&usage).expect("counts");
    std::fs::write(&usage, text.replacen("\"minute\"", "#minute\"", 1)).expect("damaged");
    spend("a line of the usage file is damaged", [999, 998]);
    std::fs::write(&usage, "# Ours.\n").expect("another file");
    serve(&scratch).finish().exits(3).says("is not a usage file").says("hint:");
}
