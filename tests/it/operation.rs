//! What goes wrong around a server, as its operator meets it: a key file that cannot be read, a log that nobody reads.

use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::server::{AGENCY, ApiServer};
use crate::support::{PATIENCE, http, source, wait_for};
use std::net::SocketAddr;

/// The value of a metric.
fn metric(metrics: SocketAddr, name: &str) -> f64 {
    let page = http::send(metrics, "GET", "/metrics", &[]).expect("the page").text();
    let found = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    found.unwrap_or_else(|| panic!("{name} in\n{page}"))
}

fn becomes(metrics: SocketAddr, name: &str, value: f64) {
    let told = || (metric(metrics, name) == value).then_some(());
    wait_for(&format!("{name} to be {value}"), PATIENCE, told);
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
