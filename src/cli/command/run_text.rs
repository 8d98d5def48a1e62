//! The results of `run` and `plan` as text.

use crate::cli::output::words::{count, lines, noun, of_these_missing, prefixes, snapshots};
use crate::pipeline::plan::estimate::Price;
use crate::pipeline::publish::summary::{CoverageSummary, Outcome, RunSummary};
use crate::pipeline::state::registry::UnprovenStart;
use std::fmt::Write;
use std::path::Path;

/// Incomplete days that are listed.
const LISTED_DAYS: usize = 10;

/// The result of a run.
pub(super) fn run(summary: &RunSummary, lake: &Path) -> String {
    lines(|text| {
        if let Some(first) = &summary.finished_first {
            write!(text, "{}", run(first, lake))?;
        }
        read_and_requests(text, summary)?;
        coverage(text, &summary.coverage)?;
        registry_and_look_ups(text, summary)?;
        for check in &summary.checks {
            writeln!(text, "check      {check}")?;
        }
        if let Some(pending) = summary.held {
            writeln!(text, "pending    snapshot {pending}; publish it: sunlake snapshot accept {pending}")?;
        }
        if !summary.pruned.is_empty() {
            writeln!(text, "pruned     {}", snapshots(&summary.pruned))?;
        }
        if let Some(reason) = &summary.stopped {
            writeln!(text, "stopped    {reason}")?;
        }
        if let Some(time) = summary.go_on_after {
            writeln!(text, "resume     run again after {time}")?;
        }
        if let Some(day) = summary.complete_on {
            writeln!(text, "complete   on {day}, with a run every day")?;
        }
        writeln!(
            text,
            "took       {:.1} s, at most {} MiB",
            summary.elapsed_secs,
            summary.peak_rss_bytes >> 20
        )?;
        if summary.outcome != Outcome::Failed && summary.snapshot.is_some() {
            let root = lake.display();
            writeln!(
                text,
                "try        duckdb -c \"SELECT county, count(*) AS n FROM '{root}/current/filings/**/*.parquet' GROUP BY county ORDER BY n DESC LIMIT 10\""
            )?;
        }
        Ok(())
    })
}

fn read_and_requests(text: &mut String, summary: &RunSummary) -> std::fmt::Result {
    let snapshot = summary.snapshot.map_or("none".to_owned(), |number| number.to_string());
    let (pipeline, today, outcome) = (&summary.pipeline, summary.today, summary.outcome.name());
    writeln!(text, "{pipeline} as of {today}: {outcome}, snapshot {snapshot}")?;
    let requests = &summary.requests;
    write!(text, "requests   {} sent", requests.sent)?;
    for (stage, sent) in &requests.by_stage {
        write!(text, ", {stage} {sent}")?;
    }
    writeln!(text, "; {} retried, {} answered from the archive", requests.retried, requests.replayed)?;
    match summary.rows.get("filings") {
        Some(rows) => writeln!(
            text,
            "filings    {} read, {} added, {} changed, {} vanished, {} in the lake",
            rows.read, rows.added, rows.changed, rows.vanished, rows.total
        ),
        None => Ok(()),
    }
}

/// Complete days. A pipeline that reads the registry or look-ups has none.
fn coverage(text: &mut String, coverage: &CoverageSummary) -> std::fmt::Result {
    if coverage.days > 0 {
        writeln!(text, "coverage   {} of {} complete", coverage.complete, count(coverage.days, "day"))?;
    }
    for day in coverage.incomplete.iter().take(LISTED_DAYS) {
        let expected = day.expected.map_or("an unknown number of".to_owned(), |rows| rows.to_string());
        writeln!(text, "           {} {}: {} of {expected} rows", day.day, day.entity_type, day.landed)?;
    }
    match coverage.incomplete.len().saturating_sub(LISTED_DAYS) {
        0 => Ok(()),
        more => writeln!(text, "           and {more} more"),
    }
}

/// Progress of the registry and of look-ups, if the pipeline has them.
fn registry_and_look_ups(text: &mut String, summary: &RunSummary) -> std::fmt::Result {
    if let Some(register) = &summary.register {
        writeln!(
            text,
            "registry   {} read ({} without rows), {} left; {} found, {} businesses by the API's count{}",
            prefixes(register.starts),
            register.empty,
            register.left,
            count(register.rows, "row"),
            register.businesses_total,
            of_these_missing(register.missing)
        )?;
        for start in &register.unproven {
            let UnprovenStart { start, entity_type, expected, held: found } = start;
            writeln!(text, "           {start:?} {entity_type}: {found} of {expected} rows")?;
        }
    }
    let Some(enrich) = &summary.enrich else { return Ok(()) };
    writeln!(
        text,
        "looked up  {} of {} businesses, {} of them unknown to the API",
        enrich.looked_up, enrich.chosen, enrich.unknown
    )?;
    match enrich.quarantined {
        0 => Ok(()),
        left => writeln!(text, "           {left} in quarantine; later runs look them up again"),
    }
}

/// The estimate of a run.
pub(super) fn price(price: &Price) -> String {
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
        writeln!(text, "total        {requests}; the lower bound is {}", price.lower_bound)?;
        writeln!(text, "takes        {:.1} minutes at the plan's rate", price.minutes)?;
        let left = price.remaining;
        writeln!(text, "left         {} today, {} this month", left.day, left.month)?;
        match price.fits {
            true => writeln!(text, "fits         yes"),
            false => match price.complete_on {
                Some(day) => {
                    writeln!(text, "fits         no; it takes {}, until {day}", count(price.days, "day"))
                }
                None => writeln!(text, "fits         no, and not on any later day"),
            },
        }
    })
}
