//! Aggregates of a snapshot being made.

use super::staging::{Staging, TableDelta, check_kept};
use crate::lake::data_file::portable_types::plain_types;
use crate::lake::data_file::{about as words_of, read_part};
use crate::lake::error::LakeError;
use crate::lake::format::layout;
use arrow::record_batch::RecordBatch;
use std::collections::BTreeSet;
use std::path::Path;

impl Staging {
    /// Sets an aggregate to the rows of a finished Parquet file. `about` describes the aggregate and its columns; it is
    /// written into the file, so that every snapshot explains itself.
    ///
    /// Types that not every reader of the lake knows are widened: unsigned and short integers, large and view
    /// strings, dictionaries, naive timestamps (taken as UTC).
    pub fn aggregate_file(&mut self, name: &str, path: &Path, about: &str) -> Result<TableDelta, LakeError> {
        self.aggregate(name, &read_part(path, None)?, about)
    }

    /// Sets an aggregate, `agg_<name>`, to these rows, in this order. Equal rows with the same description keep their
    /// file.
    pub fn aggregate(
        &mut self,
        name: &str,
        rows: &RecordBatch,
        about: &str,
    ) -> Result<TableDelta, LakeError> {
        let table = layout::aggregate_folder(name)?;
        let rows = plain_types(&table, rows)?;
        let count = rows.num_rows() as u64;
        let is_same = match self.of_table(&table) {
            [file] => {
                check_kept(file)?;
                read_part(&file.path, None)? == rows && words_of(&file.path)? == about
            }
            _ => false,
        };
        if !is_same {
            let file = self.write_about(None, &table, &rows, about)?;
            self.swap(&table, |_| true, Some(file))?;
        }
        Ok(TableDelta { read: count, total: count, ..TableDelta::default() })
    }

    /// Drops the aggregates that are not in `names`: their definition is gone.
    pub fn retain_aggregates(&mut self, names: &BTreeSet<String>) {
        self.tables
            .retain(|table, _| table.strip_prefix(layout::AGGREGATE).is_none_or(|name| names.contains(name)));
    }
}
