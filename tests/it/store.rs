//! A lake in an object store: the same promises, for machines that share nothing else.

use crate::support::command::{Finished, Running, Sunlake, shipped};
use crate::support::http;
use crate::support::lake::{self, Cells};
use crate::support::proxy::{Proxy, Reply};
use crate::support::s3::{Bucket, SECRET, with_credentials};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer, Plan, create_key};
use crate::support::source::{self, Source};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A served source, a proxy before it, and a bucket that machines run into.
struct Coast {
    source: &'static Source,
    server: ApiServer,
    proxy: Proxy,
    bucket: Bucket,
    scratch: Scratch,
    pipeline: PathBuf,
}

impl Coast {
    fn new(bucket: &'static str) -> Self {
        Self::under(bucket, AGENCY)
    }

    fn under(bucket: &'static str, plan: Plan) -> Self {
        let source = source::small();
        let server = ApiServer::unhurried(source, plan);
        let proxy = Proxy::counting(server.address);
        let scratch = Scratch::new();
        let pipeline = scratch.file("daily.toml", "name = \"daily\"\n[aggregates]\nenabled = false\n");
        Self { source, server, proxy, bucket: Bucket::new(bucket), scratch, pipeline }
    }

    fn work(&self, machine: &str) -> PathBuf {
        self.scratch.path(machine)
    }

    /// A run on a machine.
    fn run(&self, machine: &str) -> Sunlake {
        self.run_of(&self.pipeline, machine)
    }

    fn run_of(&self, pipeline: &Path, machine: &str) -> Sunlake {
        let run = Sunlake::run(pipeline, Path::new(&self.bucket.lake())).asking(
            &self.proxy.url(),
            self.source.today,
            &self.server.key,
        );
        self.bucket.opened_by(run, &self.work(machine))
    }

    /// Another command on a machine.
    fn command(&self, machine: &str, arguments: &[&str]) -> Sunlake {
        self.bucket.opened_by(Sunlake::on(Path::new(&self.bucket.lake()), arguments), &self.work(machine))
    }

    /// Claims that a machine that never saw the lake finds all rows in it, and nothing wrong.
    fn assert_complete(&self, machine: &str) {
        lake::assert_same(&self.filings(machine), &lake::filings(&self.source.lake), machine);
    }

    /// All filings, as a machine finds them that never saw the lake.
    fn filings(&self, machine: &str) -> BTreeMap<i64, Cells> {
        let report = self.command(machine, &["verify", "--json"]).finish().exits(0).json();
        assert_eq!(report["sound"], true, "{report}");
        let work = self.work(machine);
        let snapshot =
            work.join("snapshots").join(format!("{:06}", report["snapshot"].as_u64().expect("a number")));
        std::os::unix::fs::symlink(snapshot, work.join("current")).expect("a link");
        lake::filings(&work)
    }
}

#[test]
fn a_lake_in_s3_is_run_verified_reported_priced_and_served_from_any_machine() {
    let coast = Coast::new("complete");
    let summary = coast.run("one").finish().complete();
    assert_eq!(summary["snapshot"], 1, "{summary}");
    coast.assert_complete("two");
    let status = coast.command("two", &["status", "--json"]).finish().exits(0).json();
    assert_eq!(status["rows"]["filings"], summary["rows"]["filings"]["total"], "{status}");
    assert_eq!(status["runs"][0]["run_id"], summary["run_id"], "{status}");
    // The report of the run is in the store; another machine writes it again.
    coast.command("three", &["report"]).finish().exits(0);
    let again = coast.run("three").finish().exits(0).json();
    assert_eq!((&again["outcome"], &again["snapshot"]), (&"unchanged".into(), &1.into()), "{again}");
    let price = coast.run_plan("four");
    let filings = &price["stages"][2];
    assert_eq!(
        (&filings["name"], &filings["requests"]),
        (&"filings".into(), &0.into()),
        "it knows what the lake has: {price}"
    );
    let (mut served, key) = coast.serve("five");
    let address = served.address().expect("an address");
    let authorization = format!("Bearer {key}");
    let stats = http::send(address, "GET", "/v1/fl/stats", &[("Authorization", &authorization)]);
    let stats = stats.expect("an answer").json();
    let listed = lake::filings(&coast.source.lake)
        .values()
        .filter(|row| row["listed"].as_deref() == Some("true"))
        .count();
    assert_eq!(stats["data"]["businesses_total"], listed, "{stats}");
    served.terminate();
    served.finish().exits(0).says("requests are counted on this machine only; --usage FILE");
}

impl Coast {
    fn run_plan(&self, machine: &str) -> Value {
        let plan = self.command(machine, &["plan", "--json"]).args([&self.pipeline]).asking(
            &self.proxy.url(),
            self.source.today,
            &self.server.key,
        );
        plan.finish().exits(0).json()
    }

    /// A server on a machine, and a key of it.
    fn serve(&self, machine: &str) -> (Running, String) {
        let key = create_key(&self.scratch, "team", "enterprise", &["data"]);
        let keys = self.scratch.path("keys.toml");
        let serve =
            self.command(machine, &["serve", "--listen", "127.0.0.1:0", "--today", self.source.today]);
        (serve.args(["--keys".as_ref(), keys.as_os_str()]).start(), key)
    }
}

#[test]
fn of_two_machines_that_publish_at_once_both_survive_or_one_exits_with_8_and_no_row_is_lost() {
    let coast = Coast::new("race");
    coast.proxy.follow(|_| Reply::Hold);
    let runs = [coast.run("one").start(), coast.run("two").start()];
    coast.proxy.wait_for_requests(2);
    coast.proxy.follow(|_| Reply::Forward);
    coast.proxy.release();
    let ended: Vec<Finished> = runs.into_iter().map(Running::finish).collect();
    let codes: Vec<i64> = ended.iter().map(code).collect();
    let shown = || format!("{}{}", ended[0].shown(), ended[1].shown());
    assert!(codes.contains(&0) && codes.iter().all(|code| [0, 8].contains(code)), "{codes:?}{}", shown());
    coast.assert_complete("after the race");
    for ((machine, ended), code) in ["one", "two"].into_iter().zip(&ended).zip(&codes) {
        assert_eq!(*code == 8, ended.stderr.contains("run again"), "{}", ended.shown());
        let again = coast.run(machine).finish().exits(0).json();
        // The lists and the counts, which show that the lake has all rows.
        assert!(again["requests"]["sent"].as_u64() < Some(12), "{again}");
    }
    coast.assert_complete("after both");
}

fn code(ended: &Finished) -> i64 {
    ended.json()["exit_code"].as_i64().unwrap_or(-1)
}

/// Two machines bring different rows into one lake at the same moment, until both have brought theirs.
#[test]
fn machines_that_bring_different_rows_at_once_lose_none_of_them() {
    for (round, bucket) in ["rows-1", "rows-2", "rows-3"].into_iter().enumerate() {
        let coast = Coast::new(bucket);
        let pipelines = ["llc", "corporation"].map(|kind| {
            let text = format!(
                "name = \"{kind}\"\n[extract]\ntypes = [\"{kind}\"]\n[aggregates]\nenabled = false\n"
            );
            coast.scratch.file(&format!("{kind}.toml"), &text)
        });
        let run = |at: usize| coast.run_of(&pipelines[at], ["one", "two"][at]);
        let mut waiting = vec![0, 1];
        let mut lost_races = 0;
        while !waiting.is_empty() {
            let runs: Vec<(usize, Running)> = waiting.iter().map(|at| (*at, run(*at).start())).collect();
            waiting.clear();
            for (at, run) in runs {
                let ended = run.finish();
                match code(&ended) {
                    0 => {}
                    8 => waiting.push(at),
                    _ => panic!("round {round}{}", ended.shown()),
                }
            }
            lost_races += waiting.len();
            assert!(lost_races < 3, "one of two wins each time");
        }
        let mut expected = lake::filings(&coast.source.lake);
        expected
            .retain(|_, row| ["llc", "corporation"].contains(&row["entity_type"].as_deref().unwrap_or("")));
        lake::assert_same(&coast.filings("another"), &expected, bucket);
    }
}

#[test]
fn a_stopped_run_resumes_on_another_machine_and_asks_for_no_page_twice() {
    let coast = Coast::new("other");
    coast.proxy.hold_after(15);
    let first = coast.run("one").start();
    coast.proxy.wait_for_requests(16);
    first.terminate();
    coast.proxy.release();
    first.finish().exits(5);
    coast.proxy.follow(|_| Reply::Forward);
    let summary = coast.run("two").finish().complete();
    assert!(summary["requests"]["replayed"].as_u64() >= Some(14), "{summary}");
    let mut asked = coast.proxy.pages();
    let all = asked.len();
    asked.sort();
    asked.dedup();
    // The request that was under way when the signal came may have been broken off.
    assert!(all <= asked.len() + 1, "{all} requests for {} pages", asked.len());
    coast.assert_complete("three");
}

/// Requests that a dead machine takes with it, at most.
const MOST_LOST: usize = 25;

#[test]
fn a_machine_that_dies_loses_few_requests_however_small_its_pages_are() {
    let coast = Coast::under("dies", Plan { rows_per_call: 10, ..AGENCY });
    let deaths = ["one", "two"];
    for machine in deaths {
        // More than a chunk, so that each kill is at another place of one.
        let answered = 2 * MOST_LOST + 7;
        let before = coast.proxy.log().len();
        coast.proxy.hold_after(answered);
        let run = coast.run(machine).start();
        coast.proxy.wait_for_requests(before + answered + 1);
        run.kill();
        std::fs::remove_dir_all(coast.work(machine)).expect("a working copy");
        coast.proxy.follow(|_| Reply::Forward);
        coast.proxy.release();
    }
    let summary = coast.run("three").finish().complete();
    let asked = coast.proxy.targets();
    let again = asked.len() - asked.iter().collect::<BTreeSet<_>>().len();
    // The request that was under way is lost, too.
    assert!((1..=deaths.len() * (MOST_LOST + 1)).contains(&again), "{again} of {} asked again", asked.len());
    // Each machine that resumes the run has a folder of its own, with the chunks of those before it.
    let folder = format!("runs/{}/raw/", summary["run_id"].as_str().expect("an id"));
    let chunks = coast.bucket.names().iter().filter(|name| name.contains(&folder)).count();
    assert!(chunks <= asked.len().div_ceil(MOST_LOST) + 1, "{chunks} uploads for {} pages", asked.len());
    assert!(summary["requests"]["replayed"].as_u64() > Some(90), "{summary}");
    coast.assert_complete("four");
}

#[test]
fn a_store_that_cannot_be_reached_ends_a_command_with_9_and_one_line_without_a_secret() {
    let scratch = Scratch::new();
    let sample = shipped("sample.toml");
    for command in [&["status"][..], &["verify"], &["run", &sample.to_string_lossy()]] {
        let done = with_credentials(Sunlake::new(command))
            .args(["--lake", "s3://bucket/lakes/florida"])
            .env("SUNLAKE_WORK", &scratch.path("work").to_string_lossy())
            .env("AWS_ENDPOINT", "http://127.0.0.1:9")
            .finish()
            .exits(9)
            .says("s3://bucket/lakes/florida")
            .says("refused");
        let reported: Vec<&str> = done.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(reported.len(), 1, "{}", done.shown());
        assert!(!done.stderr.contains(&SECRET[..12]), "{}", done.shown());
        assert!(done.took < Duration::from_secs(60), "{}", done.shown());
    }
}

#[test]
fn a_wrong_address_is_a_wrong_setting() {
    for address in ["ftp://host/lake", "s3://", "s3://id:wJalrXUtnFEMIK7@bucket/lake"] {
        let done =
            Sunlake::new(["status", "--lake", address, "--work", "unused"]).finish().exits(3).says("address");
        assert!(!done.stderr.contains("wJalr"), "{}", done.shown());
    }
}
