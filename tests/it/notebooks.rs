//! The notebooks of the documentation run on a lake as their text describes it, with the package of the wheel.

use crate::support::command::{Sunlake, project};
use crate::support::scratch::Scratch;
use crate::support::{python, source};
use std::path::Path;

/// Runs a notebook in a folder with the lake `output`; it draws this number of figures.
fn run(name: &str, lake: &Path, figures: u64) {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink(lake, scratch.path("output")).expect("a link");
    let mut notebook = python::command("notebook.py");
    notebook.arg(project().join("docs/notebooks").join(name)).current_dir(scratch.path(""));
    notebook.env("PYTHONPATH", project().join("python"));
    let done = python::reported("notebook.py", &notebook.output().expect("python"));
    assert!(done["cells"].as_u64() > Some(3), "{name}: {done}");
    assert_eq!(done["figures"], figures, "{name}");
}

#[test]
fn the_notebooks_of_a_lake_of_the_api_run() {
    let lake = &source::history().lake;
    for (name, figures) in [("first-look.ipynb", 2), ("growth.ipynb", 1), ("watch-list.ipynb", 1)] {
        run(name, lake, figures);
    }
}

#[test]
fn the_notebook_of_the_register_runs_on_the_state_s_files() {
    let scratch = Scratch::new();
    let files = project().join("tests/state_files/files");
    let text = format!(
        "name = \"state\"\n[import]\nfolder = {files:?}\n[checks]\nquarantine = \"tell\"\ndrop = \"tell\"\n"
    );
    let pipeline = scratch.file("state.toml", &text);
    Sunlake::run(&pipeline, &scratch.lake()).args(["--today", "2026-11-22"]).finish().complete();
    run("thirty-years.ipynb", &scratch.lake(), 2);
}
