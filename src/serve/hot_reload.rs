//! Hot reload: serves a new snapshot and a changed key file without a restart.
//!
//! Every second the sources are compared with what is served. A source that cannot be used is logged, and the old one is
//! still served.

use super::auth::{Accounts, KeyFile, KeysError, LimitOverride};
use super::config::ServeError;
use super::config::{AccountsSource, IndexSource};
use super::http::app::Site;
use super::index::Index;
use super::load::{LoadError, load_snapshot};
use super::metrics::Metrics;
use crate::lake::{Lake, LakeError, check_snapshot_folder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the sources are polled and the request counts synced.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// An object store is asked at every fifth poll: each time costs two requests.
const POLLS_BETWEEN_STORE_REQUESTS: u64 = 5;
/// Polls until a snapshot that failed to load is tried again: it may have been repaired.
const POLLS_UNTIL_RETRY: u64 = 15;

/// The sources of a running server, and what of them is served.
pub(super) struct HotReload {
    index: IndexSource,
    /// The key file, and the limits that replace those in it.
    keys: Option<(PathBuf, LimitOverride)>,
    snapshot: PathBuf,
    /// Digest of the key file that is served.
    key_file: Option<blake3::Hash>,
    /// The index before this one. It is freed one poll later, when no request uses it: freeing takes a while.
    retired: Option<Arc<Index>>,
    /// A snapshot that failed to load, and the poll at which it is tried again.
    failed: Option<(PathBuf, u64)>,
    polls: u64,
}

impl HotReload {
    /// Reads both sources for the first time; returns the index and the accounts to serve.
    pub(super) fn open(
        index: IndexSource,
        accounts: AccountsSource,
        plan_override: LimitOverride,
        metrics: &Metrics,
    ) -> Result<(Self, Arc<Index>, Accounts), ServeError> {
        let (loaded, snapshot) = read_index(&index, metrics)?;
        let (keys, key_file, accounts) = match accounts {
            AccountsSource::Fixed(accounts) => (None, None, accounts),
            AccountsSource::File(path) => {
                // Before the file is read: a change in between is found by the next poll.
                let key_file = digest(&path);
                let accounts = read_accounts(&path, &plan_override)?;
                (Some((path, plan_override)), key_file, accounts)
            }
        };
        let reload = Self { index, keys, snapshot, key_file, retired: None, failed: None, polls: 0 };
        Ok((reload, loaded, accounts))
    }

    pub(super) async fn run(mut self, site: Arc<Site>) {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let polled = Arc::clone(&site);
            let poll = tokio::task::spawn_blocking(move || {
                self.poll(&polled);
                self
            });
            match poll.await {
                Ok(after) => self = after,
                Err(error) => {
                    tracing::error!(%error, "watching the lake failed; restart to serve new snapshots");
                    return;
                }
            }
        }
    }

    fn poll(&mut self, site: &Site) {
        self.retired = None;
        site.service.turn_day();
        if let Err(error) = site.service.meter.sync() {
            tracing::warn!(%error, "a power cut would lose the requests counted since the last sync");
        }
        self.polls += 1;
        if let Some(snapshot) = self.newest_snapshot() {
            self.serve_snapshot(site, snapshot);
        }
        self.poll_keys(site);
    }

    /// The newest snapshot of a source that is followed; `None` when it is not to be asked, or cannot be read.
    fn newest_snapshot(&self) -> Option<PathBuf> {
        match &self.index {
            // The link may be missing for a moment while it is replaced; the next poll finds it.
            IndexSource::Lake(root) => current_snapshot(root).ok(),
            IndexSource::Store(lake) if self.polls.is_multiple_of(POLLS_BETWEEN_STORE_REQUESTS) => {
                copy_newest(lake).unwrap_or_else(|error| {
                    tracing::warn!(%error, "the object store cannot be asked for a newer snapshot; the old one is still served");
                    None
                })
            }
            IndexSource::Store(_) | IndexSource::Snapshot(_) => None,
        }
    }

    /// Serves a snapshot unless it is served already, or failed to load a short time ago.
    fn serve_snapshot(&mut self, site: &Site, snapshot: PathBuf) {
        let waits = |(failed, retry): &(PathBuf, u64)| *failed == snapshot && self.polls < *retry;
        if self.snapshot == snapshot || self.failed.as_ref().is_some_and(waits) {
            return;
        }
        match load(&snapshot, &site.metrics) {
            Ok(loaded) => {
                self.retired = Some(site.service.swap_index(Arc::new(loaded)));
                (self.snapshot, self.failed) = (snapshot, None);
            }
            Err(error) => {
                site.metrics.failed_reloads.inc();
                tracing::warn!(%error, "a new snapshot cannot be loaded; the old one is still served, and the new one is tried again in 15 s");
                self.failed = Some((snapshot, self.polls + POLLS_UNTIL_RETRY));
            }
        }
    }

    fn poll_keys(&mut self, site: &Site) {
        let Some((path, plan_override)) = &self.keys else { return };
        let found = digest(path);
        if found.is_none() || found == self.key_file {
            return;
        }
        match read_accounts(path, plan_override) {
            Ok(accounts) => {
                tracing::info!(path = %path.display(), "the key file has changed");
                site.service.swap_accounts(accounts);
            }
            Err(error) => {
                site.metrics.failed_reloads.inc();
                tracing::warn!(%error, "the key file has changed and cannot be used; the old keys are still valid");
            }
        }
        self.key_file = found;
    }
}

fn read_accounts(path: &Path, plan_override: &LimitOverride) -> Result<Accounts, KeysError> {
    Accounts::from_key_file(&KeyFile::read(path)?, plan_override)
}

/// Digest of a file's bytes; `None` when it cannot be read.
fn digest(path: &Path) -> Option<blake3::Hash> {
    std::fs::read(path).ok().map(|bytes| blake3::hash(&bytes))
}

/// The index of a source, and the snapshot folder it was loaded from.
fn read_index(source: &IndexSource, metrics: &Metrics) -> Result<(Arc<Index>, PathBuf), ServeError> {
    let folder = match source {
        IndexSource::Snapshot(folder) => folder.clone(),
        IndexSource::Lake(root) => current_snapshot(root).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ServeError::NoSnapshot(root.clone()),
            _ => ServeError::Unreadable(root.join("current"), source),
        })?,
        IndexSource::Store(lake) => {
            copy_newest(lake)?.ok_or_else(|| ServeError::NoSnapshot(lake.to_string().into()))?
        }
    };
    Ok((Arc::new(load(&folder, metrics)?), folder))
}

/// The index of a snapshot folder; its size and the time it took go to the metrics and the log.
fn load(folder: &Path, metrics: &Metrics) -> Result<Index, LoadError> {
    let begun = Instant::now();
    check_snapshot_folder(folder)?;
    let index = load_snapshot(folder)?;
    let name = folder.canonicalize().ok().and_then(|path| path.file_name()?.to_str()?.parse().ok());
    let took = begun.elapsed();
    metrics.loaded(name.unwrap_or(0), &index, took);
    tracing::info!(
        snapshot = %folder.display(),
        rows = index.rows(),
        bytes = index.bytes(),
        millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "a snapshot is loaded"
    );
    Ok(index)
}

/// The folder that the lake's `current` link points to.
fn current_snapshot(lake: &Path) -> io::Result<PathBuf> {
    lake.join("current").canonicalize()
}

/// A copy on this machine of the newest snapshot of an object store; `None` when it has no commit.
fn copy_newest(lake: &Lake) -> Result<Option<PathBuf>, LakeError> {
    lake.refresh()?;
    let Some(commit) = lake.current()? else { return Ok(None) };
    Ok(Some(lake.open_snapshot(&commit).folder()?.to_path_buf()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::plan::Plan;
    use crate::serve::auth::{KeyRequest, Meter};
    use crate::serve::fixture::{KEY, TODAY, clock, filing, generous, snapshot, write_table};
    use crate::serve::http::host_guard::HostGuard;
    use crate::serve::service::Service;
    use crate::table::Table;
    use jiff::Timestamp;
    use secrecy::ExposeSecret;
    use std::os::unix::fs::symlink;

    fn point_current_at(lake: &Path, snapshot: &str) {
        symlink(lake.join(snapshot), lake.join("next")).expect("a link");
        std::fs::rename(lake.join("next"), lake.join("current")).expect("swapped");
    }

    fn open(index: IndexSource, accounts: AccountsSource) -> Result<(HotReload, Site), ServeError> {
        let metrics = Metrics::new();
        let (reload, index, accounts) = HotReload::open(index, accounts, LimitOverride::default(), &metrics)?;
        let service = Service::new(index, accounts, Meter::default(), clock(), Some(TODAY));
        let host_guard = HostGuard::new(([127, 0, 0, 1], 1).into(), None);
        Ok((reload, Site::new(service, "", host_guard, metrics, [1; 32])))
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
    fn lake_without_snapshot_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = IndexSource::Lake(folder.path().to_owned());
        let error = read_index(&source, &Metrics::new()).expect_err("no snapshot");
        assert!(error.to_string().contains("no current snapshot"), "{error}");
    }

    #[test]
    fn new_snapshot_is_served_and_damaged_one_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let lake = folder.path();
        let rows = [filing("1", "2026-07-31", "true"), filing("2", "2026-07-31", "true")];
        write_table(&lake.join("1"), Table::Filings, "f.parquet", &rows[..1]);
        write_table(&lake.join("2"), Table::Filings, "f.parquet", &rows);
        std::fs::create_dir_all(lake.join("3/filings")).expect("made");
        std::fs::write(lake.join("3/filings/f.parquet"), "damaged").expect("written");
        point_current_at(lake, "1");
        let accounts = AccountsSource::Fixed(Accounts::single(KEY, "acme", generous(), &["data"]));
        let (mut reload, site) = open(IndexSource::Lake(lake.to_owned()), accounts).expect("a lake");
        for (snapshot, businesses) in [("1", 1), ("2", 2), ("3", 2)] {
            point_current_at(lake, snapshot);
            reload.poll(&site);
            assert_eq!(total(&site), format!("{{\"data\":{{\"businesses_total\":{businesses}"), "{snapshot}");
        }
    }

    #[test]
    fn revoked_key_is_refused_without_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("keys.toml");
        let request = KeyRequest { account: "acme", plan: Plan::Starter, scopes: &[] };
        let now = Timestamp::UNIX_EPOCH;
        let made = KeyFile::change(&path, |file| file.create(request, [5; 32], now)).expect("a key");
        let snapshot = snapshot();
        let (mut reload, site) =
            open(IndexSource::Snapshot(snapshot.path().to_owned()), AccountsSource::File(path.clone()))
                .expect("keys");
        let opens = || site.service.authenticate(Some(made.key.expose_secret())).is_ok();
        assert!(opens());
        KeyFile::change(&path, |file| file.revoke(&made.id, now)).expect("revoked");
        reload.poll(&site);
        assert!(!opens());
    }
}
