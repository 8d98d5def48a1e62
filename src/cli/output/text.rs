//! Results in words for people, and as one JSON object for machines.

use crate::cli::context::open_lake::no_snapshot;
use crate::cli::exit::CommandError;
use crate::lake::Lake;
use crate::pipeline::maintain::status::LakeStatus;
use crate::pipeline::plan::estimate::Price;
use crate::pipeline::publish::summary::{Outcome, RunSummary};
use crate::pipeline::state::registry::UnprovenStart;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// One line of JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(value).map_err(|error| CommandError::Bug(error.to_string()))
}

pub(crate) fn lines(write: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text);
    text
}

/// So many of something.
pub(crate) fn count(number: u64, one: &str) -> String {
    format!("{number} {}", noun(number, one))
}

/// The word for so many of something.
pub(crate) fn noun(number: u64, one: &str) -> String {
    if number == 1 { one.to_owned() } else { format!("{one}s") }
}

/// Snapshots by number.
pub(crate) fn snapshots(numbers: &[u64]) -> String {
    let listed: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("{} {}", noun(numbers.len() as u64, "snapshot"), listed.join(", "))
}

/// What a run did.
pub(crate) fn run(summary: &RunSummary, lake: &Path) -> String {
    lines(|text| {
        if let Some(first) = &summary.finished_first {
            writeln!(text, "{}", run(first, lake).trim_end())?;
        }
        let snapshot = summary.snapshot.map_or("none".to_owned(), |number| number.to_string());
        writeln!(text, "{} as of {}: {}, snapshot {snapshot}", summary.pipeline, summary.today, summary.outcome.name())?;
        let requests = &summary.requests;
        write!(text, "requests   {} sent", requests.sent)?;
        for (stage, sent) in &requests.by_stage {
            write!(text, ", {stage} {sent}")?;
        }
        writeln!(text, "; {} tried again, {} answered from the archive", requests.retried, requests.replayed)?;
        if let Some(rows) = summary.rows.get("filings") {
            writeln!(
                text,
                "filings    {} read, {} added, {} changed, {} vanished, {} in the lake",
                rows.read, rows.added, rows.changed, rows.vanished, rows.total
            )?;
        }
        let coverage = &summary.coverage;
        // The register and look-ups go by no days.
        if coverage.days > 0 {
            let days = count(coverage.days, "day");
            writeln!(text, "coverage   {} of {days} proven whole", coverage.complete)?;
        }
        for day in coverage.incomplete.iter().take(10) {
            let expected = day.expected.map_or("an unknown number of".to_owned(), |rows| rows.to_string());
            writeln!(text, "           {} {}: {} of {expected} rows", day.day, day.entity_type, day.landed)?;
        }
        if coverage.incomplete.len() > 10 {
            writeln!(text, "           and {} more", coverage.incomplete.len() - 10)?;
        }
        register(text, summary)?;
        for check in &summary.checks {
            writeln!(text, "check      {check}")?;
        }
        if let Some(held) = summary.held {
            writeln!(text, "held       snapshot {held}; publish it: sunlake snapshot accept {held}")?;
        }
        if !summary.pruned.is_empty() {
            writeln!(text, "pruned     {}", snapshots(&summary.pruned))?;
        }
        if let Some(reason) = &summary.stopped {
            writeln!(text, "stopped    {reason}")?;
        }
        if let Some(day) = summary.complete_on {
            writeln!(text, "complete   on {day}, if it goes on every day")?;
        }
        writeln!(text, "took       {:.1} s, {} MiB at most", summary.elapsed_secs, summary.peak_rss_bytes >> 20)?;
        if summary.outcome != Outcome::Failed && summary.snapshot.is_some() {
            let root = lake.display();
            write!(
                text,
                "try        duckdb -c \"SELECT county, count(*) AS n FROM '{root}/current/filings/**/*.parquet' GROUP BY county ORDER BY n DESC LIMIT 10\""
            )?;
        }
        Ok(())
    })
    .trim_end()
    .to_owned()
}

/// How far the register and look-ups have come, where the pipeline has them.
fn register(text: &mut String, summary: &RunSummary) -> std::fmt::Result {
    if let Some(register) = &summary.register {
        writeln!(
            text,
            "register   {} of a name read ({} by this run that no name has), {} left; {} found, {} businesses by the API's count",
            count(register.starts, "start"),
            register.empty,
            register.left,
            count(register.rows, "row"),
            register.businesses_total
        )?;
        for start in &register.unproven {
            let UnprovenStart { start, entity_type, expected, held } = start;
            writeln!(text, "           {start:?} {entity_type}: {held} of {expected} rows")?;
        }
    }
    match &summary.enrich {
        Some(enrich) => writeln!(
            text,
            "looked up  {} of {} businesses, {} of them unknown to the API",
            enrich.looked_up, enrich.chosen, enrich.unknown
        ),
        None => Ok(()),
    }
}

/// What a run would cost.
pub(crate) fn price(price: &Price) -> String {
    lines(|text| {
        writeln!(text, "{} as of {}", price.pipeline, price.today)?;
        for stage in &price.stages {
            writeln!(
                text,
                "{:<12} {:>6} {:<6} {:>9} {:<4} {:>7} {}",
                stage.name,
                stage.slices,
                noun(stage.slices, "slice"),
                stage.rows,
                noun(stage.rows, "row"),
                stage.requests,
                noun(stage.requests, "request")
            )?;
        }
        let requests = count(price.requests, "request");
        writeln!(text, "in all       {requests}; the lower bound is {}", price.lower_bound)?;
        writeln!(text, "at the plan's pace {:.1} minutes", price.minutes)?;
        let left = price.remaining;
        writeln!(text, "left         {} today, {} this month", left.day, left.month)?;
        match price.fits {
            true => write!(text, "fits         yes"),
            false => match price.complete_on {
                Some(day) => {
                    write!(text, "fits         no; it takes {}, until {day}", count(price.days, "day"))
                }
                None => write!(text, "fits         no, nor on any day to come"),
            },
        }
    })
}

/// Where a lake stands.
pub(crate) fn standing(standing: &LakeStatus, lake: &Lake) -> String {
    lines(|text| {
        let Some(newest) = standing.snapshots.first() else {
            writeln!(text, "{}", no_snapshot(lake))?;
            return runs(text, standing);
        };
        writeln!(
            text,
            "snapshot {} of {} ({} kept), by run {}",
            newest.snapshot,
            newest.committed_at,
            standing.snapshots.len(),
            newest.run_id
        )?;
        for (table, rows) in &standing.rows {
            writeln!(text, "  {table:<28} {rows:>9} {}", noun(*rows, "row"))?;
        }
        if let Some(register) = &standing.register {
            writeln!(
                text,
                "register: {} of a name read, {}, the oldest as of {}",
                count(register.starts, "start"),
                count(register.rows, "row"),
                register.oldest_read.map_or("never".to_owned(), |day| day.to_string())
            )?;
        }
        let complete = standing.coverage.iter().filter(|day| day.complete).count();
        if !standing.coverage.is_empty() {
            let days = count(standing.coverage.len() as u64, "day");
            writeln!(text, "coverage: {complete} of {days} proven whole")?;
        }
        for day in standing.coverage.iter().filter(|day| !day.complete || day.landed != day.expected) {
            writeln!(text, "  {} {}: {} of {} rows", day.day, day.entity_type, day.landed, day.expected)?;
        }
        for budget in &standing.budgets {
            writeln!(
                text,
                "requests to {} with key {}: {} this minute, {} today, {} this month",
                budget.service,
                budget.keys.join(", "),
                budget.minute,
                budget.day,
                budget.month
            )?;
        }
        runs(text, standing)
    })
}

fn runs(text: &mut String, standing: &LakeStatus) -> std::fmt::Result {
    for run in &standing.runs {
        let ended = run.finished.as_deref().unwrap_or("unfinished, goes on with the next run");
        writeln!(text, "run {} as of {}: {ended}", run.run_id, run.today)?;
    }
    Ok(())
}
