//! The parameters of one request, read through the table: what is right, and every rule that was broken.

use super::endpoint::Endpoint;
use super::error::Violation;
use super::param::{Param, Place, Value};
use super::query::{decode_segment, quoted, split};
use jiff::civil::Date;

/// The parameters of one request, read: the values that are right, and every rule the others broke.
#[derive(Debug, Clone)]
pub struct Arguments {
    endpoint: Endpoint,
    given: Vec<&'static str>,
    values: Vec<(&'static str, Value)>,
    violations: Vec<Violation>,
}

impl Arguments {
    /// Reads a request as it came over HTTP: path argument and query string, both still percent-encoded.
    ///
    /// An operation without parameters ignores the query string.
    pub fn from_request(endpoint: Endpoint, path_argument: Option<&str>, query: &str) -> Self {
        let mut arguments = Self::none(endpoint);
        let in_path = endpoint.parameters().find(|param| param.place == Place::Path);
        if let (Some(param), Some(raw)) = (in_path, path_argument) {
            match decode_segment(raw) {
                Ok(text) => arguments.take(param, &text),
                Err(fault) => arguments.refuse(param.name, format!("{} {fault}", param.name)),
            }
        }
        if endpoint.has_parameters() {
            arguments.take_query(query);
        }
        arguments.finish()
    }

    /// Reads decoded pairs that may name path and query parameters alike, as the arguments of an MCP tool do.
    pub fn from_pairs(endpoint: Endpoint, pairs: &[(String, String)]) -> Self {
        let mut arguments = Self::none(endpoint);
        for (name, text) in pairs {
            arguments.take_named(name, text, |_| true);
        }
        arguments.finish()
    }

    /// The operation they are for.
    pub const fn endpoint(&self) -> Endpoint {
        self.endpoint
    }

    /// Whether a parameter was sent, rightly or wrongly.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.contains(&name)
    }

    /// A text, choice, ZIP or identifier, when it was sent rightly.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.iter().find_map(|(at, value)| match value {
            Value::Text(text) if *at == name => Some(text.as_str()),
            _ => None,
        })
    }

    /// A whole number, when it was sent rightly.
    pub fn integer(&self, name: &str) -> Option<u32> {
        self.values.iter().find_map(|(at, value)| match value {
            Value::Integer(number) if *at == name => Some(*number),
            _ => None,
        })
    }

    /// A day, when it was sent rightly.
    pub fn day(&self, name: &str) -> Option<Date> {
        self.values.iter().find_map(|(at, value)| match value {
            Value::Day(day) if *at == name => Some(*day),
            _ => None,
        })
    }

    /// Every rule broken so far.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Adds a rule that only the receiver of the request can judge, such as an unknown industry key.
    pub fn reject(&mut self, violation: Violation) {
        if !self.violations.contains(&violation) {
            self.violations.push(violation);
        }
    }

    /// `value` when no rule is broken; otherwise the rules, those with status 403 only when there is no other.
    ///
    /// # Errors
    /// At least one violation, all of the same status.
    pub fn settle<T>(self, value: Option<T>) -> Result<T, Vec<Violation>> {
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
        Self { endpoint, given: Vec::new(), values: Vec::new(), violations: Vec::new() }
    }

    fn take_query(&mut self, query: &str) {
        let pieces = split(query);
        self.violations.extend(pieces.violations);
        for name in &pieces.damaged {
            self.given
                .extend(self.endpoint.parameters().find(|param| param.name == name).map(|param| param.name));
        }
        for (name, text) in &pieces.pairs {
            self.take_named(name, text, |param| param.place == Place::Query);
        }
    }

    fn take_named(&mut self, name: &str, text: &str, allowed: impl Fn(&Param) -> bool) {
        match self.endpoint.parameters().find(|param| param.name == name && allowed(param)) {
            Some(param) if self.is_given(param.name) => {
                self.refuse(param.name, format!("{name} must be given only once"));
            }
            Some(param) => self.take(param, text),
            None => self.reject(Violation::invalid("", format!("unknown parameter {}", quoted(name)))),
        }
    }

    fn take(&mut self, param: &'static Param, text: &str) {
        match param.kind.read(text) {
            Some(value) => {
                self.given.push(param.name);
                self.values.push((param.name, value));
            }
            None if text.is_empty() => self.refuse(
                param.name,
                format!("{} must not be empty; it must be {}", param.name, param.kind.rule()),
            ),
            None => self.refuse(
                param.name,
                format!("{} must be {}, not {}", param.name, param.kind.rule(), quoted(text)),
            ),
        }
    }

    fn refuse(&mut self, name: &'static str, message: String) {
        self.given.push(name);
        self.reject(Violation::invalid(name, message));
    }

    fn finish(mut self) -> Self {
        for param in self.endpoint.parameters().filter(|param| param.place == Place::Path) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::endpoint::Endpoint::{Business, SearchBusinesses};

    fn messages(endpoint: Endpoint, argument: Option<&str>, query: &str) -> Vec<String> {
        let arguments = Arguments::from_request(endpoint, argument, query);
        arguments.violations().iter().map(|violation| violation.message.clone()).collect()
    }

    #[test]
    fn every_broken_rule_of_a_query_is_told_once() {
        let told = messages(SearchBusinesses, None, "limit=05&limit=5&bogus=1&bogus=2&zip=&q=a%00b&type=LLC");
        let says = [
            "limit must be a whole number from 1 to 1000, not \"05\"",
            "limit must be given only once",
            "unknown parameter \"bogus\"",
            "zip must not be empty",
            "q must be text of 2 to 80 characters without control characters",
            "type must be one of llc,",
        ];
        assert_eq!(told.len(), says.len(), "{told:?}");
        for (message, start) in told.iter().zip(says) {
            assert!(message.starts_with(start), "{message}");
        }
    }

    #[test]
    fn a_path_parameter_cannot_be_sent_in_the_query() {
        let told = messages(Business, Some("1"), "id=2");
        assert_eq!(told, ["unknown parameter \"id\""]);
    }

    #[test]
    fn an_operation_without_parameters_ignores_its_query() {
        assert!(messages(Endpoint::Stats, None, "a=%zz&a=1").is_empty());
    }

    #[test]
    fn a_tool_call_without_its_path_argument_is_told_so() {
        let arguments = Arguments::from_pairs(Business, &[]);
        assert_eq!(arguments.violations()[0].message, "id is required; it must be a positive integer");
    }
}
