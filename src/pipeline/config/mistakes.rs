//! All mistakes of a pipeline file at once: each with its line, its place in it, and the nearest right word.

use super::built_in::SCHEMAS;
use super::rules::wrong_values;
use super::spec::PipelineSpec;
use crate::contract::hint::{NEAR, nearest};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// Most mistakes that are looked for.
const MOST: usize = 20;
/// Characters of a line that are shown before and after the begin of the place.
const AROUND: usize = 200;

/// A key or value, and the words that others use for it.
const SYNONYMS: [(&str, &[&str]); 5] = [
    ("days", &["from", "to", "since", "start", "window"]),
    ("tell", &["warn", "warning", "log", "ignore"]),
    ("fail", &["error", "abort", "stop"]),
    ("hold", &["pause", "review"]),
    ("base_url", &["address", "endpoint", "host", "url"]),
];

/// Types in the TOML reader's words, and in a person's.
const TYPES: [(&str, &str); 3] = [
    ("expected u64", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected f64", "expected a number"),
];

/// Names that others have for the key of the API.
const KEYS: [&str; 7] = ["api_key", "api_key_file", "apikey", "key", "key_file", "secret", "token"];

/// A mistake in a pipeline file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
    /// The line, with carets under the place.
    pub excerpt: String,
    /// The nearest right word, or another way out.
    pub hint: Option<String>,
}

impl Mistake {
    /// A mistake at a place of the text.
    pub(super) fn at(text: &str, place: Range<usize>, problem: String, hint: Option<String>) -> Self {
        let start = place.start.min(text.len());
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[..begin].matches('\n').count() + 1;
        let before = text[begin..start].char_indices().rev().nth(AROUND - 1);
        let begin = before.map_or(begin, |(at, _)| begin + at);
        let shown = text[begin..].lines().next().unwrap_or_default();
        let most = shown.char_indices().nth(2 * AROUND).map_or(shown.len(), |(at, _)| at);
        let shown = &shown[..most];
        let end = place.end.clamp(start, begin + shown.len().max(start - begin));
        let indent: String = text[begin..start].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let carets = "^".repeat(text[start..end].chars().count().max(1));
        let margin = " ".repeat(line.to_string().len());
        let mut excerpt = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(excerpt, "  {line} | {}", shown.trim_end());
        let _ = writeln!(excerpt, "  {margin} | {indent}{carets}");
        Self { line, problem, excerpt, hint }
    }

    fn of(text: &str, error: &toml::de::Error) -> Self {
        let problem = error.message().lines().next().unwrap_or_default();
        let problem =
            TYPES.iter().fold(problem.to_owned(), |text, (of_rust, words)| text.replace(of_rust, words));
        let hint = hint_of(&problem);
        Self::at(text, error.span().unwrap_or(0..0), problem, hint)
    }
}

/// The spec of a file without mistakes.
pub(super) fn read_spec(text: &str) -> Result<PipelineSpec, Vec<Mistake>> {
    let (_, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let shown = errors.iter().take(MOST);
        let mut mistakes: Vec<Mistake> = shown.map(|error| Mistake::of(text, error)).collect();
        mistakes.sort_by_key(|mistake| mistake.line);
        return Err(mistakes);
    }
    if let Some(key) = list_as_section(text) {
        let problem = format!("{key} is a section of keys, not a list");
        return Err(vec![Mistake::at(text, place_of(text, &key), problem, None)]);
    }
    let (mut mistakes, mut rest) = (Vec::new(), text.to_owned());
    while mistakes.len() < MOST {
        let error = match toml::from_str::<PipelineSpec>(&rest) {
            Ok(spec) => {
                let wrong = wrong_values(&spec).into_iter();
                mistakes.extend(
                    wrong.map(|(key, problem)| Mistake::at(text, place_of(text, key), problem, None)),
                );
                if mistakes.is_empty() {
                    return Ok(spec);
                }
                break;
            }
            Err(error) => error,
        };
        mistakes.push(Mistake::of(text, &error));
        // Without the wrong item, the next mistake shows.
        match error.span().and_then(|place| without_item(&rest, place.start)) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    mistakes.sort_by_key(|mistake| mistake.line);
    Err(mistakes)
}

/// The key of a list in place of a section: serde would take its items for the section's keys, in their order.
fn list_as_section(text: &str) -> Option<String> {
    fn find(table: &DeTable<'_>, above: &str, schema: &Value) -> Option<String> {
        table.iter().find_map(|(key, value)| {
            let path = format!("{above}{}", key.get_ref());
            match value.get_ref() {
                DeValue::Array(_) if keys_of(schema, &path).is_some() => Some(path),
                DeValue::Table(section) => find(section, &format!("{path}."), schema),
                _ => None,
            }
        })
    }
    find(DeTable::parse(text).ok()?.get_ref(), "", &schema()?)
}

/// The place of a key and its value. For an absent key: its section's, or the first byte.
pub(super) fn place_of(text: &str, key: &str) -> Range<usize> {
    let Ok(root) = DeTable::parse(text) else { return 0..0 };
    let (mut table, mut place) = (Some(root.get_ref()), 0..0);
    for word in key.split('.') {
        let Some((found, value)) = table.and_then(|table| table.get_key_value(word)) else { break };
        table = value.get_ref().as_table();
        place = if table.is_some() { found.span() } else { found.span().start..value.span().end };
    }
    place
}

/// The text with spaces in place of the key and value at a byte; none where the rest is no TOML.
fn without_item(text: &str, at: usize) -> Option<String> {
    let root = DeTable::parse(text).ok()?;
    let place = item_at(text, root.get_ref(), at)?;
    let mut bytes = text.as_bytes().to_vec();
    bytes[place].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    let shorter = String::from_utf8(bytes).ok()?;
    (shorter != text && DeTable::parse(&shorter).is_ok()).then_some(shorter)
}

/// The item of a table, or of a table in it, that has a byte.
fn item_at(text: &str, table: &DeTable<'_>, at: usize) -> Option<Range<usize>> {
    table.iter().find_map(|(key, value)| {
        let (name, span) = (key.span(), value.span());
        let inner = value.get_ref().as_table().and_then(|table| item_at(text, table, at));
        let is_here = name.contains(&at) || span.contains(&at);
        inner.or_else(|| is_here.then(|| place_of_item(text, name, span, value.get_ref())))
    })
}

/// A key with its value; a section with all its lines.
fn place_of_item(text: &str, name: Range<usize>, span: Range<usize>, value: &DeValue<'_>) -> Range<usize> {
    let line = text[..name.start].rfind('\n').map_or(0, |at| at + 1);
    if value.as_table().is_some() && text[line..].starts_with('[') {
        let end = text[name.end..].find("\n[").map_or(text.len(), |at| name.end + at);
        return line..end;
    }
    name.start..span.end.max(name.end)
}

/// The hint for a problem that the TOML reader reports.
fn hint_of(problem: &str) -> Option<String> {
    let unknown = problem.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    if unknown.is_some_and(|word| KEYS.contains(&word)) {
        let variables = "set SUNLAKE_API_KEY, or set SUNLAKE_API_KEY_FILE to a file with the key";
        return Some(format!("the key is in no pipeline file: {variables}"));
    }
    if let Some((word, section)) = unknown.and_then(|word| Some((word, section_of(word)?))) {
        return Some(format!("`{word}` belongs to the section `[{section}]`"));
    }
    if problem.starts_with("missing field `name`") {
        return Some("a file begins with a name of your choice: `name = \"mine\"`".to_owned());
    }
    near(problem).map(|word| format!("did you mean `{word}`?"))
}

/// The schema of pipeline files.
fn schema() -> Option<Value> {
    serde_json::from_str(SCHEMAS[0].1).ok()
}

/// The keys of a section, which is named by its path: `source.sample`. None where there is no such section.
fn keys_of<'s>(schema: &'s Value, section: &str) -> Option<&'s Map<String, Value>> {
    let spec = section.split('.').try_fold(schema, |spec, name| {
        let of = &spec["properties"][name];
        let spec = ["allOf", "anyOf"].iter().find_map(|word| of[*word][0]["$ref"].as_str())?;
        schema.pointer(spec.strip_prefix('#')?)
    });
    spec?["properties"].as_object()
}

/// The section that has a key.
fn section_of(key: &str) -> Option<String> {
    let schema = schema()?;
    let has_key = |section: &&String| keys_of(&schema, section).is_some_and(|keys| keys.contains_key(key));
    schema["properties"].as_object()?.keys().find(has_key).cloned()
}

/// The right word nearest to the wrong one. Serde's message quotes the wrong word first, then the right ones.
fn near(problem: &str) -> Option<String> {
    if !problem.starts_with("unknown ") {
        return None;
    }
    let mut quoted = problem.split('`').skip(1).step_by(2);
    let wrong = quoted.next()?;
    let right: Vec<&str> = quoted.collect();
    let synonym = SYNONYMS.iter().find(|(value, words)| words.contains(&wrong) && right.contains(value));
    let near = synonym.map(|(value, _)| *value).or_else(|| nearest(wrong, right, NEAR));
    near.map(str::to_owned)
}
