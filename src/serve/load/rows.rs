//! The rows of a table whose rows are few beside the filings: each as its own type.

use super::LoadError;
use super::files::{files_of, open};
use crate::table::Row;
use std::path::Path;

/// Rows read from a file at a time: they are held twice, as columns and as values.
const BATCH_ROWS: usize = 8 * 1024;

/// Takes every row of a table, file by file; a table without a folder has none.
pub(super) fn each_row<R: Row>(snapshot: &Path, mut take: impl FnMut(R)) -> Result<(), LoadError> {
    for path in files_of(snapshot, R::TABLE)? {
        let damaged = |source| LoadError::damaged(&path, source);
        for batch in open(&path)?.with_batch_size(BATCH_ROWS).build().map_err(damaged)? {
            let batch = batch.map_err(|error| damaged(error.into()))?;
            let rows = R::rows(&batch)
                .map_err(|source| LoadError::Table { path: path.clone(), source: source.into() })?;
            rows.into_iter().for_each(&mut take);
        }
    }
    Ok(())
}
