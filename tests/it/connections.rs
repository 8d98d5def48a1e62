//! Connections as clients and proxies keep them: heads that are no proper HTTP, silence, too many of one address, and the
//! listener of the metrics.

use crate::operation::metric;
use crate::service::{TOLD_METRICS, metrics_address};
use crate::support::dice::Dice;
use crate::support::http::{self, Answer, Connection};
use crate::support::server::{AGENCY, ApiServer};
use crate::support::{PATIENCE, source, wait_for};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn answer_to(server: &ApiServer, sent: &str) -> Answer {
    let mut connection = Connection::open(server.address).expect("a connection");
    connection.write(sent.as_bytes()).expect("sent");
    connection.answer().unwrap_or_else(|error| panic!("{sent:?}: {error}"))
}

#[test]
fn a_request_has_one_proper_host_and_no_coding_but_chunked() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for (head, status) in [
        ("GET /healthz HTTP/1.1\r\nHost: x\r\n", 200),
        ("GET /healthz HTTP/1.0\r\n", 200),
        ("GET /healthz HTTP/1.1\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost: x\r\nHost: x\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost: a b\r\n", 400),
        ("GET /healthz HTTP/1.1\r\nHost: x:port\r\n", 400),
        ("POST /mcp HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n", 400),
        ("POST /v1/me HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n", 501),
        ("POST /v1/me HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n", 501),
        ("POST /v1/me HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n", 400),
    ] {
        let answer = answer_to(&server, &format!("{head}\r\n"));
        assert_eq!(answer.status, status, "{head:?}: {}", answer.text());
        if status != 200 {
            assert_eq!(answer.json()["statusCode"], status, "{head:?}");
            assert_eq!(answer.header("connection"), Some("close"), "{head:?}");
        }
    }
}

#[test]
fn a_silent_connection_is_kept_as_long_as_it_was_said() {
    let kept = ApiServer::generous(source::small(), AGENCY);
    let ended = ApiServer::reported(source::small(), AGENCY, &["--keep-alive", "1"]);
    let open = |server: &ApiServer| {
        let mut connection = Connection::open(server.address).expect("a connection");
        assert_eq!(connection.get("/v1/me", &server.key).expect("an answer").status, 200);
        connection
    };
    let begun = Instant::now();
    let (mut kept_open, mut ended_open) = (open(&kept), open(&ended));
    assert_eq!(ended_open.rest().expect("the end"), b"");
    let took = begun.elapsed();
    assert!((1..6).contains(&took.as_secs()), "closed after {took:?}");
    // Longer than a head may take.
    std::thread::sleep(Duration::from_secs(11).saturating_sub(begun.elapsed()));
    assert_eq!(kept_open.get("/v1/me", &kept.key).expect("an answer").status, 200);
    // A head that does not arrive is given up as before.
    kept_open.write(b"GET /v1/me HTTP/1.1\r\nHost").expect("a half");
    let begun = Instant::now();
    assert_eq!(kept_open.rest().expect("the end"), b"");
    assert!(begun.elapsed() < Duration::from_secs(15), "closed after {:?}", begun.elapsed());
}

#[test]
fn one_address_has_no_more_connections_than_it_may() {
    let flags = [&TOLD_METRICS[..], &["--max-connections-per-address", "3"]].concat();
    let server = ApiServer::with_flags(source::small(), AGENCY, &flags);
    let metrics = metrics_address(&server);
    let mut used: Vec<Connection> =
        (0..3).map(|_| Connection::open(server.address).expect("a connection")).collect();
    for connection in &mut used {
        assert_eq!(connection.get("/v1/me", &server.key).expect("an answer").status, 200);
    }
    let refused = http::send(server.address, "GET", "/healthz", &[]).expect("an answer");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let message = refused.json()["message"].to_string();
    assert!(message.contains("this address has as many connections"), "{message}");
    assert_eq!(metric(metrics, "sunlake_shed_total{reason=\"address\"}"), 1.0);
    used.pop();
    wait_for("a place", PATIENCE, || {
        let answer = http::send(server.address, "GET", "/healthz", &[]).ok()?;
        (answer.status == 200).then_some(())
    });
}

#[test]
fn the_metrics_are_read_by_get_among_silent_clients_and_show_that_the_server_runs() {
    let server = ApiServer::with_flags(source::small(), AGENCY, &TOLD_METRICS);
    let metrics = metrics_address(&server);
    let silent: Vec<Connection> = (0..40).map(|_| Connection::open(metrics).expect("a connection")).collect();
    let begun = Instant::now();
    for (method, path, status) in [
        ("GET", "/metrics", 200),
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("POST", "/metrics", 405),
        ("DELETE", "/healthz", 405),
        ("GET", "/v1/me", 404),
    ] {
        let answer = http::send(metrics, method, path, &[]).expect("an answer");
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
        assert_eq!(answer.header("allow"), (status == 405).then_some("GET"), "{method} {path}");
    }
    assert!(begun.elapsed() < Duration::from_secs(6), "it took {:?}", begun.elapsed());
    drop(silent);
}

#[test]
fn refusals_stay_short_however_long_the_path_or_the_method() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let (path, method) = (format!("/{}", "p".repeat(10_000)), "M".repeat(10_000));
    for (method, path, status) in
        [("GET", path.as_str(), 404), (method.as_str(), "/nowhere", 404), (method.as_str(), "/v1/me", 405)]
    {
        let answer = server.send(method, path, &[]);
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(answer.body.len() < 400, "{} bytes", answer.body.len());
    }
}

/// A text with up to six changes.
fn changed(text: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..=dice.below(6) {
        let at = dice.below(bytes.len() as u64) as usize;
        match dice.below(5) {
            0 => drop(bytes.remove(at)),
            1 => bytes[at] = dice.below(256) as u8,
            2 => bytes.insert(at, *dice.one_of(b"\0\r\n \t:%{}[]\",\\\xff9-")),
            3 => {
                let copy = bytes[at..(at + 30).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, copy.repeat(1 + dice.below(40) as usize)));
            }
            _ => bytes.truncate((at + 1).max(8)),
        }
    }
    bytes
}

/// Sends bytes and reads what comes, to the end of the connection or to its reset.
fn say(server: &ApiServer, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server.address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(bytes)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = Vec::new();
    // What came before a reset stays.
    let _ = stream.read_to_end(&mut answer);
    Ok(answer)
}

#[test]
fn fuzz_of_heads_and_of_tool_calls() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (inputs, seed) = (number("SUNLAKE_FUZZ_INPUTS", 600), number("SUNLAKE_FUZZ_SEED", 3));
    let server = ApiServer::generous(source::small(), AGENCY);
    let key = &server.key;
    let host = server.address;
    let search = format!(
        "GET /v1/fl/businesses?county=Miami-Dade&limit=5 HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nAccept-Encoding: \
         gzip\r\nConnection: close\r\n\r\n"
    );
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_businesses","arguments":{"county":"Lee"}}}"#;
    let tools = |body: &[u8]| {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nAccept: \
             application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    let mut dice = Dice::new(seed);
    let mut answered = 0;
    for input in 0..inputs {
        let bytes = match input % 3 {
            0 => changed(search.as_bytes(), &mut dice),
            1 => tools(&changed(call.as_bytes(), &mut dice)),
            _ => changed(&tools(call.as_bytes()), &mut dice),
        };
        // A connection that the server closes early may end in a reset.
        let answer = say(&server, &bytes).unwrap_or_default();
        let status = String::from_utf8_lossy(&answer).split(' ').nth(1).map(str::to_owned);
        answered += u64::from(status.is_some());
        assert!(
            status
                .as_deref()
                .is_none_or(|status| !status.starts_with('5') || ["501", "505"].contains(&status)),
            "input {input}: {status:?} for {:?}",
            String::from_utf8_lossy(&bytes)
        );
    }
    assert!(answered * 3 > inputs, "{answered} of {inputs} were answered");
    assert_eq!(server.get("/v1/me").status, 200);
}
