//! Stores that lack something: without creation only if absent no run publishes, without deletion of lists every run does.

use crate::support::command::{Finished, Running, Sunlake};
use crate::support::s3::Bucket;
use crate::support::scratch::Scratch;
use crate::support::source::sample_pipeline;
use std::path::{Path, PathBuf};

struct Shore {
    bucket: Bucket,
    scratch: Scratch,
}

impl Shore {
    fn new(bucket: &'static str) -> Self {
        Self { bucket: Bucket::new(bucket), scratch: Scratch::new() }
    }

    fn work(&self, machine: &str) -> PathBuf {
        self.scratch.path(machine)
    }

    fn command(&self, machine: &str, arguments: &[&str]) -> Sunlake {
        let command = Sunlake::on(Path::new(&self.bucket.lake()), arguments);
        self.bucket.opened_by(command, &self.work(machine))
    }

    /// A run of the sample, with further lines in its pipeline file.
    fn run(&self, machine: &str, today: &str, lines: &str) -> Running {
        let file = format!("{machine}.toml");
        let pipeline = self.scratch.file(&file, &format!("{}{lines}", sample_pipeline(3, 0.01)));
        let run = Sunlake::run(&pipeline, Path::new(&self.bucket.lake())).args(["--today", today]);
        self.bucket.opened_by(run, &self.work(machine)).start()
    }
}

fn is_refused(done: Finished, says: &str) {
    let done = done.exits(9).says("cannot keep a lake").says(says).says("hint: use a store that creates");
    assert_eq!(done.json()["requests"]["sent"], 0, "nothing was asked for{}", done.shown());
}

#[test]
fn a_store_that_ignores_the_condition_of_absence_gets_no_commit() {
    let shore = Shore::new("forgets-absence");
    let runs = ["one", "two"].map(|machine| shore.run(machine, "2026-03-20", ""));
    for run in runs {
        is_refused(run.finish(), "two runs would overwrite each other");
    }
    let left = shore.bucket.names();
    assert!(!left.iter().any(|name| name.starts_with("commits/") || name.contains("probe")), "{left:?}");
    let found = shore.command("three", &["doctor"]).finish().exits(9);
    found.says_on_stdout("BAD   storage").says_on_stdout("two runs would overwrite each other");
}

#[test]
fn a_store_that_refuses_the_condition_of_absence_gets_no_commit() {
    let shore = Shore::new("refuses-absence");
    is_refused(
        shore.run("one", "2026-03-20", "").finish(),
        "refuses to create an object only if it is absent",
    );
}

#[test]
fn a_sound_store_is_tried_once_for_each_way_to_it() {
    let shore = Shore::new("tried");
    shore.run("one", "2026-03-19", "").finish().complete();
    let names = shore.bucket.names();
    assert!(names.contains(&"state/probed".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("probe-")), "{names:?}");
    // Without its name in the store, it is tried again.
    shore.bucket.delete(&["state/probed"]);
    shore.run("two", "2026-03-20", "").finish().complete();
    assert!(shore.bucket.names().contains(&"state/probed".to_owned()));
    shore.command("three", &["verify"]).finish().exits(0);
}

#[test]
fn a_store_that_deletes_no_list_of_objects_is_pruned_one_by_one() {
    let shore = Shore::new("keeps-objects");
    for (day, snapshot) in [("2026-03-18", 1), ("2026-03-19", 2), ("2026-03-20", 3)] {
        let done = shore.run("one", day, "[retention]\nlast = 2\n").finish().exits(0);
        assert_eq!(done.json()["snapshot"], snapshot, "{}", done.shown());
        assert!(!done.stderr.contains("not pruned"), "{}", done.shown());
    }
    shore.command("two", &["snapshot", "pin", "2"]).finish().exits(0);
    shore.command("two", &["snapshot", "unpin", "2"]).finish().exits(0);
    let data = || shore.bucket.names().iter().filter(|name| name.starts_with("snapshots/")).count();
    let before = data();
    shore.command("two", &["snapshot", "prune", "--keep-last", "1"]).finish().exits(0);
    assert!(data() < before, "{before} objects stay");
    shore.command("two", &["verify"]).finish().exits(0);
}
