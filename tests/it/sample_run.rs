//! The main job on a fresh machine: `sunlake run` on the embedded API, no key, no settings.

use crate::support::command::{Sunlake, project, shipped};
use crate::support::lake::{self, names};
use crate::support::scratch::Scratch;
use crate::support::source::{complete_sample_pipeline, sample_pipeline};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

const TODAY: &str = "2026-03-20";

/// Keys of the summary, all of them.
const KEYS: [&str; 24] = [
    "run_id",
    "pipeline",
    "outcome",
    "exit_code",
    "today",
    "snapshot",
    "requests",
    "rows",
    "coverage",
    "register",
    "enrich",
    "quarantined",
    "unknown_fields",
    "new_values",
    "checks",
    "held",
    "import",
    "pruned",
    "stopped",
    "go_on_after",
    "complete_on",
    "finished_first",
    "elapsed_secs",
    "peak_rss_bytes",
];

fn run(scratch: &Scratch) -> Value {
    let pipeline = scratch.file("sample.toml", &complete_sample_pipeline(40, 0.05));
    Sunlake::run(&pipeline, &scratch.lake()).args(["--today", TODAY]).finish().exits(0).json()
}

/// A lake of the sample with all tables, and the summary of its run.
fn complete_lake() -> &'static (Scratch, Value) {
    static MADE: OnceLock<(Scratch, Value)> = OnceLock::new();
    MADE.get_or_init(|| {
        let scratch = Scratch::new();
        let summary = run(&scratch);
        (scratch, summary)
    })
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn shipped_sample_needs_no_key_and_prints_one_object_with_the_documented_keys() {
    let scratch = Scratch::new();
    let summary = Sunlake::run(&shipped("sample.toml"), &scratch.lake()).finish().exits(0).json();
    assert_eq!(keys(&summary), BTreeSet::from(KEYS));
    assert_eq!(summary["pipeline"], "sample");
    assert_eq!(summary["outcome"], "complete");
    assert_eq!((&summary["exit_code"], &summary["snapshot"]), (&0.into(), &1.into()));
    assert_eq!(keys(&summary["requests"]), BTreeSet::from(["sent", "retried", "replayed", "by_stage"]));
    let by_stage: u64 =
        summary["requests"]["by_stage"].as_object().expect("stages").values().filter_map(Value::as_u64).sum();
    assert_eq!(summary["requests"]["sent"], by_stage, "the stages add up");
    let filings = &summary["rows"]["filings"];
    assert_eq!(keys(filings), BTreeSet::from(["read", "added", "changed", "vanished", "total"]));
    assert!(filings["total"].as_u64() > Some(15_000), "{filings}");
    assert_eq!(keys(&summary["coverage"]), BTreeSet::from(["days", "complete", "listings", "incomplete"]));
    assert_eq!(summary["coverage"]["days"], summary["coverage"]["complete"]);
    assert_eq!(summary["coverage"]["incomplete"], Value::Array(Vec::new()));
    assert!(summary["peak_rss_bytes"].as_u64() > Some(1 << 20), "{summary}");
    let rows = lake::filings(&scratch.lake()).len();
    assert_eq!(filings["total"], rows, "the summary counts the rows in the lake");
    assert_one_spelling(&scratch.lake(), "PETERSB", "ST PETERSBURG");
}

/// Claims that every city with these letters has one clean name, and that it was filed in many spellings.
fn assert_one_spelling(lake: &Path, letters: &str, clean: &str) {
    let mut spellings: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in lake::filings(lake).into_values() {
        let [city, city_clean] = ["city", "city_clean"].map(|name| row[name].clone().expect("a city"));
        if city.to_uppercase().contains(letters) {
            spellings.entry(city_clean).or_default().insert(city);
        }
    }
    assert_eq!(spellings.keys().collect::<Vec<_>>(), [clean], "{spellings:?}");
    assert!(spellings[clean].len() >= 10, "{spellings:?}");
}

#[test]
fn a_run_without_json_prints_a_summary_for_people() {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &sample_pipeline(10, 0.02));
    let done = Sunlake::on(&scratch.lake(), ["run", "--today", TODAY]).args([&pipeline]).finish().exits(0);
    for words in ["complete", "requests", "filings", "10 of 10 days complete, fictitious names included"] {
        assert!(done.stdout.contains(words), "{words:?}{}", done.shown());
    }
    assert_eq!(done.stderr, "", "nothing to say on stderr{}", done.shown());
}

#[test]
fn the_default_pipeline_and_lake_are_found_from_the_project_folder() {
    let scratch = Scratch::new();
    let folder = scratch.path("checkout");
    std::fs::create_dir_all(folder.join("pipelines")).expect("a folder");
    std::fs::write(folder.join("pipelines/sample.toml"), sample_pipeline(5, 0.02)).expect("a file");
    Sunlake::new(["run", "--today", TODAY, "--json"]).within(&folder).finish().complete();
    assert!(folder.join("output/current/filings").is_dir());
}

#[test]
fn a_second_run_of_the_day_changes_nothing_and_reads_no_listing() {
    let (made, first) = complete_lake();
    assert_eq!(first["outcome"], "complete");
    let scratch = Scratch::new();
    lake::copy_tree(&made.lake(), &scratch.lake());
    let before = std::fs::read_link(scratch.lake().join("current")).expect("a link");
    let again = run(&scratch);
    assert_eq!(again["outcome"], "unchanged", "{again}");
    let by_stage = keys(&again["requests"]["by_stage"]);
    let read = again["rows"]["filings"]["read"].as_u64();
    assert_eq!(read, Some(0), "no filing was read again: {again}");
    let sent = again["requests"]["sent"].as_u64();
    assert!(sent <= Some(10), "lists, counts and totals alone: {again}");
    assert!(by_stage.contains("reference"), "{again}");
    assert_eq!(std::fs::read_link(scratch.lake().join("current")).expect("a link"), before);
    assert_eq!(lake::commits(&scratch.lake()).len(), 1);
}

#[test]
fn the_next_day_costs_a_fraction_and_keeps_unchanged_files_as_hard_links() {
    let scratch = Scratch::new();
    let pipeline = scratch.file("sample.toml", &sample_pipeline(40, 0.1));
    let run =
        |today: &str| Sunlake::run(&pipeline, &scratch.lake()).args(["--today", today]).finish().complete();
    let (first, second) = (run("2026-03-19"), run("2026-03-20"));
    let sent = |summary: &Value| summary["requests"]["sent"].as_u64().expect("a number");
    assert!(sent(&second) * 2 < sent(&first), "{} after {}", sent(&second), sent(&first));
    assert!(second["rows"]["filings"]["added"].as_u64() > Some(0), "{second}");
    let snapshots = scratch.lake().join("snapshots");
    let files = lake::files_below(&snapshots.join("000002"));
    let shared = files.iter().filter(|file| std::fs::metadata(file).expect("a file").nlink() > 1).count();
    assert!(shared > 0, "no file of {} is shared", files.len());
    assert!(shared < files.len(), "the changed files are new ones");
    lake::filings(&scratch.lake());
}

#[test]
fn the_lake_is_laid_out_as_documented() {
    let root = complete_lake().0.lake();
    let top = names(&root);
    for name in ["current", "commits", "snapshots", "runs", "state"] {
        assert!(top.contains(name), "{name} is missing among {top:?}");
    }
    let current = root.join("current");
    assert!(current.symlink_metadata().expect("current").is_symlink());
    assert_eq!(std::fs::read_link(&current).expect("a link"), Path::new("snapshots/000001"));
    assert_eq!(names(&root.join("commits")), BTreeSet::from(["000001.json".to_owned()]));
    let snapshot = root.join("snapshots/000001");
    let tables = names(&snapshot);
    for table in [
        "filings",
        "daily_counts",
        "counties",
        "monthly_counts",
        "statewide",
        "type_split",
        "industry_types",
        "industry_segments",
        "county_facts",
        "industry_labels",
        "entity_types",
        "daily_counts_history",
        "entity_types_history",
        "coverage",
        "days",
        "months",
        "agg_county_type_day",
    ] {
        assert!(tables.contains(table), "{table} is missing among {tables:?}");
    }
    let months = names(&snapshot.join("filings"));
    assert_eq!(months, BTreeSet::from(["filed_month=2026-02".to_owned(), "filed_month=2026-03".to_owned()]));
    let shipped = names(&project().join("pipelines/aggregates"));
    for name in shipped.iter().filter_map(|name| name.strip_suffix(".sql")) {
        assert!(tables.contains(&format!("agg_{name}")), "agg_{name} is missing among {tables:?}");
    }
    for file in lake::files_below(&snapshot) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.starts_with("part-") && name.ends_with(".parquet"), "{} is a stranger", file.display());
    }
    let run = names(&root.join("runs")).pop_first().expect("a run");
    let files = names(&root.join("runs").join(run));
    for name in ["raw", "summary.json"] {
        assert!(files.contains(name), "{name} is missing among {files:?}");
    }
}

#[test]
fn a_commit_names_every_file_with_its_rows_and_bytes() {
    let (scratch, summary) = complete_lake();
    let commit = lake::commits(&scratch.lake()).remove(0);
    assert_eq!((&commit["run_id"], &commit["pipeline"]), (&summary["run_id"], &"sample".into()));
    let snapshot = lake::current(&scratch.lake());
    let mut named = BTreeSet::new();
    for (table, manifest) in commit["tables"].as_object().expect("tables") {
        let mut rows = 0;
        for file in manifest["files"].as_array().expect("files") {
            let path = snapshot.join(file["path"].as_str().expect("a path"));
            assert_eq!(file["bytes"], std::fs::metadata(&path).expect("a file").len(), "{}", path.display());
            assert_eq!(file["blake3"].as_str().map(str::len), Some(64), "{file}");
            rows += file["rows"].as_u64().expect("rows");
            named.insert(path);
        }
        assert_eq!(manifest["rows"], rows, "{table}");
        let read: usize = lake::batches(&scratch.lake(), table).iter().map(|batch| batch.num_rows()).sum();
        assert_eq!(read as u64, rows, "{table}");
    }
    assert_eq!(named, lake::files_below(&snapshot).into_iter().collect());
}

#[test]
fn filings_are_sorted_newest_first_within_their_month_and_types_are_those_every_tool_reads() {
    let (scratch, _) = complete_lake();
    for folder in names(&lake::current(&scratch.lake())) {
        for batch in lake::batches(&scratch.lake(), &folder) {
            for field in batch.schema().fields() {
                let kind = field.data_type().to_string();
                let plain =
                    ["Int32", "Int64", "Utf8", "Boolean", "Date32", "Float64"].contains(&kind.as_str());
                assert!(plain || kind.starts_with("Timestamp("), "{folder}.{} is {kind}", field.name());
                assert!(
                    !kind.contains("Nano") && !kind.contains("ns"),
                    "{folder}.{} is {kind}",
                    field.name()
                );
            }
        }
    }
    let rows = lake::rows(&scratch.lake(), "filings", &[]);
    assert!(rows.iter().all(|row| !row.contains_key("filed_month")), "the month is in the path only");
    // Files come oldest month first, rows newest first.
    let order: Vec<_> = rows
        .iter()
        .map(|row| {
            let day = row["filed_date"].clone().expect("a day");
            let id: i64 = row["business_id"].as_deref().and_then(|id| id.parse().ok()).expect("an id");
            (day[..7].to_owned(), std::cmp::Reverse(day), std::cmp::Reverse(id))
        })
        .collect();
    assert!(order.is_sorted(), "filings are out of order");
}

#[test]
fn a_day_that_no_sample_has_is_refused_with_the_days_that_it_has() {
    for day in ["0001-01-01", "1985-06-01", "2000-01-01", "9999-12-31"] {
        let scratch = Scratch::new();
        let done = Sunlake::run(&shipped("sample.toml"), &scratch.lake()).args(["--today", day]).finish();
        let text = format!("the sample has no day {day}: its first is 2000-01-02, its last 9999-12-30");
        done.exits(3).says(&text).says("--today");
    }
    let scratch = Scratch::new();
    let pipeline = scratch.file("first.toml", &sample_pipeline(7, 0.05));
    Sunlake::run(&pipeline, &scratch.lake()).args(["--today", "2000-01-02"]).finish().complete();
}
