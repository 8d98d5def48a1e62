//! Details and officers: chosen by a condition, asked for once, within a budget.

use crate::support::command::{Sunlake, project};
use crate::support::lake::{self, Cells};
use crate::support::proxy::{Proxy, Reply};
use crate::support::scratch::Scratch;
use crate::support::server::{AGENCY, ApiServer};
use crate::support::source::{self, sample_pipeline};
use serde_json::Value;
use std::collections::BTreeSet;
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
    let aggregates = project().join("pipelines").join("aggregates");
    let text = |name: &str, rest: &str| {
        format!(
            "name = \"{name}\"\n[source]\nembedded = true\n[source.sample]\ndays = 3\nscale = 0.01\nregister = 300\n\
             per_minute = 1000000\nper_day = 1000000\nper_month = 1000000\n\
             [aggregates]\nfolder = {aggregates:?}\n{rest}\n"
        )
    };
    // The embedded API has no details of the thirty years before its days.
    let registry = scratch.file("registry.toml", &text("registry", "[registry]\nfictitious = false"));
    let enrich = scratch
        .file("enrich.toml", &text("enrich", "[enrich]\nwhere = \"filed_date < '2020-01-01'\"\nlimit = 40"));
    let run = |pipeline: &Path| {
        Sunlake::run(pipeline, &scratch.lake()).args(["--today", TODAY]).finish().exits(0).json()
    };
    run(&registry);
    let summary = run(&enrich);
    assert_eq!(
        (&summary["enrich"]["looked_up"], &summary["enrich"]["unknown"]),
        (&40.into(), &40.into()),
        "{summary}"
    );
    let asked = lake::commits(&scratch.lake()).pop().expect("a commit")["state"]["enrich"]["without"].clone();
    assert_eq!(asked.as_object().map(|ids| ids.len()), Some(40));
    run(&enrich);
    let asked = lake::commits(&scratch.lake()).pop().expect("a commit")["state"]["enrich"]["without"].clone();
    assert_eq!(asked.as_object().map(|ids| ids.len()), Some(80), "the next forty, not the same again");
}

#[test]
fn officers_that_the_api_does_not_list_are_asked_for_once() {
    let source = source::small();
    let server = ApiServer::detailed(AGENCY);
    let proxy = Proxy::scripted(server.address, |request| match request.target.ends_with("/officers") {
        true => Reply::error(404, Vec::new()),
        false => Reply::Forward,
    });
    let scratch = Scratch::new();
    let off = "[aggregates]\nenabled = false\n";
    let days = scratch.file("days.toml", &format!("name = \"days\"\n[extract]\ndays = 14\n{off}"));
    let choice = "[enrich]\nwhere = \"listed AND county = 'Orange'\"\n";
    let enrich = scratch.file("enrich.toml", &format!("name = \"enrich\"\n{choice}{off}"));
    let run = |pipeline: &Path| {
        Sunlake::run(pipeline, &scratch.lake())
            .asking(&proxy.url(), source.today, &server.key)
            .finish()
            .exits(0)
            .json()
    };
    run(&days);
    let first = run(&enrich);
    let asked = |targets: Vec<String>| targets.iter().filter(|target| target.ends_with("/officers")).count();
    assert!(asked(proxy.targets()) > 5, "{first}");
    let before = asked(proxy.targets());
    let again = run(&enrich);
    assert_eq!((asked(proxy.targets()), sent(&again)), (before, 1), "{again}");
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
