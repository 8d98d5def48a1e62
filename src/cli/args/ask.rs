//! Flags of `query` and `changes`.

use super::values::{Since, SnapshotName, county, entity_type, named, named_path, since, snapshot_name};
use crate::contract::reference::EntityType;
use clap::{Args, ValueEnum, value_parser};
use std::path::PathBuf;

/// Form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// Columns that fit the terminal.
    Table,
    /// Lines of comma-separated cells, safe to open in a spreadsheet.
    Csv,
    /// An array of objects.
    Json,
    /// An object a line.
    Ndjson,
    /// A table of a Markdown page.
    Markdown,
    /// A Parquet file.
    Parquet,
    /// A feed for readers of news; of `changes` alone.
    Atom,
}

/// Flags of `query`.
#[derive(Debug, Args)]
pub struct QueryArguments {
    /// The query
    #[arg(value_name = "SQL", conflicts_with = "file")]
    pub sql: Option<String>,
    /// File with the query; - reads stdin
    #[arg(short, long, env = "SUNLAKE_FILE", value_parser = named_path(), value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Form of the rows [default: that of the ending of the output file, such as .csv; else table; with --json: json]
    #[arg(long, env = "SUNLAKE_FORMAT", value_parser = named(value_parser!(RowFormat)))]
    pub format: Option<RowFormat>,
    /// File to write, which must not be there yet [default: stdout]
    #[arg(short, long, env = "SUNLAKE_OUTPUT", value_parser = named_path(), value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Snapshot number, or `latest` [default: the newest]
    #[arg(long, env = "SUNLAKE_SNAPSHOT", value_parser = named(snapshot_name), value_name = "N")]
    pub snapshot: Option<SnapshotName>,
}

/// Flags of `changes`.
#[derive(Debug, Args)]
pub struct ChangesArguments {
    /// Day, or number of a snapshot after which [default: the newest day with changes]
    #[arg(long, env = "SUNLAKE_SINCE", value_parser = named(since), value_name = "DATE|N")]
    pub since: Option<Since>,
    /// Only of this county
    #[arg(long, env = "SUNLAKE_COUNTY", value_parser = named(county), value_name = "NAME")]
    pub county: Option<&'static str>,
    /// Only of this type, such as llc
    #[arg(long = "type", env = "SUNLAKE_TYPE", value_parser = named(entity_type), value_name = "TYPE")]
    pub kind: Option<EntityType>,
    /// Only names with this text in them
    #[arg(long, env = "SUNLAKE_NAME", value_name = "TEXT")]
    pub name: Option<String>,
    /// Form of the changes [default: that of the ending of the output file, such as .csv; else table; with --json: json]
    #[arg(long, env = "SUNLAKE_FORMAT", value_parser = named(value_parser!(RowFormat)))]
    pub format: Option<RowFormat>,
    /// File to write, which must not be there yet [default: stdout]
    #[arg(short, long, env = "SUNLAKE_OUTPUT", value_parser = named_path(), value_name = "FILE")]
    pub output: Option<PathBuf>,
}
