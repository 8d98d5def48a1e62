//! Who may know whom: the program's floors as data, and a reader of the sources that holds every path against them.

use crate::support::command::project;
use crate::support::source_paths::{module_path, paths};
use std::path::Path;

/// Each module and the modules it may name. What is not listed is upward or sideways.
const FLOORS: &[(&str, &[&str])] = &[
    ("contract", &[]),
    ("client", &["contract"]),
    ("table", &["contract"]),
    ("sample", &["contract"]),
    ("extract", &["contract", "client"]),
    ("import", &["contract", "table"]),
    ("normalize", &["contract", "table"]),
    ("lake", &["contract", "table"]),
    ("aggregate", &["contract", "table", "lake"]),
    ("serve", &["contract", "table", "lake"]),
    ("export", &["contract", "table", "lake"]),
    ("report", &["contract", "aggregate"]),
    (
        "pipeline",
        &[
            "contract",
            "client",
            "table",
            "sample",
            "extract",
            "import",
            "normalize",
            "lake",
            "aggregate",
            "export",
            "report",
        ],
    ),
    (
        "cli",
        &[
            "contract",
            "client",
            "table",
            "sample",
            "extract",
            "import",
            "normalize",
            "lake",
            "aggregate",
            "serve",
            "export",
            "report",
            "pipeline",
        ],
    ),
    ("main", &["cli"]),
];

/// Paths that no module may name but these.
const HOMES: &[(&str, &[&str])] = &[
    ("reqwest", &["client"]),
    ("object_store", &["lake"]),
    ("polars", &["aggregate"]),
    ("hyper", &["serve"]),
    ("hyper_util", &["serve"]),
    ("tokio_rustls", &["serve"]),
    ("rmcp", &["serve"]),
    ("redis", &["serve"]),
    ("clap", &["cli", "main"]),
];

/// Paths that a module may not name.
const NEVER: &[(&str, &[&str])] = &[
    ("contract", &["tokio", "arrow", "parquet", "std::fs", "std::net", "std::env"]),
    ("sample", &["tokio", "arrow", "parquet", "std::fs", "std::env"]),
    ("client", &["arrow", "parquet", "std::env"]),
    ("extract", &["arrow", "parquet", "std::fs", "std::env"]),
    ("import", &["tokio", "arrow", "parquet", "std::env"]),
    ("normalize", &["tokio", "std::fs", "std::env"]),
    ("table", &["tokio", "std::env"]),
    ("lake", &["std::env"]),
    ("export", &["tokio", "std::env"]),
    ("report", &["tokio", "arrow", "parquet", "std::fs", "std::env"]),
    ("pipeline", &["std::env"]),
];

/// Modules that may measure how long something takes, and what tests of changed bytes share; the others know no `now` at all, but `main`.
const STOPWATCHES: &[&str] = &["client", "serve", "pipeline", "cli", "fuzz"];

/// Clocks of the real time: only `main` may read them.
const CLOCKS: &[&str] = &["Timestamp", "Zoned", "SystemTime"];

#[test]
fn no_module_names_one_above_or_next_to_it() {
    let mut found = Vec::new();
    let mut read = 0;
    for file in crate::support::lake::files_below(&project().join("src")) {
        if file.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let inside = file.strip_prefix(project().join("src")).expect("a file of src").to_owned();
            found.extend(violations(&inside, &text));
            read += 1;
        }
    }
    assert!(read > 50, "only {read} source files were read");
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_module_has_a_floor() {
    let lib = std::fs::read_to_string(project().join("src/lib.rs")).expect("src/lib.rs");
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let unknown: Vec<_> = modules.filter(|name| floor(name).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:?} stand on no floor");
}

#[test]
fn every_crate_that_a_rule_names_is_a_dependency() {
    let text = std::fs::read_to_string(project().join("Cargo.toml")).expect("Cargo.toml");
    let manifest: toml::Table = text.parse().expect("TOML");
    let known = manifest.get("dependencies").and_then(toml::Value::as_table).expect("dependencies");
    let homes = HOMES.iter().map(|(root, _)| *root);
    let never = NEVER.iter().flat_map(|(_, never)| never.iter().copied());
    let named = homes.chain(never).filter(|name| !name.starts_with("std::"));
    let known: Vec<String> = known.keys().map(|known| known.replace('-', "_")).collect();
    let is_known =
        |name: &str| known.iter().any(|known| known == name || (name == ARROW && is_of_arrow(known)));
    let unknown: Vec<&str> = named.filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?} are no dependencies");
}

#[test]
fn planted_violations_are_caught_however_they_are_written() {
    for (file, source, what) in [
        ("contract/page.rs", "use crate::client::Call;", "client"),
        ("client/mod.rs", "fn f() -> crate::extract::Outcome { g() }", "extract"),
        ("client/mod.rs", "use crate::{contract::page, table::{Row, Table}};", "table"),
        ("extract/walk.rs", "use super::super::lake;", "lake"),
        ("extract/mod.rs", "use super::{contract, pipeline::run};", "pipeline"),
        ("extract/walk.rs", "mod tests { use super::super::super::serve::Site; }", "serve"),
        ("serve/rest.rs", "use crate::client as wire;", "client"),
        ("aggregate/mod.rs", "use crate::serve;", "serve"),
        ("pipeline/run.rs", "type S = crate :: serve :: Site;", "serve"),
        ("contract/eastern.rs", "fn f() { let now = jiff::Timestamp::now(); }", "now"),
        ("contract/eastern.rs", "use jiff::Timestamp;\nfn f() { let t = Timestamp::now(); }", "now"),
        ("client/mod.rs", "fn f() -> Timestamp { jiff::Timestamp::now() }", "now"),
        ("cli/run.rs", "use std::time::SystemTime;\nconst F: fn() -> SystemTime = SystemTime::now;", "now"),
        ("serve/meter.rs", "fn f() { let t = jiff::Zoned::now(); }", "now"),
        ("aggregate/mod.rs", "fn f() { let begun = std::time::Instant::now(); }", "now"),
        ("contract/page.rs", "use std::{fmt, fs::File};", "std::fs"),
        ("contract/page.rs", "fn f() { std::env::var(\"x\").ok(); }", "std::env"),
        ("contract/page.rs", "use ::tokio::net;", "tokio"),
        ("lake/part.rs", "use polars::prelude::*;", "polars"),
        ("extract/walk.rs", "use arrow_array::Array;", "arrow"),
        ("cli/run.rs", "use reqwest::Client;", "reqwest"),
        ("pipeline/run.rs", "fn f() { hyper_util::rt::x(); }", "hyper_util"),
        ("pipeline/args.rs", "#[derive(clap::Parser)] struct A;", "clap"),
        ("report/mod.rs", "use crate::lake::Commit;", "lake"),
    ] {
        let found = violations(Path::new(file), source);
        assert!(found.len() == 1 && found[0].contains(what), "{file}: {source}\nfound {found:?}");
    }
}

#[test]
fn what_is_allowed_is_not_reported() {
    for (file, source) in [
        ("client/mod.rs", "use crate::contract::page; use super::client::Call; use self::crate_like::x;"),
        (
            "client/retry.rs",
            "// use crate::serve;\n/* crate::lake /* nested */ */ const A: &str = \"crate::lake::x\";",
        ),
        (
            "client/retry.rs",
            "const A: &str = r#\"crate::lake \"quoted\" \"#; const C: char = '\"'; use crate::contract;",
        ),
        ("client/retry.rs", "fn f<'a>(x: &'a str) -> &'a str { crate::client::g(x) }"),
        ("extract/walk.rs", "mod tests { use super::super::reader; use super::walk; }"),
        ("extract/walk.rs", "pub(in crate::extract) fn f() {} pub(crate) fn g() {}"),
        ("lake/part.rs", "fn f() { let now = clock(); let arrow = 1; self.tokio(arrow) }"),
        ("client/budget.rs", "use std::time::Instant;\nfn f() { let begun = Instant::now(); }"),
        ("main.rs", "use sunlake::cli::carry_out; use clap::Parser;"),
        ("main.rs", "fn f() { let now = jiff::Timestamp::now; }"),
        ("lib.rs", "pub mod contract;"),
    ] {
        let found = violations(Path::new(file), source);
        assert!(found.is_empty(), "{file}: {source}\nfound {found:?}");
    }
}

fn floor(module: &str) -> Option<&'static [&'static str]> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, below)| *below)
}

/// Every rule a source file breaks, in words.
fn violations(file: &Path, text: &str) -> Vec<String> {
    let place = module_path(file);
    let Some(module) = place.first().cloned() else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for path in paths(text, &place) {
        let named = match path.names.as_slice() {
            [root, name, ..] if root == "crate" || root == "sunlake" => Some(name.as_str()),
            _ => None,
        };
        let line = path.line;
        if let Some(other) = named.filter(|name| *name != module && floor(name).is_some())
            && !floor(&module).is_some_and(|below| below.contains(&other))
        {
            found.push(format!("{}:{line}: {module} names {other}, which is not below it", file.display()));
        }
        for (root, homes) in HOMES {
            if path.names[0] == *root && !homes.contains(&module.as_str()) {
                found.push(format!("{}:{line}: {root} belongs to {homes:?} alone", file.display()));
            }
        }
        for what in NEVER.iter().filter(|(name, _)| *name == module).flat_map(|(_, never)| *never) {
            if is_named(&path.names, what) {
                found.push(format!("{}:{line}: {module} must not know {what}", file.display()));
            }
        }
        if is_forbidden_clock(&module, &path.names) {
            found.push(format!("{}:{line}: {module} must not ask a clock for now", file.display()));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Whether a path names a crate or a module of std.
fn is_named(names: &[String], what: &str) -> bool {
    let is_named = |(part, name): &(&str, &String)| part == name || (*part == ARROW && is_of_arrow(name));
    what.split("::").zip(names).filter(is_named).count() == what.split("::").count()
}

/// In a rule all packages of Arrow.
const ARROW: &str = "arrow";

fn is_of_arrow(package: &str) -> bool {
    package.starts_with("arrow_")
}

/// Whether a path ends in the `now` of a clock that is not the module's to ask.
fn is_forbidden_clock(module: &str, names: &[String]) -> bool {
    let [.., clock, now] = names else { return false };
    let is_allowed = STOPWATCHES.contains(&module) && !CLOCKS.contains(&clock.as_str());
    now == "now" && module != "main" && !is_allowed
}
