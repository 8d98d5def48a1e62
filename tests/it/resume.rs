//! Kills, signals and spent budgets cost nothing: what came stays, what was asked is not asked again, and the lake ends up
//! as one undisturbed run leaves it.

use crate::support::command::{Running, Sunlake, sunlake};
use crate::support::dice::Dice;
use crate::support::lake::{self, Cells, files_below_if_there};
use crate::support::proxy::{Proxy, Reply, with_a_row_more};
use crate::support::scratch::Scratch;
use crate::support::server::{ApiServer, Plan, STARTER};
use crate::support::source::{self, Source, few_aggregates};
use crate::support::weather::Weather;
use crate::support::{PATIENCE, wait_for};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
        Self::reported(source::small(), SHORT, extra)
    }

    fn over(source: &'static Source, plan: Plan) -> Self {
        Self::reported(source, plan, "")
    }

    fn reported(source: &'static Source, plan: Plan, extra: &str) -> Self {
        let server = ApiServer::unhurried(source, plan);
        let proxy = Proxy::counting(server.address);
        let scratch = Scratch::new();
        let aggregates = few_aggregates();
        // A plan of no table, so that the run need not find it out.
        let plan = format!(
            "[plan]\nrows_per_call = {}\nmax_offset = {}\nwindow_days = {}\n",
            plan.rows_per_call, plan.max_offset, plan.window_days
        );
        let text = format!("name = \"backfill\"\n{extra}\n{plan}[aggregates]\nfolder = {aggregates:?}\n");
        let pipeline = scratch.file("backfill.toml", &text);
        Self { source, server, proxy, scratch, pipeline }
    }

    fn command(&self) -> Sunlake {
        self.command_into(&self.scratch.lake())
    }

    fn command_into(&self, lake: &Path) -> Sunlake {
        Sunlake::run(&self.pipeline, lake).asking(&self.proxy.url(), self.source.today, &self.server.key)
    }

    /// Starts a run and waits until `answered` of its requests have their answer and the next one waits for its own.
    fn run_until_blocked(&self, answered: usize) -> Running {
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
        story.run_until_blocked(answered).kill();
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

/// Kills runs of a story at random moments, most of them between two requests or while one is under way, and lets them end: into
/// as many lakes as the kills take. Each must be as an undisturbed run leaves it, for at most one request a kill more, and one.
fn kill_at_random(story: &Story, kills: usize, requests_between: u64) -> String {
    let lake = story.scratch.path("undisturbed");
    story.command_into(&lake).finish().complete();
    let targets = |from: usize, to: usize| -> Vec<String> {
        story.proxy.log()[from..to].iter().map(|request| request.target.clone()).collect()
    };
    let (undisturbed, expected) = (story.proxy.log().len(), lake::filings(&lake));
    let needed = counted(&targets(0, undisturbed));
    let mut dice = Dice::new(kills as u64);
    let (mut killed, mut lakes, mut all) = (0, 0, 0);
    while killed < kills {
        lakes += 1;
        assert!(lakes <= kills, "{killed} kills fell into {lakes} runs");
        let lake = story.scratch.path(&format!("killed-{lakes}"));
        let before = story.proxy.log().len();
        let (deaths, end) = kill_on_its_way(story, &lake, kills - killed, &mut || {
            (dice.below(requests_between) as usize, Duration::from_micros(dice.below(20_000)))
        });
        lake::assert_same(&lake::filings(&lake), &expected, "after the kills");
        verify(&lake);
        let asked = targets(before, end);
        assert!(
            asked.len() <= undisturbed + deaths + 1,
            "{deaths} kills: {} requests, {undisturbed} undisturbed; beyond them {:#?}",
            asked.len(),
            beyond(&asked, &needed)
        );
        killed += deaths;
        all += asked.len();
    }
    format!("{killed} kills in {lakes} runs: {all} requests, {undisturbed} a run undisturbed")
}

/// One run into a lake, killed at most so often, each time after some requests and a moment: how often it was killed, and how
/// many requests the proxy had seen when it was over.
fn kill_on_its_way(
    story: &Story,
    lake: &Path,
    kills: usize,
    moment: &mut dyn FnMut() -> (usize, Duration),
) -> (usize, usize) {
    let mut killed = 0;
    while killed < kills && !lake.join("current").exists() {
        let before = story.proxy.log().len();
        let (requests, pause) = moment();
        let mut run = story.command_into(lake).start();
        wait_for("a moment to kill at", PATIENCE, || {
            (story.proxy.log().len() >= before + requests || !run.is_running()).then_some(())
        });
        std::thread::sleep(pause);
        if run.is_running() {
            killed += 1;
            run.kill();
        } else {
            run.finish().exits(0);
        }
    }
    if !lake.join("current").exists() {
        story.command_into(lake).finish().exits(0);
    }
    (killed, story.proxy.log().len())
}

#[test]
fn kills_at_random_moments_cost_a_request_each_at_most() {
    println!("{}", kill_at_random(&Story::new(""), 8, 7));
}

#[test]
#[ignore = "200 kills, about two minutes"]
fn two_hundred_kills_at_random_moments_cost_a_request_each_at_most() {
    println!("{}", kill_at_random(&Story::over(source::large(), STARTER), 200, 9));
}

#[test]
fn a_killed_run_whose_day_has_left_the_window_is_given_up_and_todays_run_is_complete() {
    let weather = Weather::new(|request| if request.number <= 6 { Reply::Forward } else { Reply::Hold });
    let lines = "[plan]\nrows_per_call = 100\nmax_offset = 5000\nwindow_days = 3\n";
    let run = weather.command_of("2026-03-14", lines).start();
    weather.proxy.wait_for_requests(7);
    run.kill();
    weather.proxy.follow(|_| Reply::Forward);
    weather.proxy.release();
    let done = weather.command_of(weather.source.today, lines).finish();
    let summary = done.says("the run is given up").complete();
    assert_eq!(summary["finished_first"], Value::Null, "{summary}");
    let lake = weather.scratch.lake();
    let ended: Vec<Value> = lake::names(&lake.join("runs"))
        .iter()
        .map(|run| std::fs::read(lake.join("runs").join(run).join("run.json")).expect("a record"))
        .map(|record| serde_json::from_slice::<Value>(&record).expect("JSON")["finished"].clone())
        .collect();
    assert_eq!(ended, ["failed", "complete"], "{summary}");
    let mut listed = lake::filings(&weather.source.lake);
    listed.retain(|_, cells| cells["filed_date"].as_deref() >= Some("2026-03-18"));
    lake::assert_same(&lake::filings(&lake), &listed, "the days of today's window");
}

#[test]
fn a_resumed_run_compares_the_listings_whose_answers_it_has_from_before() {
    // A first run reads all days; a second one finds nothing new.
    for is_first in [true, false] {
        let weather = Weather::new(|_| Reply::Forward);
        if !is_first {
            weather.run("").complete();
        }
        let begin = weather.proxy.targets().len();
        // The second time that the totals are asked for is the comparison after all pages.
        let is_total = |target: &str| target == "/v1/fl/stats";
        let mut totals = 0;
        weather.proxy.follow(move |request| {
            totals += usize::from(is_total(&request.target));
            if totals < 2 { Reply::Forward } else { Reply::Hold }
        });
        let run = weather.command("").start();
        wait_for("the last check", PATIENCE, || {
            let asked = &weather.proxy.targets()[begin..];
            (asked.iter().filter(|target| is_total(target)).count() == 2).then_some(())
        });
        run.kill();
        let before = weather.proxy.targets().len();
        weather.proxy.follow(|request| match request.target.contains("type=fictitious&limit=1&") {
            true => Reply::Change(with_a_row_more),
            false => Reply::Forward,
        });
        weather.proxy.release();
        let summary = weather.run("").exits(5).json();
        assert!(summary["requests"]["replayed"].as_u64() > Some(5), "{summary}");
        let asked = weather.proxy.targets()[before..].join("\n");
        assert!(!asked.contains("filed_to=2026-03-20&limit=100&"), "no page is asked for again:\n{asked}");
        // The row that the total counts is on no page.
        let incomplete = summary["coverage"]["incomplete"].as_array().expect("days");
        assert!(!incomplete.is_empty(), "{summary}");
        assert!(incomplete.iter().all(|day| day["entity_type"] == "fictitious"), "{summary}");
    }
}

#[test]
fn a_slow_api_is_asked_ahead_and_answers_the_same_for_no_request_more() {
    let weather = Weather::new(|_| Reply::Forward);
    let (proxy, scratch) = (&weather.proxy, &weather.scratch);
    let quick = weather.run_into(&scratch.path("quick")).finish().complete();
    let before = proxy.log().len();
    let mut answered = 0;
    proxy.follow(move |_| {
        answered += 1;
        if answered <= 12 { Reply::Slow(Duration::from_millis(200)) } else { Reply::Hold }
    });
    let run = weather.run_into(&scratch.path("slow")).start();
    // Requests go out while none of those before them has an answer.
    proxy.wait_for_requests(before + 15);
    assert!(proxy.log().len() <= before + 12 + 8, "they are bounded");
    proxy.follow(|_| Reply::Slow(Duration::from_millis(200)));
    proxy.release();
    let slow = run.finish().complete();
    assert_eq!(slow["requests"], quick["requests"]);
    lake::assert_same(
        &lake::filings(&scratch.path("slow")),
        &lake::filings(&scratch.path("quick")),
        "asked ahead",
    );
}

#[test]
fn a_signal_while_pages_are_asked_ahead_loses_none_of_them() {
    let weather = Weather::new(|request| match request.number {
        1..=12 => Reply::Slow(Duration::from_millis(200)),
        _ => Reply::Hold,
    });
    let proxy = &weather.proxy;
    let run = weather.command("").start();
    proxy.wait_for_requests(15);
    run.terminate();
    proxy.follow(|_| Reply::Forward);
    proxy.release();
    run.finish().exits(5);
    weather.run("").complete();
    let distinct: std::collections::BTreeSet<String> = proxy.pages().into_iter().collect();
    assert_eq!(distinct.len(), proxy.pages().len(), "{:#?}", proxy.pages());
}

/// Something a run leaves on the disk, and how to see it.
type Milestone = (&'static str, fn(&Path) -> bool);

/// What a run leaves on the disk as it publishes, in that order.
const MILESTONES: [Milestone; 5] = [
    ("the first aggregate", |lake| lake_holds(&lake.join("runs"), "/aggregates/agg_")),
    ("the last aggregate", |lake| lake_holds(&lake.join("runs"), "/aggregates/agg_type_month")),
    ("files of the snapshot", |lake| !files_below_if_there(&lake.join("snapshots")).is_empty()),
    ("the commit", |lake| lake.join("commits/000001.json").exists()),
    ("current", |lake| lake.join("current").exists()),
];

fn lake_holds(folder: &Path, name: &str) -> bool {
    files_below_if_there(folder).iter().any(|path| path.to_string_lossy().contains(name))
}

#[test]
fn a_kill_while_the_lake_is_published_leaves_the_old_or_the_new_snapshot_complete() {
    let story = Story::new("");
    let (_, expected) = story.undisturbed();
    let mut kills_before_the_commit = 0;
    for (what, is_reached) in MILESTONES {
        let lake = story.scratch.path(&what.replace(' ', "-"));
        let mut run = story.command_into(&lake).start();
        wait_for(what, PATIENCE, || (is_reached(&lake) || !run.is_running()).then_some(()));
        // On a busy machine a run may end before it is killed. The next one is then a run of its own.
        let has_ended = !run.is_running();
        run.kill();
        let is_committed = !lake::commits(&lake).is_empty();
        if lake.join("current").exists() {
            assert!(is_committed, "{what}: no snapshot is shown before it is committed");
            lake::assert_same(&lake::filings(&lake), &expected, what);
        }
        let before = story.proxy.pages().len();
        let summary = story.command_into(&lake).finish().exits(0).json();
        lake::assert_same(&lake::filings(&lake), &expected, what);
        verify(&lake);
        let asked = story.proxy.pages()[before..].to_vec();
        if !is_committed {
            kills_before_the_commit += 1;
            assert!(asked.is_empty(), "{what}: every page was archived, yet these were asked: {asked:#?}");
            assert_eq!(summary["outcome"], "complete", "{what}: {summary}");
        }
        let listings =
            asked.iter().filter(|target| target.contains("offset=") && !target.contains("limit=1&"));
        assert!(has_ended || listings.count() == 0, "{what}: {asked:#?}");
        assert_eq!(lake::commits(&lake).len(), 1, "{what}: the same snapshot is not published twice");
    }
    assert!(kills_before_the_commit > 0, "no kill fell before the commit");
}

fn verify(lake: &Path) {
    sunlake(lake, &["verify"]).exits(0);
}

#[test]
fn sigterm_ends_a_run_in_good_order_and_the_next_run_resumes() {
    let story = Story::new("");
    let (needed, expected) = story.undisturbed();
    let before = story.proxy.targets().len();
    let run = story.run_until_blocked(15);
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
    assert!(runs > 2, "{runs} runs");
    lake::assert_same(&lake::filings(&story.scratch.lake()), &expected, "after several budgets");
    let changes = lake::rows(&story.scratch.lake(), "changes", &["change"]);
    let appeared = changes.iter().filter(|row| row["change"].as_deref() == Some("appeared")).count();
    assert_eq!(appeared, 0, "the parts of a first backfill are no news");
    // In day ranges within its bound it asks otherwise, but nothing twice.
    let targets = story.proxy.pages();
    let once = needed.into_iter().chain(targets.iter().map(|target| (target.clone(), 1)));
    let mut allowed: BTreeMap<String, usize> = BTreeMap::new();
    once.for_each(|(target, times)| {
        let most = allowed.entry(target).or_default();
        *most = times.max(*most);
    });
    let again = beyond(&targets, &allowed);
    assert!(again.is_empty(), "asked again: {again:#?}");
}

/// Runs over one Starter account, 20 requests a minute.
struct OneAccount {
    server: ApiServer,
    proxy: Proxy,
    scratch: Scratch,
    pipeline: PathBuf,
}

impl OneAccount {
    fn new(extra: &str) -> Self {
        let server = ApiServer::strict(source::small(), STARTER);
        let proxy = Proxy::counting(server.address);
        let scratch = Scratch::new();
        let text = format!("name = \"p\"\n{extra}\n[aggregates]\nenabled = false\n");
        let pipeline = scratch.file("p.toml", &text);
        Self { server, proxy, scratch, pipeline }
    }

    fn run(&self, lake: &str) -> Running {
        Sunlake::run(&self.pipeline, &self.scratch.path(lake))
            .asking(&self.proxy.url(), source::small().today, &self.server.key)
            .start()
    }
}

#[test]
fn the_requests_of_a_killed_run_still_count_against_the_minute_whatever_the_lake() {
    for second in ["lake", "another-lake"] {
        let account = OneAccount::new("[budget]\nmax_minutes = 1");
        account.proxy.hold_after(12);
        let run = account.run("lake");
        account.proxy.wait_for_requests(13);
        run.kill();
        account.proxy.follow(|_| Reply::Forward);
        account.proxy.release();
        let run = account.run(second);
        // 20 a minute: 13 are spent, 7 more may go out, then the run waits for the minute.
        account.proxy.wait_for_requests(20);
        run.terminate();
        run.finish().exits(5);
        assert_eq!(account.proxy.log().len(), 20, "no request went out beyond the allowance");
        let refused = account.server.get("/v1/me");
        assert_eq!(refused.status, 429, "the server counted the same 20");
    }
}

#[test]
#[ignore = "three minutes and a half of a Starter account's pace"]
fn three_processes_use_the_minutes_of_an_account_and_no_more() {
    let account = OneAccount::new("");
    account.proxy.follow(|_| Reply::Slow(Duration::from_millis(300)));
    let runs = ["one", "two", "three"].map(|lake| account.run(lake));
    account.proxy.wait_for_requests_within(81, Duration::from_secs(260));
    runs.iter().for_each(Running::terminate);
    for run in runs {
        assert_eq!(run.finish().exits(5).json()["requests"]["retried"], 0, "nothing was refused");
    }
    let at: Vec<_> = account.proxy.log().iter().map(|request| request.at).collect();
    let three_minutes = at[60].duration_since(at[0]).as_secs_f64();
    println!("60 requests of 20 a minute took {three_minutes:.2} s");
    assert!(three_minutes <= 180.0 / 0.95, "{three_minutes:.1} s");
    let too_many = at.windows(21).filter(|some| some[20].duration_since(some[0]).as_secs_f64() < 60.0);
    assert_eq!(too_many.count(), 0, "a minute had more than 20");
}
