//! The Delta log of a lake in an object store: a version for each snapshot, over the files where they are.
//!
//! A version is made from its commit and the one before alone. So a version that is missing is made again, and two machines
//! make the same one. Files of a snapshot that was pruned are gone: its version cannot be read then, newer ones can.

use super::super::error::ExportError;
use super::export::{actions, schema_string};
use super::log::{metadata, protocol};
use crate::lake::{Commit, FileEntry, Lake};
use crate::table::Table;
use serde_json::Value;
use std::collections::BTreeMap;

/// The folder that paths of the log are relative to.
const ROOT: &str = "snapshots/";

/// Adds the versions that the log of a store lacks; nothing for a lake in a folder.
pub(crate) fn complete_log(lake: &Lake) -> Result<(), ExportError> {
    let Some(there) = lake.delta_versions()? else { return Ok(()) };
    let commits: Vec<u64> = lake.commits()?.into_iter().collect();
    for (version, snapshot) in (0..).zip(&commits) {
        if there.contains(&version) {
            continue;
        }
        let commit = lake.commit(*snapshot)?;
        let before = match commits[..version as usize].last() {
            Some(before) => Some(lake.commit(*before)?),
            None => None,
        };
        let first = lake.commit(commits[0])?;
        lake.create_delta_version(version, actions_after(before.as_ref(), &commit, &first))?;
    }
    Ok(())
}

/// The actions that lead from the snapshot before to this one. `first` is that of version 0.
fn actions_after(before: Option<&Commit>, commit: &Commit, first: &Commit) -> Vec<Value> {
    let mut schema = Vec::new();
    if before.is_none() {
        schema.push(protocol());
    }
    if before.is_none_or(|before| before.schema_version != commit.schema_version) {
        schema.push(metadata(first, None, &schema_string()));
    }
    let old = before.map(files).unwrap_or_default().into_keys().collect();
    actions(commit, schema, &old, &files(commit))
}

/// The files of filings by their paths from [`ROOT`].
fn files(commit: &Commit) -> BTreeMap<String, &FileEntry> {
    let entries = commit.files(Some(Table::Filings.name()));
    let path = |file: &FileEntry| commit.object_of(file).trim_start_matches(ROOT).to_owned();
    entries.map(|file| (path(file), file)).collect()
}
