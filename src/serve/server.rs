//! The server: loads what it serves, runs until it is stopped, and shuts down without losing a request or a count.

use super::auth::{Accounts, FileCounts, LimitOverride, Meter, MeterError, SharedCounts, UsageMetrics};
use super::config::{AccountsSource, ServeConfig, ServeError, UsagePlace};
use super::detached::detached;
use super::hot_reload::HotReload;
use super::http::app::Site;
use super::http::connection::{Acceptor, ConnectionLimits};
use super::http::host_guard::HostGuard;
use super::http::metrics_listener::serve_metrics;
use super::http::wire::tls::{Tls, TlsFiles};
use super::key_watch::KeyWatch;
use super::metrics::Metrics;
use super::service::Service;
use super::watch::{Watch, watch};
use jiff::Timestamp;
use jiff::civil::Date;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// At shutdown, how long requests under way may take.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// At shutdown, how long the last sync of the counts may take.
const SYNC_TIMEOUT: Duration = Duration::from_secs(2);

/// What is served once the rows are loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opened {
    /// Accounts that have a key.
    pub(crate) accounts: usize,
    /// Businesses, those no longer listed included.
    pub(crate) rows: usize,
    /// The Eastern day of the snapshot.
    pub(crate) day: Date,
}

/// A server that has its keys and counts, and accepts no connection yet.
pub(crate) struct Server {
    site: Arc<Site>,
    reload: Arc<HotReload>,
    /// `None` for fixed accounts.
    keys: Option<Arc<KeyWatch>>,
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    metrics: Option<TcpListener>,
    linger: Duration,
    connections: ConnectionLimits,
}

impl Server {
    /// Reads the keys and the request counts, or connects to their store.
    pub(crate) async fn open(listener: TcpListener, mut config: ServeConfig) -> Result<Self, ServeError> {
        let address = listener.local_addr().map_err(ServeError::Listener)?;
        let (metrics, linger, connections) = (config.metrics.take(), config.linger, config.connections);
        let read = detached(move || {
            let tls = config.tls.clone().map(Tls::open).transpose()?;
            read(config, address).map(|read| (read, tls))
        });
        let ((site, reload, keys), tls) = read.await.map_err(|_| ServeError::Panicked)??;
        site.service.meter.begin(site.service.now()).await?;
        let (site, reload, keys) = (Arc::new(site), Arc::new(reload), keys.map(Arc::new));
        Ok(Self { site, reload, keys, listener, tls, metrics, linger, connections })
    }

    /// Serves until `shutdown` completes; says what is served when the rows are loaded. Until then keys get 503. At the end it accepts no more
    /// connections, waits at most 10 s for requests under way, and writes the request counts.
    pub(crate) async fn run(
        self,
        ready: oneshot::Sender<Opened>,
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<(), ServeError> {
        let site = self.site;
        let mut background = JoinSet::new();
        background.spawn(watch(Arc::new(Upkeep), Arc::clone(&site)));
        if let Some(keys) = self.keys {
            background.spawn(watch(keys, Arc::clone(&site)));
        }
        if let Some(listener) = self.metrics {
            background.spawn(serve_metrics(listener, Arc::clone(&site)));
        }
        let counting = Arc::clone(&site.service);
        background.spawn(async move { counting.meter.stay_connected(|| counting.now()).await });
        if let Some(tls) = &self.tls {
            background.spawn(watch(Arc::clone(tls), Arc::clone(&site)));
        }
        let mut acceptor = Acceptor::new(self.listener, self.tls, Arc::clone(&site), self.connections);
        tokio::select! {
            () = shutdown => {}
            () = acceptor.accept() => {}
            failed = load_and_follow(self.reload, Arc::clone(&site), ready) => {
                return failed.map(|never| match never {});
            }
        }
        acceptor.shutdown(self.linger, DRAIN_TIMEOUT).await;
        background.shutdown().await;
        site.service.meter.close().await?;
        // A power cut in the next moments is all that a sync is for.
        let _ = timeout(SYNC_TIMEOUT, detached(move || site.service.meter.sync())).await;
        Ok(())
    }
}

/// What has to be done every second, with requests or without.
struct Upkeep;

impl Watch for Upkeep {
    const NAME: &'static str = "syncing the request counts";
    const DEADLINE: Duration = Duration::from_secs(10);

    fn poll(&self, site: &Site) {
        if let Some(age) = site.service.turn_day() {
            site.metrics.snapshot_age.set(age);
        }
        site.service.meter.sync();
    }
}

/// Loads the rows, and follows their source for ever.
async fn load_and_follow(
    reload: Arc<HotReload>,
    site: Arc<Site>,
    ready: oneshot::Sender<Opened>,
) -> Result<Infallible, ServeError> {
    let (first, of) = (Arc::clone(&reload), Arc::clone(&site));
    detached(move || first.start(&of)).await.map_err(|_| ServeError::Panicked)??;
    if let Some(index) = site.service.index() {
        let accounts = site.service.accounts().count();
        // Fails when nobody waits for it.
        let _ = ready.send(Opened { accounts, rows: index.rows(), day: index.day });
    }
    loop {
        watch(Arc::clone(&reload), Arc::clone(&site)).await;
    }
}

/// Reads the keys and the counts; blocking.
fn read(config: ServeConfig, address: SocketAddr) -> Result<(Site, HotReload, Option<KeyWatch>), ServeError> {
    let metrics = Metrics::new(config.log_lines_dropped);
    let (keys, accounts) = accounts(config.accounts, config.plan_override, (config.clock)())?;
    let meter = open_meter(config.usage, metrics.usage.clone())?;
    let host_guard = HostGuard::new(address, config.public_url.as_deref(), config.origins);
    let base = config.public_url.unwrap_or_else(|| own_url(address, config.tls.as_ref()));
    let service = Service::new(None, accounts, meter, config.clock, config.today);
    let site = Site::new(service, base.trim_end_matches('/'), host_guard, metrics, config.random);
    Ok((site, HotReload::new(config.index), keys))
}

fn accounts(
    source: AccountsSource,
    plan_override: LimitOverride,
    now: Timestamp,
) -> Result<(Option<KeyWatch>, Accounts), ServeError> {
    match source {
        AccountsSource::Fixed(accounts) => Ok((None, accounts)),
        AccountsSource::File(path) => {
            let (keys, accounts) = KeyWatch::open(path, plan_override, now)?;
            Ok((Some(keys), accounts))
        }
    }
}

/// The counts of a place. A lake that cannot be written is served with counts in memory.
fn open_meter(place: UsagePlace, metrics: UsageMetrics) -> Result<Meter, MeterError> {
    let is_read_only = |kind| matches!(kind, ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied);
    let opened = match place {
        UsagePlace::Store(address) => {
            return SharedCounts::new(address, metrics).map(|counts| Meter::Shared(Box::new(counts)));
        }
        UsagePlace::Memory => Ok(FileCounts::in_memory(metrics)),
        UsagePlace::File(path) => FileCounts::open(path, metrics),
        UsagePlace::Lake(path) => match FileCounts::open(path, metrics.clone()) {
            Err(MeterError::Storage(path, error)) if is_read_only(error.kind()) => {
                tracing::warn!(path = %path.display(), %error, "the lake cannot be written: requests are counted in memory, and forgotten at the end; --usage FILE keeps them");
                Ok(FileCounts::in_memory(metrics))
            }
            opened => opened,
        },
    };
    opened.map(Meter::File)
}

/// The address of a server without a public one.
fn own_url(address: SocketAddr, tls: Option<&TlsFiles>) -> String {
    let scheme = if tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", reachable(address))
}

/// The address to connect to: loopback for a server that listens on all interfaces.
pub(crate) fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::config::IndexSource;
    use crate::serve::{Origins, fixture};
    use prometheus_client::metrics::counter::Counter;
    use std::io::{Read, Write};

    /// The answer to one request on a connection of its own, read to its end.
    async fn exchange(address: SocketAddr, request: String) -> String {
        let talk = move || {
            let mut stream = std::net::TcpStream::connect(address)?;
            stream.write_all(request.as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok::<_, std::io::Error>(answer)
        };
        tokio::task::spawn_blocking(talk).await.expect("a thread").expect("an answer")
    }

    #[tokio::test]
    async fn server_answers_until_it_is_stopped_and_then_writes_its_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = fixture::snapshot();
        let usage_file = folder.path().join("usage.jsonl");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let limits = fixture::generous();
        let config = ServeConfig {
            index: IndexSource::Snapshot(snapshot.path().to_owned()),
            accounts: AccountsSource::Fixed(Accounts::single(fixture::KEY, "acme", limits, &["data"])),
            plan_override: LimitOverride::default(),
            usage: UsagePlace::File(usage_file.clone()),
            clock: fixture::clock(),
            today: Some(fixture::TODAY),
            tls: None,
            public_url: None,
            origins: Origins::default(),
            random: [1; 32],
            connections: ConnectionLimits::default(),
            linger: Duration::ZERO,
            metrics: None,
            log_lines_dropped: Counter::default(),
        };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let server = Server::open(listener, config).await.expect("a server");
        let (ready, is_ready) = oneshot::channel();
        let server = tokio::spawn(server.run(ready, async {
            let _ = stopped.await;
        }));
        is_ready.await.expect("loaded");
        let request = format!(
            "GET /v1/fl/businesses?q=SUN HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            fixture::KEY
        );
        let answer = exchange(address, request).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.contains("\"total\":3"), "{answer}");
        let refused =
            exchange(address, "GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned()).await;
        assert!(refused.contains(&format!("http://{address}/docs.md")), "{refused}");
        stop.send(()).expect("still running");
        server.await.expect("a task").expect("a good end");
        let counts = std::fs::read_to_string(usage_file).expect("counts");
        assert!(counts.contains("\"acme\""), "{counts}");
    }
}
