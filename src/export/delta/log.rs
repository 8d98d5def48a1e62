//! The log of an existing Delta table: its versions, its files, and the snapshot of its newest version.

use super::super::described::uuid;
use super::super::error::ExportError;
use crate::lake::{Commit, Lake, LakeError};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The state of a table after all entries of its log.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Log {
    /// Number of the next version.
    pub(super) next: u64,
    /// Paths of its files.
    pub(super) files: BTreeSet<String>,
    /// Snapshot of the newest version.
    pub(super) snapshot: Option<u64>,
    /// Time of that snapshot's commit.
    committed_at: Option<String>,
    /// Identity of the table.
    id: Option<String>,
    schema: Option<String>,
}

/// Application id of the transactions; their version is the number of the snapshot.
pub(super) const APP_ID: &str = "sunlake";

/// The file of a version.
pub(super) fn entry_path(folder: &Path, version: u64) -> PathBuf {
    folder.join(LOG_FOLDER).join(format!("{version:020}.json"))
}

const LOG_FOLDER: &str = "_delta_log";
/// Key of the time of a snapshot's commit.
pub(super) const COMMITTED_AT: &str = "sunlakeCommittedAt";

impl Log {
    /// Reads the log of the table at `folder`; an empty one if there is no folder, or only leftovers of an export that was killed.
    pub(super) fn read(folder: &Path) -> Result<Self, ExportError> {
        let mut log = Self::default();
        let entries = entries(folder)?;
        if entries.is_empty() && !has_only_leftovers(folder)? {
            let what = "the folder holds something else".to_owned();
            return Err(ExportError::Foreign(folder.to_owned(), what));
        }
        for (version, path) in entries {
            if version != log.next {
                let what = format!("version {} is missing from its log", log.next);
                return Err(ExportError::Foreign(folder.to_owned(), what));
            }
            log.take(&path)?;
            log.next += 1;
        }
        Ok(log)
    }

    fn take(&mut self, path: &Path) -> Result<(), ExportError> {
        let foreign = |what: String| ExportError::Foreign(path.to_owned(), what);
        let bytes = fs::read(path).map_err(ExportError::read(path))?;
        let text = String::from_utf8(bytes).map_err(|error| foreign(error.to_string()))?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let action: Value = serde_json::from_str(line).map_err(|error| foreign(error.to_string()))?;
            self.apply(&action);
        }
        Ok(())
    }

    fn apply(&mut self, action: &Value) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(path) = text(&action["add"]["path"]) {
            self.files.insert(path);
        }
        if let Some(path) = action["remove"]["path"].as_str() {
            self.files.remove(path);
        }
        if let Some(metadata) = action.get("metaData") {
            self.id = text(&metadata["id"]);
            self.schema = text(&metadata["schemaString"]);
        }
        if action["txn"]["appId"] == APP_ID {
            self.snapshot = action["txn"]["version"].as_u64();
        }
        if let Some(at) = text(&action["commitInfo"][COMMITTED_AT]) {
            self.committed_at = Some(at);
        }
    }

    /// Fails for a table whose newest snapshot is not in this lake, or differs from the lake's.
    pub(super) fn check_source(&self, lake: &Lake, folder: &Path) -> Result<(), ExportError> {
        let foreign = |what: &str| Err(ExportError::Foreign(folder.to_owned(), what.to_owned()));
        match (self.next, self.snapshot) {
            (0, _) => Ok(()),
            (_, None) => foreign("its log has no snapshot"),
            (_, Some(snapshot)) => match lake.commit(snapshot) {
                Ok(commit) if Some(commit.committed_at.to_string()) == self.committed_at => Ok(()),
                Ok(_) => foreign("its newest snapshot differs from the lake's snapshot of that number"),
                Err(LakeError::NoSnapshot { .. }) => foreign("it has a snapshot that the lake does not have"),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// Protocol and metadata, for the first version and for a change of schema.
    pub(super) fn schema_actions(&self, commit: &Commit, schema: &str) -> Vec<Value> {
        if self.schema.as_deref() == Some(schema) {
            return Vec::new();
        }
        let metadata = metadata(commit, self.id.as_deref(), schema);
        match self.next {
            0 => vec![protocol(), metadata],
            _ => vec![metadata],
        }
    }

    /// Takes the next version with these files; the rest of its provenance is written to the log alone.
    pub(super) fn advance(&mut self, snapshot: u64, files: BTreeSet<String>, schema: String) {
        self.files = files;
        self.snapshot = Some(snapshot);
        self.schema = Some(schema);
        self.next += 1;
    }
}

/// The oldest reader and writer of the protocol that suffice.
pub(super) fn protocol() -> Value {
    json!({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}})
}

/// What the table is; its identity is that of the commit unless it has one.
pub(super) fn metadata(commit: &Commit, id: Option<&str>, schema: &str) -> Value {
    json!({"metaData": {
        "id": id.map_or_else(|| uuid(&format!("{} {}", commit.run_id, commit.committed_at)), str::to_owned),
        "name": "filings",
        "description": "Florida business filings, one version a snapshot of a sunlake lake",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema,
        "partitionColumns": ["filed_month"],
        "createdTime": commit.committed_at.as_millisecond(),
        // Without these, a clean-up deletes the history.
        "configuration": {
            "delta.logRetentionDuration": "interval 36500 days",
            "delta.deletedFileRetentionDuration": "interval 36500 days",
        },
    }})
}

/// The entries of the log by version.
fn entries(folder: &Path) -> Result<BTreeMap<u64, PathBuf>, ExportError> {
    let log = folder.join(LOG_FOLDER);
    let mut found = BTreeMap::new();
    for name in names(&log)? {
        let version = name.strip_suffix(".json").filter(|digits| digits.len() == 20);
        if let Some(version) = version.and_then(|digits| digits.parse().ok()) {
            found.insert(version, log.join(name));
        }
    }
    Ok(found)
}

/// Whether a table can be made here: nothing is there, or only files of an export that was killed before its first version.
fn has_only_leftovers(folder: &Path) -> Result<bool, ExportError> {
    let ours =
        |name: &String| name == LOG_FOLDER || name.starts_with("filed_month=") || name.starts_with(".tmp-");
    Ok(names(folder)?.iter().all(ours))
}

fn names(folder: &Path) -> Result<Vec<String>, ExportError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(ExportError::read(folder))?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<io::Result<_>>().map_err(ExportError::read(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, version: u64, lines: &[Value]) {
        let path = entry_path(folder, version);
        fs::create_dir_all(path.parent().expect("a log")).expect("a folder");
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(path, text).expect("an entry");
    }

    #[test]
    fn a_log_results_in_the_files_of_its_newest_version() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Log::read(&folder.path().join("none")).expect("nothing"), Log::default());
        let add = |path: &str| json!({"add": {"path": path}});
        put(folder.path(), 0, &[json!({"metaData": {"id": "x", "schemaString": "s"}}), add("a"), add("b")]);
        put(
            folder.path(),
            1,
            &[json!({"remove": {"path": "a"}}), add("c"), json!({"txn": {"appId": APP_ID, "version": 7}})],
        );
        let log = Log::read(folder.path()).expect("a log");
        assert_eq!((log.next, log.snapshot, log.id.as_deref()), (2, Some(7), Some("x")));
        assert_eq!(log.files, BTreeSet::from(["b".to_owned(), "c".to_owned()]));
        put(folder.path(), 3, &[]);
        assert!(matches!(Log::read(folder.path()), Err(ExportError::Foreign(..))));
    }

    #[test]
    fn an_entry_that_is_no_text_is_foreign_and_one_that_cannot_be_read_is_unreadable() {
        let folder = tempfile::tempdir().expect("a folder");
        put(folder.path(), 0, &[]);
        let entry = entry_path(folder.path(), 0);
        fs::write(&entry, b"\xff\n").expect("an entry");
        assert!(matches!(Log::read(folder.path()), Err(ExportError::Foreign(..))));
        fs::remove_file(&entry).expect("an entry");
        fs::create_dir(&entry).expect("a folder in its place");
        assert!(matches!(Log::read(folder.path()), Err(ExportError::Read(..))));
    }

    #[test]
    fn a_folder_with_other_files_is_not_a_table() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("filed_month=2026-11")).expect("a folder");
        assert!(Log::read(folder.path()).is_ok(), "a killed export left it");
        fs::write(folder.path().join("thesis.docx"), "x").expect("a file");
        assert!(matches!(Log::read(folder.path()), Err(ExportError::Foreign(..))));
    }
}
