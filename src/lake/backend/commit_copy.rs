//! The copy of each commit in its run's folder: enough to write a lost or damaged commit again.

use super::disk;
use super::protocol::Backend;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{self, COMMITS, Layout, snapshot_name};
use crate::lake::format::manifest::Commit;
use jiff::Timestamp;

/// Name in the lake of the copy of a commit in its run's folder.
pub(crate) fn copy_name(run_id: &str, snapshot: u64) -> String {
    format!("runs/{run_id}/{COMMITS}/{}.json", snapshot_name(snapshot))
}

/// The copy of a commit in its run's folder; none where no run has an intact one. A killed run's snapshot number is given
/// again, so 2 runs may have a copy: the one committed later counts.
pub(crate) fn kept_copy(
    backend: &dyn Backend,
    layout: &Layout,
    snapshot: u64,
) -> Result<Option<Vec<u8>>, LakeError> {
    let mut newest: Option<(Timestamp, Vec<u8>)> = None;
    for run_id in disk::names(&layout.runs())?.iter().filter(|name| layout::check_run_id(name).is_ok()) {
        let name = copy_name(run_id, snapshot);
        let path = layout.root.join(&name);
        let intact = |bytes: Vec<u8>| {
            let commit = Commit::decode(&bytes, &path).ok().filter(|commit| commit.snapshot == snapshot)?;
            Some((commit.committed_at, bytes))
        };
        let found = match disk::read(&path)?.and_then(intact) {
            Some(local) => Some(local),
            None => backend.read(&name)?.and_then(intact),
        };
        newest = newest.max(found);
    }
    Ok(newest.map(|(_, bytes)| bytes))
}
