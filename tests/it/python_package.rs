//! The Python package of the wheel: it reads each snapshot by its commit, runs the program, and its types hold.

use crate::support::command::{Sunlake, project, succeed};
use crate::support::python;
use crate::support::s3::Bucket;
use crate::support::scratch::Scratch;
use crate::support::source::{self, complete_sample_pipeline};
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// Reads a lake by the package.
fn read(lake: &Path, as_reader: impl FnOnce(Command) -> Command) -> u64 {
    let mut reader = python::command("package.py");
    reader.arg(project().join("python")).arg(lake);
    let found = python::reported("package.py", &as_reader(reader).output().expect("python"));
    assert_eq!(found["faults"], json!([]));
    found["compared"].as_u64().expect("a number")
}

/// The program of this build is the first on the path.
fn with_program(mut reader: Command) -> Command {
    let folder = Path::new(env!("CARGO_BIN_EXE_sunlake")).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
    reader.env("PATH", std::env::join_paths(folders).expect("a path"));
    reader
}

#[test]
fn every_table_of_every_snapshot_is_read_by_its_commit() {
    let scratch = Scratch::new();
    // A path that is also a pattern of the other.
    let lake = scratch.path("lake*");
    for link in [&lake, &scratch.path("lake2")] {
        std::os::unix::fs::symlink(&source::history().lake, link).expect("a link");
    }
    assert!(read(&lake, with_program) > 70);
}

#[test]
fn a_bucket_is_read_as_a_folder_is() {
    let (scratch, bucket) = (Scratch::new(), Bucket::new("package"));
    let pipeline = scratch.file("sample.toml", &complete_sample_pipeline(7, 0.02));
    let lake = bucket.lake();
    for today in ["2026-03-19", "2026-03-20"] {
        let run = Sunlake::run(&pipeline, Path::new(&lake)).args(["--today", today]);
        bucket.opened_by(run, &scratch.path("work")).finish().complete();
    }
    let compared = read(Path::new(&lake), |reader| {
        let mut reader = bucket.read_by(reader);
        reader.env("AWS_ALLOW_HTTP", "true").env("AWS_REGION", "us-east-1");
        reader
    });
    assert!(compared > 70);
}

#[test]
fn the_types_of_the_package_hold() {
    let mut checker = python::tool("mypy");
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mypy");
    checker.arg("--strict").arg("--cache-dir").arg(cache).arg(project().join("python/sunlake"));
    succeed(&mut checker);
}
