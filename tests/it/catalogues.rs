//! Other engines read the lake where it is: its history by a DuckLake catalogue or by Iceberg, its newest snapshot as sources of dbt.

use crate::support::command::{Finished, Sunlake, project, sunlake};
use crate::support::lake::{commits, copy_tree, damage, files_below};
use crate::support::python;
use crate::support::s3::Bucket;
use crate::support::scratch::Scratch;
use crate::support::source::{self, complete_sample_pipeline, sample_pipeline};
use crate::verify::copy;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Claims that the reader of the catalogue's tables found no fault, and gives what it found.
fn read(catalogue: &Path, lake: &Path) -> Value {
    let mut found = python::json("ducklake.py", &[catalogue, lake]);
    assert_eq!(found["faults"].take(), json!([]), "{}", catalogue.display());
    found
}

fn script(lake: &Path) -> PathBuf {
    lake.join("catalog/ducklake.sql")
}

fn export(lake: &Path, file: &Path, arguments: &[&str]) -> Finished {
    let (file, program) = (file.to_str().expect("UTF-8"), python::program("duckdb"));
    let program = program.to_str().expect("UTF-8");
    sunlake(lake, &[&["export", "ducklake", file, "--duckdb", program, "--json"], arguments].concat())
}

/// Does to the catalogue what follows a change of the lake, for each change: a run, a rollback, a pruning.
fn after_each_change(lake: &Path, scratch: &Scratch, check: impl Fn(&[u64])) {
    check(&[1, 2]);
    // An aggregate with other columns, and one that is gone.
    let own = scratch.path("aggregates");
    std::fs::create_dir(&own).expect("a folder");
    let sql = "-- How many?\n--   filings   number of filings\n--   first   the first day\n\
               SELECT COUNT(*) AS filings, MIN(filed_date) AS first FROM filings";
    std::fs::write(own.join("zip3_month.sql"), sql).expect("an aggregate");
    let pipeline = sample_pipeline(70, 0.04);
    let (head, _) = pipeline.split_once("folder = ").expect("a folder of aggregates");
    let pipeline = scratch.file("own.toml", &format!("{head}folder = {own:?}\n"));
    Sunlake::run(&pipeline, lake).args(["--today", "2026-03-21"]).finish().complete();
    check(&[1, 2, 3]);
    sunlake(lake, &["snapshot", "rollback", "1"]).exits(0);
    check(&[1, 2, 3, 4]);
    sunlake(lake, &["snapshot", "pin", "1"]).exits(0);
    sunlake(lake, &["snapshot", "prune", "--keep-last", "2"]).exits(0);
    check(&[1, 3, 4]);
    sunlake(lake, &["snapshot", "unpin", "1"]).exits(0);
    sunlake(lake, &["snapshot", "prune", "--keep-last", "1"]).exits(0);
    check(&[4]);
    sunlake(lake, &["verify"]).exits(0);
}

#[test]
fn the_catalogue_names_the_files_and_columns_of_every_kept_snapshot() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    sunlake(&lake, &["report"]).exits(0);
    after_each_change(&lake, &scratch, |kept| {
        let found = read(&script(&lake), &lake);
        assert_eq!(found["snapshots"], json!(kept));
        assert!(found["compared"].as_u64() > Some(20 * kept.len() as u64), "{kept:?}");
    });
}

#[test]
fn an_exported_catalogue_is_the_script_made_and_replaces_only_its_own_kind() {
    let (source, scratch) = (source::history(), Scratch::new());
    let file = scratch.path("florida.ducklake");
    let reported = export(&source.lake, &file, &[]).exits(0).json();
    assert_eq!((&reported["snapshot"], &reported["snapshots"]), (&json!(2), &json!([1, 2])));
    for (table, manifest) in commits(&source.lake)[1]["tables"].as_object().expect("tables") {
        assert_eq!(reported["rows"][table], manifest["rows"], "{table}");
    }
    let found = read(&file, &source.lake);
    assert_eq!(found["paths"], read(&script(&source.lake), &source.lake)["paths"]);
    export(&source.lake, &file, &[]).exits(0);

    let duckdb = python::program("duckdb");
    let run = |file: &Path, sql: &str| {
        let made = Command::new(&duckdb).arg(file).args(["-c", sql]).status();
        assert!(made.expect("duckdb").success());
    };
    run(&file, "CREATE TABLE notes AS SELECT 1 AS a");
    let (mine, word) = (scratch.path("mine.ducklake"), scratch.file("letter", "To the editor"));
    run(&mine, "CREATE TABLE ducklake_metadata AS SELECT 'mine' AS a");
    for (file, says) in [(&file, "it also has notes"), (&mine, "no table"), (&word, "no DuckDB file")] {
        let before = std::fs::read(file).expect("a file");
        export(&source.lake, file, &[]).exits(3).says(says).says("--force");
        assert!(std::fs::read(file).expect("a file") == before, "{says}");
        export(&source.lake, file, &["--force"]).exits(0);
        export(&source.lake, file, &[]).exits(0);
    }
    export(&source.lake, &scratch.path(""), &[]).exits(3).says("a file is wanted");
    let absent = ["--duckdb", "/no/such/duckdb"];
    let file = scratch.path("new.ducklake");
    let arguments = [&["export", "ducklake", file.to_str().expect("UTF-8")], &absent[..]].concat();
    sunlake(&source.lake, &arguments).exits(3).says("install DuckDB's command line program");
    assert!(!file.exists());
}

#[test]
fn a_catalogue_that_is_damaged_or_names_pruned_snapshots_is_found_and_written_again() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    sunlake(&lake, &["report"]).exits(0);
    damage(&script(&lake));
    let found = sunlake(&lake, &["verify"]).exits(9).stdout;
    assert!(found.contains("catalog/ducklake.sql: it is not what was written"), "{found}");
    sunlake(&lake, &["verify", "--repair"]).exits(0);
    sunlake(&lake, &["verify"]).exits(0);
    read(&script(&lake), &lake);

    // What a pruning leaves that is killed before it writes the catalogue.
    let before: Vec<(PathBuf, Vec<u8>)> = files_below(&lake.join("catalog"))
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).expect("a file")))
        .collect();
    sunlake(&lake, &["snapshot", "prune", "--keep-last", "1"]).exits(0);
    for (path, bytes) in before {
        std::fs::write(path, bytes).expect("written");
    }
    let found = sunlake(&lake, &["verify"]).exits(9).stdout;
    assert!(found.contains("catalog/ducklake.sql: it names files of pruned snapshots: 1"), "{found}");
    sunlake(&lake, &["verify", "--repair"]).exits(0);
    sunlake(&lake, &["verify"]).exits(0);
    assert_eq!(read(&script(&lake), &lake)["snapshots"], json!([2]));
}

/// A lake in a bucket with two snapshots; gives the working copy of a machine that made none of it.
fn in_bucket(bucket: &Bucket, scratch: &Scratch, pipeline: &str) -> PathBuf {
    let pipeline = scratch.file("sample.toml", pipeline);
    for today in ["2026-03-18", "2026-03-20"] {
        let run = Sunlake::run(&pipeline, Path::new(&bucket.lake())).args(["--today", today]);
        bucket.opened_by(run, &scratch.path("work")).finish().complete();
    }
    scratch.path("other")
}

/// The exported catalogue of a lake in a bucket, made on a machine.
fn of_bucket(bucket: &Bucket, work: &Path, scratch: &Scratch) -> PathBuf {
    let (file, program) = (scratch.path("florida.ducklake"), python::program("duckdb"));
    let words = ["export", "ducklake", file.to_str().expect("UTF-8")];
    let command =
        Sunlake::on(Path::new(&bucket.lake()), words).args(["--duckdb".as_ref(), program.as_os_str()]);
    bucket.opened_by(command, work).finish().exits(0);
    file
}

#[test]
fn in_an_object_store_the_catalogue_names_objects_where_they_are() {
    let (scratch, bucket) = (Scratch::new(), Bucket::new("ducklake"));
    let other = in_bucket(&bucket, &scratch, &sample_pipeline(14, 0.05));
    let file = of_bucket(&bucket, &other, &scratch);
    let found = python::json("ducklake.py", &[&file]);
    assert_eq!((&found["faults"], &found["snapshots"]), (&json!([]), &json!([1, 2])));
    assert_eq!(found["data_path"], format!("{}/", bucket.lake()));
    let objects: BTreeSet<String> = bucket.names().into_iter().collect();
    assert!(objects.contains("catalog/ducklake.sql"));
    for number in ["1", "2"] {
        let named: Vec<&str> =
            found["paths"][number].as_array().expect("paths").iter().filter_map(Value::as_str).collect();
        assert!(named.len() > 20, "{named:?}");
        for path in named {
            assert!(objects.contains(path), "{path} is no object");
        }
    }
}

/// Claims that delta-rs and polars read every version of the Delta log of a bucket as the working copy of a machine has it.
fn delta_is_that_of(bucket: &Bucket, work: &Path, versions: usize) {
    let mut reader = bucket.read_by(python::command("delta.py"));
    reader.arg(work).arg(format!("{}/snapshots", bucket.lake()));
    reader.env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "us-east-1");
    let found = python::reported("delta.py", &reader.output().expect("python"));
    assert_eq!(found["faults"], json!([]));
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(versions));
}

#[test]
fn in_an_object_store_a_delta_log_has_a_version_for_each_snapshot() {
    let (scratch, bucket) = (Scratch::new(), Bucket::new("delta"));
    in_bucket(&bucket, &scratch, &sample_pipeline(14, 0.05));
    let work = scratch.path("work");
    delta_is_that_of(&bucket, &work, 2);
    let entries = || -> Vec<String> {
        bucket.names().into_iter().filter(|name| name.starts_with("snapshots/_delta_log/")).collect()
    };
    assert_eq!(entries().len(), 2);
    let on = |words: &[&str]| {
        bucket.opened_by(Sunlake::on(Path::new(&bucket.lake()), words), &work).finish().exits(0);
    };
    on(&["snapshot", "rollback", "1"]);
    delta_is_that_of(&bucket, &work, 3);
    // An entry that a killed run did not write comes with the next catalogue.
    bucket.delete(&[&entries()[1]]);
    on(&["report"]);
    delta_is_that_of(&bucket, &work, 3);
    on(&["verify"]);
    let damaged = entries()[2].clone();
    bucket.flip(&[&damaged]);
    let verify = Sunlake::on(Path::new(&bucket.lake()), ["verify"]);
    let found = bucket.opened_by(verify, &work).finish().exits(9);
    assert!(found.stdout.contains(&damaged), "{}", found.shown());
    on(&["verify", "--repair"]);
    on(&["verify"]);
    delta_is_that_of(&bucket, &work, 3);
}

/// Claims that DuckDB's own extension reads the rows of every table of every snapshot; gives how many it compared.
fn attached(file: &Path, lake: &str, allowed: impl FnOnce(Command) -> Command) -> u64 {
    let script = "ducklake_attached.py";
    let mut reader = python::command_with("requirements-catalogues.txt", script);
    reader.arg(file).arg(lake);
    let mut found = python::reported(script, &allowed(reader).output().expect("python"));
    assert_eq!(found["faults"].take(), json!([]), "{lake}");
    found["compared"].as_u64().expect("a number")
}

#[test]
#[ignore = "installs DuckDB's extensions from packages of a third party"]
fn the_extension_reads_every_table_of_every_snapshot() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    after_each_change(&lake, &scratch, |kept| {
        let file = scratch.path("florida.ducklake");
        export(&lake, &file, &[]).exits(0);
        let compared = attached(&file, lake.to_str().expect("UTF-8"), |reader| reader);
        assert!(compared > 40 * kept.len() as u64, "{kept:?}: {compared}");
    });
}

#[test]
#[ignore = "installs DuckDB's extensions from packages of a third party"]
fn the_extension_reads_a_bucket() {
    let (scratch, bucket) = (Scratch::new(), Bucket::new("attached"));
    let other = in_bucket(&bucket, &scratch, &complete_sample_pipeline(14, 0.05));
    let file = of_bucket(&bucket, &other, &scratch);
    assert!(attached(&file, &bucket.lake(), |reader| bucket.read_by(reader)) > 80);
    let prune = Sunlake::on(Path::new(&bucket.lake()), ["snapshot", "prune", "--keep-last", "1"]);
    bucket.opened_by(prune, &other).finish().exits(0);
    let file = of_bucket(&bucket, &other, &scratch);
    assert!(attached(&file, &bucket.lake(), |reader| bucket.read_by(reader)) > 40);
}

#[test]
fn dbt_reads_every_source_of_the_shipped_file() {
    // Its path is a pattern too, which does not find it.
    let scratch = Scratch::new();
    let lake = scratch.path("a *lake's [old]?");
    copy_tree(&source::history().lake, &lake);
    let file = project().join("pipelines/catalogs/dbt_sources.yml");
    let found = python::json("dbt_sources.py", &[&file, &lake]);
    assert_eq!(found["faults"], json!([]));
    let read: BTreeSet<&str> =
        found["read"].as_array().expect("tables").iter().filter_map(Value::as_str).collect();
    let newest = &commits(&lake)[1]["tables"];
    let tables = newest.as_object().expect("tables").iter();
    let with_files = tables.filter(|(_, table)| table["files"] != json!([])).map(|(name, _)| name.as_str());
    assert_eq!(read, with_files.collect::<BTreeSet<_>>());
}

#[test]
#[ignore = "installs pyiceberg, and DuckDB's extensions from packages of a third party"]
fn iceberg_reads_every_table_of_two_snapshots() {
    let (source, scratch) = (source::history(), Scratch::new());
    let (script, work) = (project().join("pipelines/catalogs/iceberg.py"), scratch.path("iceberg"));
    std::fs::create_dir(&work).expect("a folder");
    let arguments: [&Path; 3] = [&script, &source.lake, &work];
    let found = python::json_with("requirements-catalogues.txt", "iceberg.py", &arguments);
    assert_eq!(found["faults"], json!([]));
    assert!(found["compared"].as_u64() > Some(120), "{found}");
}
