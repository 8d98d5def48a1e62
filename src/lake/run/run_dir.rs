//! The folder of a run: its record, journals, summary, raw pages and quarantine.

use super::page_archive::RawArchive;
use crate::contract::eastern::eastern_day;
use crate::lake::backend::disk;
use crate::lake::backend::remote_cache::ChunkUpload;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{
    self, COMMITS, COPIES, DAMAGED, JOURNAL, QUARANTINE, RAW, RECORD, SUMMARY,
};
use crate::lake::format::manifest::{Commit, Digest};
use crate::lake::format::run_record::{RunFile, RunRecord, begin_of};
use crate::lake::format::sealed_json::{sealed, unseal};
use crate::lake::handle::Lake;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Number of newest runs whose records are downloaded from an object store by default.
pub(crate) const NEWEST_RUNS: usize = 20;

/// In the working copy of a lake in an object store, in the folder of a run that began there.
const BEGAN_HERE: &str = "began-here";

/// The folder of a run.
#[derive(Debug, Clone)]
pub struct RunDir {
    run_id: String,
    dir: PathBuf,
    pub(super) lake: Lake,
}

impl Lake {
    /// The folder of a run; creates a missing one.
    pub fn run(&self, run_id: &str) -> Result<RunDir, LakeError> {
        let run = self.existing_run(run_id)?;
        self.storage.create_durable_dir_all(&run.dir)?;
        Ok(run)
    }

    /// The folder of a run as it is; creates nothing.
    pub(crate) fn existing_run(&self, run_id: &str) -> Result<RunDir, LakeError> {
        layout::check_run_id(run_id)?;
        Ok(RunDir { run_id: run_id.to_owned(), dir: self.layout.run(run_id), lake: self.clone() })
    }

    /// The records of runs, oldest first: all in a folder, at least the newest 20 in an object store.
    pub fn runs(&self) -> Result<Vec<RunRecord>, LakeError> {
        self.newest_runs(NEWEST_RUNS)
    }

    /// As [`Lake::runs`], with at least the newest `most`.
    pub(crate) fn newest_runs(&self, most: usize) -> Result<Vec<RunRecord>, LakeError> {
        self.backend.download_run_records(most)?;
        let mut records = Vec::new();
        for name in disk::names(&self.layout.runs())? {
            if layout::check_run_id(&name).is_ok() {
                records.extend(self.existing_run(&name)?.record()?);
            }
        }
        records.sort_by(|one: &RunRecord, other| {
            (one.started_at, &one.run_id).cmp(&(other.started_at, &other.run_id))
        });
        Ok(records)
    }

    /// The newest run of a pipeline if it is unfinished: the one to resume.
    pub fn unfinished_run(&self, pipeline: &str) -> Result<Option<RunRecord>, LakeError> {
        let newest = self.runs()?.into_iter().rfind(|record| record.pipeline == pipeline);
        Ok(newest.filter(|record| record.finished.is_none()))
    }
}

/// What a summary says about the end of its run.
#[derive(Deserialize)]
struct Ended {
    today: Date,
    outcome: String,
    held: Option<u64>,
    stopped: Option<String>,
}

fn journal_name(snapshot: u64) -> String {
    format!("{JOURNAL}/{}.json", layout::snapshot_name(snapshot))
}

/// The record of a run in the bytes of its file.
fn decoded(run_id: &str, bytes: &[u8], path: &Path) -> Result<RunRecord, LakeError> {
    let record: RunRecord = unseal(bytes, path)?;
    if record.run_id == run_id {
        Ok(record)
    } else {
        Err(LakeError::damaged(path, format!("it is the record of run {}", record.run_id)))
    }
}

impl RunDir {
    /// Its local path.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Folder of copies of the files that the run imported.
    pub(crate) fn copies(&self) -> PathBuf {
        self.dir.join(COPIES)
    }

    /// The run's record; none before it is written.
    pub fn record(&self) -> Result<Option<RunRecord>, LakeError> {
        let path = self.dir.join(RECORD);
        disk::read(&path)?.map(|bytes| decoded(&self.run_id, &bytes, &path)).transpose()
    }

    /// As [`RunDir::record`], as it is stored, ignoring the working copy: for a verification.
    pub(crate) fn stored_record(&self) -> Result<Option<RunRecord>, LakeError> {
        let path = self.lake.path_for_user(&self.dir.join(RECORD));
        let bytes = self.lake.backend.read(&self.name_in_lake(RECORD))?;
        bytes.map(|bytes| decoded(&self.run_id, &bytes, &path)).transpose()
    }

    /// Whether the folder has what a run writes after its record.
    pub(crate) fn has_files(&self) -> bool {
        let written = [RAW, COPIES, JOURNAL, COMMITS, QUARANTINE, SUMMARY];
        written.iter().any(|name| self.dir.join(name).symlink_metadata().is_ok())
    }

    /// Writes the record of a run that begins, or is resumed.
    ///
    /// # Errors
    ///
    /// [`LakeError::Held`] when another machine began a run with this id: both would write into one folder.
    pub fn begin(&self, record: &RunRecord) -> Result<(), LakeError> {
        let is_new = self.record()?.is_none();
        let bytes = sealed(record).map_err(LakeError::storage("write", &self.dir.join(RECORD)))?;
        if is_new && self.lake.is_remote() {
            self.lake.storage.replace(&self.dir.join(BEGAN_HERE), b"")?;
        }
        if is_new && !self.lake.backend.create(&self.name_in_lake(RECORD), &bytes)? {
            let holder = "a run of another machine with the same id".to_owned();
            return Err(LakeError::Held { holder });
        }
        self.write_record(record)
    }

    /// Whether the run began in this working copy.
    pub(super) fn began_here(&self) -> bool {
        self.dir.join(BEGAN_HERE).is_file()
    }

    /// Replaces the run's record atomically.
    pub fn write_record(&self, record: &RunRecord) -> Result<(), LakeError> {
        self.write(RECORD, sealed(record))
    }

    /// Replaces a file of the run atomically, and uploads it.
    fn write(&self, name: &str, bytes: io::Result<Vec<u8>>) -> Result<(), LakeError> {
        let bytes = bytes.map_err(LakeError::storage("write", &self.dir.join(name)))?;
        self.lake.backend.write(&self.name_in_lake(name), &bytes)
    }

    pub(super) fn name_in_lake(&self, name: &str) -> String {
        format!("runs/{}/{name}", self.run_id)
    }

    /// Writes the record of a run that stops, with the digests of its files.
    pub fn close(&self, record: &mut RunRecord) -> Result<(), LakeError> {
        record.files = self.inventory()?;
        self.write_record(record)
    }

    /// The run's files. The copies of commits are compared with the commits instead.
    fn inventory(&self) -> Result<Vec<RunFile>, LakeError> {
        let mut files = Vec::new();
        for folder in [RAW, COPIES, JOURNAL, QUARANTINE] {
            for name in disk::names(&self.dir.join(folder))? {
                if !name.starts_with(disk::TEMPORARY) && !name.ends_with(DAMAGED) {
                    files.push(self.run_file(&format!("{folder}/{name}"))?);
                }
            }
        }
        if self.dir.join(SUMMARY).is_file() {
            files.push(self.run_file(SUMMARY)?);
        }
        Ok(files)
    }

    fn run_file(&self, path: &str) -> Result<RunFile, LakeError> {
        let Digest { bytes, blake3 } = disk::digest(&self.dir.join(path))?;
        Ok(RunFile { path: path.to_owned(), bytes, blake3 })
    }

    /// A new record in place of a lost one, by the run's name and its summary. A run without a summary, or one that had
    /// stopped, ends as `lost`: it is never resumed.
    pub(crate) fn remake_record(
        &self,
        commit: Option<&Commit>,
        now: Timestamp,
    ) -> Result<RunRecord, LakeError> {
        let (started_at, pipeline) = begin_of(&self.run_id).unwrap_or((now, ""));
        let summary = self.lake.backend.read(&self.name_in_lake(SUMMARY))?;
        let summary = summary.and_then(|bytes| serde_json::from_slice::<Ended>(&bytes).ok());
        let known_day = commit.map(|commit| commit.today).or(summary.as_ref().map(|ended| ended.today));
        let today = known_day.unwrap_or_else(|| eastern_day(started_at));
        let mut record = RunRecord::begun(&self.run_id, pipeline, started_at, today);
        record.finished = Some(match summary {
            Some(Ended { held: Some(_), .. }) => RunRecord::HELD.to_owned(),
            Some(Ended { stopped: None, outcome, .. }) => outcome,
            None if commit.is_some() => "complete".to_owned(),
            _ => "lost".to_owned(),
        });
        record.files = self.inventory()?;
        record.raw_pruned = disk::names(&self.dir.join(RAW))?.is_empty();
        self.write_record(&record)?;
        Ok(record)
    }

    /// Writes the journal of a snapshot atomically, before the snapshot is committed.
    pub fn write_journal(&self, snapshot: u64, journal: &impl Serialize) -> Result<(), LakeError> {
        self.write(&journal_name(snapshot), sealed(journal))
    }

    /// The journal of a snapshot; none where this run wrote none.
    pub fn journal<T: DeserializeOwned>(&self, snapshot: u64) -> Result<Option<T>, LakeError> {
        let name = journal_name(snapshot);
        let path = self.dir.join(&name);
        let bytes = match disk::read(&path)? {
            Some(bytes) => Some(bytes),
            None => self.lake.backend.read(&self.name_in_lake(&name))?,
        };
        bytes.map(|bytes| unseal(&bytes, &path)).transpose()
    }

    /// Replaces `summary.json` atomically.
    pub fn write_summary(&self, summary: &impl Serialize) -> Result<(), LakeError> {
        let text = serde_json::to_string_pretty(summary).map(|text| (text + "\n").into_bytes());
        self.write(SUMMARY, text.map_err(io::Error::from))
    }

    /// The run's raw pages, with those that another machine archived.
    pub fn raw(&self) -> Result<RawArchive, LakeError> {
        let stored = self.lake.backend.download_pages(&self.run_id)?;
        let chunks = stored
            .map(|stored| ChunkUpload::new(Arc::clone(&self.lake.backend), self.name_in_lake(RAW), stored));
        RawArchive::open_on(&self.dir.join(RAW), self.lake.storage.clone(), chunks)
    }

    /// The run's raw pages, read-only: torn or damaged pages do not count, and stay as they are.
    pub fn raw_read_only(&self) -> Result<RawArchive, LakeError> {
        self.lake.backend.download_pages(&self.run_id)?;
        RawArchive::open_read_only(&self.dir.join(RAW), self.lake.storage.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(run_id: &str, second: i64) -> RunRecord {
        let (at, day) =
            (Timestamp::from_second(second).expect("an instant"), jiff::civil::date(2026, 11, 20));
        RunRecord { plan: serde_json::json!({"slices": 3}), ..RunRecord::begun(run_id, "daily", at, day) }
    }

    #[test]
    fn newest_run_is_resumed_only_while_it_is_unfinished() {
        let root = tempfile::tempdir().expect("a folder");
        let lake = Lake::open(root.path()).expect("a lake");
        assert_eq!(lake.unfinished_run("daily").expect("read"), None);
        for (run_id, second) in [("b", 2), ("a", 1)] {
            lake.run(run_id).and_then(|run| run.write_record(&record(run_id, second))).expect("written");
        }
        assert_eq!(lake.unfinished_run("daily").expect("read"), Some(record("b", 2)));
        assert_eq!(lake.unfinished_run("backfill").expect("read"), None);
        let done = RunRecord { finished: Some("complete".to_owned()), ..record("b", 2) };
        lake.run("b").and_then(|run| run.write_record(&done)).expect("written");
        assert_eq!(lake.unfinished_run("daily").expect("read"), None);
        assert!(lake.run("../x").is_err());
    }
}
