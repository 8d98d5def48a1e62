//! The server against another of the same document: both are asked thousands of random questions, right and wrong ones.
//!
//! The other server is a program outside the project: `SUNLAKE_REFERENCE_API` names its folder, with `refapi.py` and
//! `dataset/real_filings.csv`.

use crate::support::command::Sunlake;
use crate::support::python;
use crate::support::redis::Redis;
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, ENTERPRISE, Plan, STARTER};
use crate::support::source::Source;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A day by which every row of the dataset has been filed, and the day on which the questions are asked.
const ALL_FILED: &str = "2026-11-01";
const TODAY: &str = "2026-07-31";
/// Reaches back before the dataset's first row.
const EVERYTHING: Plan = Plan { name: "custom", rows_per_call: 100, max_offset: 5_000, window_days: 3_660 };
const QUESTIONS: u32 = 5_000;

/// The other server under way; killed when dropped.
struct Reference {
    child: Child,
    base: String,
}

impl Reference {
    fn start(folder: &Path, data: &Path, plan: Plan, key: &str, today: &str) -> Self {
        let mut command = Command::new("python3");
        command.arg(folder.join("refapi.py")).arg("--data").arg(data);
        command.args(["--port", "0", "--plan", "custom", "--key", key, "--today", today]);
        for (name, value) in [
            ("--rows-per-call", plan.rows_per_call),
            ("--max-offset", plan.max_offset),
            ("--window-days", plan.window_days),
            ("--per-minute", 1_000_000),
            ("--per-day", 1_000_000),
            ("--per-month", 1_000_000),
        ] {
            command.args([name, &value.to_string()]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("python3");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
        let base =
            line.trim().strip_prefix("listening ").unwrap_or_else(|| panic!("it said {line:?}")).to_owned();
        Self { child, base }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // Already ended, perhaps.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A lake of everything the other server has: every day, then the register for what days do not show, then every business
/// looked up.
fn extracted(folder: &Path, data: &Path, scratch: &Scratch) -> Source {
    let key = "reference_key";
    let reference = Reference::start(folder, data, EVERYTHING, key, ALL_FILED);
    let lake = scratch.lake();
    let Plan { rows_per_call, max_offset, window_days, .. } = EVERYTHING;
    let days = format!("[extract]\ndays = {window_days}");
    let plan = format!(
        "[plan]\nrows_per_call = {rows_per_call}\nmax_offset = {max_offset}\nwindow_days = {window_days}\n\
         [aggregates]\nenabled = false\n"
    );
    for (name, stage) in
        [("days", days.as_str()), ("register", "[registry]"), ("lookups", "[enrich]\nwhere = \"true\"")]
    {
        let pipeline = scratch.file(&format!("{name}.toml"), &format!("name = \"{name}\"\n{stage}\n{plan}"));
        Sunlake::run(&pipeline, &lake)
            .args(["--today", ALL_FILED, "--base-url", &reference.base])
            .env("SUNLAKE_API_KEY", key)
            .finish()
            .exits(0);
    }
    Source { lake, today: TODAY }
}

#[test]
#[ignore = "needs SUNLAKE_REFERENCE_API, some minutes"]
fn another_server_of_the_document_answers_thousands_of_random_questions_alike() {
    let folder = std::env::var_os("SUNLAKE_REFERENCE_API").expect("SUNLAKE_REFERENCE_API");
    let folder = PathBuf::from(folder);
    let scratch = Scratch::new();
    let data = folder.join("dataset/real_filings.csv");
    let source = extracted(&folder, &data, &scratch);
    let redis = Redis::start();
    for (seed, plan) in (1..).zip([STARTER, AGENCY, ENTERPRISE]) {
        // Once with counts in a store.
        let server = match plan.name == STARTER.name {
            true => ApiServer::reported(&source, plan, &["--usage", &redis.url()]),
            false => ApiServer::generous(&source, plan),
        };
        let reference = Reference::start(&folder, &data, plan, &server.key, TODAY);
        let task = json!({
            "ours": server.url(), "theirs": reference.base, "key": server.key, "data": data, "questions": QUESTIONS,
            "seed": seed,
        });
        let seen = python::json("differential.py", &[&scratch.file("task.json", &task.to_string())]);
        println!("{}: {} {} {}", plan.name, seen["statuses"], seen["rows"], seen["decided"]);
        assert_eq!(seen["differences"], json!([]), "{}: {seen}", plan.name);
        assert_eq!(seen["questions"], QUESTIONS);
        assert!(seen["statuses"]["200"].as_u64() > Some(1_000), "{}: {seen}", plan.name);
    }
}
