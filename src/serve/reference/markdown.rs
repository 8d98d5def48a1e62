//! The reference in Markdown.

use super::problems::{PROBLEMS, Problem};
use super::records;
use crate::contract::endpoint::Endpoint;
use crate::contract::param::{Param, ParamLocation};
use crate::contract::plan::{Plan, PlanLimits};
use serde_json::Value;
use std::fmt::Write;

const TITLE: &str = "# Florida business filings API\n";

const INTRODUCTION: &str = "
A read-only JSON API over Florida business filings, served from a lake. Every endpoint is a GET; nothing a caller
sends changes data. Officer records carry a name and a title, never contact data.

## Authentication

Every request carries `Authorization: Bearer <API_KEY>`. `GET /v1/me` accepts a key of any scope. Every other endpoint
needs the `data` scope. These pages need no key: `GET /`, `/healthz`, `/readyz`, `/docs`, `/docs.md` (this reference as Markdown),
`/openapi.json` (as OpenAPI 3.1), and `/report`.

## Endpoints
";

const RULES: &str = "
## Rules of a search

1. A search needs a narrowing filter: `q`, `city`, `zip` or `filed_from`. Otherwise 400.
2. `q` is a prefix of the name, in any case. There is no contains or fuzzy match.
3. Without `q`, `filed_from` must be in the plan's daily window (else 403), and `filed_from` to `filed_to` spans at most
   92 days, both included (else 400). A city or ZIP search without dates covers the window, 92 days at most.
4. An unknown or repeated parameter, an empty value, or a value out of bounds is a 400.

Listings are ordered by filing date, then id, both descending. A listing without `type` leaves out fictitious names.
`status` defaults to `active`. `filed_to` needs `filed_from`, and `status=all` needs `q`. Days are Eastern days.

Lists answer with `data` and `pagination`: `limit` as applied, `offset`, `has_more`, `total`. Single records answer with
`data`. A business whose detail or officers were never fetched into the lake is a 404 that says so.

## Errors

A failed call answers with `{\"statusCode\", \"message\", \"docs_url\"}`. `message` is a text, or a list of texts when
several rules are broken.

| status | when |
| --- | --- |
";

const HEADERS: &str = "
A 429 has `Retry-After`, the seconds to wait; so has a 503. An unknown route is a 404. A request without `Host`, with two,
or with one that is no name is a 400.

## Headers

Answers are JSON, compressed with gzip or zstd if `Accept-Encoding` asks for it. Every answer has an `X-Request-Id`; if the
request has one, it is used. Every answer but the account record has an `ETag`. Send it back as `If-None-Match`: while nothing
has changed, the answer is a 304 without a body. A 304 counts as a request. So does HEAD, which is GET without the body.

| header | when | what |
| --- | --- | --- |
| `RateLimit-Policy` | with a valid key | requests a minute, day and month: `\"minute\";q=60;w=60, \"day\";q=5000;w=86400, \"month\";q=50000` |
| `RateLimit` | with a valid key | requests that are left: `\"minute\";r=59, \"day\";r=4999, \"month\";r=49999` |
| `Sunlake-Snapshot` | with a valid key | the number of the snapshot that the answer is from; the pages of one listing agree when it is the same |
| `Link` | a page of a listing that has a next one within the plan's max offset | its address, relative, with `rel=\"next\"` |
| `X-Not-Found` | 404 | `business`, `county` or `route`: there is none; `detail` or `officers`: the business is there, but they were never fetched into this lake |

## Limits

Limits belong to the account; its keys share them. Every request with a valid key counts, 400 and 404 included. A 429
does not count. A minute is 60 seconds from its first request. Days and months are Eastern ones.

";

const MCP: &str = "
## MCP

The same operations are read-only tools at `POST /mcp`: streamable HTTP, one JSON-RPC message a request, no sessions, no
batches, every answer JSON, 64 KiB a message at most. The key is the same, in the same header. Every HTTP request counts as
one, the handshake and its notification too. Versions: 2025-03-26, 2025-06-18 and 2025-11-25 with `initialize`, 2026-07-28
without.

A tool takes the parameters of its endpoint as arguments: numbers as numbers, everything else as text, `id` as either. An
argument that is null counts as absent. The text of a result is the body of the endpoint's answer.
`structuredContent` is the same as JSON.

| error | answer |
| --- | --- |
| a rule of an endpoint (400, 403, 404 above) | a tool result with `isError: true`; its text is the error body |
| the key (401); a plan without API access where no tool is called (403); the account's limits (429, with `Retry-After`) | that status and error body, no JSON-RPC |
| another method (405); a type other than `application/json` (415); a message too large (413) or too slow (408); a `Host` or `Origin` that is not this server's (403) | that status and error body |
| no JSON (-32700); no single message (-32600); an unsupported version (-32022) | status 400 and a JSON-RPC error |
| an unknown tool, or `params` that cannot be read (-32602); an unknown method (-32601) | a JSON-RPC error |

A JSON-RPC error has the error body in its `data`. Checks are in the order of the endpoints' checks. Accepted as `Host`:
loopback names, the listening address and the public address of the server; as `Origin`: pages of them.

| tool | endpoint |
| --- | --- |
";

/// The page, with a notice under its title, unless it is empty.
pub(crate) fn page(notice: &str) -> String {
    let mut text = TITLE.to_owned();
    if !notice.is_empty() {
        line(&mut text, format_args!("\n**{notice}**"));
    }
    text.push_str(INTRODUCTION);
    for endpoint in Endpoint::ALL {
        describe_endpoint(&mut text, endpoint);
    }
    text.push_str("\n## Records\n\nEvery field is always present.\n");
    for (name, record) in records::components() {
        describe_record(&mut text, &name, &record);
    }
    text.push_str(RULES);
    for Problem { status, when, .. } in PROBLEMS {
        line(&mut text, format_args!("| {status} | {when} |"));
    }
    text.push_str(HEADERS);
    text.push_str(&plan_table());
    text.push_str(MCP);
    for endpoint in Endpoint::ALL {
        line(&mut text, format_args!("| `{}` | `{endpoint}` |", endpoint.tool()));
    }
    text
}

pub(super) fn plan_table() -> String {
    let mut text = "| plan | a minute | a day | a month | rows per call | max offset | daily window, days | active keys |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for plan in Plan::ALL {
        let PlanLimits { rows_per_call, max_offset, window_days, per_minute, per_day, per_month } =
            plan.limits();
        let keys = plan.active_keys();
        line(
            &mut text,
            format_args!(
                "| {plan:?} | {per_minute} | {per_day} | {per_month} | {rows_per_call} | {max_offset} | {window_days} | {keys} |"
            ),
        );
    }
    text
}

fn describe_endpoint(text: &mut String, endpoint: Endpoint) {
    line(text, format_args!("\n### {endpoint}\n\n{}", endpoint.purpose()));
    if endpoint.has_parameters() {
        text.push_str("\n| parameter | in | must be | default | what |\n| --- | --- | --- | --- | --- |\n");
    }
    for param in endpoint.parameters() {
        describe_param(text, param);
    }
}

fn describe_param(text: &mut String, param: &Param) {
    let Param { name, kind, description, .. } = param;
    let place = if param.place == ParamLocation::Path { "path" } else { "query" };
    let (rule, default) = (kind.rule(), param.default.unwrap_or(""));
    line(text, format_args!("| `{name}` | {place} | {rule} | {default} | {description} |"));
}

fn describe_record(text: &mut String, name: &str, record: &Value) {
    line(text, format_args!("\n### {name}\n\n| field | type | what |\n| --- | --- | --- |"));
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
            let kinds: Vec<String> =
                fields.map(|(name, field)| format!("`{name}` {}", kind(field))).collect();
            format!("({})", kinds.join(", "))
        }
        (_, Some("date")) => "date, `YYYY-MM-DD`".to_owned(),
        (_, Some("date-time")) => "timestamp, ISO 8601".to_owned(),
        (name, _) => name.to_owned(),
    }
}

/// Appends a line; writing to memory does not fail.
fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{what}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::param::PARAMETERS;

    #[test]
    fn every_endpoint_and_parameter_is_described() {
        let text = page("");
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
        let text = page("");
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
