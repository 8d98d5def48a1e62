//! What reading costs, in requests.
//!
//! ```text
//! cargo bench --bench efficiency -- [WORD]... [--out FILE]
//! ```
//!
//! Measures the scenarios whose plan and name hold every WORD: `starter january`. Each starts the built program on the embedded API,
//! which serves a sample of Florida over HTTP under a plan's rows per call, max offset and window, and counts every request of the run.
//! The lower bound is the sum over listings of ceil(rows ÷ rows per call): no reader can do with fewer. `--out` puts each line that was
//! measured into the page at once, between the marker of its table and the next `<!-- end -->`; the other lines stay.

#[path = "common/grouped.rs"]
mod grouped;

use grouped::grouped;
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

const PLANS: [Plan; 3] = [STARTER, AGENCY, ENTERPRISE];

/// One line of a table.
struct Scenario {
    name: &'static str,
    plan: Plan,
    shape: &'static str,
    /// Days on which the pipeline runs, one after another into one lake; the last is measured.
    days: &'static [&'static str],
    /// Requests ÷ lower bound that the last run may cost.
    at_most: Option<f64>,
}

impl Scenario {
    fn is_morning(&self) -> bool {
        self.name.contains("morning")
    }
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

/// Complete windows into an empty lake: the plain register in summer and around New Year, then the skewed ones.
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

/// Complete windows again, after the window before has shown the lake how rows are spread.
const LEARNED: &[Scenario] = &[
    full("learned, summer", STARTER, "plain", &["2026-07-01", "2026-07-31"], 1.12),
    full("learned, summer", AGENCY, "plain", &["2026-05-02", "2026-07-31"], 1.05),
    full("learned, january peak", STARTER, "plain", &["2025-12-21", "2026-01-20"], 1.12),
    full("learned, january peak", AGENCY, "plain", &["2025-11-22", "2026-02-20"], 1.05),
];

/// Mornings after a complete reading.
const MORNINGS: &[Scenario] = &[
    measured("morning, Thursday", STARTER, "plain", &["2026-07-22", "2026-07-23"]),
    measured("morning, Saturday", STARTER, "plain", &["2026-07-24", "2026-07-25"]),
    measured("morning, Thursday", AGENCY, "plain", &["2026-07-22", "2026-07-23"]),
    measured("morning, Thursday", ENTERPRISE, "plain", &["2026-07-22", "2026-07-23"]),
];

/// Consecutive mornings after a complete reading, each priced and read: the first day, and the number of days after it.
const IN_A_ROW: (&str, i64) = ("2026-07-22", 15);

const READING: &str =
    "reading | plan | rows | lower bound | requests | efficiency | allowed | planned | error | complete";
const MORNING: &str =
    "morning | plan | rows new | rows gone | lower bound | requests | allowed | planned | error | complete";
const SUM: &str =
    "plan | requests | planned | error of the sum | error of a morning, median | at worst | within 5%";

/// The tables whose lines are compared with what they may cost: marker, columns, scenarios.
const JUDGED: [(&str, &str, &[Scenario]); 3] =
    [("cold", READING, COLD), ("learned", READING, LEARNED), ("mornings", MORNING, MORNINGS)];

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
    complete: bool,
    seconds: f64,
}

struct Arguments {
    words: Vec<String>,
    out: Option<PathBuf>,
}

fn arguments() -> Outcome<Arguments> {
    let mut read = Arguments { words: Vec::new(), out: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            // Added by cargo.
            "--bench" => {}
            "--out" => read.out = Some(words.next().ok_or("--out wants a file")?.into()),
            flag if flag.starts_with('-') => return Err(format!("there is no {flag}").into()),
            _ => read.words.push(word),
        }
    }
    Ok(read)
}

fn main() -> Outcome<()> {
    let Arguments { words, out } = arguments()?;
    let is_wanted = |name: &str, plan: Plan| {
        let text = format!("{} {name}", plan.name);
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let mut report = Report { page: out.map(Page::open).transpose()?, last: "" };
    let mut judged = Vec::new();
    for (marker, columns, scenarios) in JUDGED {
        let table = Table::of(marker, columns, scenarios);
        for scenario in scenarios.iter().filter(|scenario| is_wanted(scenario.name, scenario.plan)) {
            let line = [measured_line(scenario)?];
            report.add(&table, &line)?;
            judged.extend(line);
        }
    }
    for plan in PLANS.into_iter().filter(|plan| is_wanted("mornings in a row", *plan)) {
        mornings_in_a_row(plan, &mut report)?;
    }
    writeln!(std::io::stdout(), "\n{}", missed(judged.iter().map(String::as_str)))?;
    Ok(())
}

/// A table of the page: its marker there, its columns, and how each line it may have begins, in their order.
struct Table {
    marker: &'static str,
    columns: &'static str,
    beginnings: Vec<String>,
}

impl Table {
    fn of(marker: &'static str, columns: &'static str, scenarios: &[Scenario]) -> Self {
        let beginnings = scenarios.iter().map(|scenario| beginning(scenario.name, scenario.plan)).collect();
        Self { marker, columns, beginnings }
    }

    fn heading(&self) -> String {
        format!("| {} |\n{}|", self.columns, "| --- ".repeat(self.columns.split(" | ").count()))
    }

    /// The heading and the lines: those just measured, and the others unchanged.
    fn text(&self, measured: &[String], stood: &str) -> String {
        let mut text = self.heading() + "\n";
        for beginning in &self.beginnings {
            let mut known = measured.iter().map(String::as_str).chain(stood.lines());
            if let Some(line) = known.find(|line| line.starts_with(beginning.as_str())) {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }
}

/// Where lines go once they are measured: to stdout below the heading of their table, and into the page.
struct Report {
    page: Option<Page>,
    /// The table that stdout is in.
    last: &'static str,
}

impl Report {
    fn add(&mut self, table: &Table, lines: &[String]) -> Outcome<()> {
        let mut out = std::io::stdout().lock();
        if self.last != table.marker {
            writeln!(out, "\n{}", table.heading())?;
            self.last = table.marker;
        }
        for line in lines {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        match &mut self.page {
            Some(page) => page.put(table, lines),
            None => Ok(()),
        }
    }
}

/// A page whose tables stand between markers; all else in it is written by hand.
struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    /// Reads it; a page without a marker is reported before anything is measured.
    fn open(path: PathBuf) -> Outcome<Self> {
        let text = std::fs::read_to_string(&path)?;
        let page = Self { path, text };
        for marker in JUDGED.map(|(marker, ..)| marker).into_iter().chain(["missed", "sums", "in a row"]) {
            page.block(marker)?;
        }
        Ok(page)
    }

    /// The text before a marker, between it and its end, and after that.
    fn block(&self, marker: &str) -> Outcome<(&str, &str, &str)> {
        let found = self.text.split_once(&format!("<!-- {marker} -->\n")).and_then(|(before, rest)| {
            let end = rest.find("<!-- ").filter(|end| rest[*end..].starts_with("<!-- end -->"))?;
            Some((before, &rest[..end], &rest[end..]))
        });
        Ok(found.ok_or_else(|| format!("{}: no <!-- {marker} --> with an end", self.path.display()))?)
    }

    fn replace(&mut self, marker: &str, lines: &str) -> Outcome<()> {
        let (before, _, after) = self.block(marker)?;
        self.text = format!("{before}<!-- {marker} -->\n{lines}{after}");
        Ok(())
    }

    /// Puts lines into their table, and judges the tables anew.
    fn put(&mut self, table: &Table, lines: &[String]) -> Outcome<()> {
        let text = table.text(lines, self.block(table.marker)?.1);
        self.replace(table.marker, &text)?;
        let mut judged = String::new();
        for (marker, ..) in JUDGED {
            judged.push_str(self.block(marker)?.1);
        }
        self.replace("missed", &format!("{}\n", missed(judged.lines())))?;
        Ok(std::fs::write(&self.path, &self.text)?)
    }
}

/// Names the lines that cost more than they may, or are not complete. Requests used and allowed are in the same two columns
/// of readings and mornings.
fn missed<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let number = |cell: &str| cell.replace(',', "").parse::<f64>().ok();
    let mut names = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, plan, _, _, _, spent, allowed, _, _, complete] = cells[..] else { continue };
        let is_over = number(spent).zip(number(allowed)).is_some_and(|(spent, allowed)| spent > allowed);
        if is_over || complete == "no" {
            names.push(format!("{name}, {plan}"));
        }
    }
    format!("Missed: {}.", if names.is_empty() { "none".to_owned() } else { names.join("; ") })
}

/// The line of a window read to its end, or of a morning after one.
fn measured_line(scenario: &Scenario) -> Outcome<String> {
    let Scenario { name, plan, .. } = *scenario;
    let cost = measure(scenario)?;
    print_stages(name, plan, &cost)?;
    Ok(if scenario.is_morning() { morning(name, plan, &cost) } else { reading(scenario, &cost) })
}

/// Measures mornings of a plan in a row: a line for each, and how far their prices were off together.
fn mornings_in_a_row(plan: Plan, report: &mut Report) -> Outcome<()> {
    let first: jiff::civil::Date = IN_A_ROW.0.parse()?;
    let day = |after: i64| first.saturating_add(jiff::Span::new().days(after)).to_string();
    let days: Vec<String> = (1..=IN_A_ROW.1).map(day).collect();
    let place = Place::new(plan, "plain")?;
    place.run(IN_A_ROW.0)?;
    let (mut lines, mut costs) = (Vec::new(), Vec::new());
    for day in &days {
        let cost = place.measure(day, true)?;
        print_stages(day, plan, &cost)?;
        lines.push(morning(day, plan, &cost));
        costs.push(cost);
    }
    let beginnings =
        PLANS.iter().flat_map(|plan| days.iter().map(move |day| beginning(day, *plan))).collect();
    report.add(&Table { marker: "in a row", columns: MORNING, beginnings }, &lines)?;
    let beginnings = PLANS.iter().map(|plan| format!("| {} |", plan.name)).collect();
    report.add(&Table { marker: "sums", columns: SUM, beginnings }, &[sum(plan, &costs)])
}

/// How a line of a scenario begins.
fn beginning(name: &str, plan: Plan) -> String {
    format!("| {name} | {} |", plan.name)
}

fn reading(scenario: &Scenario, cost: &Cost) -> String {
    let efficiency = cost.requests as f64 / cost.bound as f64;
    let allowed = scenario.at_most.map_or("-".to_owned(), |most| format!("{most:.2}"));
    format!(
        "{} {} | {} | {} | {efficiency:.3} | {allowed} | {}",
        beginning(scenario.name, scenario.plan),
        grouped(cost.rows),
        grouped(cost.bound),
        grouped(cost.requests),
        price(cost)
    )
}

fn morning(name: &str, plan: Plan, cost: &Cost) -> String {
    format!(
        "{} {} | {} | {} | {} | {} | {}",
        beginning(name, plan),
        grouped(cost.added),
        grouped(cost.vanished),
        grouped(cost.bound),
        grouped(cost.requests),
        grouped(allowed(cost)),
        price(cost)
    )
}

/// The end of a line: planned requests, the error of the plan, and whether every day is complete.
fn price(cost: &Cost) -> String {
    let complete = if cost.complete { "yes" } else { "no" };
    format!("{} | {:+.1}% | {complete} |", grouped(cost.planned), percent_off(cost.planned, cost.requests))
}

/// The line of mornings in a row together.
fn sum(plan: Plan, costs: &[Cost]) -> String {
    let requests: u64 = costs.iter().map(|cost| cost.requests).sum();
    let planned: u64 = costs.iter().map(|cost| cost.planned).sum();
    let mut off: Vec<f64> = costs.iter().map(|cost| percent_off(cost.planned, cost.requests).abs()).collect();
    off.sort_by(f64::total_cmp);
    format!(
        "| {} | {} | {} | {:+.1}% | {:.1}% | {:.1}% | {} of {} |",
        plan.name,
        grouped(requests),
        grouped(planned),
        percent_off(planned, requests),
        off[off.len() / 2],
        off[off.len() - 1],
        off.iter().filter(|off| **off <= 5.0).count(),
        off.len()
    )
}

/// Requests that a morning may cost.
fn allowed(cost: &Cost) -> u64 {
    2 * cost.bound + 25
}

fn percent_off(planned: u64, requests: u64) -> f64 {
    (planned as f64 / requests as f64 - 1.0) * 100.0
}

/// Prints on stderr the requests of each stage, and the duration.
fn print_stages(name: &str, plan: Plan, cost: &Cost) -> Outcome<()> {
    let stages: Vec<String> = cost.by_stage.iter().map(|(stage, sent)| format!("{stage} {sent}")).collect();
    writeln!(std::io::stderr(), "{name}, {}: {}; {:.0} s", plan.name, stages.join(", "), cost.seconds)?;
    Ok(())
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
    place.measure(last, scenario.is_morning())
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
        let (landed, complete) = landed(&status, day, self.plan.window_days)?;
        let per_call = self.plan.rows_per_call;
        let added = number(&rows["added"]);
        // A morning's new rows of the two listings look the same from outside; together they need at least this number of pages.
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
            complete: complete && summary["outcome"] == "complete",
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

/// Rows that the lake lists in the window, by listing, and whether every day of it is complete.
fn landed(status: &Value, today: &str, window_days: u32) -> Outcome<(BTreeMap<String, u64>, bool)> {
    let today: jiff::civil::Date = today.parse()?;
    let first = today.saturating_sub(jiff::Span::new().days(i64::from(window_days) - 1)).to_string();
    let (mut landed, mut complete) = (BTreeMap::new(), true);
    for row in status["coverage"].as_array().into_iter().flatten() {
        if row["day"].as_str().is_some_and(|day| day >= first.as_str()) {
            let listing = row["entity_type"].as_str().unwrap_or_default().to_owned();
            *landed.entry(listing).or_insert(0) += row["landed"].as_u64().unwrap_or(0);
            complete &= row["complete"] == true && row["landed"] == row["expected"];
        }
    }
    Ok((landed, complete))
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
