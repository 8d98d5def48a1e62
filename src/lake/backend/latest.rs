//! `latest.json`, what readers ask first: moved forward only, whoever else moves it at that moment.

use super::object_client::Document;
use super::remote::{Bucket, named_in};
use crate::lake::error::LakeError;
use crate::lake::format::layout::Layout;
use crate::lake::format::manifest::Commit;
use crate::lake::format::sealed_json::{Seal, look, sealed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Its name.
pub(super) const LATEST: &str = "latest.json";
/// How often it is read and replaced, should others do the same at that moment.
const SHOWING_TRIES: u32 = 10;

/// `latest.json`: the newest snapshot, and where each table's files lie.
#[derive(Debug, Serialize, Deserialize)]
struct Latest {
    snapshot: u64,
    commit: String,
    tables: BTreeMap<String, Vec<String>>,
}

impl Bucket {
    /// Moves `latest.json` to a snapshot, forward only. Who finds a later one there leaves it.
    pub(super) fn show_latest(&self, commit: &Commit) -> Result<(), LakeError> {
        let latest = Latest {
            snapshot: commit.snapshot,
            commit: Layout::commit_name(commit.snapshot),
            tables: commit
                .tables
                .iter()
                .map(|(table, manifest)| {
                    let names = manifest.files.iter().map(|entry| named_in(commit, entry));
                    (table.clone(), names.collect())
                })
                .collect(),
        };
        let bytes = sealed(&latest).map_err(LakeError::storage("write", Path::new(LATEST)))?;
        for _ in 0..SHOWING_TRIES {
            let moved = match self.objects.read(LATEST)? {
                None => self.objects.create(LATEST, &bytes)?,
                Some(old) if snapshot_of(&old).is_some_and(|shown| shown >= commit.snapshot) => true,
                Some(old) => self.objects.replace(LATEST, &bytes, &old)?,
            };
            if moved {
                self.known().shown = Some(commit.snapshot);
                return Ok(());
            }
        }
        let what = "others replace it again and again".to_owned();
        Err(LakeError::Remote { op: "write", url: self.objects.url(LATEST), what })
    }
}

/// The snapshot that it leads to; none where it is not what was written.
pub(super) fn snapshot_of(latest: &Document) -> Option<u64> {
    let unbroken = Some(&latest.bytes).filter(|bytes| look(bytes) != Seal::Broken)?;
    serde_json::from_slice::<Latest>(unbroken).ok().map(|latest| latest.snapshot)
}
