//! `changes`: what appeared, changed, vanished or returned.

use super::query::{Question, answer, rows_of};
use crate::cli::args::{ChangesArguments, RowFormat, Since};
use crate::cli::context::open_lake::{open_lake, require_snapshot};
use crate::cli::exit::{self, CommandError};
use crate::cli::session::Session;
use crate::export::described::quoted;
use crate::lake::Lake;
use std::io::Write as _;

const COLUMNS: &str =
    "observed_on, change, name, entity_type, county, city_clean, field, old, new, business_id";
const FEED_COLUMNS: &str = "observed_at, observed_on, change, name, entity_type, county, city_clean, field, old, new, business_id, run_id";

pub(crate) fn changes(session: &Session<'_>, arguments: &ChangesArguments) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    require_snapshot(&lake)?;
    let columns = if arguments.format == Some(RowFormat::Atom) { FEED_COLUMNS } else { COLUMNS };
    let question = Question { sql: sql(&lake, arguments, columns)?, snapshot: None };
    let has_found = answer(session, &question, arguments.format, arguments.output.as_deref())?;
    if !has_found && !session.common.quiet {
        // Where stderr is closed, the rows are all that is left.
        let _ = writeln!(std::io::stderr(), "note: {}", why_none(session, &lake)?);
    }
    Ok(exit::DONE)
}

/// Why no changes are shown.
fn why_none(session: &Session<'_>, lake: &Lake) -> Result<String, CommandError> {
    let newest = "SELECT CAST(MAX(observed_on) AS STRING) AS newest FROM changes";
    let rows = rows_of(session, &Question { sql: newest.to_owned(), snapshot: None })?;
    let newest = rows.first().and_then(|row| row["newest"].as_str());
    Ok(match (newest, lake.commits()?.len()) {
        (Some(day), _) => format!("no change is like that; the newest changes are of {day}"),
        (None, ..2) => "the lake has one snapshot: there is nothing earlier to compare with".to_owned(),
        (None, _) => "no run has found a change yet".to_owned(),
    })
}

/// The query of the changes that are asked for, newest first.
fn sql(lake: &Lake, arguments: &ChangesArguments, columns: &str) -> Result<String, CommandError> {
    let since = match arguments.since {
        None => "observed_on IN (SELECT MAX(observed_on) FROM changes)".to_owned(),
        Some(Since::Day(day)) => format!("observed_on >= CAST('{day}' AS DATE)"),
        Some(Since::Snapshot(number)) => format!("run_id IN ({})", runs_after(lake, number)?),
    };
    let mut conditions = vec![since];
    conditions.extend(arguments.county.map(|county| format!("county = {}", quoted(county))));
    conditions.extend(arguments.kind.map(|kind| format!("entity_type = {}", quoted(kind.key()))));
    conditions.extend(
        arguments.name.as_ref().map(|part| format!("STRPOS(LOWER(name), LOWER({})) > 0", quoted(part))),
    );
    Ok(format!(
        "SELECT {columns} FROM changes_detail WHERE {} ORDER BY observed_at DESC, change, name, business_id, field",
        conditions.join(" AND ")
    ))
}

/// The runs of the snapshots after one, as texts of SQL.
fn runs_after(lake: &Lake, number: u64) -> Result<String, CommandError> {
    // Fails if there is no such snapshot.
    lake.commit(number)?;
    let mut runs = vec![quoted("")];
    for later in lake.commits()?.into_iter().filter(|later| *later > number) {
        runs.push(quoted(&lake.commit(later)?.run_id));
    }
    Ok(runs.join(", "))
}
