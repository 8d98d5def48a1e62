//! The complete register: every business of any age, read by name prefix, over as long as it takes.

use crate::support::command::{Sunlake, sunlake};
use crate::support::lake::{self, Cells};
use crate::support::scratch::Scratch;
use crate::support::source::{WITHOUT_AGGREGATES, copy_aggregates};
use jiff::civil::{Date, date};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use sunlake::contract::eastern::window_start;
use sunlake::sample::{RegisterSpec, SampleBusiness, SampleSpec, businesses, old_register};

const TODAY: Date = date(2026, 3, 20);

/// A served Florida: the last days, and the thirty years before.
#[derive(Clone, Copy)]
struct World {
    today: Date,
    days: u32,
    scale: f64,
    register: u32,
    plan: &'static str,
}

/// Of a sample whose rarest prefix is found early: a third fewer requests than with most others.
const SEED: u64 = 38;

const SMALL: World = World { today: TODAY, days: 3, scale: 0.02, register: 300, plan: "agency" };

/// The aggregate that compares the lake with the API's own counts, and those that it reads.
const RECONCILED: [&str; 6] = [
    "reconcile",
    "county_type_day",
    "county_type_month",
    "county_type_window",
    "county_window",
    "type_month",
];

impl World {
    /// Every business there is.
    fn truth(&self) -> BTreeMap<i64, SampleBusiness> {
        let sample = SampleSpec {
            seed: SEED,
            today: self.today,
            days: self.days,
            scale: self.scale,
            shape: sunlake::sample::Shape::Plain,
        };
        let before = window_start(self.today, self.days);
        let register = RegisterSpec { seed: SEED, before, rows: self.register };
        let all = old_register(&register).chain(businesses(&sample));
        all.map(|business| (business.detail.summary.business_id().expect("an id"), business)).collect()
    }

    /// A pipeline that reads it from the embedded API.
    fn pipeline(&self, scratch: &Scratch, name: &str, rest: &str) -> PathBuf {
        self.pipeline_with(scratch, name, (WITHOUT_AGGREGATES, rest))
    }

    fn pipeline_with(&self, scratch: &Scratch, name: &str, (aggregates, rest): (&str, &str)) -> PathBuf {
        let Self { days, scale, register, plan, .. } = self;
        let text = format!(
            "name = \"{name}\"\n[source]\nembedded = true\n[source.sample]\nseed = {SEED}\ndays = {days}\nscale = {scale:?}\n\
             register = {register}\nplan = \"{plan}\"\n\
             per_minute = 1000000\nper_day = 1000000\nper_month = 10000000\n\
             [aggregates]\n{aggregates}\n{rest}\n"
        );
        scratch.file(&format!("{name}.toml"), &text)
    }

    fn run(&self, pipeline: &Path, lake: &Path) -> Sunlake {
        Sunlake::run(pipeline, lake).args(["--today", &self.today.to_string()])
    }
}

/// A lake that has read all of [`SMALL`], and the summary of its run.
fn complete_lake() -> &'static (Scratch, Value) {
    static MADE: OnceLock<(Scratch, Value)> = OnceLock::new();
    MADE.get_or_init(|| {
        let scratch = Scratch::new();
        let pipeline = SMALL.pipeline(&scratch, "registry", "[registry]");
        let summary = SMALL.run(&pipeline, &scratch.lake()).finish().complete();
        (scratch, summary)
    })
}

/// A copy of the lake with the complete register, the pipeline that made it, and the summary of its run.
fn complete_register(scratch: &Scratch) -> (PathBuf, PathBuf, &'static Value) {
    let (made, summary) = complete_lake();
    lake::copy_tree(&made.lake(), &scratch.lake());
    (scratch.lake(), SMALL.pipeline(scratch, "registry", "[registry]"), summary)
}

/// Checks that the lake has every business as the API has it, dissolved ones unlisted.
fn assert_all_there(lake: &Path, truth: &BTreeMap<i64, SampleBusiness>) {
    let found: BTreeMap<i64, Cells> = lake::filings(lake);
    let missing: Vec<_> = truth.iter().filter(|(id, _)| !found.contains_key(id)).collect();
    let names: Vec<_> = missing.iter().take(9).map(|(_, business)| &business.detail.summary.name).collect();
    assert!(missing.is_empty(), "{} of {} are missing: {names:?}", missing.len(), truth.len());
    assert_eq!(found.len(), truth.len());
    for (id, business) in truth {
        let (cells, summary) = (&found[id], &business.detail.summary);
        let text = |column: &str| cells[column].as_deref().unwrap_or("").to_owned();
        assert_eq!((text("name"), text("status")), (summary.name.clone(), summary.status.clone()), "{id}");
        assert_eq!(text("filed_date"), summary.filed_date.to_string(), "{id}");
        assert_eq!(text("dissolved_date"), summary.dissolved_date.clone().unwrap_or_default(), "{id}");
        assert_eq!(text("listed"), (summary.status == "active").to_string(), "{id}");
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn every_business_of_any_age_is_read_once_and_compared_with_the_total() {
    let scratch = Scratch::new();
    let (_, pipeline, summary) = complete_register(&scratch);
    let truth = SMALL.truth();
    assert_all_there(&scratch.lake(), &truth);
    let register = &summary["register"];
    assert_eq!(register["rows"], truth.len(), "{register}");
    assert_eq!((&register["missing"], &register["left"]), (&0.into(), &0.into()), "{register}");
    assert_eq!(register["counted"]["dissolved"], true, "what the total counts is learned: {register}");
    assert_eq!(summary["checks"], Value::Array(Vec::new()), "{summary}");
    let status = sunlake(&scratch.lake(), &["status", "--json"]).exits(0).json();
    assert_eq!(status["register"]["rows"], truth.len());
    let again = SMALL.run(&pipeline, &scratch.lake()).finish().exits(0).json();
    assert_eq!(again["outcome"], "unchanged", "{again}");
    assert_eq!(number(&again["requests"]["sent"]), 5, "no start is asked for again: {again}");
}

#[test]
fn budget_after_budget_publishes_what_is_read_and_asks_for_nothing_twice() {
    let parts = Scratch::new();
    let (whole, undisturbed) = complete_lake();
    let needed = number(&undisturbed["requests"]["sent"]);
    let bounded = SMALL.pipeline(&parts, "registry", "[registry]\n[budget]\nmax_requests = 1200");
    let (mut sent, mut runs, mut rows) = (0, 0, Vec::new());
    let starts = loop {
        runs += 1;
        assert!(runs < 20, "it never ends");
        let done = SMALL.run(&bounded, &parts.lake()).finish();
        let summary = done.json();
        sent += number(&summary["requests"]["sent"]);
        rows.push(number(&summary["rows"]["filings"]["total"]));
        if summary["outcome"] == "complete" {
            break number(&summary["register"]["starts"]);
        }
        done.exits(5);
    };
    assert!(runs > 1, "{runs} runs");
    assert!(rows.is_sorted() && rows[0] > 0 && rows[0] < rows[runs - 1], "{rows:?}");
    // The account and the lists in each run, and each start once. What is guessed next depends on what a run has read.
    assert!(sent <= starts + 6 * runs as u64, "{sent} requests in {runs} runs for {starts} starts");
    assert!(sent <= needed + needed / 20, "{sent} requests in {runs} runs, {needed} in one");
    lake::assert_same(&lake::filings(&parts.lake()), &lake::filings(&whole.lake()), "in parts");
}

#[test]
fn a_day_of_a_start_beyond_reach_is_read_in_parts() {
    let world = World { today: date(2026, 1, 2), days: 2, scale: 0.3, register: 200, plan: "starter" };
    let scratch = Scratch::new();
    // The usual prefixes come first, and they are those with many names a day.
    let rest = "[plan]\nrows_per_call = 50\nmax_offset = 0\nwindow_days = 30\n[registry]\nfictitious = false\n\
                [budget]\nmax_requests = 800";
    let pipeline = world.pipeline(&scratch, "registry", rest);
    let summary = world.run(&pipeline, &scratch.lake()).finish().exits(5).json();
    let truth = world.truth();
    let mut cells: BTreeMap<(String, Date), usize> = BTreeMap::new();
    for SampleBusiness { detail, .. } in truth.values() {
        let summary = &detail.summary;
        if summary.entity_type != "fictitious" {
            let start = summary.name.chars().take(2).collect();
            *cells.entry((start, summary.filed_date)).or_default() += 1;
        }
    }
    assert_eq!(summary["register"]["unproven"], Value::Array(Vec::new()), "{summary}");
    let found = lake::filings(&scratch.lake());
    let mut beyond = 0;
    for ((start, day), rows) in cells.iter().filter(|(_, rows)| **rows > 50) {
        beyond += 1;
        let is_of_cell = |cells: &&Cells| {
            cells["name"].as_deref().is_some_and(|name| name.starts_with(start))
                && cells["filed_date"] == Some(day.to_string())
        };
        assert_eq!(found.values().filter(is_of_cell).count(), *rows, "{start} on {day}");
    }
    assert!(beyond > 2, "{beyond} days of a start are beyond reach");
}

#[test]
fn active_businesses_alone_are_read_on_demand_and_not_compared_with_the_total() {
    let scratch = Scratch::new();
    let active = "[registry]\nstatus = \"active\"\nfictitious = false";
    let pipeline = SMALL.pipeline(&scratch, "registry", active);
    let summary = SMALL.run(&pipeline, &scratch.lake()).finish().complete();
    let mut truth = SMALL.truth();
    truth.retain(|_, business| {
        let summary = &business.detail.summary;
        summary.status == "active" && summary.entity_type != "fictitious"
    });
    let found = lake::filings(&scratch.lake());
    assert!(found.keys().all(|id| truth.contains_key(id)), "none of them is dissolved");
    // Without a total to meet, a start that is hardly likely is not asked for.
    assert!(found.len() * 100 >= truth.len() * 97, "{} of {}", found.len(), truth.len());
    assert_eq!(
        (&summary["register"]["missing"], &summary["register"]["counted"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn days_read_before_stay_comparable_and_their_aggregates_count_what_they_counted() {
    let world = World { days: 10, scale: 0.05, ..SMALL };
    let scratch = Scratch::new();
    let aggregates = scratch.path("aggregates");
    copy_aggregates(&aggregates, &RECONCILED);
    let aggregates = format!("folder = {aggregates:?}");
    let days = world.pipeline_with(&scratch, "days", (&aggregates, "[extract]\ndays = 10"));
    // Enough for all but the rarest prefixes.
    let most_names = "[registry]\n[budget]\nmax_requests = 1000";
    let register = world.pipeline_with(&scratch, "registry", (&aggregates, most_names));
    world.run(&days, &scratch.lake()).finish().complete();
    let compared = |lake: &Path| -> BTreeSet<Cells> {
        let rows = lake::rows(lake, "agg_reconcile", &["observed_on"]);
        rows.into_iter().filter(|cells| cells["scope"].as_deref() == Some("day")).collect()
    };
    let before = compared(&scratch.lake());
    let before_register = lake::filings(&scratch.lake()).len();
    world.run(&register, &scratch.lake()).finish().exits(5);
    assert!(lake::filings(&scratch.lake()).len() > before_register + 200, "old businesses are read");
    let after = compared(&scratch.lake());
    let changed: Vec<_> =
        after.difference(&before).filter(|cells| cells["is_comparable"].as_deref() == Some("true")).collect();
    assert!(changed.is_empty(), "{changed:?}");
    let comparable = |cells: &&Cells| {
        cells["is_comparable"].as_deref() == Some("true") && cells["difference"].as_deref() == Some("0")
    };
    assert_eq!(before.iter().filter(comparable).count(), 10);
    let next = world.run(&days, &scratch.lake()).finish().exits(0).json();
    assert_eq!(next["rows"]["filings"]["read"], 0, "the days are complete as before: {next}");
}

/// Damages the filings of the oldest month of the first snapshot; returns their file and its bytes.
fn damage_oldest_filings(lake: &Path) -> (PathBuf, Vec<u8>) {
    let path = lake::files_below(&lake.join("snapshots/000001/filings")).remove(0);
    let whole = lake::damage(&path);
    (path, whole)
}

#[test]
fn a_run_of_the_register_is_replayed_to_the_byte_and_its_pages_bring_damaged_files_back() {
    let scratch = Scratch::new();
    let (lake, _, summary) = complete_register(&scratch);
    let run = summary["run_id"].as_str().expect("a run");
    let replayed = sunlake(&lake, &["replay", run, "--json"]).exits(0).json();
    let snapshot = &replayed["snapshots"][0];
    assert!(number(&snapshot["pages"]) > 20 && number(&snapshot["equal"]) > 20, "{replayed}");
    assert_eq!(snapshot["different"], json!([]), "{replayed}");
    let (path, whole) = damage_oldest_filings(&lake);
    let repaired = sunlake(&lake, &["verify", "--repair", "--json"]).exits(0).json();
    assert_eq!((&repaired["snapshot"], &repaired["left"]), (&Value::Null, &json!([])), "{repaired}");
    let done = repaired["actions"][0]["done"].as_str().expect("what was done");
    assert!(done.contains("archived pages"), "{repaired}");
    assert!(std::fs::read(&path).is_ok_and(|found| found == whole), "{}", path.display());
    sunlake(&lake, &["verify"]).exits(0);
}

#[test]
fn rows_of_the_register_that_nothing_brings_back_are_asked_for_again() {
    let scratch = Scratch::new();
    let (lake, pipeline, summary) = complete_register(&scratch);
    let truth = SMALL.truth();
    let run = summary["run_id"].as_str().expect("a run");
    std::fs::remove_dir_all(lake.join("runs").join(run).join("raw")).expect("removed");
    damage_oldest_filings(&lake);
    let done = sunlake(&lake, &["verify", "--repair", "--json"]).exits(9);
    assert_eq!(done.json()["snapshot"], 2, "{}", done.shown());
    assert!(done.stdout.contains("the register is asked for again"), "{}", done.shown());
    assert!(lake::filings(&lake).len() < truth.len(), "rows are lost");
    let again = SMALL.run(&pipeline, &lake).finish().complete();
    assert_all_there(&lake, &truth);
    assert_eq!(again["register"]["missing"], 0, "{again}");
    let (first, sent) = (number(&summary["requests"]["sent"]), number(&again["requests"]["sent"]));
    assert!(5 < sent && sent < first, "{sent} requests after {first}: the starts of lost rows alone");
}

#[test]
fn plan_prices_what_is_left_of_the_register() {
    let scratch = Scratch::new();
    let pipeline = SMALL.pipeline(&scratch, "registry", "[registry]\nfictitious = false");
    let plan = |lake: &Path| {
        let plan = Sunlake::on(lake, ["plan", "--json", "--today", "2026-03-20"]);
        plan.args([&pipeline]).finish().exits(0).json()
    };
    let price = plan(&scratch.lake());
    let rows = SMALL.truth().len() as u64;
    assert_eq!(price["stages"][1]["rows"], rows, "{price}");
    let summary = SMALL.run(&pipeline, &scratch.lake()).finish().complete();
    let sent = number(&summary["requests"]["sent"]);
    let reported = number(&price["requests"]);
    assert!(reported * 4 <= sent * 5 && sent * 4 <= reported * 5, "{reported} reported, {sent} sent");
    assert_eq!(number(&plan(&scratch.lake())["requests"]), 5, "nothing is left but the lists");
}

/// Requests that no reader can do without: each page holds rows of one start, and of fictitious names or others alone.
fn lower_bound(truth: &BTreeMap<i64, SampleBusiness>, rows_per_call: u64) -> (u64, u64) {
    let mut starts: BTreeMap<(String, bool), u64> = BTreeMap::new();
    for SampleBusiness { detail, .. } in truth.values() {
        let summary = &detail.summary;
        let start = summary.name.chars().take(2).collect();
        *starts.entry((start, summary.entity_type == "fictitious")).or_default() += 1;
    }
    (starts.len() as u64, starts.values().map(|rows| rows.div_ceil(rows_per_call)).sum())
}

#[test]
#[ignore = "300,000 businesses, 4,000 requests: about a minute"]
fn a_register_of_300_000_is_read_completely_with_few_requests_beyond_its_pages() {
    let world = World { days: 10, scale: 0.05, register: 300_000, plan: "enterprise", ..SMALL };
    let scratch = Scratch::new();
    let pipeline = world.pipeline(&scratch, "registry", "[registry]");
    let truth = world.truth();
    let dissolved = truth.values().filter(|business| business.detail.summary.status != "active").count();
    let summary = world.run(&pipeline, &scratch.lake()).finish().complete();
    assert_all_there(&scratch.lake(), &truth);
    let (starts, bound) = lower_bound(&truth, 100);
    let (sent, empty) = (number(&summary["requests"]["sent"]), number(&summary["register"]["empty"]));
    println!("businesses                           {:>8}, {dissolved} of them dissolved", truth.len());
    println!("rows / 100                           {:>8}", truth.len().div_ceil(100));
    println!("starts with names                    {starts:>8}");
    println!("lower bound, pages of each start     {bound:>8}");
    println!("requests sent                        {sent:>8}");
    println!("of them for starts without names     {empty:>8}");
    println!("(sent - without names) / lower bound {:>8.3}", (sent - empty) as f64 / bound as f64);
    println!("peak RSS, server included            {:>8} MiB", number(&summary["peak_rss_bytes"]) >> 20);
    assert!(
        sent <= bound * 110 / 100 + empty,
        "{sent} requests for a bound of {bound} and {empty} empty starts"
    );
}
