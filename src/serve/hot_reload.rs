//! What changes under a running server: the lake's `current` snapshot, and the key file.

use super::auth::access::Accounts;
use super::auth::key_file::{KeyFile, KeysError};
use super::auth::limit_override::LimitOverride;
use super::http::app::Site;
use super::index::Index;
use super::load::{LoadError, load_snapshot};
use super::metrics::{Loaded, Metrics};
use super::{AccountsSource, IndexSource, ServeError};
use crate::lake::{Lake, check_snapshot_folder};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the sources are looked at and the counts written down.
const EVERY: Duration = Duration::from_secs(1);
/// An object store is asked less often: each time costs two requests.
const STORE_EVERY: u64 = 5;

/// Looks after which a snapshot that could not be loaded is tried again: it may have been put right.
const LOOKS_UNTIL_AGAIN: u64 = 15;

/// What the sources were when they were last read.
#[derive(Debug, Default)]
pub(super) struct Seen {
    snapshot: Option<PathBuf>,
    /// The index before this one, until nobody can be at it any more: to free it takes a while, which is not to fall on
    /// a request.
    retired: Option<Arc<Index>>,
    key_file: Option<blake3::Hash>,
    /// A snapshot that could not be loaded, and the look at which it is tried again.
    failed: Option<(PathBuf, u64)>,
    /// Looks so far; an object store is asked at every [`STORE_EVERY`]th.
    looks: u64,
}

/// The index of a source, and the snapshot folder it was loaded from.
pub(super) fn read_index(
    source: &IndexSource,
    metrics: &Metrics,
) -> Result<(Arc<Index>, Option<PathBuf>), ServeError> {
    let folder = match source {
        IndexSource::Fixed(index) => return Ok((Arc::clone(index), None)),
        IndexSource::Snapshot(folder) => folder.clone(),
        IndexSource::Lake(root) => {
            current_snapshot(root).map_err(|source| ServeError::NoSnapshot { lake: root.clone(), source })?
        }
        IndexSource::Store(lake) => copy_newest(lake)
            .map_err(|source| ServeError::NoSnapshot { lake: lake.to_string().into(), source })?,
    };
    Ok((Arc::new(load(&folder, metrics)?), Some(folder)))
}

/// Loads a snapshot and tells what it costs.
fn load(folder: &Path, metrics: &Metrics) -> Result<Index, LoadError> {
    let begun = Instant::now();
    check_snapshot_folder(folder)?;
    let index = load_snapshot(folder)?;
    let name = folder.canonicalize().ok().and_then(|path| path.file_name()?.to_str()?.parse().ok());
    let (snapshot, rows, bytes) = (name.unwrap_or(0), index.rows(), index.bytes());
    let took = begun.elapsed();
    metrics.loaded(Loaded { snapshot, rows, bytes, took });
    tracing::info!(
        snapshot = %folder.display(),
        rows,
        bytes,
        millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "a snapshot is loaded"
    );
    Ok(index)
}

/// The folder that the lake's `current` points at now.
fn current_snapshot(lake: &Path) -> std::io::Result<PathBuf> {
    lake.join("current").canonicalize()
}

/// A copy on this machine of the newest snapshot of an object store.
fn copy_newest(lake: &Lake) -> std::io::Result<PathBuf> {
    lake.refresh().map_err(std::io::Error::other)?;
    match lake.current().map_err(std::io::Error::other)? {
        Some(commit) => {
            lake.open_snapshot(&commit).folder().map(Path::to_path_buf).map_err(std::io::Error::other)
        }
        None => Err(std::io::Error::new(std::io::ErrorKind::NotFound, "it has no commit")),
    }
}

/// The accounts of a source.
pub(super) fn read_accounts(keys: &KeySource) -> Result<Accounts, KeysError> {
    Accounts::from_key_file(&KeyFile::read(&keys.path)?, &keys.instead)
}

/// A key file, and the limits that go before those in it.
#[derive(Debug, Clone)]
pub(super) struct KeySource {
    pub(super) path: PathBuf,
    pub(super) instead: LimitOverride,
}

impl Seen {
    /// The sources as they stand at the start.
    pub(super) fn at_start(snapshot: Option<PathBuf>, accounts: &AccountsSource) -> Self {
        let key_file = match accounts {
            AccountsSource::File(path) => digest(path),
            AccountsSource::Fixed(_) => None,
        };
        Self { snapshot, key_file, ..Self::default() }
    }
}

/// Every second, for ever: loads what has moved, writes down what was counted. A source that cannot be read leaves
/// things as they are, and is told once.
pub(super) async fn keep_current(
    site: Arc<Site>,
    index: IndexSource,
    keys: Option<KeySource>,
    mut seen: Seen,
) {
    loop {
        tokio::time::sleep(EVERY).await;
        let (at, source, keys) = (Arc::clone(&site), index.clone(), keys.clone());
        let looked = tokio::task::spawn_blocking(move || {
            look(&at, &source, keys.as_ref(), &mut seen);
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

fn look(site: &Site, index: &IndexSource, keys: Option<&KeySource>, seen: &mut Seen) {
    seen.retired = None;
    site.service.turn_day();
    if let Err(error) = site.service.meter().keep() {
        tracing::warn!(%error, "requests counted since the last time would be lost in a power cut");
    }
    seen.looks += 1;
    match index {
        // Between the rename of two links there may be none for a moment; the next look finds it.
        IndexSource::Lake(root) => take_up(site, current_snapshot(root).ok(), seen),
        IndexSource::Store(lake) if seen.looks.is_multiple_of(STORE_EVERY) => {
            let copied = copy_newest(lake);
            if let Err(error) = &copied {
                tracing::warn!(%error, "the object store cannot be asked for a newer snapshot; the old one is still served");
            }
            take_up(site, copied.ok(), seen);
        }
        IndexSource::Store(_) | IndexSource::Fixed(_) | IndexSource::Snapshot(_) => {}
    }
    if let Some(keys) = keys {
        look_at_keys(site, keys, seen);
    }
}

/// Serves a snapshot if it is not the one that is served.
fn take_up(site: &Site, snapshot: Option<PathBuf>, seen: &mut Seen) {
    let Some(snapshot) = snapshot else { return };
    if seen.snapshot.as_ref() == Some(&snapshot) {
        return;
    }
    if seen.failed.as_ref().is_some_and(|(failed, again)| *failed == snapshot && seen.looks < *again) {
        return;
    }
    match load(&snapshot, &site.metrics) {
        Ok(loaded) => {
            seen.retired = Some(site.service.swap_index(Arc::new(loaded)));
            (seen.snapshot, seen.failed) = (Some(snapshot), None);
        }
        Err(error) => {
            site.metrics.failed_reloads.inc();
            tracing::warn!(%error, "a new snapshot cannot be loaded; the old one is still served, this one is tried again");
            seen.failed = Some((snapshot, seen.looks + LOOKS_UNTIL_AGAIN));
        }
    }
}

fn look_at_keys(site: &Site, keys: &KeySource, seen: &mut Seen) {
    let found = digest(&keys.path);
    if found.is_none() || found == seen.key_file {
        return;
    }
    match read_accounts(keys) {
        Ok(accounts) => {
            tracing::info!(path = %keys.path.display(), "the key file has changed");
            site.service.swap_accounts(accounts);
        }
        Err(error) => {
            site.metrics.failed_reloads.inc();
            tracing::warn!(%error, "the key file has changed and cannot be used; the old keys still hold");
        }
    }
    seen.key_file = found;
}

fn digest(path: &Path) -> Option<blake3::Hash> {
    std::fs::read(path).ok().map(|bytes| blake3::hash(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use crate::serve::auth::key_file::KeyRequest;
    use crate::serve::auth::usage_meter::Meter;
    use crate::serve::fixture::{KEY, TODAY, clock, filing, generous, write_table};
    use crate::serve::mcp::Doors;
    use crate::serve::service::Service;
    use crate::table::Table;
    use jiff::Timestamp;
    use prometheus_client::registry::Registry;
    use secrecy::ExposeSecret;
    use std::os::unix::fs::symlink;

    fn point_current_at(lake: &Path, snapshot: &str) {
        symlink(lake.join(snapshot), lake.join("next")).expect("a link");
        std::fs::rename(lake.join("next"), lake.join("current")).expect("swapped");
    }

    fn site(index: Arc<Index>, accounts: Accounts) -> Site {
        let service = Service::new(index, accounts, Meter::default(), clock(), Some(TODAY));
        let doors = Doors::new(([127, 0, 0, 1], 1).into(), None);
        Site::new(service, "", doors, Metrics::new(Registry::default()), [1; 32])
    }

    fn total(site: &Site) -> String {
        let headers = [("authorization", format!("Bearer {KEY}"))].into_iter();
        let headers =
            headers.map(|(name, value)| (name.parse().expect("name"), value.parse().expect("value")));
        let target = "/v1/fl/stats".parse().expect("a target");
        let reply = site.respond(&hyper::Method::GET, &target, &headers.collect());
        let text = String::from_utf8(reply.response.body().to_vec()).expect("text");
        text.split(',').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_moved_current_is_served_and_a_damaged_snapshot_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let lake = folder.path();
        let rows = [filing("1", "2026-07-31", "true"), filing("2", "2026-07-31", "true")];
        write_table(&lake.join("1"), Table::Filings, "f.parquet", &rows[..1]);
        write_table(&lake.join("2"), Table::Filings, "f.parquet", &rows);
        std::fs::create_dir_all(lake.join("3/filings")).expect("made");
        std::fs::write(lake.join("3/filings/f.parquet"), "damaged").expect("written");
        point_current_at(lake, "1");
        let metrics = Metrics::new(Registry::default());
        let (index, snapshot) = read_index(&IndexSource::Lake(lake.to_owned()), &metrics).expect("an index");
        let site = site(index, Accounts::single(KEY, "acme", generous(), &["data"]));
        let mut seen = Seen { snapshot, ..Seen::default() };
        for (snapshot, businesses) in [("1", 1), ("2", 2), ("3", 2)] {
            point_current_at(lake, snapshot);
            take_up(&site, current_snapshot(lake).ok(), &mut seen);
            assert_eq!(total(&site), format!("{{\"data\":{{\"businesses_total\":{businesses}"), "{snapshot}");
        }
    }

    #[test]
    fn a_revoked_key_is_refused_without_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys.toml");
        let mut file = KeyFile::default();
        let request = KeyRequest { account: "acme", plan: Plan::Starter, scopes: &[] };
        let made = file.create(request, [5; 32], Timestamp::UNIX_EPOCH).expect("a key");
        file.write(&path).expect("written");
        let index = crate::serve::IndexBuilder::default().finish().expect("an index");
        let keys = KeySource { path: path.clone(), instead: LimitOverride::default() };
        let site = site(Arc::new(index), read_accounts(&keys).expect("accounts"));
        let mut seen = Seen::at_start(None, &AccountsSource::File(path.clone()));
        let opens = || site.service.authenticate(Some(made.key.expose_secret())).is_ok();
        assert!(opens());
        file.revoke(&made.id, Timestamp::UNIX_EPOCH).expect("revoked");
        file.write(&path).expect("written");
        look_at_keys(&site, &keys, &mut seen);
        assert!(!opens());
    }
}
