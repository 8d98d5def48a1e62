//! The tables that SQL may name.

use crate::lake::Month;
use crate::table::{Footer, TableError};
use polars::error::PolarsError;
use polars::prelude::{LazyFrame, PlRefPath, ScanArgsParquet};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of a snapshot's tables, by table name.
pub type SnapshotFiles = BTreeMap<String, Vec<PathBuf>>;

/// The tables that SQL may name.
pub(super) trait Tables: Sync {
    /// The rows of a table, and its files; none of an unknown table, and of one without files unless an implementation says otherwise.
    fn rows(&self, table: &str) -> Option<Result<(LazyFrame, Vec<PathBuf>), PolarsError>>;

    fn names(&self) -> Vec<&str>;
}

impl Tables for SnapshotFiles {
    fn rows(&self, table: &str) -> Option<Result<(LazyFrame, Vec<PathBuf>), PolarsError>> {
        let files = self.get(table).filter(|files| !files.is_empty())?;
        Some(scan(files).map(|rows| (rows, files.clone())))
    }

    fn names(&self) -> Vec<&str> {
        self.iter().filter(|(_, files)| !files.is_empty()).map(|(known, _)| known.as_str()).collect()
    }
}

/// A lazy scan of the files of one table. Columns of the path (`filed_month=...`) are not part of it.
fn scan(files: &[PathBuf]) -> Result<LazyFrame, PolarsError> {
    let paths = files.iter().map(|path| PlRefPath::try_from_path(path)).collect::<Result<Vec<_>, _>>()?;
    let mut args = ScanArgsParquet { glob: false, ..ScanArgsParquet::default() };
    args.hive_options.enabled = Some(false);
    LazyFrame::scan_parquet_files(paths.into(), args)
}

/// Whether no file has a row.
pub(super) fn have_no_rows(files: &[PathBuf]) -> Result<bool, PolarsError> {
    for file in files {
        if Footer::open(file).map_err(of_table_error)?.rows() > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An error of a file or a batch, as one of a calculation.
pub(super) fn of_table_error(error: TableError) -> PolarsError {
    PolarsError::ComputeError(error.to_string().into())
}

/// The month of a file of filings, by its folder.
pub(super) fn month_of_file(file: &Path) -> Option<Month> {
    Month::from_folder(file.parent()?.file_name()?.to_str()?)
}
