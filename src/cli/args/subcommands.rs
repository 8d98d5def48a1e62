//! Flags and subcommands of `serve`, `snapshot`, `keys` and `export`.

use super::values::{connections, named, named_path, plan, table_name, web_address};
use crate::contract::plan::Plan;
use crate::serve::{DEFAULT_MAX_CONNECTIONS, LimitOverride};
use clap::builder::FalseyValueParser;
use clap::{Args, Subcommand, value_parser};
use std::path::PathBuf;
use std::str::FromStr;

/// Flags of `serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, env = "SUNLAKE_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDR")]
    pub listen: String,
    /// File of accounts and keys, made by `sunlake keys create`
    #[arg(long, env = "SUNLAKE_KEYS", value_parser = named_path(), value_name = "FILE")]
    pub keys: PathBuf,
    /// Address of the Prometheus metrics, at /metrics [default: none]
    #[arg(long, env = "SUNLAKE_METRICS", value_name = "ADDR")]
    pub metrics: Option<String>,
    /// Limits for every account, for test instances, such as `per_minute=1000,per_day=9000`
    #[arg(long, env = "SUNLAKE_PLAN_OVERRIDE", value_parser = named(LimitOverride::from_str), value_name = "LIMIT=N,...")]
    pub plan_override: Option<LimitOverride>,
    /// Most connections at once; a further client gets 503
    #[arg(long, env = "SUNLAKE_MAX_CONNECTIONS")]
    #[arg(value_parser = named(connections), value_name = "N", default_value_t = DEFAULT_MAX_CONNECTIONS)]
    pub max_connections: usize,
    /// Address of this server for clients, such as that of a proxy; /mcp then accepts its name
    #[arg(long, env = "SUNLAKE_PUBLIC_URL", value_parser = named(web_address), value_name = "URL")]
    pub public_url: Option<String>,
}

/// What to do with snapshots.
#[derive(Debug, Subcommand)]
pub enum SnapshotCommand {
    /// Every snapshot: number, day, rows, size, state
    List,
    /// One snapshot: tables, files, checks, state
    Show(Numbered),
    /// Rows that differ between two snapshots, by table and key
    Diff {
        /// Number of the older one
        before: u64,
        /// Number of the newer one
        after: u64,
    },
    /// Never prune a snapshot
    Pin(Numbered),
    /// Allow a snapshot to be pruned again
    Unpin(Numbered),
    /// Publish the tables of an old snapshot as a new one
    Rollback {
        /// Number of the old one
        snapshot: u64,
    },
    /// Publish a snapshot that is pending review
    Accept(Numbered),
    /// Delete the tables of old snapshots; never of the newest or a pinned one
    Prune(PruneFlags),
}

/// One snapshot.
#[derive(Debug, Clone, Copy, Args)]
pub struct Numbered {
    /// Its number
    pub snapshot: u64,
}

/// Retention rules. A snapshot that no rule keeps is deleted.
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
    /// Only show what would be deleted
    #[arg(long, env = "SUNLAKE_DRY_RUN", value_parser = FalseyValueParser::new())]
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
    },
    /// List the ids and accounts of keys, never the keys
    List,
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
    Csv {
        /// Folder of the files
        path: PathBuf,
        /// Snapshot and tables.
        #[command(flatten)]
        what: Selection,
        /// Leave cells as they are: no apostrophe before a formula
        #[arg(long, env = "SUNLAKE_RAW", value_parser = FalseyValueParser::new())]
        raw: bool,
    },
    /// A DuckDB database file
    Duckdb {
        /// The file
        file: PathBuf,
        /// Snapshot and tables.
        #[command(flatten)]
        what: Selection,
        /// DuckDB's command line program
        #[arg(long, env = "SUNLAKE_DUCKDB", default_value = "duckdb")]
        #[arg(value_parser = named_path(), value_name = "PATH")]
        duckdb: PathBuf,
    },
    /// A Delta Lake table of filings with a version for each snapshot; adds versions to an existing table
    Delta {
        /// Folder of the table
        path: PathBuf,
        /// Newest snapshot to export [default: the newest]
        #[arg(long, env = "SUNLAKE_SNAPSHOT", value_parser = named(value_parser!(u64)), value_name = "N")]
        snapshot: Option<u64>,
        /// Copy files even where a hard link is possible
        #[arg(long, env = "SUNLAKE_COPY", value_parser = FalseyValueParser::new())]
        copy: bool,
    },
}

/// A snapshot and some of its tables.
#[derive(Debug, Clone, Args)]
pub struct Selection {
    /// Snapshot number [default: the newest]
    #[arg(long, env = "SUNLAKE_SNAPSHOT", value_parser = named(value_parser!(u64)), value_name = "N")]
    pub snapshot: Option<u64>,
    /// Table or aggregate; repeat the flag, or separate names with commas [default: all]
    #[arg(long = "table", env = "SUNLAKE_TABLE", value_delimiter = ',', value_parser = table_name, value_name = "NAME")]
    pub tables: Vec<String>,
}
