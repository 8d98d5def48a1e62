//! JSON Schemas of the API's records, with a description for each field that needs one.
//!
//! Source: API document, "Resources and their fields".

use crate::contract::reference::EntityType;
use serde_json::{Map, Value, json};

/// Where the `OpenAPI` document has the schemas of records.
pub(super) const COMPONENTS: &str = "#/components/schemas/";

/// Every record by name, in the order of the API document.
pub(super) fn components() -> Map<String, Value> {
    let address = ["street", "street2", "city", "state", "zip", "country"].map(|name| (name, text("")));
    let schemas = [
        ("Summary", object(summary())),
        ("Detail", object(detail())),
        ("Address", object(address.into())),
        ("Officer", object(vec![("name", text("")), ("title", text("Code or words; no contact data."))])),
        ("DailyCount", object(vec![("date", day("")), ("count", count("Businesses filed that day."))])),
        (
            "County",
            object(vec![
                ("key", text("Key in capitals, for the key parameter.")),
                ("name", text("Display name.")),
                ("filings_last_7_days", count("")),
                ("filings_last_30_days", count("")),
                ("filings_previous_30_days", count("The 30 days before the last 30.")),
                ("active_businesses", count("")),
            ]),
        ),
        ("Stats", stats()),
        ("Industries", industries()),
        ("EntityType", object(vec![("key", choice("Value of the type parameter.")), ("label", text(""))])),
        (
            "Account",
            object(vec![
                ("kind", text("A client key reports client.")),
                ("id", text("Key id.")),
                ("scopes", array(text(""))),
                ("limits", counts(["perMinute", "perDay", "perMonth"])),
                ("remaining", counts(["minute", "day", "month"])),
            ]),
        ),
        (
            "Pagination",
            object(vec![
                ("limit", count("The limit applied, after reduction to the plan's rows per call.")),
                ("offset", count("")),
                ("has_more", json!({"type": "boolean"})),
                ("total", count("All matching rows.")),
            ]),
        ),
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
        ("last_annual_report_year", json!({"type": "integer"})),
        ("officer_count", count("")),
        ("license_count", count("")),
    ]);
    fields
}

fn stats() -> Value {
    let types = EntityType::ALL.map(EntityType::key).into_iter().chain(["other"]);
    let month = vec![
        ("month", json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}$"})),
        ("total", count("")),
        ("partial", described(json!({"type": "boolean"}), "True for an incomplete current month.")),
        ("by_type", counts(types)),
    ];
    object(vec![
        ("businesses_total", count("")),
        ("latest_filing_date", day("")),
        ("updated_at", described(json!({"type": "string", "format": "date-time"}), "In UTC.")),
        ("filings", counts(["last_7_days", "last_30_days", "previous_30_days", "last_365_days"])),
        ("monthly", array(object(month))),
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

fn error() -> Value {
    let status = json!({"type": "integer", "minimum": 400, "maximum": 599});
    let list = json!({"type": "array", "items": {"type": "string"}, "minItems": 2});
    let message = json!({"anyOf": [{"type": "string"}, list]});
    let url = json!({"type": "string", "format": "uri"});
    object(vec![
        ("statusCode", described(status, "The HTTP status.")),
        ("message", described(message, "A list when several rules are broken.")),
        ("docs_url", described(url, "The reference in Markdown.")),
    ])
}

pub(super) fn by_name(name: &str) -> Value {
    json!({"$ref": format!("{COMPONENTS}{name}")})
}

/// An object whose fields are all required.
pub(super) fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> =
        fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

pub(super) fn array(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn counts(names: impl IntoIterator<Item = &'static str>) -> Value {
    object(names.into_iter().map(|name| (name, count(""))).collect())
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
