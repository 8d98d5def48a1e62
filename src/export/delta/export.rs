//! Versions of the table: which files a snapshot adds and removes, as actions of the Delta protocol.

use super::super::described::type_names;
use super::super::error::ExportError;
use super::super::outlet::{Pending, check_target, link_or_copy};
use super::super::snapshot::snapshot;
use super::log::{APP_ID, COMMITTED_AT, Log, entry_path};
use crate::lake::{Commit, FileEntry, Lake};
use crate::table::{Column, Table, columns};
use arrow_schema::DataType;
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
    let files = commit.files(Some(Table::Filings.name()));
    let parts: BTreeMap<String, &FileEntry> = files.map(|file| (part_path(file), file)).collect();
    let new = parts.iter().filter(|(path, _)| !log.files.contains(*path));
    for (path, file) in new.clone() {
        link_or_copy(&snapshot.file(file)?, &folder.join(path), copy)?;
    }
    let removed = log.files.iter().filter(|path| !parts.contains_key(*path)).count();
    let made = DeltaVersion { version: log.next, snapshot: commit.snapshot, added: new.count(), removed };
    let schema = schema_string();
    let actions = actions(commit, log.schema_actions(commit, &schema), &log.files, &parts);
    create_entry(folder, log.next, &actions, commit)?;
    log.advance(commit.snapshot, parts.into_keys().collect(), schema);
    Ok(made)
}

/// The actions of a version: those of its schema, the files that it removes, and those that it adds.
pub(super) fn actions(
    commit: &Commit,
    schema: Vec<Value>,
    old: &BTreeSet<String>,
    new: &BTreeMap<String, &FileEntry>,
) -> Vec<Value> {
    let at = commit.committed_at.as_millisecond();
    let mut actions = vec![provenance(commit)];
    actions.extend(schema);
    actions.push(json!({"txn": {"appId": APP_ID, "version": commit.snapshot}}));
    let gone = old.iter().filter(|path| !new.contains_key(*path));
    actions.extend(
        gone.map(|path| json!({"remove": {"path": path, "deletionTimestamp": at, "dataChange": true}})),
    );
    let added = new.iter().filter(|(path, _)| !old.contains(*path));
    actions.extend(added.map(|(path, file)| add(path, file, at)));
    actions
}

/// Path of a file in the table: its path in the lake without the folder `filings`.
fn part_path(file: &FileEntry) -> String {
    file.path.split_once('/').map_or(file.path.as_str(), |(_, path)| path).to_owned()
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
fn provenance(commit: &Commit) -> Value {
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

/// A file that a version adds, with its statistics. A folder of its path has the month.
fn add(path: &str, file: &FileEntry, at: i64) -> Value {
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
