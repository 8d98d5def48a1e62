//! What is between the program and what it asks: proxies, gateways, and authorities that sign certificates.

use crate::support::certificate::Authority;
use crate::support::command::{Finished, Sunlake};
use crate::support::proxy::{Proxy, Reply};
use crate::support::s3::{Bucket, with_credentials};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source;
use crate::support::weather::Weather;
use std::path::Path;

const KEY: &str = "flb_0000000000000000000000000000000000000000000000000000000000000000";
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const EXCEPTIONS: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// A proxy that carries nothing, and notes who asks it for what.
fn refusing() -> Proxy {
    Proxy::scripted("127.0.0.1:9".parse().expect("an address"), |_| Reply::error(503, Vec::new()))
}

/// With these variables for the proxy and no others.
fn through(mut command: Sunlake, proxy: &Proxy, variables: &[&str]) -> Sunlake {
    for name in PROXIES.iter().chain(&EXCEPTIONS) {
        command = match variables.contains(name) {
            true => command.env(name, &proxy.url()),
            false => command.without(name),
        };
    }
    command
}

/// One request to an address of the API.
fn doctor(scratch: &Scratch, address: &str) -> Sunlake {
    Sunlake::on(&scratch.lake(), ["doctor", "--base-url", address]).env("SUNLAKE_API_KEY", KEY)
}

#[test]
fn this_machine_and_plain_http_are_asked_without_a_proxy() {
    let (scratch, proxy) = (Scratch::new(), refusing());
    for address in [
        "http://127.0.0.1:9",
        "http://127.0.0.2:9",
        "http://localhost:9",
        "http://LOCALHOST:9/prefix",
        "http://[::1]:9",
        "http://[::ffff:127.0.0.1]:9",
        "https://127.0.0.1:9",
        "https://127.1:9",
        "https://localhost:9",
        "https://[::1]:9",
    ] {
        through(doctor(&scratch, address), &proxy, &PROXIES)
            .finish()
            .exits(6)
            .says_on_stdout("no connection");
    }
    let pipeline = scratch.file(
        "p.toml",
        "name = \"p\"\n[source]\nallow_plain_http = true\n[budget]\nattempts = 1\n[aggregates]\nenabled = false\n",
    );
    let run = Sunlake::run(&pipeline, &scratch.lake()).asking("http://api.invalid", "2026-03-20", KEY);
    through(run, &proxy, &PROXIES).finish().exits(6);
    assert!(proxy.log().is_empty(), "{:?}", proxy.log());
}

#[test]
fn a_run_that_reads_the_embedded_api_ignores_every_proxy() {
    let (scratch, proxy) = (Scratch::new(), refusing());
    let pipeline = scratch.file("sample.toml", &source::sample_pipeline(3, 0.01));
    let run = Sunlake::run(&pipeline, &scratch.lake()).args(["--today", "2026-03-20"]);
    through(run, &proxy, &PROXIES).finish().complete();
    assert!(proxy.log().is_empty(), "{:?}", proxy.log());
}

#[test]
fn over_https_a_proxy_sees_the_name_of_the_host_alone_and_exceptions_count() {
    let scratch = Scratch::new();
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        let proxy = refusing();
        let asked = || through(doctor(&scratch, "https://api.invalid"), &proxy, &[name]);
        asked().finish().exits(6).says_on_stdout("the proxy of HTTPS_PROXY or ALL_PROXY made none");
        let log = proxy.log();
        assert_eq!(log.len(), 1, "{name}: {log:?}");
        assert_eq!((&*log[0].target, &log[0].authorization), ("api.invalid:443", &None), "{name}");
    }
    for (exception, hosts) in [("NO_PROXY", "other.example, api.invalid"), ("no_proxy", ".invalid")] {
        let proxy = refusing();
        let asked = through(doctor(&scratch, "https://api.invalid"), &proxy, &["ALL_PROXY"]);
        asked.env(exception, hosts).finish().exits(6);
        assert!(proxy.log().is_empty(), "{exception}={hosts}");
    }
    let proxy = refusing();
    through(doctor(&scratch, "https://api.invalid"), &proxy, &["HTTP_PROXY", "http_proxy"]).finish().exits(6);
    assert!(proxy.log().is_empty(), "{:?}", proxy.log());
}

#[test]
fn a_proxy_that_wants_a_password_ends_the_run_with_3_at_once() {
    let scratch = Scratch::new();
    let proxy =
        Proxy::scripted("127.0.0.1:9".parse().expect("an address"), |_| Reply::error(407, Vec::new()));
    let pipeline = scratch.file("p.toml", "name = \"p\"\n[aggregates]\nenabled = false\n");
    let run = Sunlake::run(&pipeline, &scratch.lake()).asking("https://api.invalid", "2026-03-20", KEY);
    let done = through(run, &proxy, &["HTTPS_PROXY"]).finish().exits(3);
    done.says("wants a name and a password").says("NO_PROXY");
    assert_eq!(proxy.log().len(), 1, "it is not asked again");
    let run = Sunlake::run(&pipeline, &scratch.lake()).asking("https://api.invalid", "2026-03-20", KEY);
    let done =
        run.env("HTTPS_PROXY", "socks5://127.0.0.1:9").without("NO_PROXY").without("no_proxy").finish();
    done.exits(3).says("has the scheme socks5, which is not supported");
}

#[test]
fn an_object_store_is_asked_as_the_api_is() {
    let (scratch, bucket, proxy) = (Scratch::new(), Bucket::new("ways"), refusing());
    let work = scratch.path("work");
    let ask = |command: Sunlake| bucket.opened_by(command, &work);
    let pipeline = scratch.file("sample.toml", &source::sample_pipeline(3, 0.01));
    let lake = bucket.lake();
    let run = ask(Sunlake::run(&pipeline, Path::new(&lake)).args(["--today", "2026-03-20"]));
    through(run, &proxy, &PROXIES).finish().complete();
    let status = |endpoint: &str| {
        let status = with_credentials(Sunlake::on(Path::new(&lake), ["status"]));
        status.env("SUNLAKE_WORK", &work.to_string_lossy()).env("AWS_ENDPOINT", endpoint)
    };
    for endpoint in ["http://127.0.0.2:9", "http://[::1]:9", "https://localhost:9", "http://store.invalid"] {
        through(status(endpoint), &proxy, &PROXIES).finish().exits(9);
        // A proxy of the store's own settings is one, too.
        through(status(endpoint), &proxy, &[]).env("AWS_PROXY_URL", &proxy.url()).finish().exits(9);
    }
    assert!(proxy.log().is_empty(), "{:?}", proxy.log());
    through(status("https://store.invalid"), &proxy, &["https_proxy"]).finish().exits(9);
    let log = proxy.log();
    assert!(!log.is_empty());
    for request in log {
        assert_eq!((&*request.target, &request.authorization), ("store.invalid:443", &None));
    }
}

#[test]
fn every_status_of_a_gateway_that_can_pass_is_retried() {
    let passing =
        [408, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530, 598];
    let weather = Weather::new(move |request| match request.number % 2 {
        0 => passing.get(request.number / 2 - 1).map_or(Reply::Forward, |status| {
            Reply::Answer(*status, vec![("Content-Type", "text/html".to_owned())], "error code".to_owned())
        }),
        _ => Reply::Forward,
    });
    let summary = weather.run("").complete();
    weather.assert_complete();
    assert_eq!(summary["requests"]["retried"], passing.len(), "{summary}");
}

#[test]
fn an_answer_that_lasts_ends_the_run_with_3_at_once() {
    let weather = Weather::new(|_| Reply::Forward);
    for status in [204, 302, 400, 404, 405, 410, 422, 451, 501, 505, 511] {
        weather.proxy.follow(move |request| match request.target.starts_with("/v1/fl/businesses") {
            true => Reply::error(status, Vec::new()),
            false => Reply::Forward,
        });
        let before = weather.proxy.targets().len();
        let done = weather.run("").exits(3).says(&format!("{status}")).says("is the address of the API");
        assert_eq!(done.json()["requests"]["retried"], 0, "{}", done.shown());
        let asked = weather.proxy.targets().split_off(before);
        let listings = asked.iter().filter(|target| target.starts_with("/v1/fl/businesses")).count();
        assert_eq!(listings, 1, "{status}: {asked:?}");
    }
    weather.assert_nothing_published();
}

/// A run that asks an address with these authorities.
fn trusting(scratch: &Scratch, address: &str, key: &str, authorities: &Path) -> Finished {
    let pipeline = scratch.file("p.toml", "name = \"p\"\n[aggregates]\nenabled = false\n");
    let run = Sunlake::run(&pipeline, &scratch.lake()).asking(address, source::small().today, key);
    run.env("SSL_CERT_FILE", &authorities.to_string_lossy()).env("SSL_CERT_DIR", "").finish()
}

#[test]
fn a_certificate_that_cannot_be_trusted_ends_the_run_with_3_at_once_and_ssl_cert_file_counts() {
    let scratch = Scratch::new();
    let (known, unknown) = (Authority::make(&scratch, "known"), Authority::make(&scratch, "unknown"));
    let good = known.sign(&scratch, "good", "IP:127.0.0.1,DNS:localhost", 9);
    let server = |certificate: &crate::support::certificate::Certificate| {
        let flags = certificate.flags();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        ApiServer::with_flags(source::small(), AGENCY, &flags)
    };
    let served = server(&good);
    let address = |server: &ApiServer| format!("https://localhost:{}", server.address.port());
    let fails = |server: &ApiServer, authorities: &Path, says: &str| {
        let done = trusting(&scratch, &address(server), &server.key, authorities).exits(3).says(says);
        let done = done.says("SSL_CERT_FILE").says("the system's store");
        assert_eq!(done.json()["requests"]["sent"], 1, "{}", done.shown());
    };
    fails(&served, &unknown.file, "UnknownIssuer");
    let expired = known.sign(&scratch, "expired", "IP:127.0.0.1,DNS:localhost", -1);
    fails(&server(&expired), &known.file, "Expired");
    let other = known.sign(&scratch, "other", "DNS:api.example", 9);
    fails(&server(&other), &known.file, "localhost");
    // A file without an authority is a wrong setting, and is named.
    let missing = trusting(&scratch, &address(&served), &served.key, &scratch.path("missing.pem"));
    missing.exits(3).says("the HTTP client cannot be created").says("SSL_CERT_FILE");
    trusting(&scratch, &address(&served), &served.key, &known.file).complete();
}

#[test]
fn an_object_store_with_an_unknown_certificate_is_named_at_once_with_the_way_out() {
    let scratch = Scratch::new();
    let (known, unknown) = (Authority::make(&scratch, "known"), Authority::make(&scratch, "unknown"));
    let flags = known.sign(&scratch, "good", "IP:127.0.0.1,DNS:localhost", 9).flags();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    // Any server with TLS: the handshake ends before it is asked for anything.
    let server = ApiServer::with_flags(source::small(), AGENCY, &flags);
    let status = |authorities: &Path| {
        let status = with_credentials(Sunlake::on(Path::new("s3://bucket/lake"), ["status", "-v"]));
        let status = status.env("SUNLAKE_WORK", &scratch.path("work").to_string_lossy());
        let status = status.env("AWS_ENDPOINT", &format!("https://localhost:{}", server.address.port()));
        status.env("SSL_CERT_FILE", &authorities.to_string_lossy()).env("SSL_CERT_DIR", "").finish().exits(9)
    };
    status(&unknown.file).says("UnknownIssuer").says("SSL_CERT_FILE");
    assert!(!status(&known.file).stderr.contains("SSL_CERT_FILE"));
}
