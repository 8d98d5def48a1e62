//! The run's archive of raw pages. Extraction asks it before it spends a request.

use crate::client::Call;
use crate::extract::error::StoreError;
use crate::extract::fetch::{PageKey, PageStore, StoredPage};
use crate::lake::{RawArchive, RawPage};
use crate::pipeline::error::{PipelineError, Result};
use crate::table::Table;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle on the archive. Extraction writes through one while landing reads through another.
#[derive(Clone)]
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
        Ok(page.map(|page| StoredPage {
            status: page.status,
            received_at: page.received_at,
            body: page.body,
        }))
    }

    fn keep(&mut self, key: &PageKey, status: u16, at: Timestamp, body: &[u8]) -> Result<(), StoreError> {
        let kept = self.archive().append(&key.target, key.occurrence, status, at, body);
        Ok(kept.map_err(PipelineError::from)?)
    }
}

/// When the answers arrived that tables are made from.
pub(crate) type CameAt = BTreeMap<Table, Timestamp>;

/// When lists and counts arrived, as far as a run's archive has them. `counts` is the answer with the counts.
pub(crate) fn came_at(pages: &Pages, counts: Option<&PageKey>) -> Result<CameAt> {
    let mut came = CameAt::new();
    let mut note = |target: &str, occurrence: u32, tables: &[Table]| -> Result<()> {
        if let Some(page) = pages.archive().get(target, occurrence)? {
            came.extend(tables.iter().map(|table| (*table, page.received_at)));
        }
        Ok(())
    };
    note(Call::entity_types().target(), 0, &[Table::EntityTypes])?;
    note(Call::industries().target(), 0, &[Table::IndustryTypes, Table::IndustrySegments])?;
    note(Call::counties().target(), 0, &[Table::Counties])?;
    note(Call::stats().target(), 0, &[Table::MonthlyCounts, Table::Statewide, Table::TypeSplit])?;
    if let Some(PageKey { target, occurrence }) = counts {
        note(target, *occurrence, &[Table::DailyCounts])?;
    }
    Ok(came)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::RawArchive;
    use crate::pipeline::load::recount::tests::at;

    #[test]
    fn the_archive_has_the_time_of_each_answer() {
        let root = tempfile::tempdir().expect("a folder");
        let mut archive = RawArchive::open(root.path()).expect("an archive");
        let counts = "/v1/fl/filings/daily?days=31";
        for (target, occurrence, second) in
            [("/v1/fl/stats", 0, 4), (counts, 0, 3), (counts, 1, 5), ("/v1/me", 0, 6)]
        {
            archive.append(target, occurrence, 200, at(second), b"{}").expect("kept");
        }
        let newest = PageKey { target: counts.to_owned(), occurrence: 1 };
        let came = came_at(&Pages::new(archive), Some(&newest)).expect("instants");
        let expected = [
            (Table::DailyCounts, at(5)),
            (Table::MonthlyCounts, at(4)),
            (Table::Statewide, at(4)),
            (Table::TypeSplit, at(4)),
        ];
        assert_eq!(came, CameAt::from(expected));
    }
}
