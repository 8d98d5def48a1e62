//! The run's archive of raw pages as the store that extraction asks before it pays.

use crate::extract::error::StoreError;
use crate::extract::fetch::{PageKey, PageStore, StoredPage};
use crate::lake::{RawArchive, RawPage};
use crate::pipeline::PipelineError;
use jiff::Timestamp;
use std::cell::RefCell;
use std::rc::Rc;

/// A handle on the archive: extraction writes through one while landing reads through another.
#[derive(Debug, Clone)]
pub(crate) struct Pages(pub(crate) Rc<RefCell<RawArchive>>);

impl Pages {
    /// A page that must be there.
    pub(crate) fn page(&self, key: &PageKey) -> Result<RawPage, PipelineError> {
        let page = self.0.borrow().get(&key.target, key.occurrence)?;
        page.ok_or_else(|| PipelineError::PageGone { target: key.target.clone() })
    }
}

impl PageStore for Pages {
    fn stored(&mut self, key: &PageKey) -> Result<Option<StoredPage>, StoreError> {
        let page = self.0.borrow().get(&key.target, key.occurrence)?;
        Ok(page.map(|page| StoredPage { status: page.status, body: page.body }))
    }

    fn keep(&mut self, key: &PageKey, status: u16, at: Timestamp, body: &[u8]) -> Result<(), StoreError> {
        Ok(self.0.borrow_mut().append(&key.target, key.occurrence, status, at, body)?)
    }
}
