//! JSON Schemas of parameters, tool arguments and answers.
//!
//! The `OpenAPI` document refers to records by name; the schemas of the MCP tools contain them.

use super::records::{COMPONENTS, array, by_name, components, object};
use crate::contract::endpoint::Endpoint;
use crate::contract::id::COUNTY_KEY_CHARS;
use crate::contract::param::{Param, ParamKind, ParamLocation};
use serde_json::{Map, Value, json};

/// The schema of a parameter. It allows exactly the values that the validator accepts.
pub(super) fn of_param(param: &Param) -> Map<String, Value> {
    let mut schema = into_map(of_kind(param.kind));
    if let Some(default) = param.default {
        schema.insert("default".to_owned(), value(param.kind, default));
    }
    schema
}

/// A value of a parameter that is given as text.
pub(super) fn value(kind: ParamKind, text: &str) -> Value {
    let is_number = matches!(kind, ParamKind::Integer { .. } | ParamKind::BusinessId);
    match text.parse::<u64>() {
        Ok(number) if is_number => json!(number),
        _ => json!(text),
    }
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
            let rest = COUNTY_KEY_CHARS - 1;
            json!({"type": "string", "pattern": format!("^[A-Za-z][A-Za-z .'-]{{0,{rest}}}$")})
        }
    }
}

/// The arguments of an operation's tool: path and query parameters alike, without null for an optional one.
pub(crate) fn input(endpoint: Endpoint) -> Map<String, Value> {
    let property = |param: &Param| {
        let mut schema = of_param(param);
        schema.insert("description".to_owned(), json!(param.description));
        (param.name.to_owned(), Value::Object(schema))
    };
    let properties: Map<String, Value> = endpoint.parameters().map(property).collect();
    let in_path = endpoint.parameters().filter(|param| param.place == ParamLocation::Path);
    let required: Vec<&str> = in_path.map(|param| param.name).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    into_map(schema)
}

/// The answer of an operation, records inline.
pub(crate) fn output(endpoint: Endpoint) -> Map<String, Value> {
    into_map(inlined(&answer(endpoint), &components()))
}

/// The answer of an operation, records by name.
pub(super) fn answer(endpoint: Endpoint) -> Value {
    let record = |name: &str| object(vec![("data", by_name(name))]);
    let list = |name: &str| object(vec![("data", array(by_name(name)))]);
    let page =
        |name: &str| object(vec![("data", array(by_name(name))), ("pagination", by_name("Pagination"))]);
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

/// A schema with every reference replaced by its record.
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
    serde_json::from_value(schema).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::account::Remaining;
    use crate::contract::argument::Arguments;
    use crate::contract::param::PARAMETERS;
    use crate::serve::fixture::{KEY, generous, site};
    use futures::FutureExt;

    /// The ways in which a value violates a schema, for the keywords used here.
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
    fn every_answer_matches_its_schema_field_by_field() {
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
            let left = Remaining { minute: 1, day: 1, month: 1 };
            let answer = site.service.answer(&caller, &left, arguments).now_or_never().expect("no wait");
            let body = answer.expect("an answer").body;
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
            let reads = |text: &str| param.kind.allows(text);
            let number: fn(i64) -> String = |number| number.to_string();
            let text: fn(i64) -> String = |length| "é".repeat(usize::try_from(length).unwrap_or_default());
            let bounds = [
                ("minimum", -1, number),
                ("maximum", 1, number),
                ("minLength", -1, text),
                ("maxLength", 1, text),
            ];
            for (bound, step, of) in bounds {
                if let Some(bound) = schema.get(bound).and_then(Value::as_i64) {
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
