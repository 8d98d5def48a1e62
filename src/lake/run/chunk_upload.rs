//! The segments of raw pages that go to an object store, as chunks.

use crate::lake::backend::protocol::Backend;
use crate::lake::backend::remote_cache::chunk_name;
use crate::lake::error::LakeError;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Uploads finished segments of one archive.
#[derive(Debug)]
pub(super) struct ChunkUpload {
    backend: Arc<dyn Backend>,
    /// The archive's folder in the lake.
    folder: String,
    /// Names of the chunks in the store.
    stored: BTreeSet<String>,
    /// Segments that are in the store, so that none is read twice.
    uploaded: BTreeSet<PathBuf>,
}

impl ChunkUpload {
    pub(super) fn new(backend: Arc<dyn Backend>, folder: String, stored: BTreeSet<String>) -> Self {
        Self { backend, folder, stored, uploaded: BTreeSet::new() }
    }

    /// Uploads the segments that are not in the store. A chunk's name has its digest, so 2 machines that resume the same
    /// run never overwrite each other's pages.
    pub(super) fn upload(&mut self, segments: &[PathBuf]) -> Result<(), LakeError> {
        for segment in segments {
            if self.uploaded.contains(segment) {
                continue;
            }
            let name = chunk_name(segment)?;
            if !self.stored.contains(&name) {
                self.backend.upload(segment, &format!("{}/{name}", self.folder))?;
                self.stored.insert(name);
            }
            self.uploaded.insert(segment.clone());
        }
        Ok(())
    }
}
