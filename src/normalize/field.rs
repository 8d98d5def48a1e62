//! Reads one JSON object field by field and notes every problem instead of stopping at the first.
//!
//! Values are cut out as raw text and only known ones are parsed, so no depth, number or escape
//! in an unknown field can break a record.

use crate::contract::page::plain_text;
use crate::contract::query::cut;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// How often each field that the API document does not know was sent; inner fields as `industry.<name>`.
pub type UnknownFields = BTreeMap<String, u64>;

/// Name and value of a field that the API document does not know.
pub(super) type UnknownField<'a> = (String, &'a RawValue);

/// The fields of one object, each taken once by name; the remaining ones are unknown.
pub(super) struct Fields<'a> {
    /// Prefix of every name in problems and in names of unknown fields: empty, or `industry.`.
    prefix: String,
    entries: Vec<(Cow<'a, str>, &'a RawValue)>,
    problems: Vec<String>,
    inner_unknown: Vec<UnknownField<'a>>,
}

impl<'a> Fields<'a> {
    /// The fields of a raw object; `Err` says what it is instead.
    pub(super) fn new(raw: &'a RawValue) -> Result<Self, String> {
        Self::with_prefix(raw, String::new()).map_err(|problem| format!("the record {problem}"))
    }

    fn with_prefix(raw: &'a RawValue, prefix: String) -> Result<Self, String> {
        if kind(raw) != "an object" {
            return Err(format!("is {}, must be an object", kind(raw)));
        }
        let Entries(entries) =
            serde_json::from_str(raw.get()).map_err(|error| format!("cannot be read: {error}"))?;
        Ok(Self { prefix, entries, problems: Vec::new(), inner_unknown: Vec::new() })
    }

    pub(super) fn problem(&mut self, name: &str, problem: impl fmt::Display) {
        self.problems.push(format!("{}{name} {problem}", self.prefix));
    }

    /// A field that must be text. Empty after a problem.
    pub(super) fn text(&mut self, name: &str) -> String {
        self.checked_text(name).unwrap_or_default()
    }

    /// A field that must be text, for a further check. `None` after a problem.
    pub(super) fn checked_text(&mut self, name: &str) -> Option<String> {
        self.take(name).and_then(|raw| self.as_text(name, raw))
    }

    /// A field that must be text or null.
    pub(super) fn text_or_null(&mut self, name: &str) -> Option<String> {
        self.take(name).filter(|raw| !is_null(raw)).and_then(|raw| self.as_text(name, raw))
    }

    /// A field that may be text. Any other value, or none, is no problem and stays where it is.
    pub(super) fn text_if_any(&mut self, name: &str) -> Option<String> {
        let at = self.entries.iter().position(|(entry, _)| entry == name)?;
        let text = serde_json::from_str::<Option<String>>(self.entries[at].1.get()).ok()?;
        self.entries.remove(at);
        text
    }

    /// A field that must be an integer. 0 after a problem.
    pub(super) fn whole_number(&mut self, name: &str) -> i32 {
        let Some(raw) = self.take(name) else { return 0 };
        serde_json::from_str(raw.get()).unwrap_or_else(|_| {
            self.problem(name, format!("is {}, must be a whole number of 32 bits", cut(raw.get())));
            0
        })
    }

    /// A field that must be an object, read by `read`. `None` after a problem with the object itself.
    pub(super) fn object<T>(&mut self, name: &str, read: impl FnOnce(&mut Fields<'a>) -> T) -> Option<T> {
        let raw = self.take(name)?;
        match Self::with_prefix(raw, format!("{}{name}.", self.prefix)) {
            Ok(mut inner) => {
                let value = read(&mut inner);
                let (unknown, problems) = inner.finish();
                self.inner_unknown.extend(unknown);
                self.problems.extend(problems);
                Some(value)
            }
            Err(problem) => {
                self.problem(name, problem);
                None
            }
        }
    }

    /// A field that must be null or an object. `None` for null.
    pub(super) fn object_or_null<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Fields<'a>) -> T,
    ) -> Option<T> {
        let null = self.entries.iter().position(|(entry, raw)| entry == name && is_null(raw));
        match null {
            Some(at) => {
                self.entries.remove(at);
                None
            }
            None => self.object(name, read),
        }
    }

    /// The unknown fields, outer ones in the order sent, then inner ones; and every problem.
    pub(super) fn finish(self) -> (Vec<UnknownField<'a>>, Vec<String>) {
        let outer = self.entries.into_iter().map(|(name, raw)| (format!("{}{name}", self.prefix), raw));
        (outer.chain(self.inner_unknown).collect(), self.problems)
    }

    fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let found = self.entries.iter().position(|(entry, _)| entry == name);
        if found.is_none() {
            self.problem(name, "is missing");
        }
        found.map(|at| self.entries.remove(at).1)
    }

    fn as_text(&mut self, name: &str, raw: &RawValue) -> Option<String> {
        if kind(raw) != "text" {
            self.problem(name, format!("is {}, must be text", cut(raw.get())));
            return None;
        }
        match plain_text(raw) {
            Some(text) => Some(text.to_owned()),
            None => serde_json::from_str(raw.get())
                .map_err(|error| self.problem(name, format!("cannot be read: {error}")))
                .ok(),
        }
    }
}

/// The entries of an object in the order sent. A name sent twice is an error: the valid value is not known.
struct Entries<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// A name that is not copied if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

/// Fields of a listed record, by the API document.
const USUAL_FIELDS: usize = 13;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::with_capacity(USUAL_FIELDS);
        while let Some((Name(name), value)) = map.next_entry()? {
            entries.push((name, value));
        }
        let mut names: Vec<&str> = entries.iter().map(|(name, _)| name.as_ref()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(serde::de::Error::custom(format!("field {} is sent twice", twice[0])));
        }
        Ok(Entries(entries))
    }
}

/// The unknown fields as the text of one JSON object; `None` when there are none.
pub(super) fn extra_text(unknown: &[UnknownField<'_>]) -> Option<String> {
    if unknown.is_empty() {
        return None;
    }
    let entries =
        unknown.iter().map(|(name, raw)| format!("{}:{}", serde_json::Value::from(name.as_str()), raw.get()));
    Some(format!("{{{}}}", entries.collect::<Vec<_>>().join(",")))
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

fn kind(raw: &RawValue) -> &'static str {
    match raw.get().as_bytes().first() {
        Some(b'"') => "text",
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}
