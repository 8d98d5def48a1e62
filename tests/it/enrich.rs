//! Details and officers: chosen by a condition, asked for once, within a budget.

use crate::support::command::Sunlake;
use crate::support::lake::{self, Cells};
use crate::support::proxy::{Proxy, Reply, Request};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source::{self, sample_pipeline};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

const DAYS: u32 = 10;
const SCALE: f64 = 0.03;
const TODAY: &str = "2026-03-20";
const CHOICE: &str = "county = 'Orange' AND entity_type = 'llc' AND listed";

struct Story {
    scratch: Scratch,
}

impl Story {
    /// A lake with the days of a sample.
    fn new() -> Self {
        let story = Self { scratch: Scratch::new() };
        let days = story.scratch.file("days.toml", &sample_pipeline(DAYS, SCALE));
        story.run(&days).finish().complete();
        story
    }

    fn run(&self, pipeline: &Path) -> Sunlake {
        Sunlake::run(pipeline, &self.scratch.lake()).args(["--today", TODAY])
    }

    fn pipeline(&self, condition: &str, rest: &str) -> PathBuf {
        let text = sample_pipeline(DAYS, SCALE).replace("\"sample\"", "\"enrich\"");
        self.scratch.file("enrich.toml", &format!("{text}[enrich]\nwhere = \"{condition}\"\n{rest}\n"))
    }

    /// Ids of the filings that the condition of the tests chooses.
    fn chosen(&self) -> BTreeSet<i64> {
        let filings = lake::filings(&self.scratch.lake()).into_iter();
        let chosen = filings.filter(|(_, cells)| {
            let is = |column: &str, text: &str| cells[column].as_deref() == Some(text);
            is("county", "Orange") && is("entity_type", "llc") && is("listed", "true")
        });
        chosen.map(|(id, _)| id).collect()
    }

    fn detailed(&self) -> BTreeSet<i64> {
        let ids = lake::integers(&self.scratch.lake(), "details", "business_id");
        let distinct: BTreeSet<i64> = ids.iter().copied().collect();
        assert_eq!(ids.len(), distinct.len(), "one row a business");
        distinct
    }
}

fn sent(summary: &Value) -> u64 {
    summary["requests"]["sent"].as_u64().expect("a number")
}

#[test]
fn chosen_businesses_are_looked_up_once_with_their_officers() {
    let story = Story::new();
    let chosen = story.chosen();
    assert!(chosen.len() >= 20, "{} chosen", chosen.len());
    let pipeline = story.pipeline(CHOICE, "");
    let filings = lake::filings(&story.scratch.lake());
    let summary = story.run(&pipeline).finish().complete();
    assert_eq!(story.detailed(), chosen);
    assert_eq!(summary["enrich"]["looked_up"], chosen.len(), "{summary}");
    assert_eq!((&summary["enrich"]["left"], &summary["enrich"]["unknown"]), (&0.into(), &0.into()));
    let details = lake::rows(&story.scratch.lake(), "details", &[]);
    let officers = lake::integers(&story.scratch.lake(), "officers", "business_id");
    for cells in &details {
        let number = |column: &str| cells[column].as_deref().and_then(|text| text.parse::<i64>().ok());
        let named = officers.iter().filter(|id| Some(**id) == number("business_id")).count() as i64;
        assert_eq!(Some(named), number("officer_count").map(|count| count.min(25)), "{cells:?}");
    }
    let with_officers = officers.iter().collect::<BTreeSet<_>>().len() as u64;
    assert_eq!(sent(&summary), 1 + chosen.len() as u64 + with_officers, "{summary}");
    lake::assert_same(
        &lake::filings(&story.scratch.lake()),
        &filings,
        "a look-up of what is known changes nothing",
    );
    let again = story.run(&pipeline).finish().exits(0).json();
    assert_eq!((&again["outcome"], sent(&again)), (&"unchanged".into(), 1), "{again}");
}

#[test]
fn budgets_and_limits_end_a_run_in_good_order_and_no_business_is_asked_for_twice() {
    let story = Story::new();
    let chosen = story.chosen().len() as u64;
    let bounded = story.pipeline(CHOICE, "[budget]\nmax_requests = 17");
    let stopped = story.run(&bounded).finish().exits(5).json();
    let first = story.detailed();
    assert!(!first.is_empty() && (first.len() as u64) < chosen, "{stopped}");
    let newest: BTreeSet<i64> = story.chosen().into_iter().rev().take(first.len()).collect();
    let days = |ids: &BTreeSet<i64>| -> Option<String> {
        let filings = lake::filings(&story.scratch.lake());
        ids.iter().map(|id| filings[id]["filed_date"].clone().unwrap_or_default()).min()
    };
    assert!(days(&first) >= days(&newest), "newest filings first");
    let mut all = sent(&stopped);
    let mut runs = 1;
    loop {
        runs += 1;
        assert!(runs < 20, "it never ends");
        let summary = story.run(&bounded).finish().json();
        all += sent(&summary);
        if summary["outcome"] == "complete" {
            break;
        }
    }
    assert_eq!(story.detailed(), story.chosen());
    assert!(all <= 2 * chosen + 2 * runs, "{all} requests in {runs} runs for {chosen} businesses");
    let limited = story.pipeline("county = 'Duval'", "limit = 3");
    let before = story.detailed().len();
    let summary = story.run(&limited).finish().complete();
    assert_eq!((story.detailed().len(), &summary["enrich"]["chosen"]), (before + 3, &3.into()));
}

#[test]
fn a_business_the_api_does_not_know_is_remembered() {
    let scratch = Scratch::new();
    let text = |name: &str, rest: &str| {
        format!(
            "name = \"{name}\"\n[source]\nembedded = true\n[source.sample]\ndays = 3\nscale = 0.01\nregister = 400\n\
             per_minute = 1000000\nper_day = 1000000\nper_month = 1000000\n\
             [aggregates]\nenabled = false\n{rest}\n"
        )
    };
    // The embedded API has no details of the thirty years before its days.
    let some = "[registry]\nfictitious = false\n[budget]\nmax_requests = 100";
    let registry = scratch.file("registry.toml", &text("registry", some));
    let enrich = scratch
        .file("enrich.toml", &text("enrich", "[enrich]\nwhere = \"filed_date < '2020-01-01'\"\nlimit = 40"));
    let run = |pipeline: &Path, code| {
        Sunlake::run(pipeline, &scratch.lake()).args(["--today", TODAY]).finish().exits(code).json()
    };
    // The most usual prefixes are enough.
    run(&registry, 5);
    let summary = run(&enrich, 0);
    assert_eq!(
        (&summary["enrich"]["looked_up"], &summary["enrich"]["unknown"]),
        (&40.into(), &40.into()),
        "{summary}"
    );
    let asked = lake::commits(&scratch.lake()).pop().expect("a commit")["state"]["enrich"]["without"].clone();
    assert_eq!(asked.as_object().map(|ids| ids.len()), Some(40));
    run(&enrich, 0);
    let asked = lake::commits(&scratch.lake()).pop().expect("a commit")["state"]["enrich"]["without"].clone();
    assert_eq!(asked.as_object().map(|ids| ids.len()), Some(80), "the next forty, not the same again");
}

/// A lake with the days of an API that has details, and runs that look businesses up through a proxy.
struct Detailed {
    server: ApiServer,
    proxy: Proxy,
    scratch: Scratch,
}

impl Detailed {
    fn new() -> Self {
        let server = ApiServer::detailed(AGENCY);
        let story = Self { proxy: Proxy::counting(server.address), server, scratch: Scratch::new() };
        let days = "name = \"days\"\n[extract]\ndays = 14\n[aggregates]\nenabled = false\n";
        story
            .asking(Sunlake::run(&story.scratch.file("days.toml", days), &story.scratch.lake()))
            .finish()
            .exits(0);
        story
    }

    fn asking(&self, command: Sunlake) -> Sunlake {
        self.asking_on(command, source::small().today)
    }

    fn asking_on(&self, command: Sunlake, today: &str) -> Sunlake {
        command.asking(&self.proxy.url(), today, &self.server.key)
    }

    fn pipeline(&self, lines: &str) -> PathBuf {
        let text = format!(
            "name = \"enrich\"\n[enrich]\nwhere = \"listed AND county = 'Orange'\"\n{lines}\n[aggregates]\nenabled = false\n"
        );
        self.scratch.file("enrich.toml", &text)
    }

    /// A run on a day; what it ended with, and the targets that it asked for.
    fn run_on(&self, today: &str, lines: &str, code: i32) -> (Value, Vec<String>) {
        let before = self.proxy.targets().len();
        let run = Sunlake::run(&self.pipeline(lines), &self.scratch.lake());
        let summary = self.asking_on(run, today).finish().exits(code).json();
        (summary, self.proxy.targets().split_off(before))
    }

    fn run(&self, lines: &str, code: i32) -> (Value, Vec<String>) {
        self.run_on(source::small().today, lines, code)
    }

    /// Requests of the stages of details and officers, as `plan` estimates them.
    fn planned(&self, lines: &str) -> (Value, Value) {
        let plan = Sunlake::on(&self.scratch.lake(), ["plan", "--json"]).args([self.pipeline(lines)]);
        let price = self.asking(plan.env("SUNLAKE_STATE", &self.scratch.path("state").to_string_lossy()));
        let price = price.finish().exits(0).json();
        let stage = |at: usize| price["stages"][at]["requests"].clone();
        (stage(1), stage(2))
    }

    fn rows(&self, table: &str) -> BTreeSet<Cells> {
        lake::rows(&self.scratch.lake(), table, &["fetched_at"]).into_iter().collect()
    }
}

fn is_of_officers(target: &str) -> bool {
    target.ends_with("/officers")
}

fn enrich_of(summary: &Value) -> (&Value, &Value, &Value, &Value) {
    let of = |key: &str| &summary["enrich"][key];
    (of("chosen"), of("looked_up"), of("quarantined"), of("left"))
}

/// A detail record without its year.
fn spoil_detail(body: String) -> String {
    body.replace("\"last_annual_report_year\":", "\"last_annual_report_year\":null,\"x\":")
}

/// A list of officers whose first has no title.
fn spoil_officers(body: String) -> String {
    body.replacen("\"title\":", "\"title\":null,\"x\":", 1)
}

/// Answers in which these targets come spoiled, the first `times` of each.
fn spoiling(
    targets: Vec<String>,
    times: usize,
    spoil: fn(String) -> String,
) -> impl FnMut(&Request) -> Reply + Send + 'static {
    let mut spoiled: BTreeMap<String, usize> = BTreeMap::new();
    move |request| {
        if !targets.contains(&request.target) {
            return Reply::Forward;
        }
        let before = spoiled.entry(request.target.clone()).or_default();
        *before += 1;
        if *before <= times { Reply::Change(spoil) } else { Reply::Forward }
    }
}

#[test]
fn a_detail_that_came_spoiled_is_asked_for_again_by_the_next_run_and_by_no_other() {
    let calm = Detailed::new();
    let (whole, targets) = calm.run("", 0);
    let spoiled: Vec<String> =
        targets.iter().filter(|target| !is_of_officers(target)).step_by(7).cloned().collect();
    assert!(spoiled.len() >= 3, "{targets:?}");
    let story = Detailed::new();
    story.proxy.follow(spoiling(spoiled.clone(), 1, spoil_detail));
    let (first, _) = story.run("", 5);
    let left = spoiled.len();
    let chosen = whole["enrich"]["chosen"].as_u64().expect("a number") as usize;
    assert_eq!(first["outcome"], "partial", "{first}");
    let counts = [chosen, chosen - left, left, left].map(Value::from);
    assert_eq!(enrich_of(&first), (&counts[0], &counts[1], &counts[2], &counts[3]), "{first}");
    assert_eq!(story.planned(""), (left.into(), left.into()), "they are estimated");
    let (second, asked) = story.run("", 0);
    assert_eq!(second["outcome"], "complete", "{second}");
    let details: Vec<&String> = asked.iter().filter(|target| !is_of_officers(target)).collect();
    assert_eq!(details, spoiled.iter().collect::<Vec<_>>(), "{asked:?}");
    assert!(asked.iter().all(|target| spoiled.iter().any(|spoiled| target.starts_with(spoiled))));
    for table in ["details", "officers"] {
        assert!(!calm.rows(table).is_empty() && story.rows(table) == calm.rows(table), "{table}");
    }
    let all: Vec<String> = story.proxy.targets();
    let officers = |targets: &[String]| targets.iter().filter(|target| is_of_officers(target)).count();
    assert_eq!(officers(&all), officers(&targets), "no list of officers is asked for twice");
    assert_eq!(story.run("", 0).1, Vec::<String>::new());
}

#[test]
fn a_business_whose_look_up_stopped_before_its_officers_is_not_shown_half() {
    let calm = Detailed::new();
    let (_, targets) = calm.run("limit = 4", 0);
    let with_officers = targets.iter().filter(|target| is_of_officers(target)).count();
    assert!(with_officers > 1, "{targets:?}");
    let story = Detailed::new();
    let ids = |table: &str| -> BTreeSet<i64> {
        lake::integers(&story.scratch.lake(), table, "business_id").into_iter().collect()
    };
    for part in 0.. {
        assert!(part < 30, "it never ends");
        // Each part ends before, between or after the two look-ups of a business.
        let pipeline = story.pipeline("limit = 4\n[budget]\nmax_requests = 3");
        let summary = story.asking(Sunlake::run(&pipeline, &story.scratch.lake())).finish().json();
        let counted = lake::rows(&story.scratch.lake(), "details", &[]).into_iter();
        let counted = counted.filter(|cells| cells["officer_count"].as_deref() != Some("0"));
        let counted: BTreeSet<i64> = counted
            .map(|cells| cells["business_id"].as_deref().and_then(|id| id.parse().ok()).expect("an id"))
            .collect();
        assert_eq!(counted, ids("officers"));
        if summary["outcome"] == "complete" {
            break;
        }
    }
    for table in ["details", "officers"] {
        assert!(story.rows(table) == calm.rows(table), "{table}");
    }
}

#[test]
fn a_run_in_several_parts_asks_for_a_spoiled_detail_once() {
    let (_, targets) = Detailed::new().run("limit = 1\nofficers = false", 0);
    let spoiled = targets[0].clone();
    let story = Detailed::new();
    story.proxy.follow(spoiling(vec![spoiled.clone()], usize::MAX, spoil_detail));
    let mut asked = Vec::new();
    for part in 0.. {
        assert!(part < 9, "it never ends: {asked:?}");
        let (summary, of_part) = story.run("officers = false\n[budget]\nmax_requests = 20", 5);
        asked.extend(of_part);
        assert_eq!(summary["enrich"]["quarantined"], 1, "{summary}");
        if summary["stopped"].is_null() {
            assert_eq!(summary["enrich"]["left"], 1, "{summary}");
            assert!(part > 0, "it was one part");
            break;
        }
    }
    assert_eq!(asked.iter().filter(|target| **target == spoiled).count(), 1, "{asked:?}");
    let state = &lake::commits(&story.scratch.lake()).pop().expect("a commit")["state"]["enrich"];
    let of_spoiled = state["quarantined_details"].as_object().and_then(|all| all.values().next().cloned());
    assert_eq!(of_spoiled.expect("a business")["times"], 1, "{state}");
}

#[test]
fn a_detail_that_always_comes_spoiled_is_asked_for_less_and_less_often() {
    let story = Detailed::new();
    let lines = "limit = 4\nofficers = false";
    story.proxy.follow(|request| match request.target.starts_with("/v1/fl/businesses/") {
        true => Reply::Change(spoil_detail),
        false => Reply::Forward,
    });
    let asked_on = |day: &str| {
        let (summary, asked) = story.run_on(day, lines, 5);
        assert_eq!((&summary["outcome"], &summary["enrich"]["looked_up"]), (&"partial".into(), &0.into()));
        asked
    };
    let first = asked_on("2026-03-20");
    assert_eq!(first.len(), 4);
    let again = asked_on("2026-03-20");
    assert_eq!(again, first, "the next run asks for the same at once");
    let asked_on: Vec<bool> = (20..=31)
        .map(|day| asked_on(&format!("2026-03-{day}")).iter().any(|target| first.contains(target)))
        .collect();
    let days: Vec<usize> = (0..asked_on.len()).filter(|at| asked_on[*at]).map(|at| 20 + at).collect();
    assert_eq!(days, [22, 26], "2 days later, then 4, then 8");
}

#[test]
fn a_list_of_officers_that_came_spoiled_is_asked_for_again_without_its_detail() {
    let calm = Detailed::new();
    let (_, targets) = calm.run("", 0);
    let spoiled: Vec<String> =
        targets.iter().filter(|target| is_of_officers(target)).take(3).cloned().collect();
    let story = Detailed::new();
    story.proxy.follow(spoiling(spoiled.clone(), 1, spoil_officers));
    let (first, _) = story.run("", 5);
    assert_eq!(first["enrich"]["quarantined"], 3, "{first}");
    assert_eq!(story.planned(""), (0.into(), 3.into()));
    assert_eq!(story.run("", 0).1, spoiled, "the lists alone");
    assert!(!calm.rows("officers").is_empty() && story.rows("officers") == calm.rows("officers"));
    assert_eq!(story.run("", 0).1, Vec::<String>::new());
}

#[test]
fn officers_that_are_wanted_later_are_asked_for_without_their_details() {
    let calm = Detailed::new();
    let (_, together) = calm.run("", 0);
    let story = Detailed::new();
    let (_, details) = story.run("officers = false", 0);
    assert!(details.iter().all(|target| !is_of_officers(target)) && details.len() > 10, "{details:?}");
    let (officers_only, of_details): (Vec<String>, Vec<String>) =
        together.into_iter().partition(|target| is_of_officers(target));
    assert_eq!(details, of_details);
    assert_eq!(story.planned("officers = true"), (0.into(), officers_only.len().into()));
    let (summary, officers) = story.run("officers = true", 0);
    assert_eq!(officers, officers_only, "a request each, and no detail a second time: {summary}");
    for table in ["details", "officers"] {
        assert!(!calm.rows(table).is_empty() && story.rows(table) == calm.rows(table), "{table}");
    }
}

#[test]
fn officers_that_the_api_does_not_list_are_asked_for_once() {
    let story = Detailed::new();
    story.proxy.follow(|request| match is_of_officers(&request.target) {
        true => Reply::error(404, Vec::new()),
        false => Reply::Forward,
    });
    let (first, asked) = story.run("", 0);
    assert!(asked.iter().filter(|target| is_of_officers(target)).count() > 5, "{first}");
    assert_eq!(story.run("", 0).1, Vec::<String>::new());
}

#[test]
fn a_slow_api_is_asked_about_the_next_businesses_ahead() {
    let source = source::small();
    let server = ApiServer::detailed(AGENCY);
    let proxy = Proxy::counting(server.address);
    let scratch = Scratch::new();
    let days =
        scratch.file("days.toml", "name = \"days\"\n[extract]\ndays = 14\n[aggregates]\nenabled = false\n");
    let enrich = scratch.file(
        "enrich.toml",
        "name = \"enrich\"\n[enrich]\nwhere = \"listed\"\nlimit = 30\n[aggregates]\nenabled = false\n",
    );
    let run = |pipeline: &Path, lake: &str| {
        Sunlake::run(pipeline, &scratch.path(lake)).asking(&proxy.url(), source.today, &server.key)
    };
    for lake in ["quick", "slow"] {
        run(&days, lake).finish().exits(0);
    }
    let quick = run(&enrich, "quick").finish().exits(0).json();
    let before = proxy.log().len();
    let mut answered = 0;
    proxy.follow(move |_| {
        answered += 1;
        if answered <= 10 { Reply::Slow(Duration::from_millis(200)) } else { Reply::Hold }
    });
    let asking = run(&enrich, "slow").start();
    // Requests go out while none of those before them has an answer.
    proxy.wait_for_requests(before + 13);
    assert!(proxy.log().len() <= before + 10 + 8, "they are bounded");
    proxy.follow(|_| Reply::Slow(Duration::from_millis(200)));
    proxy.release();
    let slow = asking.finish().exits(0).json();
    assert_eq!((sent(&slow), &slow["enrich"]), (sent(&quick), &quick["enrich"]), "for no request more");
    for table in ["details", "officers"] {
        let rows = |lake: &str| -> BTreeSet<Cells> {
            lake::rows(&scratch.path(lake), table, &["fetched_at"]).into_iter().collect()
        };
        assert!(!rows("quick").is_empty() && rows("slow") == rows("quick"), "{table} asked for ahead");
    }
}

#[test]
fn a_wrong_condition_is_reported_with_exit_code_3_and_costs_one_request() {
    let story = Story::new();
    let pipeline = story.pipeline("kounty = 'Orange'", "");
    story.run(&pipeline).finish().exits(3).says("kounty = 'Orange'");
    assert_eq!(story.detailed().len(), 0);
    let price = Sunlake::new(["plan".as_ref(), story.pipeline(CHOICE, "").as_os_str()])
        .args(["--lake".as_ref(), story.scratch.lake().as_os_str()])
        .args(["--json", "--today", TODAY])
        .finish()
        .exits(0)
        .json();
    assert_eq!(price["stages"][1]["requests"], story.chosen().len(), "{price}");
}

#[test]
fn the_numbers_of_a_watch_list_are_looked_up_once_a_month_and_unknown_ones_are_named() {
    let story = Story::new();
    let filings = lake::filings(&story.scratch.lake());
    let watched: BTreeSet<i64> = filings.keys().copied().take(7).collect();
    let numbers = watched.iter().map(|id| filings[id]["document_number"].clone().expect("a number"));
    let list: Vec<String> = numbers.chain(["X00000000000".to_owned()]).collect();
    story.scratch.file("watch.csv", &format!("document_number\n{}\n", list.join("\n")));
    let text = sample_pipeline(DAYS, SCALE).replace("\"sample\"", "\"watch\"");
    let pipeline = |rest: &str| {
        story.scratch.file("watch.toml", &format!("{text}[enrich]\ndocuments = \"watch.csv\"\n{rest}\n"))
    };
    let stopped = story.run(&pipeline("[budget]\nmax_requests = 6")).finish().exits(5).json();
    assert!(stopped["enrich"]["left"].as_u64() > Some(0), "{stopped}");
    let done = story.run(&pipeline("")).finish().exits(0);
    let summary = done.json();
    assert_eq!(
        (&summary["enrich"]["chosen"], &summary["enrich"]["left"]),
        (&8.into(), &0.into()),
        "{summary}"
    );
    assert_eq!(summary["enrich"]["unknown_documents"], serde_json::json!(["X00000000000"]), "{summary}");
    assert_eq!(story.detailed(), watched);
    let officers: BTreeSet<i64> =
        lake::integers(&story.scratch.lake(), "officers", "business_id").into_iter().collect();
    // A run asks for the account, then for each business, and for the officers of each that has some.
    let asked = sent(&stopped) + sent(&summary);
    assert!(asked <= 2 + 8 + officers.len() as u64, "{asked} requests: {stopped} {summary}");
    let again = story.run(&pipeline("")).finish().exits(0).json();
    assert_eq!((&again["outcome"], sent(&again)), (&"unchanged".into(), 1), "{again}");
}

#[test]
fn a_watch_list_with_mistakes_or_none_is_reported_before_a_request() {
    let story = Story::new();
    let text = sample_pipeline(DAYS, SCALE).replace("\"sample\"", "\"watch\"");
    let pipeline = story.scratch.file("watch.toml", &format!("{text}[enrich]\ndocuments = \"watch.csv\"\n"));
    story.run(&pipeline).finish().exits(3).says("cannot read the watch list");
    story.scratch.file("watch.csv", "document_number\nP12345\nP-12345\n");
    story.run(&pipeline).finish().exits(3).says("watch.csv").says("line 3");
}
