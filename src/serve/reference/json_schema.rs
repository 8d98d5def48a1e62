//! JSON Schemas of parameters and records: the `OpenAPI` document refers to them by name, the MCP tools carry them whole.
//!
//! Source: API document, "Resources and their fields"; the parameters come from the one table.

use crate::contract::endpoint::Endpoint;
use crate::contract::id::CountyKey;
use crate::contract::param::{Param, ParamKind, ParamLocation};
use crate::contract::reference::EntityType;
use serde_json::{Map, Value, json};

/// Where the `OpenAPI` document keeps the schemas of records.
const COMPONENTS: &str = "#/components/schemas/";

/// What a parameter may say, with its bounds; what the validator reads is what this allows.
pub(crate) fn of_param(param: &Param) -> Map<String, Value> {
    let mut schema = into_map(of_kind(param.kind));
    if let Some(default) = param.default {
        let number = default.parse::<u32>().ok().filter(|_| matches!(param.kind, ParamKind::Integer { .. }));
        schema.insert("default".to_owned(), number.map_or_else(|| json!(default), |number| json!(number)));
    }
    schema
}

fn of_kind(kind: ParamKind) -> Value {
    match kind {
        ParamKind::Text { min, max } => json!({
            "type": "string",
            "minLength": min,
            "maxLength": max,
            "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$",
        }),
        ParamKind::Choice(words) => json!({"type": "string", "enum": words}),
        ParamKind::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        ParamKind::Day => {
            json!({"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})
        }
        ParamKind::Zip => json!({"type": "string", "pattern": "^[0-9]{3,5}$"}),
        ParamKind::DocumentNumber => json!({"type": "string", "pattern": "^[A-Za-z0-9]{6,12}$"}),
        ParamKind::BusinessId => json!({"type": "integer", "minimum": 1}),
        ParamKind::CountyKey => {
            let rest = CountyKey::MAX_CHARS - 1;
            json!({"type": "string", "pattern": format!("^[A-Za-z][A-Za-z .'-]{{0,{rest}}}$")})
        }
    }
}

/// The arguments of the MCP tool of an operation: path and query parameters alike, optional ones left out, never null.
pub(crate) fn input(endpoint: Endpoint) -> Map<String, Value> {
    let property = |param: &Param| {
        let mut schema = of_param(param);
        schema.insert("description".to_owned(), json!(param.description));
        (param.name.to_owned(), Value::Object(schema))
    };
    let required: Vec<&str> = endpoint
        .parameters()
        .filter(|param| param.place == ParamLocation::Path)
        .map(|param| param.name)
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(endpoint.parameters().map(property).collect()));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// The answer of an operation, whole in itself.
pub(crate) fn output(endpoint: Endpoint) -> Map<String, Value> {
    into_map(inlined(&answer(endpoint), &components()))
}

/// The answer of an operation, its records by name.
pub(crate) fn answer(endpoint: Endpoint) -> Value {
    match endpoint {
        Endpoint::Account => by_name("Account"),
        Endpoint::SearchBusinesses | Endpoint::DailyFilings => page("Summary"),
        Endpoint::DailyCounts => page("DailyCount"),
        Endpoint::BusinessByDocument | Endpoint::Business => record("Detail"),
        Endpoint::Officers => list("Officer"),
        Endpoint::Counties => list("County"),
        Endpoint::County => record("County"),
        Endpoint::Stats => record("Stats"),
        Endpoint::Industries => record("Industries"),
        Endpoint::EntityTypes => list("EntityType"),
    }
}

fn by_name(name: &str) -> Value {
    json!({"$ref": format!("{COMPONENTS}{name}")})
}

fn record(name: &str) -> Value {
    object(vec![("data", by_name(name))])
}

fn list(name: &str) -> Value {
    object(vec![("data", array(by_name(name)))])
}

fn page(name: &str) -> Value {
    object(vec![("data", array(by_name(name))), ("pagination", by_name("Pagination"))])
}

/// Every record by name, in the order of the API document.
pub(crate) fn components() -> Map<String, Value> {
    let schemas = [
        ("Summary", object(summary())),
        ("Detail", object(detail())),
        ("Address", address()),
        ("Officer", object(vec![("name", text("")), ("title", text("Code or words; no contact data."))])),
        ("DailyCount", object(vec![("date", day("")), ("count", count("Businesses filed that day."))])),
        ("County", county()),
        ("Stats", stats()),
        ("Industries", industries()),
        ("EntityType", object(vec![("key", choice("Value of the type parameter.")), ("label", text(""))])),
        ("Account", account()),
        ("Pagination", pagination()),
        ("Error", error()),
    ];
    schemas.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

fn summary() -> Vec<(&'static str, Value)> {
    vec![
        ("id", text("Service id; its digits form the positive integer that the id parameter takes.")),
        ("document_number", text("State document number, 6 to 12 letters or digits.")),
        ("name", text("Business name.")),
        ("entity_type", choice("")),
        ("company_type", text("Short label of the company type.")),
        ("status", text("A record listed by default is active.")),
        ("filed_date", day("Filing date.")),
        ("dissolved_date", or_null(text(""), "Null for an active business.")),
        ("city", text("")),
        ("zip", text("")),
        ("county", text("County name; may be empty for an address outside Florida.")),
        ("industry", object(vec![("sector", text("")), ("type", text("Of the form <sector>.<type_name>."))])),
        ("url", text("Public page of the business.")),
    ]
}

fn detail() -> Vec<(&'static str, Value)> {
    let mut fields = summary();
    fields.extend([
        ("principal_address", by_name("Address")),
        ("mailing_address", or_null(by_name("Address"), "")),
        ("registered_agent_name", text("")),
        ("formation_state", text("Two-letter code.")),
        ("last_annual_report_year", integer("")),
        ("officer_count", count("")),
        ("license_count", count("")),
    ]);
    fields
}

fn address() -> Value {
    object(["street", "street2", "city", "state", "zip", "country"].map(|name| (name, text(""))).into())
}

fn county() -> Value {
    object(vec![
        ("key", text("Key in capitals, for the key parameter.")),
        ("name", text("Display name.")),
        ("filings_last_7_days", count("")),
        ("filings_last_30_days", count("")),
        ("filings_previous_30_days", count("The 30 days before the last 30.")),
        ("active_businesses", count("")),
    ])
}

fn stats() -> Value {
    let windows = ["last_7_days", "last_30_days", "previous_30_days", "last_365_days"];
    let types = EntityType::ALL.map(EntityType::key).into_iter().chain(["other"]);
    object(vec![
        ("businesses_total", count("")),
        ("latest_filing_date", day("")),
        ("updated_at", json!({"type": "string", "format": "date-time", "description": "In UTC."})),
        ("filings", object(windows.map(|name| (name, count(""))).into())),
        (
            "monthly",
            array(object(vec![
                ("month", json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"})),
                ("total", count("")),
                (
                    "partial",
                    json!({"type": "boolean", "description": "True for an incomplete current month."}),
                ),
                ("by_type", object(types.map(|name| (name, count(""))).collect())),
            ])),
        ),
        ("type_split_30d", array(object(vec![("type", text("")), ("n", count(""))]))),
    ])
}

fn industries() -> Value {
    let texts = || array(text(""));
    object(vec![
        ("sectors", array(object(vec![("sector", text("")), ("types", texts())]))),
        ("segments", array(object(vec![("key", text("")), ("sectors", texts()), ("types", texts())]))),
    ])
}

fn account() -> Value {
    object(vec![
        ("kind", text("A client key reports client.")),
        ("id", text("Key id.")),
        ("scopes", array(text(""))),
        ("limits", object(["perMinute", "perDay", "perMonth"].map(|name| (name, count(""))).into())),
        ("remaining", object(["minute", "day", "month"].map(|name| (name, count(""))).into())),
    ])
}

fn pagination() -> Value {
    object(vec![
        ("limit", count("The limit applied, after reduction to the plan's rows per call.")),
        ("offset", count("")),
        ("has_more", json!({"type": "boolean"})),
        ("total", count("All matching rows.")),
    ])
}

fn error() -> Value {
    let message = json!({
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 2}],
        "description": "A list when several rules are broken.",
    });
    object(vec![
        (
            "statusCode",
            json!({"type": "integer", "minimum": 400, "maximum": 599, "description": "The HTTP status."}),
        ),
        ("message", message),
        ("docs_url", json!({"type": "string", "format": "uri", "description": "The reference in Markdown."})),
    ])
}

/// An object whose fields are all required.
fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn array(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn text(description: &str) -> Value {
    described(json!({"type": "string"}), description)
}

fn day(description: &str) -> Value {
    described(json!({"type": "string", "format": "date"}), description)
}

fn choice(description: &str) -> Value {
    described(json!({"type": "string", "enum": EntityType::ALL.map(EntityType::key)}), description)
}

fn integer(description: &str) -> Value {
    described(json!({"type": "integer"}), description)
}

fn count(description: &str) -> Value {
    described(json!({"type": "integer", "minimum": 0}), description)
}

fn or_null(schema: Value, description: &str) -> Value {
    described(json!({"anyOf": [schema, {"type": "null"}]}), description)
}

fn described(mut schema: Value, description: &str) -> Value {
    if !description.is_empty() {
        schema["description"] = json!(description);
    }
    schema
}

/// A schema with every record written out in the place of its name.
fn inlined(schema: &Value, components: &Map<String, Value>) -> Value {
    match schema {
        Value::Object(fields) => match fields.get("$ref").and_then(Value::as_str) {
            Some(name) => inlined(&components[name.trim_start_matches(COMPONENTS)], components),
            None => fields.iter().map(|(name, value)| (name.clone(), inlined(value, components))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| inlined(item, components)).collect(),
        other => other.clone(),
    }
}

fn into_map(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::argument::Arguments;
    use crate::contract::param::PARAMETERS;
    use crate::serve::fixture::{KEY, generous, site};

    /// What a value breaks of a schema, for the words used here.
    fn faults(schema: &Value, value: &Value, at: &str) -> Vec<String> {
        if let Some(ways) = schema["anyOf"].as_array() {
            let fits = ways.iter().any(|way| faults(way, value, at).is_empty());
            return if fits { Vec::new() } else { vec![format!("{at}: {value} fits none of {ways:?}")] };
        }
        let is_of_type = match schema["type"].as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("boolean") => value.is_boolean(),
            Some("null") => value.is_null(),
            other => panic!("{at}: type {other:?}"),
        };
        if !is_of_type {
            return vec![format!("{at}: {value} is no {}", schema["type"])];
        }
        let mut found = Vec::new();
        if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
            found.push(format!("{at}: {value} is none of {words:?}"));
        }
        if schema["minimum"].as_i64().zip(value.as_i64()).is_some_and(|(least, number)| number < least) {
            found.push(format!("{at}: {value} is too small"));
        }
        for item in value.as_array().into_iter().flatten() {
            found.extend(faults(&schema["items"], item, at));
        }
        if let Some(fields) = value.as_object() {
            let sent: Vec<&str> = fields.keys().map(String::as_str).collect();
            let listed: Vec<&str> =
                schema["properties"].as_object().expect("properties").keys().map(String::as_str).collect();
            let required: Vec<&str> =
                schema["required"].as_array().expect("required").iter().filter_map(Value::as_str).collect();
            if required != listed
                || !listed.iter().all(|name| sent.contains(name))
                || sent.len() != listed.len()
            {
                found.push(format!("{at}: {sent:?} instead of {listed:?}"));
            }
            for (name, field) in fields {
                found.extend(faults(&schema["properties"][name], field, &format!("{at}.{name}")));
            }
        }
        found
    }

    #[test]
    fn every_answer_is_what_its_schema_says_to_the_field() {
        let site = site(generous(), &["data"]);
        let caller = site.service.authenticate(Some(KEY)).expect("a key");
        for endpoint in Endpoint::ALL {
            let given = match endpoint {
                Endpoint::SearchBusinesses => json!({"q": "SU", "status": "all"}),
                Endpoint::BusinessByDocument => json!({"document_number": "L26000000001"}),
                Endpoint::Business | Endpoint::Officers => json!({"id": "1"}),
                Endpoint::DailyFilings => json!({"date": "2026-07-31"}),
                Endpoint::County => json!({"key": "DUVAL"}),
                _ => json!({}),
            };
            let arguments = Arguments::from_json(endpoint, given.as_object().expect("an object"));
            let body = site.service.answer(&caller, arguments).expect("an answer");
            let value: Value = serde_json::from_slice(&body).expect("JSON");
            let found = faults(&Value::Object(output(endpoint)), &value, endpoint.tool());
            assert!(found.is_empty(), "{found:#?}");
        }
    }

    #[test]
    fn tool_arguments_are_closed_and_only_path_parameters_are_required() {
        for endpoint in Endpoint::ALL {
            let schema = input(endpoint);
            assert_eq!(schema["additionalProperties"], false, "{endpoint}");
            let names: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
            assert_eq!(names, endpoint.parameters().map(|param| param.name).collect::<Vec<_>>());
            let required = schema.get("required").and_then(Value::as_array).map_or(0, Vec::len);
            assert_eq!(required, endpoint.template().matches('{').count(), "{endpoint}");
        }
    }

    #[test]
    fn bounds_of_the_schemas_are_the_validators() {
        for param in PARAMETERS {
            let schema = of_param(param);
            let reads = |text: &str| param.kind.read(text).is_some();
            for (bound, step) in [("minimum", -1_i64), ("maximum", 1)] {
                if let Some(bound) = schema.get(bound).and_then(Value::as_i64) {
                    assert!(
                        reads(&bound.to_string()) && !reads(&(bound + step).to_string()),
                        "{}",
                        param.name
                    );
                }
            }
            for (bound, step) in [("minLength", -1_i64), ("maxLength", 1)] {
                if let Some(bound) = schema.get(bound).and_then(Value::as_i64) {
                    let of = |length: i64| "é".repeat(usize::try_from(length).unwrap_or_default());
                    assert!(reads(&of(bound)) && !reads(&of(bound + step)), "{}", param.name);
                }
            }
            for word in schema.get("enum").and_then(Value::as_array).into_iter().flatten() {
                assert!(word.as_str().is_some_and(reads), "{} {word}", param.name);
            }
            assert_eq!(schema.get("default").is_some(), param.default.is_some(), "{}", param.name);
        }
    }
}
