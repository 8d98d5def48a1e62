//! `doctor` reports what a run lacks; a run's log is in its own folder.

use crate::support::command::{Finished, Sunlake};
use crate::support::lake::names;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source;
use serde_json::Value;
use std::path::Path;

fn doctor(lake: &Path) -> Sunlake {
    Sunlake::on(lake, ["doctor", "--json"])
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
    for subject in ["time zone", "disk", "storage", "lake", "key", "plan", "clock"] {
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

    std::fs::create_dir_all(scratch.lake().join("commits")).expect("a folder");
    std::fs::write(scratch.lake().join("commits/000001.json"), "{").expect("a torn commit");
    doctor(&scratch.lake()).finish().exits(9);
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
