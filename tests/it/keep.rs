//! Snapshots listed, compared, rolled back to, accepted and pruned; tables replayed from archived pages; damage
//! right.

use crate::support::command::{Finished, Sunlake, sunlake};
use crate::support::lake::{self, damage, files_below, part};
use crate::support::scratch::Scratch;
use crate::support::server::create_key;
use crate::support::source::{self, sample_pipeline};
use crate::support::{http, python};
use crate::verify::copy;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn reported(lake: &Path, arguments: &[&str]) -> Value {
    sunlake(lake, &[arguments, &["--json"]].concat()).exits(0).json()
}

fn runs(lake: &Path) -> Vec<String> {
    lake::names(&lake.join("runs")).into_iter().collect()
}

/// A run of the pipeline that made [`source::history`], as of another day.
fn run(scratch: &Scratch, lake: &Path, today: &str, extra: &str) -> Finished {
    let pipeline = scratch.file("sample.toml", &format!("{}{extra}", sample_pipeline(70, 0.04)));
    Sunlake::run(&pipeline, lake).args(["--today", today]).finish()
}

fn assert_sound(lake: &Path) {
    sunlake(lake, &["verify"]).exits(0);
}

/// Checks that catalogue and report describe this snapshot, and name files that exist.
fn assert_described(lake: &Path, snapshot: u64) {
    let text = |name: &str| {
        let path = lake.join("catalog").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let package: Value = serde_json::from_str(&text("datapackage.json")).expect("JSON");
    assert_eq!(package["snapshot"], snapshot);
    let resources = package["resources"].as_array().expect("resources");
    let paths = resources.iter().filter_map(|resource| resource["path"].as_array()).flatten();
    let paths: Vec<&str> = paths.filter_map(Value::as_str).collect();
    assert!(paths.len() > 10, "{paths:?}");
    for path in paths {
        assert!(lake.join(path).is_file(), "{path} is not there");
    }
    assert!(text("TABLES.md").starts_with(&format!("# Tables of snapshot {snapshot}\n")));
    assert!(text("views.sql").contains(&format!("({snapshot} when this was written)")));
    assert!(text("report.html").contains(&format!("snapshot {snapshot} ")));
}

/// A run's journal of a snapshot as JSON without its seal, and its path.
fn journal(lake: &Path, run_id: &str, snapshot: u64) -> (Value, PathBuf) {
    let path = lake.join("runs").join(run_id).join(format!("journal/{snapshot:06}.json"));
    let mut journal: Value = serde_json::from_slice(&std::fs::read(&path).expect("a journal")).expect("JSON");
    journal.as_object_mut().expect("an object").remove("seal");
    (journal, path)
}

/// Seals a journal and writes it.
fn write_journal(path: &Path, journal: &Value) {
    let mut bytes = serde_json::to_vec_pretty(journal).expect("JSON");
    bytes.truncate(bytes.len() - 2);
    let digest = blake3::hash(&bytes).to_hex();
    bytes.extend_from_slice(format!(",\n  \"seal\": \"{digest}\"\n}}\n").as_bytes());
    std::fs::write(path, bytes).expect("written");
}

#[test]
fn snapshots_are_listed_shown_and_compared() {
    let lake = &source::history().lake;
    let listed = reported(lake, &["snapshot", "list"]);
    let snapshots = listed["snapshots"].as_array().expect("snapshots");
    assert_eq!(snapshots.len(), 2, "{listed}");
    let of = |field: &str| snapshots.iter().map(|snapshot| snapshot[field].clone()).collect::<Vec<_>>();
    assert_eq!(of("standing"), ["published", "published"]);
    assert_eq!(of("current"), [false, true]);
    assert_eq!(of("today"), ["2026-03-16", "2026-03-20"]);
    let shown = reported(lake, &["snapshot", "show", "2"]);
    assert_eq!(shown["filings"], lake::filings(lake).len(), "{shown}");
    assert_eq!(shown["tables"]["filings"]["rows"], shown["filings"]);
    let path = PathBuf::from(shown["tables"]["coverage"]["files"][0].as_str().expect("a path"));
    assert!(path.is_file(), "{}", path.display());
    let diff = reported(lake, &["snapshot", "diff", "1", "2"]);
    let filings = &diff["tables"]["filings"];
    let changes = |kind: &str| {
        let rows = lake::rows(lake, "changes", &[]);
        let of_kind = rows.iter().filter(|row| row["change"].as_deref() == Some(kind));
        of_kind.map(|row| row["business_id"].clone()).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(filings["added"], changes("appeared"), "{filings}");
    assert_eq!(filings["vanished"], changes("vanished"), "{filings}");
    assert!(changes("appeared") > 0 && changes("vanished") > 0);
    assert!(filings["examples"].as_array().is_some_and(|examples| examples.len() >= 2), "{filings}");
    let text = sunlake(lake, &["snapshot", "diff", "1", "2"]).exits(0);
    assert!(text.stdout.contains("filings: ") && text.stdout.contains("business_id="), "{}", text.shown());
    let left_out: Vec<&str> =
        diff["left_out"].as_array().expect("columns").iter().filter_map(Value::as_str).collect();
    assert_eq!(left_out, ["first_seen_at", "changed_at", "checked_at", "fetched_at"]);
    let line = format!("compared: all columns but {}", left_out.join(", "));
    assert!(text.stdout.lines().last().is_some_and(|last| last.starts_with(&line)), "{}", text.shown());
    assert_eq!(
        diff["tables"]["coverage"]["changed"],
        changed(lake, "coverage", &["filed_date", "entity_type"], &left_out)
    );
    let unlisted = changes("vanished");
    assert_eq!(
        filings["changed"].as_u64(),
        Some((changed(lake, "filings", &["business_id"], &left_out) - unlisted) as u64)
    );
    sunlake(lake, &["snapshot", "show", "9"]).exits(3).says("no snapshot 9");
}

/// Number of rows of a table that have the same key in snapshots 1 and 2, and another value in a column that is not left out.
fn changed(lake: &Path, table: &str, key: &[&str], left_out: &[&str]) -> usize {
    let scratch = Scratch::new();
    let [before, after] = ["000001", "000002"].map(|snapshot| {
        let folder = scratch.path(snapshot);
        std::fs::create_dir(&folder).expect("a folder");
        std::os::unix::fs::symlink(lake.join("snapshots").join(snapshot), folder.join("current"))
            .expect("a link");
        let rows = lake::rows(&folder, table, left_out).into_iter();
        rows.map(|row| (key.iter().map(|name| row[*name].clone()).collect(), row))
            .collect::<BTreeMap<Vec<_>, _>>()
    });
    before.iter().filter(|(key, row)| after.get(*key).is_some_and(|other| other != *row)).count()
}

#[test]
fn replay_makes_every_run_s_tables_again_to_the_byte_without_a_request() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    for run_id in runs(&lake) {
        // There is no API to ask: the sample's ended with its run.
        let replayed = reported(&lake, &["replay", &run_id]);
        let snapshot = &replayed["snapshots"][0];
        assert!(snapshot["pages"].as_u64() > Some(20) && snapshot["equal"].as_u64() > Some(20), "{replayed}");
        assert_eq!(snapshot["different"], json!([]), "{replayed}");
        assert_eq!(replayed["published"], Value::Null);
    }
    assert_eq!(lake::commits(&lake).len(), 2);
    assert_sound(&lake);
    sunlake(&lake, &["replay", "no-such-run"]).exits(3).says("cannot be replayed");
    sunlake(&lake, &["replay", "../x"]).exits(3);
}

#[test]
fn what_a_replay_finds_otherwise_is_published_when_asked() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let last = runs(&lake).pop().expect("a run");
    let expected = lake::filings(&lake);
    // As if the run had skipped a row it should not have: the journal is corrected, and sealed again.
    let (mut journal, path) = journal(&lake, &last, 2);
    let steps = journal["steps"].as_array_mut().expect("steps");
    let pages = |step: &Value| step["listing"]["pages"].as_array().map_or(0, Vec::len);
    let largest = (0..steps.len()).max_by_key(|at| pages(&steps[*at])).expect("a step");
    steps.remove(largest);
    write_journal(&path, &journal);
    let done = sunlake(&lake, &["replay", &last, "--json"]).exits(7);
    assert_ne!(done.json()["snapshots"][0]["different"], json!([]), "{}", done.shown());
    assert_eq!(lake::commits(&lake).len(), 2);
    let published = reported(&lake, &["replay", &last, "--publish"]);
    assert_eq!(published["published"], 3, "{published}");
    assert_described(&lake, 3);
    assert!(lake::filings(&lake).len() < expected.len(), "the step that was taken out brought rows");
    sunlake(&lake, &["verify", "3"]).exits(0);
    assert_eq!(reported(&lake, &["snapshot", "rollback", "2"])["snapshot"], 4);
    lake::assert_same(&lake::filings(&lake), &expected, "after going back");
}

#[test]
fn counts_of_days_are_replayed_from_the_page_that_the_journal_names() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let last = runs(&lake).pop().expect("a run");
    let (mut journal, path) = journal(&lake, &last, 2);
    write_journal(&path, &journal);
    let replayed = reported(&lake, &["replay", &last]);
    assert_eq!(replayed["snapshots"][0]["different"], json!([]), "{replayed}");
    journal["counts"] = json!([0, "/v1/fl/filings/daily?days=7"]);
    write_journal(&path, &journal);
    sunlake(&lake, &["replay", &last]).exits(9).says("daily?days=7 is gone");
}

#[test]
fn the_catalogue_and_the_report_go_back_too_and_name_no_file_that_a_rule_let_go() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    assert_eq!(reported(&lake, &["snapshot", "rollback", "1"])["snapshot"], 3);
    assert_described(&lake, 3);
    let pruned = reported(&lake, &["snapshot", "prune", "--keep-last", "1"]);
    assert_eq!(pruned["snapshots"], json!([1, 2]), "{pruned}");
    assert_described(&lake, 3);
}

#[test]
fn going_back_makes_the_next_run_read_what_happened_since() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let expected = lake::filings(&lake);
    let went = reported(&lake, &["snapshot", "rollback", "1"]);
    assert_eq!((&went["restored"], &went["snapshot"]), (&1.into(), &3.into()));
    let rollback = runs(&lake).pop().expect("a run");
    sunlake(&lake, &["replay", &rollback]).exits(3).says("showed snapshot 1 again");
    let status = sunlake(&lake, &["status"]).exits(0);
    assert!(!status.stdout.contains("run rollback"), "a rollback is no pipeline{}", status.shown());
    assert!(lake::filings(&lake).len() < expected.len());
    assert_sound(&lake);
    let summary = run(&scratch, &lake, source::history().today, "").complete();
    assert_eq!(summary["snapshot"], 4, "{summary}");
    lake::assert_same(&lake::filings(&lake), &expected, "after the next run");
    assert_sound(&lake);
}

#[test]
fn pinned_snapshots_stay_others_go_and_a_pipeline_file_may_say_so() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    sunlake(&lake, &["snapshot", "prune"]).exits(3).says("--keep-last");
    let would = reported(&lake, &["snapshot", "prune", "--keep-last", "1", "--dry-run"]);
    assert_eq!((&would["dry_run"], &would["snapshots"]), (&true.into(), &json!([1])));
    assert!(lake.join("snapshots/000001").is_dir());
    assert_eq!(reported(&lake, &["snapshot", "pin", "1"])["changed"], true);
    assert_eq!(reported(&lake, &["snapshot", "prune", "--keep-last", "1"])["snapshots"], json!([]));
    assert_eq!(reported(&lake, &["snapshot", "unpin", "1"])["changed"], true);
    assert_eq!(reported(&lake, &["snapshot", "unpin", "1"])["changed"], false);
    sunlake(&lake, &["snapshot", "unpin", "9"]).exits(3).says("no snapshot 9");
    let retention = "[retention]\nlast = 2\n";
    let summary = run(&scratch, &lake, "2026-03-21", retention).complete();
    assert_eq!(summary["pruned"], json!([1]), "{summary}");
    assert!(!lake.join("snapshots/000001").exists() && lake.join("commits/000001.json").is_file());
    assert_sound(&lake);
    sunlake(&lake, &["snapshot", "diff", "1", "2"]).exits(3).says("pruned");
    sunlake(&lake, &["snapshot", "rollback", "1"]).exits(3).says("pruned");
    sunlake(&lake, &["query", "SELECT COUNT(*) FROM filings", "--snapshot", "1"]).exits(3).says("pruned");
    let kept = reported(&lake, &["status"])["snapshots"].as_array().map(Vec::len);
    assert_eq!(kept, Some(2), "status shows what is kept");
}

#[test]
fn a_held_snapshot_waits_for_a_person_and_its_run_is_over() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let before = lake::filings(&lake);
    // Every run of the sample finds rows that are gone: none are allowed to be.
    let strict = "[checks]\nmax_vanished_percent = 0.0\n";
    let done = run(&scratch, &lake, "2026-03-24", strict).exits(7).says("snapshot accept 3");
    let summary = done.json();
    assert_eq!((&summary["outcome"], &summary["held"]), (&"failed".into(), &3.into()), "{}", done.shown());
    assert!(summary["checks"][0].as_str().is_some_and(|check| check.contains("max_vanished_percent")));
    lake::assert_same(&lake::filings(&lake), &before, "readers see the old snapshot");
    assert_sound(&lake);
    let shown = reported(&lake, &["snapshot", "show", "3"]);
    assert_eq!(shown["standing"], "held", "{shown}");
    let rows = python::json("count.py", &[Path::new(shown["path"].as_str().expect("a path"))]);
    assert_eq!(rows["filings"], shown["filings"], "DuckDB reads it in place");
    let diff = reported(&lake, &["snapshot", "diff", "2", "3"]);
    assert_eq!(diff["tables"]["filings"]["rows_after"], shown["filings"], "{diff}");
    let csv = scratch.path("csv");
    let words = ["export", "csv", &*csv.to_string_lossy(), "--snapshot", "3", "--table", "counties, filings"];
    assert_eq!(reported(&lake, &words)["files"][1]["rows"], shown["filings"]);
    let replayed = reported(&lake, &["replay", shown["run_id"].as_str().expect("a run")]);
    assert_eq!(replayed["snapshots"][0]["different"], json!([]), "{replayed}");
    sunlake(&lake, &["snapshot", "accept", "2"]).exits(3).says("snapshot 2 is not pending review");
    sunlake(&lake, &["snapshot", "accept", "9"]).exits(3).says("no snapshot 9");
    let status = reported(&lake, &["status"]);
    assert_eq!(status["runs"][0]["finished"], "held", "{status}");
    assert_eq!(reported(&lake, &["snapshot", "accept", "3"])["accepted"], true);
    assert_described(&lake, 3);
    assert!(lake::filings(&lake).len() > before.len());
    assert_sound(&lake);
    sunlake(&lake, &["snapshot", "accept", "3"]).exits(3);
    let again = run(&scratch, &lake, "2026-03-24", strict).exits(0).json();
    assert_eq!(again["outcome"], "unchanged", "{again}");
}

fn actions(repaired: &Value) -> BTreeMap<String, String> {
    let actions = repaired["actions"].as_array().expect("actions").iter();
    let text = |action: &Value, field: &str| action[field].as_str().expect("text").to_owned();
    actions.map(|action| (text(action, "path"), text(action, "done"))).collect()
}

#[test]
fn damaged_files_come_back_from_a_copy_or_from_archived_pages() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    // `copy` broke the links, so that an unchanged file has a second, sound copy.
    let shared = |path: &PathBuf| {
        lake.join("snapshots/000001").join(path.strip_prefix(lake.join("snapshots/000002")).expect("inside"))
    };
    let twin = files_below(&lake.join("snapshots/000002")).into_iter().find(|path| shared(path).is_file());
    let twin = twin.expect("a file of both snapshots");
    let made = [part(&lake, 2, "filings"), part(&lake, 2, "changes"), part(&lake, 2, "agg_county_type_day")];
    let mut whole: BTreeMap<PathBuf, Vec<u8>> =
        made.iter().map(|path| (path.clone(), damage(path))).collect();
    whole.insert(twin.clone(), damage(&twin));
    let commit = lake.join("commits/000001.json");
    whole.insert(commit.clone(), damage(&commit));
    let done = sunlake(&lake, &["verify"]).exits(9);
    for path in whole.keys() {
        let name = path.file_name().expect("a name").to_string_lossy();
        assert!(done.stdout.contains(&*name), "{name}{}", done.shown());
    }
    let repaired = reported(&lake, &["verify", "--repair"]);
    assert_eq!((&repaired["snapshot"], &repaired["left"]), (&Value::Null, &json!([])), "{repaired}");
    let actions = actions(&repaired);
    for (path, bytes) in &whole {
        assert!(std::fs::read(path).is_ok_and(|found| &found == bytes), "{}", path.display());
        let done = &actions[&path.display().to_string()];
        let expected = match path {
            path if path == &twin => "snapshot 1",
            path if path == &commit => "copy",
            _ => "archived pages",
        };
        assert!(done.contains(expected), "{}: {done}", path.display());
    }
    assert_sound(&lake);
    assert_eq!(reported(&lake, &["verify", "--repair"])["actions"], json!([]));
}

#[test]
fn rows_that_nothing_brings_back_are_left_out_and_read_again() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    // What the API no longer lists is lost for good.
    let listed = |lake: &Path| {
        let mut filings = lake::filings(lake);
        filings.retain(|_, cells| cells["listed"].as_deref() == Some("true"));
        filings
    };
    let expected = listed(&lake);
    for run_id in runs(&lake) {
        std::fs::remove_dir_all(lake.join("runs").join(run_id).join("raw")).expect("removed");
    }
    damage(&part(&lake, 2, "filings"));
    let done = sunlake(&lake, &["verify", "--repair", "--json"]).exits(9);
    let repaired = done.json();
    assert_eq!(repaired["snapshot"], 3, "{}", done.shown());
    let actions = actions(&repaired);
    assert!(actions.values().any(|done| done.contains("count as incomplete")), "{actions:#?}");
    let left = repaired["left"].as_array().expect("problems");
    assert!(
        left.iter().all(|problem| problem["path"].as_str().is_some_and(|path| path.contains("000002"))),
        "{left:?}"
    );
    assert!(listed(&lake).len() < expected.len());
    assert_described(&lake, 3);
    // The days of the lost month are read again by a pipeline that asks for few days.
    let five_days = sample_pipeline(70, 0.04).replace("[extract]\ndays = 70", "[extract]\ndays = 5");
    let pipeline = scratch.file("five-days.toml", &five_days);
    Sunlake::run(&pipeline, &lake).args(["--today", source::history().today]).finish().complete();
    lake::assert_same(&listed(&lake), &expected, "after the next run");
    sunlake(&lake, &["verify", "4"]).exits(0);
    reported(&lake, &["snapshot", "prune", "--keep-last", "1"]);
    assert_sound(&lake);
}

#[test]
fn nothing_is_made_or_served_from_a_damaged_file() {
    let scratch = Scratch::new();
    let lake = copy(&scratch);
    let filings = part(&lake, 2, "filings");
    let whole = damage(&filings);
    let done = run(&scratch, &lake, "2026-03-21", "").exits(9).says("damaged");
    let name = filings.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(done.stderr.contains(&name), "{}", done.shown());
    assert_eq!(lake::commits(&lake).len(), 2);
    create_key(&scratch, "acme", "agency", &["data"]);
    let keys = scratch.path("keys.toml");
    let serve = || Sunlake::serve(&lake, &keys).args(["--today", "2026-03-20"]).start();
    let refused = serve().finish();
    assert!(refused.stderr.contains(&name), "{}", refused.shown());
    std::fs::write(&filings, &whole).expect("repaired");
    let mut served = serve();
    let address = served.address().expect("an address");
    assert_eq!(http::send(address, "GET", "/readyz", &[]).expect("an answer").status, 200);
}

#[test]
fn what_the_register_said_on_a_past_day_comes_from_one_snapshot() {
    let lake = &source::history().lake;
    let first = lake::commits(lake)[0]["committed_at"].as_str().expect("an instant").to_owned();
    let answer = python::json("as_of.py", &[lake, Path::new(&first)]);
    assert_eq!(answer["differences"], 0, "{answer}");
    assert!(answer["rows"].as_u64() > Some(5_000), "{answer}");
    assert_ne!(answer["rows"], answer["rows_now"], "the register has changed since, or this claims less");
}
