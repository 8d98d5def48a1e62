//! The commit of a snapshot: its files, and the run state that belongs to them.

use super::layout;
use super::sealed_json::is_sealed;
use crate::lake::error::LakeError;
use crate::table::SCHEMA_VERSION;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Version of the commit file and of the folders that it names. A lake of a newer version is refused.
pub const FORMAT_VERSION: u32 = 1;

/// One committed snapshot. Its file is created once and never changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "a field without a sentence is what its name says")]
pub struct Commit {
    pub format_version: u32,
    pub schema_version: u32,
    /// Number of the snapshot, from 1.
    pub snapshot: u64,
    /// The snapshot this one was made from; none for the first.
    pub parent: Option<u64>,
    /// The snapshot whose tables and state a rollback published again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restores: Option<u64>,
    pub committed_at: Timestamp,
    /// The Eastern day the run ran as.
    pub today: Date,
    pub run_id: String,
    pub pipeline: String,
    /// Requests the run had sent by then.
    pub requests_sent: u64,
    /// Tables and aggregates by folder name.
    pub tables: BTreeMap<String, TableManifest>,
    /// The run state that belongs to the data: finished slices, complete days, histograms.
    pub state: serde_json::Value,
    /// Results of the checks before publishing.
    pub checks: serde_json::Value,
}

/// What the pages of a sample say.
pub const INVENTED: &str = "A sample, invented by sunlake: no business in it exists.";

/// The files of one table in a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableManifest {
    /// Rows of all files together.
    pub rows: u64,
    /// The files, by path.
    pub files: Vec<FileEntry>,
}

/// One file of a snapshot. Two entries are equal when their content is, wherever the files are stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path in the snapshot's folder, with `/`.
    pub path: String,
    /// The older snapshot in whose folder an unchanged file is stored. Object stores have no hard links, so a commit
    /// points at the older snapshot's file.
    #[serde(rename = "lies_in", default, skip_serializing_if = "Option::is_none")]
    pub origin_snapshot: Option<u64>,
    /// Rows.
    pub rows: u64,
    /// Size.
    pub bytes: u64,
    /// blake3 digest of the file, hex.
    pub blake3: String,
    /// Oldest filing date in it, where the table has one.
    pub min_filed_date: Option<Date>,
    /// Newest filing date in it, where the table has one.
    pub max_filed_date: Option<Date>,
}

impl PartialEq for FileEntry {
    fn eq(&self, other: &Self) -> bool {
        let of = |entry: &Self| (entry.rows, entry.bytes, entry.min_filed_date, entry.max_filed_date);
        (&self.path, &self.blake3) == (&other.path, &other.blake3) && of(self) == of(other)
    }
}

impl Eq for FileEntry {}

/// Size and blake3 digest (hex) of a file as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) bytes: u64,
    pub(crate) blake3: String,
}

impl Digest {
    pub(crate) fn matches(&self, bytes: u64, blake3: &str) -> bool {
        self.bytes == bytes && self.blake3 == blake3
    }
}

/// A file of the coming snapshot, and its path until the commit.
#[derive(Debug, Clone)]
pub(crate) struct StagedFile {
    pub(crate) entry: FileEntry,
    pub(crate) path: PathBuf,
    pub(crate) is_new: bool,
    /// Whether a kept file was compared with its entry.
    pub(crate) is_checked: Cell<bool>,
}

impl TableManifest {
    /// The manifest of these files, in order of their paths.
    pub(crate) fn of(mut files: Vec<FileEntry>) -> Self {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Self { rows: files.iter().map(|file| file.rows).sum(), files }
    }
}

impl Commit {
    /// Whether the embedded sample filled the lake.
    pub fn is_invented(&self) -> bool {
        self.state["source"] == "embedded"
    }

    /// Rows of all tables together.
    pub fn rows(&self) -> u64 {
        self.tables.values().map(|table| table.rows).sum()
    }

    /// Bytes of all files together.
    pub fn bytes(&self) -> u64 {
        self.tables.values().flat_map(|table| &table.files).map(|file| file.bytes).sum()
    }

    /// Entries of all files, of all tables or of one.
    pub(crate) fn files<'a>(&'a self, table: Option<&'a str>) -> impl Iterator<Item = &'a FileEntry> {
        let tables = self.tables.iter().filter(move |(name, _)| table.is_none_or(|table| table == *name));
        tables.flat_map(|(_, manifest)| &manifest.files)
    }

    /// Name of a file's object in an object store.
    pub(crate) fn object_of(&self, entry: &FileEntry) -> String {
        object_name(entry.origin_snapshot.unwrap_or(self.snapshot), entry)
    }

    /// Names of the objects of all files in an object store.
    pub(crate) fn objects(&self) -> BTreeSet<String> {
        self.files(None).map(|entry| self.object_of(entry)).collect()
    }

    /// The commit in `bytes`.
    ///
    /// # Errors
    ///
    /// [`LakeError::Newer`] when a newer sunlake wrote it; [`LakeError::Damaged`] also when a path leads out of its table.
    pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<Self, LakeError> {
        let damaged = |error: serde_json::Error| LakeError::damaged(path, error.to_string());
        if !is_sealed(bytes) {
            return Err(LakeError::damaged(path, "it is not what was committed"));
        }
        let versions: Versions = serde_json::from_slice(bytes).map_err(damaged)?;
        refuse_newer(path, "format version", versions.format_version, FORMAT_VERSION)?;
        refuse_newer(path, "schema version", versions.schema_version, SCHEMA_VERSION)?;
        let commit: Self = serde_json::from_slice(bytes).map_err(damaged)?;
        for (table, manifest) in &commit.tables {
            if let Some(file) = manifest.files.iter().find(|file| !layout::is_entry_path(table, &file.path)) {
                return Err(LakeError::damaged(path, format!("{:?} is no file of table {table}", file.path)));
            }
        }
        Ok(commit)
    }
}

/// Name in an object store of a file, given the snapshot in whose folder it is stored.
pub(crate) fn object_name(snapshot: u64, entry: &FileEntry) -> String {
    format!("snapshots/{}/{}", layout::snapshot_name(snapshot), entry.path)
}

#[derive(Deserialize)]
struct Versions {
    format_version: u32,
    schema_version: u32,
}

fn refuse_newer(path: &Path, what: &'static str, found: u32, known: u32) -> Result<(), LakeError> {
    if found > known {
        return Err(LakeError::Newer { path: path.to_path_buf(), what, found, known });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;
    use crate::lake::format::sealed_json::sealed;
    use std::path::Component;

    #[test]
    fn fuzz_of_commits() {
        let commit = r#"{"format_version": 1, "schema_version": 1, "snapshot": 2, "parent": 1, "committed_at": "2026-11-20T12:00:00Z",
            "today": "2026-11-20", "run_id": "r", "pipeline": "p", "requests_sent": 3, "state": {}, "checks": [],
            "tables": {"filings": {"rows": 1, "files": [{"path": "filings/part-0.parquet", "rows": 1, "bytes": 9, "blake3": "0"}]}}}"#;
        let path = Path::new("commits/000002.json");
        let example: serde_json::Value = serde_json::from_str(commit).expect("JSON");
        Commit::decode(&sealed(&example).expect("sealed"), path).expect("the example is a commit");
        try_changed(&[commit], |input| {
            // A seal shows each change. Under a sound seal only what it holds decides.
            assert!(Commit::decode(input, path).is_err());
            let Ok(value) = serde_json::from_slice::<serde_json::Value>(input) else { return };
            let Ok(bytes) = sealed(&value) else { return };
            if let Ok(commit) = Commit::decode(&bytes, path) {
                let mut files = commit.tables.values().flat_map(|manifest| &manifest.files);
                let is_below = |path: &str| {
                    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
                };
                assert!(files.all(|file| is_below(&file.path)), "a path leads out of its table");
            }
        });
    }
}
