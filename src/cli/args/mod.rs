//! The command line as typed.

pub(super) mod env_errors;

use super::command::export::ExportCommand;
use crate::contract::plan::Plan;
use crate::serve::{DEFAULT_MAX_CONNECTIONS, LimitOverride};
use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum, value_parser};
use env_errors::{named, named_path};
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
    /// Working copy of a lake in an object store [default: a folder of its own below the user's cache]
    #[arg(long, global = true, env = "SUNLAKE_WORK", value_parser = named_path(), value_name = "PATH")]
    pub work: Option<PathBuf>,
    /// Address of the API; goes before the pipeline file's
    #[arg(long, global = true, env = "SUNLAKE_BASE_URL", value_name = "URL")]
    pub base_url: Option<String>,
    /// Folder of what all lakes of this host share: the requests of each account [default: sunlake in the user's state folder]
    #[arg(long, global = true, env = "SUNLAKE_STATE", value_parser = named_path(), value_name = "PATH")]
    pub state: Option<PathBuf>,
    /// Eastern day to run as [default: today]
    #[arg(long, global = true, env = "SUNLAKE_TODAY", value_parser = named(day), value_name = "YYYY-MM-DD")]
    pub today: Option<Date>,
    /// One JSON object on stdout, as the last line; everything else goes to stderr
    #[arg(long, global = true, env = "SUNLAKE_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
    /// Form of the log on stderr
    #[arg(long, global = true, env = "SUNLAKE_LOG_FORMAT", default_value = "text")]
    #[arg(value_parser = named(value_parser!(LogFormat)), value_name = "FORMAT")]
    pub log_format: LogFormat,
    /// Less on stderr: errors alone
    #[arg(short, long, global = true, env = "SUNLAKE_QUIET", value_parser = FalseyValueParser::new())]
    pub quiet: bool,
    /// More on stderr; twice for every request
    #[arg(short, long, global = true, action = ArgAction::Count, env = "SUNLAKE_VERBOSE")]
    #[arg(value_parser = named(verbosity))]
    pub verbose: u8,
    /// No progress bar
    #[arg(long, global = true, env = "SUNLAKE_NO_PROGRESS", value_parser = FalseyValueParser::new())]
    pub no_progress: bool,
}

/// How often `-v` is meant by a variable: a number, or what other variables of flags take for on and off.
fn verbosity(text: &str) -> Result<u8, String> {
    match text.to_ascii_lowercase().as_str() {
        "" | "0" | "false" | "no" | "off" => Ok(0),
        "true" | "yes" | "on" => Ok(1),
        number => number.parse().map_err(|_| "give 0, 1 or 2".to_owned()),
    }
}

fn day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "a day is YYYY-MM-DD, as 2026-11-20".to_owned())
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
    /// What a run would ask for and cost; spends 3 requests at most
    Plan {
        /// Pipeline file
        #[arg(default_value = "pipelines/sample.toml")]
        pipeline: PathBuf,
    },
    /// The lake: snapshots, rows per table, coverage, budget used, last runs
    Status,
    /// Every file of the lake, or of one snapshot, against what was written: checksum, rows, footer, keys, commits
    Verify {
        /// Snapshot number [default: the whole lake]
        snapshot: Option<u64>,
        /// Put right what can be
        #[arg(long, env = "SUNLAKE_REPAIR", conflicts_with = "snapshot", value_parser = FalseyValueParser::new())]
        repair: bool,
    },
    /// Time travel and retention
    Snapshot {
        /// What to do.
        #[command(subcommand)]
        command: SnapshotCommand,
    },
    /// Make the tables of a run again from its archived pages, without a request, and compare
    Replay {
        /// The run, as `sunlake status` names it
        run: String,
        /// Publish the result as a new snapshot where it differs
        #[arg(long, env = "SUNLAKE_PUBLISH", value_parser = FalseyValueParser::new())]
        publish: bool,
    },
    /// Serve the API from the lake
    Serve(ServeArguments),
    /// Keys of `serve`
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
    /// What a run needs, looked at one by one: time, disk, lock, lake, pipeline files, key; at most 1 request
    Doctor {
        /// Folder of pipeline files
        #[arg(long, env = "SUNLAKE_PIPELINES", default_value = "pipelines")]
        #[arg(value_parser = named_path(), value_name = "PATH")]
        pipelines: PathBuf,
    },
    /// A snapshot for other programs: text files, a DuckDB file, a Delta table
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

/// Flags of `serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, env = "SUNLAKE_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDR")]
    pub listen: String,
    /// File of accounts and keys, made by `sunlake keys create`
    #[arg(long, env = "SUNLAKE_KEYS", value_parser = named_path(), value_name = "FILE")]
    pub keys: PathBuf,
    /// Address of a page of metrics for Prometheus, at /metrics [default: none]
    #[arg(long, env = "SUNLAKE_METRICS", value_name = "ADDR")]
    pub metrics: Option<String>,
    /// Limits in place of every account's, for test instances, such as `per_minute=1000,per_day=9000`
    #[arg(long, env = "SUNLAKE_PLAN_OVERRIDE", value_parser = named(limits), value_name = "LIMIT=N,...")]
    pub plan_override: Option<LimitOverride>,
    /// Connections at once; a further client is told to come again
    #[arg(long, env = "SUNLAKE_MAX_CONNECTIONS")]
    #[arg(value_parser = named(connections), value_name = "N", default_value_t = DEFAULT_MAX_CONNECTIONS)]
    pub max_connections: usize,
    /// Address under which clients know this server, as behind a proxy; its name is then accepted at /mcp
    #[arg(long, env = "SUNLAKE_PUBLIC_URL", value_parser = named(web_address), value_name = "URL")]
    pub public_url: Option<String>,
}

/// What to do with snapshots.
#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// Every snapshot: number, day, rows, size, and how it stands
    List,
    /// One snapshot: tables, files, checks, state
    Show {
        /// Its number
        snapshot: u64,
    },
    /// Rows that differ between two snapshots, by table and key
    Diff {
        /// Number of the one to compare with
        before: u64,
        /// Number of the one to compare
        after: u64,
    },
    /// Never prune a snapshot
    Pin {
        /// Its number
        snapshot: u64,
    },
    /// Let a snapshot be pruned again
    Unpin {
        /// Its number
        snapshot: u64,
    },
    /// Publish the tables of an old snapshot again, as a new one
    Rollback {
        /// Number of the old one
        snapshot: u64,
    },
    /// Publish a snapshot that a check held
    Accept {
        /// Its number
        snapshot: u64,
    },
    /// Delete the tables of old snapshots; never of the newest or a pinned one
    Prune(PruneFlags),
}

/// What to keep. A snapshot that no rule keeps goes.
#[derive(Debug, Clone, Copy, Args)]
pub struct PruneFlags {
    /// Keep this many of the newest
    #[arg(long, env = "SUNLAKE_KEEP_LAST", default_value_t = 0)]
    #[arg(value_parser = named(value_parser!(u32)), value_name = "N")]
    pub keep_last: u32,
    /// Keep the newest of each of this many days
    #[arg(long, env = "SUNLAKE_KEEP_DAILY", default_value_t = 0)]
    #[arg(value_parser = named(value_parser!(u32)), value_name = "N")]
    pub keep_daily: u32,
    /// Keep the newest of each of this many weeks
    #[arg(long, env = "SUNLAKE_KEEP_WEEKLY", default_value_t = 0)]
    #[arg(value_parser = named(value_parser!(u32)), value_name = "N")]
    pub keep_weekly: u32,
    /// Keep the newest of each of this many months
    #[arg(long, env = "SUNLAKE_KEEP_MONTHLY", default_value_t = 0)]
    #[arg(value_parser = named(value_parser!(u32)), value_name = "N")]
    pub keep_monthly: u32,
    /// Delete raw pages of finished runs older than this many days whose snapshots are pruned
    #[arg(long, env = "SUNLAKE_RAW_DAYS", value_parser = named(value_parser!(u32)), value_name = "DAYS")]
    pub raw_days: Option<u32>,
    /// Only say what would go
    #[arg(long, env = "SUNLAKE_DRY_RUN", value_parser = FalseyValueParser::new())]
    pub dry_run: bool,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key; it is printed once, alone on stdout
    Create {
        /// Name of the account; made when it is new
        #[arg(long, env = "SUNLAKE_ACCOUNT", value_name = "NAME")]
        account: String,
        /// Plan of the account
        #[arg(long, env = "SUNLAKE_PLAN")]
        #[arg(value_parser = named(plan), value_name = "starter|agency|enterprise")]
        plan: Plan,
        /// Scopes of the key
        #[arg(long, env = "SUNLAKE_SCOPES", value_delimiter = ',', default_value = "data")]
        scopes: Vec<String>,
    },
    /// List keys; never shows one
    List,
    /// End a key
    Revoke {
        /// Its id
        id: String,
    },
}

fn plan(text: &str) -> Result<Plan, String> {
    match text {
        "starter" => Ok(Plan::Starter),
        "agency" => Ok(Plan::Agency),
        "enterprise" => Ok(Plan::Enterprise),
        other => Err(format!("{other} is none of starter, agency, enterprise")),
    }
}

fn limits(text: &str) -> Result<LimitOverride, String> {
    text.parse()
}

fn connections(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "give a whole number from 1".to_owned())
}

fn web_address(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match name.map(|name| name.split('/').next().unwrap_or_default()) {
        Some(host)
            if !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || "@?#".contains(c)) =>
        {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err("an address begins with https:// or http:// and a name".to_owned()),
    }
}
