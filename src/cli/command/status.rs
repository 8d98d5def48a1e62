//! `status` and `report`: the contents of the lake.

use crate::cli::context::open_lake::{existing_state_dir, no_snapshot, open_lake, require_lake};
use crate::cli::exit::CommandError;
use crate::cli::output::error_text::MAKE_SNAPSHOT;
use crate::cli::output::words::{count, lines, noun, of_these_missing, prefixes};
use crate::cli::session::Session;
use crate::export::catalog::write_catalog;
use crate::lake::Lake;
use crate::pipeline::maintain::status::{LakeStatus, lake_status};
use crate::pipeline::publish::report::write_report;
use std::fmt::Write;

pub(crate) fn status(session: &Session<'_>) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    require_lake(&lake)?;
    let status = lake_status(&lake, &existing_state_dir(session, &lake), session.now())?;
    session.report(&status, || status_text(&status, &lake))
}

pub(crate) fn report(session: &Session<'_>) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    let Some(commit) = lake.current()? else {
        return Err(CommandError::Settings(no_snapshot(&lake)).hint(MAKE_SNAPSHOT));
    };
    let path = write_report(&lake, &commit, None)?.display().to_string();
    let catalog = write_catalog(&lake, &commit)?;
    let value = serde_json::json!({ "snapshot": commit.snapshot, "report": path, "catalog": catalog });
    session.report(&value, || format!("{path}\n"))
}

/// The state of a lake.
fn status_text(status: &LakeStatus, lake: &Lake) -> String {
    lines(|text| {
        let Some(newest) = status.snapshots.first() else {
            writeln!(text, "{}; {MAKE_SNAPSHOT}", no_snapshot(lake))?;
            return runs(text, status);
        };
        writeln!(
            text,
            "snapshot {} of {} ({} kept), by run {}",
            newest.snapshot,
            newest.committed_at,
            status.snapshots.len(),
            newest.run_id
        )?;
        for (table, rows) in &status.rows {
            writeln!(text, "  {table:<28} {rows:>9} {}", noun(*rows, "row"))?;
        }
        if let Some(register) = &status.register {
            writeln!(
                text,
                "registry: {} read, {}, the oldest as of {}; {} businesses by the API's count{}",
                prefixes(register.starts),
                count(register.rows, "row"),
                register.oldest_read.map_or("never".to_owned(), |day| day.to_string()),
                register.businesses_total,
                of_these_missing(register.missing)
            )?;
        }
        if status.days_wanted > 0 {
            let days = count(status.days_wanted, "day");
            writeln!(text, "coverage: {} of {days} complete", status.days_complete)?;
        }
        if let Some(newest) = status.newest_unread {
            let unread = count(status.days_wanted - status.coverage.len() as u64, "day");
            writeln!(text, "  {unread} not read yet, the newest {newest}")?;
        }
        for day in status.coverage.iter().filter(|day| !day.complete || day.landed != day.expected) {
            writeln!(text, "  {} {}: {} of {} rows", day.day, day.entity_type, day.landed, day.expected)?;
        }
        for budget in &status.budgets {
            writeln!(
                text,
                "requests to {} with key {}: {} this minute, {} today, {} this month",
                budget.service,
                budget.keys.join(", "),
                budget.used.minute,
                budget.used.day,
                budget.used.month
            )?;
        }
        runs(text, status)
    })
}

fn runs(text: &mut String, status: &LakeStatus) -> std::fmt::Result {
    for run in &status.runs {
        let ended = run.finished.as_deref().unwrap_or("unfinished, the next run resumes it");
        writeln!(text, "run {} as of {}: {ended}", run.run_id, run.today)?;
    }
    Ok(())
}
