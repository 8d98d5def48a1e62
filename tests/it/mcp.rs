//! MCP as clients speak it: versions, refusals, counting, and all twelve tools.

use crate::support::command::Sunlake;
use crate::support::http::{self, Answer};
use crate::support::mcp::{Era, TOOLS, ToolCall, ask, post};
use crate::support::server::{AGENCY, ApiServer, STARTER, create_key};
use crate::support::{node, python, source};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn send(server: &ApiServer, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    http::exchange(server.address, method, "/mcp", headers, Some(body))
        .unwrap_or_else(|error| panic!("{method}: {error}"))
}

/// Checks the complete error body of the API.
fn is_error_body(answer: &Answer, status: u16, says: &str) {
    let reported = answer.text();
    assert_eq!(answer.status, status, "{reported}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{reported}");
    let body = answer.json();
    assert_eq!(body["statusCode"], status, "{reported}");
    assert!(body["docs_url"].as_str().is_some_and(|url| url.ends_with("/docs.md")), "{reported}");
    assert!(body["message"].as_str().is_some_and(|message| message.contains(says)), "{says:?} in {reported}");
    assert_eq!(body.as_object().map(serde_json::Map::len), Some(3), "{reported}");
}

#[test]
fn the_handshake_settles_on_a_version_and_the_server_names_itself() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for (asked, got) in [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let params = json!({
            "protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params});
        let answer = post(&server, &[], message.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{asked}: {}", answer.text());
        assert_eq!(answer.header("mcp-session-id"), None, "no session");
        let body = answer.json();
        assert_eq!((&body["id"], &body["result"]["protocolVersion"]), (&json!("a"), &json!(got)), "{asked}");
        assert_eq!(body["result"]["serverInfo"]["name"], "sunlake");
        assert_eq!(body["result"]["capabilities"], json!({"tools": {}}), "{asked}");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let headers = owned(&[("MCP-Protocol-Version", got)]);
        let accepted = post(&server, &headers, initialized.to_string().as_bytes());
        assert_eq!((accepted.status, accepted.body.len()), (202, 0), "{asked}");
    }
}

#[test]
fn discovery_lists_versions_and_every_later_request_is_independent() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let body = ask(&server, Era::Standalone, "server/discover", json!({})).json();
    let result = &body["result"];
    assert_eq!(
        result["supportedVersions"],
        json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]),
        "{body}"
    );
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "sunlake", "{body}");
    assert_eq!((&result["resultType"], result["ttlMs"].is_u64()), (&json!("complete"), true), "{body}");
}

#[test]
fn twelve_tools_are_listed_read_only_with_closed_arguments_and_an_output() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for era in Era::ALL {
        let result = ask(&server, era, "tools/list", json!({})).json()["result"].clone();
        let tools = result["tools"].as_array().expect("tools").clone();
        let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, TOOLS.map(|(_, tool)| tool), "{era:?}");
        for tool in &tools {
            let hints = &tool["annotations"];
            assert_eq!(
                (&hints["readOnlyHint"], &hints["destructiveHint"]),
                (&json!(true), &json!(false)),
                "{tool}"
            );
            assert_eq!(
                (&hints["idempotentHint"], &hints["openWorldHint"]),
                (&json!(true), &json!(false)),
                "{tool}"
            );
            assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
            assert!(!tool.to_string().contains("$ref"), "a schema is self-contained: {tool}");
            assert!(!tool["inputSchema"].to_string().contains("null"), "optional is not nullable: {tool}");
        }
        assert_eq!(result["ttlMs"].is_u64(), era == Era::Standalone, "{era:?}");
        let beyond = ask(&server, era, "tools/list", json!({"cursor": "x"})).json();
        assert_eq!(beyond["error"]["code"], -32602, "{beyond}");
    }
}

/// What is wrong with the HTTP request gets the API's own error body.
#[test]
fn a_request_that_is_no_post_of_json_from_here_with_a_key_is_refused_with_the_error_body() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let ping = ping.as_bytes();
    let key = format!("Bearer {}", server.key);
    let json_type = ("Content-Type", "application/json");
    for method in ["GET", "DELETE", "PUT", "OPTIONS", "PATCH"] {
        let answer = send(&server, method, &[("Authorization", &key), json_type], ping);
        is_error_body(&answer, 405, method);
        assert_eq!(answer.header("allow"), Some("POST"), "{method}");
    }
    let rest = server.send("GET", "/v1/me", &[("Authorization", "Bearer wrong")]);
    let wrong = send(&server, "POST", &[("Authorization", "Bearer wrong"), json_type], ping);
    assert_eq!((wrong.status, wrong.text()), (401, rest.text()), "the same body as over REST");
    assert_eq!(wrong.header("www-authenticate"), rest.header("www-authenticate"));
    is_error_body(&send(&server, "POST", &[json_type], ping), 401, "missing or not valid");
    for headers in
        [vec![("Authorization", key.as_str())], vec![("Authorization", &key), ("Content-Type", "text/plain")]]
    {
        is_error_body(&send(&server, "POST", &headers, ping), 415, "application/json");
    }
    for (name, value) in [
        ("Host", "evil.example"),
        ("Host", "evil.example:80"),
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
    ] {
        let answer = send(&server, "POST", &[("Authorization", &key), json_type, (name, value)], ping);
        is_error_body(&answer, 403, name);
    }
    for (name, value) in [
        ("Host", "localhost"),
        ("Origin", "http://localhost:6274"),
        ("Accept", "application/json"),
        ("Accept", "*/*"),
        ("Content-Type", "application/json; charset=utf-8"),
        ("Mcp-Session-Id", "left-over"),
    ] {
        let mut headers = vec![("Authorization", key.as_str()), (name, value)];
        if name != "Content-Type" {
            headers.push(json_type);
        }
        let answer = send(&server, "POST", &headers, ping);
        assert_eq!((answer.status, answer.json()["result"].clone()), (200, json!({})), "{name}: {value}");
    }
    for size in [64 * 1024 + 1, 200_000, 3_000_000] {
        let large = vec![b' '; size];
        match http::exchange(
            server.address,
            "POST",
            "/mcp",
            &[("Authorization", &key), json_type],
            Some(&large),
        ) {
            Ok(answer) => is_error_body(&answer, 413, "65536 bytes"),
            // Far too much is not read to its end; the sender may see the connection close instead.
            Err(error) => assert!(size > 1_000_000, "{size} bytes: {error}"),
        }
    }
    let mut fits = ping.to_vec();
    fits.resize(64 * 1024, b' ');
    assert_eq!(send(&server, "POST", &[("Authorization", &key), json_type], &fits).status, 200);
}

#[test]
fn behind_a_proxy_the_public_address_is_the_servers_name() {
    let public = "https://filings.example.org";
    let server =
        ApiServer::reported(source::small(), AGENCY, &["--public-url", "https://filings.example.org/"]);
    assert_eq!(server.get("/v1/fl/businesses").json()["docs_url"], format!("{public}/docs.md"));
    assert_eq!(server.send("GET", "/openapi.json", &[]).json()["servers"][0]["url"], public);
    let key = format!("Bearer {}", server.key);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    for (name, value, status) in [
        ("Host", "filings.example.org", 200),
        ("Host", "FILINGS.example.org:443", 200),
        ("Host", "other.example.org", 403),
        ("Origin", public, 200),
        ("Origin", "http://filings.example.org", 403),
        ("Origin", "https://example.org", 403),
    ] {
        let headers = [("Authorization", key.as_str()), ("Content-Type", "application/json"), (name, value)];
        assert_eq!(send(&server, "POST", &headers, ping.as_bytes()).status, status, "{name}: {value}");
    }
    for wrong in
        ["filings.example.org", "ftp://filings.example.org", "https://", "https://a b", "https://a@b"]
    {
        Sunlake::new(["serve", "--keys", "keys.toml", "--public-url", wrong])
            .finish()
            .exits(2)
            .says("https://");
    }
}

/// Headers and body, and the status and code they get.
type MessageCase<'a> = (&'a [(&'a str, &'a str)], &'a str, u16, i64);

/// What is wrong with the message gets a JSON-RPC error; where the API found it, with the error body as its data.
#[test]
fn a_message_that_cannot_be_understood_gets_a_json_rpc_error_never_plain_text() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let unknown = [("MCP-Protocol-Version", "1999-01-01")];
    let old = [("MCP-Protocol-Version", "2024-11-05")];
    let deep = "[".repeat(1_000);
    let list = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
    let modern = |version: &str, method: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
        });
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"_meta": meta}}).to_string()
    };
    let later = modern("2099-01-01", "tools/list");
    let (mismatched, nowhere) = (modern("2026-07-28", "tools/list"), modern("2026-07-28", "tools/nothing"));
    let handshake = modern("2026-07-28", "initialize");
    let standalone = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")];
    let cases: &[MessageCase<'_>] = &[
        (&[], "", 400, -32700),
        (&[], "{\"jsonrpc\":", 400, -32700),
        (&[], "\u{feff}{}", 400, -32700),
        (&[], "{\"a\":\"\\ud800\"}", 400, -32700),
        (&[], &deep, 400, -32700),
        (&[], "[]", 400, -32600),
        (&[], "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", 400, -32600),
        (&[], "1", 400, -32600),
        (&[], "null", 400, -32600),
        (&[], "{}", 400, -32600),
        (&[], "{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}", 400, -32600),
        (&[], "{\"id\":7,\"method\":\"ping\"}", 400, -32600),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":7.5,\"method\":\"ping\"}", 400, -32600),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}", 400, -32600),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":5}", 400, -32600),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", 400, -32600),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/nothing\"}", 200, -32601),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"prompts/list\"}", 200, -32601),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/list\"}", 200, -32601),
        (
            &[],
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":{\"uri\":\"a:b\"}}",
            200,
            -32601,
        ),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\"}", 200, -32602),
        (
            &[],
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"arguments\":{}}}",
            200,
            -32602,
        ),
        (
            &[],
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"get_stats\",\"arguments\":[]}}",
            200,
            -32602,
        ),
        (
            &[],
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"drop_businesses\"}}",
            200,
            -32602,
        ),
        (&[], "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\"}", 200, -32602),
        (&unknown, list, 400, -32022),
        (&old, list, 400, -32022),
        (&[("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", "tools/list")], &later, 400, -32022),
        (&unknown, &mismatched, 400, -32020),
        (&[], &mismatched, 400, -32020),
        (&[("MCP-Protocol-Version", "2026-07-28")], &mismatched, 400, -32020),
        (&[("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "ping")], &mismatched, 400, -32020),
        (&standalone, list, 400, -32602),
        (&[("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/nothing")], &nowhere, 404, -32601),
        (&[("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "initialize")], &handshake, 404, -32601),
    ];
    let mut found = Vec::new();
    for (headers, body, status, code) in cases {
        let answer = post(&server, &owned(headers), body.as_bytes());
        let reported = answer.json();
        let is_json = answer.header("content-type") == Some("application/json");
        let is_told = reported["jsonrpc"] == "2.0"
            && reported["error"]["code"] == *code
            && reported["error"]["message"].is_string();
        if answer.status != *status || !is_json || !is_told {
            found.push(format!("{headers:?} {body}: {} {}", answer.status, answer.text()));
        }
        let data = &reported["error"]["data"];
        let due = if *code == -32601 { 404 } else { 400 };
        let is_explained = data["statusCode"] == due && data["message"] == reported["error"]["message"];
        if !is_explained || !data["docs_url"].as_str().is_some_and(|url| url.ends_with("/docs.md")) {
            found.push(format!("{body}: no error body in {reported}"));
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
    let unspoken = post(&server, &owned(&unknown), list.as_bytes()).json();
    assert_eq!(unspoken["error"]["data"]["supported"][3], "2026-07-28", "{unspoken}");
    assert_eq!(unspoken["id"], 7, "{unspoken}");
}

#[test]
fn an_error_without_a_known_id_says_null() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for body in ["{", "[]", "{}", r#"{"jsonrpc": "2.0", "id": {}, "method": "ping"}"#] {
        let answer = post(&server, &[], body.as_bytes()).json();
        assert_eq!(answer.get("id"), Some(&Value::Null), "{body}: {answer}");
    }
}

#[test]
fn a_host_that_a_proxy_put_there_is_explained_to_the_client_and_to_the_operator() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for _ in 0..3 {
        let refused = server.send("POST", "/mcp", &[("Host", "sunlake_upstream")]);
        is_error_body(&refused, 403, "--public-url");
    }
    server.process.terminate();
    let done = server.process.finish().exits(0);
    assert_eq!(done.stderr.matches("was refused for its Host").count(), 1, "{}", done.shown());
}

#[test]
fn params_and_meta_that_are_null_count_as_absent() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for (method, params) in [
        ("ping", "null"),
        ("tools/list", "null"),
        ("tools/list", "{\"_meta\":null}"),
        ("tools/list", "{\"_meta\":null,\"cursor\":null}"),
        ("tools/call", "{\"_meta\":null,\"name\":\"get_stats\"}"),
        ("tools/call", "{\"name\":\"get_stats\",\"arguments\":null}"),
    ] {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"{method}\",\"params\":{params}}}");
        let answer = post(&server, &[], body.as_bytes());
        assert_eq!(answer.status, 200, "{body}: {}", answer.text());
        assert!(answer.json()["result"].is_object(), "{body}: {}", answer.text());
    }
}

#[test]
fn arguments_are_taken_in_the_types_of_their_schema_alone() {
    let server = ApiServer::generous(source::small(), AGENCY);
    for (tool, arguments, says) in [
        ("search_businesses", json!({"q": "SU", "limit": "5"}), "limit must be a whole number"),
        ("search_businesses", json!({"q": 12}), "q must be text"),
        ("search_businesses", json!({"q": [null]}), "q must be text"),
        ("search_businesses", json!({"q": null, "limit": null}), "q, city, zip"),
        ("get_business", json!({"id": null}), "id is required"),
        ("search_businesses", json!({"zip": 33_702}), "zip must be 5 digits"),
        ("search_businesses", json!({"q": "SU", "type": ["llc"]}), "type must be one of"),
        ("get_stats", json!({"days": 7}), "unknown parameter \"days\""),
        ("get_business", json!({}), "id is required"),
        ("get_county", json!({"key": {"is": "DUVAL"}}), "key must be a county key"),
    ] {
        let call = ToolCall { tool, arguments: arguments.as_object().expect("arguments").clone() };
        for era in Era::ALL {
            let result = call.send(&server, era);
            assert!(
                result.is_error && result.text.contains("\"statusCode\":400"),
                "{call:?}: {}",
                result.text
            );
            let body: Value = serde_json::from_str(&result.text).expect("JSON");
            assert!(
                body["message"].to_string().replace("\\\"", "\"").contains(says),
                "{says}: {}",
                result.text
            );
        }
    }
}

#[test]
fn every_request_to_mcp_is_counted_with_those_of_rest_and_429_is_an_http_answer() {
    let server = ApiServer::strict(source::small(), STARTER);
    let left =
        |server: &ApiServer| server.get("/v1/me").json()["remaining"]["minute"].as_u64().expect("a number");
    assert_eq!(left(&server), 19);
    ask(&server, Era::Handshake, "tools/list", json!({}));
    post(&server, &[], b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    post(&server, &[], b"[]");
    post(&server, &[], b"{");
    ask(&server, Era::Standalone, "server/discover", json!({}));
    assert_eq!(left(&server), 13, "five requests to /mcp and one more to look");
    // Neither of these is the account's.
    let key = format!("Bearer {}", server.key);
    assert_eq!(send(&server, "GET", &[("Authorization", &key)], b"").status, 405);
    assert_eq!(
        send(&server, "POST", &[("Authorization", &key), ("Host", "evil.example")], b"{}").status,
        403
    );
    assert_eq!(send(&server, "POST", &[("Content-Type", "application/json")], b"{}").status, 401);
    assert_eq!(left(&server), 12);
    let account = ToolCall { tool: "get_account", arguments: serde_json::Map::new() };
    let reported = account.send(&server, Era::Standalone).structured.expect("an account");
    assert_eq!(reported["remaining"]["minute"], 11);
    for _ in 0..11 {
        assert_eq!(ask(&server, Era::Handshake, "ping", json!({})).status, 200);
    }
    let (rest, over) = (server.get("/v1/me"), ask(&server, Era::Handshake, "ping", json!({})));
    assert_eq!((rest.status, over.status), (429, 429));
    is_error_body(&over, 429, "request limit");
    for answer in [&rest, &over] {
        let wait: u64 =
            answer.header("retry-after").and_then(|text| text.parse().ok()).expect("integer seconds");
        assert!((1..=60).contains(&wait), "{wait} s");
    }
}

#[test]
fn a_key_without_the_data_scope_connects_and_reads_its_account_alone() {
    let mut server = ApiServer::generous(source::small(), AGENCY);
    let narrow = create_key(&server.scratch, "narrow", "starter", &["billing"]);
    crate::support::wait_for("the new key", crate::support::PATIENCE, || {
        (server.get_with("/v1/me", &narrow).status == 200).then_some(())
    });
    let rest = server.get_with("/v1/fl/stats", &narrow);
    assert_eq!(rest.status, 403);
    server.key = narrow;
    let nothing = serde_json::Map::new;
    assert_eq!(ask(&server, Era::Standalone, "server/discover", json!({})).status, 200);
    let refused = ToolCall { tool: "get_stats", arguments: nothing() }.send(&server, Era::Standalone);
    assert_eq!((refused.is_error, refused.text), (true, rest.text()));
    let account = ToolCall { tool: "get_account", arguments: nothing() }.send(&server, Era::Handshake);
    assert_eq!(account.structured.expect("an account")["scopes"], json!(["billing"]));
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let mut stream = TcpStream::connect(server.address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 50\r\n\r\n{{",
        server.key
    );
    stream.write_all(head.as_bytes()).expect("half a request");
    let begun = Instant::now();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer and the end of the connection");
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("\"statusCode\":408"), "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

/// One call of each tool that succeeds, and some that fail, with their HTTP targets.
fn one_call_each(server: &ApiServer) -> Vec<(String, ToolCall)> {
    let listed = server.get("/v1/fl/businesses?filed_from=2026-03-09&limit=1").json();
    let row = &listed["data"][0];
    let text = |field: &str| row[field].as_str().expect("text").to_owned();
    let digits: String = text("id").chars().filter(char::is_ascii_digit).collect();
    let targets = [
        "/v1/me".to_owned(),
        "/v1/fl/businesses?filed_from=2026-03-09&type=llc&limit=3".to_owned(),
        format!("/v1/fl/businesses/by-document/{}", text("document_number")),
        format!("/v1/fl/businesses/{digits}"),
        format!("/v1/fl/businesses/{digits}/officers"),
        "/v1/fl/filings/daily?days=7".to_owned(),
        "/v1/fl/filings/daily/2026-03-20?limit=5".to_owned(),
        "/v1/fl/counties".to_owned(),
        "/v1/fl/counties/miami-dade".to_owned(),
        "/v1/fl/stats".to_owned(),
        "/v1/fl/industries".to_owned(),
        "/v1/fl/entity-types".to_owned(),
        "/v1/fl/businesses?county=Duval&limit=10".to_owned(),
        "/v1/fl/filings/daily/2020-01-01".to_owned(),
        "/v1/fl/counties/ATLANTIS".to_owned(),
    ];
    targets.map(|target| (target.clone(), ToolCall::of_target(&target).expect("a tool"))).into()
}

/// A file with the calls for a client in another language.
fn task(server: &ApiServer, calls: &[(String, ToolCall)]) -> PathBuf {
    let calls: Vec<Value> =
        calls.iter().map(|(_, call)| json!({"tool": call.tool, "arguments": call.arguments})).collect();
    let task = json!({"url": format!("{}/mcp", server.url()), "key": server.key, "calls": calls});
    server.scratch.file("calls.json", &task.to_string())
}

/// Claims that a client saw what the endpoints answer.
fn agree_with_rest(server: &ApiServer, calls: &[(String, ToolCall)], results: &Value, who: &str) {
    let results = results.as_array().expect("results");
    assert_eq!(results.len(), calls.len(), "{who}");
    for ((target, call), result) in calls.iter().zip(results) {
        let rest = server.get(target);
        assert_eq!(result["is_error"], rest.status != 200, "{who} {target}: {result}");
        let text = result["texts"][0].as_str().expect("text");
        if call.tool != "get_account" {
            assert_eq!(result["texts"], json!([rest.text()]), "{who} {target}");
        }
        let structured: Value =
            if rest.status == 200 { serde_json::from_str(text).expect("JSON") } else { Value::Null };
        assert_eq!(result["structured"], structured, "{who} {target}");
    }
}

#[test]
fn the_python_sdk_drives_all_twelve_tools_in_its_three_modes() {
    let server = ApiServer::detailed(AGENCY);
    let calls = one_call_each(&server);
    let seen = python::json("mcp_tools.py", &[&task(&server, &calls)]);
    for (mode, version, extra) in
        [("legacy", "2025-11-25", 2), ("auto", "2026-07-28", 1), ("2026-07-28", "2026-07-28", 0)]
    {
        let seen = &seen[mode];
        assert_eq!(seen["version"], version, "{mode}");
        assert_eq!(seen["requests"], extra + 1 + calls.len(), "{mode}: nothing is asked but list and calls");
        assert_eq!(seen["tools"].as_array().map(Vec::len), Some(12), "{mode}");
        agree_with_rest(&server, &calls, &seen["results"], mode);
    }
}

#[test]
#[ignore = "installs node packages, a minute"]
fn the_typescript_sdk_drives_all_twelve_tools() {
    let server = ApiServer::detailed(AGENCY);
    let calls = one_call_each(&server);
    let seen = node::json("tools.mjs", &task(&server, &calls));
    assert_eq!((&seen["version"], &seen["server"]), (&json!("2025-11-25"), &json!("sunlake")));
    assert_eq!(seen["tools"].as_array().map(Vec::len), Some(12));
    agree_with_rest(&server, &calls, &seen["results"], "the TypeScript SDK");
}

#[test]
#[ignore = "installs node packages, a minute"]
fn the_inspector_finds_no_fault_in_the_tools_and_calls_all_twelve() {
    let server = ApiServer::detailed(AGENCY);
    let (url, key) = (format!("{}/mcp", server.url()), format!("Authorization: Bearer {}", server.key));
    let inspect = |words: &[&str]| {
        let fixed = [
            "node_modules/.bin/mcp-inspector",
            "--cli",
            &url,
            "--transport",
            "http",
            "--header",
            &key,
            "--method",
        ];
        let arguments: Vec<&Path> = fixed.iter().chain(words).map(Path::new).collect();
        let output = node::run(&arguments);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        (serde_json::from_slice::<Value>(&output.stdout).expect("JSON"), reported)
    };
    let (listed, reported) = inspect(&["tools/list", "--strict"]);
    assert_eq!(listed["tools"].as_array().map(Vec::len), Some(12));
    assert!(!reported.contains("warning") && !reported.contains("error"), "{reported}");
    for (target, call) in one_call_each(&server).into_iter().take(12) {
        let mut words = vec!["tools/call".to_owned(), "--tool-name".to_owned(), call.tool.to_owned()];
        for (name, value) in &call.arguments {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            words.extend(["--tool-arg".to_owned(), format!("{name}={value}")]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (result, _) = inspect(&words);
        assert_ne!(result["isError"], true, "{target}: {result}");
        let text = result["content"][0]["text"].as_str().expect("text");
        assert_eq!(
            result["structuredContent"],
            serde_json::from_str::<Value>(text).expect("JSON"),
            "{target}"
        );
        if call.tool != "get_account" {
            assert_eq!(text, server.get(&target).text(), "{target}");
        }
    }
}

/// Scenario and version of the conformance suite, and the checks that need a tool made for the suite, or prompts or resources,
/// of which there are none.
const SCENARIOS: &[(&str, &str, &[&str])] = &[
    ("server-initialize", "2025-11-25", &[]),
    ("ping", "2025-11-25", &[]),
    ("tools-list", "2025-11-25", &[]),
    ("server-session-lifecycle", "2025-11-25", &[]),
    ("dns-rebinding-protection", "2025-11-25", &[]),
    ("tools-list", "2026-07-28", &[]),
    (
        "caching",
        "2026-07-28",
        &[
            "sep-2549-prompts-list-caching-hints",
            "sep-2549-resources-list-caching-hints",
            "sep-2549-resources-templates-list-caching-hints",
        ],
    ),
    ("http-header-validation", "2026-07-28", &[]),
    (
        "server-stateless",
        "2026-07-28",
        &[
            "sep-2575-server-rejects-undeclared-capability",
            "sep-2575-missing-capability-http-400",
            "sep-2575-http-server-no-independent-requests-on-stream",
            "sep-2575-server-no-log-without-loglevel",
        ],
    ),
    ("input-required-result-unsupported-methods", "2026-07-28", &[]),
    ("sep-2164-resource-not-found", "2026-07-28", &[]),
    ("dns-rebinding-protection", "2026-07-28", &[]),
];

#[test]
#[ignore = "installs node packages, two minutes"]
fn the_official_conformance_suite_passes_where_it_needs_no_tool_of_its_own() {
    let server = ApiServer::generous(source::small(), AGENCY);
    let cases: Vec<_> = SCENARIOS.iter().map(|(scenario, version, _)| (scenario, version)).collect();
    let task = json!({"url": server.url(), "key": server.key, "cases": cases});
    let seen = node::json("conformance.mjs", &server.scratch.file("scenarios.json", &task.to_string()));
    let mut passed = 0;
    for ((scenario, version, untestable), result) in SCENARIOS.iter().zip(seen.as_array().expect("results")) {
        let checks = result["checks"].as_array().expect("checks");
        assert!(!checks.is_empty(), "{scenario} {version}: {result}");
        let failed: Vec<&str> = checks
            .iter()
            .filter(|check| check["status"] == "FAILURE")
            .filter_map(|check| check["id"].as_str())
            .collect();
        assert_eq!(failed, *untestable, "{scenario} {version}: {result}");
        passed += checks.iter().filter(|check| check["status"] == "SUCCESS").count();
    }
    assert!(passed >= 50, "{passed} checks passed");
}
