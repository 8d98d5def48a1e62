//! The README holds what the program has: commands, flags, codes, columns, aggregates, pipeline keys, JSON.

use super::{Cli, exit};
use crate::pipeline::config::file::Pipeline;
use crate::pipeline::config::spec::PipelineSpec;
use crate::pipeline::plan::estimate::Price;
use crate::pipeline::publish::summary::{Requests, RunSummary};
use crate::table::{Column, ColumnKind, Table, columns};
use clap::{Arg, Command, CommandFactory};
use jiff::civil::date;
use std::path::{Path, PathBuf};

const README: &str = include_str!("../../README.md");

fn pipelines() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines")
}

fn files_of(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no .{extension}", folder.display());
    files
}

/// The lines of a README section, from its heading to the next of the same or a higher level.
fn section(heading: &str) -> &'static str {
    let level = heading.chars().take_while(|c| *c == '#').count();
    let start =
        README.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("the README has no {heading}"));
    let body = &README[start + heading.len() + 2..];
    let ends = |line: &str| {
        let marks = line.chars().take_while(|c| *c == '#').count();
        (1..=level).contains(&marks) && line[marks..].starts_with(' ')
    };
    let mut fenced = false;
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        fenced ^= line.starts_with("```");
        if !fenced && ends(line) {
            break;
        }
        end += line.len();
    }
    &body[..end]
}

/// Every command under the root with its words, `keys create` and its like included.
fn commands() -> Vec<(String, Command)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), Cli::command())];
    while let Some((words, command)) = open.pop() {
        for sub in command.get_subcommands() {
            open.push((format!("{words} {}", sub.get_name()).trim().to_owned(), sub.clone()));
        }
        found.push((words, command));
    }
    found
}

fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| arg.get_long().is_some())
}

#[test]
fn every_command_and_every_argument_has_help() {
    Cli::command().debug_assert();
    for (words, command) in commands() {
        assert!(command.get_about().is_some(), "sunlake {words}");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "sunlake {words}: {}", arg.get_id());
        }
    }
}

#[test]
fn every_command_is_in_the_readme() {
    let text = section("## Commands");
    for (words, command) in commands() {
        let is_leaf = command.get_subcommands().next().is_none();
        assert!(!is_leaf || text.contains(&format!("| `sunlake {words}")), "sunlake {words}");
    }
}

#[test]
fn every_flag_has_a_variable_and_both_are_in_the_readme() {
    let text = section("## Flags and variables");
    for (words, command) in commands() {
        for arg in flags(&command) {
            let flag = format!("--{}", arg.get_long().unwrap_or_default());
            let variable = arg.get_env().and_then(|name| name.to_str()).unwrap_or_default();
            assert!(variable.starts_with("SUNLAKE_"), "sunlake {words} {flag}");
            let told = |line: &str| line.contains(&flag) && line.contains(&format!("| `{variable}` |"));
            assert!(text.lines().any(told), "sunlake {words} {flag}, {variable}");
        }
    }
}

#[test]
fn every_exit_code_is_in_the_readme() {
    let text = section("## Exit codes");
    let codes = [
        exit::DONE,
        exit::BUG,
        exit::USAGE,
        exit::SETTINGS,
        exit::KEY_REFUSED,
        exit::RUN_AGAIN,
        exit::API,
        exit::CHECK_FAILED,
        exit::HELD,
        exit::STORAGE,
    ];
    for code in codes {
        assert!(text.contains(&format!("\n| {code} | ")), "{code}");
    }
    assert_eq!(text.matches("\n| ").count(), codes.len() + 2, "a code that is not the program's");
}

fn readme_row(column: &Column) -> String {
    let kind = match column.kind {
        ColumnKind::Int32 => "int32",
        ColumnKind::Int64 => "int64",
        ColumnKind::Text => "text",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Date => "date",
        ColumnKind::Timestamp => "timestamp",
    };
    let null = if column.nullable { ", null" } else { "" };
    let meaning = column.meaning.replace('<', "\\<").replace(" * ", " \\* ");
    format!("| `{}` | {kind}{null} | {meaning} |\n", column.name)
}

#[test]
fn every_column_of_every_table_is_in_the_readme_as_the_dictionary_has_it() {
    for table in Table::ALL {
        let text = section(&format!("### `{}`", table.name()));
        let rows: String = columns(table).iter().map(readme_row).collect();
        assert!(text.contains(&rows), "{} should have\n{rows}", table.name());
        let key: Vec<String> = table.key().iter().map(|name| format!("`{name}`")).collect();
        let about = format!("\n{} Key: {}.", table.meaning(), key.join(", "));
        assert!(text.contains(&about), "{} should have {about}", table.name());
    }
}

#[test]
fn every_aggregate_its_question_and_its_columns_are_in_the_readme() {
    let text = section("## Aggregates");
    for file in files_of(&pipelines().join("aggregates"), "sql") {
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let sql = std::fs::read_to_string(&file).expect("SQL");
        let head: Vec<&str> = sql.lines().map_while(|line| line.strip_prefix("--")).collect();
        let question = head.first().expect("a head").trim();
        let start = format!("| `agg_{name}` | {question} |");
        let line = text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no {start}"));
        for told in
            head.iter().filter_map(|line| line.strip_prefix("   ")).filter(|line| !line.starts_with(' '))
        {
            let column = told.split_whitespace().next().expect("a word");
            assert!(line.contains(&format!("`{column}`")), "{name}: {column}");
        }
    }
}

#[test]
fn every_pipeline_file_parses_and_is_in_the_readme() {
    for file in files_of(&pipelines(), "toml") {
        let pipeline = Pipeline::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
        assert_eq!(format!("{}.toml", pipeline.spec.name), name);
        assert!(section("## Pipeline files").contains(&format!("| `pipelines/{name}` |")), "{name}");
    }
}

/// The keys of a section, as the refusal of a wrong one lists them.
fn keys_of(section: &str) -> Vec<String> {
    let wrong = match section {
        "" => "no_such_key = 1".to_owned(),
        section => format!("name = \"p\"\n[{section}]\nno_such_key = 1"),
    };
    let error = toml::from_str::<PipelineSpec>(&wrong).expect_err("a wrong key").to_string();
    let (_, listed) = error.split_once("expected").expect("the right keys");
    listed.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_of_a_pipeline_file_is_in_the_readme() {
    let text = section("## Pipeline files");
    let mut sections = vec![String::new()];
    while let Some(name) = sections.pop() {
        let start =
            if name.is_empty() { text.find("| | `name`") } else { text.find(&format!("| `[{name}]` |")) };
        let start = start.unwrap_or_else(|| panic!("the README has no section [{name}]"));
        let end = text[start + 1..].find("| `[").map_or(text.len(), |at| start + 1 + at);
        for key in keys_of(&name) {
            let inner = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
            if text.contains(&format!("| `[{inner}]` |")) {
                sections.push(inner);
            } else {
                assert!(text[start..end].contains(&format!("| `{key}` |")), "[{name}] {key}");
            }
        }
    }
}

#[test]
fn every_field_of_the_json_of_run_and_plan_is_in_the_readme() {
    let text = section("## JSON");
    let summary = RunSummary::empty("p", date(2026, 11, 20));
    let price = Price {
        pipeline: "p".to_owned(),
        today: date(2026, 11, 20),
        plan: crate::contract::plan::Plan::Starter.limits(),
        remaining: crate::contract::account::Remaining { minute: 0, day: 0, month: 0 },
        stages: Vec::new(),
        requests: 0,
        lower_bound: 0,
        minutes: 0.0,
        days: 1,
        complete_on: None,
        fits: true,
    };
    let values = [
        serde_json::to_value(&summary).expect("JSON"),
        serde_json::to_value(Requests::default()).expect("JSON"),
        serde_json::to_value(&price).expect("JSON"),
    ];
    for field in values.iter().flat_map(|value| value.as_object().expect("an object").keys()) {
        assert!(text.contains(&format!("\"{field}\":")), "{field}");
    }
}
