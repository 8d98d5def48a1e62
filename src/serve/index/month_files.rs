//! Rows that stay in the files of a snapshot, by month of filing, and are read when they are asked for.

use crate::lake::Month;
use crate::table::{Row, TableError, rows_of_business};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The files of a table that has one for each month of filing.
#[derive(Debug, Default)]
pub(crate) struct MonthFiles(pub(crate) BTreeMap<Month, PathBuf>);

impl MonthFiles {
    /// The rows of a business that was filed on a day, given as days since 1970-01-01.
    pub(super) fn rows<R: Row>(&self, filed_day: i32, business_id: i64) -> Result<Vec<R>, TableError> {
        let file = Month::of_epoch_day(filed_day).and_then(|month| self.0.get(&month));
        file.map_or(Ok(Vec::new()), |file| rows_of_business(file, business_id))
    }
}
