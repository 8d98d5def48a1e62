//! The reference of this server in Markdown, written from the table of parameters and the schemas of records.

use super::json_schema;
use crate::contract::endpoint::Endpoint;
use crate::contract::param::{Param, ParamLocation};
use crate::contract::plan::Plan;
use serde_json::Value;
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Florida business filings API

A read-only JSON API over Florida business filings, served from a lake. Every endpoint is a GET; nothing a caller
sends changes data. Officer records carry a name and a title, never contact data.

## Authentication

Every request carries `Authorization: Bearer <API_KEY>`. `GET /v1/me` accepts a key of any scope; every other
endpoint needs the `data` scope. `GET /healthz`, `/readyz`, `/docs` and `/openapi.json` need no key; the last is the
OpenAPI 3.1 description of what follows.

## Endpoints
";

const RULES: &str = "
## Rules of a search

1. A search needs a narrowing filter: `q`, `city`, `zip` or `filed_from`. Otherwise 400.
2. `q` is the start of the name, in any case; there is no contains or fuzzy match.
3. Without `q`, `filed_from` must lie in the plan's daily window (else 403), and `filed_from` to `filed_to` spans at
   most 92 days, both counted (else 400). A city or ZIP search without dates covers the window, 92 days at most.
4. An unknown or repeated parameter, an empty value, or a value out of bounds is a 400.

Listings are ordered by filing date, then id, both descending. A listing without `type` leaves fictitious names out;
`status` defaults to `active`. `filed_to` needs `filed_from`, and `status=all` needs `q`. Days are Eastern days.

Lists answer with `data` and `pagination` (`limit` as applied, `offset`, `has_more`, `total`); single records with
`data`. A business whose detail or officers were never fetched into the lake is a 404 that says so.

## Errors

A failed call answers with `{\"statusCode\", \"message\", \"docs_url\"}`; `message` is a text, or a list of texts when
several rules are broken.

| status | when |
| --- | --- |
| 400 | a broken rule of path or query |
| 401 | key missing or not valid |
| 403 | no API access, no `data` scope, or a day before the plan's daily window |
| 404 | no such business, county or route |
| 405 | another method than GET |
| 408, 413 | a request body that does not come in time, or is too large |
| 414, 431 | a target or a head that is too long |
| 429 | over a limit; `Retry-After` gives the whole seconds to wait |
| 500 | a bug of the server |
| 503 | briefly unavailable; `Retry-After` says when to come again |

## Exchanges

Answers are JSON, coded as gzip or zstd where `Accept-Encoding` asks for it. Every answer has an `X-Request-Id`; one that a
client sends is taken over. All but the account record have an `ETag`: sent back as `If-None-Match`, it gets a 304 without a
body while nothing has changed, which counts as a request like any other.

## Limits

Limits belong to the account; its keys share them. Every request with a valid key counts, 400 and 404 included; a
429 does not. A minute is 60 seconds from its first request; days and months are Eastern ones.

| plan | a minute | a day | a month | rows per call | max offset | daily window, days | active keys |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

const MCP: &str = "
## MCP

The same operations are read-only tools at `POST /mcp`: streamable HTTP, one JSON-RPC message a request, no sessions, no batches,
every answer JSON, 64 KiB a message at most. The key is the same, in the same header. Every HTTP request counts as one, the handshake
and its notification too. Versions 2025-03-26, 2025-06-18 and 2025-11-25 (with `initialize`) and 2026-07-28 (without).

A tool takes the parameters of its endpoint as arguments: numbers as numbers, everything else as text; `id` as a number or as
its digits. An argument that is left out is not null. The text of a result is the body that the endpoint answers with, and
`structuredContent` is the same as JSON.

| what is wrong | answer |
| --- | --- |
| a rule of an endpoint (400, 403, 404 above) | a tool result with `isError: true`; its text is the error body |
| the key (401), a plan without API access where no tool is called (403), the account's limits (429, with `Retry-After`) | that status and error body, no JSON-RPC |
| another method (405), another type than `application/json` (415), a message too large (413) or too slow (408), a `Host` or `Origin` that is not this server's (403) | that status and error body |
| no JSON (-32700), no single message (-32600), a version that is not spoken (-32022) | status 400 and a JSON-RPC error |
| an unknown tool, or `params` that cannot be read (-32602); an unknown method (-32601) | a JSON-RPC error |

A JSON-RPC error has the error body in its `data`. Checks come in the order of the endpoints. Loopback names, the listening address and the
public address of the server are accepted as `Host`, and pages of them as `Origin`.

| tool | endpoint |
| --- | --- |
";

/// The whole page.
pub(crate) fn page() -> String {
    let mut text = INTRODUCTION.to_owned();
    for endpoint in Endpoint::ALL {
        describe_endpoint(&mut text, endpoint);
    }
    text.push_str("\n## Records\n\nEvery field is always there.\n");
    for (name, record) in json_schema::components() {
        describe_record(&mut text, &name, &record);
    }
    text.push_str(RULES);
    for plan in Plan::ALL {
        let row = plan.limits();
        line(
            &mut text,
            format_args!(
                "| {plan:?} | {} | {} | {} | {} | {} | {} | {} |",
                row.per_minute,
                row.per_day,
                row.per_month,
                row.rows_per_call,
                row.max_offset,
                row.window_days,
                plan.active_keys()
            ),
        );
    }
    text.push_str(MCP);
    for endpoint in Endpoint::ALL {
        line(&mut text, format_args!("| `{}` | `{endpoint}` |", endpoint.tool()));
    }
    text
}

fn describe_endpoint(text: &mut String, endpoint: Endpoint) {
    line(text, format_args!("\n### {endpoint}\n\n{}", endpoint.purpose()));
    if endpoint.has_parameters() {
        line(
            text,
            format_args!("\n| parameter | in | must be | default | |\n| --- | --- | --- | --- | --- |"),
        );
    }
    for param in endpoint.parameters() {
        describe_param(text, param);
    }
}

fn describe_param(text: &mut String, param: &Param) {
    let place = if param.place == ParamLocation::Path { "path" } else { "query" };
    let default = param.default.unwrap_or("");
    line(
        text,
        format_args!(
            "| `{}` | {place} | {} | {default} | {} |",
            param.name,
            param.kind.rule(),
            param.description
        ),
    );
}

fn describe_record(text: &mut String, name: &str, record: &Value) {
    line(text, format_args!("\n### {name}\n\n| field | type | |\n| --- | --- | --- |"));
    for (field, schema) in record["properties"].as_object().into_iter().flatten() {
        let meaning = schema["description"].as_str().unwrap_or_default().replace('<', "\\<");
        line(text, format_args!("| `{field}` | {} | {meaning} |", kind(schema)));
    }
}

/// The type of a field in a few words.
fn kind(schema: &Value) -> String {
    if let Some(ways) = schema["anyOf"].as_array() {
        return ways.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return name.to_owned();
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ");
    }
    match (schema["type"].as_str().unwrap_or_default(), schema["format"].as_str()) {
        ("array", _) => format!("list of {}", kind(&schema["items"])),
        ("object", _) => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let told: Vec<String> = fields.map(|(name, field)| format!("`{name}` {}", kind(field))).collect();
            format!("({})", told.join(", "))
        }
        (_, Some("date")) => "date, `YYYY-MM-DD`".to_owned(),
        (_, Some("date-time")) => "timestamp, ISO 8601".to_owned(),
        (name, _) => name.to_owned(),
    }
}

/// Writing to memory does not fail.
fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{what}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::param::PARAMETERS;

    #[test]
    fn every_endpoint_and_parameter_is_described() {
        let text = page();
        for endpoint in Endpoint::ALL {
            assert!(text.contains(&format!("### {endpoint}\n")), "{endpoint}");
            assert!(text.contains(&format!("| `{}` |", endpoint.tool())), "{endpoint}");
        }
        for param in PARAMETERS {
            assert!(text.contains(&format!("| `{}` |", param.name)), "{}", param.name);
        }
    }

    #[test]
    fn every_field_of_every_record_is_described_with_its_type() {
        let text = page();
        for row in [
            "| `dissolved_date` | string or null | Null for an active business. |",
            "| `industry` | (`sector` string, `type` string) |  |",
            "| `principal_address` | Address |  |",
            "| `filed_date` | date, `YYYY-MM-DD` | Filing date. |",
            "| `scopes` | list of string |  |",
            "| `message` | string or list of string | A list when several rules are broken. |",
        ] {
            assert!(text.lines().any(|line| line == row), "{row}");
        }
    }
}
