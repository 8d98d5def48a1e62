//! `latest.json`, the pointer of an object store to its newest snapshot. It only moves forward, also with concurrent
//! writers.

use super::object_client::Objects;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::Commit;
use crate::lake::format::sealed_json::{sealed, unseal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Its name.
pub(super) const LATEST: &str = "latest.json";
/// Attempts to replace it while other writers do the same.
const ATTEMPTS: u32 = 10;

/// The newest snapshot, and the objects of each table.
#[derive(Debug, Serialize, Deserialize)]
struct Latest {
    snapshot: u64,
    commit: String,
    tables: BTreeMap<String, Vec<String>>,
}

/// The snapshot that `latest.json` names; none where it is missing or damaged.
pub(super) fn pointed_to(objects: &Objects) -> Result<Option<u64>, LakeError> {
    Ok(objects.read(LATEST)?.and_then(|latest| snapshot_of(&latest.bytes)))
}

/// Moves `latest.json` to a snapshot, unless it names that one or a later one.
pub(super) fn advance(objects: &Objects, commit: &Commit) -> Result<(), LakeError> {
    let tables = commit.tables.iter().map(|(table, manifest)| {
        let names = manifest.files.iter().map(|entry| commit.object_of(entry));
        (table.clone(), names.collect())
    });
    let latest = Latest {
        snapshot: commit.snapshot,
        commit: Layout::commit_name(commit.snapshot),
        tables: tables.collect(),
    };
    let bytes = sealed(&latest).map_err(LakeError::storage("write", Path::new(LATEST)))?;
    for _ in 0..ATTEMPTS {
        let is_advanced = match objects.read(LATEST)? {
            None => objects.create(LATEST, &bytes)?,
            Some(old) if snapshot_of(&old.bytes).is_some_and(|shown| shown >= commit.snapshot) => true,
            Some(old) => objects.replace(LATEST, &bytes, &old)?,
        };
        if is_advanced {
            return Ok(());
        }
    }
    let what = format!("other writers replaced it during each of {ATTEMPTS} attempts");
    Err(LakeError::Remote { op: "write", url: objects.url(LATEST), what })
}

fn snapshot_of(latest: &[u8]) -> Option<u64> {
    unseal::<Latest>(latest, Path::new(LATEST)).ok().map(|latest| latest.snapshot)
}
