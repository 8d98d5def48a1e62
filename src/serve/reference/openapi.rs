//! The `OpenAPI` 3.1 document.

use super::problems::{PROBLEMS, Problem, RATE_LIMIT, RATE_LIMIT_POLICY};
use super::{json_schema, markdown, records};
use crate::contract::endpoint::Endpoint;
use crate::contract::error::{ErrorBody, Message};
use crate::contract::param::{Param, ParamLocation};
use serde_json::{Map, Value, json};

const DESCRIPTION: &str = "A read-only JSON API over Florida business filings. Every endpoint is a GET; nothing a caller \
sends changes data. The same operations are tools over MCP at /mcp. The page /docs has the complete reference, /docs.md the same as Markdown.";

/// Groups of operations.
const TAGS: [(&str, &str); 5] = [
    ("account", "The key and its account"),
    ("businesses", "Search and look-ups"),
    ("filings", "Filings by day"),
    ("counties", "Counts by county"),
    ("reference", "Statewide counts, and the values of filters"),
];

const fn tag(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Account => "account",
        Endpoint::SearchBusinesses
        | Endpoint::BusinessByDocument
        | Endpoint::Business
        | Endpoint::Officers => "businesses",
        Endpoint::DailyCounts | Endpoint::DailyFilings => "filings",
        Endpoint::Counties | Endpoint::County => "counties",
        Endpoint::Stats | Endpoint::Industries | Endpoint::EntityTypes => "reference",
    }
}

/// The document as JSON; `base` is the address under which clients know this server, and `notice` begins the description.
pub(crate) fn document(base: &str, notice: &str) -> Vec<u8> {
    let paths: Map<String, Value> = Endpoint::ALL
        .into_iter()
        .map(|endpoint| (endpoint.template().to_owned(), json!({"get": operation(endpoint)})))
        .collect();
    let gap = if notice.is_empty() { "" } else { "\n\n" };
    let description =
        format!("{notice}{gap}{DESCRIPTION}\n\nLimits of an account:\n\n{}", markdown::plan_table());
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Florida business filings", "version": "1", "description": description},
        "externalDocs": {"description": "The reference", "url": format!("{base}/docs")},
        "servers": [{"url": base}],
        "security": [{"key": []}],
        "tags": TAGS.map(|(name, description)| json!({"name": name, "description": description})),
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "An API key."}},
            "schemas": records::components(),
            "responses": responses(&format!("{base}/docs.md")),
        },
    });
    document.to_string().into_bytes()
}

fn operation(endpoint: Endpoint) -> Value {
    let mut responses = Map::new();
    let content = json!({"application/json": {"schema": json_schema::answer(endpoint)}});
    let mut answer =
        json!({"description": endpoint.purpose(), "headers": answer_headers(endpoint), "content": content});
    if let Some(links) = links(endpoint) {
        answer["links"] = links;
    }
    responses.insert("200".to_owned(), answer);
    // An account record changes with every request.
    if endpoint != Endpoint::Account {
        let unchanged = json!({
            "description": "The answer that If-None-Match names is unchanged.",
            "headers": answer_headers(endpoint),
        });
        responses.insert("304".to_owned(), unchanged);
    }
    for problem in PROBLEMS.iter().filter(|problem| problem.is_of(endpoint)) {
        let refers = json!({"$ref": format!("#/components/responses/{}", problem.name)});
        responses.insert(problem.status.to_string(), refers);
    }
    let mut operation = json!({
        "operationId": endpoint.tool(),
        "tags": [tag(endpoint)],
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
        "example": json_schema::value(param.kind, param.example),
    })
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
    let headers = problem.headers();
    if !headers.is_empty() {
        response["headers"] =
            headers.iter().map(|(name, says)| ((*name).to_owned(), header(name, says))).collect();
    }
    response
}

/// Headers of an answer that is no error.
fn answer_headers(endpoint: Endpoint) -> Value {
    let mut headers = json!({
        "RateLimit-Policy": header("RateLimit-Policy", RATE_LIMIT_POLICY),
        "RateLimit": header("RateLimit", RATE_LIMIT),
        SNAPSHOT: header(SNAPSHOT, "The number of the lake's snapshot that the answer is from."),
    });
    if endpoint != Endpoint::Account {
        headers["ETag"] = header("ETag", "For If-None-Match.");
    }
    if matches!(endpoint, Endpoint::SearchBusinesses | Endpoint::DailyFilings) {
        headers["Link"] = header("Link", "The next page within the plan's max offset, with rel=next.");
    }
    headers
}

/// The header of the snapshot.
const SNAPSHOT: &str = "Sunlake-Snapshot";

/// A header; all are always there but the link, which the last page has not, and the snapshot, which may have no number.
fn header(name: &str, description: &str) -> Value {
    let schema = match name {
        "Retry-After" => json!({"type": "integer", "minimum": 1}),
        SNAPSHOT => json!({"type": "integer", "minimum": 0}),
        _ => json!({"type": "string"}),
    };
    json!({"description": description, "required": !["Link", SNAPSHOT].contains(&name), "schema": schema})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::param::PARAMETERS;

    fn read() -> Value {
        serde_json::from_slice(&document("http://127.0.0.1:1", "")).expect("JSON")
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
        let account = ["200", "401", "403", "405", "408", "413", "414", "429", "431", "500", "501", "503"];
        assert_eq!(statuses(Endpoint::Account), account);
        let plain =
            ["200", "304", "401", "403", "405", "408", "413", "414", "429", "431", "500", "501", "503"];
        assert_eq!(statuses(Endpoint::Stats), plain);
        let with_query = [
            "200", "304", "400", "401", "403", "405", "408", "413", "414", "429", "431", "500", "501", "503",
        ];
        assert_eq!(statuses(Endpoint::DailyFilings), with_query);
        let of_one = [
            "200", "304", "400", "401", "403", "404", "405", "408", "413", "414", "429", "431", "500", "501",
            "503",
        ];
        assert_eq!(statuses(Endpoint::County), of_one);
    }

    #[test]
    fn every_operation_has_a_tag_and_the_answers_their_headers() {
        let document = read();
        let tags: Vec<&str> = document["tags"]
            .as_array()
            .expect("tags")
            .iter()
            .filter_map(|tag| tag["name"].as_str())
            .collect();
        for endpoint in Endpoint::ALL {
            let operation = &document["paths"][endpoint.template()]["get"];
            let tag = operation["tags"][0].as_str().expect("a tag");
            assert!(tags.contains(&tag), "{endpoint}: {tag}");
            let headers = &operation["responses"]["200"]["headers"];
            assert!(headers["RateLimit"]["required"] == true, "{endpoint}");
            assert_eq!(headers.get("ETag").is_some(), endpoint != Endpoint::Account, "{endpoint}");
        }
        let listing = &document["paths"]["/v1/fl/businesses"]["get"]["responses"]["200"]["headers"];
        assert_eq!(listing["Link"]["required"], false);
        let responses = &document["components"]["responses"];
        for name in ["OverLimit", "Unavailable"] {
            assert_eq!(responses[name]["headers"]["Retry-After"]["required"], true, "{name}");
        }
        for (status, name) in
            [(408, "BodyTooSlow"), (414, "TargetTooLong"), (415, "OtherMediaType"), (431, "HeadTooLarge")]
        {
            let example = &responses[name]["content"]["application/json"]["example"];
            assert_eq!(example["statusCode"], status, "{name}");
        }
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
