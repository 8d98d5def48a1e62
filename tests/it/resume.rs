//! Kills, signals and spent budgets cost nothing: what came stays, what was asked is not asked again, and the lake ends up
//! as one undisturbed run leaves it.

use crate::support::command::{Running, Sunlake, project};
use crate::support::lake::{self, Cells, files_below_if_there};
use crate::support::proxy::{Proxy, Reply};
use crate::support::scratch::Scratch;
use crate::support::server::{ApiServer, Plan, STARTER};
use crate::support::source::{self, Source};
use crate::support::{PATIENCE, wait_for};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A reach so short that the small source's days must be split.
const SHORT: Plan = Plan { max_offset: 100, ..STARTER };

/// A served source, a proxy before it, and a lake that runs are made into.
struct Story {
    source: &'static Source,
    server: ApiServer,
    proxy: Proxy,
    scratch: Scratch,
    pipeline: PathBuf,
}

impl Story {
    fn new(extra: &str) -> Self {
        let source = source::small();
        let server = ApiServer::generous(source, SHORT);
        let proxy = Proxy::counting(server.address);
        let scratch = Scratch::new();
        let aggregates = project().join("pipelines/aggregates");
        // A plan of no table, so that the run need not find it out.
        let plan = "[plan]\nrows_per_call = 50\nmax_offset = 100\nwindow_days = 30\n";
        let text = format!("name = \"backfill\"\n{extra}\n{plan}[aggregates]\nfolder = {aggregates:?}\n");
        let pipeline = scratch.file("backfill.toml", &text);
        Self { source, server, proxy, scratch, pipeline }
    }

    fn command(&self) -> Sunlake {
        self.command_into(&self.scratch.lake())
    }

    fn command_into(&self, lake: &Path) -> Sunlake {
        Sunlake::run(&self.pipeline, lake)
            .args(["--base-url", &self.proxy.url(), "--today", self.source.today])
            .env("SUNLAKE_API_KEY", &self.server.key)
    }

    /// Starts a run and waits until `answered` of its requests have their answer and the next one waits for its own.
    fn run_until_held(&self, answered: usize) -> Running {
        let before = self.proxy.log().len();
        self.proxy.hold_after(answered);
        let run = self.command().start();
        self.proxy.wait_for_requests(before + answered + 1);
        run
    }

    /// Lets everything pass again.
    fn open(&self) {
        self.proxy.follow(|_| Reply::Forward);
        self.proxy.release();
    }

    /// What an undisturbed run asks and lands.
    fn undisturbed(&self) -> (BTreeMap<String, usize>, BTreeMap<i64, Cells>) {
        let lake = self.scratch.path("undisturbed");
        let before = self.proxy.targets().len();
        self.command_into(&lake).finish().complete();
        (counted(&self.proxy.targets()[before..]), lake::filings(&lake))
    }
}

fn counted(targets: &[String]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for target in targets {
        *counts.entry(target.clone()).or_default() += 1;
    }
    counts
}

/// Requests beyond those of an undisturbed run.
fn beyond(asked: &[String], undisturbed: &BTreeMap<String, usize>) -> Vec<String> {
    let asked = counted(asked);
    let more = |(target, times): (&String, &usize)| {
        let needed = undisturbed.get(target).copied().unwrap_or(0);
        times.checked_sub(needed).filter(|more| *more > 0).map(|more| format!("{more} × {target}"))
    };
    asked.iter().filter_map(more).collect()
}

#[test]
fn two_runs_over_the_same_records_ask_the_same_in_the_same_order() {
    // What a resumed run asks is answered from the archive only where this holds.
    let story = Story::new("");
    let mut asked = Vec::new();
    for lake in ["one", "other"] {
        let before = story.proxy.targets().len();
        story.command_into(&story.scratch.path(lake)).finish().complete();
        asked.push(story.proxy.targets()[before..].to_vec());
    }
    let differs = asked[0].iter().zip(&asked[1]).position(|(one, other)| one != other);
    let at = differs.map(|at| (&asked[0][at], &asked[1][at]));
    assert!(asked[0] == asked[1], "{} and {} requests; {differs:?}: {at:?}", asked[0].len(), asked[1].len());
}

#[test]
fn a_run_killed_again_and_again_leaves_the_same_lake_and_asks_no_page_twice() {
    let story = Story::new("");
    let (needed, expected) = story.undisturbed();
    let total: usize = needed.values().sum();
    assert!(total > 31, "{total} requests are too few to be killed among");
    let before = story.proxy.targets().len();
    let kills = [1, 4, 3, 9, 2, 12];
    for answered in kills {
        story.run_until_held(answered).kill();
        story.open();
        let published = lake::commits(&story.scratch.lake());
        assert!(published.is_empty(), "nothing is published by a run that was killed while reading");
    }
    let summary = story.command().finish().complete();
    lake::assert_same(&lake::filings(&story.scratch.lake()), &expected, "after the kills");
    let asked = story.proxy.targets()[before..].to_vec();
    let again = beyond(&asked, &needed);
    assert!(again.len() <= kills.len(), "asked again beyond the ones in flight: {again:#?}");
    assert!(asked.len() <= total + kills.len(), "{} asked, {total} needed", asked.len());
    assert!(summary["requests"]["replayed"].as_u64() > Some(10), "{summary}");
    assert_eq!(lake::names(&story.scratch.lake().join("runs")).len(), 1, "it is one run all along");
}

/// Something a run leaves on the disk, and how to see it.
type Milestone = (&'static str, fn(&Path) -> bool);

/// What a run leaves on the disk as it publishes, in that order.
const MILESTONES: [Milestone; 5] = [
    ("the first aggregate", |lake| lake_holds(&lake.join("runs"), "/aggregates/agg_")),
    ("the last aggregate", |lake| lake_holds(&lake.join("runs"), "/aggregates/agg_zip3_month")),
    ("files of the snapshot", |lake| !files_below_if_there(&lake.join("snapshots")).is_empty()),
    ("the commit", |lake| lake.join("commits/000001.json").exists()),
    ("current", |lake| lake.join("current").exists()),
];

fn lake_holds(folder: &Path, name: &str) -> bool {
    files_below_if_there(folder).iter().any(|path| path.to_string_lossy().contains(name))
}

#[test]
fn a_kill_while_the_lake_is_published_leaves_the_old_snapshot_or_the_new_one_whole() {
    let story = Story::new("");
    let (_, expected) = story.undisturbed();
    let mut kills_before_the_commit = 0;
    for (what, is_reached) in MILESTONES {
        let lake = story.scratch.path(&what.replace(' ', "-"));
        let mut run = story.command_into(&lake).start();
        wait_for(what, PATIENCE, || (is_reached(&lake) || !run.is_running()).then_some(()));
        run.kill();
        let is_committed = !lake::commits(&lake).is_empty();
        if lake.join("current").exists() {
            assert!(is_committed, "{what}: no snapshot is shown before it is committed");
            lake::assert_same(&lake::filings(&lake), &expected, what);
        }
        let before = story.proxy.targets().len();
        let summary = story.command_into(&lake).finish().exits(0).json();
        lake::assert_same(&lake::filings(&lake), &expected, what);
        verify(&lake);
        let asked = story.proxy.targets()[before..].to_vec();
        if !is_committed {
            kills_before_the_commit += 1;
            assert!(asked.is_empty(), "{what}: every page was archived, yet these were asked: {asked:#?}");
            assert_eq!(summary["outcome"], "complete", "{what}: {summary}");
        }
        let listings =
            asked.iter().filter(|target| target.contains("offset=") && !target.contains("limit=1&"));
        assert_eq!(listings.count(), 0, "{what}: {asked:#?}");
        assert_eq!(lake::commits(&lake).len(), 1, "{what}: the same snapshot is not published twice");
    }
    assert!(kills_before_the_commit > 0, "no kill fell before the commit");
}

fn verify(lake: &Path) {
    Sunlake::new(["verify".as_ref(), "--lake".as_ref(), lake.as_os_str()]).finish().exits(0);
}

#[test]
fn sigterm_ends_a_run_in_good_order_and_the_next_run_goes_on_from_there() {
    let story = Story::new("");
    let (needed, expected) = story.undisturbed();
    let before = story.proxy.targets().len();
    let run = story.run_until_held(15);
    run.terminate();
    // The request under way gets its answer.
    story.open();
    let stopped = run.finish().exits(5);
    let summary = stopped.json();
    assert_eq!(
        (&summary["outcome"], &summary["exit_code"]),
        (&"partial".into(), &5.into()),
        "{}",
        stopped.shown()
    );
    assert!(summary["requests"]["sent"].as_u64() <= Some(17), "it asks no more after the signal: {summary}");
    story.command().finish().complete();
    lake::assert_same(&lake::filings(&story.scratch.lake()), &expected, "after the signal");
    let again = beyond(&story.proxy.targets()[before..], &needed);
    assert!(again.len() <= 1, "{again:#?}");
}

#[test]
fn sigterm_while_a_retry_is_waited_for_ends_the_run_at_once() {
    let story = Story::new("");
    story.proxy.follow(|request| match request.number {
        1..=5 => Reply::Forward,
        _ => Reply::error(429, vec![("Retry-After", "60".to_owned())]),
    });
    let run = story.command().start();
    story.proxy.wait_for_requests(6);
    run.terminate();
    let stopped = run.finish().exits(5);
    assert!(stopped.took.as_secs() < 20, "it does not wait the minute out{}", stopped.shown());
}

#[test]
fn max_requests_ends_a_run_in_good_order_and_further_runs_finish_it() {
    let story = Story::new("[budget]\nmax_requests = 12");
    let whole = Story::new("");
    let (needed, expected) = whole.undisturbed();
    let mut last = Value::Null;
    let mut runs = 0;
    while last["outcome"] != "complete" {
        runs += 1;
        assert!(runs < 40, "still not complete: {last}");
        let before = story.proxy.log().len();
        let done = story.command().finish();
        last = done.json();
        let sent = story.proxy.log().len() - before;
        assert!(sent <= 12, "{sent} requests{}", done.shown());
        assert_eq!(last["requests"]["sent"], sent, "{}", done.shown());
        match last["outcome"].as_str() {
            Some("complete") => drop(done.exits(0)),
            _ => drop(done.exits(5)),
        }
    }
    assert!(runs > 3, "{runs} runs");
    lake::assert_same(&lake::filings(&story.scratch.lake()), &expected, "after several budgets");
    let again = beyond(&story.proxy.targets(), &needed);
    assert!(again.is_empty(), "asked again: {again:#?}");
}

#[test]
fn the_requests_of_a_killed_run_still_count_against_the_minute() {
    let source = source::small();
    let server = ApiServer::strict(source, STARTER);
    let proxy = Proxy::counting(server.address);
    let scratch = Scratch::new();
    let pipeline =
        scratch.file("p.toml", "name = \"p\"\n[budget]\nmax_minutes = 1\n[aggregates]\nenabled = false\n");
    let command = || {
        Sunlake::run(&pipeline, &scratch.lake())
            .args(["--base-url", &proxy.url(), "--today", source.today])
            .env("SUNLAKE_API_KEY", &server.key)
    };
    proxy.hold_after(12);
    let run = command().start();
    proxy.wait_for_requests(13);
    run.kill();
    proxy.follow(|_| Reply::Forward);
    proxy.release();
    let run = command().start();
    // 20 a minute: 13 are spent, 7 more may go out, then the run waits for the minute.
    proxy.wait_for_requests(20);
    run.terminate();
    run.finish().exits(5);
    assert_eq!(proxy.log().len(), 20, "no request went out beyond the allowance");
    let refused = server.get("/v1/me");
    assert_eq!(refused.status, 429, "the server counted the same 20");
}
