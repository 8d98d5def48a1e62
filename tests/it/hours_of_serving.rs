//! A server in use for long keeps its memory and its descriptors: requests, tools, new snapshots and new keys come and go.

use crate::operation::becomes;
use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::command::Sunlake;
use crate::support::http::{Answer, Connection};
use crate::support::mcp::{Era, ToolCall};
use crate::support::server::{AGENCY, ApiServer, create_key};
use crate::support::{PATIENCE, source, wait_for};
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What clients ask, over HTTP and as calls of tools.
const TARGETS: [&str; 10] = [
    "/v1/fl/businesses?q=sun&limit=20",
    "/v1/fl/businesses?city=Tampa&type=llc&limit=100",
    "/v1/fl/businesses?q=in&county=ORANGE&offset=200&limit=5",
    "/v1/fl/filings/daily?days=30",
    "/v1/fl/filings/daily/2026-01-08?limit=50",
    "/v1/fl/counties",
    "/v1/fl/counties/ORANGE",
    "/v1/fl/stats",
    "/v1/fl/industries",
    "/v1/fl/entity-types",
];

/// Clients that ask one request after another.
const CLIENTS: usize = 4;

/// Requests of a connection before its client opens another one.
const OF_CONNECTION: usize = 50;

/// A server whose lake has one snapshot after another.
struct Served {
    server: ApiServer,
    metrics: SocketAddr,
    snapshots: Vec<PathBuf>,
}

impl Served {
    fn start() -> Self {
        let room = ["--plan-override", "per_minute=100000000,per_day=100000000,per_month=100000000"];
        let flags: Vec<&str> = TOLD_METRICS.into_iter().chain(room).collect();
        let server = ApiServer::with_flags(source::moving(), AGENCY, &flags);
        let metrics = metrics_address(&server);
        let folder = source::moving().lake.join("snapshots");
        let mut snapshots: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect("snapshots")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        snapshots.sort();
        assert!(snapshots.len() >= 4, "{snapshots:?}");
        Self { server, metrics, snapshots }
    }

    /// Has the server load the next snapshot.
    fn load(&self, round: usize) {
        let index = round % self.snapshots.len();
        let [current, next] = ["served/current", "served/next"].map(|name| self.server.scratch.path(name));
        symlink(&self.snapshots[index], &next)
            .and_then(|()| std::fs::rename(&next, &current))
            .expect("a link");
        becomes(self.metrics, "sunlake_snapshot", (index + 1) as f64);
    }

    /// Makes a key, uses it, and revokes it.
    fn change_keys(&self, round: usize) {
        let account = format!("guest-{round}");
        let key = create_key(&self.server.scratch, &account, "starter", &["data"]);
        let is = |status: u16| {
            wait_for("the key file to be read", PATIENCE, || {
                (self.server.get_with("/v1/me", &key).status == status).then_some(())
            });
        };
        is(200);
        let keys = self.server.scratch.path("keys.toml");
        let of_file = |arguments: &[&str]| {
            Sunlake::new(arguments).args(["--keys".as_ref(), keys.as_os_str()]).finish().exits(0)
        };
        let listed = of_file(&["keys", "list", "--json"]).json();
        let listed = listed["key"].as_array().expect("keys");
        let newest = listed.iter().find(|key| key["account"] == *account).expect("the new key");
        of_file(&["keys", "revoke", newest["id"].as_str().expect("an id")]);
        is(401);
    }

    /// Open descriptors of the process.
    fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.server.process.id())).expect("a process").count()
    }

    fn connection(&self) -> Connection {
        Connection::open(self.server.address).expect("a connection")
    }

    /// Asks until the end, with a pause after each answer; how often.
    fn ask(&self, client: usize, pause: Duration, is_over: &AtomicBool) -> u64 {
        let mut count = 0;
        for round in client.. {
            let mut connection = self.connection();
            for request in 0..OF_CONNECTION {
                if is_over.load(Ordering::Relaxed) {
                    return count;
                }
                let target = TARGETS[(round + request) % TARGETS.len()];
                expect(200, target, &connection.get(target, &self.server.key).expect("an answer"));
                count += 1;
                std::thread::sleep(pause);
            }
            let target = TARGETS[round % TARGETS.len()];
            let call = ToolCall::of_target(target).expect("a call");
            assert!(!call.send(&self.server, Era::ALL[round % 2]).is_error, "{target}");
            expect(401, target, &connection.get(target, "wrong").expect("an answer"));
            // One that leaves in the middle of its request.
            self.connection().write(b"GET /v1/fl/stats HTTP/1.1\r\nHost").expect("half a head");
            count += 2;
        }
        unreachable!("the rounds of a client have no end")
    }
}

fn expect(status: u16, target: &str, answer: &Answer) {
    assert_eq!(answer.status, status, "{target}: {}", answer.text());
}

/// Memory and descriptors of the process after a round.
#[derive(Debug, Clone, Copy)]
struct Sample {
    bytes: u64,
    descriptors: usize,
}

/// Clients ask while snapshots and keys change, for so long and for three rounds at least; their requests, and a sample of each round.
fn serve_for(served: &Served, length: Duration, pause: Duration) -> (u64, Vec<Sample>) {
    let (is_over, requests, begun) = (AtomicBool::new(false), AtomicU64::new(0), Instant::now());
    let mut samples = Vec::new();
    std::thread::scope(|scope| {
        // Also when this thread panics: the clients would ask for ever.
        let end = EndsClients(&is_over);
        for client in 0..CLIENTS {
            let (is_over, requests) = (&is_over, &requests);
            scope.spawn(move || requests.fetch_add(served.ask(client, pause, is_over), Ordering::Relaxed));
        }
        for round in 1.. {
            served.load(round);
            served.change_keys(round);
            samples.push(Sample { bytes: served.server.memory(), descriptors: served.descriptors() });
            if round >= 3 && begun.elapsed() >= length {
                break;
            }
        }
        drop(end);
    });
    let requests = requests.into_inner();
    assert!(requests > 100, "{requests} requests");
    (requests, samples)
}

/// Ends the clients when it is dropped.
struct EndsClients<'a>(&'a AtomicBool);

impl Drop for EndsClients<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The most of some samples.
fn most(samples: &[Sample]) -> Sample {
    let of = |value: fn(&Sample) -> u64| samples.iter().map(value).max().expect("a sample");
    Sample { bytes: of(|sample| sample.bytes), descriptors: of(|sample| sample.descriptors as u64) as usize }
}

#[test]
fn clients_get_their_answers_while_snapshots_and_keys_change_and_leave_nothing_open() {
    let served = Served::start();
    let before = served.descriptors();
    serve_for(&served, Duration::ZERO, Duration::ZERO);
    wait_for("connections to end", PATIENCE, || (served.descriptors() <= before).then_some(()));
}

#[test]
#[ignore = "an hour, or SUNLAKE_SERVE_SECONDS"]
fn memory_and_descriptors_stay_flat_for_an_hour() {
    let seconds =
        std::env::var("SUNLAKE_SERVE_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3_600);
    let served = Served::start();
    let before = served.descriptors();
    // 200 requests a second at most: the hour is about what is left behind, not about pace.
    let (requests, samples) = serve_for(&served, Duration::from_secs(seconds), Duration::from_millis(20));
    println!("{requests} requests, {} new snapshots, as many keys made and revoked", samples.len());
    let quarters: Vec<Sample> = samples.chunks(samples.len().div_ceil(4)).map(most).collect();
    for quarter in &quarters {
        println!("at most {} MiB and {} descriptors", quarter.bytes >> 20, quarter.descriptors);
    }
    let ([first, ..], Some(last)) = (&*quarters, quarters.last()) else { panic!("no quarter") };
    assert!(last.bytes * 100 <= first.bytes * 110, "{last:?}, {first:?} in the first quarter");
    assert!(last.descriptors <= first.descriptors + 4, "{last:?}, {first:?} in the first quarter");
    wait_for("connections to end", PATIENCE, || (served.descriptors() <= before).then_some(()));
}
