//! Computes the aggregates of the next snapshot.

use crate::aggregate::{head_comment, run_aggregate};
use crate::lake::Staging;
use crate::pipeline::error::{PipelineError, Result};
use crate::table::Table;
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn has_filings(staging: &Staging) -> bool {
    staging.files().get(Table::Filings.name()).is_some_and(|files| !files.is_empty())
}

/// Computes all aggregates of the next snapshot. `out` is a folder for temporary files.
pub(crate) fn add_up(aggregates: &[(String, String)], staging: &mut Staging, out: &Path) -> Result<()> {
    if !has_filings(staging) {
        // A pipeline of lists and counts has nothing to aggregate.
        staging.retain_aggregates(&BTreeSet::new());
        return Ok(());
    }
    let tables = staging.sound_files()?;
    let unwritten = |source| PipelineError::Write { path: out.to_owned(), source };
    std::fs::create_dir_all(out).map_err(unwritten)?;
    for (name, sql) in aggregates {
        let made = run_aggregate(name, sql, &tables, out)?;
        staging.aggregate_file(name, &made.path, &head_comment(sql))?;
    }
    staging.retain_aggregates(&aggregates.iter().map(|(name, _)| name.clone()).collect());
    std::fs::remove_dir_all(out).map_err(unwritten)
}
