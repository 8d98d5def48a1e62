//! Several servers that share the request counts of accounts in a Redis.

use crate::operation::{becomes, logged_address, metric, prepared, serve, status};
use crate::service::TOLD_METRICS;
use crate::support::certificate::Authority;
use crate::support::command::{Running, Sunlake};
use crate::support::free_port::free_port;
use crate::support::http::{self, Answer, Connection};
use crate::support::mcp::Era;
use crate::support::redis::Redis;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, Plan, STARTER};
use crate::support::{PATIENCE, source, wait_for};
use hdrhistogram::Histogram;
use serde_json::json;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A target that every key may ask for.
const TARGET: &str = "/v1/fl/entity-types";
/// More than the bound of 250 ms: half of the requests take less, on a machine that does other things too.
const BOUND: Duration = Duration::from_millis(500);
/// All requests take less.
const MOST: Duration = Duration::from_secs(3);

/// Limits that no test reaches.
const GENEROUS: [&str; 2] = ["--plan-override", "per_minute=100000000,per_day=100000000,per_month=100000000"];

/// Servers of one lake and one key file.
struct Fleet {
    redis: Redis,
    scratch: Scratch,
    key: String,
    servers: Vec<(SocketAddr, Running)>,
}

impl Fleet {
    fn start(plan: Plan, servers: usize, flags: &[&str]) -> Self {
        let (scratch, key) = prepared(plan);
        let mut fleet = Self { redis: Redis::start(), scratch, key, servers: Vec::new() };
        for _ in 0..servers {
            let server = fleet.server("127.0.0.1:0", flags);
            fleet.servers.push(server);
        }
        fleet
    }

    fn server(&self, listen: &str, flags: &[&str]) -> (SocketAddr, Running) {
        let url = self.redis.url();
        let (lake, keys) = (self.scratch.path("served"), self.scratch.path("keys.toml"));
        let server = Sunlake::on(&lake, ["serve", "--today", source::small().today, "--listen", listen]);
        let server = server.args(["--keys".as_ref(), keys.as_os_str()]);
        let mut process = server.args(["--usage", &url]).args(flags).start();
        match process.address() {
            Ok(address) => (address, process),
            Err(line) => panic!("the server said {line:?}{}", process.finish().shown()),
        }
    }

    fn address(&self, server: usize) -> SocketAddr {
        self.servers[server].0
    }

    /// Ends a server, and starts it again at its address.
    fn restart(&mut self, server: usize, flags: &[&str]) {
        let (address, process) = self.servers.remove(server);
        process.terminate();
        process.finish().exits(0);
        let started = self.server(&address.to_string(), flags);
        self.servers.insert(server, started);
    }

    fn get(&self, server: usize, target: &str) -> Answer {
        get(self.address(server), target, &self.key).expect("an answer")
    }

    /// Waits until every server can count.
    fn wait(&self) {
        for server in 0..self.servers.len() {
            let is_ready = || (self.get(server, "/readyz").status == 200).then_some(());
            wait_for("the server to count", PATIENCE, is_ready);
        }
    }

    /// Requests of the minute that the account has left, after one more.
    fn left(&self, server: usize) -> u64 {
        self.get(server, "/v1/me").json()["remaining"]["minute"].as_u64().expect("a number")
    }
}

fn get(server: SocketAddr, target: &str, key: &str) -> std::io::Result<Answer> {
    http::send(server, "GET", target, &[("Authorization", &format!("Bearer {key}"))])
}

/// One request over MCP.
fn call(server: SocketAddr, key: &str) -> Answer {
    let (headers, message) =
        Era::Standalone.message("tools/call", json!({ "name": "list_entity_types", "arguments": {} }));
    let authorization = format!("Bearer {key}");
    let mut all = vec![("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
    all.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let body = message.to_string();
    http::exchange(server, "POST", "/mcp", &all, Some(body.as_bytes())).expect("an answer")
}

/// Answers of requests that are sent at once.
fn at_once(requests: usize, send: impl Fn(usize) -> Answer + Sync) -> Vec<(Answer, Duration)> {
    let send = &send;
    std::thread::scope(|scope| {
        let one = |number| {
            scope.spawn(move || {
                let sent = Instant::now();
                (send(number), sent.elapsed())
            })
        };
        let all: Vec<_> = (0..requests).map(one).collect();
        all.into_iter().map(|one| one.join().expect("a client")).collect()
    })
}

#[test]
fn an_account_has_one_limit_over_three_servers_rest_and_mcp() {
    let fleet = Fleet::start(STARTER, 3, &[]);
    let ask = || {
        at_once(64, |number| match number % 2 {
            0 => fleet.get(number % 3, TARGET),
            _ => call(fleet.address(number % 3), &fleet.key),
        })
    };
    // On a machine that does much else, a request may wait too long for Redis. Then the account begins again.
    let answers = wait_for("a time without a 503", PATIENCE, || {
        let answers = ask();
        let admitted = answers.iter().filter(|(answer, _)| answer.status == 200).count();
        assert!(admitted <= 20, "{admitted}");
        if answers.iter().all(|(answer, _)| answer.status != 503) {
            return Some(answers);
        }
        fleet.wait();
        fleet.redis.ask("DEL sunlake:usage:{acme}");
        None
    });
    let mut statuses = BTreeMap::new();
    for (answer, _) in &answers {
        *statuses.entry(answer.status).or_insert(0) += 1;
        if answer.status == 429 {
            let wait: u64 = answer.header("retry-after").expect("a wait").parse().expect("seconds");
            assert!((1..=60).contains(&wait), "{wait}");
            assert!(answer.header("ratelimit").is_some_and(|left| left.contains("\"minute\";r=0")));
        }
    }
    assert_eq!(statuses, BTreeMap::from([(200, 20), (429, 44)]));
    assert_eq!((fleet.redis.count("acme", "minute"), fleet.redis.count("acme", "month")), (20, 20));
    let mut left: Vec<u64> = answers
        .iter()
        .filter(|(answer, _)| answer.status == 200)
        .map(|(answer, _)| {
            let left = answer.header("ratelimit").expect("what is left");
            left.trim_start_matches("\"minute\";r=").split(',').next().and_then(|text| text.parse().ok())
        })
        .map(|left| left.expect("a number"))
        .collect();
    left.sort_unstable();
    assert_eq!(left, (0..20).collect::<Vec<_>>(), "each answer has what was left after its own request");
}

#[test]
fn every_answer_to_a_key_names_its_snapshot() {
    let fleet = Fleet::start(AGENCY, 1, &[]);
    let served = fleet.scratch.path("served/current").canonicalize().expect("a snapshot");
    let number = served.file_name().and_then(|name| name.to_str()).expect("a number").to_owned();
    let number = number.trim_start_matches('0');
    for target in
        ["/v1/fl/businesses?filed_from=2026-03-07", "/v1/me", "/v1/fl/businesses", "/v1/fl/counties/NONE"]
    {
        assert_eq!(fleet.get(0, target).header("sunlake-snapshot"), Some(number), "{target}");
    }
    assert_eq!(call(fleet.address(0), &fleet.key).header("sunlake-snapshot"), Some(number));
    let open = http::send(fleet.address(0), "GET", TARGET, &[]).expect("an answer");
    assert_eq!((open.status, open.header("sunlake-snapshot")), (401, None));
}

#[test]
fn counts_survive_a_restart_of_a_server_and_of_redis() {
    let mut fleet = Fleet::start(AGENCY, 2, &[]);
    assert_eq!((fleet.left(0), fleet.left(1)), (59, 58));
    fleet.restart(0, &[]);
    assert_eq!((fleet.left(0), fleet.left(1)), (57, 56));
    fleet.redis.stop();
    fleet.redis.run();
    assert!(fleet.redis.is_up());
    fleet.wait();
    // A request of each that met the lost connection was not counted.
    let before = fleet.redis.count("acme", "month");
    assert_eq!(before, 4);
    for server in [0, 1] {
        wait_for("an answer", PATIENCE, || (fleet.get(server, TARGET).status == 200).then_some(()));
    }
    assert_eq!(fleet.redis.count("acme", "month"), 6);
    let scratch = &fleet.scratch;
    let (keys, lake) = (scratch.path("keys.toml"), scratch.path("served"));
    let list = Sunlake::on(&lake, ["keys", "list", "--usage", &fleet.redis.url()]);
    list.args(["--keys".as_ref(), keys.as_os_str()]).finish().exits(0).says_on_stdout("active  last used 2");
}

#[test]
fn without_redis_requests_get_503_at_once_and_with_it_again_200() {
    let mut fleet = Fleet::start(AGENCY, 1, &TOLD_METRICS);
    let metrics = logged_address(&fleet.servers[0].1, "metrics are served");
    assert_eq!(fleet.get(0, TARGET).status, 200);
    assert_eq!(metric(metrics, "sunlake_usage_store_unusable"), 0.0);
    fleet.redis.stop();
    for _ in 0..20 {
        let sent = Instant::now();
        let refused = fleet.get(0, TARGET);
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{}", refused.text());
        assert!(sent.elapsed() < MOST, "{:?}", sent.elapsed());
        assert_eq!(
            refused.json()["message"],
            "key checking is briefly unavailable: requests cannot be counted"
        );
        assert_eq!(refused.header("ratelimit"), None);
    }
    assert_eq!(call(fleet.address(0), &fleet.key).status, 503);
    let ready = fleet.get(0, "/readyz");
    assert_eq!(
        (ready.status, &ready.json()["status"]),
        (503, &"key checking is briefly unavailable: requests cannot be counted".into())
    );
    assert_eq!(metric(metrics, "sunlake_usage_store_unusable"), 1.0);
    assert!(metric(metrics, "sunlake_usage_write_failures_total") >= 21.0);
    fleet.redis.run();
    becomes(metrics, "sunlake_usage_store_unusable", 0.0);
    assert_eq!((fleet.get(0, "/readyz").status, fleet.get(0, TARGET).status), (200, 200));
    let said = fleet.servers[0].1.said();
    let warnings = said.matches("the store of the request counts cannot be used; requests get 503").count();
    assert_eq!(warnings, 1, "{said}");
    assert!(said.contains("the store of the request counts can be used"), "{said}");
}

#[test]
fn a_redis_that_hangs_costs_a_request_a_bounded_time_and_nothing_counts_twice() {
    let fleet = Fleet::start(AGENCY, 2, &GENEROUS);
    let sent = AtomicUsize::new(0);
    let send = |number: usize| {
        sent.fetch_add(1, Ordering::Relaxed);
        fleet.get(number % 2, TARGET)
    };
    let mut admitted = 0;
    for _ in 0..3 {
        assert_eq!((send(0).status, send(1).status), (200, 200));
        admitted += 2;
        fleet.redis.pause();
        // The first find a connection, the others none.
        for _ in 0..2 {
            let answers = at_once(50, send);
            assert!(answers.iter().all(|(answer, _)| answer.status == 503));
            let mut took: Vec<Duration> = answers.iter().map(|(_, took)| *took).collect();
            took.sort_unstable();
            assert!(took[25] < BOUND && took[49] < MOST, "{took:?}");
        }
        fleet.redis.resume();
        fleet.wait();
    }
    let counted = fleet.redis.count("acme", "month");
    let sent = sent.load(Ordering::Relaxed) as u64;
    assert!((admitted..=sent).contains(&counted), "{admitted} <= {counted} <= {sent}");
}

#[test]
fn a_server_starts_without_its_redis_and_is_ready_when_it_comes() {
    let (scratch, key) = prepared(AGENCY);
    let mut redis = Redis::start();
    redis.stop();
    let mut process = serve(&scratch).args(["--usage", &redis.url()]).start();
    let address = process.address().expect("an address");
    assert_eq!(status(address, &key), 503);
    let ready = http::send(address, "GET", "/readyz", &[]).expect("an answer");
    assert_eq!(
        (ready.status, &ready.json()["status"]),
        (503, &"key checking is briefly unavailable: requests cannot be counted".into())
    );
    assert!(process.said().contains("the store of the request counts cannot be used"), "{}", process.said());
    redis.run();
    wait_for("the server to be ready", PATIENCE, || (status(address, &key) == 200).then_some(()));
    process.terminate();
    process.finish().exits(0);
}

const PASSWORD: &str = "Open5esame";

#[test]
fn a_password_opens_the_store_and_is_shown_nowhere() {
    let (scratch, key) = prepared(AGENCY);
    // A user with the rights that the guide names, and no others.
    let rights = "+eval +evalsha +script|load +time +select +hmget +hset +hlen +hgetall +hdel +pexpire";
    let user = format!("--user ann on >{PASSWORD} ~sunlake:usage:* -@all {rights}");
    let flags: Vec<&str> = ["--requirepass", PASSWORD].into_iter().chain(user.split(' ')).collect();
    let redis = Redis::with(&flags);
    let file = scratch.file("password", &format!("{PASSWORD}\n")).to_string_lossy().into_owned();
    let with = |variables: &[(&str, &str)]| {
        let server = serve(&scratch).args(["--usage", &redis.url(), "-vv"]).args(TOLD_METRICS);
        variables.iter().fold(server, |server, (name, value)| server.env(name, value))
    };
    for right in [
        &[("SUNLAKE_USAGE_PASSWORD", PASSWORD)][..],
        &[("SUNLAKE_USAGE_PASSWORD_FILE", &file)],
        &[("SUNLAKE_USAGE_USER", "ann"), ("SUNLAKE_USAGE_PASSWORD", PASSWORD)],
    ] {
        let mut process = with(right).env("RUST_LOG", "trace").start();
        let address = process.address().expect("an address");
        let metrics = logged_address(&process, "metrics are served");
        assert_eq!(status(address, &key), 200, "{right:?}");
        let page = http::send(metrics, "GET", "/metrics", &[]).expect("the page").text();
        process.terminate();
        let done = process.finish().exits(0);
        assert!(!done.stderr.contains(PASSWORD) && !page.contains(PASSWORD), "{}", done.stderr);
    }
    for (wrong, says) in [
        (&[("SUNLAKE_USAGE_PASSWORD", "Wr0ng")][..], "it refuses the user or the password"),
        (&[("SUNLAKE_USAGE_USER", "bob"), ("SUNLAKE_USAGE_PASSWORD", "Wr0ng")], "it refuses the user"),
        (&[], "it wants a password"),
        (&[("SUNLAKE_USAGE_USER", "ann")], "SUNLAKE_USAGE_USER is set, and there is no password"),
        (&[("SUNLAKE_USAGE_PASSWORD_FILE", "/nonexistent")], "cannot read SUNLAKE_USAGE_PASSWORD_FILE"),
    ] {
        let done = with(wrong).finish().exits(3).says(says).says("hint:");
        assert!(!done.stderr.contains("Wr0ng"), "{}", done.stderr);
    }
}

#[test]
fn an_address_with_a_password_or_an_unknown_scheme_is_refused_and_not_repeated() {
    let (scratch, _) = prepared(AGENCY);
    for (address, says) in [
        ("redis://ann:Op3n@127.0.0.1:6379/0", "SUNLAKE_USAGE_PASSWORD_FILE"),
        ("redis://:Op3n@127.0.0.1", "SUNLAKE_USAGE_PASSWORD"),
        ("memcached://127.0.0.1/Op3n", "neither redis:// nor rediss://"),
        ("redis+unix:/run/Op3n", "neither redis:// nor rediss://"),
        ("redis://127.0.0.1/0?password=Op3n", "redis://HOST:PORT/DB"),
    ] {
        let within = scratch.path("work");
        std::fs::create_dir_all(&within).expect("a folder");
        for server in [
            serve(&scratch).args(["--usage", address]),
            serve(&scratch).env("SUNLAKE_USAGE", address),
            Sunlake::on(&scratch.path("served"), ["keys", "list", "--usage", address])
                .args(["--keys".as_ref(), scratch.path("keys.toml").as_os_str()]),
        ] {
            let done = server.within(&within).finish().exits(3).says(says).says("hint:");
            assert!(!done.stderr.contains("Op3n"), "{}", done.stderr);
        }
        assert_eq!(std::fs::read_dir(&within).expect("a folder").count(), 0, "{address} makes no file");
    }
}

#[test]
fn a_wrong_address_is_refused_where_something_else_answers() {
    let (scratch, _) = prepared(AGENCY);
    let redis = Redis::start();
    let refused = |usage: &str, says: &str| {
        serve(&scratch).args(["--usage", usage]).finish().exits(3).says(says).says("hint:");
    };
    refused(&format!("redis://127.0.0.1:{}/99", redis.port), "DB index is out of range");
    let server = serve(&scratch).start();
    let (address, _server) = {
        let mut server = server;
        (server.address().expect("an address"), server)
    };
    refused(&format!("redis://{address}"), "does not speak the protocol of Redis");
}

#[test]
fn tls_checks_the_certificate_of_the_store() {
    let (scratch, key) = prepared(AGENCY);
    let authority = Authority::make(&scratch, "authority");
    let certificate = authority.sign(&scratch, "counts", "IP:127.0.0.1", 2);
    let port = free_port();
    let shown = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let (cert, private, trusted) =
        (shown(&certificate.cert), shown(&certificate.key), shown(&authority.file));
    let _redis = Redis::with(&[
        "--tls-port",
        &port.to_string(),
        "--tls-cert-file",
        &cert,
        "--tls-key-file",
        &private,
        "--tls-ca-cert-file",
        &trusted,
        "--tls-auth-clients",
        "no",
    ]);
    let at = |port: u16| serve(&scratch).args(["--usage", &format!("rediss://127.0.0.1:{port}/0")]);
    let mut process = at(port).env("SSL_CERT_FILE", &trusted).start();
    assert_eq!(status(process.address().expect("an address"), &key), 200);
    process.terminate();
    process.finish().exits(0);
    at(port).finish().exits(3).says("invalid peer certificate").says("hint:");
}

/// Sends requests until stopped, each to the next server where the one before refused the connection, closed it before an answer, or said
/// 503, as the proxy of the recipe does. Returns the answers by status; 0 is a request that no server answered.
fn behind_a_proxy(servers: &[SocketAddr], key: &str, stop: &AtomicBool) -> BTreeMap<u16, u64> {
    let mut answers = BTreeMap::new();
    let mut kept: Vec<Option<Connection>> = servers.iter().map(|_| None).collect();
    let mut turn = 0;
    while !stop.load(Ordering::Relaxed) {
        let answered = (0..servers.len()).find_map(|_| {
            turn = (turn + 1) % servers.len();
            let mut connection = kept[turn].take().or_else(|| Connection::open(servers[turn]).ok())?;
            let answer = connection.get(TARGET, key).ok()?;
            let stays = answer.header("connection") != Some("close");
            kept[turn] = stays.then_some(connection);
            // It loads its data.
            (answer.status != 503).then_some(answer.status)
        });
        *answers.entry(answered.unwrap_or(0)).or_insert(0) += 1;
    }
    answers
}

#[test]
fn rolling_restarts_under_load_fail_no_request() {
    let rounds = std::env::var("SUNLAKE_ROLLING_ROUNDS").map_or(1, |text| text.parse().expect("a number"));
    let mut fleet = Fleet::start(AGENCY, 3, &GENEROUS);
    let servers: Vec<SocketAddr> = (0..3).map(|server| fleet.address(server)).collect();
    let (stop, all, key) = (AtomicBool::new(false), Mutex::new(BTreeMap::new()), fleet.key.clone());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for (status, count) in behind_a_proxy(&servers, &key, &stop) {
                    *all.lock().expect("answers").entry(status).or_insert(0) += count;
                }
            });
        }
        for server in (0..rounds).flat_map(|_| 0..3) {
            // Its address is printed when it is ready.
            fleet.restart(server, &GENEROUS);
        }
        stop.store(true, Ordering::Relaxed);
    });
    let answers = all.into_inner().expect("answers");
    println!("{rounds} rounds: {answers:?}");
    assert_eq!(answers.keys().collect::<Vec<_>>(), [&200], "{answers:?}");
    assert!(answers[&200] > 100, "{answers:?}");
    assert!(fleet.redis.count("acme", "month") >= answers[&200]);
}

/// The figures of the guide: `cargo test --test it -- --ignored --nocapture shared_counts::the_cost_of_a_count`.
#[test]
#[ignore = "measures"]
fn the_cost_of_a_count_in_redis_and_in_a_file() {
    let flags = ["--plan-override", "per_minute=99,per_day=100000000,per_month=100000000"];
    let fleet = Fleet::start(AGENCY, 0, &[]);
    let url = fleet.redis.url();
    for (name, more) in [
        ("file, each request", &flags[..]),
        ("file, written ahead", &GENEROUS[..]),
        ("redis", &[&GENEROUS[..], &["--usage", &url]].concat()[..]),
    ] {
        let mut process = serve(&fleet.scratch).args(more).start();
        let mut connection = Connection::open(process.address().expect("an address")).expect("a connection");
        let mut micros = Histogram::<u64>::new(3).expect("a histogram");
        // 99 a minute of the file's own counts are the most that it writes one by one.
        let requests = if name.ends_with("each request") { 90 } else { 5_000 };
        for number in 0..requests {
            let sent = Instant::now();
            assert_eq!(connection.get(TARGET, &fleet.key).expect("an answer").status, 200);
            if number >= 10 {
                micros.record(u64::try_from(sent.elapsed().as_micros()).expect("small")).expect("in range");
            }
        }
        let [p50, p99] = [0.5, 0.99].map(|quantile| micros.value_at_quantile(quantile));
        println!("{name}: {requests} requests, p50 {p50} µs, p99 {p99} µs");
        process.terminate();
        process.finish().exits(0);
    }
}
