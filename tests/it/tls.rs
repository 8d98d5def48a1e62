//! HTTPS: the server's own certificate, and a new one without a restart.

use crate::operation::{becomes, make_pipe, metric};
use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::certificate::{Certificate, curl};
use crate::support::command::Sunlake;
use crate::support::http::{Answer, Connection};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, create_key};
use crate::support::{PATIENCE, source, wait_for};
use std::path::Path;

fn secure(certificate: &Certificate) -> ApiServer {
    let flags = certificate.flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(TOLD_METRICS).collect();
    ApiServer::with_flags(source::small(), AGENCY, &flags)
}

fn get(server: &ApiServer, trusted: &Path, target: &str) -> Result<Answer, String> {
    let authorization = format!("Authorization: Bearer {}", server.key);
    curl(trusted, &format!("https://{}{target}", server.address), &["-H", &authorization])
}

#[test]
fn api_and_tools_are_served_over_https_and_plain_http_is_not() {
    let scratch = Scratch::new();
    let certificate = Certificate::make(&scratch, "lake.example");
    let server = secure(&certificate);
    let answer = get(&server, &certificate.cert, "/v1/fl/businesses?q=su&limit=1").expect("an answer");
    assert_eq!((answer.status, answer.json()["data"].as_array().map(Vec::len)), (200, Some(1)));
    let document = get(&server, &certificate.cert, "/openapi.json").expect("an answer").json();
    assert_eq!(document["servers"][0]["url"], format!("https://{}", server.address));
    let authorization = format!("Authorization: Bearer {}", server.key);
    let message = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#;
    let json = ["-H", &authorization, "-H", "Content-Type: application/json", "-d", message];
    let tools =
        curl(&certificate.cert, &format!("https://{}/mcp", server.address), &json).expect("an answer");
    assert_eq!(tools.json()["result"]["tools"].as_array().map(Vec::len), Some(12), "{}", tools.text());
    let mut plain = Connection::open(server.address).expect("a connection");
    plain.write(b"GET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    let said = plain.rest().unwrap_or_default();
    assert!(!said.starts_with(b"HTTP/"), "{}", String::from_utf8_lossy(&said));
    server.process.terminate();
    server.process.finish().exits(0);
}

#[test]
fn a_new_certificate_is_used_without_a_restart_and_a_broken_one_never() {
    let scratch = Scratch::new();
    let (used, old) = (Certificate::make(&scratch, "used"), scratch.path("old.crt"));
    std::fs::copy(&used.cert, &old).expect("a copy");
    let server = secure(&used);
    let metrics = metrics_address(&server);
    let serves = |trusted: &Path| get(&server, trusted, "/healthz").is_ok_and(|answer| answer.status == 200);
    assert!(serves(&old));

    let next = Certificate::make(&scratch, "next");
    // The new certificate with the old key.
    std::fs::copy(&next.cert, &used.cert).expect("a copy");
    becomes(metrics, "sunlake_certificate_refused", 1.0);
    assert!(serves(&old) && !serves(&next.cert));
    assert_eq!(metric(metrics, "sunlake_failed_reloads_total"), 1.0);

    std::fs::copy(&next.key, &used.key).expect("a copy");
    becomes(metrics, "sunlake_certificate_refused", 0.0);
    wait_for("the new certificate", PATIENCE, || serves(&next.cert).then_some(()));
    assert!(!serves(&old));

    std::fs::remove_file(&used.key).expect("removed");
    becomes(metrics, "sunlake_certificate_refused", 1.0);
    assert!(serves(&next.cert));
    server.process.terminate();
    let done = server.process.finish().exits(0);
    done.says("the certificate has changed and cannot be used; the old one is still sent");
}

#[test]
fn a_certificate_whose_reading_hangs_is_reported_and_delays_no_end() {
    let scratch = Scratch::new();
    let certificate = Certificate::make(&scratch, "used");
    let server = secure(&certificate);
    let metrics = metrics_address(&server);
    let pipe = scratch.path("pipe");
    // To open a pipe that nobody writes takes for ever.
    make_pipe(&pipe);
    std::fs::rename(&pipe, &certificate.key).expect("a pipe in the place of the key");
    becomes(metrics, "sunlake_certificate_refused", 1.0);
    assert_eq!(get(&server, &certificate.cert, "/v1/me").expect("an answer").status, 200);
    server.process.terminate();
    server.process.finish().exits(0).says("reading the certificate");
}

#[test]
fn a_certificate_that_cannot_be_used_does_not_start_a_server() {
    let server = ApiServer::strict(source::small(), AGENCY);
    server.process.terminate();
    server.process.finish().exits(0);
    let (lake, keys) = (server.scratch.path("served"), server.scratch.path("keys.toml"));
    let (one, other) =
        (Certificate::make(&server.scratch, "one"), Certificate::make(&server.scratch, "other"));
    let nothing = server.scratch.path("nothing.pem");
    std::fs::write(&nothing, "nothing").expect("written");
    for (cert, key, says) in [
        (&one.cert, &other.key, "cannot be used with the key"),
        (&nothing, &one.key, "has no certificate in PEM"),
        (&one.cert, &nothing, "has no private key in PEM"),
        (&server.scratch.path("missing.pem"), &one.key, "cannot read"),
    ] {
        let flags = Certificate { cert: cert.clone(), key: key.clone() }.flags();
        Sunlake::serve(&lake, &keys).args(flags).finish().exits(3).says(says).says("hint:");
    }
}

#[test]
fn keys_that_would_cross_a_network_unencrypted_are_warned_about() {
    let scratch = Scratch::new();
    create_key(&scratch, "acme", "agency", &["data"]);
    // No lake: the warning comes before the server fails.
    let start = |flags: &[&str]| {
        let (lake, keys) = (scratch.path("none"), scratch.path("keys.toml"));
        std::fs::create_dir_all(&lake).expect("a folder");
        Sunlake::on(&lake, ["serve"]).args(["--keys".as_ref(), keys.as_os_str()]).args(flags).finish().stderr
    };
    let warns = |flags: &[&str]| start(flags).contains("cross the network unencrypted");
    let certificate = Certificate::make(&scratch, "lake.example").flags();
    let certificate: Vec<&str> = certificate.iter().map(String::as_str).collect();
    assert!(warns(&["--listen", "0.0.0.0:0"]));
    assert!(!warns(&["--listen", "127.0.0.1:0"]));
    assert!(!warns(&["--listen", "0.0.0.0:0", "--public-url", "https://lake.example"]));
    assert!(!warns(&[&["--listen", "0.0.0.0:0"], &certificate[..]].concat()));
}
