//! Records that could not be used.

use crate::lake::backend::disk::{Storage, StoredFile};
use crate::lake::backend::protocol::Backend;
use crate::lake::error::LakeError;
use serde::Serialize;
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Records that could not be used, kept whole, one JSON a line. The file is made with the first.
#[derive(Debug)]
pub struct Quarantine {
    path: PathBuf,
    /// The file's name in the lake.
    name: String,
    storage: Storage,
    backend: Arc<dyn Backend>,
    file: Option<StoredFile>,
    /// Digests of the file's lines.
    kept: HashSet<blake3::Hash>,
    count: u64,
}

impl Quarantine {
    pub(super) fn new(path: PathBuf, name: String, storage: Storage, backend: Arc<dyn Backend>) -> Self {
        Self { path, name, storage, backend, file: None, kept: HashSet::new(), count: 0 }
    }

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
        self.backend.upload(&self.path, &self.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::lake::handle::Lake;
    use std::fs;

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
