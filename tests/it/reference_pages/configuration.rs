//! The keys of a pipeline file: names and meanings from the sources, defaults and accepted values from the program.

use super::page::{check, code, files_of, head, project, prose, table};
use super::source::{Field, fields_of};
use std::collections::BTreeMap;
use sunlake::pipeline::config::file::Pipeline;
use sunlake::pipeline::config::spec::PipelineSpec;

/// The shortest pipeline that has every section.
const SHORTEST: &str = "name = \"p\"\n[registry]\n[enrich]\nwhere = \"listed\"\n";

/// What users need beyond the sentence at the key or section.
const NOTES: [(&str, &str); 21] = [
    (
        "name",
        "Lower-case letters, digits, `-` and `_`. An unfinished run is resumed by the pipeline of its name",
    ),
    ("source.base_url", "Not together with `embedded = true`"),
    ("source.allow_plain_http", "Without it only https, and http to this machine"),
    ("source.sample.scale", "At most 10"),
    (
        "source.sample.shape",
        "`long_tail` and `one_sector` use more requests than `plain`, which is as measured",
    ),
    ("source.sample.register", "30% of them are dissolved. They have no details and officers"),
    ("enrich.where", "It may name every table. Required without `documents`"),
    ("enrich.limit", "At most 100,000"),
    ("budget.max_minutes", "Without it a single pause takes up to 15 minutes"),
    ("budget.attempts", "6 without it"),
    ("plan.rows_per_call", "Learned from the API without it"),
    ("plan.max_offset", "Learned from the API without it"),
    ("plan.window_days", "Learned from the API without it"),
    ("aggregates.folder", "It must exist, even if it is empty"),
    (
        "checks",
        "`\"tell\"` reports it and continues, `\"hold\"` keeps the snapshot for review, `\"fail\"` publishes nothing",
    ),
    ("checks.incomplete_days", "Only in a run that was not stopped"),
    ("checks.counts", "Compared with `/filings/daily`"),
    ("checks.drop", "A settled month ended 30 days ago or more"),
    ("checks.dates", "Before 1800, more than a year from now, or dissolved before it was filed"),
    ("checks.aggregates", "Only for aggregates whose file has a line `-- Adds up:`"),
    ("retention.weekly", "Weeks begin on Monday"),
];

/// The sentence at a key or section, and its note.
fn meaning(path: &str, sentence: &str) -> String {
    match NOTES.iter().find(|(noted, _)| *noted == path) {
        Some((_, note)) => format!("{}. {note}", prose(sentence)),
        None => prose(sentence),
    }
}

/// What `{:#?}` of the shortest pipeline gives each key, by its path in the code.
fn defaults() -> BTreeMap<String, String> {
    let spec: PipelineSpec = toml::from_str(SHORTEST).expect("a pipeline");
    let mut defaults = BTreeMap::new();
    let mut open: Vec<Option<String>> = Vec::new();
    for line in format!("{spec:#?}").lines().map(str::trim) {
        if line.ends_with(['{', '(']) {
            open.push(line.split_once(": ").map(|(name, _)| name.to_owned()));
        } else if line.starts_with(['}', ')']) {
            open.pop();
        } else if let Some((name, value)) = line.trim_end_matches(',').split_once(": ") {
            let path: Vec<&str> = open.iter().flatten().map(String::as_str).chain([name]).collect();
            defaults.insert(path.join("."), value.to_owned());
        }
    }
    defaults
}

fn default_of(path: &str, defaults: &BTreeMap<String, String>) -> String {
    match defaults.get(path).map(String::as_str) {
        None | Some("None" | "[]") => String::new(),
        // A variant of an enumeration: the word in the file.
        Some(word) if word.chars().all(char::is_alphabetic) && word.starts_with(char::is_uppercase) => {
            code(&format!("\"{}\"", word.to_lowercase()))
        }
        Some(value) => code(value),
    }
}

/// Why the program refuses a value of a key, if it does.
fn refusal(section: &str, key: &str, value: &str) -> Option<String> {
    let head = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
    let name = if key == "name" { "" } else { "name = \"p\"\n" };
    let required = match (section, key) {
        ("enrich", "where") | ("import", "folder") => "",
        ("enrich", _) => "where = \"listed\"\n",
        ("import", _) => "folder = \"files\"\n",
        _ => "",
    };
    let text = format!("{name}{head}{required}{key} = {value}\n");
    toml::from_str::<PipelineSpec>(&text).err().map(|error| error.message().to_owned())
}

/// What a key accepts, by what the program says about a wrong value.
fn accepts(section: &str, key: &str) -> String {
    let Some(refusal) = refusal(section, key, "\"no such word\"") else { return "text".to_owned() };
    let words = |refusal: &str| {
        let (_, listed) = refusal.split_once("expected").expect("the right words");
        let words = listed.split('`').skip(1).step_by(2).map(|word| code(&format!("\"{word}\"")));
        words.collect::<Vec<_>>().join(", ")
    };
    match &*refusal {
        text if text.contains("unknown variant") => words(text),
        text if text.contains("a sequence") => {
            let inner = self::refusal(section, key, "[\"no such word\"]").expect("words that are none");
            format!("a list of {}", words(&inner))
        }
        text if text.contains("expected u") => "whole number".to_owned(),
        text if text.contains("expected f") => "number".to_owned(),
        text if text.contains("boolean") => "`true`, `false`".to_owned(),
        text => prose(text),
    }
}

/// The rows of one section, then its sub-sections.
fn write_section(path: &str, in_code: &str, members: &[Field], text: &mut String) {
    let defaults = defaults();
    let join =
        |path: &str, name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let (sections, keys): (Vec<&Field>, Vec<&Field>) =
        members.iter().partition(|field| field.members().is_some());
    let row = |field: &&Field| {
        let default = default_of(&join(in_code, &field.name), &defaults);
        let is_required = ["name", "import.folder"].contains(&&*join(path, &field.shown));
        let default = if is_required { "required".to_owned() } else { default };
        vec![
            code(&field.shown),
            accepts(path, &field.shown),
            default,
            meaning(&join(path, &field.shown), &field.meaning),
        ]
    };
    let columns = ["key", "accepts", "default", "meaning"];
    text.push_str(&table(&columns, &keys.iter().map(row).collect::<Vec<_>>()));
    for section in sections {
        let (path, in_code) = (join(path, &section.shown), join(in_code, &section.name));
        text.push_str(&format!("## `[{path}]`\n\n{}.\n\n", meaning(&path, &section.meaning)));
        let members = section.members().unwrap_or_default();
        write_section(&path, &in_code, &members, text);
    }
}

#[test]
fn configuration_page_has_every_key_the_program_accepts() {
    let mut text = head(
        "Configuration",
        "A pipeline is a TOML file. Only `name` is required. A wrong key stops the run before it starts. \
         A key without a default is not set. `--base-url` and `SUNLAKE_BASE_URL` override `base_url` of every file.",
    );
    write_section("", "", &fields_of::<PipelineSpec>(), &mut text);
    let missing: Vec<&str> =
        NOTES.iter().map(|(_, note)| *note).filter(|note| !text.contains(note)).collect();
    assert!(missing.is_empty(), "notes on keys that do not exist: {missing:?}");
    text.push_str("## Shipped files\n\n");
    let files = files_of(&project().join("pipelines"), "toml").into_iter();
    let shipped = files.filter(|file| !file.ends_with("industries.toml")).map(|file| {
        let pipeline = Pipeline::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        assert_eq!(format!("{}.toml", pipeline.spec.name), name);
        let source = std::fs::read_to_string(&file).expect("a pipeline file");
        let about: Vec<&str> = source
            .lines()
            .skip_while(|line| line.starts_with("#:schema"))
            .map_while(|line| line.strip_prefix("# "))
            .filter(|line| !line.contains("SUNLAKE_"))
            .collect();
        vec![code(&format!("pipelines/{name}")), prose(&about.join(" "))]
    });
    text.push_str(&table(&["file", "for"], &shipped.collect::<Vec<_>>()));
    check("configuration.md", &format!("{}\n", text.trim_end()));
}

#[test]
fn the_sources_have_the_keys_that_the_program_accepts() {
    let message = refusal("", "no_such_key", "1").expect("a wrong key");
    let (_, listed) = message.split_once("expected").expect("the right keys");
    let mut accepted: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    let members = fields_of::<PipelineSpec>();
    let mut written: Vec<&str> = members.iter().map(|field| &*field.shown).collect();
    accepted.sort_unstable();
    written.sort_unstable();
    assert_eq!(accepted, written);
}
