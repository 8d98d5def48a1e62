//! Rows that stay in the files of a snapshot, by month of filing, and are read when they are asked for.

use crate::lake::Month;
use crate::table::{KeptFooters, Part, TableError};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Bytes of the footers of one table that stay in memory at most.
const FOOTER_BYTES: usize = 64 * 1024 * 1024;

/// The files of a table that has one for each month of filing.
#[derive(Debug)]
pub(crate) struct MonthFiles {
    files: BTreeMap<Month, PathBuf>,
    footers: KeptFooters,
}

impl MonthFiles {
    pub(crate) fn new(files: BTreeMap<Month, PathBuf>) -> Self {
        Self { files, footers: KeptFooters::within(FOOTER_BYTES) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The rows of a business that was filed on a day, given as days since 1970-01-01.
    pub(super) fn rows<P: Part>(&self, filed_day: i32, business_id: i64) -> Result<Vec<P::Row>, TableError> {
        let file = Month::of_epoch_day(filed_day).and_then(|month| self.files.get(&month));
        file.map_or(Ok(Vec::new()), |file| self.footers.rows_of_business::<P>(file, business_id))
    }
}

impl Default for MonthFiles {
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}
