//! Commands, and the flags that every command has.

use super::subcommands::{ExportCommand, KeysCommand, ServeArguments, SnapshotCommand};
use super::values::{day, named, named_path, verbosity};
use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, value_parser};
use jiff::civil::Date;
use std::path::PathBuf;

/// Turns the Florida Business Filings API into a columnar lake, and serves that API from the lake.
#[derive(Debug, Parser)]
#[command(name = "sunlake", version, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Flags of every command.
    #[command(flatten)]
    pub common: Common,
}

/// Form of the log on stderr.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Flags of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Root of the lake: a path, or s3://, gs:// or az:// with bucket and name
    #[arg(long, global = true, env = "SUNLAKE_LAKE", default_value = "output")]
    #[arg(value_parser = named_path(), value_name = "PATH")]
    pub lake: PathBuf,
    /// Working copy of a lake in an object store [default: a folder in the user's cache]
    #[arg(long, global = true, env = "SUNLAKE_WORK", value_parser = named_path(), value_name = "PATH")]
    pub work: Option<PathBuf>,
    /// Address of the API; overrides the pipeline file
    #[arg(long, global = true, env = "SUNLAKE_BASE_URL", value_name = "URL")]
    pub base_url: Option<String>,
    /// Folder of the request counts of each account, shared by all lakes of this host [default: sunlake in the user's state folder]
    #[arg(long, global = true, env = "SUNLAKE_STATE", value_parser = named_path(), value_name = "PATH")]
    pub state: Option<PathBuf>,
    /// Eastern day to run as [default: today]
    #[arg(long, global = true, env = "SUNLAKE_TODAY", value_parser = named(day), value_name = "YYYY-MM-DD")]
    pub today: Option<Date>,
    /// Print one JSON object on stdout; everything else goes to stderr
    #[arg(long, global = true, env = "SUNLAKE_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
    /// Form of the log on stderr
    #[arg(long, global = true, env = "SUNLAKE_LOG_FORMAT", default_value = "text")]
    #[arg(value_parser = named(value_parser!(LogFormat)), value_name = "FORMAT")]
    pub log_format: LogFormat,
    /// Only errors on stderr
    #[arg(short, long, global = true, env = "SUNLAKE_QUIET", value_parser = FalseyValueParser::new())]
    pub quiet: bool,
    /// More on stderr; give it twice to see every request
    #[arg(short, long, global = true, action = ArgAction::Count, env = "SUNLAKE_VERBOSE")]
    #[arg(value_parser = named(verbosity))]
    pub verbose: u8,
    /// No progress bar
    #[arg(long, global = true, env = "SUNLAKE_NO_PROGRESS", value_parser = FalseyValueParser::new())]
    pub no_progress: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a pipeline: extract, normalize, lake, aggregate, check, publish, report
    Run {
        /// Pipeline file
        #[arg(default_value = "pipelines/sample.toml")]
        pipeline: PathBuf,
    },
    /// Estimate the requests of a run; sends at most 3 requests
    Plan {
        /// Pipeline file
        #[arg(default_value = "pipelines/sample.toml")]
        pipeline: PathBuf,
    },
    /// Show the lake: snapshots, rows of each table, coverage, requests used, last runs
    Status,
    /// Verify every file of the lake, or of one snapshot: checksum, rows, footer, keys, commits
    Verify {
        /// Snapshot number [default: all snapshots]
        snapshot: Option<u64>,
        /// Repair damaged files
        #[arg(long, env = "SUNLAKE_REPAIR", conflicts_with = "snapshot", value_parser = FalseyValueParser::new())]
        repair: bool,
    },
    /// List, compare, pin, restore and prune snapshots
    Snapshot {
        /// What to do.
        #[command(subcommand)]
        command: SnapshotCommand,
    },
    /// Make the tables of a run again from its archived pages, without a request, and compare them
    Replay {
        /// The run, as `sunlake status` names it
        run: String,
        /// Publish the result as a new snapshot if it differs
        #[arg(long, env = "SUNLAKE_PUBLISH", value_parser = FalseyValueParser::new())]
        publish: bool,
    },
    /// Serve the API from the lake
    Serve(ServeArguments),
    /// Create, list and revoke the keys of `serve`
    Keys {
        /// File of accounts and keys
        #[arg(long, global = true, env = "SUNLAKE_KEYS", default_value = "keys.toml")]
        #[arg(value_parser = named_path(), value_name = "FILE")]
        keys: PathBuf,
        /// What to do with them.
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// Write the HTML report and the catalogue of the newest snapshot
    Report,
    /// Check what a run needs: time, disk, lock, lake, pipeline files, key; sends at most 1 request
    Doctor {
        /// Folder of pipeline files
        #[arg(long, env = "SUNLAKE_PIPELINES", default_value = "pipelines")]
        #[arg(value_parser = named_path(), value_name = "PATH")]
        pipelines: PathBuf,
    },
    /// Export a snapshot for other programs: text files, a DuckDB file, a Delta table
    Export {
        /// What to export.
        #[command(subcommand)]
        command: ExportCommand,
    },
    /// Shell completions on stdout
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}
