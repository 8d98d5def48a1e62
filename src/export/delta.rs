//! A Delta Lake table of `filings`: one version a snapshot, so that its history can be read by version or by time.
//!
//! Parts of the lake become data files of the table, as second names of the same files where the disk knows such; they
//! are named after their content, so a part that several snapshots share lies there once. A version is made by creating
//! its entry of the log, which names the parts that came and those that went. Entries are created, never changed.
//!
//! Source: the Delta transaction log protocol, reader version 1, writer version 2.

mod log;

use super::outlet::{Pending, check_folder, place};
use super::{ExportError, snapshot};
use crate::lake::{Commit, FileEntry, Lake};
use crate::table::{Bounds, Column, ColumnKind, Footer, Table, columns};
use log::{Log, entry_path};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

/// Longest text that stands in the statistics of a part.
const STATISTICS_TEXT: usize = 64;

/// What is wanted of an export to a Delta table.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeltaExport {
    /// The newest snapshot to export; none for the newest there is.
    pub snapshot: Option<u64>,
    /// Copies of the lake's files, even where a second name would do.
    pub copy: bool,
}

/// A version that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DeltaVersion {
    /// Its number in the table.
    pub version: u64,
    /// The snapshot it shows.
    pub snapshot: u64,
    /// Files that came.
    pub added: usize,
    /// Files that went.
    pub removed: usize,
}

/// What an export did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DeltaReport {
    /// The versions that were made, oldest first; none when the table had them all.
    pub versions: Vec<DeltaVersion>,
    /// Snapshots that are not in the table because their files were pruned before.
    pub pruned: Vec<u64>,
    /// Newest version of the table.
    pub newest: Option<u64>,
}

/// Makes, or goes on with, the Delta table at `folder`: a version for each snapshot that it does not have yet.
///
/// # Errors
/// [`ExportError::Foreign`] for a table that this lake did not make; [`ExportError::Asked`] when another export made a
/// version at the same time, or where `folder` is a file; what the lake and the target's disk say.
pub fn export_delta(lake: &Lake, folder: &Path, export: DeltaExport) -> Result<DeltaReport, ExportError> {
    check_folder(folder)?;
    let target = snapshot(lake, export.snapshot)?.snapshot;
    let mut log = Log::read(folder)?;
    log.check_source(lake, folder)?;
    let mut report = DeltaReport::default();
    let (done, kept) = (log.snapshot.unwrap_or(0), lake.kept_snapshots()?);
    for number in lake.commits()?.into_iter().filter(|number| *number > done && *number <= target) {
        if !kept.contains(&number) {
            report.pruned.push(number);
            continue;
        }
        let commit = lake.commit(number)?;
        report.versions.push(write_version(lake, folder, export.copy, &mut log, &commit)?);
    }
    report.newest = log.next.checked_sub(1);
    Ok(report)
}

fn write_version(
    lake: &Lake,
    folder: &Path,
    copy: bool,
    log: &mut Log,
    commit: &Commit,
) -> Result<DeltaVersion, ExportError> {
    let snapshot = lake.open_snapshot(commit);
    let manifest = commit.tables.get(Table::Filings.name());
    let parts: BTreeMap<&str, &FileEntry> =
        manifest.iter().flat_map(|manifest| &manifest.files).map(|file| (part_path(file), file)).collect();
    let removed: BTreeSet<String> =
        log.files.iter().filter(|path| !parts.contains_key(path.as_str())).cloned().collect();
    let mut actions = vec![provenance(commit)];
    actions.extend(log.schema_actions(commit, schema_string()));
    actions.push(json!({"txn": {"appId": APP_ID, "version": commit.snapshot}}));
    let at = commit.committed_at.as_millisecond();
    actions.extend(
        removed
            .iter()
            .map(|path| json!({"remove": {"path": path, "deletionTimestamp": at, "dataChange": true}})),
    );
    let mut added = Vec::new();
    for (path, file) in parts.iter().filter(|(path, _)| !log.files.contains(**path)) {
        let from = snapshot.file(file)?;
        place(&from, &folder.join(path), copy)?;
        actions.push(add(path, file, at, &Footer::open(&from)?));
        added.push((*path).to_owned());
    }
    let version = log.next;
    create_entry(folder, version, &actions, commit)?;
    let made =
        DeltaVersion { version, snapshot: commit.snapshot, added: added.len(), removed: removed.len() };
    log.follow(commit.snapshot, added, &removed, schema_string());
    Ok(made)
}

/// Names whose version is that of the snapshot.
const APP_ID: &str = "sunlake";

/// Path of a part in the table: its path in the lake without the table's folder.
fn part_path(file: &FileEntry) -> &str {
    file.path.split_once('/').map_or(file.path.as_str(), |(_, path)| path)
}

fn provenance(commit: &Commit) -> Value {
    json!({"commitInfo": {
        "timestamp": commit.committed_at.as_millisecond(),
        "operation": "WRITE",
        "operationParameters": {"mode": "Overwrite", "partitionBy": "[\"filed_month\"]"},
        "engineInfo": concat!("sunlake/", env!("CARGO_PKG_VERSION")),
        "isBlindAppend": false,
        "sunlakeSnapshot": commit.snapshot,
        "sunlakeRun": commit.run_id,
        "sunlakeCommittedAt": commit.committed_at.to_string(),
    }})
}

fn add(path: &str, file: &FileEntry, at: i64, footer: &Footer) -> Value {
    let month = path.split('/').next().and_then(|folder| folder.split_once('='));
    let partition: Map<String, Value> =
        month.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    json!({"add": {
        "path": path,
        "partitionValues": partition,
        "size": file.bytes,
        "modificationTime": at,
        "dataChange": true,
        "stats": statistics(footer).to_string(),
    }})
}

/// Rows, nulls and bounds of a part. A bound that the footer does not give exactly is left out, and so are those of
/// instants, which readers round in different ways.
fn statistics(footer: &Footer) -> Value {
    let (mut least, mut most, mut nulls) = (Map::new(), Map::new(), Map::new());
    for field in footer.schema().fields() {
        let span = footer.span(field.name());
        if let Some(count) = span.nulls {
            nulls.insert(field.name().clone(), json!(count));
        }
        let bounds = match span.bounds {
            Some(Bounds::Integers(low, high)) => Some((json!(low), json!(high))),
            Some(Bounds::Days(low, high)) => Some((json!(low.to_string()), json!(high.to_string()))),
            Some(Bounds::Texts(low, high)) if low.len().max(high.len()) <= STATISTICS_TEXT => {
                Some((json!(low), json!(high)))
            }
            _ => None,
        };
        if let Some((low, high)) = bounds {
            least.insert(field.name().clone(), low);
            most.insert(field.name().clone(), high);
        }
    }
    json!({"numRecords": footer.rows(), "minValues": least, "maxValues": most, "nullCount": nulls})
}

/// The table's schema as the log has it.
fn schema_string() -> String {
    let kind = |column: &Column| match column.kind {
        ColumnKind::Int32 => "integer",
        ColumnKind::Int64 => "long",
        ColumnKind::Text => "string",
        ColumnKind::Boolean => "boolean",
        ColumnKind::Date => "date",
        ColumnKind::Timestamp => "timestamp",
    };
    let field = |name: &str, kind: &str, nullable: bool, meaning: &str| json!({"name": name, "type": kind, "nullable": nullable, "metadata": {"comment": meaning}});
    let mut fields: Vec<Value> = columns(Table::Filings)
        .iter()
        .map(|column| field(column.name, kind(column), column.nullable, column.meaning))
        .collect();
    fields.push(field("filed_month", "string", true, "month of filed_date, YYYY-MM"));
    json!({"type": "struct", "fields": fields}).to_string()
}

/// Creates the log entry of a version, unless there is one. Its file gets the time of the commit, by which readers look
/// up the version of an instant.
fn create_entry(folder: &Path, version: u64, actions: &[Value], commit: &Commit) -> Result<(), ExportError> {
    let path = entry_path(folder, version);
    let mut entry = Pending::new(&path)?;
    for action in actions {
        writeln!(entry, "{action}").map_err(ExportError::write(&path))?;
    }
    entry.set_modified(SystemTime::from(commit.committed_at))?;
    match entry.publish_if_absent()? {
        true => Ok(()),
        false => Err(ExportError::Asked(format!(
            "another export made version {version} of {} at the same time; export again",
            folder.display()
        ))),
    }
}
