//! Answers that no retry makes better: pages without progress, endless bodies, and files that are none.

use crate::support::command::{Sunlake, succeed};
use crate::support::http;
use crate::support::proxy::{Reply, Request};
use crate::support::scratch::Scratch;
use crate::support::weather::Weather;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The first page of a listing, as if it were at the offset asked for; none for other requests.
fn first_page(server: SocketAddr, request: &Request) -> Option<Reply> {
    let (_, query) = request.target.split_once("/v1/fl/businesses?")?;
    let offset = query.split('&').find_map(|part| part.strip_prefix("offset="))?.parse::<u64>().ok()?;
    let first = request.target.replace(&format!("offset={offset}"), "offset=0");
    let key = request.authorization.as_deref()?;
    let mut page = http::send(server, "GET", &first, &[("Authorization", key)]).ok()?.json();
    page["pagination"]["offset"] = offset.into();
    let json = vec![("Content-Type", "application/json".to_owned())];
    (offset > 0).then(|| Reply::Answer(200, json, page.to_string()))
}

#[test]
fn pages_that_do_not_depend_on_the_offset_end_the_run_after_few_requests() {
    let weather = Weather::new(|_| Reply::Forward);
    let server = weather.server.address;
    weather.proxy.follow(move |request| first_page(server, request).unwrap_or(Reply::Forward));
    let done = weather.run("").exits(6);
    done.says("outside its contract").says("rows as at offset");
    let requests = weather.proxy.log().len();
    assert!(requests < 40, "{requests} requests");
    weather.assert_nothing_published();
    // The next run does not read these pages from the archive.
    weather.proxy.follow(|_| Reply::Forward);
    weather.run("").complete();
    weather.assert_complete();
}

#[test]
fn a_signal_ends_a_run_while_an_answer_drips() {
    let weather = Weather::new(|request| match request.number {
        1..=9 => Reply::Forward,
        _ => Reply::Slow(Duration::from_secs(50)),
    });
    let run = weather.command("").start();
    weather.proxy.wait_for_requests(10);
    let begun = Instant::now();
    run.terminate();
    run.finish().exits(5);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn an_answer_that_claims_a_petabyte_is_refused_by_its_head() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let open = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&open);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1125899906842624\r\n\r\n{");
            kept.lock().expect("no panic").push(stream);
        }
    });
    let scratch = Scratch::new();
    let pipeline = scratch.file("days.toml", "name = \"days\"\n[aggregates]\nenabled = false\n");
    let run = Sunlake::run(&pipeline, &scratch.lake());
    let key = format!("flb_{}", "0".repeat(64));
    let done = run.asking(&format!("http://{address}"), "2026-03-20", &key).finish();
    // The first answer of all: the address may be wrong.
    done.exits(3).says("the body is larger than");
}

#[test]
fn a_pipe_is_no_pipeline_file_and_no_file_of_the_state() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe.toml");
    succeed(Command::new("mkfifo").arg(&pipe));
    Sunlake::run(&pipe, &scratch.lake()).finish().exits(3).says("not a regular file");
    std::fs::create_dir_all(scratch.path("files")).expect("a folder");
    succeed(Command::new("mkfifo").arg(scratch.path("files/20261012c.txt")));
    let text = "name = \"state\"\n[import]\nfolder = \"files\"\n[aggregates]\nenabled = false\n";
    let state = scratch.file("state.toml", text);
    let done = Sunlake::run(&state, &scratch.lake()).args(["--today", "2026-11-20"]).finish();
    done.says("20261012c.txt is no file: it is left out");
}

#[test]
fn what_an_api_says_steers_no_terminal_and_begins_no_line() {
    let body =
        r#"{"statusCode":400,"message":"\u001b[2J\u009b31m over\rwritten\nerror: none","docs_url":"x"}"#;
    for (flags, status, code) in
        [(&["-vv"][..], 400, 3), (&["-vv", "--log-format", "json"], 400, 3), (&["-vv"], 503, 6)]
    {
        let weather = Weather::new(move |_| {
            let head = vec![("Content-Type", "application/json".to_owned()), ("Retry-After", "0".to_owned())];
            Reply::Answer(status, head, body.to_owned())
        });
        let done = weather.command("[budget]\nattempts = 2").args(flags).finish().exits(code);
        let steers = |c: &char| c.is_control() && *c != '\n';
        let found: Vec<char> = done.stderr.chars().chain(done.stdout.chars()).filter(steers).collect();
        assert!(found.is_empty(), "{status}: {found:?} in {:?} {:?}", done.stderr, done.stdout);
        assert!(!done.stderr.lines().any(|line| line.starts_with("error: none")), "{:?}", done.stderr);
        assert!(done.stderr.contains("over"), "the message is shown: {:?}", done.stderr);
    }
}
