//! `export`: a snapshot as text files, as a DuckDB file; snapshots as a Delta table, as a DuckLake catalogue.

use super::ask::in_duckdb::with_duckdb;
use super::ask::query::hint_at_condition;
use crate::aggregate::choose_businesses;
use crate::cli::args::{CsvFlags, DeltaFlags, DuckdbFlags, DucklakeFlags, ExportCommand, SnapshotName};
use crate::cli::context::open_lake::{open_lake, snapshot_number};
use crate::cli::exit::{self, CommandError};
use crate::cli::output::words::{count, snapshots};
use crate::cli::session::Session;
use crate::export::csv::export_csv;
use crate::export::delta::export_delta;
use crate::export::duckdb::export_duckdb;
use crate::export::ducklake::export_ducklake;
use crate::export::{check_target, snapshot};
use crate::lake::{Commit, Lake};
use serde_json::json;
use std::collections::HashSet;
use std::fmt::Write;

pub(crate) fn export(session: &Session<'_>, command: &ExportCommand) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    match command {
        ExportCommand::Csv(flags) => csv(session, &lake, flags),
        ExportCommand::Duckdb(flags) => database(session, &lake, flags),
        ExportCommand::Delta(flags) => delta(session, &lake, flags),
        ExportCommand::Ducklake(flags) => ducklake(session, &lake, flags),
    }
}

/// The number of a snapshot, where one is named.
fn of(lake: &Lake, name: Option<SnapshotName>) -> Result<Option<u64>, CommandError> {
    name.map(|name| snapshot_number(lake, name)).transpose()
}

fn csv(session: &Session<'_>, lake: &Lake, flags: &CsvFlags) -> Result<u8, CommandError> {
    let CsvFlags { path: folder, what, condition, raw } = flags;
    check_target(folder, "folder")?;
    let commit = snapshot(lake, of(lake, what.snapshot)?)?;
    let chosen = condition.as_ref().map(|condition| businesses(lake, &commit, condition)).transpose()?;
    let files = export_csv(lake, &commit, folder, &what.tables, chosen.as_ref(), *raw, what.force)?;
    session.report(&json!({ "snapshot": commit.snapshot, "path": folder, "files": files }), |text| {
        for file in &files {
            writeln!(text, "{}: {}", file.path.display(), count(file.rows, "row"))?;
        }
        writeln!(text, "{} of snapshot {}", count(files.len() as u64, "table"), commit.snapshot)
    })?;
    if let Some(condition) = condition {
        hint_at_condition(session, condition, what.snapshot);
    }
    Ok(exit::DONE)
}

/// The businesses for which a condition is true.
fn businesses(lake: &Lake, commit: &Commit, condition: &str) -> Result<HashSet<i64>, CommandError> {
    let chosen = choose_businesses(condition, &lake.open_snapshot(commit).tables()?);
    let sql = format!("SELECT business_id FROM filings WHERE {condition}");
    Ok(chosen.map_err(|error| with_duckdb(lake, error, &sql))?.into_iter().collect())
}

fn database(session: &Session<'_>, lake: &Lake, flags: &DuckdbFlags) -> Result<u8, CommandError> {
    let DuckdbFlags { file, what, duckdb } = flags;
    let snapshot = of(lake, what.snapshot)?;
    let (commit, rows) = export_duckdb(lake, file, snapshot, &what.tables, duckdb, what.force)?;
    session.report(&json!({ "snapshot": commit.snapshot, "path": file, "rows": rows }), |text| {
        let (path, tables) = (file.display(), count(rows.len() as u64, "table"));
        writeln!(text, "{path}: {tables} of snapshot {}", commit.snapshot)
    })
}

fn delta(session: &Session<'_>, lake: &Lake, flags: &DeltaFlags) -> Result<u8, CommandError> {
    let folder = &flags.path;
    let report = export_delta(lake, folder, of(lake, flags.snapshot)?, flags.copy)?;
    let mut value = serde_json::to_value(&report).map_err(|error| CommandError::Bug(error.to_string()))?;
    value["path"] = json!(folder);
    session.report(&value, |text| {
        for made in &report.versions {
            let (version, snapshot, removed) = (made.version, made.snapshot, made.removed);
            let added = count(made.added as u64, "file");
            writeln!(text, "version {version}: snapshot {snapshot}, {added} added, {removed} removed")?;
        }
        if !report.pruned.is_empty() {
            writeln!(text, "left out, since their files were pruned: {}", snapshots(&report.pruned))?;
        }
        if report.versions.is_empty() {
            writeln!(text, "{} has every snapshot", folder.display())?;
        }
        Ok(())
    })
}

fn ducklake(session: &Session<'_>, lake: &Lake, flags: &DucklakeFlags) -> Result<u8, CommandError> {
    let DucklakeFlags { file, duckdb, force } = flags;
    let made = export_ducklake(lake, file, duckdb, *force)?;
    let newest = made.commit.snapshot;
    let value = json!({ "snapshot": newest, "snapshots": made.snapshots, "path": file, "rows": made.rows });
    session.report(&value, |text| {
        let (path, versions) = (file.display(), count(made.snapshots.len() as u64, "snapshot"));
        writeln!(text, "{path}: {versions} up to {newest}, {}", count(made.rows.len() as u64, "table"))
    })
}
