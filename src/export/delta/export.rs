//! Versions of the table: which files a snapshot adds and removes.

use super::super::error::ExportError;
use super::super::outlet::{Pending, check_folder, link_or_copy};
use super::super::snapshot::snapshot;
use super::actions::{add, provenance, schema_string};
use super::log::{APP_ID, Log, entry_path};
use crate::lake::{Commit, FileEntry, Lake};
use crate::table::{Footer, Table};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

/// Options of an export to a Delta table.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeltaExport {
    /// The newest snapshot to export; `None` for the newest of the lake.
    pub snapshot: Option<u64>,
    /// Copies files even where a hard link is possible.
    pub copy: bool,
}

/// A new version of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DeltaVersion {
    /// Its number in the table.
    pub version: u64,
    /// Its snapshot.
    pub snapshot: u64,
    /// Files added.
    pub added: usize,
    /// Files removed.
    pub removed: usize,
}

/// The result of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DeltaReport {
    /// New versions, oldest first; none if the table had all.
    pub versions: Vec<DeltaVersion>,
    /// Snapshots that are not in the table because their files are pruned.
    pub pruned: Vec<u64>,
    /// Newest version of the table.
    pub newest: Option<u64>,
}

/// Adds a version to the Delta table at `folder` for each snapshot that it does not have; makes the table if it is missing.
///
/// # Errors
/// [`ExportError::Foreign`] for a table that was not exported from this lake; [`ExportError::Overtaken`] by another export;
/// [`ExportError::WrongTarget`]; errors of the lake and of the target's disk.
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
        link_or_copy(&from, &folder.join(path), copy)?;
        actions.push(add(path, file, at, &Footer::open(&from)?));
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
        writeln!(entry, "{action}").map_err(ExportError::write(&path))?;
    }
    entry.set_modified(SystemTime::from(commit.committed_at))?;
    match entry.publish_if_absent()? {
        true => Ok(()),
        false => Err(ExportError::Overtaken { version, path: folder.to_owned() }),
    }
}
