//! The parameters of one request, read through the table of parameters, and the page that `limit` and `offset` ask for.

use super::super::eastern::parse_date;
use super::super::error::Violation;
use super::super::plan::PlanLimits;
use super::endpoint::Endpoint;
use super::param::{DEFAULT_LIMIT, Param, ParamKind, ParamLocation};
use super::query::{cut, decode_segment, quoted, split};
use jiff::civil::Date;
use serde_json::{Map, Value as Json};
use std::collections::HashSet;

/// The parameters of one request: the values that are valid, and every broken rule.
#[derive(Debug, Clone)]
pub struct Arguments {
    endpoint: Endpoint,
    /// Every parameter that was sent, with its value if it is valid.
    given: Vec<(&'static str, Option<String>)>,
    violations: Vec<Violation>,
    /// The same, so that each is reported once.
    seen: HashSet<Violation>,
}

impl Arguments {
    /// Reads an HTTP request: path argument and query string, both still percent-encoded.
    ///
    /// An operation without parameters ignores the query string.
    pub fn from_request(endpoint: Endpoint, path_argument: Option<&str>, query: &str) -> Self {
        let mut arguments = Self::none(endpoint);
        let in_path = endpoint.parameters().find(|param| param.place == ParamLocation::Path);
        if let (Some(param), Some(raw)) = (in_path, path_argument) {
            match decode_segment(raw) {
                Ok(text) => arguments.take(param, &text),
                Err(fault) => arguments.refuse(param.name, format!("{} {fault}", param.name)),
            }
        }
        if endpoint.has_parameters() {
            arguments.take_query(query);
        }
        arguments.require_path()
    }

    /// Reads the arguments of an MCP tool, each in the JSON type of its schema. One that is null counts as absent: many frameworks send null
    /// for what is left out.
    pub fn from_json(endpoint: Endpoint, given: &Map<String, Json>) -> Self {
        let mut arguments = Self::none(endpoint);
        for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
            match endpoint.parameters().find(|param| param.name == name) {
                Some(param) => arguments.take_json(param, value),
                None => arguments.reject_unknown(name),
            }
        }
        arguments.require_path()
    }

    /// The operation.
    pub const fn endpoint(&self) -> Endpoint {
        self.endpoint
    }

    /// Whether a parameter was sent, valid or not.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| *given == name)
    }

    /// The value that was sent, if it is valid.
    pub fn text(&self, name: &str) -> Option<&str> {
        let mut given = self.given.iter().filter(|(given, _)| *given == name);
        given.find_map(|(_, value)| value.as_deref())
    }

    /// The integer that was sent, if it is valid.
    pub fn integer(&self, name: &str) -> Option<u32> {
        self.text(name)?.parse().ok()
    }

    /// The day that was sent, if it is valid.
    pub fn day(&self, name: &str) -> Option<Date> {
        self.text(name).and_then(parse_date)
    }

    /// Every rule broken so far.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Adds a broken rule that only the receiver can check, such as an unknown industry key.
    pub fn reject(&mut self, violation: Violation) {
        if self.seen.insert(violation.clone()) {
            self.violations.push(violation);
        }
    }

    /// `value` if no rule is broken.
    ///
    /// # Errors
    /// At least one violation, all of the same status: those of status 403 only when there is no other.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, Vec<Violation>> {
        let mut violations = self.violations;
        if violations.iter().any(|violation| violation.status == 400) {
            violations.retain(|violation| violation.status == 400);
        }
        match value {
            Some(value) if violations.is_empty() => Ok(value),
            _ if violations.is_empty() => {
                Err(vec![Violation::invalid("", "a required parameter is missing")])
            }
            _ => Err(violations),
        }
    }

    fn none(endpoint: Endpoint) -> Self {
        Self { endpoint, given: Vec::new(), violations: Vec::new(), seen: HashSet::new() }
    }

    fn take_query(&mut self, query: &str) {
        let pieces = split(query);
        pieces.violations.into_iter().for_each(|violation| self.reject(violation));
        for name in &pieces.damaged {
            match self.endpoint.parameters().find(|param| param.name == name) {
                Some(param) => self.given.push((param.name, None)),
                None => self.reject_unknown(name),
            }
        }
        for (name, text) in &pieces.pairs {
            self.take_named(name, text);
        }
    }

    fn take_named(&mut self, name: &str, text: &str) {
        let mut in_query = self.endpoint.parameters().filter(|param| param.place == ParamLocation::Query);
        match in_query.find(|param| param.name == name) {
            Some(param) if self.is_given(param.name) => {
                self.refuse(param.name, format!("{name} must be given only once"));
            }
            Some(param) => self.take(param, text),
            None => self.reject_unknown(name),
        }
    }

    fn reject_unknown(&mut self, name: &str) {
        self.reject(Violation::invalid("", format!("unknown parameter {}", quoted(name))));
    }

    fn take_json(&mut self, param: &'static Param, value: &Json) {
        match (param.kind, value) {
            (ParamKind::Integer { .. } | ParamKind::BusinessId, Json::Number(number)) => {
                self.take(param, &number_text(number));
            }
            (ParamKind::Integer { .. }, Json::String(text)) => self.refuse_text(param, text),
            // A record carries its id as text, so its digits come back as text too.
            (_, Json::String(text)) => self.take(param, text),
            (_, other) => self.refuse_value(param, &cut(&other.to_string())),
        }
    }

    fn take(&mut self, param: &'static Param, text: &str) {
        if param.kind.allows(text) {
            self.given.push((param.name, Some(text.to_owned())));
        } else {
            self.refuse_text(param, text);
        }
    }

    fn refuse_text(&mut self, param: &'static Param, text: &str) {
        if text.is_empty() {
            let rule = param.kind.rule();
            self.refuse(param.name, format!("{} must not be empty; it must be {rule}", param.name));
        } else {
            self.refuse_value(param, &quoted(text));
        }
    }

    fn refuse_value(&mut self, param: &'static Param, shown: &str) {
        self.refuse(param.name, format!("{} must be {}, not {shown}", param.name, param.kind.rule()));
    }

    fn refuse(&mut self, name: &'static str, message: String) {
        self.given.push((name, None));
        self.reject(Violation::invalid(name, message));
    }

    fn require_path(mut self) -> Self {
        for param in self.endpoint.parameters().filter(|param| param.place == ParamLocation::Path) {
            if !self.is_given(param.name) {
                self.refuse(
                    param.name,
                    format!("{} is required; it must be {}", param.name, param.kind.rule()),
                );
            }
        }
        self
    }
}

/// A page of a listing that the plan allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CheckedPage {
    limit: u32,
    offset: u32,
}

impl CheckedPage {
    /// Reads `limit` and `offset`; an offset above the plan's is added to the broken rules.
    pub(super) fn read(arguments: &mut Arguments, limits: &PlanLimits) -> Self {
        let limit = arguments.integer("limit").unwrap_or(DEFAULT_LIMIT).min(limits.rows_per_call);
        let offset = arguments.integer("offset").unwrap_or(0);
        if offset > limits.max_offset {
            let message = format!("offset {offset} is above the plan's maximum of {}", limits.max_offset);
            arguments.reject(Violation::invalid("offset", message));
        }
        Self { limit, offset }
    }

    /// The limit applied: the one sent, or the plan's rows per call if that is less.
    pub const fn limit(self) -> u32 {
        self.limit
    }

    /// Rows before the page.
    pub const fn offset(self) -> u32 {
        self.offset
    }
}

/// A JSON number as a query would carry it: `5.0` is the integer 5, as in JSON Schema.
fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::request::endpoint::Endpoint::{Business, SearchBusinesses};
    use serde_json::json;

    fn messages(endpoint: Endpoint, argument: Option<&str>, query: &str) -> Vec<String> {
        let arguments = Arguments::from_request(endpoint, argument, query);
        arguments.violations().iter().map(|violation| violation.message.clone()).collect()
    }

    #[test]
    fn every_broken_rule_of_a_query_is_reported_once() {
        let found =
            messages(SearchBusinesses, None, "limit=05&limit=5&bogus=1&bogus=2&zip=&q=a%00b&type=LLC");
        let says = [
            "limit must be a whole number from 1 to 1000, not \"05\"",
            "limit must be given only once",
            "unknown parameter \"bogus\"",
            "zip must not be empty",
            "q must be text of 2 to 80 characters without control characters",
            "type must be one of llc,",
        ];
        assert_eq!(found.len(), says.len(), "{found:?}");
        for (message, start) in found.iter().zip(says) {
            assert!(message.starts_with(start), "{message}");
        }
    }

    #[test]
    fn a_path_parameter_cannot_be_sent_in_the_query() {
        let found = messages(Business, Some("1"), "id=2");
        assert_eq!(found, ["unknown parameter \"id\""]);
    }

    #[test]
    fn an_operation_without_parameters_ignores_its_query() {
        assert!(messages(Endpoint::Stats, None, "a=%zz&a=1").is_empty());
    }

    #[test]
    fn a_tool_call_without_its_path_argument_breaks_a_rule() {
        let arguments = of_tool(Business, json!({}));
        assert_eq!(arguments.violations()[0].message, "id is required; it must be a positive integer");
    }

    fn of_tool(endpoint: Endpoint, given: Json) -> Arguments {
        Arguments::from_json(endpoint, given.as_object().expect("an object"))
    }

    #[test]
    fn a_tool_takes_each_value_in_the_type_of_its_schema() {
        let right = of_tool(SearchBusinesses, json!({"q": "SUN", "zip": "337", "limit": 5.0, "offset": 0}));
        assert!(right.violations().is_empty(), "{:?}", right.violations());
        assert_eq!((right.integer("limit"), right.text("zip")), (Some(5), Some("337")));
        for id in [json!(5_000_001), json!("5000001"), json!(5_000_001.0)] {
            assert_eq!(of_tool(Business, json!({"id": id})).text("id"), Some("5000001"), "{id}");
        }
    }

    #[test]
    fn a_null_is_absent_for_every_parameter_of_every_operation() {
        for endpoint in Endpoint::ALL {
            let nulls: Map<String, Json> =
                endpoint.parameters().map(|param| (param.name.to_owned(), Json::Null)).collect();
            let (read, none) =
                (Arguments::from_json(endpoint, &nulls), Arguments::from_json(endpoint, &Map::new()));
            assert_eq!(read.violations(), none.violations(), "{endpoint:?}");
            assert_eq!(read.given, none.given, "{endpoint:?}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_a_broken_rule() {
        for (given, says) in [
            (json!({"limit": "5"}), "limit must be a whole number from 1 to 1000, not \"5\""),
            (json!({"limit": 0}), "limit must be a whole number from 1 to 1000, not \"0\""),
            (json!({"limit": 2.5}), "limit must be a whole number from 1 to 1000, not \"2.5\""),
            (json!({"zip": 33_702}), "zip must be 5 digits, or the first 3 or 4 of them, not 33702"),
            (
                json!({"q": ["SU"]}),
                "q must be text of 2 to 80 characters without control characters, not [\"SU\"]",
            ),
            (json!({"type": {"is": "llc"}}), "type must be one of"),
            (json!({"status": true}), "status must be one of active, all, not true"),
            (json!({"filed_from": [null]}), "filed_from must be a real day, YYYY-MM-DD, not [null]"),
            (json!({"q": ""}), "q must not be empty"),
            (json!({"Q": "SU"}), "unknown parameter \"Q\""),
        ] {
            let read = of_tool(SearchBusinesses, given.clone());
            let found: Vec<&str> = read.violations().iter().map(|broken| broken.message.as_str()).collect();
            assert!(found.len() == 1 && found[0].starts_with(says), "{given}: {found:?}");
        }
        assert_eq!(
            of_tool(Endpoint::Stats, json!({"days": 7})).violations().len(),
            1,
            "no parameter, none allowed"
        );
        assert_eq!(of_tool(Business, json!({"id": -1})).violations().len(), 1);
    }
}
