//! A round: runs on one morning after another while rows change, and then calm mornings.

use super::claims::{Claims, DayListing, Finding, Verdict};
use super::report::Report;
use super::world::World;
use crate::support::changing_api::ChangingApi;
use crate::support::command::{Finished, Sunlake};
use crate::support::dice::Dice;
use crate::support::listings::Listings;
use crate::support::scratch::Scratch;
use crate::support::server::ApiServer;
use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::Value;
use std::collections::BTreeMap;

/// Faults for each answer of a listing, in a round with faults.
const FAULTS: f64 = 0.01;
/// Runs of one morning while a budget ends them early.
const RUNS_OF_A_BUDGET: usize = 3;
/// Runs are killed after this many requests. A register has at most 150 pages, but where every page of two rows changes one, a run
/// chases rows for as long as it lasts.
const MOST_REQUESTS: usize = 3_000;
/// By this age every day has been read again twice, on the first runs after 14 and after 30 days.
const SETTLED: i64 = 30;
/// Weeks until every day that has been seen in the round is that old.
const WEEKS: usize = 7;

/// A round in the making.
struct Round<'a> {
    world: &'a World,
    api: ChangingApi,
    key: &'a str,
    scratch: Scratch,
    today: Date,
    has_faults: bool,
    /// The snapshot that was compared last.
    snapshot: i64,
    /// Since when days have had the right number of rows, but not the right rows.
    hidden: BTreeMap<DayListing, Date>,
    report: Report,
}

/// Runs a lake through the mornings of a seed's world; `server` has the lists that do not change.
pub(crate) fn soak(server: &ApiServer, seed: u64, drift: f64, has_kills: bool, has_faults: bool) -> Report {
    let world = World::of(seed);
    let listings = Listings::new(world.today, world.plan);
    let api = ChangingApi::start(server, listings, world.filings.clone(), !seed);
    let mut round = Round {
        world: &world,
        api,
        key: &server.key,
        scratch: Scratch::new(),
        today: world.today,
        has_faults,
        snapshot: 0,
        hidden: BTreeMap::new(),
        report: Report::new(seed, drift),
    };
    round.report.world = format!("{world}, kills {has_kills}, faults {has_faults}");
    round.changing_mornings(drift, has_kills);
    round.calm_mornings();
    round.settle();
    round.report.requests = round.api.state().requests;
    round.report
}

impl Round<'_> {
    fn changing_mornings(&mut self, drift: f64, has_kills: bool) {
        let mut dice = Dice::new(self.report.seed ^ 0x5EED);
        {
            let mut api = self.api.state();
            api.drift = drift;
            api.faults = if self.has_faults { FAULTS } else { 0.0 };
        }
        for morning in 0..self.world.mornings {
            if morning > 0 {
                self.advance(1);
            }
            for _ in 0..if has_kills { dice.below(3) } else { 0 } {
                self.run_until(self.world.budget, 3 + dice.below(2 * self.world.pages) as usize);
            }
            for _ in 0..RUNS_OF_A_BUDGET {
                let code = self.run(self.world.budget);
                if code != Some(5) || self.world.budget.is_none() {
                    break;
                }
            }
        }
    }

    /// Two mornings without changes during the runs; after them every number is right.
    fn calm_mornings(&mut self) {
        {
            let mut api = self.api.state();
            (api.drift, api.faults) = (0.0, 0.0);
        }
        self.has_faults = false;
        self.report.is_calm = true;
        for _ in 0..2 {
            self.advance(1);
            self.run(None);
        }
        self.report.hidden_after_two = self.hidden.len();
        self.report.incomplete = self.incomplete();
    }

    /// Weeks without changes, until the days with wrong rows have been read again because of their age.
    fn settle(&mut self) {
        for _ in 0..WEEKS {
            if self.hidden.is_empty() {
                return;
            }
            self.advance(7);
            if self.run(None).is_none() {
                return;
            }
        }
        for (of, since) in std::mem::take(&mut self.hidden) {
            if (since - of.day).get_days() < SETTLED as i32 {
                self.fail(&format!("{of}: the rows of {since} are still wrong on {}", self.today));
            }
            self.report.never += 1;
        }
    }

    fn advance(&mut self, days: i64) {
        self.today += days.days();
        self.api.state().advance(self.today);
    }

    /// A run to its end, and its exit code; none when it was killed.
    fn run(&mut self, budget: Option<u64>) -> Option<i64> {
        let code = self.run_until(budget, MOST_REQUESTS);
        self.report.cut_off += usize::from(code.is_none());
        code
    }

    /// A run that is killed at a request; its exit code when it ended before.
    fn run_until(&mut self, budget: Option<u64>, most: usize) -> Option<i64> {
        let before = self.api.state().requests;
        let pipeline = self.scratch.file("soak.toml", &self.pipeline(budget));
        let run = Sunlake::run(&pipeline, &self.scratch.lake())
            .args(["--no-progress"])
            .asking(&self.api.proxy.url(), &self.today.to_string(), self.key)
            .start();
        {
            let mut api = self.api.state();
            api.log.clear();
            (api.process, api.kill_at) = (Some(run.id()), Some(before + most));
        }
        let done = run.finish();
        let was_killed = {
            let mut api = self.api.state();
            api.process = None;
            api.kill_at.take().is_none()
        };
        let used = self.api.state().requests - before;
        if was_killed {
            self.report.runs.push(format!("{}, killed after {used} requests", self.today));
            return None;
        }
        Some(self.ended(&done, used))
    }

    fn ended(&mut self, done: &Finished, used: usize) -> i64 {
        let summary: Value = done.stdout.trim().parse().unwrap_or_default();
        let code = summary["exit_code"].as_i64().unwrap_or(-1);
        let how = if self.report.is_calm { "calm, " } else { "" };
        self.report.runs.push(format!("{}, {how}exit {code} after {used} requests", self.today));
        if !(code == 0 || code == 5 || code == 6 && self.has_faults) {
            self.fail(&format!("a run failed{}", done.shown()));
        }
        let snapshot = summary["snapshot"].as_i64().unwrap_or(0);
        if code == 0 || snapshot > self.snapshot {
            self.snapshot = snapshot;
            self.compare(code);
        }
        code
    }

    fn pipeline(&self, budget: Option<u64>) -> String {
        let mut text = "name = \"soak\"\n[extract]\ndays = \"window\"\n\
                        [aggregates]\nenabled = false\n[report]\nenabled = false\n\
                        [checks]\nvanished = \"tell\"\ndrop = \"tell\"\n"
            .to_owned();
        let plan = self.world.plan;
        if self.world.is_plan_given {
            text.push_str(&format!(
                "[plan]\nrows_per_call = {}\nmax_offset = {}\nwindow_days = {}\n",
                plan.rows_per_call, plan.max_offset, plan.window_days
            ));
        }
        if let Some(requests) = budget {
            text.push_str(&format!("[budget]\nmax_requests = {requests}\n"));
        }
        text
    }

    /// The days of the window, each with both listings.
    fn wanted(&self) -> Vec<DayListing> {
        let oldest = self.api.state().listings.oldest_day();
        let days = oldest.series(1.day()).take_while(|day| *day <= self.today);
        days.flat_map(|day| [false, true].map(|is_fictitious| DayListing { day, is_fictitious })).collect()
    }

    fn incomplete(&self) -> usize {
        let claims = Claims::of(&self.scratch.lake());
        self.wanted().iter().filter(|of| claims.is_complete.get(of) != Some(&true)).count()
    }

    /// Compares the days that the lake calls complete with what the API lists now.
    fn compare(&mut self, code: i64) {
        let claims = Claims::of(&self.scratch.lake());
        let wanted = self.wanted();
        let (complete, others): (Vec<DayListing>, Vec<DayListing>) =
            wanted.iter().partition(|of| claims.is_complete.get(of) == Some(&true));
        if let (Some(of), 0) = (others.first(), code) {
            self.fail(&format!("{of}: not complete, and the exit code is 0"));
        }
        let api = self.api.state();
        let findings: Vec<Finding> = complete.iter().map(|of| claims.judge(*of, &api)).collect();
        let failed: Vec<String> = findings
            .iter()
            .filter(|finding| self.is_failure(finding, code))
            .map(|finding| finding.explained(&api))
            .collect();
        drop(api);
        for failure in &failed {
            self.fail(failure);
        }
        self.report.count(&findings);
        self.follow_hidden(&findings);
    }

    /// While nothing changes during runs, every number is to be right. A run that ends the day before has not seen this morning.
    fn is_failure(&self, finding: &Finding, code: i64) -> bool {
        let is_wrong = finding.verdict == Verdict::Wrong;
        is_wrong || self.report.is_calm && code == 0 && !finding.has_same_number()
    }

    /// Notes since when days are hidden, and how long it took until they were not.
    fn follow_hidden(&mut self, findings: &[Finding]) {
        let hidden: Vec<DayListing> = findings
            .iter()
            .filter(|finding| finding.verdict == Verdict::Hidden)
            .map(|finding| finding.of)
            .collect();
        let oldest = self.api.state().listings.oldest_day();
        for (of, since) in std::mem::take(&mut self.hidden) {
            match () {
                () if of.day < oldest => self.report.left_window += 1,
                () if hidden.contains(&of) => drop(self.hidden.insert(of, since)),
                () => self.report.delays.push((self.today - since).get_days().into()),
            }
        }
        for of in hidden {
            self.hidden.entry(of).or_insert(self.today);
        }
    }

    fn fail(&mut self, what: &str) {
        let run = self.report.runs.len();
        let last = self.report.runs.last().cloned().unwrap_or_default();
        self.report.failures.push(format!("run {run} ({last}): {what}"));
        self.report.keep_log(run, &self.api.state().log);
    }
}
