//! After rows were lost for good, the next runs publish without a person, and what comes back is no news.

use crate::state_order::{company, complete_set, file, put};
use crate::support::command::{Finished, Sunlake, project, sunlake};
use crate::support::lake::{Cells, commits, copy_tree, files_below, rows};
use crate::support::scratch::Scratch;
use crate::support::source::sample_pipeline;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// An aggregate of a user that leaves out changes of businesses that are gone.
const OWN: &str = "-- Changes.\n--\n-- One row a county.\n--   county  its name\n--   changes  number of changes\n\
    -- Adds up: SELECT SUM(changes) FROM agg_own equals SELECT COUNT(*) FROM changes\n\
    SELECT f.county AS county, COUNT(*) AS changes FROM changes c JOIN filings f ON f.business_id = c.business_id\n\
    GROUP BY f.county ORDER BY county NULLS LAST\n";

/// An aggregate that never adds up.
const ONE_TOO_MANY: &str = "-- Filings, and one more.\n--\n-- One row.\n--   filings  number of filings\n\
    -- Adds up: SELECT SUM(filings) FROM agg_own equals SELECT COUNT(*) FROM filings\n\
    SELECT COUNT(*) + 1 AS filings FROM filings\n";

/// A folder with the shipped aggregate of changes, and one of a user.
fn aggregates(scratch: &Scratch) -> String {
    let shipped = project().join("pipelines/aggregates/new_and_vanished.sql");
    let text = std::fs::read_to_string(shipped).expect("an aggregate");
    std::fs::create_dir_all(scratch.path("aggregates")).expect("a folder");
    scratch.file("aggregates/new_and_vanished.sql", &text);
    scratch.file("aggregates/own.sql", OWN);
    format!("[aggregates]\nfolder = {:?}\n", scratch.path("aggregates"))
}

fn run(scratch: &Scratch, lake: &Path, day: u32) -> Finished {
    let sample = sample_pipeline(35, 0.03);
    let (sample, _) = sample.split_once("[aggregates]").expect("aggregates");
    let pipeline = scratch.file("sample.toml", &format!("{sample}{}", aggregates(scratch)));
    Sunlake::run(&pipeline, lake).args(["--today", &format!("2026-03-{day}")]).finish()
}

/// Removes the filings of a month from all snapshots, and what could bring them back.
fn lose(lake: &Path, month: &str) {
    for path in files_below(&lake.join("snapshots")) {
        if path.to_string_lossy().contains(&format!("filings/filed_month={month}")) {
            std::fs::remove_file(path).expect("removed");
        }
    }
    for path in files_below(&lake.join("runs")) {
        if path.to_string_lossy().contains("/raw/") {
            std::fs::remove_file(path).expect("removed");
        }
    }
}

fn value<'c>(cells: &'c Cells, column: &str) -> &'c str {
    cells[column].as_deref().unwrap_or_default()
}

/// Businesses of `changes` that appeared; each only once.
fn appeared(lake: &Path) -> BTreeSet<String> {
    let all = rows(lake, "changes", &[]).into_iter().filter(|cells| value(cells, "change") == "appeared");
    let mut found = BTreeSet::new();
    for cells in all {
        let id = value(&cells, "business_id").to_owned();
        assert!(found.insert(id.clone()), "{id} appeared twice");
    }
    found
}

fn first_seen(lake: &Path) -> BTreeMap<String, i64> {
    let seen = |cells: Cells| {
        let at = value(&cells, "first_seen_at").parse().expect("an instant");
        (value(&cells, "business_id").to_owned(), at)
    };
    rows(lake, "filings", &[]).into_iter().map(seen).collect()
}

fn has_sums(summary: &Value) -> bool {
    summary["checks"].to_string().contains("aggregates do not add up")
}

#[test]
fn runs_after_a_loss_publish_without_a_person_and_what_comes_back_is_no_news() {
    let scratch = Scratch::new();
    let (lake, calm) = (scratch.lake(), scratch.path("calm"));
    for day in 18..=20 {
        run(&scratch, &lake, day).complete();
    }
    copy_tree(&lake, &calm);
    let before = first_seen(&lake);
    let last = before.values().max().expect("rows");
    lose(&lake, "2026-02");
    sunlake(&lake, &["verify", "--repair"]).says_on_stdout("the next run reads those");
    let mut differed = false;
    for day in 21..=23 {
        let summary = run(&scratch, &lake, day).complete();
        differed |= has_sums(&summary);
        run(&scratch, &calm, day).complete();
    }
    assert!(differed, "the loss shows in no sum");
    let (found, expected) = (appeared(&lake), appeared(&calm));
    assert!(found.is_subset(&expected), "{:?} is news", found.difference(&expected));
    let after = first_seen(&lake);
    let of_february = rows(&lake, "filings", &[]).into_iter();
    let of_february = of_february.filter(|cells| value(cells, "filed_date") < "2026-03-01");
    let back: Vec<String> = of_february.map(|cells| value(&cells, "business_id").to_owned()).collect();
    assert!(back.len() > 100, "{}", back.len());
    for id in back.iter().filter(|id| before.contains_key(*id)) {
        assert!(after[id] <= *last, "{id} was seen first after the repair");
    }
}

#[test]
fn an_import_after_a_loss_publishes_though_files_are_gone_for_good() {
    let scratch = Scratch::new();
    let text = format!(
        "name = \"state\"\n[import]\nfolder = \"files\"\n[checks]\ndrop = \"tell\"\n{}",
        aggregates(&scratch)
    );
    let pipeline = scratch.file("state.toml", &text);
    let import = || Sunlake::run(&pipeline, &scratch.lake()).args(["--today", "2026-11-20"]).finish();
    put(&scratch, &complete_set("q", "10092026", &[]));
    let daily = |day: u32, number: u32| {
        file(&format!("202610{day}c.txt"), &[company(&format!("L2600000{number:04}1"), &[(473, "10122026")])])
    };
    put(&scratch, &[daily(12, 1), daily(13, 2)]);
    import().complete();
    put(&scratch, &[daily(14, 3)]);
    import().complete();
    let lake = scratch.lake();
    assert!(!appeared(&lake).is_empty());
    lose(&lake, "2026-10");
    std::fs::remove_file(scratch.path("files/20261013c.txt")).expect("removed");
    sunlake(&lake, &["verify", "--repair"]).says_on_stdout("reads all files of its folder again");
    let snapshots = commits(&lake).len();
    let summary = import().complete();
    assert!(has_sums(&summary), "{summary}");
    assert_eq!((&summary["held"], commits(&lake).len()), (&Value::Null, snapshots + 1));
    put(&scratch, &[daily(15, 4)]);
    assert_eq!(import().complete()["held"], Value::Null);
    assert_eq!(commits(&lake).len(), snapshots + 2);
    appeared(&lake);
}

#[test]
fn a_finding_that_a_person_accepted_stops_no_later_run() {
    let scratch = Scratch::new();
    let lake = scratch.lake();
    run(&scratch, &lake, 18).complete();
    // It counts what no run can change.
    let sample = sample_pipeline(35, 0.03);
    let (sample, _) = sample.split_once("[aggregates]").expect("aggregates");
    let pipeline = scratch.file("other.toml", &format!("{sample}{}", aggregates(&scratch)));
    scratch.file("aggregates/own.sql", ONE_TOO_MANY);
    let run = |day: u32| Sunlake::run(&pipeline, &lake).args(["--today", &format!("2026-03-{day}")]).finish();
    let held = run(19).exits(7).json()["held"].as_u64().expect("a snapshot");
    sunlake(&lake, &["snapshot", "accept", &held.to_string()]).exits(0);
    assert!(has_sums(&run(20).complete()));
    assert!(has_sums(&run(21).complete()));
}
