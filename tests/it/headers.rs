//! Headers beyond the API document: what is left of the limits, the next page, what a 404 is about, pages of other origins.

use crate::support::http::Answer;
use crate::support::server::{AGENCY, ApiServer, STARTER};
use crate::support::{lake, mcp, source};
use serde_json::json;

fn ask(server: &ApiServer, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
    let authorization = format!("Bearer {}", server.key);
    server.send(method, target, &[&[("Authorization", authorization.as_str())], headers].concat())
}

#[test]
fn every_answer_to_an_account_says_its_limits_and_what_is_left() {
    let server = ApiServer::strict(source::small(), STARTER);
    let policy = "\"minute\";q=20;w=60, \"day\";q=1000;w=86400, \"month\";q=10000";
    for (asked, target) in (1..).zip(["/v1/fl/stats", "/v1/me", "/v1/fl/businesses", "/v1/fl/businesses/1"]) {
        let answer = server.get(target);
        assert_eq!(answer.header("ratelimit-policy"), Some(policy), "{target}");
        let left = format!(
            "\"minute\";r={}, \"day\";r={}, \"month\";r={}",
            20 - asked,
            1_000 - asked,
            10_000 - asked
        );
        assert_eq!(answer.header("ratelimit"), Some(left.as_str()), "{target}");
    }
    let tools = mcp::ask(&server, mcp::Era::Handshake, "tools/list", json!({}));
    assert!(tools.header("ratelimit").is_some_and(|left| left.starts_with("\"minute\";r=15,")), "{tools:?}");
    (0..15).for_each(|_| assert_eq!(server.get("/v1/me").status, 200));
    let over = server.get("/v1/me");
    assert_eq!((over.status, over.header("retry-after").is_some()), (429, true));
    assert!(over.header("ratelimit").is_some_and(|left| left.starts_with("\"minute\";r=0,")), "{over:?}");
    assert_eq!(server.send("GET", "/v1/me", &[]).header("ratelimit"), None, "no account");
}

#[test]
fn following_the_links_reads_a_listing_to_its_end_or_to_the_reach_of_the_plan() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for (first, size) in
        [("/v1/fl/businesses?offset=0&q=su&limit=7", 7), ("/v1/fl/filings/daily/2026-03-09?limit=1000", 100)]
    {
        let (mut target, mut rows) = (Some(first.to_owned()), Vec::new());
        let mut total = 0;
        while let Some(next) = target {
            let answer = server.get(&next);
            let body = answer.json();
            assert_eq!(body["pagination"]["limit"], size, "{next}");
            rows.extend(body["data"].as_array().expect("rows").iter().map(|row| row["id"].clone()));
            total = body["pagination"]["total"].as_u64().expect("a total") as usize;
            let link = answer.header("link").map(|link| {
                let link = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
                link.expect("a link to the next page").to_owned()
            });
            assert_eq!(link.is_some(), body["pagination"]["has_more"] == true, "{next}");
            target = link;
        }
        let distinct: std::collections::BTreeSet<String> = rows.iter().map(ToString::to_string).collect();
        assert_eq!((rows.len(), distinct.len()), (total, total), "{first}");
        assert!(total > 0, "{first}");
    }
    let most = lake::filings(&source::small().lake).len();
    assert!(most > 100, "{most}");
    let narrow = ApiServer::with_flags(source::small(), AGENCY, &["--plan-override", "max_offset=20"]);
    let at = |offset: u32| {
        let answer = narrow.get(&format!("/v1/fl/businesses?filed_from=2026-03-01&limit=10&offset={offset}"));
        (answer.status, answer.header("link").is_some())
    };
    assert_eq!((at(10), at(20), at(21)), ((200, true), (200, false), (400, false)));
}

#[test]
fn head_is_get_without_the_body_and_is_counted() {
    let server = ApiServer::strict(source::small(), AGENCY);
    for target in ["/v1/fl/stats", "/v1/fl/businesses?q=su", "/v1/fl/businesses/0"] {
        let (get, head) = (ask(&server, "GET", target, &[]), ask(&server, "HEAD", target, &[]));
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{target}");
        for name in ["content-length", "content-type", "etag"] {
            assert_eq!(head.header(name), get.header(name), "{target} {name}");
        }
    }
    assert_eq!(server.get("/v1/me").json()["remaining"]["minute"], 60 - 7);
    let refused = ask(&server, "POST", "/v1/me", &[]);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
}

#[test]
fn a_404_says_what_was_not_found() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let listed = server.get("/v1/fl/businesses?filed_from=2026-03-09&limit=1").json();
    let id = listed["data"][0]["id"].as_str().expect("an id");
    let id: String = id.chars().filter(char::is_ascii_digit).collect();
    for (target, what) in [
        (format!("/v1/fl/businesses/{id}"), "detail"),
        (format!("/v1/fl/businesses/{id}/officers"), "officers"),
        ("/v1/fl/businesses/99999999".to_owned(), "business"),
        ("/v1/fl/businesses/by-document/ZZZZZZZZ".to_owned(), "business"),
        ("/v1/fl/counties/ATLANTIS".to_owned(), "county"),
        ("/v1/nowhere".to_owned(), "route"),
    ] {
        let answer = server.get(&target);
        assert_eq!((answer.status, answer.header("x-not-found")), (404, Some(what)), "{target}");
    }
    assert_eq!(server.get("/v1/fl/stats").header("x-not-found"), None);
}

#[test]
fn the_tag_of_an_answer_does_not_depend_on_the_order_of_parameters_or_the_times_of_files() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let tag = |server: &ApiServer, target: &str| server.get(target).header("etag").expect("a tag").to_owned();
    let (one, other) = ("/v1/fl/businesses?q=su&limit=3&type=llc", "/v1/fl/businesses?type=llc&q=su&limit=3");
    assert_eq!(tag(&server, one), tag(&server, other));
    assert_ne!(tag(&server, one), tag(&server, "/v1/fl/businesses?type=llc&q=su&limit=4"));
    let copy = server.scratch.path("copy");
    let snapshot = source::small().lake.join("current").canonicalize().expect("a snapshot");
    // Without their times.
    crate::support::command::succeed(std::process::Command::new("cp").arg("-rL").arg(&snapshot).arg(&copy));
    let copied = source::Source { lake: server.scratch.path("of-copy"), today: source::small().today };
    std::fs::create_dir_all(&copied.lake).expect("a folder");
    std::os::unix::fs::symlink(&copy, copied.lake.join("current")).expect("a link");
    let second = ApiServer::generous(&copied, AGENCY);
    assert_eq!(tag(&server, one), tag(&second, one));
}

#[test]
fn pages_of_a_named_origin_may_call_the_server_and_no_others() {
    let server =
        ApiServer::with_flags(source::small(), AGENCY, &["--cors-origin", "https://app.example.org"]);
    let preflight = |server: &ApiServer, target: &str, origin: &str| {
        let asked = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", "authorization"),
        ];
        server.send("OPTIONS", target, &asked)
    };
    for target in ["/v1/fl/stats", "/mcp"] {
        let allowed = preflight(&server, target, "https://app.example.org");
        assert_eq!(allowed.status, 204, "{target}");
        assert_eq!(allowed.header("access-control-allow-origin"), Some("https://app.example.org"));
        assert_eq!(allowed.header("access-control-allow-headers"), Some("authorization"));
        let other = preflight(&server, target, "https://evil.example");
        assert_ne!(other.status, 204, "{target}");
        assert_eq!(other.header("access-control-allow-origin"), None);
    }
    let read = |origin: &str| ask(&server, "GET", "/v1/fl/stats", &[("Origin", origin)]);
    let answer = read("https://app.example.org");
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example.org"));
    let exposed = answer.header("access-control-expose-headers").unwrap_or_default();
    assert!(
        ["etag", "ratelimit", "link", "x-not-found"].iter().all(|name| exposed.contains(name)),
        "{exposed}"
    );
    assert!(answer.headers.iter().any(|(name, value)| name == "vary" && value == "origin"), "{answer:?}");
    assert_eq!(read("https://evil.example").header("access-control-allow-origin"), None);
    let tools = [("Origin".to_owned(), "https://app.example.org".to_owned())];
    let listed = mcp::post(&server, &tools, br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#);
    assert_eq!(listed.status, 200, "{}", listed.text());
    let closed = ApiServer::generous(source::small(), AGENCY);
    assert_eq!(preflight(&closed, "/v1/fl/stats", "https://app.example.org").status, 405);
    assert_eq!(
        ask(&closed, "GET", "/v1/me", &[("Origin", "https://app.example.org")])
            .header("access-control-allow-origin"),
        None
    );
}
