//! The key goes into one header, and nowhere else: no output, no log, no file, however a run ends.

use crate::support::command::{Finished, Sunlake};
use crate::support::lake::files_below;
use crate::support::proxy::{Proxy, Reply};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source;
use crate::support::weather::Weather;
use std::path::Path;

/// The key as it is, encoded as header values carry it, and as debuggers print bytes.
fn forms(key: &str) -> Vec<String> {
    let bare = key.strip_prefix("flb_").unwrap_or(key);
    let mut forms = vec![key.to_owned(), bare.to_owned(), hex(key.as_bytes())];
    for text in [key.to_owned(), format!("Bearer {key}"), format!("{key}:"), format!("user:{key}")] {
        forms.push(base64(text.as_bytes()).trim_end_matches('=').to_owned());
    }
    forms
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number =
            three.iter().enumerate().fold(0_u32, |sum, (at, byte)| sum | u32::from(*byte) << (16 - 8 * at));
        for at in 0..=three.len() {
            text.push(char::from(DIGITS[(number >> (18 - 6 * at)) as usize & 63]));
        }
        text.push_str(&"=".repeat(3 - three.len()));
    }
    text
}

fn holds(bytes: &[u8], form: &str) -> bool {
    bytes.windows(form.len()).any(|part| part == form.as_bytes())
}

fn assert_not_in(bytes: &[u8], key: &str, place: &str) {
    for form in forms(key) {
        assert!(!holds(bytes, &form), "the key, as {form}, is in {place}");
    }
}

fn assert_not_said(done: &Finished, key: &str) {
    assert_not_in(done.stdout.as_bytes(), key, "stdout");
    assert_not_in(done.stderr.as_bytes(), key, "stderr");
    assert!(!done.stderr.is_empty(), "the log says something, or this claims nothing");
}

/// Every file below a folder, its name and its content, archives unpacked.
fn assert_not_below(folder: &Path, key: &str) -> usize {
    let files = files_below(folder);
    for file in &files {
        let place = file.to_string_lossy().into_owned();
        assert_not_in(place.as_bytes(), key, "a file's name");
        let Ok(bytes) = std::fs::read(file) else { continue };
        assert_not_in(&bytes, key, &place);
        if file.extension().is_some_and(|extension| extension == "zst") {
            assert_not_in(&zstd::decode_all(&bytes[..]).expect("an archive"), key, &place);
        }
    }
    files.len()
}

#[test]
fn the_search_finds_a_key_in_every_form() {
    let key = "flb_0123";
    assert_eq!(base64(b"Bearer flb_0123"), "QmVhcmVyIGZsYl8wMTIz");
    assert_eq!((base64(b"a"), base64(b"ab")), ("YQ==".to_owned(), "YWI=".to_owned()));
    for text in ["x flb_0123 y", "x 0123", "QmVhcmVyIGZsYl8wMTIz", "666c625f30313233"] {
        assert!(forms(key).iter().any(|form| holds(text.as_bytes(), form)), "{text}");
    }
}

#[test]
fn neither_output_nor_lake_holds_the_key_of_a_run_however_it_ends() {
    let weather = Weather::new(|_| Reply::Forward);
    let Weather { source, server, proxy, scratch, .. } = &weather;
    let pipeline = weather.pipeline("[budget]\nattempts = 2");
    let run = |base_url: &str, format: &str| {
        Sunlake::run(&pipeline, &scratch.lake())
            .args(["--base-url", base_url, "--today", source.today, "-vv", "--log-format", format])
            .env("SUNLAKE_API_KEY", &server.key)
            .env("RUST_LOG", "trace")
            .env("RUST_BACKTRACE", "full")
            .finish()
    };
    for format in ["text", "json"] {
        // Unreachable, refused, redirected, cut off, broken, then well.
        let mut ends = vec![run("http://127.0.0.1:9", format).exits(6)];
        proxy.follow(|_| Reply::error(401, Vec::new()));
        ends.push(run(&proxy.url(), format).exits(4));
        proxy.follow(|_| {
            Reply::Answer(302, vec![("Location", "https://example.com/".to_owned())], String::new())
        });
        ends.push(run(&proxy.url(), format).exits(3));
        proxy.follow(|_| Reply::BreakOff);
        ends.push(run(&proxy.url(), format).exits(6));
        proxy.follow(|_| Reply::Answer(200, Vec::new(), "{".to_owned()));
        ends.push(run(&proxy.url(), format).exits(6));
        proxy.follow(|_| Reply::Forward);
        ends.push(run(&proxy.url(), format).exits(0));
        for done in &ends {
            assert_not_said(done, &server.key);
        }
    }
    assert!(assert_not_below(&scratch.lake(), &server.key) > 10);
    let sent = proxy
        .log()
        .iter()
        .filter(|request| request.authorization == Some(format!("Bearer {}", server.key)))
        .count();
    assert_eq!(sent, proxy.log().len(), "it is sent with every request");
    assert!(proxy.log().iter().all(|request| !request.target.contains(&server.key)));
}

#[test]
fn a_server_that_returns_the_key_in_its_errors_does_not_make_the_run_print_it() {
    let source = source::small();
    let server = ApiServer::generous(source, AGENCY);
    for status in [200, 400, 401, 403, 404, 429, 500, 503] {
        let key = server.key.clone();
        let proxy = Proxy::scripted(server.address, move |request| {
            if request.number < 4 {
                return Reply::Forward;
            }
            let message = format!("the key {key} (Bearer {key}) is not welcome");
            let body = match status {
                200 => serde_json::json!({ "data": message }),
                _ => {
                    serde_json::json!({ "statusCode": status, "message": message, "docs_url": "http://x/docs" })
                }
            };
            Reply::Answer(status, Vec::new(), body.to_string())
        });
        let scratch = Scratch::new();
        let text = "name = \"p\"\n[budget]\nattempts = 1\n[aggregates]\nenabled = false\n";
        let pipeline = scratch.file("p.toml", text);
        let done = Sunlake::run(&pipeline, &scratch.lake())
            .args(["--base-url", &proxy.url(), "--today", source.today, "-vv"])
            .env("SUNLAKE_API_KEY", &server.key)
            .finish();
        assert!(
            done.stderr.contains("is not welcome"),
            "the rest of the message is reported{}",
            done.shown()
        );
        assert_not_said(&done, &server.key);
        assert_not_below(&scratch.lake(), &server.key);
    }
}

#[test]
fn the_key_file_of_the_server_holds_no_key_and_neither_does_its_log() {
    let server = ApiServer::generous(source::small(), AGENCY);
    assert_eq!(server.get("/v1/me").status, 200);
    assert_eq!(server.get("/v1/fl/businesses?limit=0").status, 400);
    let key = server.key.clone();
    let keys = server.scratch.path("keys.toml");
    let list = Sunlake::new(["keys", "list"]).args(["--keys".as_ref(), keys.as_os_str()]).finish().exits(0);
    assert_not_in(list.stdout.as_bytes(), &key, "the list of keys");
    assert!(list.stdout.contains("acme"), "{}", list.shown());
    server.process.terminate();
    let done = server.process.finish().exits(0);
    assert_not_in(done.stdout.as_bytes(), &key, "stdout");
    assert_not_in(done.stderr.as_bytes(), &key, "stderr");
    assert!(assert_not_below(&server.scratch.path("served/state"), &key) > 0, "counts were written");
    assert_not_in(&std::fs::read(keys).expect("the key file"), &key, "the key file");
}
