//! Hot reload: serves the newest snapshot, and a newer one without a restart.
//!
//! Every second the source is compared with what is served. A snapshot that cannot be used is logged, and the old one is
//! still served.

use super::config::{IndexSource, ServeError};
use super::http::app::Site;
use super::index::Index;
use super::load::{LoadError, load_snapshot};
use super::metrics::Metrics;
use super::rarely::Rarely;
use super::watch::Watch;
use crate::lake::{Lake, LakeError, check_snapshot_folder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// An object store is asked at every fifth poll: each time costs two requests.
const POLLS_BETWEEN_STORE_REQUESTS: u64 = 5;
/// Polls until a snapshot that failed to load is tried again: it may have been repaired.
const POLLS_UNTIL_RETRY: u64 = 15;
/// Polls in a row that find no lake until that is reported: a link may be missing while it is replaced.
const POLLS_UNTIL_LOST: u64 = 3;

/// The source of the rows, and what of it is served.
pub(super) struct HotReload {
    source: IndexSource,
    state: Mutex<State>,
    /// Lines about a source that cannot be read.
    lost: Rarely,
}

#[derive(Default)]
struct State {
    snapshot: PathBuf,
    /// The index before this one. It is freed one poll later, when no request uses it: freeing takes a while.
    retired: Option<Arc<Index>>,
    /// A snapshot that failed to load, and the poll at which it is tried again.
    failed: Option<(PathBuf, u64)>,
    polls: u64,
    /// Polls in a row that could not read the source.
    misses: u64,
    /// When the report was written that is served.
    report: Option<SystemTime>,
}

impl Watch for HotReload {
    const NAME: &'static str = "looking for a newer snapshot, or loading it";
    const DEADLINE: Duration = Duration::from_mins(2);

    fn poll(&self, site: &Site) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.retired = None;
        state.polls += 1;
        match self.newest_snapshot(state.polls) {
            Ok(newest) => {
                state.misses = 0;
                site.metrics.reload_failing.set(i64::from(!state.serve(site, newest)));
                self.follow_report(site, &mut state);
            }
            Err(error) => {
                state.misses += 1;
                if state.misses >= POLLS_UNTIL_LOST {
                    self.report_lost(site, &error);
                }
            }
        }
    }

    fn late(&self, site: &Site) {
        site.metrics.reload_failing.set(1);
    }
}

impl HotReload {
    pub(super) fn new(source: IndexSource) -> Self {
        Self { source, state: Mutex::default(), lost: Rarely::once_a_minute() }
    }

    /// Loads the newest snapshot and serves it.
    pub(super) fn start(&self, site: &Site) -> Result<(), ServeError> {
        let snapshot = first_snapshot(&self.source)?;
        let loaded = load(&snapshot, &site.metrics)?;
        site.service.swap_index(Arc::new(loaded));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.snapshot = snapshot;
        self.follow_report(site, &mut state);
        Ok(())
    }

    /// Reads the lake's report where a run has written another: it does so after the snapshot. A file that no run wrote is not served: it
    /// would have a script of its own on this address. A lake in a bucket has none here.
    fn follow_report(&self, site: &Site, state: &mut State) {
        let IndexSource::Lake(root) = &self.source else { return };
        let path = root.join("catalog/report.html");
        let written = path.metadata().and_then(|metadata| metadata.modified()).ok();
        if written != state.report {
            let report = Lake::open(root).and_then(|lake| lake.catalog_file("report.html"));
            let report = report.unwrap_or_else(|error| {
                tracing::warn!(%error, "the report cannot be read");
                None
            });
            if report.is_none() && written.is_some() {
                tracing::warn!("{} is not as a run wrote it, and is not served", path.display());
            }
            site.set_report(report);
            state.report = written;
        }
    }

    /// The newest snapshot of a source that is followed; `None` when it is not to be asked now.
    fn newest_snapshot(&self, poll: u64) -> Result<Option<PathBuf>, ServeError> {
        match &self.source {
            IndexSource::Lake(root) => current_snapshot(root).map(Some),
            IndexSource::Store(lake) if poll.is_multiple_of(POLLS_BETWEEN_STORE_REQUESTS) => {
                Ok(copy_newest(lake)?)
            }
            IndexSource::Store(_) | IndexSource::Snapshot(_) => Ok(None),
        }
    }

    fn report_lost(&self, site: &Site, error: &ServeError) {
        site.metrics.reload_failing.set(1);
        if self.lost.is_due(Instant::now()) {
            site.metrics.failed_reloads.inc();
            tracing::warn!(%error, "the lake cannot be asked for a newer snapshot; the old one is still served");
        }
    }
}

impl State {
    /// Serves a snapshot unless it is served already, or failed to load a short time ago. Returns whether the newest one is
    /// served.
    fn serve(&mut self, site: &Site, newest: Option<PathBuf>) -> bool {
        let Some(snapshot) = newest else { return self.failed.is_none() };
        if snapshot == self.snapshot {
            self.failed = None;
            return true;
        }
        if self.failed.as_ref().is_some_and(|(failed, retry)| *failed == snapshot && self.polls < *retry) {
            return false;
        }
        match load(&snapshot, &site.metrics) {
            Ok(loaded) => {
                self.retired = site.service.swap_index(Arc::new(loaded));
                (self.snapshot, self.failed) = (snapshot, None);
            }
            Err(error) => {
                site.metrics.failed_reloads.inc();
                tracing::warn!(%error, "a new snapshot cannot be loaded; the old one is still served, and the new one is tried again in 15 s");
                self.failed = Some((snapshot, self.polls + POLLS_UNTIL_RETRY));
            }
        }
        self.failed.is_none()
    }
}

/// The snapshot to begin with.
fn first_snapshot(source: &IndexSource) -> Result<PathBuf, ServeError> {
    match source {
        IndexSource::Snapshot(folder) => Ok(folder.clone()),
        IndexSource::Lake(root) => current_snapshot(root),
        IndexSource::Store(lake) => {
            copy_newest(lake)?.ok_or_else(|| ServeError::NoSnapshot(lake.to_string().into()))
        }
    }
}

/// The index of a snapshot folder; its size and the time it took go to the metrics and the log.
fn load(folder: &Path, metrics: &Metrics) -> Result<Index, LoadError> {
    let begun = Instant::now();
    let commit = check_snapshot_folder(folder)?;
    let mut index = load_snapshot(folder)?;
    if let Some(commit) = commit {
        (index.is_invented, index.day) = (commit.is_invented(), commit.today);
    }
    index.snapshot = folder.canonicalize().ok().and_then(|path| path.file_name()?.to_str()?.parse().ok());
    let took = begun.elapsed();
    metrics.loaded(&index, took);
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
fn current_snapshot(lake: &Path) -> Result<PathBuf, ServeError> {
    let current = lake.join("current");
    current.canonicalize().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ServeError::NoSnapshot(lake.to_owned()),
        _ => ServeError::Unreadable(current, source),
    })
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
    use crate::serve::Accounts;
    use crate::serve::auth::Meter;
    use crate::serve::fixture::{KEY, TODAY, clock, filing, generous, write_table};
    use crate::serve::http::host_guard::{HostGuard, Origins};
    use crate::serve::service::Service;
    use crate::table::Table;
    use futures::FutureExt;
    use prometheus_client::metrics::counter::Counter;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn point_current_at(lake: &Path, snapshot: &str) {
        symlink(lake.join(snapshot), lake.join("next")).expect("a link");
        std::fs::rename(lake.join("next"), lake.join("current")).expect("swapped");
    }

    fn open(lake: &Path) -> (HotReload, Site) {
        let accounts = Accounts::single(KEY, "acme", generous(), &["data"]);
        let service = Service::new(None, accounts, Meter::default(), clock(), Some(TODAY));
        let host_guard = HostGuard::new(([127, 0, 0, 1], 1).into(), None, Origins::default());
        let site = Site::new(service, "", host_guard, Metrics::new(Counter::default()), [1; 32]);
        (HotReload::new(IndexSource::Lake(lake.to_owned())), site)
    }

    /// A lake with snapshots of one and two businesses, and a damaged one.
    fn lake() -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let lake = folder.path();
        let rows = [filing("1", "2026-07-31", true), filing("2", "2026-07-31", true)];
        write_table(&lake.join("1"), Table::Filings, "f.parquet", &rows[..1]);
        write_table(&lake.join("2"), Table::Filings, "f.parquet", &rows);
        std::fs::create_dir_all(lake.join("3/filings")).expect("made");
        std::fs::write(lake.join("3/filings/f.parquet"), "damaged").expect("written");
        point_current_at(lake, "1");
        folder
    }

    fn total(site: &Site) -> String {
        let headers = [("authorization", format!("Bearer {KEY}"))].into_iter();
        let headers =
            headers.map(|(name, value)| (name.parse().expect("name"), value.parse().expect("value")));
        let target = "/v1/fl/stats".parse().expect("a target");
        let reply = site.respond(&hyper::Method::GET, &target, &headers.collect()).now_or_never();
        let reply = reply.expect("counts in memory");
        let text = String::from_utf8(reply.response.body().to_vec()).expect("text");
        text.split(',').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn lake_without_snapshot_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let (reload, site) = open(folder.path());
        let error = reload.start(&site).expect_err("no snapshot");
        assert!(error.to_string().contains("no current snapshot"), "{error}");
    }

    #[test]
    fn new_snapshot_is_served_and_damaged_one_is_not() {
        let folder = lake();
        let (reload, site) = open(folder.path());
        reload.start(&site).expect("a snapshot");
        for (snapshot, businesses, is_failing) in
            [("1", 1, 0), ("2", 2, 0), ("3", 2, 1), ("3", 2, 1), ("2", 2, 0)]
        {
            point_current_at(folder.path(), snapshot);
            reload.poll(&site);
            assert_eq!(total(&site), format!("{{\"data\":{{\"businesses_total\":{businesses}"), "{snapshot}");
            assert_eq!(site.metrics.reload_failing.get(), is_failing, "{snapshot}");
        }
    }

    #[test]
    fn lake_that_vanishes_is_reported_and_still_served_and_so_is_its_return() {
        let folder = lake();
        let (reload, site) = open(folder.path());
        reload.start(&site).expect("a snapshot");
        std::fs::remove_file(folder.path().join("current")).expect("vanished");
        for is_failing in [0, 0, 1, 1] {
            reload.poll(&site);
            assert_eq!(site.metrics.reload_failing.get(), is_failing);
        }
        assert_eq!((site.metrics.failed_reloads.get(), site.service.unready()), (1, None));
        point_current_at(folder.path(), "2");
        reload.poll(&site);
        assert_eq!(site.metrics.reload_failing.get(), 0);
        assert!(total(&site).ends_with(":2"));
    }
}
