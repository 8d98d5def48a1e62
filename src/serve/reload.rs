//! What changes under a running server: the lake's `current` snapshot, and the key file.

use super::access::Accounts;
use super::index::Index;
use super::keys::{KeyFile, KeysError};
use super::load::load_snapshot;
use super::rest::Site;
use super::{AccountsSource, IndexSource, ServeError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often the sources are looked at and the counts written down.
const EVERY: Duration = Duration::from_secs(1);

/// What the sources were when they were last read.
#[derive(Debug, Default)]
pub(super) struct Seen {
    snapshot: Option<PathBuf>,
    key_file: Option<blake3::Hash>,
}

/// The index of a source, and the snapshot folder it was loaded from.
pub(super) fn read_index(source: &IndexSource) -> Result<(Arc<Index>, Option<PathBuf>), ServeError> {
    let folder = match source {
        IndexSource::Fixed(index) => return Ok((Arc::clone(index), None)),
        IndexSource::Snapshot(folder) => folder.clone(),
        IndexSource::Lake(root) => {
            current_snapshot(root).map_err(|source| ServeError::NoSnapshot { lake: root.clone(), source })?
        }
    };
    let index = load_snapshot(&folder)?;
    Ok((Arc::new(index), Some(folder)))
}

/// The folder that the lake's `current` points at now.
fn current_snapshot(lake: &Path) -> std::io::Result<PathBuf> {
    lake.join("current").canonicalize()
}

/// The accounts of a source.
pub(super) fn read_accounts(path: &Path) -> Result<Accounts, KeysError> {
    Accounts::from_key_file(&KeyFile::read(path)?)
}

impl Seen {
    /// The sources as they stand at the start.
    pub(super) fn at_start(snapshot: Option<PathBuf>, accounts: &AccountsSource) -> Self {
        let key_file = match accounts {
            AccountsSource::File(path) => digest(path),
            AccountsSource::Fixed(_) => None,
        };
        Self { snapshot, key_file }
    }
}

/// Every second, for ever: loads what has moved, writes down what was counted. A source that cannot be read leaves
/// things as they are, and is told once.
pub(super) async fn keep_current(
    site: Arc<Site>,
    index: IndexSource,
    key_file: Option<PathBuf>,
    mut seen: Seen,
) {
    loop {
        tokio::time::sleep(EVERY).await;
        let (at, source, keys) = (Arc::clone(&site), index.clone(), key_file.clone());
        let looked = tokio::task::spawn_blocking(move || {
            look(&at, &source, keys.as_deref(), &mut seen);
            seen
        });
        match looked.await {
            Ok(after) => seen = after,
            Err(error) => {
                tracing::error!(%error, "watching the lake ended; restart to see new snapshots");
                return;
            }
        }
    }
}

fn look(site: &Site, index: &IndexSource, key_file: Option<&Path>, seen: &mut Seen) {
    if let Err(error) = site.service.meter().write_if_changed() {
        tracing::warn!(%error, "requests counted since the last write would be lost in a crash");
    }
    if let IndexSource::Lake(root) = index {
        look_at_lake(site, root, seen);
    }
    if let Some(path) = key_file {
        look_at_keys(site, path, seen);
    }
}

fn look_at_lake(site: &Site, lake: &Path, seen: &mut Seen) {
    // Between the rename of two links there may be none for a moment; the next look finds it.
    let Ok(snapshot) = current_snapshot(lake) else { return };
    if seen.snapshot.as_ref() == Some(&snapshot) {
        return;
    }
    match load_snapshot(&snapshot) {
        Ok(loaded) => {
            tracing::info!(snapshot = %snapshot.display(), rows = loaded.rows(), "serving a new snapshot");
            site.service.swap_index(Arc::new(loaded));
        }
        Err(error) => tracing::warn!(%error, "a new snapshot cannot be loaded; the old one is still served"),
    }
    seen.snapshot = Some(snapshot);
}

fn look_at_keys(site: &Site, path: &Path, seen: &mut Seen) {
    let found = digest(path);
    if found.is_none() || found == seen.key_file {
        return;
    }
    match read_accounts(path) {
        Ok(accounts) => {
            tracing::info!(path = %path.display(), "the key file has changed");
            site.service.swap_accounts(accounts);
        }
        Err(error) => {
            tracing::warn!(%error, "the key file has changed and cannot be used; the old keys still hold")
        }
    }
    seen.key_file = found;
}

fn digest(path: &Path) -> Option<blake3::Hash> {
    std::fs::read(path).ok().map(|bytes| blake3::hash(&bytes))
}
