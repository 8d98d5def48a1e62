//! The report of a snapshot: `catalog/report.html`, replaced whole.

use super::PipelineError;
use super::summary::RunSummary;
use crate::aggregate::read_figures;
use crate::lake::{Commit, Lake};
use crate::report::{IncompleteDay, ReportData, RunFacts, TableRows, render};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Writes the report of a snapshot; `run` are the facts of the run that made it, where they are at hand.
///
/// # Errors
/// Files that cannot be read or written.
pub fn write_report(
    lake: &Lake,
    commit: &Commit,
    run: Option<&RunSummary>,
) -> Result<PathBuf, PipelineError> {
    let dir = lake.snapshot_dir(commit.snapshot);
    let tables = commit.tables.keys().map(|table| (table.clone(), commit.table_files(&dir, table))).collect();
    let data = ReportData {
        lake: lake.root().display().to_string(),
        snapshot: Some(commit.snapshot),
        run: run.map(facts),
        figures: read_figures(&tables)?,
    };
    let folder = lake.root().join("catalog");
    let path = folder.join("report.html");
    let unwritten = |source| PipelineError::Write { path: path.clone(), source };
    std::fs::create_dir_all(&folder).map_err(unwritten)?;
    // A report is for others to read, unlike most temporary files.
    let readable = std::fs::Permissions::from_mode(0o644);
    let mut file = tempfile::Builder::new().permissions(readable).tempfile_in(&folder).map_err(unwritten)?;
    file.write_all(render(&data).as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(unwritten)?;
    file.persist(&path).map_err(|error| unwritten(error.error))?;
    Ok(path)
}

fn facts(summary: &RunSummary) -> RunFacts {
    let tables = summary.rows.iter().map(|(table, rows)| TableRows {
        table: table.clone(),
        read: rows.read,
        added: rows.added,
        changed: rows.changed,
        vanished: rows.vanished,
        total: rows.total,
    });
    let incomplete = summary.coverage.incomplete.iter().map(|day| IncompleteDay {
        day: day.day,
        expected: day.expected.unwrap_or(0),
        landed: day.landed,
    });
    RunFacts {
        run_id: summary.run_id.clone(),
        pipeline: summary.pipeline.clone(),
        outcome: summary.outcome.name().to_owned(),
        today: summary.today,
        requests_sent: summary.requests.sent,
        requests_retried: summary.requests.retried,
        requests_by_stage: summary.requests.by_stage.clone().into_iter().collect(),
        rows: tables.collect(),
        quarantined: summary.quarantined,
        incomplete: incomplete.collect(),
        elapsed_secs: summary.elapsed_secs,
    }
}
