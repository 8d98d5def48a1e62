//! The server as an operator meets it: limits under many clients at once, restarts, slow and broken clients, its end, new
//! snapshots, codings, metrics.

use crate::support::command::Sunlake;
use crate::support::http::{self, Connection};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, ENTERPRISE, STARTER, create_key};
use crate::support::{PATIENCE, lake, source, wait_for};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LISTING: &str = "/v1/fl/businesses?filed_from=2026-03-07&limit=100";

/// Answers by status that clients side by side get, each on a connection of its own, until `next` gives no more.
fn side_by_side(
    server: SocketAddr,
    key: &str,
    clients: usize,
    next: impl Fn() -> Option<&'static str> + Sync,
) -> BTreeMap<u16, u64> {
    let counts = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut connection = Connection::open(server).expect("a connection");
                while let Some(target) = next() {
                    let answer = connection.get(target, key).expect("an answer");
                    *counts.lock().expect("counts").entry(answer.status).or_default() += 1;
                }
            });
        }
    });
    counts.into_inner().expect("counts")
}

/// The same target, this number of times.
fn times(count: u64) -> impl Fn() -> Option<&'static str> + Sync {
    let given = AtomicU64::new(0);
    move || (given.fetch_add(1, Ordering::Relaxed) < count).then_some("/v1/fl/entity-types")
}

#[test]
fn no_window_of_an_account_is_exceeded_or_closed_early_by_64_clients_at_once() {
    for (limits, allowed) in [
        ("per_minute=500,per_day=100000,per_month=100000", 500),
        ("per_minute=100000,per_day=700,per_month=100000", 700),
        ("per_minute=100000,per_day=100000,per_month=900", 900),
    ] {
        let server = ApiServer::with_flags(source::small(), STARTER, &["--plan-override", limits]);
        let counts = side_by_side(server.address, &server.key, 64, times(1_500));
        assert_eq!(counts, BTreeMap::from([(200, allowed), (429, 1_500 - allowed)]), "{limits}");
    }
}

#[test]
fn neither_a_restart_nor_a_kill_forgives_a_request() {
    let source = source::small();
    let mut server = ApiServer::with_flags(source, AGENCY, &[]);
    let mut spent = 0;
    for is_killed in [true, false, true] {
        let counts = side_by_side(server.address, &server.key, 8, times(13));
        assert_eq!(counts, BTreeMap::from([(200, 13)]));
        spent += 13;
        // At once: nothing gives the server time to write anything down.
        server = server.again(source.today, |process| match is_killed {
            true => process.kill(),
            false => {
                process.terminate();
                process.finish().exits(0);
            }
        });
        spent += 1;
        let left = server.get("/v1/me").json()["remaining"].clone();
        assert_eq!((&left["minute"], &left["day"]), (&(60 - spent).into(), &(5_000 - spent).into()));
    }
}

#[test]
fn one_server_at_a_time_counts_in_a_lake() {
    let server = ApiServer::strict(source::small(), STARTER);
    let (lake, keys) = (server.scratch.path("served"), server.scratch.path("keys.toml"));
    Sunlake::serve(&lake, &keys).finish().says("another server counts its requests").exits(3);
}

#[test]
fn disk_failure_of_serve_and_keys_exits_with_9() {
    let scratch = Scratch::new();
    let (lake, keys) = (scratch.path("served"), scratch.path("keys.toml"));
    create_key(&scratch, "acme", "starter", &["data"]);
    let snapshot = source::small().lake.join("current").canonicalize().expect("a snapshot");
    // A folder in the place of a file fails like a full disk, for root too.
    std::fs::create_dir_all(lake.join("state/usage.jsonl")).expect("a folder");
    std::os::unix::fs::symlink(snapshot, lake.join("current")).expect("a link");
    Sunlake::serve(&lake, &keys).finish().exits(9).says("usage.jsonl");
    let lock = scratch.path("keys.toml.lock");
    std::fs::remove_file(&lock).and_then(|()| std::fs::create_dir(&lock)).expect("a folder");
    Sunlake::new(["keys", "create", "--account", "acme", "--plan", "starter", "--keys"])
        .args([keys.as_os_str()])
        .finish()
        .exits(9)
        .says("keys.toml.lock");
}

#[test]
fn what_is_no_http_gets_the_error_body_and_its_connection_is_closed() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let long = "x".repeat(400_000);
    for (sent, status) in [
        ("\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}\r\n\r\n".to_owned(), 400),
        ("GET\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/9.9\r\n\r\n".to_owned(), 400),
        ("GET / HTTP/1.1\r\nno colon here\r\n\r\n".to_owned(), 400),
        (format!("GET / HTTP/1.1\r\nHost: {long}\r\n\r\n"), 431),
        ("POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n".to_owned(), 400),
        ("POST /v1/me HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned(), 400),
    ] {
        let shown: String = sent.chars().take(40).collect();
        let mut connection = Connection::open(server.address).expect("a connection");
        connection.write(sent.as_bytes()).expect("sent");
        let answer = connection.answer().unwrap_or_else(|error| panic!("{shown:?}: {error}"));
        assert_eq!(answer.status, status, "{shown:?}: {}", answer.text());
        let body = answer.json();
        assert_eq!(body["statusCode"], status, "{shown:?}");
        assert!(body["docs_url"].as_str().is_some_and(|url| url.ends_with("/docs.md")), "{shown:?}");
        assert_eq!(connection.rest().expect("the end"), b"", "{shown:?}");
    }
}

#[test]
fn a_body_is_64_kib_at_most_and_the_next_request_is_answered() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let post = |length: usize| {
        let mut connection = Connection::open(server.address).expect("a connection");
        let head = format!("POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        connection.write(head.as_bytes()).expect("the head");
        connection.write(&vec![b'x'; length]).expect("the body");
        (connection.answer().expect("an answer"), connection)
    };
    let (allowed, mut connection) = post(64 * 1024);
    assert_eq!(allowed.status, 405, "{}", allowed.text());
    assert_eq!(connection.get("/v1/me", &server.key).expect("an answer").status, 200);
    for length in [64 * 1024 + 1, 1_000_000] {
        let (refused, mut connection) = post(length);
        assert_eq!((refused.status, &refused.json()["statusCode"]), (413, &413.into()), "{length}");
        assert_eq!(connection.rest().expect("the end"), b"", "{length}");
    }
}

/// Clients that send the half of a head, of a body, or nothing, and then wait.
#[test]
fn a_thousand_half_open_connections_disturb_nobody_and_are_closed_within_15_seconds() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let mut quick = Connection::open(server.address).expect("a connection");
    for _ in 0..50 {
        quick.get(LISTING, &server.key).expect("an answer");
    }
    let before = server.memory();
    let begun = Instant::now();
    let halves = [
        &b""[..],
        b"GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthor",
        b"POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf",
    ];
    let open: Vec<Connection> = (0..1_000)
        .map(|number| {
            let mut connection = Connection::open(server.address).expect("a connection");
            connection.write(halves[number % halves.len()]).expect("a half");
            connection
        })
        .collect();
    let mut slowest = Duration::ZERO;
    for _ in 0..100 {
        let sent = Instant::now();
        assert_eq!(quick.get(LISTING, &server.key).expect("an answer").status, 200);
        slowest = slowest.max(sent.elapsed());
    }
    assert!(slowest < Duration::from_secs(2), "an answer among half-open connections took {slowest:?}");
    for (number, mut connection) in open.into_iter().enumerate() {
        let rest = connection.rest().expect("the end of the connection");
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"), "{number}: {rest:?}");
    }
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(15), "the last half-open connection was closed after {took:?}");
    let used = server.memory().saturating_sub(before);
    assert!(used < 32 * 1024 * 1024, "{used} bytes are still in use");
}

#[test]
fn one_connection_too_many_is_asked_to_retry_later() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &["--max-connections", "4"]);
    let mut used: Vec<Connection> =
        (0..4).map(|_| Connection::open(server.address).expect("a connection")).collect();
    for connection in &mut used {
        assert_eq!(connection.get("/v1/fl/stats", &server.key).expect("an answer").status, 200);
    }
    let refused = Connection::open(server.address).and_then(|mut one| one.get("/v1/me", &server.key));
    let refused = refused.expect("an answer");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert_eq!(refused.json()["statusCode"], 503);
    assert_eq!(used[0].get("/v1/fl/stats", &server.key).expect("an answer").status, 200);
    used.pop();
    wait_for("a place", PATIENCE, || {
        let answer = http::send(server.address, "GET", "/healthz", &[]).ok()?;
        (answer.status == 200).then_some(())
    });
}

/// What became of the requests of a client.
#[derive(Debug, Default)]
struct Asked {
    answers: Vec<u16>,
    /// Requests without an answer on a connection that had answered before and had not said that it would close.
    lost: Vec<String>,
    /// First requests of connections that nobody may have accepted.
    unheard: Vec<String>,
}

/// Sends one request after another until stopped, and reconnects where the server says that it closes.
fn keep_asking(server: SocketAddr, key: &str, stop: &AtomicBool) -> Asked {
    let mut asked = Asked::default();
    // When nobody listens any more, it is over.
    while let (false, Ok(mut connection)) = (stop.load(Ordering::Relaxed), Connection::open(server)) {
        let mut is_first = true;
        while !stop.load(Ordering::Relaxed) {
            match connection.get(LISTING, key) {
                Ok(answer) => {
                    asked.answers.push(answer.status);
                    if answer.header("connection") == Some("close") {
                        break;
                    }
                }
                Err(error) => {
                    let into = if is_first { &mut asked.unheard } else { &mut asked.lost };
                    into.push(error.to_string());
                    break;
                }
            }
            is_first = false;
        }
    }
    asked
}

#[test]
fn the_end_under_load_loses_no_accepted_request() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let (address, key) = (server.address, server.key.clone());
    let stop = AtomicBool::new(false);
    let asked = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..16).map(|_| scope.spawn(|| keep_asking(address, &key, &stop))).collect();
        for _ in 0..200 {
            http::send(address, "GET", "/healthz", &[]).expect("an answer");
        }
        server.process.terminate();
        let done = server.process.finish().exits(0);
        assert!(done.stderr.is_empty(), "{}", done.shown());
        stop.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().expect("a client")).collect::<Vec<_>>()
    });
    let answers = asked.iter().flat_map(|asked| &asked.answers).collect::<Vec<_>>();
    assert!(answers.len() > 100, "only {} answers", answers.len());
    assert!(answers.iter().all(|status| **status == 200), "{asked:?}");
    let lost: Vec<&String> = asked.iter().flat_map(|asked| &asked.lost).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn a_new_snapshot_under_load_drops_no_request_and_is_served_soon() {
    let source = source::history();
    let server = ApiServer::generous(source, ENTERPRISE);
    let snapshots = source.lake.join("snapshots");
    let numbers: Vec<String> = lake::names(&snapshots).into_iter().collect();
    assert!(numbers.len() >= 2, "{numbers:?}");
    let link = server.scratch.path("served").join("current");
    let total = || server.get("/v1/fl/stats").json()["data"]["businesses_total"].as_u64().expect("a total");
    let stop = AtomicBool::new(false);
    let newest = total();
    let asked = std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..4).map(|_| scope.spawn(|| keep_asking(server.address, &server.key, &stop))).collect();
        for number in [&numbers[0], &numbers[numbers.len() - 1]] {
            let before = total();
            lake::point(&link, &snapshots.join(number));
            wait_for("the other snapshot", PATIENCE, || (total() != before).then_some(()));
        }
        stop.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().expect("a client")).collect::<Vec<_>>()
    });
    assert_eq!(total(), newest);
    for client in asked {
        assert!(client.lost.is_empty() && client.unheard.is_empty(), "{client:?}");
        assert!(
            !client.answers.is_empty() && client.answers.iter().all(|status| *status == 200),
            "{client:?}"
        );
    }
}

#[test]
fn compressed_bodies_equal_the_plain_ones_and_a_cached_answer_is_not_sent_again() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let authorization = format!("Bearer {}", server.key);
    let ask = |name: &'static str, value: &str| {
        server.send("GET", LISTING, &[("Authorization", &authorization), (name, value)])
    };
    let plain = ask("Accept-Encoding", "identity");
    assert_eq!(plain.header("content-encoding"), None);
    let gzip = ask("Accept-Encoding", "gzip");
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&gzip.body[..]).read_to_end(&mut unpacked).expect("gzip");
    assert_eq!((gzip.header("content-encoding"), &unpacked), (Some("gzip"), &plain.body));
    let zstd = ask("Accept-Encoding", "gzip, zstd");
    let unpacked = zstd::decode_all(&zstd.body[..]).expect("zstd");
    assert_eq!((zstd.header("content-encoding"), &unpacked), (Some("zstd"), &plain.body));
    assert!(gzip.body.len() * 4 < plain.body.len() && zstd.body.len() * 4 < plain.body.len());

    let spent = || 1_000_000 - server.get("/v1/me").json()["remaining"]["minute"].as_u64().expect("a number");
    let tag = plain.header("etag").expect("a tag").to_owned();
    assert_eq!(zstd.header("etag"), Some(tag.as_str()));
    let before = spent();
    let used = ask("If-None-Match", &tag);
    assert_eq!((used.status, used.body.len(), used.header("etag")), (304, 0, Some(tag.as_str())));
    assert_eq!(spent(), before + 2, "a 304 is counted");
    let another = server.send(
        "GET",
        "/v1/fl/businesses?filed_from=2026-03-08",
        &[("Authorization", &authorization), ("If-None-Match", &tag)],
    );
    assert_eq!(another.status, 200);
    let nobody = server.send("GET", LISTING, &[("If-None-Match", &tag)]);
    assert_eq!(nobody.status, 401, "a tag opens nothing");
}

/// A page of metrics on the port that the log names.
pub(crate) const TOLD_METRICS: [&str; 5] = ["--metrics", "127.0.0.1:0", "-v", "--log-format", "json"];

pub(crate) fn metrics_address(server: &ApiServer) -> SocketAddr {
    wait_for("the address of the metrics", PATIENCE, || {
        server.process.said().lines().find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            line["fields"]["address"].as_str()?.parse().ok()
        })
    })
}

#[test]
fn metrics_and_log_show_the_work_but_no_key_and_no_query() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &TOLD_METRICS);
    let id = server.send(
        "GET",
        "/v1/fl/businesses?q=secretive",
        &[("Authorization", &format!("Bearer {}", server.key)), ("X-Request-Id", "asked-1")],
    );
    assert_eq!((id.status, id.header("x-request-id")), (200, Some("asked-1")));
    server.send("GET", &format!("/v1/{}", server.key), &[("X-Request-Id", &server.key)]);
    server.send("GET", "/v1/me", &[("Authorization", "Bearer wrong")]);
    let key = server.key.clone();
    server.process.terminate();
    let done = server.process.finish().exits(0);
    assert!(!done.stderr.contains(&key[4..]) && !done.stderr.contains("secretive"), "{}", done.shown());
    let lines: Vec<Value> =
        done.stderr.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    let reported =
        lines.iter().find(|line| line["fields"]["request"] == "asked-1").expect("a line of the request");
    let fields = &reported["fields"];
    assert_eq!(
        (&fields["route"], &fields["status"], &fields["account"], &fields["method"]),
        (&"/v1/fl/businesses".into(), &200.into(), &"acme".into(), &"GET".into())
    );
    assert!(lines.iter().any(|line| line["fields"]["address"].is_string()), "where the metrics are");
}

#[test]
fn the_page_of_metrics_counts_routes_and_statuses() {
    let server = ApiServer::with_flags(source::small(), STARTER, &TOLD_METRICS);
    let metrics = metrics_address(&server);
    for _ in 0..25 {
        server.get("/v1/fl/stats");
    }
    let page = http::send(metrics, "GET", "/metrics", &[]).expect("the page");
    let text = page.text();
    let value = |line: &str| {
        let found = text.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
        found.and_then(|text| text.parse::<f64>().ok()).unwrap_or_else(|| panic!("{line} in\n{text}"))
    };
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("application/openmetrics-text")));
    assert_eq!(value("sunlake_requests_total{route=\"/v1/fl/stats\",status=\"200\"}"), 20.0);
    assert_eq!(value("sunlake_requests_total{route=\"/v1/fl/stats\",status=\"429\"}"), 5.0);
    assert_eq!(value("sunlake_over_limit_total"), 5.0);
    assert_eq!(value("sunlake_request_seconds_count{route=\"/v1/fl/stats\"}"), 25.0);
    let rows = lake::filings(&source::small().lake).len();
    assert_eq!(value("sunlake_index_rows"), rows as f64);
    assert!(value("sunlake_index_bytes") > rows as f64 * 50.0);
    assert!(!text.contains("acme") && !text.contains(&server.key));
    assert_eq!(http::send(metrics, "GET", "/v1/me", &[]).expect("an answer").status, 404);
    assert_eq!(http::send(server.address, "GET", "/metrics", &[]).expect("an answer").status, 404);
}
