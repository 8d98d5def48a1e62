//! The history of a lake in an object store: listed, compared, kept, pruned, rolled back, accepted, repaired, replayed
//! exported, from machines that share nothing but the store.

use crate::support::command::{Finished, Sunlake};
use crate::support::lake::{self, Cells, files_below, names};
use crate::support::python;
use crate::support::s3::Bucket;
use crate::support::scratch::Scratch;
use crate::support::source::sample_pipeline;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A lake of two snapshots, and the machines that open it.
struct Coast {
    bucket: Bucket,
    scratch: Scratch,
}

impl Coast {
    fn new(bucket: &'static str) -> Self {
        let coast = Self { bucket: Bucket::new(bucket), scratch: Scratch::new() };
        for today in ["2026-03-16", "2026-03-20"] {
            coast.run("first", today, "").complete();
        }
        coast
    }

    fn work(&self, machine: &str) -> PathBuf {
        self.scratch.path(machine)
    }

    fn on(&self, machine: &str, arguments: &[&str]) -> Finished {
        let command = Sunlake::on(Path::new(&self.bucket.lake()), arguments);
        self.bucket.opened_by(command, &self.work(machine)).finish()
    }

    fn reported(&self, machine: &str, arguments: &[&str]) -> Value {
        self.on(machine, &[arguments, &["--json"]].concat()).exits(0).json()
    }

    /// A run of the sample on a machine, with further lines in its pipeline file.
    fn run(&self, machine: &str, today: &str, lines: &str) -> Finished {
        let pipeline = self.scratch.file("sample.toml", &format!("{}{lines}", sample_pipeline(40, 0.03)));
        let run = Sunlake::run(&pipeline, Path::new(&self.bucket.lake())).args(["--today", today]);
        self.bucket.opened_by(run, &self.work(machine)).finish()
    }

    /// The folder of a snapshot that a machine downloaded and checked against its commit.
    fn fetched(&self, machine: &str, snapshot: u64) -> PathBuf {
        self.on(machine, &["verify", &snapshot.to_string()]).exits(0);
        self.work(machine).join(format!("snapshots/{snapshot:06}"))
    }

    /// Filings of a snapshot, as a machine finds them that never saw the lake.
    fn filings(&self, machine: &str, snapshot: u64) -> BTreeMap<i64, Cells> {
        let folder = self.fetched(machine, snapshot);
        std::os::unix::fs::symlink(folder, self.work(machine).join("current")).expect("a link");
        lake::filings(&self.work(machine))
    }

    fn run_ids(&self) -> Vec<String> {
        let reported = self.reported("asking", &["snapshot", "list"]);
        let snapshots = reported["snapshots"].as_array().expect("snapshots").iter();
        snapshots.map(|snapshot| snapshot["run_id"].as_str().expect("a run").to_owned()).collect()
    }

    /// An object of a table of the newest snapshot, by `latest.json`.
    fn part(&self, snapshot: u64, table: &str) -> String {
        let shown = self.reported("asking", &["snapshot", "show", &snapshot.to_string()]);
        let file = shown["tables"][table]["files"].as_array().expect("files").last().expect("a file").clone();
        let name = file.as_str().and_then(|file| file.strip_prefix(&self.bucket.lake())).expect("an address");
        name.trim_start_matches('/').to_owned()
    }
}

#[test]
fn snapshots_are_shown_compared_pinned_and_pruned_from_any_machine() {
    let coast = Coast::new("history");
    let listed = coast.reported("two", &["snapshot", "list"]);
    let standing: Vec<_> = listed["snapshots"]
        .as_array()
        .expect("snapshots")
        .iter()
        .map(|snapshot| (&snapshot["standing"], &snapshot["current"]))
        .collect();
    assert_eq!(standing, [(&json!("published"), &json!(false)), (&json!("published"), &json!(true))]);
    // Paths are the store's; unchanged files are in the folder of the snapshot they came with.
    let objects: BTreeSet<String> = coast.bucket.names().into_iter().collect();
    for table in ["filings", "entity_types", "days"] {
        let name = coast.part(2, table);
        assert!(objects.contains(&name), "{name}");
    }
    assert!(coast.part(2, "filings").starts_with("snapshots/000002/"));
    let text = coast.on("two", &["snapshot", "show", "2"]).exits(0).stdout;
    assert!(
        text.contains("export duckdb") && !text.contains(&*coast.work("two").to_string_lossy()),
        "{text}"
    );
    let diff = coast.reported("three", &["snapshot", "diff", "1", "2"]);
    let (before, after) = (coast.filings("four", 1), coast.filings("five", 2));
    let came = after.keys().filter(|id| !before.contains_key(id)).count();
    assert!(came > 0);
    assert_eq!(diff["tables"]["filings"]["added"], came, "{diff}");

    assert_eq!(coast.reported("two", &["snapshot", "pin", "1"])["changed"], true);
    assert_eq!(coast.reported("three", &["snapshot", "prune", "--keep-last", "1"])["snapshots"], json!([]));
    assert_eq!(coast.reported("four", &["snapshot", "unpin", "1"])["changed"], true);
    let rules = ["snapshot", "prune", "--keep-last", "1", "--raw-days", "1", "--today", "2026-04-01"];
    let would = coast.reported("two", &[&rules[..], &["--dry-run"]].concat());
    let first_run = coast.run_ids().remove(0);
    assert_eq!((&would["snapshots"], &would["runs"]), (&json!([1]), &json!([first_run])), "{would}");
    assert_eq!(coast.bucket.names().into_iter().collect::<BTreeSet<_>>().difference(&objects).count(), 0);
    // A machine that made none of the runs lets their pages go.
    let pruned = coast.reported("six", &rules);
    assert_eq!((&pruned["snapshots"], &pruned["runs"]), (&would["snapshots"], &would["runs"]));
    let left = coast.bucket.names();
    let of = |folder: &str| left.iter().filter(|name| name.starts_with(folder)).count();
    assert_eq!(of(&format!("runs/{first_run}/raw/")), 0, "{left:#?}");
    let named = coast.reported("seven", &["snapshot", "show", "2"])["tables"].to_string();
    for name in left.iter().filter(|name| name.starts_with("snapshots/000001/")) {
        assert!(named.contains(name.as_str()), "{name} is named by snapshot 2");
    }
    assert!(of("snapshots/000001/") > 0, "unchanged files stay where they lie");
    coast.on("eight", &["verify"]).exits(0);
    lake::assert_same(&coast.filings("nine", 2), &after, "after pruning");
    coast.on("eight", &["snapshot", "diff", "1", "2"]).exits(3).says("pruned");
    coast.on("eight", &["snapshot", "pin", "1"]).exits(3).says("pruned");
    let summary = coast.run("ten", "2026-03-24", "[retention]\nlast = 1\n").complete();
    assert_eq!(summary["pruned"], json!([2]), "{summary}");
    coast.on("eleven", &["verify"]).exits(0);
}

#[test]
fn a_held_snapshot_is_read_replayed_and_accepted_and_another_is_rolled_back_to_on_any_machine() {
    let coast = Coast::new("held");
    let strict = "[checks]\nmax_vanished_percent = 0.0\n";
    let summary = coast.run("two", "2026-03-24", strict).exits(7).says("snapshot accept 3").json();
    assert_eq!((&summary["held"], &summary["snapshot"]), (&json!(3), &json!(2)), "{summary}");
    let held = coast.filings("three", 3);
    assert_eq!(coast.reported("four", &["status"])["snapshot"], 2);
    let diff = coast.reported("four", &["snapshot", "diff", "2", "3"]);
    assert_eq!(diff["tables"]["filings"]["rows_after"], held.len(), "{diff}");
    let folder = coast.scratch.path("csv");
    let words = ["export", "csv", &*folder.to_string_lossy(), "--snapshot", "3", "--table", "filings"];
    assert_eq!(coast.reported("five", &words)["files"][0]["rows"], held.len());
    let run =
        coast.reported("five", &["snapshot", "show", "3"])["run_id"].as_str().expect("a run").to_owned();
    let replayed = coast.reported("five", &["replay", &run]);
    assert_eq!(replayed["snapshots"][0]["different"], json!([]), "{replayed}");
    coast.on("six", &["snapshot", "accept", "2"]).exits(3).says("is not pending review");
    assert_eq!(coast.reported("six", &["snapshot", "accept", "3"])["accepted"], true);
    coast.on("two", &["snapshot", "accept", "3"]).exits(3).says("is not pending review");
    assert_eq!(coast.reported("two", &["status"])["snapshot"], 3);
    coast.on("seven", &["verify"]).exits(0);

    let went = coast.reported("eight", &["snapshot", "rollback", "1"]);
    assert_eq!((&went["restored"], &went["snapshot"]), (&json!(1), &json!(4)));
    let gone_back = coast.filings("nine", 4);
    lake::assert_same(&gone_back, &coast.filings("ten", 1), "gone back");
    let summary = coast.run("two", "2026-03-24", "").complete();
    assert_eq!(summary["coverage"]["incomplete"], json!([]), "{summary}");
    let again = coast.filings("eleven", 5);
    assert!(again.len() > gone_back.len() && gone_back.keys().all(|id| again.contains_key(id)));
    coast.on("twelve", &["verify"]).exits(0);
}

#[test]
fn damage_in_the_store_is_named_by_its_address_never_used_and_repaired() {
    let coast = Coast::new("damage");
    let expected = coast.filings("two", 2);
    let parts = ["filings", "agg_county_type_day", "changes"].map(|table| coast.part(2, table));
    let [flipped, also, gone] = [&*parts[0], &*parts[1], &*parts[2]];
    let commit = "commits/000001.json";
    let first_asked = "latest.json";
    coast.bucket.flip(&[flipped, also, first_asked]);
    coast.bucket.delete(&[gone, commit]);
    // The machine that wrote the files has intact copies, and gets the report as well.
    for machine in ["first", "two", "three"] {
        let report = coast.on(machine, &["verify", "--json"]).exits(9).json();
        let named: BTreeSet<&str> = report["problems"]
            .as_array()
            .expect("problems")
            .iter()
            .filter_map(|problem| problem["path"].as_str())
            .collect();
        let lake = coast.bucket.lake();
        let expected = [flipped, also, gone, commit, first_asked].map(|name| format!("{lake}/{name}"));
        assert_eq!(named, expected.iter().map(String::as_str).collect(), "{machine}");
    }
    // The next writer leads readers to the newest snapshot again, and finds the rest.
    coast.run("four", "2026-03-24", "").exits(9).says("is damaged");
    let csv = coast.scratch.path("csv");
    coast.on("four", &["export", "csv", &csv.to_string_lossy(), "--table", "filings"]).exits(9).says(flipped);
    let repaired = coast.reported("five", &["verify", "--repair"]);
    assert_eq!((&repaired["snapshot"], &repaired["left"]), (&Value::Null, &json!([])), "{repaired}");
    let actions = repaired["actions"].as_array().expect("actions");
    assert_eq!(actions.len(), 4, "{repaired}");
    for name in [flipped, also, gone, commit] {
        let address = format!("{}/{name}", coast.bucket.lake());
        assert!(actions.iter().any(|action| action["path"] == *address), "{address}: {repaired}");
    }
    for machine in ["first", "two", "three", "four", "five", "six"] {
        coast.on(machine, &["verify"]).exits(0);
    }
    lake::assert_same(&coast.filings("seven", 2), &expected, "repaired");
    // Without pages nothing brings the file back, and what is lost is read again.
    for name in coast.bucket.names().iter().filter(|name| name.contains("/raw/")) {
        coast.bucket.delete(&[name]);
    }
    coast.bucket.flip(&[flipped]);
    let repaired = coast.on("eight", &["verify", "--repair", "--json"]).exits(9).json();
    assert_eq!(repaired["snapshot"], 3, "{repaired}");
    coast.run("nine", "2026-03-20", "").complete();
    let found = coast.filings("ten", 4);
    for (id, cells) in expected.iter().filter(|(_, cells)| cells["listed"].as_deref() == Some("true")) {
        assert_eq!(found.get(id), Some(cells), "business {id}");
    }
}

#[test]
fn runs_are_replayed_and_snapshots_exported_by_machines_that_made_none() {
    let coast = Coast::new("exports");
    for run in coast.run_ids() {
        let replayed = coast.reported("two", &["replay", &run]);
        let snapshot = &replayed["snapshots"][0];
        assert!(snapshot["pages"].as_u64() > Some(10) && snapshot["equal"].as_u64() > Some(20), "{replayed}");
        assert_eq!(snapshot["different"], json!([]), "{replayed}");
    }
    let now = coast.fetched("three", 2);
    let file = coast.scratch.path("florida.duckdb");
    let program = python::program("duckdb");
    let words = ["export", "duckdb", &*file.to_string_lossy(), "--duckdb", &*program.to_string_lossy()];
    assert_eq!(coast.reported("four", &words)["snapshot"], 2);
    let found = python::json("database.py", &[&now, &file]);
    assert_eq!((&found["faults"], &found["snapshot"]), (&json!([]), &json!(2)));
    let csv = coast.scratch.path("csv");
    coast.reported("five", &["export", "csv", &csv.to_string_lossy()]);
    assert_eq!(names(&csv).len(), names(&now).len(), "a file a table");
    assert_eq!(python::json("csv_cells.py", &[&now, &csv])["faults"], json!([]));
    // A store's working copy has both snapshots side by side, as a folder has.
    let delta = coast.scratch.path("delta");
    for (machine, snapshot) in [("five", "1"), ("six", "2")] {
        let words = ["export", "delta", &*delta.to_string_lossy(), "--snapshot", snapshot];
        assert_eq!(coast.reported(machine, &words)["versions"].as_array().map(Vec::len), Some(1));
    }
    coast.fetched("three", 1);
    let commits: Vec<Value> =
        [1, 2].map(|snapshot| coast.reported("three", &["snapshot", "show", &snapshot.to_string()])).to_vec();
    let found = python::json("delta.py", &[&coast.work("three"), &delta]);
    assert_eq!(found["faults"], json!([]));
    assert_eq!(found["rows"], json!([commits[0]["filings"], commits[1]["filings"]]));
    assert!(files_below(&delta).len() > 3);
}
