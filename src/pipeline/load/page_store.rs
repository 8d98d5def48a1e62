//! The run's archive of raw pages. Extraction asks it before it spends a request.

use crate::extract::error::StoreError;
use crate::extract::fetch::{PageKey, PageStore, StoredPage};
use crate::lake::{RawArchive, RawPage};
use crate::pipeline::error::{PipelineError, Result};
use jiff::Timestamp;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle on the archive. Extraction writes through one while landing reads through another.
#[derive(Debug, Clone)]
pub(crate) struct Pages(Arc<Mutex<RawArchive>>);

impl Pages {
    pub(crate) fn new(archive: RawArchive) -> Self {
        Self(Arc::new(Mutex::new(archive)))
    }

    /// The archive, for this thread alone.
    pub(crate) fn archive(&self) -> MutexGuard<'_, RawArchive> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page that must exist.
    pub(crate) fn page(&self, key: &PageKey) -> Result<RawPage> {
        let page = self.archive().get(&key.target, key.occurrence)?;
        page.ok_or_else(|| PipelineError::PageGone { target: key.target.clone() })
    }
}

impl PageStore for Pages {
    fn stored(&mut self, key: &PageKey) -> Result<Option<StoredPage>, StoreError> {
        let page = self.archive().get(&key.target, key.occurrence).map_err(PipelineError::from)?;
        Ok(page.map(|page| StoredPage { status: page.status, body: page.body }))
    }

    fn keep(&mut self, key: &PageKey, status: u16, at: Timestamp, body: &[u8]) -> Result<(), StoreError> {
        let kept = self.archive().append(&key.target, key.occurrence, status, at, body);
        Ok(kept.map_err(PipelineError::from)?)
    }
}
