//! What leaves the lake is what is in it: the catalogue, text files, a DuckDB file, a Delta table with its history.

use crate::support::command::{Finished, succeed, sunlake};
use crate::support::lake::{commits, copy_tree, names};
use crate::support::python;
use crate::support::scratch::Scratch;
use crate::support::source::{self, Source};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn export(source: &Source, arguments: &[&str]) -> Finished {
    sunlake(&source.lake, &[&["export"], arguments, &["--json"]].concat())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn rows(commit: &Value, table: &str) -> u64 {
    commit["tables"][table]["rows"].as_u64().expect("rows")
}

/// Claims that a program of the readers found no fault, and gives what it counted.
fn faultless(script: &str, arguments: &[&Path]) -> Value {
    let mut found = python::json(script, arguments);
    assert_eq!(found["faults"].take(), serde_json::json!([]), "{script}");
    found
}

#[test]
fn the_catalogue_is_a_data_package_a_dictionary_and_views() {
    let source = source::history();
    let found = faultless("catalog.py", &[&source.lake]);
    let commits = commits(&source.lake);
    let tables = commits[1]["tables"].as_object().expect("tables").len();
    assert_eq!(
        (found["resources"].as_u64(), found["views"].as_u64()),
        (Some(tables as u64), Some(tables as u64))
    );
    assert_eq!(found["filings"], rows(&commits[1], "filings"));
    assert_eq!(found["filings_at_1"], rows(&commits[0], "filings"));
    let dictionary = std::fs::read_to_string(source.lake.join("catalog/TABLES.md")).expect("TABLES.md");
    for (name, manifest) in commits[1]["tables"].as_object().expect("tables") {
        assert!(dictionary.contains(&format!("\n## `{name}`\n")), "{name}");
        assert!(dictionary.contains(&format!("| [`{name}`](#{name}) | {} |", manifest["rows"])), "{name}");
    }
    assert!(dictionary.contains("How did each county do, month by month and type by type"));
    assert!(dictionary.contains("| `complete` | boolean | yes | the month is over and coverage proves"));
}

#[test]
fn text_files_have_every_cell_and_are_never_partial() {
    let (source, scratch) = (source::history(), Scratch::new());
    let folder = scratch.path("csv");
    let reported = export(source, &["csv", text(&folder)]).exits(0).json();
    let commits = commits(&source.lake);
    let tables = commits[1]["tables"].as_object().expect("tables");
    assert_eq!(names(&folder).len(), tables.len(), "a file a table, and nothing else");
    for file in reported["files"].as_array().expect("files") {
        let table = file["table"].as_str().expect("a table");
        assert_eq!(file["rows"], rows(&commits[1], table), "{table}");
    }
    let compared = faultless("csv_cells.py", &[&source.lake.join("current"), &folder]);
    assert_eq!(compared["tables"].as_u64(), Some(tables.len() as u64));

    let some = scratch.path("some");
    let of_old = ["csv", text(&some), "--table", "filings,counties", "--snapshot", "1"];
    let reported = export(source, &of_old).exits(0).json();
    assert_eq!(
        (reported["snapshot"].as_u64(), reported["files"][1]["rows"].as_u64()),
        (Some(1), Some(rows(&commits[0], "filings")))
    );
    assert_eq!(names(&some).into_iter().collect::<Vec<_>>(), ["counties.csv", "filings.csv"]);
    export(source, &["csv", text(&some), "--table", "filigns"]).exits(3).says("has no table filigns");
    export(source, &["csv", text(&some), "--snapshot", "9"]).exits(3).says("no snapshot 9");
}

#[test]
fn a_condition_chooses_the_businesses_of_text_files() {
    let (source, scratch) = (source::history(), Scratch::new());
    let folder = scratch.path("orange");
    let into = |more: &[&str]| export(source, &[&["csv", text(&folder)], more].concat());
    let condition = "county = 'Orange' AND entity_type = 'llc'";
    let made = into(&["--where", condition]).exits(0).json();
    let wanted = faultless("csv_where.py", &[&source.lake.join("current"), &folder]);
    assert!(wanted["filings"].as_u64() > Some(0) && wanted["changes"].as_u64() > Some(0), "{wanted}");
    let files = made["files"].as_array().expect("files");
    assert_eq!(files.len(), names(&folder).len());
    for file in files {
        let table = file["table"].as_str().expect("a table");
        assert_eq!(file["rows"], wanted[table], "{table}");
    }
    let none = into(&["--where", "county = 'Nowhere'", "--table", "filings"]).exits(0).json();
    assert_eq!(none["files"][0]["rows"], 0);
    into(&["--where", "kounty = 'Orange'"]).exits(3).says("there is no column kounty").says("county");
    let counties = into(&["--where", condition, "--table", "counties"]);
    counties.exits(3).says("the rows of counties are not of businesses").says("sunlake query");
}

#[test]
fn a_duckdb_file_is_complete_or_unchanged() {
    let (source, scratch) = (source::history(), Scratch::new());
    let (file, program) = (scratch.path("florida.duckdb"), python::program("duckdb"));
    export(source, &["duckdb", text(&file), "--duckdb", text(&program), "--snapshot", "1"]).exits(0);
    let before = std::fs::read(&file).expect("a file");
    let absent = export(source, &["duckdb", text(&file), "--duckdb", "/no/such/duckdb"]);
    absent.exits(3).says("install DuckDB's command line program");
    let failing = scratch.file("failing", "#!/bin/sh\ntouch \"$1.wal\"\necho no room >&2\nexit 1\n");
    std::fs::set_permissions(&failing, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a program");
    export(source, &["duckdb", text(&file), "--duckdb", text(&failing)]).exits(9).says("no room");
    assert!(std::fs::read(&file).expect("a file") == before, "the older export stays");
    let reported = export(source, &["duckdb", text(&file), "--duckdb", text(&program)]).exits(0).json();
    let left: Vec<String> = names(file.parent().expect("a folder")).into_iter().collect();
    assert_eq!(left, ["failing", "florida.duckdb"]);
    let pipe = scratch.path("pipe");
    succeed(std::process::Command::new("mkfifo").arg(&pipe));
    export(source, &["duckdb", text(&pipe), "--duckdb", text(&program)]).exits(3).says("is a special file");
    let found = faultless("database.py", &[&source.lake.join("current"), &file]);
    assert_eq!(
        (found["snapshot"].as_u64(), found["tables"].as_object()),
        (Some(2), reported["rows"].as_object())
    );
}

#[test]
fn a_file_that_no_export_made_is_replaced_only_by_force() {
    let (source, scratch) = (source::small(), Scratch::new());
    let duckdb = python::program("duckdb");
    let sql = |file: &Path, sql: &str| {
        let made = std::process::Command::new(&duckdb).args([text(file), "-c", sql]).status();
        assert!(made.expect("duckdb").success());
    };
    let (mine, added) = (scratch.path("mine.duckdb"), scratch.path("added.duckdb"));
    let into = |file: &Path| export(source, &["duckdb", text(file), "--duckdb", text(&duckdb)]);
    sql(&mine, "CREATE TABLE filings AS SELECT 'my thesis' AS title");
    into(&added).exits(0);
    sql(&added, "CREATE VIEW notes AS SELECT 1");
    let word = scratch.file("letter.duckdb", "To the editor");
    for (file, says) in [(&mine, "no table sunlake_snapshot"), (&added, "notes"), (&word, "no DuckDB file")] {
        let before = std::fs::read(file).expect("a file");
        into(file).exits(3).says(text(file)).says(says).says("--force");
        assert!(std::fs::read(file).expect("a file") == before, "{says}");
        export(source, &["duckdb", text(file), "--duckdb", text(&duckdb), "--force"]).exits(0);
        into(file).exits(0);
    }

    let (home, out) = (scratch.path("home"), scratch.path("out"));
    for folder in [&home, &out] {
        std::fs::create_dir(folder).expect("a folder");
    }
    scratch.file("home/letter.txt", "To the editor");
    export(source, &["csv", text(&home)]).exits(3).says("home").says("other files").says("--force");
    assert_eq!(names(&home).len(), 1);
    scratch.file("out/counties.csv", "name,area\r\n");
    let counties = ["csv", text(&out), "--table", "counties"];
    export(source, &counties).exits(3).says("counties.csv").says("--force");
    export(source, &[&counties[..], &["--force"]].concat()).exits(0);
    scratch.file("out/letter.txt", "To the editor");
    for _ in 0..2 {
        export(source, &["csv", text(&out)]).exits(0);
    }
}

#[test]
fn a_delta_table_has_a_version_for_each_snapshot() {
    let (source, scratch) = (source::history(), Scratch::new());
    let table = scratch.path("filings");
    let made = export(source, &["delta", text(&table), "--snapshot", "1"]).exits(0).json();
    assert_eq!((made["versions"][0]["snapshot"].as_u64(), made["newest"].as_u64()), (Some(1), Some(0)));
    let first = entry(&table, 0);
    let made = export(source, &["delta", text(&table)]).exits(0).json();
    assert_eq!((made["versions"][0]["snapshot"].as_u64(), made["newest"].as_u64()), (Some(2), Some(1)));
    let again = export(source, &["delta", text(&table)]).exits(0).json();
    assert_eq!(again["versions"], serde_json::json!([]), "what is there is not made again");
    assert_eq!(entry(&table, 0), first, "an entry never changes");
    let found = faultless("delta.py", &[&source.lake, &table]);
    let commits = commits(&source.lake);
    let expected: Vec<u64> = commits.iter().map(|commit| rows(commit, "filings")).collect();
    assert_eq!(found["rows"], serde_json::json!(expected));
}

fn entry(table: &Path, version: u64) -> String {
    let path: PathBuf = table.join(format!("_delta_log/{version:020}.json"));
    std::fs::read_to_string(path).expect("an entry of the log")
}

#[test]
fn a_delta_table_of_another_lake_and_a_folder_of_something_else_are_refused() {
    let (source, scratch) = (source::history(), Scratch::new());
    let table = scratch.path("filings");
    export(source::small(), &["delta", text(&table)]).exits(0);
    export(source, &["delta", text(&table)]).exits(3).says("is not what this lake exported");
    let other = scratch.path("other");
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("thesis.docx"), "x").expect("a file");
    export(source, &["delta", text(&other)]).exits(3).says("the folder holds something else");
    assert_eq!(names(&other).len(), 1);
}

#[test]
fn a_text_that_a_spreadsheet_may_take_for_a_formula_gets_an_apostrophe_in_a_query_too() {
    let lake = &source::history().lake;
    let query = |sql: &str| sunlake(lake, &["query", sql, "--format", "csv"]).exits(0).stdout;
    for formula in [
        " =1+1",
        "\u{a0}=1+1",
        "\u{200b}+1",
        "\u{feff}-1",
        "\u{3000}@A",
        "\u{2003}\u{2060}=1",
        "＝1",
        "＋1",
        "－1",
        "＠A",
    ] {
        let said = query(&format!("SELECT '{formula}' AS a FROM statewide LIMIT 1"));
        assert_eq!(said, format!("a\n\"'{formula}\"\n"), "{formula:?}");
        let said = query(&format!("SELECT 1 AS \"{formula}\" FROM statewide LIMIT 1"));
        assert_eq!(said, format!("\"'{formula}\"\n1\n"), "{formula:?}");
    }
    let said = query("SELECT 'a =1' AS \"a,b\", '＃1' AS c FROM statewide LIMIT 1");
    assert_eq!(said, "\"a,b\",c\na =1,＃1\n");
}

#[test]
fn a_line_end_in_the_path_of_a_lake_ends_no_comment() {
    let (source, scratch) = (source::small(), Scratch::new());
    let lake = scratch.path("two\nlines");
    copy_tree(&source.lake, &lake);
    sunlake(&lake, &["report"]).exits(0);
    let (file, program) = (scratch.path("florida.ducklake"), python::program("duckdb"));
    sunlake(&lake, &["export", "ducklake", text(&file), "--duckdb", text(&program)]).exits(0);
    let script = std::fs::read_to_string(lake.join("catalog/ducklake.sql")).expect("a script");
    assert!(script.lines().next().is_some_and(|line| line.contains("two\\u{a}lines up to snapshot 1")));
}

#[test]
fn a_path_with_the_signs_of_a_pattern_is_that_of_one_lake() {
    let (source, duckdb) = (source::small(), python::program("duckdb"));
    for (name, other) in [("b*", "bx"), ("c?", "cx"), ("d[x]", "dx")] {
        let scratch = Scratch::new();
        let (lake, file) = (scratch.path(name), scratch.path("exported.duckdb"));
        copy_tree(&source.lake, &lake);
        copy_tree(&source.lake, &scratch.path(other));
        sunlake(&lake, &["report"]).exits(0);
        sunlake(&lake, &["export", "duckdb", text(&file), "--duckdb", text(&duckdb)]).exits(0);
        let filings = rows(&commits(&lake)[0], "filings");
        let count = |arguments: &[&str], table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            let mut program = std::process::Command::new(&duckdb);
            let ran = program.args(["-csv", "-noheader"]).args(arguments).args(["-c", &sql]).output();
            String::from_utf8(ran.expect("duckdb").stdout).expect("UTF-8").trim().to_owned()
        };
        let views = lake.join("catalog/views.sql");
        for table in ["filings", "filings_at(1)"] {
            assert_eq!(count(&["-init", text(&views)], table), filings.to_string(), "{name}: {table}");
        }
        assert_eq!(count(&[text(&file)], "filings"), filings.to_string(), "{name}");
    }
}
