//! The snapshot and the tables to export.

use super::error::ExportError;
use crate::lake::{Commit, Lake};

/// The commit of a snapshot that has its files, published or pending review; without a number the newest that readers see.
pub(crate) fn snapshot(lake: &Lake, number: Option<u64>) -> Result<Commit, ExportError> {
    match number {
        Some(number) => Ok(lake.present_or_pending(number)?),
        None => lake.current()?.ok_or_else(|| ExportError::NoSnapshot(lake.to_string())),
    }
}

/// The tables with these names; without names, every table that has a file.
pub(super) fn selected_tables(commit: &Commit, names: &[String]) -> Result<Vec<String>, ExportError> {
    let known = commit.tables.iter().filter(|(_, manifest)| !manifest.files.is_empty());
    let known: Vec<String> = known.map(|(name, _)| name.clone()).collect();
    if let Some(table) = names.iter().find(|name| !known.contains(name)) {
        return Err(ExportError::NoTable { snapshot: commit.snapshot, table: table.clone(), known });
    }
    Ok(known.into_iter().filter(|name| names.is_empty() || names.contains(name)).collect())
}
