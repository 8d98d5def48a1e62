//! `export`: a snapshot as text files, as a DuckDB file, as a Delta table.

use crate::cli::args::{ExportCommand, Selection};
use crate::cli::context::open_lake::open_lake;
use crate::cli::exit::CommandError;
use crate::cli::output::words::{count, lines, snapshots};
use crate::cli::session::Session;
use crate::export::csv::{CsvExport, export_csv};
use crate::export::delta::{DeltaExport, export_delta};
use crate::export::duckdb::{DuckdbExport, export_duckdb};
use crate::lake::Lake;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

pub(crate) fn export(session: &Session<'_>, command: &ExportCommand) -> Result<u8, CommandError> {
    let lake = open_lake(session)?;
    match command {
        ExportCommand::Csv { path, what, raw } => csv(session, &lake, path, what, *raw),
        ExportCommand::Duckdb { file, what, duckdb } => database(session, &lake, file, what, duckdb),
        ExportCommand::Delta { path, snapshot, copy } => {
            let export = DeltaExport { snapshot: *snapshot, copy: *copy };
            delta(session, &lake, path, export)
        }
    }
}

fn csv(
    session: &Session<'_>,
    lake: &Lake,
    folder: &Path,
    what: &Selection,
    raw: bool,
) -> Result<u8, CommandError> {
    let export = CsvExport { snapshot: what.snapshot, tables: what.tables.clone(), raw };
    let (commit, files) = export_csv(lake, folder, &export)?;
    session.report(&json!({ "snapshot": commit.snapshot, "path": folder, "files": files }), || {
        lines(|text| {
            for file in &files {
                writeln!(text, "{}: {}", file.path.display(), count(file.rows, "row"))?;
            }
            writeln!(text, "{} of snapshot {}", count(files.len() as u64, "table"), commit.snapshot)
        })
    })
}

fn database(
    session: &Session<'_>,
    lake: &Lake,
    file: &Path,
    what: &Selection,
    program: &Path,
) -> Result<u8, CommandError> {
    let export =
        DuckdbExport { snapshot: what.snapshot, tables: what.tables.clone(), program: program.to_owned() };
    let (commit, rows) = export_duckdb(lake, file, &export)?;
    session.report(&json!({ "snapshot": commit.snapshot, "path": file, "rows": rows }), || {
        let (path, tables) = (file.display(), count(rows.len() as u64, "table"));
        format!("{path}: {tables} of snapshot {}\n", commit.snapshot)
    })
}

fn delta(session: &Session<'_>, lake: &Lake, folder: &Path, export: DeltaExport) -> Result<u8, CommandError> {
    let report = export_delta(lake, folder, export)?;
    let mut value = serde_json::to_value(&report).map_err(|error| CommandError::Bug(error.to_string()))?;
    value["path"] = json!(folder);
    session.report(&value, || {
        lines(|text| {
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
    })
}
