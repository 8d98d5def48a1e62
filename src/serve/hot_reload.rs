//! Hot reload: serves a new snapshot and a changed key file without a restart.
//!
//! Every second the sources are compared with what is served. A snapshot that cannot be used is logged, and the old one is
//! still served.

use super::auth::{Accounts, LimitOverride};
use super::config::ServeError;
use super::config::{AccountsSource, IndexSource};
use super::http::app::Site;
use super::index::Index;
use super::key_watch::KeyWatch;
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
    /// `None` for fixed accounts.
    keys: Option<KeyWatch>,
    snapshot: PathBuf,
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
        let (keys, accounts) = match accounts {
            AccountsSource::Fixed(accounts) => (None, accounts),
            AccountsSource::File(path) => {
                let (keys, accounts) = KeyWatch::open(path, plan_override)?;
                (Some(keys), accounts)
            }
        };
        let reload = Self { index, keys, snapshot, retired: None, failed: None, polls: 0 };
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
        site.service.meter.sync();
        self.polls += 1;
        if let Some(snapshot) = self.newest_snapshot() {
            self.serve_snapshot(site, snapshot);
        }
        if let Some(keys) = &mut self.keys {
            keys.poll(site, Instant::now());
        }
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
    use crate::serve::auth::Meter;
    use crate::serve::fixture::{KEY, TODAY, clock, filing, generous, write_table};
    use crate::serve::http::host_guard::HostGuard;
    use crate::serve::service::Service;
    use crate::table::Table;
    use prometheus_client::metrics::counter::Counter;
    use std::os::unix::fs::symlink;

    fn point_current_at(lake: &Path, snapshot: &str) {
        symlink(lake.join(snapshot), lake.join("next")).expect("a link");
        std::fs::rename(lake.join("next"), lake.join("current")).expect("swapped");
    }

    fn open(index: IndexSource, accounts: AccountsSource) -> Result<(HotReload, Site), ServeError> {
        let metrics = Metrics::new(Counter::default());
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
        let error = read_index(&source, &Metrics::new(Counter::default())).expect_err("no snapshot");
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
}
