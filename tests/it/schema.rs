//! The JSON Schemas accept and refuse what the program does.

use crate::support::command::{Sunlake, project};
use crate::support::python;
use crate::support::scratch::Scratch;
use crate::support::source::sample_pipeline;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use sunlake::pipeline::config::file::Pipeline;

/// Line of a pipeline file by which an editor finds the schema.
const NAMED: &str = "#:schema schema/pipeline.json\n";

fn printed(of: &str) -> String {
    Sunlake::new(["schema", of]).finish().exits(0).stdout
}

fn schema(of: &str) -> Value {
    serde_json::from_str(&printed(of)).expect("JSON")
}

fn shipped() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(project().join("pipelines")).expect("a folder");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let is_pipeline = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "toml") && !path.ends_with("industries.toml")
    };
    let files: Vec<PathBuf> = files.filter(is_pipeline).collect();
    assert!(files.len() >= 5, "{files:?}");
    files
}

/// A value that a schema accepts: with every other key, and the default where there is one.
fn example(schema: &Value, root: &Value, without: &[&str]) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        return example(root.pointer(&name[1..]).expect("a definition"), root, without);
    }
    if !schema["default"].is_null() && !schema["default"].is_object() {
        return schema["default"].clone();
    }
    let of = ["allOf", "anyOf", "oneOf"].iter().find_map(|word| schema[*word].get(0));
    // Keys that exclude each other are left out by the caller.
    if let Some(of) = of.filter(|of| of["required"].is_null()) {
        return example(of, root, without);
    }
    if let Some(word) = schema.get("const") {
        return word.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).expect("a type");
    match kind {
        "object" => {
            let keys = schema["properties"].as_object().expect("properties");
            let kept = keys.iter().filter(|(key, _)| !without.contains(&key.as_str()));
            kept.map(|(key, of)| (key.clone(), example(of, root, without))).collect::<Map<_, _>>().into()
        }
        "integer" => json!(1),
        "string" => json!("listed"),
        other => panic!("no example of {other}"),
    }
}

/// The object at a path of keys.
fn inside<'v>(document: &'v mut Value, path: &[String]) -> &'v mut Map<String, Value> {
    let found = path.iter().fold(document, |value, key| &mut value[key]);
    found.as_object_mut().expect("an object")
}

/// The paths of all keys of a document.
fn paths(document: &Value, above: &[String], found: &mut Vec<Vec<String>>) {
    for (key, value) in document.as_object().into_iter().flatten() {
        let path: Vec<String> = above.iter().chain([key]).cloned().collect();
        paths(value, &path, found);
        found.push(path);
    }
}

/// A document with each key renamed, and with each value of other types.
fn mutations(document: &Value) -> Vec<(String, Value)> {
    let values =
        [json!(-1), json!(1.5), json!("no such word"), json!(true), json!({}), json!([1]), json!([[]])];
    let (mut all, mut found) = (Vec::new(), Vec::new());
    paths(document, &[], &mut found);
    for path in found {
        let (key, above) = path.split_last().expect("a key");
        let mut renamed = document.clone();
        let table = inside(&mut renamed, above);
        let value = table.remove(key).expect("a value");
        table.insert(format!("{key}s"), value);
        all.push((format!("{} renamed", path.join(".")), renamed));
        for value in &values {
            let mut other = document.clone();
            inside(&mut other, above).insert(key.clone(), value.clone());
            all.push((format!("{} = {value}", path.join(".")), other));
        }
    }
    all
}

/// Whether the program takes a document as a pipeline.
fn reads(scratch: &Scratch, document: &Value) -> bool {
    let text = toml::to_string(document).expect("TOML");
    Pipeline::read(&scratch.file("p.toml", &text)).is_ok()
}

fn judged(scratch: &Scratch, schema: &Value, documents: &[&Value]) -> Vec<bool> {
    let file =
        scratch.file("documents.json", &json!({ "schema": schema, "documents": documents }).to_string());
    serde_json::from_value(python::json("schema.py", &[&file])).expect("a verdict for each")
}

#[test]
fn the_schema_of_the_shipped_files_is_what_the_program_prints() {
    let file = project().join("pipelines/schema/pipeline.json");
    if std::env::var_os("SUNLAKE_BLESS").is_some() {
        std::fs::write(&file, printed("pipeline")).expect("the schema");
    }
    let there = std::fs::read_to_string(&file).expect("the schema");
    assert!(
        there == printed("pipeline"),
        "write it again: sunlake schema pipeline > pipelines/schema/pipeline.json"
    );
    for file in shipped() {
        let text = std::fs::read_to_string(&file).expect("a pipeline file");
        assert!(text.starts_with(NAMED), "{} does not begin with {NAMED}", file.display());
    }
}

#[test]
fn the_schema_accepts_every_shipped_pipeline_and_refuses_what_the_program_refuses() {
    let (scratch, schema) = (Scratch::new(), schema("pipeline"));
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("a pipeline file");
    let mut right: Vec<Value> =
        shipped().into_iter().map(|file| toml::from_str(&read(file)).expect("TOML")).collect();
    // Every key there is; those that exclude each other in one file each.
    for list in ["listed", "no such word"] {
        scratch.file(list, "L26000000001\n");
    }
    let others: [&[&str]; 4] = [
        &["registry", "enrich", "source"],
        &["registry", "where", "import"],
        &["registry", "documents", "import"],
        &["enrich", "import"],
    ];
    right.extend(others.map(|without| example(&schema, &schema, without)));
    for document in &right {
        assert!(reads(&scratch, document), "{document}");
    }
    assert!(
        judged(&scratch, &schema, &right.iter().collect::<Vec<_>>()).into_iter().all(|is_valid| is_valid)
    );
    let mut mutated: Vec<(String, Value)> = right.iter().flat_map(mutations).collect();
    let mut both = right[right.len() - 1].clone();
    both["enrich"] = right[right.len() - 2]["enrich"].clone();
    mutated.push(("registry and enrich".to_owned(), both));
    assert!(mutated.len() > 800, "{}", mutated.len());
    let verdicts =
        judged(&scratch, &schema, &mutated.iter().map(|(_, document)| document).collect::<Vec<_>>());
    let mut wrong = Vec::new();
    for ((what, document), is_valid) in mutated.iter().zip(verdicts) {
        let is_read = reads(&scratch, document);
        if is_read != is_valid || (what.ends_with("renamed") && is_read) {
            wrong.push(format!("{what}: read {is_read}, valid {is_valid}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_summary_of_a_run_is_as_its_schema_says() {
    let (scratch, schema) = (Scratch::new(), schema("summary"));
    let pipeline = scratch.file("sample.toml", &sample_pipeline(3, 0.02));
    let summary =
        Sunlake::run(&pipeline, &scratch.lake()).args(["--today", "2026-03-20"]).finish().complete();
    let failed = Sunlake::run(&scratch.path("none.toml"), &scratch.lake()).finish().exits(3).json();
    let mut without = summary.clone();
    without.as_object_mut().expect("an object").remove("coverage");
    let mut other = summary.clone();
    other["requests"]["sent"] = json!("many");
    let documents = [&summary, &failed, &without, &other];
    assert_eq!(judged(&scratch, &schema, &documents), [true, true, false, false]);
}
