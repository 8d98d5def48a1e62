//! The `OpenAPI` 3.1 document.

use super::problems::{PROBLEMS, Problem};
use super::{json_schema, markdown, records};
use crate::contract::endpoint::Endpoint;
use crate::contract::error::{ErrorBody, Message};
use crate::contract::param::{Param, ParamKind, ParamLocation};
use serde_json::{Map, Value, json};

const DESCRIPTION: &str = "A read-only JSON API over Florida business filings. Every endpoint is a GET; nothing a caller \
sends changes data. The same operations are tools over MCP at /mcp. The Markdown page /docs has the complete reference.";

/// The document as JSON; `base` is the address under which clients know this server.
pub(crate) fn document(base: &str) -> Vec<u8> {
    let docs_url = format!("{base}/docs");
    let paths: Map<String, Value> = Endpoint::ALL
        .into_iter()
        .map(|endpoint| (endpoint.template().to_owned(), json!({"get": operation(endpoint)})))
        .collect();
    let description = format!("{DESCRIPTION}\n\nLimits of an account:\n\n{}", markdown::plan_table());
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Florida business filings", "version": "1", "description": description},
        "externalDocs": {"description": "The reference in Markdown", "url": docs_url},
        "servers": [{"url": base}],
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "An API key."}},
            "schemas": records::components(),
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
        let unchanged = json!({"description": "The answer that If-None-Match names is unchanged."});
        responses.insert("304".to_owned(), unchanged);
    }
    for problem in PROBLEMS.iter().filter(|problem| problem.is_of(endpoint)) {
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

/// Operations that take a field of the first record.
fn links(endpoint: Endpoint) -> Option<Value> {
    let link = |to: Endpoint, param: &str, field: &str| {
        let value = format!("$response.body#/data/0/{field}");
        json!({"operationId": to.tool(), "parameters": {param: value}})
    };
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
    if let Some((name, description)) = problem.header() {
        let schema = if name == "Retry-After" {
            json!({"type": "integer", "minimum": 1})
        } else {
            json!({"type": "string"})
        };
        response["headers"] = json!({name: {"description": description, "required": true, "schema": schema}});
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::param::PARAMETERS;

    fn read() -> Value {
        serde_json::from_slice(&document("http://127.0.0.1:1")).expect("JSON")
    }

    #[test]
    fn document_has_every_operation_parameter_and_bound() {
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
    fn operations_list_the_statuses_of_the_api_document() {
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
    fn every_reference_resolves() {
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
