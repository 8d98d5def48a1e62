//! Quarantined records of a run, for people to look at.

use super::run_dir::RunDir;
use crate::lake::backend::disk::{self, StoredFile};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{QUARANTINE, folder_of};
use serde::Serialize;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;

const RECORDS: &str = "records.jsonl";

/// A file of records that could not be normalized, one JSON document a line. The first record creates it.
#[derive(Debug)]
pub struct Quarantine {
    run: RunDir,
    path: PathBuf,
    file: Option<StoredFile>,
    /// Digests of the file's lines.
    kept: HashSet<blake3::Hash>,
}

impl RunDir {
    /// The run's quarantined records.
    pub fn quarantine(&self) -> Quarantine {
        let path = self.path().join(QUARANTINE).join(RECORDS);
        Quarantine { run: self.clone(), path, file: None, kept: HashSet::new() }
    }
}

impl Quarantine {
    /// Adds a record: the data, why it could not be used, and its source. A resumed run adds no record a second time.
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
        Ok(())
    }

    /// Opens the file. Ends a torn line that a kill left, so that the next record gets a line of its own.
    fn open(&mut self) -> Result<StoredFile, LakeError> {
        self.run.lake.storage.create_durable_dir_all(folder_of(&self.path))?;
        let bytes = disk::read(&self.path)?.unwrap_or_default();
        self.kept.extend(bytes.split(|byte| *byte == b'\n').map(blake3::hash));
        let mut file = self.run.lake.storage.append(&self.path)?;
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n").map_err(LakeError::storage("write", &self.path))?;
        }
        Ok(file)
    }

    /// Makes the records outlive the machine.
    pub fn sync(&self) -> Result<(), LakeError> {
        let Some(file) = &self.file else { return Ok(()) };
        file.sync()?;
        self.run.lake.storage.sync_dir(folder_of(&self.path))?;
        self.run.lake.backend.upload(&self.path, &self.run.name_in_lake(&format!("{QUARANTINE}/{RECORDS}")))
    }
}

#[cfg(test)]
mod tests {
    use crate::lake::handle::Lake;
    use std::fs;

    #[test]
    fn quarantine_continues_after_a_torn_line() {
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
