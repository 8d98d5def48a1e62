//! The `OpenAPI` 3.1 document, from the contract's tables: operations, parameters and bounds, records, every status.

use super::json_schema;
use crate::contract::endpoint::Endpoint;
use crate::contract::error::{ErrorBody, Message};
use crate::contract::param::{Param, ParamKind, ParamLocation};
use crate::contract::plan::Plan;
use serde_json::{Map, Value, json};
use std::fmt::Write;

const DESCRIPTION: &str = "A read-only JSON API over Florida business filings. Every endpoint is a GET; nothing a caller \
sends changes data. The same operations are tools over MCP at /mcp; the whole reference is the Markdown page /docs.";

/// A status that every operation may answer with, or those of `only`; its name, when it comes, and an example message.
struct Problem {
    status: u16,
    name: &'static str,
    when: &'static str,
    message: &'static str,
    header: Option<(&'static str, &'static str)>,
    of: fn(Endpoint) -> bool,
}

/// Every status but 200, in order.
const PROBLEMS: &[Problem] = &[
    Problem {
        status: 400,
        name: "BrokenRule",
        when: "A broken rule of path or query; every broken rule is told.",
        message: "limit must be a whole number from 1 to 1000, not \"0\"",
        header: None,
        of: Endpoint::has_parameters,
    },
    Problem {
        status: 401,
        name: "Unauthorized",
        when: "Key missing or not valid.",
        message: "the API key is missing or not valid; send it as Authorization: Bearer <API_KEY>",
        header: Some(("WWW-Authenticate", "The scheme that is accepted: Bearer.")),
        of: always,
    },
    Problem {
        status: 403,
        name: "Forbidden",
        when: "No API access, no data scope, or a day before the plan's daily window.",
        message: "the key lacks the data scope",
        header: None,
        of: always,
    },
    Problem {
        status: 404,
        name: "NotFound",
        when: "No such business or county, or a detail that was never fetched into the lake.",
        message: "no business has this id",
        header: None,
        of: is_of_one,
    },
    Problem {
        status: 405,
        name: "MethodNotAllowed",
        when: "Another method than GET.",
        message: "POST is not allowed here; this path answers GET",
        header: Some(("Allow", "The methods of the path.")),
        of: always,
    },
    Problem {
        status: 413,
        name: "ContentTooLarge",
        when: "A request with a body beyond 64 KiB; none is looked at.",
        message: "the body is larger than 65536 bytes",
        header: None,
        of: always,
    },
    Problem {
        status: 429,
        name: "OverLimit",
        when: "The account is over a request limit.",
        message: "the account is over a request limit; wait 17 s",
        header: Some(("Retry-After", "Whole seconds to wait.")),
        of: always,
    },
    Problem {
        status: 500,
        name: "Failed",
        when: "A bug of the server.",
        message: "an error of the server, which is in its log",
        header: None,
        of: always,
    },
    Problem {
        status: 503,
        name: "Unavailable",
        when: "Briefly unavailable; the same call can be made again shortly.",
        message: "the server is busy; try again shortly",
        header: None,
        of: always,
    },
];

const fn always(_: Endpoint) -> bool {
    true
}

/// Whether an operation addresses one business or county.
const fn is_of_one(endpoint: Endpoint) -> bool {
    matches!(
        endpoint,
        Endpoint::BusinessByDocument | Endpoint::Business | Endpoint::Officers | Endpoint::County
    )
}

/// The whole document, as JSON; `base` is the address under which clients know this server.
pub(crate) fn document(base: &str) -> Vec<u8> {
    let docs_url = format!("{base}/docs");
    let paths: Map<String, Value> = Endpoint::ALL
        .into_iter()
        .map(|endpoint| (endpoint.template().to_owned(), json!({"get": operation(endpoint)})))
        .collect();
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Florida business filings", "version": "1", "description": format!("{DESCRIPTION}{}", limits())},
        "externalDocs": {"description": "The reference in Markdown", "url": docs_url},
        "servers": [{"url": base}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "An API key."}},
            "schemas": json_schema::components(),
            "responses": responses(&docs_url),
        },
    });
    document.to_string().into_bytes()
}

fn operation(endpoint: Endpoint) -> Value {
    let mut responses = Map::new();
    let content = json!({"application/json": {"schema": json_schema::answer(endpoint)}});
    let mut answer = json!({"description": endpoint.purpose(), "content": content});
    if let Some(links) = links(endpoint) {
        answer["links"] = links;
    }
    responses.insert("200".to_owned(), answer);
    // An account record changes with every request.
    if endpoint != Endpoint::Account {
        let unchanged = json!({"description": "What the client holds, by If-None-Match, is still so."});
        responses.insert("304".to_owned(), unchanged);
    }
    for problem in PROBLEMS.iter().filter(|problem| (problem.of)(endpoint)) {
        let refers = json!({"$ref": format!("#/components/responses/{}", problem.name)});
        responses.insert(problem.status.to_string(), refers);
    }
    let mut operation = json!({
        "operationId": endpoint.tool(),
        "summary": endpoint.purpose(),
        "parameters": endpoint.parameters().map(parameter).collect::<Vec<_>>(),
        "responses": responses,
    });
    if !endpoint.rules().is_empty() {
        operation["description"] = json!(endpoint.rules());
    }
    operation
}

/// Where the first record of a list leads.
fn links(endpoint: Endpoint) -> Option<Value> {
    let link = |to: Endpoint, param: &str, field: &str| json!({"operationId": to.tool(), "parameters": {param: format!("$response.body#/data/0/{field}")}});
    match endpoint {
        Endpoint::SearchBusinesses | Endpoint::DailyFilings => Some(json!({
            "business": link(Endpoint::Business, "id", "id"),
            "officers": link(Endpoint::Officers, "id", "id"),
            "document": link(Endpoint::BusinessByDocument, "document_number", "document_number"),
        })),
        Endpoint::DailyCounts => Some(json!({"filings": link(Endpoint::DailyFilings, "date", "date")})),
        Endpoint::Counties => Some(json!({"county": link(Endpoint::County, "key", "key")})),
        _ => None,
    }
}

fn parameter(param: &Param) -> Value {
    let is_path = param.place == ParamLocation::Path;
    json!({
        "name": param.name,
        "in": if is_path { "path" } else { "query" },
        "required": is_path,
        "description": param.description,
        "schema": json_schema::of_param(param),
        "example": example(param),
    })
}

fn example(param: &Param) -> Value {
    let is_number = matches!(param.kind, ParamKind::Integer { .. } | ParamKind::BusinessId);
    match param.example.parse::<u64>() {
        Ok(number) if is_number => json!(number),
        _ => json!(param.example),
    }
}

fn responses(docs_url: &str) -> Map<String, Value> {
    PROBLEMS.iter().map(|problem| (problem.name.to_owned(), response(problem, docs_url))).collect()
}

fn response(problem: &Problem, docs_url: &str) -> Value {
    let example = ErrorBody {
        status_code: problem.status,
        message: Message::One(problem.message.to_owned()),
        docs_url: docs_url.to_owned(),
    };
    let content = json!({"schema": {"$ref": "#/components/schemas/Error"}, "example": example});
    let mut response = json!({"description": problem.when, "content": {"application/json": content}});
    if let Some((name, description)) = problem.header {
        let schema = if name == "Retry-After" {
            json!({"type": "integer", "minimum": 1})
        } else {
            json!({"type": "string"})
        };
        response["headers"] = json!({name: {"description": description, "required": true, "schema": schema}});
    }
    response
}

/// The limits table in words.
fn limits() -> String {
    let mut text = " Limits of an account, by plan:".to_owned();
    for plan in Plan::ALL {
        let row = plan.limits();
        // Writing to memory does not fail.
        let _ = write!(
            text,
            " {plan:?}: {} requests a minute, {} a day, {} a month, {} rows per call, max offset {}, daily window {} days;",
            row.per_minute, row.per_day, row.per_month, row.rows_per_call, row.max_offset, row.window_days
        );
    }
    text.pop();
    text.push('.');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::param::PARAMETERS;

    fn read() -> Value {
        serde_json::from_slice(&document("http://127.0.0.1:1")).expect("JSON")
    }

    #[test]
    fn every_operation_parameter_and_bound_of_the_tables_is_in_it() {
        let document = read();
        assert_eq!(document["paths"].as_object().map(Map::len), Some(12));
        for endpoint in Endpoint::ALL {
            let operation = &document["paths"][endpoint.template()]["get"];
            assert_eq!(operation["operationId"], endpoint.tool());
            let listed = operation["parameters"].as_array().expect("parameters");
            assert_eq!(listed.len(), endpoint.parameters().count(), "{endpoint}");
            for param in listed {
                let known = PARAMETERS.iter().find(|known| param["name"] == known.name).expect("known");
                assert_eq!(param["schema"], Value::Object(json_schema::of_param(known)));
                assert_eq!(param["required"], known.place == ParamLocation::Path);
            }
        }
    }

    #[test]
    fn statuses_are_those_the_reference_lists_for_each_operation() {
        let document = read();
        let statuses = |endpoint: Endpoint| {
            let responses = &document["paths"][endpoint.template()]["get"]["responses"];
            responses.as_object().expect("responses").keys().cloned().collect::<Vec<_>>()
        };
        let account = ["200", "401", "403", "405", "413", "429", "500", "503"];
        assert_eq!(statuses(Endpoint::Account), account);
        let plain = ["200", "304", "401", "403", "405", "413", "429", "500", "503"];
        assert_eq!(statuses(Endpoint::Stats), plain);
        let with_query = ["200", "304", "400", "401", "403", "405", "413", "429", "500", "503"];
        assert_eq!(statuses(Endpoint::DailyFilings), with_query);
        let of_one = ["200", "304", "400", "401", "403", "404", "405", "413", "429", "500", "503"];
        assert_eq!(statuses(Endpoint::County), of_one);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = read();
        let mut open = vec![&document];
        let mut seen = 0;
        while let Some(value) = open.pop() {
            if let Some(path) = value.get("$ref").and_then(Value::as_str) {
                assert!(document.pointer(path.trim_start_matches('#')).is_some(), "{path}");
                seen += 1;
            }
            open.extend(value.as_object().into_iter().flat_map(Map::values));
            open.extend(value.as_array().into_iter().flatten());
        }
        assert!(seen > 100, "{seen}");
    }
}
