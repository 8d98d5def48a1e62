//! The tables.

use crate::driver::Measured;
use crate::florida::Florida;
use crate::grouped::grouped;
use crate::process::Facts;
use std::fmt::Write;
use std::time::Duration;

const MIB: f64 = 1_048_576.0;

/// What was measured, in Markdown.
#[derive(Default)]
pub(crate) struct Page {
    text: String,
}

impl Page {
    /// A lake and the server that has just loaded it.
    pub(crate) fn begin(&mut self, florida: &Florida, facts: &Facts) {
        let rows = florida.rows as f64;
        let share = |count: u64| 100.0 * count as f64 / rows;
        self.line(format_args!("\n## {} businesses\n", grouped(florida.rows)));
        self.line(format_args!(
            "{:.0} MiB of Parquet. Most names begin with `{}` ({:.1}%); the biggest city is {} ({:.1}%).\n",
            florida.bytes as f64 / MIB,
            florida.prefix.0,
            share(florida.prefix.1),
            florida.city.0,
            share(florida.city.1)
        ));
        self.line(format_args!(
            "Loaded in {:.1} s. The index takes {:.0} MiB, {:.0} bytes a business; the process {:.0} MiB.\n",
            facts.load_seconds,
            facts.index_bytes / MIB,
            facts.index_bytes / rows,
            facts.rss as f64 / MIB
        ));
        self.line(format_args!(
            "| 1,000 requests a second, open loop | p50 ms | p99 ms | p99.9 ms | answers a second | bytes | not 200 | processor \
             µs an answer |"
        ));
        self.line(format_args!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"));
    }

    /// A row of the open loop.
    pub(crate) fn open(&mut self, words: &str, measured: &Measured, spent: Duration) {
        self.line(format_args!(
            "| {words} | {:.2} | {:.2} | {:.2} | {:.0} | {} | {} | {:.0} |",
            measured.millis(50.0),
            measured.millis(99.0),
            measured.millis(99.9),
            measured.rate(),
            grouped(measured.mean_bytes()),
            measured.refused,
            micros_an_answer(measured, spent)
        ));
    }

    /// A closed loop.
    pub(crate) fn closed(&mut self, words: &str, connections: usize, measured: &Measured, spent: Duration) {
        self.line(format_args!(
            "\nClosed loop, {connections} connections, {words}: **{} answers a second**, p50 {:.2} ms, p99 {:.2} ms; {} \
             not 200; {:.0} processor µs an answer.",
            grouped(measured.rate() as u64),
            measured.millis(50.0),
            measured.millis(99.0),
            measured.refused,
            micros_an_answer(measured, spent)
        ));
    }

    /// The server after all this.
    pub(crate) fn after(&mut self, facts: &Facts) {
        self.line(format_args!("\nAfter all this the process has {:.0} MiB.", facts.rss as f64 / MIB));
    }

    /// A sentence.
    pub(crate) fn note(&mut self, text: &str) {
        self.line(format_args!("\n{text}"));
    }

    /// The table that compares with ROAPI.
    pub(crate) fn begin_comparison(&mut self, connections: usize) {
        self.line(format_args!(
            "\n| closed loop, {connections} connections | ours, a second | p50 ms | p99 ms | ROAPI, a second | p50 ms | \
             p99 ms | ratio |"
        ));
        self.line(format_args!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"));
    }

    /// A row that compares with ROAPI.
    pub(crate) fn compared(&mut self, words: &str, ours: &Measured, theirs: &Measured) {
        let refused = if ours.refused + theirs.refused > 0 { " (not all 200)" } else { "" };
        self.line(format_args!(
            "| {words}{refused} | {} | {:.2} | {:.2} | {:.0} | {:.2} | {:.2} | {:.0} |",
            grouped(ours.rate() as u64),
            ours.millis(50.0),
            ours.millis(99.0),
            theirs.rate(),
            theirs.millis(50.0),
            theirs.millis(99.0),
            ours.rate() / theirs.rate().max(0.01)
        ));
    }

    /// Memory of both.
    pub(crate) fn end_comparison(&mut self, ours: u64, theirs: u64) {
        self.line(format_args!(
            "\nROAPI gives the page without its total, and no look-up adds a detail. Its process has {:.0} MiB, ours {:.0}.",
            theirs as f64 / MIB,
            ours as f64 / MIB
        ));
    }

    /// The tables alone.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The tables as a page of the documentation.
    pub(crate) fn document(&self) -> String {
        let command: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
        format!(
            "# Serving: measured\n\nMade by `cargo bench --bench serve -- {}`; server, driver and ROAPI share the {} \
             cores of one machine ({}). `benches/serve/` says how.\n{}",
            command.join(" "),
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            processor(),
            self.text
        )
    }

    fn line(&mut self, what: std::fmt::Arguments<'_>) {
        println!("{what}");
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{what}");
    }
}

fn micros_an_answer(measured: &Measured, spent: Duration) -> f64 {
    spent.as_micros() as f64 / (measured.rate() * measured.length.as_secs_f64()).max(1.0)
}

fn processor() -> String {
    let all = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = all.lines().find_map(|line| line.strip_prefix("model name"));
    line.map(|rest| rest.trim_start_matches([' ', '\t', ':']).to_owned())
        .unwrap_or_else(|| "unknown".to_owned())
}
