//! SQL gives what DuckDB gives over the same files, or is refused in one line: a corpus of questions, and random queries.
//!
//! `SUNLAKE_SQL_QUERIES=10000` runs this number of random queries for each of ten seeds, and `SUNLAKE_SQL_SEED=3` begins with the third.

use crate::support::command::project;
use crate::support::lake::{current, names};
use crate::support::scratch::Scratch;
use crate::support::{python, source};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use sunlake::aggregate::{SnapshotFiles, run_aggregate};

const SEEDS: usize = 10;
const QUERIES: usize = 30;

/// Some rows of each table of the small lake.
fn tables(scratch: &Scratch) -> SnapshotFiles {
    let folder = scratch.path("tables");
    python::json("sql_lake.py", &[&current(&source::history().lake), &folder]);
    names(&folder)
        .into_iter()
        .map(|name| (name.clone(), vec![folder.join(name).join("part.parquet")]))
        .collect()
}

/// Runs queries, one a line, and compares the answers with those of DuckDB.
fn compared(scratch: &Scratch, tables: &SnapshotFiles, queries: &str) -> Value {
    let answers = scratch.path("answers");
    let _ = std::fs::remove_dir_all(&answers);
    std::fs::create_dir_all(&answers).expect("a folder");
    let file = scratch.file("queries.sql", queries);
    for (number, query) in queries.lines().enumerate() {
        let name = format!("q{number}");
        if let Err(error) = run_aggregate(&name, query, tables, &answers) {
            let said = error.to_string();
            assert_eq!(said.lines().count(), 1, "{query}\n{said}");
            std::fs::write(answers.join(format!("{name}.refused")), said).expect("a file");
        }
    }
    let views = source::history().lake.join("catalog/views.sql");
    python::json("sql_compare.py", &[&scratch.path("tables"), &views, Path::new(&file), &answers])
}

/// Why queries were refused, and how often.
fn reasons(result: &Value) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for refused in result["refused"].as_array().expect("a list") {
        let said = refused[0].as_str().unwrap_or_default();
        let reason = said.split_once(" cannot run: ").map_or(said, |(_, reason)| reason);
        *reasons.entry(reason.to_owned()).or_default() += 1;
    }
    reasons
}

fn assert_none_wrong(result: &Value) {
    let wrong = result["wrong"].as_array().expect("a list");
    let shown: Vec<&str> = wrong.iter().filter_map(Value::as_str).collect();
    assert!(shown.is_empty(), "{} wrong\n{}", shown.len(), shown.join("\n"));
    let gaps: Vec<&Value> = (result["refused"].as_array().expect("a list").iter())
        .filter(|refused| refused[0].as_str().is_some_and(|said| said.contains("polars")))
        .collect();
    assert!(gaps.is_empty(), "polars refuses {gaps:#?}");
}

#[test]
fn questions_of_analysts_have_the_answers_of_duckdb() {
    let scratch = Scratch::new();
    let tables = tables(&scratch);
    let corpus = include_str!("sql_corpus.sql");
    let queries: Vec<&str> =
        corpus.lines().filter(|line| !line.starts_with("--") && !line.is_empty()).collect();
    let result = compared(&scratch, &tables, &queries.join("\n"));
    assert_none_wrong(&result);
    let refused = result["refused"].as_array().expect("a list").len();
    println!("{} questions, {refused} refused: {:?}", queries.len(), reasons(&result));
    assert!(queries.len() >= 300 && refused * 10 <= queries.len(), "{refused} of {} refused", queries.len());
    assert_eq!(result["refused_by_both"], 0, "every question has an answer");
    assert_eq!(result["by_optimizer"], 0, "DuckDB has one answer to each");
}

#[test]
fn no_other_sql_is_built_in() {
    let manifest = std::fs::read_to_string(project().join("Cargo.toml")).expect("Cargo.toml");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let features = manifest["dependencies"]["polars"]["features"].as_array().expect("a list");
    assert!(features.iter().all(|feature| feature.as_str() != Some("sql")), "{features:?}");
    let own = manifest["dependencies"].as_table().expect("dependencies");
    assert!(!own.contains_key("polars-sql"));
}

#[test]
fn random_queries_have_the_answers_of_duckdb() {
    let scratch = Scratch::new();
    let tables = tables(&scratch);
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let count = number("SUNLAKE_SQL_QUERIES").unwrap_or(QUERIES);
    for seed in number("SUNLAKE_SQL_SEED").unwrap_or(1)..=SEEDS {
        let mut generate = python::command("sql_generate.py");
        let made = generate.args([seed.to_string(), count.to_string()]).output().expect("python");
        let queries = String::from_utf8(made.stdout).expect("text");
        assert_eq!(queries.lines().count(), count, "{}", String::from_utf8_lossy(&made.stderr));
        let result = compared(&scratch, &tables, &queries);
        let (same, differs) = (&result["same"], &result["by_optimizer"]);
        println!(
            "seed {seed}: {same} the same, {differs} asked of DuckDB without its optimizer, refused: {:?}",
            reasons(&result)
        );
        assert_none_wrong(&result);
    }
}
