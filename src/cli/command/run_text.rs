//! The results of `run` and `plan` as text.

use crate::cli::output::words::{
    complete_days, count, duration, noun, number, of_these_missing, open_days, prefixes, snapshots,
};
use crate::contract::eastern::instant;
use crate::contract::listing::Listing;
use crate::pipeline::plan::estimate::Price;
use crate::pipeline::publish::summary::{CoverageSummary, Outcome, RunSummary};
use crate::pipeline::state::registry::UnprovenPrefix;
use std::fmt::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

/// A query that every lake of filings answers.
const EXAMPLE_QUERY: &str = "SELECT name, city, county FROM businesses LIMIT 10";

/// Incomplete days that are listed.
const LISTED_DAYS: usize = 10;

/// Where the result of a run is, and the flags that lead to it again.
pub(super) struct Place<'p> {
    /// The report, if the run wrote one.
    pub(super) report: Option<PathBuf>,
    /// The command that continues the run.
    pub(super) again: &'p str,
    /// Whether the run read the embedded sample.
    pub(super) is_invented: bool,
    /// The flag of the lake, with a space before it; empty where none is needed.
    pub(super) lake_flag: &'p str,
}

/// The result of a run.
pub(super) fn run(text: &mut String, summary: &RunSummary, place: &Place<'_>) -> fmt::Result {
    if let Some(first) = &summary.finished_first {
        did(text, first)?;
    }
    did(text, summary)?;
    if place.is_invented {
        writeln!(text, "sample     invented by sunlake: no business in it exists")?;
    }
    if let Some(pending) = summary.held {
        writeln!(text, "pending    snapshot {pending} waits for review; look at it, then publish it:")?;
        writeln!(text, "           sunlake snapshot show {pending}{}", place.lake_flag)?;
        writeln!(text, "           sunlake snapshot accept {pending}{}", place.lake_flag)?;
    }
    run_again(text, summary, place)?;
    whats_next(text, summary, place)
}

/// What a run did.
fn did(text: &mut String, summary: &RunSummary) -> fmt::Result {
    read_and_requests(text, summary)?;
    coverage(text, &summary.coverage)?;
    registry_and_look_ups(text, summary)?;
    for check in &summary.checks {
        writeln!(text, "check      {check}")?;
    }
    if !summary.pruned.is_empty() {
        writeln!(text, "pruned     {}", snapshots(&summary.pruned))?;
    }
    let time = duration(Duration::from_secs_f64(summary.elapsed_secs.max(0.0)));
    match summary.peak_rss_bytes {
        0 => writeln!(text, "took       {time}"),
        bytes => writeln!(text, "took       {time}, at most {} MiB", number(bytes >> 20)),
    }
}

/// Why a run stopped, and the command that continues it.
fn run_again(text: &mut String, summary: &RunSummary, place: &Place<'_>) -> fmt::Result {
    if let Some(reason) = &summary.stopped {
        writeln!(text, "stopped    {reason}")?;
    }
    if let Some(day) = summary.complete_on {
        writeln!(text, "complete   on {day}, with a run every day")?;
    }
    if summary.outcome != Outcome::Partial {
        return Ok(());
    }
    match summary.go_on_after {
        Some(time) => writeln!(text, "resume     after {}: {}", instant(time), place.again),
        None => writeln!(text, "resume     {}", place.again),
    }
}

/// Where the result is, and how to look at it.
fn whats_next(text: &mut String, summary: &RunSummary, place: &Place<'_>) -> fmt::Result {
    if summary.outcome == Outcome::Failed || summary.snapshot.is_none() {
        return Ok(());
    }
    if let Some(report) = &place.report {
        writeln!(text, "report     {}", report.display())?;
    }
    let lake = place.lake_flag;
    writeln!(text, "next       sunlake query \"{EXAMPLE_QUERY}\"{lake}")?;
    writeln!(text, "           sunlake changes{lake}")
}

fn read_and_requests(text: &mut String, summary: &RunSummary) -> fmt::Result {
    let snapshot = summary.snapshot.map_or("no snapshot".to_owned(), |number| format!("snapshot {number}"));
    let (pipeline, today, outcome) = (&summary.pipeline, summary.today, summary.outcome.name());
    writeln!(text, "{pipeline} as of {today}: {outcome}, {snapshot}")?;
    let requests = &summary.requests;
    write!(text, "requests   {} sent", number(requests.sent))?;
    for (stage, sent) in requests.by_stage.iter().filter(|(_, sent)| **sent > 0) {
        write!(text, ", {stage} {}", number(*sent))?;
    }
    for (requests, what) in [(requests.retried, "retried"), (requests.replayed, "answered from the archive")]
    {
        if requests > 0 {
            write!(text, "; {} {what}", number(requests))?;
        }
    }
    writeln!(text)?;
    let Some(rows) = summary.rows.get("filings") else { return Ok(()) };
    write!(text, "filings    {} read", number(rows.read))?;
    for (rows, what) in [(rows.added, "added"), (rows.changed, "changed"), (rows.vanished, "vanished")] {
        if rows > 0 {
            write!(text, ", {} {what}", number(rows))?;
        }
    }
    writeln!(text, ", {} in the lake", number(rows.total))
}

/// Complete days. A pipeline that reads the registry or look-ups has none.
fn coverage(text: &mut String, coverage: &CoverageSummary) -> fmt::Result {
    if coverage.days > 0 {
        let (complete, days) = coverage.calendar_days();
        let listings = coverage.listings.iter().map(String::as_str);
        writeln!(text, "coverage   {}", complete_days(complete, days, listings))?;
        let by_listing = coverage.days_by_listing();
        // A day is complete when all its listings are: a run that stops has often read one of them further.
        if by_listing.iter().any(|(_, read)| *read > complete) {
            let read: Vec<String> = by_listing
                .iter()
                .map(|(label, read)| format!("{} {}", Listing::name_of(label), number(*read)))
                .collect();
            writeln!(text, "           complete by listing: {}", read.join(", "))?;
        }
    }
    let read = coverage
        .incomplete
        .iter()
        .filter_map(|day| Some((day.day, &*day.entity_type, day.landed, day.expected?)));
    open_days(text, &coverage.unread(), &read.collect::<Vec<_>>(), LISTED_DAYS)
}

/// Progress of the registry and of look-ups, if the pipeline has them.
fn registry_and_look_ups(text: &mut String, summary: &RunSummary) -> fmt::Result {
    if let Some(register) = &summary.register {
        writeln!(
            text,
            "registry   {} read ({} without rows), {} left; {} found, {} businesses by the API's count{}",
            prefixes(register.starts),
            number(register.empty),
            number(register.left),
            count(register.rows, "row"),
            number(register.businesses_total),
            of_these_missing(register.missing)
        )?;
        for start in &register.unproven {
            let UnprovenPrefix { start, entity_type, expected, held: found } = start;
            writeln!(text, "           {start:?} {entity_type}: {found} of {expected} rows")?;
        }
    }
    let Some(enrich) = &summary.enrich else { return Ok(()) };
    if enrich.chosen == 0 {
        return writeln!(text, "looked up  none: `[enrich] where` chooses no business that is due");
    }
    writeln!(
        text,
        "looked up  {} of {} businesses, {} of them unknown to the API",
        number(enrich.looked_up),
        number(enrich.chosen),
        number(enrich.unknown)
    )?;
    for number in &enrich.unknown_documents {
        writeln!(text, "           no business has the document number {number}")?;
    }
    match enrich.quarantined {
        0 => Ok(()),
        left => writeln!(text, "           {left} in quarantine; later runs look them up again"),
    }
}

/// The estimate of a run.
pub(super) fn price(text: &mut String, price: &Price) -> fmt::Result {
    writeln!(text, "{} as of {}", price.pipeline, price.today)?;
    for stage in &price.stages {
        writeln!(
            text,
            "{:<12} {:>6} {:<6} {:>9} {:<4} {:>7} {}",
            stage.name,
            number(stage.slices),
            noun(stage.slices, "slice"),
            number(stage.rows),
            noun(stage.rows, "row"),
            number(stage.requests),
            noun(stage.requests, "request")
        )?;
    }
    let requests = count(price.requests, "request");
    writeln!(text, "total        {requests}; the lower bound is {}", number(price.lower_bound))?;
    let time = duration(Duration::from_secs_f64(price.minutes.max(0.0) * 60.0));
    writeln!(text, "takes        {time} at the plan's rate")?;
    let left = price.remaining;
    writeln!(
        text,
        "left         {} today, {} this month",
        number(left.day.into()),
        number(left.month.into())
    )?;
    if price.fits {
        writeln!(text, "fits         yes")
    } else {
        match price.complete_on {
            Some(day) => {
                writeln!(text, "fits         no; it takes {}, until {day}", count(price.days, "day"))
            }
            None => writeln!(text, "fits         no, and not on any later day"),
        }
    }
}
