//! Commands, subcommands, and their flags.

use super::ask::{ChangesArguments, QueryArguments};
use super::serve::ServeArguments;
use super::values::{
    Expiry, SnapshotName, day, expiry, named, named_path, plan, snapshot_name, switch, table_name, verbosity,
    whole_number,
};
use crate::contract::plan::Plan;
use clap::builder::StringValueParser;
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
#[command(next_help_heading = "Global options")]
pub struct Common {
    /// Root of the lake: a path, or s3://, gs:// or az:// with bucket and name
    #[arg(long, global = true, env = "SUNLAKE_LAKE", default_value = "output")]
    #[arg(value_parser = named_path(), value_name = "PATH")]
    pub lake: PathBuf,
    /// Whether the command line or a variable names the lake.
    #[arg(skip)]
    pub is_lake_given: bool,
    /// Working copy of a lake in an object store [default: a folder in the user's cache]
    #[arg(long, global = true, env = "SUNLAKE_WORK", value_parser = named_path(), value_name = "PATH")]
    pub work: Option<PathBuf>,
    /// Address of the API; overrides the pipeline file
    #[arg(long, global = true, env = "SUNLAKE_BASE_URL", value_parser = named(StringValueParser::new()), value_name = "URL")]
    pub base_url: Option<String>,
    /// Whether the command line has the address: one in a variable may be meant for other commands.
    #[arg(skip)]
    pub is_url_typed: bool,
    /// Folder of the request counts of each account, shared by all lakes of this host [default: sunlake in the user's state folder]
    #[arg(long, global = true, env = "SUNLAKE_STATE", value_parser = named_path(), value_name = "PATH")]
    pub state: Option<PathBuf>,
    /// Eastern day to run as [default: today]
    #[arg(long, global = true, env = "SUNLAKE_TODAY", value_parser = named(day), value_name = "YYYY-MM-DD")]
    pub today: Option<Date>,
    /// Print one JSON object on stdout; everything else goes to stderr
    #[arg(long, global = true, env = "SUNLAKE_JSON", value_parser = named(switch))]
    pub json: bool,
    /// Form of the log on stderr
    #[arg(long, global = true, env = "SUNLAKE_LOG_FORMAT", default_value = "text")]
    #[arg(value_parser = named(value_parser!(LogFormat)), value_name = "FORMAT")]
    pub log_format: LogFormat,
    /// Only errors on stderr
    #[arg(short, long, global = true, env = "SUNLAKE_QUIET", value_parser = named(switch))]
    pub quiet: bool,
    /// More on stderr; give it twice to see every request
    #[arg(short, long, global = true, action = ArgAction::Count, env = "SUNLAKE_VERBOSE")]
    #[arg(value_parser = named(verbosity))]
    pub verbose: u8,
    /// No progress bar
    #[arg(long, global = true, env = "SUNLAKE_NO_PROGRESS", value_parser = named(switch))]
    pub no_progress: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a pipeline: extract, normalize, lake, aggregate, check, publish, report
    Run {
        /// Path or name of a pipeline; names: NAME.toml, pipelines/NAME.toml, then the built-in ones [default: sample, unless an address or a key is set]
        pipeline: Option<PathBuf>,
        /// Do not ask before the first run of an account into a new lake
        #[arg(short, long, env = "SUNLAKE_YES", value_parser = named(switch))]
        yes: bool,
        /// Write metrics for Prometheus' node exporter to this file, such as sunlake.prom, after a failed run too
        #[arg(long, env = "SUNLAKE_METRICS_FILE", value_parser = named_path(), value_name = "FILE")]
        metrics_file: Option<PathBuf>,
    },
    /// Estimate the requests of a run; sends at most 3 requests
    Plan {
        /// Path or name of a pipeline; names: NAME.toml, pipelines/NAME.toml, then the built-in ones [default: sample, unless an address or a key is set]
        pipeline: Option<PathBuf>,
    },
    /// Read the sample into a lake of its own, `sunlake-demo`, and show a first result; no account, no key
    Demo,
    /// Write the built-in pipelines, aggregates and a scheduler's recipe as files; never overwrites
    Init {
        /// Folder in which `pipelines/` is made
        #[arg(default_value = ".", value_name = "DIR")]
        folder: PathBuf,
        /// Scheduler whose recipe is written
        #[arg(long, env = "SUNLAKE_SCHEDULE", default_value = "cron", value_parser = named(value_parser!(Schedule)))]
        schedule: Schedule,
    },
    /// Ask the lake in SQL, over its tables and the views `businesses` and `changes_detail`
    Query(QueryArguments),
    /// What appeared, changed, vanished or returned; by default on the newest day with changes
    Changes(ChangesArguments),
    /// Show the lake on one screen: newest day, complete days, quota left, last runs, what to do next
    Status {
        /// Also show the rows of each table
        #[arg(long, env = "SUNLAKE_TABLES", value_parser = named(switch))]
        tables: bool,
    },
    /// Name every damaged or missing file of the lake, or of the tables of one snapshot
    Verify {
        /// Snapshot number, or `latest` [default: all snapshots]
        #[arg(value_parser = snapshot_name)]
        snapshot: Option<SnapshotName>,
        /// Repair damaged files
        #[arg(long, env = "SUNLAKE_REPAIR", conflicts_with = "snapshot", value_parser = named(switch))]
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
        #[arg(long, env = "SUNLAKE_PUBLISH", value_parser = named(switch))]
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
    /// Check what a run needs: time, disk, lake, key; sends at most 1 request
    Doctor,
    /// Export for other programs: text files, a DuckDB file, a Delta table, a DuckLake catalogue
    Export {
        /// What to export.
        #[command(subcommand)]
        command: ExportCommand,
    },
    /// Shell completions on stdout: commands, flags and their values
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
    /// JSON Schema on stdout: for editors of pipeline files, for programs that read the summary
    Schema {
        /// Of what
        of: SchemaOf,
    },
    /// Write the manual pages, one for each command
    Man {
        /// Folder of the pages, such as ~/.local/share/man/man1; made if it is missing
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// What has a JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// A pipeline file.
    Pipeline,
    /// The object of `run --json`.
    Summary,
}

/// A scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "each is the name of a program")]
pub enum Schedule {
    Cron,
    Systemd,
    Airflow,
    Dagster,
    Kubernetes,
    Github,
}

/// What to do with snapshots.
#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// Every snapshot: number, day, rows, size, state
    List,
    /// One snapshot: tables, files, checks, state
    Show(Numbered),
    /// Rows that differ between two snapshots, by table and key, in more than when they were read
    Diff {
        /// Number of the older one
        #[arg(value_parser = snapshot_name)]
        before: SnapshotName,
        /// Number of the newer one, or `latest`
        #[arg(value_parser = snapshot_name)]
        after: SnapshotName,
    },
    /// Never prune a snapshot
    Pin(Numbered),
    /// Allow a snapshot to be pruned again
    Unpin(Numbered),
    /// Publish the tables of an old snapshot as a new one
    Rollback {
        /// Number of the old one
        #[arg(value_parser = snapshot_name)]
        snapshot: SnapshotName,
    },
    /// Publish a snapshot that is pending review
    Accept(Numbered),
    /// Delete the tables of old snapshots; never of the newest or a pinned one
    Prune(PruneFlags),
}

/// One snapshot.
#[derive(Debug, Clone, Copy, Args)]
pub struct Numbered {
    /// Its number, or `latest`
    #[arg(value_parser = snapshot_name)]
    pub snapshot: SnapshotName,
}

/// Retention rules. A snapshot that no rule keeps is deleted.
#[derive(Debug, Clone, Copy, Args)]
pub struct PruneFlags {
    /// Keep this many of the newest
    #[arg(long, env = "SUNLAKE_KEEP_LAST", default_value_t = 0)]
    #[arg(value_parser = named(whole_number), value_name = "N")]
    pub keep_last: u32,
    /// Keep the newest of each of this many days
    #[arg(long, env = "SUNLAKE_KEEP_DAILY", default_value_t = 0)]
    #[arg(value_parser = named(whole_number), value_name = "N")]
    pub keep_daily: u32,
    /// Keep the newest of each of this many weeks
    #[arg(long, env = "SUNLAKE_KEEP_WEEKLY", default_value_t = 0)]
    #[arg(value_parser = named(whole_number), value_name = "N")]
    pub keep_weekly: u32,
    /// Keep the newest of each of this many months
    #[arg(long, env = "SUNLAKE_KEEP_MONTHLY", default_value_t = 0)]
    #[arg(value_parser = named(whole_number), value_name = "N")]
    pub keep_monthly: u32,
    /// Delete raw pages of finished runs older than this many days whose snapshots are pruned
    #[arg(long, env = "SUNLAKE_RAW_DAYS", value_parser = named(whole_number), value_name = "DAYS")]
    pub raw_days: Option<u32>,
    /// Only show what would be deleted
    #[arg(long, env = "SUNLAKE_DRY_RUN", value_parser = named(switch))]
    pub dry_run: bool,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a key; it is printed once, alone on stdout
    Create {
        /// Name of the account; a new account is created
        #[arg(long, env = "SUNLAKE_ACCOUNT", value_name = "NAME")]
        account: String,
        /// Plan of the account
        #[arg(long, env = "SUNLAKE_PLAN")]
        #[arg(value_parser = named(plan), value_name = "starter|agency|enterprise")]
        plan: Plan,
        /// Scopes of the key
        #[arg(long, env = "SUNLAKE_SCOPES", value_delimiter = ',', default_value = "data")]
        scopes: Vec<String>,
        /// Eastern day from which the key is refused, or days from today, such as 90d [default: never]
        #[arg(long, env = "SUNLAKE_EXPIRES", value_parser = named(expiry), value_name = "DAY|Nd")]
        expires: Option<Expiry>,
    },
    /// List the ids and accounts of keys, their state and last use; never the keys
    List {
        /// Place of the request counts, as the server has it [default: state/usage.jsonl of the lake]
        #[arg(long, env = "SUNLAKE_USAGE", value_parser = named_path(), value_name = "FILE|URL")]
        usage: Option<PathBuf>,
    },
    /// Revoke a key
    Revoke {
        /// Its id
        id: String,
    },
}

/// What to export.
#[derive(Debug, Subcommand)]
pub enum ExportCommand {
    /// A text file for each table, safe to open in a spreadsheet
    Csv(CsvFlags),
    /// A DuckDB database file
    Duckdb(DuckdbFlags),
    /// A Delta Lake table of filings with a version for each snapshot; adds versions to an existing table
    Delta(DeltaFlags),
    /// A DuckLake catalogue of all kept snapshots over the files of the lake where they are; no row is copied
    Ducklake(DucklakeFlags),
}

/// Flags of `export csv`.
#[derive(Debug, Args)]
pub struct CsvFlags {
    /// Folder of the files
    pub path: PathBuf,
    /// Snapshot and tables.
    #[command(flatten)]
    pub what: Selection,
    /// Only the rows of businesses for which this is true; SQL as after `WHERE` in a query of filings
    #[arg(long = "where", env = "SUNLAKE_WHERE", value_name = "CONDITION")]
    pub condition: Option<String>,
    /// Leave cells as they are: no apostrophe before a formula
    #[arg(long, env = "SUNLAKE_RAW", value_parser = named(switch))]
    pub raw: bool,
}

/// Flags of `export duckdb`.
#[derive(Debug, Args)]
pub struct DuckdbFlags {
    /// The file
    pub file: PathBuf,
    /// Snapshot and tables.
    #[command(flatten)]
    pub what: Selection,
    /// DuckDB's command line program
    #[arg(long, env = "SUNLAKE_DUCKDB", default_value = "duckdb", value_parser = named_path(), value_name = "PATH")]
    pub duckdb: PathBuf,
}

/// Flags of `export delta`.
#[derive(Debug, Args)]
pub struct DeltaFlags {
    /// Folder of the table
    pub path: PathBuf,
    /// Newest snapshot to export: a number, or `latest` [default: the newest]
    #[arg(long, env = "SUNLAKE_SNAPSHOT", value_parser = named(snapshot_name), value_name = "N")]
    pub snapshot: Option<SnapshotName>,
    /// Copy files even where a hard link is possible
    #[arg(long, env = "SUNLAKE_COPY", value_parser = named(switch))]
    pub copy: bool,
}

/// Flags of `export ducklake`.
#[derive(Debug, Args)]
pub struct DucklakeFlags {
    /// The file of the catalogue
    pub file: PathBuf,
    /// DuckDB's command line program
    #[arg(long, env = "SUNLAKE_DUCKDB", default_value = "duckdb", value_parser = named_path(), value_name = "PATH")]
    pub duckdb: PathBuf,
    /// Replace a file that this command did not make
    #[arg(long, env = "SUNLAKE_FORCE", value_parser = named(switch))]
    pub force: bool,
}

/// A snapshot and some of its tables, and what they may replace.
#[derive(Debug, Clone, Args)]
pub struct Selection {
    /// Snapshot number, or `latest` [default: the newest]
    #[arg(long, env = "SUNLAKE_SNAPSHOT", value_parser = named(snapshot_name), value_name = "N")]
    pub snapshot: Option<SnapshotName>,
    /// Table or aggregate; repeat the flag, or separate names with commas [default: all]
    #[arg(long = "table", env = "SUNLAKE_TABLE", value_delimiter = ',', value_parser = table_name, value_name = "NAME")]
    pub tables: Vec<String>,
    /// Replace files that this command did not make
    #[arg(long, env = "SUNLAKE_FORCE", value_parser = named(switch))]
    pub force: bool,
}
