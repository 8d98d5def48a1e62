//! `status` and `report`: the contents of the lake.

use super::status_text::status_text;
use crate::cli::context::open_lake::{existing_state_dir, no_snapshot, open_lake, require_lake};
use crate::cli::exit::CommandError;
use crate::cli::output::error_text::MAKE_SNAPSHOT;
use crate::cli::session::Session;
use crate::export::catalog::write_catalog;
use crate::pipeline::maintain::status::lake_status;
use crate::pipeline::publish::report::write_report;

pub(crate) fn status(session: &Session<'_>, tables: bool) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    require_lake(&lake)?;
    let status = lake_status(&lake, &existing_state_dir(session, &lake), session.now())?;
    session.report(&status, || status_text(&status, &lake, session, tables))
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
