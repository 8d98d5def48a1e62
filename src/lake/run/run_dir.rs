//! A run's own folder: what it is, what it planned, how it ended, what it could not use.

use super::page_archive::{Chunks, RawArchive};
use super::quarantine::Quarantine;
use crate::lake::backend::disk;
use crate::lake::backend::disk::Storage;
use crate::lake::backend::protocol::Backend;
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use crate::lake::format::layout::{COMMITS, JOURNAL, QUARANTINE, RAW, RECORD, SUMMARY};
use crate::lake::format::run_record::{RunFile, RunRecord};
use crate::lake::format::sealed_json::{sealed, unseal};
use crate::lake::handle::Lake;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Of how many runs, the newest, an object store's records are brought where no more are asked for.
pub(crate) const NEWEST_RUNS: usize = 20;

/// The folder of a run.
#[derive(Debug, Clone)]
pub struct RunDir {
    run_id: String,
    dir: PathBuf,
    storage: Storage,
    backend: Arc<dyn Backend>,
}

impl Lake {
    /// The folder of a run, made where it is missing.
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`], [`LakeError::Storage`].
    pub fn run(&self, run_id: &str) -> Result<RunDir, LakeError> {
        let run = self.existing_run(run_id)?;
        self.storage.create_durable_dir_all(&run.dir)?;
        Ok(run)
    }

    /// The folder of a run as it lies there; nothing is made.
    pub(crate) fn existing_run(&self, run_id: &str) -> Result<RunDir, LakeError> {
        layout::check_run_id(run_id)?;
        let (dir, storage) = (self.layout.run(run_id), self.storage.clone());
        Ok(RunDir { run_id: run_id.to_owned(), dir, storage, backend: Arc::clone(&self.backend) })
    }

    /// The records of runs, oldest first: of a lake in a folder all, of one in an object store at least the newest.
    ///
    /// # Errors
    ///
    /// [`LakeError::Damaged`] names a record that cannot be read.
    pub fn runs(&self) -> Result<Vec<RunRecord>, LakeError> {
        self.newest_runs(NEWEST_RUNS)
    }

    /// As [`Lake::runs`], with at least so many of the newest.
    pub(crate) fn newest_runs(&self, most: usize) -> Result<Vec<RunRecord>, LakeError> {
        self.backend.download_run_records(most)?;
        let mut records = Vec::new();
        for name in disk::names(&self.layout.runs())? {
            if layout::check_run_id(&name).is_ok() {
                records.extend(read_record(&self.layout.run(&name).join(RECORD))?);
            }
        }
        records.sort_by(|one: &RunRecord, other| {
            (one.started_at, &one.run_id).cmp(&(other.started_at, &other.run_id))
        });
        Ok(records)
    }

    /// The newest run of a pipeline if it did not finish: the one to go on with.
    ///
    /// # Errors
    ///
    /// As [`Lake::runs`].
    pub fn unfinished_run(&self, pipeline: &str) -> Result<Option<RunRecord>, LakeError> {
        let newest = self.runs()?.into_iter().rfind(|record| record.pipeline == pipeline);
        Ok(newest.filter(|record| record.finished.is_none()))
    }
}

fn journal_name(snapshot: u64) -> String {
    format!("{JOURNAL}/{}.json", layout::snapshot_name(snapshot))
}

fn read_record(path: &Path) -> Result<Option<RunRecord>, LakeError> {
    let bytes = match fs::read(path) {
        Err(error) if disk::is_absent(&error) => return Ok(None),
        other => other.map_err(LakeError::storage("read", path))?,
    };
    unseal(&bytes, path).map(Some)
}

impl RunDir {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// The run's record, once there is one.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`], [`LakeError::Damaged`].
    pub fn record(&self) -> Result<Option<RunRecord>, LakeError> {
        read_record(&self.dir.join(RECORD))
    }

    /// Replaces the run's record, whole.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn write_record(&self, record: &RunRecord) -> Result<(), LakeError> {
        self.write(RECORD, sealed(record))
    }

    /// Replaces a file of the run, whole, and keeps it at home.
    fn write(&self, name: &str, bytes: io::Result<Vec<u8>>) -> Result<(), LakeError> {
        let path = self.dir.join(name);
        let bytes = bytes.map_err(LakeError::storage("write", &path))?;
        self.storage.replace(&path, &bytes)?;
        self.backend.upload(&path, &format!("runs/{}/{name}", self.run_id))
    }

    /// Writes the record of a run that has ended its work for now. A finished one names what it leaves behind, each file
    /// with its digest.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn close(&self, record: &mut RunRecord) -> Result<(), LakeError> {
        if record.finished.is_some() {
            record.files = self.inventory()?;
        }
        self.write_record(record)
    }

    fn inventory(&self) -> Result<Vec<RunFile>, LakeError> {
        let mut files = Vec::new();
        for folder in [RAW, JOURNAL, COMMITS, QUARANTINE] {
            for name in disk::names(&self.dir.join(folder))? {
                if !name.starts_with(disk::TEMPORARY) {
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
        let (bytes, blake3) = disk::digest(&self.dir.join(path))?;
        Ok(RunFile { path: path.to_owned(), bytes, blake3 })
    }

    /// Writes how a snapshot came about, whole, before the snapshot is committed.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn write_journal(&self, snapshot: u64, journal: &impl Serialize) -> Result<(), LakeError> {
        self.storage.create_durable_dir_all(&self.dir.join(JOURNAL))?;
        self.write(&journal_name(snapshot), sealed(journal))
    }

    /// How a snapshot came about; none where this run kept no journal of it.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`], [`LakeError::Damaged`].
    pub fn journal<T: DeserializeOwned>(&self, snapshot: u64) -> Result<Option<T>, LakeError> {
        let name = journal_name(snapshot);
        let path = self.dir.join(&name);
        let here = disk::read(&path)?;
        let bytes = match here {
            Some(bytes) => Some(bytes),
            None => self.backend.read(&format!("runs/{}/{name}", self.run_id))?,
        };
        bytes.map(|bytes| unseal(&bytes, &path)).transpose()
    }

    /// Replaces `summary.json`, whole.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn write_summary(&self, summary: &impl Serialize) -> Result<(), LakeError> {
        let bytes = serde_json::to_vec_pretty(summary).map(|mut bytes| {
            bytes.push(b'\n');
            bytes
        });
        self.write(SUMMARY, bytes.map_err(io::Error::from))
    }

    /// The run's raw pages, those that another machine archived among them.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`], [`LakeError::Remote`].
    pub fn raw(&self) -> Result<RawArchive, LakeError> {
        let there = self.backend.download_pages(&self.run_id)?;
        let chunks = there.map(|there| {
            Chunks::new(Arc::clone(&self.backend), format!("runs/{}/{RAW}", self.run_id), there)
        });
        RawArchive::open_on(&self.dir.join(RAW), self.storage.clone(), chunks)
    }

    /// The run's raw pages, to read alone: what is torn or damaged in them stays as it is, and does not count.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`], [`LakeError::Remote`].
    pub fn raw_read_only(&self) -> Result<RawArchive, LakeError> {
        self.backend.download_pages(&self.run_id)?;
        RawArchive::open_read_only(&self.dir.join(RAW), self.storage.clone())
    }

    /// The run's rejected records.
    pub fn quarantine(&self) -> Quarantine {
        let name = format!("{QUARANTINE}/records.jsonl");
        let path = self.dir.join(&name);
        Quarantine::new(
            path,
            format!("runs/{}/{name}", self.run_id),
            self.storage.clone(),
            Arc::clone(&self.backend),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn record(run_id: &str, second: i64) -> RunRecord {
        let begun = (Timestamp::from_second(second).expect("an instant"), jiff::civil::date(2026, 11, 20));
        RunRecord { plan: serde_json::json!({"slices": 3}), ..RunRecord::begun(run_id, "daily", begun) }
    }

    #[test]
    fn the_newest_run_is_gone_on_with_only_while_it_is_unfinished() {
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
