//! A run's own folder: what it is, what it planned, how it ended, what it could not use.

pub(super) mod page_archive;
mod page_frame;

use super::Lake;
use super::backend::Home;
use super::backend::disk;
use super::backend::disk::{Storage, StoredFile};
use super::error::LakeError;
use super::format::layout;
use super::format::sealed_json::{Seal, look, sealed};
use jiff::Timestamp;
use jiff::civil::Date;
use page_archive::{Chunks, RawArchive};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Of how many runs, the newest, an object store's records are brought where no more are asked for.
pub(super) const NEWEST_RUNS: usize = 20;

/// What a run is, in `runs/<run_id>/run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the run and of its folder.
    pub run_id: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Digest of the pipeline as it was read; a run goes on only with the same.
    pub pipeline_digest: String,
    /// The Eastern day it runs as.
    pub today: Date,
    /// When it began.
    pub started_at: Timestamp,
    /// How it ended; none while it runs, or when it was killed.
    pub finished: Option<String>,
    /// What it means to do, in the planner's own form.
    #[serde(default)]
    pub plan: serde_json::Value,
    /// What it left behind, once it is finished.
    #[serde(default)]
    pub files: Vec<RunFile>,
    /// Whether a rule let its raw pages go.
    #[serde(default)]
    pub raw_pruned: bool,
}

/// A file that a finished run left in its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// Path in the run's folder, with `/`.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// blake3 digest of the whole file, hex.
    pub blake3: String,
}

impl RunRecord {
    /// The record of something done to the lake that is no pipeline, say a rollback.
    pub fn begun(run_id: &str, pipeline: &str, (started_at, today): (Timestamp, Date)) -> Self {
        Self {
            run_id: run_id.to_owned(),
            pipeline: pipeline.to_owned(),
            pipeline_digest: String::new(),
            today,
            started_at,
            finished: None,
            plan: serde_json::Value::Null,
            files: Vec::new(),
            raw_pruned: false,
        }
    }
}

/// The folder of a run.
#[derive(Debug, Clone)]
pub struct RunDir {
    run_id: String,
    dir: PathBuf,
    storage: Storage,
    home: Arc<dyn Home>,
}

impl Lake {
    /// The folder of a run, made where it is missing.
    ///
    /// # Errors
    ///
    /// [`LakeError::Name`], [`LakeError::Storage`].
    pub fn run(&self, run_id: &str) -> Result<RunDir, LakeError> {
        let dir = self.run_dir(run_id)?;
        self.storage.create_durable_dir_all(&dir)?;
        Ok(RunDir {
            run_id: run_id.to_owned(),
            dir,
            storage: self.storage.clone(),
            home: Arc::clone(&self.home),
        })
    }

    /// The folder of a run as it lies there; nothing is made.
    pub(super) fn run_as_it_is(&self, run_id: &str) -> Result<RunDir, LakeError> {
        let (dir, storage) = (self.run_dir(run_id)?, self.storage.clone());
        Ok(RunDir { run_id: run_id.to_owned(), dir, storage, home: Arc::clone(&self.home) })
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
    pub(super) fn newest_runs(&self, most: usize) -> Result<Vec<RunRecord>, LakeError> {
        self.home.bring_runs(most)?;
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

pub(super) const RECORD: &str = "run.json";
pub(super) const SUMMARY: &str = "summary.json";
pub(super) const RAW: &str = "raw";
pub(super) const JOURNAL: &str = "journal";
/// Copies of the commits that the run made.
pub(super) const COMMITS: &str = "commits";
const QUARANTINE: &str = "quarantine";

fn journal_name(snapshot: u64) -> String {
    format!("{JOURNAL}/{}.json", layout::snapshot_name(snapshot))
}

fn read_record(path: &Path) -> Result<Option<RunRecord>, LakeError> {
    let bytes = match fs::read(path) {
        Err(error) if disk::is_absent(&error) => return Ok(None),
        other => other.map_err(LakeError::storage("read", path))?,
    };
    read_sealed(&bytes, path).map(Some)
}

/// What a sealed document says. One without a seal is of an older sunlake.
fn read_sealed<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<T, LakeError> {
    if look(bytes) == Seal::Broken {
        return Err(LakeError::damaged(path, "it is not what was written"));
    }
    serde_json::from_slice(bytes).map_err(|error| LakeError::damaged(path, error.to_string()))
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
        self.home.keep(&path, &format!("runs/{}/{name}", self.run_id))
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
            None => self.home.read(&format!("runs/{}/{name}", self.run_id))?,
        };
        bytes.map(|bytes| read_sealed(&bytes, &path)).transpose()
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
        let there = self.home.bring_pages(&self.run_id)?;
        let chunks = there
            .map(|there| Chunks::new(Arc::clone(&self.home), format!("runs/{}/{RAW}", self.run_id), there));
        RawArchive::open_on(&self.dir.join(RAW), self.storage.clone(), chunks)
    }

    /// The run's raw pages, to read alone: what is torn or damaged in them stays as it is, and does not count.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`], [`LakeError::Remote`].
    pub fn raw_as_it_is(&self) -> Result<RawArchive, LakeError> {
        self.home.bring_pages(&self.run_id)?;
        RawArchive::look(&self.dir.join(RAW), self.storage.clone())
    }

    /// The run's rejected records.
    pub fn quarantine(&self) -> Quarantine {
        let path = self.dir.join(QUARANTINE).join("records.jsonl");
        let name = format!("runs/{}/{QUARANTINE}/records.jsonl", self.run_id);
        let (storage, home) = (self.storage.clone(), Arc::clone(&self.home));
        Quarantine { path, name, storage, home, file: None, kept: HashSet::new(), count: 0 }
    }
}

/// Records that could not be used, kept whole, one JSON a line. The file is made with the first.
#[derive(Debug)]
pub struct Quarantine {
    path: PathBuf,
    /// The file's name in the lake.
    name: String,
    storage: Storage,
    home: Arc<dyn Home>,
    file: Option<StoredFile>,
    /// Digests of the file's lines.
    kept: HashSet<blake3::Hash>,
    count: u64,
}

impl Quarantine {
    /// Keeps a record: what came, why it could not be used, where it came from. What the run kept before it was interrupted stands there
    /// once.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`].
    pub fn append(&mut self, record: &impl Serialize) -> Result<(), LakeError> {
        let path = self.path.clone();
        let failed = |error| LakeError::storage("write", &path)(error);
        let mut line = serde_json::to_vec(record).map_err(|error| failed(io::Error::from(error)))?;
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.open()?,
        };
        if self.kept.insert(blake3::hash(&line)) {
            line.push(b'\n');
            file.write_all(&line).map_err(failed)?;
        }
        self.file = Some(file);
        self.count += 1;
        Ok(())
    }

    /// Opens the file; a line that a kill left torn is ended, so that the next one stands alone.
    fn open(&mut self) -> Result<StoredFile, LakeError> {
        if let Some(folder) = self.path.parent() {
            self.storage.create_durable_dir_all(folder)?;
        }
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(LakeError::storage("read", &self.path))?,
        };
        self.kept.extend(bytes.split(|byte| *byte == b'\n').map(blake3::hash));
        let mut file = self.storage.append(&self.path)?;
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n").map_err(LakeError::storage("write", &self.path))?;
        }
        Ok(file)
    }

    /// Records given to this appender.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Makes what was kept outlive the machine.
    ///
    /// # Errors
    ///
    /// [`LakeError::Storage`], [`LakeError::Remote`].
    pub fn sync(&self) -> Result<(), LakeError> {
        let Some(file) = &self.file else { return Ok(()) };
        file.sync()?;
        if let Some(folder) = self.path.parent() {
            self.storage.sync_dir(folder)?;
        }
        self.home.keep(&self.path, &self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn quarantine_goes_on_after_a_torn_line() {
        let root = tempfile::tempdir().expect("a folder");
        let run = Lake::open(root.path()).and_then(|lake| lake.run("r")).expect("a run");
        run.quarantine().append(&serde_json::json!({"reason": "one"})).expect("kept");
        let path = run.path().join("quarantine/records.jsonl");
        let torn = fs::read_to_string(&path).expect("text") + "{\"rea";
        fs::write(&path, torn).expect("torn");
        run.quarantine().append(&serde_json::json!({"reason": "two"})).expect("kept");
        let text = fs::read_to_string(&path).expect("text");
        let good =
            text.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count();
        assert_eq!((text.lines().count(), good), (3, 2));
    }
}
