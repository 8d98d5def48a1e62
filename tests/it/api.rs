//! The API over HTTP: keys, limits, pages, records. Its rules, call by call, are in `rules.rs`.

use crate::support::command::Sunlake;
use crate::support::http::Answer;
use crate::support::server::{AGENCY, ApiServer, ENTERPRISE, STARTER, create_key};
use crate::support::{lake, source};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn message(answer: &Answer) -> String {
    said(&answer.json())
}

/// The message of an error body, as one text.
pub(crate) fn said(body: &Value) -> String {
    match &body["message"] {
        Value::String(text) => text.clone(),
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; "),
        other => panic!("a message of {other}"),
    }
}

#[test]
fn several_broken_rules_are_an_array_and_one_is_a_text() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let one = server.get("/v1/fl/businesses?q=SU&limit=0").json();
    assert!(one["message"].is_string(), "{one}");
    let many = server.get("/v1/fl/businesses?q=S&limit=0&type=x&y=1").json();
    assert_eq!(many["message"].as_array().map(Vec::len), Some(4), "{many}");
    assert_eq!(many["statusCode"], 400);
    // A day before the window waits for the parameters to be right.
    let both = server.get("/v1/fl/businesses?filed_from=2020-01-01&filed_to=2020-01-02&limit=0");
    assert_eq!(both.status, 400, "{}", both.text());
}

#[test]
fn keys_methods_and_scopes_are_refused_with_the_documented_body() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let bearer = |key: &str| format!("Bearer {key}");
    let stranger = bearer("flb_ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff");
    let raw = server.key.clone();
    let basic = format!("Basic {}", server.key);
    let wrong_case = bearer(&server.key.to_uppercase());
    for header in [None, Some(&stranger), Some(&raw), Some(&basic), Some(&wrong_case)] {
        let headers: Vec<_> = header.map(|value| ("Authorization", value.as_str())).into_iter().collect();
        for target in ["/v1/me", "/v1/fl/stats", "/v1/fl/businesses?limit=0"] {
            let answer = server.send("GET", target, &headers);
            assert_eq!(answer.status, 401, "{target} with {header:?}: {}", answer.text());
            assert_eq!(answer.json()["statusCode"], 401);
            assert!(answer.json()["docs_url"].is_string());
            assert!(answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")));
        }
        let nowhere = server.send("GET", "/v1/nowhere", &headers);
        assert_eq!(nowhere.status, 404, "a route that is none needs no key");
    }
    // The key is accepted nowhere else.
    let in_query = server.send("GET", &format!("/v1/me?api_key={}", server.key), &[]);
    assert_eq!(in_query.status, 401);
    let authorization = bearer(&server.key);
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let answer = server.send(method, "/v1/fl/stats", &[("Authorization", &authorization)]);
        assert_eq!(answer.status, 405, "{method}: {}", answer.text());
        assert!(answer.header("allow").is_some_and(|allow| allow.contains("GET")), "{method}");
        assert_eq!(answer.json()["statusCode"], 405, "{method}");
    }
    // A key of another scope reads its account alone. The running server hears of it.
    let narrow = create_key(&server.scratch, "narrow", "starter", &["billing"]);
    let account = crate::support::wait_for("the new key", crate::support::PATIENCE, || {
        let answer = server.get_with("/v1/me", &narrow);
        (answer.status == 200).then(|| answer.json())
    });
    assert_eq!((&account["kind"], &account["scopes"]), (&"client".into(), &json!(["billing"])));
    let refused = server.get_with("/v1/fl/stats", &narrow);
    assert_eq!((refused.status, message(&refused).contains("data")), (403, true), "{}", refused.text());
}

#[test]
fn a_revoked_key_stops_opening() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let account = server.get("/v1/me").json();
    let id = account["id"].as_str().expect("a key id");
    let keys = server.scratch.path("keys.toml");
    let revoke = Sunlake::new(["keys", "revoke", id]).args(["--keys".as_ref(), keys.as_os_str()]);
    let done = revoke.finish().exits(0);
    assert!(done.stdout.contains("a server refuses it when it has read the file"), "{}", done.shown());
    crate::support::wait_for("the end of the key", crate::support::PATIENCE, || {
        (server.get("/v1/me").status == 401).then_some(())
    });
}

#[test]
fn a_starter_account_gets_20_requests_a_minute_then_429_with_the_seconds_to_wait() {
    let server = ApiServer::strict(source::small(), STARTER);
    let account = server.get("/v1/me").json();
    assert_eq!(account["limits"], json!({ "perMinute": 20, "perDay": 1_000, "perMonth": 10_000 }));
    assert_eq!(account["remaining"], json!({ "minute": 19, "day": 999, "month": 9_999 }));
    // 400s and 404s on known routes count; unknown routes and wrong keys do not.
    for target in ["/v1/fl/businesses", "/v1/fl/businesses/0", "/v1/fl/counties/ATLANTIS"] {
        assert!([400, 404].contains(&server.get(target).status), "{target}");
    }
    for _ in 0..30 {
        assert_eq!(server.get("/v1/nowhere").status, 404);
        assert_eq!(server.send("GET", "/v1/me", &[]).status, 401);
        assert_eq!(server.send("GET", "/healthz", &[]).status, 200);
    }
    // Another key of the account draws from the same allowance.
    let second = create_key(&server.scratch, "acme", "starter", &["data"]);
    let left = crate::support::wait_for("the second key", crate::support::PATIENCE, || {
        let answer = server.get_with("/v1/me", &second);
        (answer.status == 200).then(|| answer.json()["remaining"]["minute"].as_u64().expect("a number"))
    });
    assert_eq!(left, 15, "five requests are spent");
    for number in 6..=20 {
        let answer =
            server.get_with("/v1/fl/entity-types", if number % 2 == 0 { &second } else { &server.key });
        assert_eq!(answer.status, 200, "request {number}: {}", answer.text());
    }
    for key in [&server.key, &second] {
        let over = server.get_with("/v1/fl/entity-types", key);
        assert_eq!(over.status, 429, "request 21: {}", over.text());
        let wait: u64 =
            over.header("retry-after").and_then(|text| text.parse().ok()).expect("integer seconds");
        assert!((1..=60).contains(&wait), "{wait} s");
        assert_eq!((&over.json()["statusCode"], over.json()["docs_url"].is_string()), (&429.into(), true));
    }
    // A wrong parameter is not worth an exception.
    assert_eq!(server.get("/v1/fl/businesses?limit=0").status, 429);
}

#[test]
fn pages_of_every_plan_have_its_size_and_add_up_to_the_listing() {
    for plan in [STARTER, AGENCY, ENTERPRISE] {
        let source = source::small();
        let server = ApiServer::generous(source, plan);
        let mut seen = Vec::new();
        let mut offset = 0;
        loop {
            let target = format!("/v1/fl/businesses?filed_from=2026-03-07&limit=1000&offset={offset}");
            let page = server.get(&target).json();
            let pagination = &page["pagination"];
            assert_eq!(
                (&pagination["limit"], &pagination["offset"]),
                (&plan.rows_per_call.into(), &offset.into())
            );
            let rows = page["data"].as_array().expect("rows").clone();
            seen.extend(rows.iter().map(|row| {
                let id = row["id"].as_str().expect("an id");
                let digits = id.chars().filter(char::is_ascii_digit).collect::<String>();
                (
                    row["filed_date"].as_str().expect("a day").to_owned(),
                    digits.parse::<i64>().expect("a number"),
                )
            }));
            offset += plan.rows_per_call;
            assert_eq!(
                pagination["total"].as_i64() > Some(offset),
                pagination["has_more"] == true,
                "{pagination}"
            );
            if pagination["has_more"] == false {
                assert_eq!(pagination["total"], seen.len());
                break;
            }
        }
        assert!(seen.is_sorted_by(|one, other| one > other), "newest first, each once");
        let mut expected = lake::filings(&source.lake);
        expected.retain(|_, cells| {
            let day = cells["filed_date"].as_deref().expect("a day");
            cells["entity_type"].as_deref() != Some("fictitious")
                && ("2026-03-07"..="2026-03-20").contains(&day)
        });
        assert_eq!(seen.iter().map(|(_, id)| *id).collect::<BTreeSet<_>>(), expected.into_keys().collect());
    }
}

#[test]
fn the_window_of_each_plan_ends_where_the_document_says() {
    for (plan, first, before) in [
        (STARTER, "2026-02-19", "2026-02-18"),
        (AGENCY, "2025-12-21", "2025-12-20"),
        (ENTERPRISE, "2025-03-21", "2025-03-20"),
    ] {
        let server = ApiServer::strict(source::small(), plan);
        assert_eq!(server.get(&format!("/v1/fl/filings/daily/{first}")).status, 200, "{}", plan.name);
        let refused = server.get(&format!("/v1/fl/filings/daily/{before}"));
        assert_eq!(refused.status, 403, "{}", plan.name);
        assert!(message(&refused).contains(first), "{}", refused.text());
        let days = server.get("/v1/fl/filings/daily?days=90").json();
        let expected = plan.window_days.min(90);
        assert_eq!(days["data"].as_array().map(Vec::len), usize::try_from(expected).ok(), "{}", plan.name);
        let single = json!({ "limit": expected, "offset": 0, "has_more": false, "total": expected });
        assert_eq!(days["pagination"], single, "{}", plan.name);
        assert_eq!(days["data"][0]["date"], "2026-03-20", "newest day first");
        let reach = server.get(&format!("/v1/fl/businesses?q=SU&offset={}", plan.max_offset));
        assert_eq!(reach.status, 200, "{}", plan.name);
        let beyond = server.get(&format!("/v1/fl/businesses?q=SU&offset={}", plan.max_offset + 1));
        assert_eq!(beyond.status, 400, "{}", plan.name);
    }
}

#[test]
fn records_have_every_documented_field_and_type() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let page = server.get("/v1/fl/businesses?filed_from=2026-03-09&limit=100").json();
    for row in page["data"].as_array().expect("rows") {
        let keys: Vec<&String> = row.as_object().expect("an object").keys().collect();
        let documented = [
            "id",
            "document_number",
            "name",
            "entity_type",
            "company_type",
            "status",
            "filed_date",
            "dissolved_date",
            "city",
            "zip",
            "county",
            "industry",
            "url",
        ];
        assert_eq!(keys, documented);
        assert!(row["dissolved_date"].is_null() && row["status"] == "active", "{row}");
        let (sector, kind) = (&row["industry"]["sector"], &row["industry"]["type"]);
        let is_of_sector = kind.as_str().zip(sector.as_str()).is_some_and(|(kind, sector)| {
            kind.strip_prefix(sector).is_some_and(|rest| rest.starts_with('.'))
        });
        assert!(is_of_sector, "{row}");
        assert!(row["url"].as_str().is_some_and(|url| url.starts_with("https://")), "{row}");
    }
    let stats = &server.get("/v1/fl/stats").json()["data"];
    for key in
        ["businesses_total", "latest_filing_date", "updated_at", "filings", "monthly", "type_split_30d"]
    {
        assert!(!stats[key].is_null(), "{key} in {stats}");
    }
    let types = ["llc", "corporation", "partnership", "nonprofit", "trust", "fictitious", "other"];
    for month in stats["monthly"].as_array().expect("months") {
        let by_type = month["by_type"].as_object().expect("counts");
        assert!(types.iter().all(|kind| by_type.get(*kind).is_some_and(Value::is_u64)), "{month}");
        let sum: u64 = by_type.values().filter_map(Value::as_u64).sum();
        assert_eq!(month["total"], sum, "{month}");
    }
    let labels = server.get("/v1/fl/entity-types").json();
    let expected = json!([
        { "key": "llc", "label": "Limited liability company" },
        { "key": "corporation", "label": "Corporation" },
        { "key": "partnership", "label": "Partnership" },
        { "key": "nonprofit", "label": "Nonprofit" },
        { "key": "fictitious", "label": "Fictitious name" },
        { "key": "trust", "label": "Trust" },
    ]);
    assert_eq!(labels["data"], expected);
    let counties = server.get("/v1/fl/counties").json();
    assert_eq!(counties["data"].as_array().map(Vec::len), Some(67));
}

#[test]
fn daily_counts_listings_and_filters_agree_with_each_other() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let total = |target: &str| server.get(target).json()["pagination"]["total"].as_u64().expect("a total");
    let counts = server.get("/v1/fl/filings/daily?days=14").json();
    for count in counts["data"].as_array().expect("days") {
        let day = count["date"].as_str().expect("a day");
        assert_eq!(count["count"], total(&format!("/v1/fl/filings/daily/{day}")), "{day}");
        assert_eq!(
            count["count"],
            total(&format!("/v1/fl/businesses?filed_from={day}&filed_to={day}")),
            "{day}"
        );
    }
    let all = total("/v1/fl/businesses?filed_from=2026-03-07");
    let parts: u64 = ["llc", "corporation", "partnership", "nonprofit", "trust"]
        .iter()
        .map(|kind| total(&format!("/v1/fl/businesses?filed_from=2026-03-07&type={kind}")))
        .sum();
    assert_eq!(all, parts, "an untyped listing leaves fictitious names out");
    assert!(total("/v1/fl/businesses?filed_from=2026-03-07&type=fictitious") > 0);
    let upper = total("/v1/fl/businesses?filed_from=2026-03-07&county=MIAMI-DADE");
    assert_eq!(
        upper,
        total("/v1/fl/businesses?filed_from=2026-03-07&county=Miami-Dade"),
        "case does not matter"
    );
    assert!(upper > 0);
}
