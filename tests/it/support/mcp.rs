//! The smallest MCP client: one message, one request, nothing rewritten on the way.

use super::http::{self, Answer};
use super::server::ApiServer;
use serde_json::{Map, Value, json};

/// Which kind of the protocol a request speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Version 2025-11-25, as after a handshake.
    Handshake,
    /// Version 2026-07-28, where every request is independent.
    Standalone,
}

impl Era {
    pub(crate) const ALL: [Self; 2] = [Self::Handshake, Self::Standalone];

    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Handshake => "2025-11-25",
            Self::Standalone => "2026-07-28",
        }
    }

    /// A complete request of the method: headers and message.
    pub(crate) fn message(self, method: &str, mut params: Value) -> (Vec<(String, String)>, Value) {
        let mut headers = vec![("MCP-Protocol-Version".to_owned(), self.version().to_owned())];
        if self == Self::Standalone {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version(),
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers.push(("Mcp-Method".to_owned(), method.to_owned()));
            if let Some(name) = params["name"].as_str() {
                headers.push(("Mcp-Name".to_owned(), name.to_owned()));
            }
        }
        (headers, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }
}

/// POSTs a body to `/mcp` with the account's key.
pub(crate) fn post(server: &ApiServer, headers: &[(String, String)], body: &[u8]) -> Answer {
    post_with(server, &server.key, headers, body)
}

pub(crate) fn post_with(server: &ApiServer, key: &str, headers: &[(String, String)], body: &[u8]) -> Answer {
    let authorization = format!("Bearer {key}");
    let mut all = vec![
        ("Authorization", authorization.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    all.extend(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    http::exchange(server.address, "POST", "/mcp", &all, Some(body))
        .unwrap_or_else(|error| panic!("/mcp: {error}"))
}

/// Sends a request and returns the complete answer.
pub(crate) fn ask(server: &ApiServer, era: Era, method: &str, params: Value) -> Answer {
    ask_with(server, &server.key, era, method, params)
}

/// The same with another key.
pub(crate) fn ask_with(server: &ApiServer, key: &str, era: Era, method: &str, params: Value) -> Answer {
    let (headers, message) = era.message(method, params);
    post_with(server, key, &headers, message.to_string().as_bytes())
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Map<String, Value>,
}

/// What a tool gave.
#[derive(Debug, Clone)]
pub(crate) struct ToolResult {
    pub(crate) is_error: bool,
    pub(crate) text: String,
    pub(crate) structured: Option<Value>,
}

/// Every path of the API document, and its tool.
pub(crate) const TOOLS: [(&str, &str); 12] = [
    ("/v1/me", "get_account"),
    ("/v1/fl/businesses", "search_businesses"),
    ("/v1/fl/businesses/by-document/{document_number}", "get_business_by_document"),
    ("/v1/fl/businesses/{id}", "get_business"),
    ("/v1/fl/businesses/{id}/officers", "list_business_officers"),
    ("/v1/fl/filings/daily", "get_daily_filing_counts"),
    ("/v1/fl/filings/daily/{date}", "list_daily_filings"),
    ("/v1/fl/counties", "list_counties"),
    ("/v1/fl/counties/{key}", "get_county"),
    ("/v1/fl/stats", "get_stats"),
    ("/v1/fl/industries", "list_industries"),
    ("/v1/fl/entity-types", "list_entity_types"),
];

/// Parameters that are numbers in JSON.
const NUMBERS: [&str; 4] = ["limit", "offset", "days", "id"];

impl ToolCall {
    /// The call that means the same as an HTTP target; `None` where there is none: an unknown route, a parameter given twice,
    /// a query without parameters to look at, a name or value that is no text.
    pub(crate) fn of_target(target: &str) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let (template, tool) = TOOLS.into_iter().find(|(template, _)| fits(template, path))?;
        let takes_no_parameters = ["me", "counties", "stats", "industries", "entity-types"]
            .contains(&template.rsplit('/').next().unwrap_or_default());
        if takes_no_parameters {
            return Some(Self { tool, arguments: Map::new() });
        }
        let mut arguments = Map::new();
        for (want, have) in template.split('/').zip(path.split('/')) {
            if let Some(name) = want.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                arguments.insert(name.to_owned(), argument(name, decoded(have, false)?));
            }
        }
        for piece in query.split('&').filter(|piece| !piece.is_empty()) {
            let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
            let (name, value) = (decoded(name, true)?, decoded(value, true)?);
            let value = argument(&name, value);
            if arguments.insert(name, value).is_some() {
                return None;
            }
        }
        Some(Self { tool, arguments })
    }

    pub(crate) fn send(&self, server: &ApiServer, era: Era) -> ToolResult {
        let params = json!({ "name": self.tool, "arguments": self.arguments });
        let answer = ask(server, era, "tools/call", params);
        assert_eq!(answer.status, 200, "{self:?}: {}", answer.text());
        let result = &answer.json()["result"];
        assert_eq!(result["resultType"].as_str(), (era == Era::Standalone).then_some("complete"), "{result}");
        let content = result["content"].as_array().expect("content");
        assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")), "{result}");
        ToolResult {
            is_error: result["isError"].as_bool().unwrap_or_default(),
            text: content[0]["text"].as_str().expect("text").to_owned(),
            structured: result.get("structuredContent").cloned(),
        }
    }
}

fn fits(template: &str, path: &str) -> bool {
    let (want, have): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    want.len() == have.len()
        && want
            .iter()
            .zip(have)
            .all(|(want, have)| *want == have || (want.starts_with('{') && !have.is_empty()))
}

/// Numbers where JSON has the same form for them, else text: `05` is no JSON number.
fn argument(name: &str, value: String) -> Value {
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    match number {
        Some(number) if NUMBERS.contains(&name) => json!(number),
        _ => json!(value),
    }
}

fn decoded(text: &str, plus_is_space: bool) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => u8::from_str_radix(std::str::from_utf8(&[rest.next()?, rest.next()?]).ok()?, 16).ok()?,
            b'+' if plus_is_space => b' ',
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}
