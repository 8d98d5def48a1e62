//! Versions of the table: which files a snapshot adds and removes, as actions of the Delta protocol.

use super::super::described::type_names;
use super::super::error::ExportError;
use super::super::outlet::{Pending, check_target, link_or_copy};
use super::super::snapshot::snapshot;
use super::log::{APP_ID, COMMITTED_AT, Log, entry_path};
use crate::lake::{Commit, FileEntry, Lake};
use crate::table::{Column, Table, columns};
use arrow::datatypes::DataType;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

/// A new version of the table; `added` and `removed` are numbers of files.
#[derive(Serialize)]
pub(crate) struct DeltaVersion {
    pub(crate) version: u64,
    pub(crate) snapshot: u64,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// The result of an export.
#[derive(Default, Serialize)]
pub(crate) struct DeltaReport {
    /// New versions, oldest first; none if the table had all.
    pub(crate) versions: Vec<DeltaVersion>,
    /// Snapshots that are not in the table because their files are pruned.
    pub(crate) pruned: Vec<u64>,
    /// Newest version of the table.
    newest: Option<u64>,
}

/// Adds a version to the Delta table at `folder` for each snapshot that it does not have; makes the table if it is missing.
///
/// `newest` is the newest snapshot to export, none for the newest of the lake. `copy` copies files even where a hard link is
/// possible.
pub(crate) fn export_delta(
    lake: &Lake,
    folder: &Path,
    newest: Option<u64>,
    copy: bool,
) -> Result<DeltaReport, ExportError> {
    check_target(folder, "folder")?;
    let target = snapshot(lake, newest)?.snapshot;
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
        report.versions.push(write_version(lake, folder, copy, &mut log, &commit)?);
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
    actions.extend(removed.iter().map(|path| remove(path, at)));
    let mut added = Vec::new();
    for (path, file) in parts.iter().filter(|(path, _)| !log.files.contains(**path)) {
        link_or_copy(&snapshot.file(file)?, &folder.join(path), copy)?;
        actions.push(add(path, file, at));
        added.push((*path).to_owned());
    }
    let version = log.next;
    create_entry(folder, version, &actions, commit)?;
    let made =
        DeltaVersion { version, snapshot: commit.snapshot, added: added.len(), removed: removed.len() };
    log.advance(commit.snapshot, added, &removed, schema_string());
    Ok(made)
}

/// Path of a file in the table: its path in the lake without the folder `filings`.
fn part_path(file: &FileEntry) -> &str {
    file.path.split_once('/').map_or(file.path.as_str(), |(_, path)| path)
}

/// Creates the log entry of a version, unless there is one.
///
/// Its file gets the time of the commit, because readers find the version of a time by it.
fn create_entry(folder: &Path, version: u64, actions: &[Value], commit: &Commit) -> Result<(), ExportError> {
    let path = entry_path(folder, version);
    let mut entry = Pending::new(&path)?;
    for action in actions {
        entry.put(format!("{action}\n").as_bytes())?;
    }
    entry.set_modified(SystemTime::from(commit.committed_at))?;
    if entry.publish_if_absent()? { Ok(()) } else { Err(ExportError::Overtaken(version, folder.to_owned())) }
}

/// The snapshot that a version comes from.
pub(super) fn provenance(commit: &Commit) -> Value {
    json!({"commitInfo": {
        "timestamp": commit.committed_at.as_millisecond(),
        "operation": "WRITE",
        "operationParameters": {"mode": "Overwrite", "partitionBy": "[\"filed_month\"]"},
        "engineInfo": concat!("sunlake/", env!("CARGO_PKG_VERSION")),
        "isBlindAppend": false,
        "sunlakeSnapshot": commit.snapshot,
        "sunlakeRun": commit.run_id,
        COMMITTED_AT: commit.committed_at.to_string(),
    }})
}

/// A file that a version removes.
pub(super) fn remove(path: &str, at: i64) -> Value {
    json!({"remove": {"path": path, "deletionTimestamp": at, "dataChange": true}})
}

/// A file that a version adds, with its statistics. A folder of its path has the month.
pub(super) fn add(path: &str, file: &FileEntry, at: i64) -> Value {
    let month = path.split('/').find_map(|folder| folder.split_once('='));
    let partition: Map<String, Value> =
        month.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    json!({"add": {
        "path": path,
        "partitionValues": partition,
        "size": file.bytes,
        "modificationTime": at,
        "dataChange": true,
        "stats": statistics(file).to_string(),
    }})
}

/// What a commit says of a file: rows, and the bounds of its days. The footer of a file says more.
fn statistics(file: &FileEntry) -> Value {
    let mut statistics = json!({"numRecords": file.rows});
    if let (Some(oldest), Some(newest)) = (file.min_filed_date, file.max_filed_date) {
        statistics["minValues"] = json!({"filed_date": oldest.to_string()});
        statistics["maxValues"] = json!({"filed_date": newest.to_string()});
    }
    statistics
}

/// The schema of the table in the form of the log.
pub(super) fn schema_string() -> String {
    let field = |name: &str, kind: &DataType, nullable: bool, meaning: &str| json!({"name": name, "type": type_names(kind).delta, "nullable": nullable, "metadata": {"comment": meaning}});
    let of_column =
        |column: &Column| field(column.name, &column.kind.data_type(), column.nullable, column.meaning);
    let mut fields: Vec<Value> = columns(Table::Filings).iter().map(of_column).collect();
    fields.push(field("filed_month", &DataType::Utf8, true, "month of filed_date, YYYY-MM"));
    json!({"type": "struct", "fields": fields}).to_string()
}
