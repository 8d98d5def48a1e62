//! `changes`: what appeared, changed, vanished or returned.

use super::atom::feed;
use super::query::{Question, answer, ask, put};
use super::rows::objects_of;
use crate::cli::args::{ChangesArguments, RowFormat, Since};
use crate::cli::context::open_lake::{open_lake, require_snapshot};
use crate::cli::exit::{self, CommandError};
use crate::cli::session::Session;
use crate::lake::Lake;
use crate::pipeline::PipelineError;

const COLUMNS: &str =
    "observed_on, change, name, entity_type, county, city_clean, field, old, new, business_id";
const FEED_COLUMNS: &str =
    "observed_at, change, name, entity_type, county, city_clean, field, old, new, business_id, run_id";

pub(crate) fn changes(session: &Session<'_>, arguments: &ChangesArguments) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    require_snapshot(&lake)?;
    let is_feed = arguments.format == Some(RowFormat::Atom);
    let columns = if is_feed { FEED_COLUMNS } else { COLUMNS };
    let question = Question { sql: sql(&lake, arguments, columns)?, snapshot: None };
    let output = arguments.output.as_deref();
    match is_feed {
        true => {
            let rows = ask(session, &question)?;
            let rows = objects_of(rows.path()).map_err(PipelineError::from)?;
            put(feed(&rows, session.now()).as_bytes(), output)?;
        }
        false => answer(session, &question, arguments.format, output)?,
    }
    Ok(exit::DONE)
}

/// The query of the changes that are asked for, newest first.
fn sql(lake: &Lake, arguments: &ChangesArguments, columns: &str) -> Result<String, CommandError> {
    let since = match arguments.since {
        None => "observed_on IN (SELECT MAX(observed_on) FROM changes)".to_owned(),
        Some(Since::Day(day)) => format!("observed_on >= CAST('{day}' AS DATE)"),
        Some(Since::Snapshot(number)) => format!("run_id IN ({})", runs_after(lake, number)?),
    };
    let mut conditions = vec![since];
    conditions
        .extend(arguments.county.as_ref().map(|county| format!("LOWER(county) = LOWER({})", quoted(county))));
    conditions.extend(arguments.kind.as_ref().map(|kind| format!("entity_type = {}", quoted(kind))));
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

/// A text of SQL.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
