//! `doctor` reports what a run lacks; a run's log is in its own folder.

use crate::support::command::{Finished, Sunlake, shipped};
use crate::support::lake::names;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source;
use serde_json::Value;
use std::io::Write;
use std::path::Path;

fn doctor(lake: &Path) -> Sunlake {
    let pipelines = shipped("daily.toml");
    let pipelines = pipelines.parent().expect("a folder");
    Sunlake::on(lake, ["doctor", "--json"]).args(["--pipelines".as_ref(), pipelines.as_os_str()])
}

/// What was found about a subject: its verdict and its words.
fn found(done: &Finished, subject: &str) -> (String, String) {
    let reported = done.json();
    let findings = reported["findings"].as_array().expect("findings");
    let of = findings.iter().find(|finding| finding["subject"] == subject);
    let of = of.unwrap_or_else(|| panic!("nothing about {subject}{}", done.shown()));
    let text = |name: &str| of[name].as_str().expect("a text").to_owned();
    (text("verdict"), text("what"))
}

#[test]
fn all_is_well_with_a_sound_lake_and_a_key_and_one_request_is_sent() {
    let source = source::small();
    let server = ApiServer::generous(source, AGENCY);
    let done = doctor(&source.lake)
        .args(["--base-url", &server.url()])
        .env("SUNLAKE_API_KEY", &server.key)
        .finish()
        .exits(0);
    for subject in ["time zone", "disk", "storage", "lock", "lake", "pipelines", "key", "plan", "clock"] {
        assert_eq!(found(&done, subject).0, "good", "{subject}{}", done.shown());
    }
    assert_eq!(done.json()["requests"], 1);
    assert!(!done.stdout.contains(&server.key) && !done.stderr.contains(&server.key));
    let left: Vec<_> =
        names(&source.lake.join("state")).into_iter().filter(|name| name.contains("probe")).collect();
    assert!(left.is_empty(), "{left:?}");
    let refused = doctor(&source.lake)
        .args(["--base-url", &server.url()])
        .env("SUNLAKE_API_KEY", "flb_live_0000000000000000000000000000000000000000000")
        .finish()
        .exits(4);
    assert_eq!((found(&refused, "key").0.as_str(), refused.json()["requests"].as_u64()), ("bad", Some(1)));
}

#[test]
fn what_is_missing_or_in_the_way_is_named() {
    let scratch = Scratch::new();
    let none = doctor(&scratch.lake()).finish().exits(0);
    assert!(found(&none, "storage").1.contains("there is no lake at"), "{}", none.shown());
    assert_eq!((found(&none, "key").0.as_str(), none.json()["requests"].as_u64()), ("note", Some(0)));
    assert!(!scratch.lake().exists(), "to look makes nothing");

    std::fs::create_dir_all(scratch.lake().join("state")).expect("a lake");
    let mut lock = std::fs::File::create(scratch.lake().join("state/lock")).expect("a lock file");
    lock.lock().expect("the lock");
    writeln!(lock, "run r1, process 4711").expect("the holder");
    let held = doctor(&scratch.lake()).finish().exits(0);
    assert!(found(&held, "lock").1.contains("process 4711"), "{}", held.shown());
    lock.unlock().expect("given back");
    let free = doctor(&scratch.lake()).finish().exits(0);
    assert_eq!(found(&free, "lock").0, "good", "words that a killed run left are no lock{}", free.shown());

    std::fs::create_dir_all(scratch.lake().join("commits")).expect("a folder");
    std::fs::write(scratch.lake().join("commits/000001.json"), "{").expect("a torn commit");
    doctor(&scratch.lake()).finish().exits(9);
    let wrong = scratch.file("wrong.toml", "name = \"wrong\"\n[budget]\nkeep_per_dya = 1\n");
    let folder = wrong.parent().expect("a folder");
    let done = Sunlake::new(["doctor", "--pipelines"])
        .args([folder.as_os_str(), "--lake".as_ref(), scratch.path("other").as_os_str()])
        .finish()
        .exits(3);
    assert!(
        done.stdout.contains("BAD   pipelines") && done.stdout.contains("wrong.toml"),
        "{}",
        done.shown()
    );
}

#[test]
fn an_aggregate_shared_by_several_pipelines_is_reported_once_with_its_folder() {
    let scratch = Scratch::new();
    let folder = scratch.path("pipelines");
    std::fs::create_dir_all(folder.join("aggregates")).expect("a folder");
    for name in ["one", "two"] {
        scratch.file(&format!("pipelines/{name}.toml"), &format!("name = \"{name}\"\n"));
    }
    let sql = scratch.file("pipelines/aggregates/mine.sql", "SELECT kounty FROM filings");
    let done = Sunlake::new(["doctor", "--json", "--pipelines"])
        .args([folder.as_os_str(), "--lake".as_ref(), scratch.lake().as_os_str()])
        .finish()
        .exits(3);
    let reported = done.json();
    let findings = reported["findings"].as_array().expect("findings");
    let of_pipelines: Vec<_> = findings.iter().filter(|found| found["subject"] == "pipelines").collect();
    assert_eq!(of_pipelines.len(), 1, "{}", done.shown());
    assert!(found(&done, "pipelines").1.contains(&*sql.to_string_lossy()), "{}", done.shown());
}

#[test]
fn a_run_keeps_a_log_in_its_folder() {
    let source = source::small();
    let runs = names(&source.lake.join("runs"));
    let run = runs.iter().next().expect("a run");
    let log = std::fs::read_to_string(source.lake.join("runs").join(run).join("log")).expect("a log");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let said = |words: &str| lines.iter().any(|line| line["fields"]["message"].as_str() == Some(words));
    assert!(said("the run begins") && said("the run ends"), "{log}");
    let begun = lines.iter().find(|line| line["fields"]["message"] == "the run begins").expect("a beginning");
    assert_eq!(begun["fields"]["run_id"].as_str(), Some(run.as_str()));
    assert!(begun["timestamp"].is_string() && begun["level"] == "INFO", "{begun}");
}
