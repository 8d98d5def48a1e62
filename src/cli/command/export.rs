//! `export`: a snapshot as text files, as a DuckDB file, as a Delta table.

use crate::cli::args::Common;
use crate::cli::args::env_errors::{named, named_path};
use crate::cli::context::open_lake::open_lake;
use crate::cli::exit;
use crate::cli::exit::CommandError;
use crate::cli::output::text;
use crate::cli::output::text::{count, snapshots};
use crate::cli::{World, print, print_line};
use crate::export::csv::{CsvExport, export_csv};
use crate::export::delta::{DeltaExport, export_delta};
use crate::export::duckdb::{DuckdbExport, export_duckdb};
use crate::lake::Lake;
use clap::builder::FalseyValueParser;
use clap::{Args, Subcommand, value_parser};
use std::path::{Path, PathBuf};

/// What to export.
#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// Text files, one a table, safe to open in a spreadsheet
    Csv {
        /// Folder of the files
        path: PathBuf,
        /// What of the lake.
        #[command(flatten)]
        what: Selection,
        /// Cells as they are: no apostrophe before one that a spreadsheet would take for a formula
        #[arg(long, env = "SUNLAKE_RAW", value_parser = FalseyValueParser::new())]
        raw: bool,
    },
    /// A DuckDB database file
    Duckdb {
        /// The file
        file: PathBuf,
        /// What of the lake.
        #[command(flatten)]
        what: Selection,
        /// DuckDB's command line program
        #[arg(long, env = "SUNLAKE_DUCKDB", default_value = "duckdb")]
        #[arg(value_parser = named_path(), value_name = "PATH")]
        duckdb: PathBuf,
    },
    /// A Delta Lake table of filings, one version a snapshot; goes on with the one that is there
    Delta {
        /// Folder of the table
        path: PathBuf,
        /// Newest snapshot to export [default: the newest there is]
        #[arg(long, env = "SUNLAKE_SNAPSHOT", value_parser = named(value_parser!(u64)), value_name = "N")]
        snapshot: Option<u64>,
        /// Copy files, even where a hard link would do
        #[arg(long, env = "SUNLAKE_COPY", value_parser = FalseyValueParser::new())]
        copy: bool,
    },
}

/// Which snapshot and which of its tables.
#[derive(Debug, Clone, Args)]
pub struct Selection {
    /// Snapshot number [default: the newest]
    #[arg(long, env = "SUNLAKE_SNAPSHOT", value_parser = named(value_parser!(u64)), value_name = "N")]
    snapshot: Option<u64>,
    /// Table or aggregate; may be given again, or several with commas between [default: all]
    #[arg(long = "table", env = "SUNLAKE_TABLE", value_delimiter = ',', value_parser = table_name, value_name = "NAME")]
    tables: Vec<String>,
}

/// Commas may be followed by spaces.
fn table_name(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.trim().to_owned())
}

pub(crate) fn export(common: &Common, world: &World, command: &ExportCommand) -> Result<u8, CommandError> {
    let lake = open_lake(common, world)?;
    match command {
        ExportCommand::Csv { path, what, raw } => csv(common, &lake, path, what, *raw),
        ExportCommand::Duckdb { file, what, duckdb } => database(common, &lake, file, what, duckdb),
        ExportCommand::Delta { path, snapshot, copy } => {
            let export = DeltaExport { snapshot: *snapshot, copy: *copy };
            delta(common, &lake, path, export)
        }
    }
}

fn csv(common: &Common, lake: &Lake, folder: &Path, what: &Selection, raw: bool) -> Result<u8, CommandError> {
    let export = CsvExport { snapshot: what.snapshot, tables: what.tables.clone(), raw };
    let (commit, files) = export_csv(lake, folder, &export)?;
    if common.json {
        let told = serde_json::json!({ "snapshot": commit.snapshot, "path": folder, "files": files });
        print_line(&text::json(&told)?)?;
    } else {
        for file in &files {
            print(&format!("{}: {}\n", file.path.display(), count(file.rows, "row")))?;
        }
        let tables = count(files.len() as u64, "table");
        print_line(&format!("{tables} of snapshot {}", commit.snapshot))?;
    }
    Ok(exit::DONE)
}

fn database(
    common: &Common,
    lake: &Lake,
    file: &Path,
    what: &Selection,
    program: &Path,
) -> Result<u8, CommandError> {
    let export =
        DuckdbExport { snapshot: what.snapshot, tables: what.tables.clone(), program: program.to_owned() };
    let (commit, rows) = export_duckdb(lake, file, &export)?;
    if common.json {
        let told = serde_json::json!({ "snapshot": commit.snapshot, "path": file, "rows": rows });
        print_line(&text::json(&told)?)?;
    } else {
        let (path, tables) = (file.display(), count(rows.len() as u64, "table"));
        print_line(&format!("{path}: {tables} of snapshot {}", commit.snapshot))?;
    }
    Ok(exit::DONE)
}

fn delta(common: &Common, lake: &Lake, folder: &Path, export: DeltaExport) -> Result<u8, CommandError> {
    let report = export_delta(lake, folder, export)?;
    if common.json {
        let mut told = serde_json::to_value(&report).map_err(|error| CommandError::Bug(error.to_string()))?;
        told["path"] = serde_json::json!(folder);
        print_line(&text::json(&told)?)?;
        return Ok(exit::DONE);
    }
    for made in &report.versions {
        let (version, snapshot, removed) = (made.version, made.snapshot, made.removed);
        let added = count(made.added as u64, "file");
        print(&format!("version {version}: snapshot {snapshot}, {added} came, {removed} went\n"))?;
    }
    if !report.pruned.is_empty() {
        print(&format!("left out, since their files were pruned: {}\n", snapshots(&report.pruned)))?;
    }
    if report.versions.is_empty() {
        print(&format!("{} has every snapshot\n", folder.display()))?;
    }
    Ok(exit::DONE)
}
