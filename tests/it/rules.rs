//! Every rule of the API document, call by call: each is sent over HTTP and as a tool call, and answered the same.

use crate::api::{message, said};
use crate::support::http::Answer;
use crate::support::mcp::{Era, ToolCall, ask_with};
use crate::support::server::{ApiServer, ENTERPRISE, STARTER, create_key};
use crate::support::source;
use serde_json::{Value, json};

/// One call: its target, the status it gets, and what the message says; nothing for a good answer.
struct Case {
    call: &'static str,
    status: u16,
    says: &'static [&'static str],
}

const fn good(call: &'static str) -> Case {
    Case { call, status: 200, says: &[] }
}

const fn bad(call: &'static str, status: u16, says: &'static [&'static str]) -> Case {
    Case { call, status, says }
}

/// Searches, by the rules of `GET /v1/fl/businesses`. Today is 2026-03-20, the plan Enterprise.
const SEARCHES: &[Case] = &[
    // Rule 1: a narrowing filter.
    bad("", 400, &["narrowing filter", "filed_from"]),
    bad("?county=Duval", 400, &["narrowing filter"]),
    bad("?type=llc", 400, &["narrowing filter"]),
    bad("?industry=construction", 400, &["narrowing filter"]),
    bad("?status=active", 400, &["narrowing filter"]),
    bad("?limit=10&offset=0", 400, &["narrowing filter"]),
    bad("?filed_to=2026-03-01", 400, &["filed_to", "filed_from"]),
    good("?q=SU"),
    good("?city=Tampa"),
    good("?zip=331"),
    good("?zip=33101"),
    good("?filed_from=2026-03-01"),
    good("?filed_from=2026-03-01&county=Duval&type=llc&status=active"),
    bad("?city=Tampa&filed_to=2026-03-01", 400, &["filed_to needs filed_from"]),
    good("?q=SU&filed_to=2026-03-01"),
    // `all` needs a q.
    bad("?city=Tampa&status=all", 400, &["status=all", "q"]),
    good("?q=SU&status=all"),
    // Rule 3: the window, then the span.
    bad("?filed_from=2025-03-20&filed_to=2025-03-21", 403, &["filed_from", "2025-03-21"]),
    good("?filed_from=2025-03-21&filed_to=2025-03-22"),
    good("?q=SU&filed_from=1999-01-01"),
    good("?filed_from=2025-12-19&filed_to=2026-03-20"),
    bad("?filed_from=2025-12-18&filed_to=2026-03-20", 400, &["92"]),
    bad("?filed_from=2025-12-18", 400, &["92"]),
    good("?q=SU&filed_from=2020-01-01&filed_to=2026-03-20"),
    // Rule 4: unknown parameters, values out of bounds.
    bad("?q=SU&sort=name", 400, &["unknown parameter", "sort"]),
    bad("?q=SU&Limit=5", 400, &["unknown parameter", "Limit"]),
    bad("?q=S", 400, &["q", "2 to 80"]),
    bad("?q=", 400, &["q"]),
    bad("?q=SU&q=SO", 400, &["q", "once"]),
    bad("?q=%zz", 400, &["percent"]),
    bad("?q=%FF%FE", 400, &["UTF-8"]),
    bad("?q=SU%00", 400, &["control"]),
    bad("?q=ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABC", 400, &["80"]),
    bad("?city=ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNO", 400, &["city", "40"]),
    bad("?q=SU&county=ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNO", 400, &["county", "40"]),
    bad("?zip=33", 400, &["zip"]),
    bad("?zip=331011", 400, &["zip"]),
    bad("?zip=33A", 400, &["zip"]),
    bad("?filed_from=2026-02-30", 400, &["filed_from", "real day"]),
    bad("?filed_from=2026-3-1", 400, &["filed_from"]),
    bad("?filed_from=2026-03-10&filed_to=2026-03-09", 400, &["filed_from", "after"]),
    bad("?q=SU&type=LLC", 400, &["type", "llc, corporation, partnership, nonprofit, fictitious, trust"]),
    bad("?q=SU&status=dissolved", 400, &["status", "active, all"]),
    bad("?q=SU&industry=nonsense", 400, &["industry", "nonsense"]),
    // Limit and offset.
    good("?q=SU&limit=1"),
    good("?q=SU&limit=1000"),
    bad("?q=SU&limit=0", 400, &["limit", "1 to 1000"]),
    bad("?q=SU&limit=1001", 400, &["limit", "1 to 1000"]),
    bad("?q=SU&limit=05", 400, &["limit"]),
    bad("?q=SU&limit=+5", 400, &["limit"]),
    bad("?q=SU&limit=-1", 400, &["limit"]),
    bad("?q=SU&limit=2.5", 400, &["limit"]),
    good("?q=SU&offset=5000"),
    bad("?q=SU&offset=5001", 400, &["offset", "5000"]),
    bad("?q=SU&offset=100001", 400, &["offset"]),
    bad("?q=SU&offset=-1", 400, &["offset"]),
    bad("?q=SU&offset=1e3", 400, &["offset"]),
    // The edges of every bound, and values of every form.
    good("?q=SU&limit=1000&offset=0"),
    good("?q=ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZAB"),
    good("?q=%C3%91A"),
    bad("?q=%C3%91", 400, &["2 to 80"]),
    good("?q=A%26B"),
    good("?q=100%25"),
    good("?q=_%25"),
    good("?q=su+&city=%20"),
    good("?city=ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMN"),
    good("?zip=3310"),
    bad("?zip=3310%20", 400, &["zip"]),
    bad("?zip=-331", 400, &["zip"]),
    good("?q=SU&type=fictitious"),
    good("?q=SU&type=trust&industry=construction"),
    bad("?q=SU&type=", 400, &["type", "empty"]),
    bad("?q=SU&county=", 400, &["county", "empty"]),
    bad("?q=SU&city=", 400, &["city", "empty"]),
    bad("?q=SU&zip=", 400, &["zip", "empty"]),
    bad("?q=SU&filed_from=", 400, &["filed_from", "empty"]),
    bad("?q=SU&filed_to=", 400, &["filed_to", "empty"]),
    bad("?q=SU&industry=", 400, &["industry", "empty"]),
    bad("?q=SU&status=", 400, &["status", "empty"]),
    bad("?q=SU&limit=", 400, &["limit", "empty"]),
    bad("?q=SU&offset=", 400, &["offset", "empty"]),
    bad("?q=SU&industry=Construction", 400, &["industry"]),
    bad("?q=SU&status=ALL", 400, &["status"]),
    bad("?q=SU&zip=331&zip=331", 400, &["zip", "once"]),
    bad("?q=SU&limit=5&limit=5", 400, &["limit", "once"]),
    bad("?q=SU&=1", 400, &["unknown parameter"]),
    bad("?q=SU&id=1", 400, &["unknown parameter", "id"]),
    bad("?q=SU&filed_from=2026-03-01T00:00:00", 400, &["filed_from"]),
    bad("?q=SU&filed_from=20260301", 400, &["filed_from"]),
    bad("?q=SU&filed_from=0000-01-01", 400, &["filed_from"]),
    good("?q=SU&filed_from=2024-02-29&filed_to=2024-02-29"),
    bad("?q=SU&filed_from=2025-02-29", 400, &["filed_from", "real day"]),
    good("?filed_from=2026-03-20&filed_to=2026-06-19"),
    bad("?filed_from=2026-03-20&filed_to=2026-06-20", 400, &["93 days"]),
    good("?filed_from=2026-04-01&filed_to=2026-04-02"),
    bad("?filed_from=2026-03-21", 400, &["filed_from", "after"]),
    // Several at once.
    bad("?county=Duval&limit=0&x=1", 400, &["narrowing filter", "limit", "unknown parameter"]),
    bad("?city=Tampa&filed_to=2026-03-01&status=all", 400, &["filed_to needs", "status=all"]),
    bad(
        "?q=S&zip=3&type=x&status=y&limit=0&offset=-1&industry=z",
        400,
        &["q ", "zip", "type", "status", "limit", "offset", "industry"],
    ),
    bad("?filed_from=2020-01-01&filed_to=2020-01-02&limit=0", 400, &["limit"]),
    bad("?filed_from=2020-01-01&filed_to=2020-06-02", 400, &["days"]),
];

/// The other operations.
const OTHERS: &[Case] = &[
    good("/v1/me"),
    good("/v1/fl/filings/daily"),
    good("/v1/fl/filings/daily?days=1"),
    good("/v1/fl/filings/daily?days=90"),
    bad("/v1/fl/filings/daily?days=0", 400, &["days", "1 to 90"]),
    bad("/v1/fl/filings/daily?days=91", 400, &["days", "1 to 90"]),
    bad("/v1/fl/filings/daily?days=7.5", 400, &["days", "whole number"]),
    bad("/v1/fl/filings/daily?day=7", 400, &["unknown parameter"]),
    good("/v1/fl/filings/daily/2026-03-20"),
    good("/v1/fl/filings/daily/2025-03-21?limit=5&offset=0"),
    bad("/v1/fl/filings/daily/2025-03-20", 403, &["2025-03-21"]),
    bad("/v1/fl/filings/daily/2026-03-21", 400, &["future"]),
    bad("/v1/fl/filings/daily/2026-02-30", 400, &["real day"]),
    bad("/v1/fl/filings/daily/today", 400, &["real day"]),
    bad("/v1/fl/filings/daily/2026-03-20?limit=0", 400, &["limit"]),
    bad("/v1/fl/filings/daily/2026-03-20?offset=5001", 400, &["offset"]),
    bad("/v1/fl/filings/daily/2026-03-20?county=Duval", 400, &["unknown parameter"]),
    good("/v1/fl/counties"),
    good("/v1/fl/counties/DUVAL"),
    good("/v1/fl/counties/miami-dade"),
    bad("/v1/fl/counties/ATLANTIS", 404, &["ATLANTIS"]),
    bad("/v1/fl/counties/D1", 400, &["county key"]),
    bad("/v1/fl/counties/%20DUVAL", 400, &["county key"]),
    bad("/v1/fl/counties/%ff", 400, &["UTF-8"]),
    bad("/v1/fl/counties/DUVAL?x=1", 400, &["unknown parameter"]),
    bad("/v1/fl/counties/ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNO", 400, &["county key"]),
    bad("/v1/fl/filings/daily?days=", 400, &["days", "empty"]),
    bad("/v1/fl/filings/daily?days=07", 400, &["days"]),
    bad("/v1/fl/filings/daily?days=7&days=7", 400, &["days", "once"]),
    bad("/v1/fl/filings/daily?days=-1&x=1", 400, &["days", "unknown parameter"]),
    bad("/v1/fl/filings/daily/2026-03-20?offset=0&offset=0", 400, &["offset", "once"]),
    bad("/v1/fl/filings/daily/2026-02-30?limit=0&x=1", 400, &["real day", "limit", "unknown parameter"]),
    good("/v1/fl/filings/daily/2026-03-20?limit=1000&offset=5000"),
    good("/v1/fl/stats"),
    // An operation without parameters does not look at its query.
    good("/v1/fl/stats?x=1&x=%zz"),
    good("/v1/me?days=0"),
    good("/v1/fl/industries"),
    good("/v1/fl/entity-types"),
    bad("/v1/fl/businesses/0", 400, &["positive integer"]),
    bad("/v1/fl/businesses/000", 400, &["positive integer"]),
    bad("/v1/fl/businesses/1.5", 400, &["positive integer"]),
    bad("/v1/fl/businesses/%31x", 400, &["positive integer"]),
    bad("/v1/fl/businesses/1?limit=5", 400, &["unknown parameter"]),
    bad("/v1/fl/businesses/99999999999999999999999999", 404, &["no business"]),
    bad("/v1/fl/businesses/by-document", 400, &["positive integer"]),
    bad("/v1/fl/businesses/abc", 400, &["positive integer"]),
    bad("/v1/fl/businesses/-1", 400, &["positive integer"]),
    bad("/v1/fl/businesses/999999999999", 404, &["no business"]),
    bad("/v1/fl/businesses/999999999999/officers", 404, &["no business"]),
    bad("/v1/fl/businesses/0/officers", 400, &["positive integer"]),
    bad("/v1/fl/businesses/by-document/L12", 400, &["6 to 12"]),
    bad("/v1/fl/businesses/by-document/L123456789012", 400, &["6 to 12"]),
    bad("/v1/fl/businesses/by-document/L-1234567", 400, &["6 to 12"]),
    bad("/v1/fl/businesses/by-document/Z99999999999", 404, &["Z99999999999"]),
    // Routes that are none.
    bad("/index.html", 404, &["route"]),
    bad("/v1", 404, &["route"]),
    bad("/v1/fl/business", 404, &["route"]),
    bad("/v1/fl/businesses/", 404, &["route"]),
    bad("/v1/FL/businesses", 404, &["route"]),
    bad("/v1//me", 404, &["route"]),
    bad("/v2/me", 404, &["route"]),
    bad("/v1/fl/businesses/1/officers/2", 404, &["route"]),
];

/// What an answer breaks of its case, in words.
fn faults(case: &Case, target: &str, answer: &Answer) -> Vec<String> {
    let mut faults = Vec::new();
    let mut claim = |holds: bool, what: String| {
        if !holds {
            faults.push(format!("{target}: {what}; {} {}", answer.status, answer.text()));
        }
    };
    claim(answer.status == case.status, format!("{} is due", case.status));
    let kind = answer.header("content-type").unwrap_or_default();
    claim(kind.starts_with("application/json"), format!("the content type is {kind:?}"));
    if answer.status != 200 {
        let body = answer.json();
        claim(body["statusCode"] == answer.status, "statusCode is not the status".to_owned());
        claim(
            body["docs_url"].as_str().is_some_and(|url| url.starts_with("http://")),
            "no docs_url".to_owned(),
        );
        let said = message(answer);
        for words in case.says {
            claim(said.contains(words), format!("it does not say {words:?}"));
        }
    }
    faults
}

/// Calls of all the tables, as HTTP targets.
fn cases() -> impl Iterator<Item = (String, &'static Case)> {
    let searches = SEARCHES.iter().map(|case| (format!("/v1/fl/businesses{}", case.call), case));
    searches.chain(OTHERS.iter().map(|case| (case.call.to_owned(), case)))
}

#[test]
fn every_rule_of_the_document_is_answered_as_it_says() {
    let server = ApiServer::generous(source::small(), ENTERPRISE);
    let mut found = Vec::new();
    for (target, case) in cases() {
        found.extend(faults(case, &target, &server.get(&target)));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// `remaining` of the account record moves with every request.
fn standing_still(target: &str, body: &str) -> String {
    let end = if target.starts_with("/v1/me") { body.find(",\"remaining\"") } else { None };
    body[..end.unwrap_or(body.len())].to_owned()
}

#[test]
fn a_tool_call_gives_the_body_that_the_endpoint_gives_whether_it_is_good_or_bad() {
    let server = ApiServer::generous(source::small(), ENTERPRISE);
    let (mut found, mut good, mut bad) = (Vec::new(), 0, 0);
    for (target, case) in cases() {
        let Some(call) = ToolCall::of_target(&target) else { continue };
        let rest = server.get(&target);
        for era in Era::ALL {
            let result = call.send(&server, era);
            let due = standing_still(&target, &rest.text());
            if standing_still(&target, &result.text) != due {
                found.push(format!("{target} {era:?}: {} instead of {due}", result.text));
            }
            if result.is_error != (case.status != 200) {
                found.push(format!("{target} {era:?}: isError is {}", result.is_error));
            }
            let structured = (!result.is_error).then(|| serde_json::from_str(&result.text).expect("JSON"));
            if result.structured != structured {
                found.push(format!("{target} {era:?}: structuredContent {:?}", result.structured));
            }
        }
        *(if case.status == 200 { &mut good } else { &mut bad }) += 1;
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
    assert!(good > 30 && bad > 80, "{good} good and {bad} bad calls");
}

/// A call each that is good, breaks a rule, reaches behind the window, or asks for what there is not.
const CALLS: [&str; 5] = [
    "/v1/me",
    "/v1/fl/stats",
    "/v1/fl/businesses?limit=0",
    "/v1/fl/filings/daily/2020-01-01",
    "/v1/fl/counties/ATLANTIS",
];

/// Status and message of a tool call, wherever they stand.
fn outcome(server: &ApiServer, key: &str, call: &ToolCall) -> (u16, String) {
    let params = json!({ "name": call.tool, "arguments": call.arguments });
    let answer = ask_with(server, key, Era::Standalone, "tools/call", params);
    if answer.status != 200 {
        return (answer.status, message(&answer));
    }
    let result = &answer.json()["result"];
    let text = result["content"][0]["text"].as_str().expect("text");
    let body: Value = serde_json::from_str(text).expect("JSON");
    match result["isError"] == true {
        true => {
            (u16::try_from(body["statusCode"].as_u64().expect("a status")).expect("a status"), said(&body))
        }
        false => (200, String::new()),
    }
}

/// Claims that each of [`CALLS`] gets its status over REST and MCP, and the same words but for the seconds to wait.
fn assert_outcomes(server: &ApiServer, key: &str, due: [u16; 5]) {
    for (target, due) in CALLS.into_iter().zip(due) {
        let rest = server.get_with(target, key);
        let (status, reported) = outcome(server, key, &ToolCall::of_target(target).expect("a tool"));
        assert_eq!((rest.status, status), (due, due), "{key} {target}: {reported}");
        if ![200, 429].contains(&due) {
            assert_eq!(reported, message(&rest), "{key} {target}");
        }
    }
}

#[test]
fn checks_come_in_the_same_order_over_rest_and_mcp() {
    let server = ApiServer::strict(source::small(), STARTER);
    let narrow = create_key(&server.scratch, "acme", STARTER.name, &["billing"]);
    crate::support::wait_for("the new key", crate::support::PATIENCE, || {
        (server.get_with("/v1/me", &narrow).status != 401).then_some(())
    });
    let exhaust = || while server.get("/v1/fl/entity-types").status != 429 {};
    exhaust();
    let due = |key: &str| match key {
        "" | "wrong" => [401; 5],
        key if key == narrow => [429, 403, 403, 403, 403],
        _ => [429; 5],
    };
    for key in ["", "wrong", &narrow, &server.key] {
        assert_outcomes(&server, key, due(key));
    }
    // What calls nothing needs no scope, and is over the limit like everything else.
    for (key, due) in [("wrong", 401), (narrow.as_str(), 429), (&server.key, 429)] {
        for method in ["tools/list", "server/discover", "tools/nothing"] {
            let answer = ask_with(&server, key, Era::Standalone, method, json!({}));
            assert_eq!(answer.status, due, "{key} {method}: {}", answer.text());
        }
    }
}

#[test]
fn below_the_limits_scope_comes_before_rules_and_a_plan_without_access_before_all_of_them() {
    let server = ApiServer::generous(source::small(), ENTERPRISE);
    let narrow = create_key(&server.scratch, "acme", ENTERPRISE.name, &["billing"]);
    let closed = create_key(&server.scratch, "closed", STARTER.name, &["data"]);
    let keys = server.scratch.path("keys.toml");
    let mut file: toml::Table = std::fs::read_to_string(&keys).expect("keys").parse().expect("TOML");
    let account = file["account"].as_array_mut().expect("accounts").last_mut().expect("an account");
    account.as_table_mut().expect("a table").insert("api_access".to_owned(), false.into());
    std::fs::write(&keys, toml::to_string(&file).expect("TOML")).expect("keys");
    crate::support::wait_for("the closed account", crate::support::PATIENCE, || {
        (server.get_with("/v1/me", &closed).status == 403).then_some(())
    });
    for (key, due) in
        [(&closed, [403; 5]), (&narrow, [200, 403, 403, 403, 403]), (&server.key, [200, 200, 400, 403, 404])]
    {
        assert_outcomes(&server, key, due);
    }
    for method in ["tools/list", "server/discover", "tools/nothing"] {
        let answer = ask_with(&server, &closed, Era::Standalone, method, json!({}));
        assert_eq!((answer.status, message(&answer).contains("no API access")), (403, true), "{method}");
    }
}
