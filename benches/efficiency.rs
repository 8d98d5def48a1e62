//! What reading costs: `cargo bench --bench efficiency`, or `cargo bench --bench efficiency -- starter january` for the scenarios
//! whose name holds every word.
//!
//! Each scenario starts the built program on the embedded API, which serves a sample of Florida over HTTP under a plan's rows per
//! call, max offset and window, and counts every request of the run. The lower bound is the sum over listings of ceil(rows ÷ rows per
//! call): no reader can do with fewer.

use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A plan's name and numbers.
#[derive(Clone, Copy)]
struct Plan {
    name: &'static str,
    rows_per_call: u64,
    max_offset: u32,
    window_days: u32,
}

const STARTER: Plan = Plan { name: "starter", rows_per_call: 50, max_offset: 1_000, window_days: 30 };
const AGENCY: Plan = Plan { name: "agency", rows_per_call: 100, max_offset: 2_000, window_days: 90 };
const ENTERPRISE: Plan = Plan { name: "enterprise", rows_per_call: 100, max_offset: 5_000, window_days: 365 };

/// One line of the table.
struct Scenario {
    name: &'static str,
    plan: Plan,
    shape: &'static str,
    /// Days on which the pipeline runs, one after another into one lake; the last is measured.
    days: &'static [&'static str],
    /// Requests ÷ lower bound that the last run may cost.
    at_most: Option<f64>,
}

const fn full(
    name: &'static str,
    plan: Plan,
    shape: &'static str,
    days: &'static [&'static str],
    at_most: f64,
) -> Scenario {
    Scenario { name, plan, shape, days, at_most: Some(at_most) }
}

const fn measured(
    name: &'static str,
    plan: Plan,
    shape: &'static str,
    days: &'static [&'static str],
) -> Scenario {
    Scenario { name, plan, shape, days, at_most: None }
}

/// Whole windows, nothing in the lake: the plain register in summer and around New Year, then the skewed ones.
const COLD: &[Scenario] = &[
    full("cold, summer", STARTER, "plain", &["2026-07-31"], 1.20),
    full("cold, summer", AGENCY, "plain", &["2026-07-31"], 1.05),
    full("cold, summer and january", ENTERPRISE, "plain", &["2026-07-31"], 1.02),
    full("cold, january peak", STARTER, "plain", &["2026-01-20"], 1.20),
    full("cold, january peak", AGENCY, "plain", &["2026-02-20"], 1.05),
    measured("cold, long tail", STARTER, "long_tail", &["2026-07-31"]),
    measured("cold, long tail", AGENCY, "long_tail", &["2026-07-31"]),
    measured("cold, long tail", ENTERPRISE, "long_tail", &["2026-07-31"]),
    measured("cold, long tail, january peak", STARTER, "long_tail", &["2026-01-20"]),
    measured("cold, long tail, january peak", AGENCY, "long_tail", &["2026-02-20"]),
    measured("cold, one sector", STARTER, "one_sector", &["2026-07-31"]),
    measured("cold, one sector", AGENCY, "one_sector", &["2026-07-31"]),
    measured("cold, one sector", ENTERPRISE, "one_sector", &["2026-07-31"]),
];

/// Whole windows again, after the window before taught the lake how rows are spread.
const LEARNED: &[Scenario] = &[
    full("learned, summer", STARTER, "plain", &["2026-07-01", "2026-07-31"], 1.12),
    full("learned, summer", AGENCY, "plain", &["2026-05-02", "2026-07-31"], 1.05),
    full("learned, january peak", STARTER, "plain", &["2025-12-21", "2026-01-20"], 1.12),
    full("learned, january peak", AGENCY, "plain", &["2025-11-22", "2026-02-20"], 1.05),
];

/// Mornings after a whole reading.
const MORNINGS: &[Scenario] = &[
    measured("morning, Thursday", STARTER, "plain", &["2026-07-22", "2026-07-23"]),
    measured("morning, Saturday", STARTER, "plain", &["2026-07-24", "2026-07-25"]),
    measured("morning, Thursday", AGENCY, "plain", &["2026-07-22", "2026-07-23"]),
    measured("morning, Thursday", ENTERPRISE, "plain", &["2026-07-22", "2026-07-23"]),
];

/// Mornings in a row after a whole reading, each priced and read: the first day, and how many follow.
const IN_A_ROW: (&str, u64) = ("2026-07-22", 15);

/// What a run cost.
struct Cost {
    rows: u64,
    added: u64,
    vanished: u64,
    /// Lower bound of the rows of the window, or, after the first run, of the rows that were new.
    bound: u64,
    by_stage: BTreeMap<String, u64>,
    requests: u64,
    planned: u64,
    proven: bool,
    seconds: f64,
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str, plan: Plan| {
        let text = format!("{} {name}", plan.name);
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let wanted = |scenario: &&Scenario| is_wanted(scenario.name, scenario.plan);
    let mut out = std::io::stdout().lock();
    let mut missed = windows(&mut out, COLD.iter().chain(LEARNED).filter(wanted))?;
    missed.extend(mornings(&mut out, MORNINGS.iter().filter(wanted))?);
    let plans = [STARTER, AGENCY, ENTERPRISE].into_iter();
    mornings_in_a_row(&mut out, plans.filter(|plan| is_wanted("mornings in a row", *plan)))?;
    writeln!(out, "\nmissed: {}", if missed.is_empty() { "none".to_owned() } else { missed.join("; ") })?;
    Ok(())
}

/// A line for each window read whole; gives those that cost more than they may, or were not proven.
fn windows<'s>(out: &mut impl Write, scenarios: impl Iterator<Item = &'s Scenario>) -> Outcome<Vec<String>> {
    let mut missed = Vec::new();
    writeln!(
        out,
        "| reading | plan | rows | lower bound | requests | efficiency | allowed | planned | error | proven | by stage | s |"
    )?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
    for scenario in scenarios {
        let cost = measure(scenario)?;
        let efficiency = cost.requests as f64 / cost.bound as f64;
        let allowed = scenario.at_most.map_or("-".to_owned(), |most| format!("{most:.2}"));
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {efficiency:.3} | {allowed} | {} | {} | {} | {} | {:.0} |",
            scenario.name,
            scenario.plan.name,
            cost.rows,
            cost.bound,
            cost.requests,
            cost.planned,
            error(&cost),
            yes(cost.proven),
            stages(&cost),
            cost.seconds
        )?;
        out.flush()?;
        if !cost.proven || scenario.at_most.is_some_and(|most| efficiency > most) {
            missed.push(format!("{}, {}", scenario.name, scenario.plan.name));
        }
    }
    Ok(missed)
}

/// A line for each morning after a window read whole; gives those that cost more than they may, or were not proven.
fn mornings<'s>(out: &mut impl Write, scenarios: impl Iterator<Item = &'s Scenario>) -> Outcome<Vec<String>> {
    let mut missed = Vec::new();
    writeln!(
        out,
        "\n| morning | plan | rows new | rows gone | lower bound | requests | allowed | planned | error | proven | by stage | s |"
    )?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
    for scenario in scenarios {
        let cost = measure(scenario)?;
        writeln!(out, "{}", morning(scenario.name, scenario.plan, &cost))?;
        out.flush()?;
        if !cost.proven || cost.requests > allowed(&cost) {
            missed.push(format!("{}, {}", scenario.name, scenario.plan.name));
        }
    }
    Ok(missed)
}

/// A line for each morning of a plan in a row, and how far their prices were off together.
fn mornings_in_a_row(out: &mut impl Write, plans: impl Iterator<Item = Plan>) -> Outcome<()> {
    writeln!(
        out,
        "\n| morning in a row | plan | rows new | rows gone | lower bound | requests | allowed | planned | error | proven | by stage | s |"
    )?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")?;
    let mut sums = Vec::new();
    for plan in plans {
        let place = Place::new(plan, "plain")?;
        let first: jiff::civil::Date = IN_A_ROW.0.parse()?;
        place.run(&first.to_string())?;
        let (mut planned, mut requests, mut off) = (0, 0, Vec::new());
        for back in 1..=IN_A_ROW.1 {
            let day = first.saturating_add(jiff::Span::new().days(i64::try_from(back)?)).to_string();
            let cost = place.measure(&day, true)?;
            writeln!(out, "{}", morning(&day, plan, &cost))?;
            out.flush()?;
            (planned, requests) = (planned + cost.planned, requests + cost.requests);
            off.push((cost.planned as f64 / cost.requests as f64 - 1.0).abs() * 100.0);
        }
        off.sort_by(f64::total_cmp);
        let within = off.iter().filter(|off| **off <= 5.0).count();
        sums.push(format!(
            "{}: {requests} requests, {planned} planned; off by {:.1}% in the median, {:.1}% at worst, within 5% on {within} of {} mornings",
            plan.name,
            off[off.len() / 2],
            off[off.len() - 1],
            off.len()
        ));
    }
    writeln!(out, "\n{}", sums.join("\n"))?;
    Ok(())
}

fn morning(name: &str, plan: Plan, cost: &Cost) -> String {
    format!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0} |",
        plan.name,
        cost.added,
        cost.vanished,
        cost.bound,
        cost.requests,
        allowed(cost),
        cost.planned,
        error(cost),
        yes(cost.proven),
        stages(cost),
        cost.seconds
    )
}

/// Requests that a morning may cost.
fn allowed(cost: &Cost) -> u64 {
    2 * cost.bound + 25
}

fn error(cost: &Cost) -> String {
    format!("{:+.1}%", (cost.planned as f64 / cost.requests as f64 - 1.0) * 100.0)
}

fn yes(proven: bool) -> &'static str {
    if proven { "yes" } else { "no" }
}

fn stages(cost: &Cost) -> String {
    cost.by_stage.iter().map(|(stage, sent)| format!("{stage} {sent}")).collect::<Vec<_>>().join(", ")
}

/// Runs a scenario in a folder of its own.
fn measure(scenario: &Scenario) -> Outcome<Cost> {
    let place = Place::new(scenario.plan, scenario.shape)?;
    let Some((last, before)) = scenario.days.split_last() else {
        return Err("a scenario without days".into());
    };
    for day in before {
        place.run(day)?;
    }
    place.measure(last, scenario.name.contains("morning"))
}

/// A folder with a pipeline and a lake.
struct Place {
    plan: Plan,
    folder: tempfile::TempDir,
}

impl Place {
    fn new(plan: Plan, shape: &str) -> Outcome<Self> {
        let place = Self { plan, folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))? };
        std::fs::write(place.pipeline(), pipeline_file(plan, shape))?;
        Ok(place)
    }

    fn pipeline(&self) -> PathBuf {
        self.folder.path().join("pipeline.toml")
    }

    fn sunlake(&self, command: &str, pipeline: &Path, day: &str) -> Outcome<Value> {
        sunlake(&[command], pipeline, &self.folder.path().join("lake"), day)
    }

    fn run(&self, day: &str) -> Outcome<Value> {
        self.sunlake("run", &self.pipeline(), day)
    }

    /// Prices and runs the pipeline as of a day.
    fn measure(&self, day: &str, is_morning: bool) -> Outcome<Cost> {
        let started = Instant::now();
        let planned = self.sunlake("plan", &self.pipeline(), day)?;
        let summary = self.run(day)?;
        let status = self.sunlake("status", &PathBuf::new(), day)?;
        let number = |value: &Value| value.as_u64().unwrap_or(0);
        let rows = &summary["rows"]["filings"];
        let (landed, proven) = landed(&status, day, self.plan.window_days)?;
        let per_call = self.plan.rows_per_call;
        let added = number(&rows["added"]);
        // A morning's new rows of the two listings cannot be told apart from outside; together they need this many pages at least.
        let bound = if is_morning {
            added.div_ceil(per_call)
        } else {
            landed.values().map(|rows| rows.div_ceil(per_call)).sum()
        };
        Ok(Cost {
            rows: landed.values().sum(),
            added,
            vanished: number(&rows["vanished"]),
            bound,
            by_stage: serde_json::from_value(summary["requests"]["by_stage"].clone())?,
            requests: number(&summary["requests"]["sent"]),
            planned: number(&planned["requests"]),
            proven: proven && summary["outcome"] == "complete",
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// Rows that the lake lists in the window, by listing, and whether every day of it was proven whole.
fn landed(status: &Value, today: &str, window_days: u32) -> Outcome<(BTreeMap<String, u64>, bool)> {
    let today: jiff::civil::Date = today.parse()?;
    let first = today.saturating_sub(jiff::Span::new().days(i64::from(window_days) - 1)).to_string();
    let (mut landed, mut proven) = (BTreeMap::new(), true);
    for row in status["coverage"].as_array().into_iter().flatten() {
        if row["day"].as_str().is_some_and(|day| day >= first.as_str()) {
            let listing = row["entity_type"].as_str().unwrap_or_default().to_owned();
            *landed.entry(listing).or_insert(0) += row["landed"].as_u64().unwrap_or(0);
            proven &= row["complete"] == true && row["landed"] == row["expected"];
        }
    }
    Ok((landed, proven))
}

fn sunlake(command: &[&str], pipeline: &Path, lake: &Path, today: &str) -> Outcome<Value> {
    let mut process = Command::new(env!("CARGO_BIN_EXE_sunlake"));
    process.args(command);
    if pipeline.is_file() {
        process.arg(pipeline);
    }
    let done = process.args(["--json", "--no-progress", "--today", today, "--lake"]).arg(lake).output()?;
    let text = String::from_utf8_lossy(&done.stdout);
    let Some(line) = text.lines().last() else {
        return Err(
            format!("sunlake {command:?} said nothing: {}", String::from_utf8_lossy(&done.stderr)).into()
        );
    };
    Ok(serde_json::from_str(line)?)
}

/// The embedded API under the plan's numbers, its request caps widened so that a run takes seconds. A run that does not know the caps
/// would have to find out the plan's numbers for three requests; they are given.
fn pipeline_file(plan: Plan, shape: &str) -> String {
    let Plan { name, rows_per_call, max_offset, window_days } = plan;
    // The day before the window of the first run must be there too.
    let days = window_days * 2 + 40;
    format!(
        "name = \"efficiency\"\n\
         [source]\nembedded = true\n\
         [source.sample]\nseed = 1\ndays = {days}\nscale = 1.0\nshape = \"{shape}\"\nplan = \"{name}\"\n\
         per_minute = 1000000\nper_day = 1000000\nper_month = 10000000\n\
         [plan]\nrows_per_call = {rows_per_call}\nmax_offset = {max_offset}\nwindow_days = {window_days}\n\
         [extract]\ndays = \"window\"\n\
         [aggregates]\nenabled = false\n[report]\nenabled = false\n"
    )
}
