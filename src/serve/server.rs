//! The server: loads what it serves, runs until it is stopped, and shuts down without losing a request or a count.

use super::auth::Meter;
use super::config::ServeConfig;
use super::config::ServeError;
use super::hot_reload::HotReload;
use super::http::app::Site;
use super::http::connection::{Acceptor, ConnectionLimits};
use super::http::host_guard::HostGuard;
use super::http::metrics_listener::serve_metrics;
use super::http::wire::tls::{Tls, TlsFiles, TlsWatch};
use super::metrics::Metrics;
use super::service::Service;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// At shutdown, how long requests under way may take.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// A server that has loaded everything and accepts no connection yet.
pub(crate) struct Server {
    site: Arc<Site>,
    reload: HotReload,
    listener: TcpListener,
    tls: Option<(Arc<Tls>, TlsWatch)>,
    metrics: Option<TcpListener>,
    linger: Duration,
    connections: ConnectionLimits,
}

impl Server {
    /// Loads the index, the keys and the request counts.
    pub(crate) async fn open(listener: TcpListener, mut config: ServeConfig) -> Result<Self, ServeError> {
        let address = listener.local_addr().map_err(ServeError::Listener)?;
        let (metrics, linger, connections) = (config.metrics.take(), config.linger, config.connections);
        let tls = config.tls.clone().map(Tls::open).transpose()?;
        let (site, reload) = tokio::task::spawn_blocking(move || load(config, address)).await??;
        Ok(Self { site: Arc::new(site), reload, listener, tls, metrics, linger, connections })
    }

    /// Serves until `shutdown` completes. Then accepts no more connections, waits at most 10 s for requests under way,
    /// and writes the request counts.
    pub(crate) async fn run(self, shutdown: impl Future<Output = ()> + Send) -> Result<(), ServeError> {
        let site = self.site;
        let mut background = JoinSet::new();
        background.spawn(self.reload.run(Arc::clone(&site)));
        if let Some(listener) = self.metrics {
            background.spawn(serve_metrics(listener, Arc::clone(&site)));
        }
        let tls = self.tls.map(|(tls, watch)| {
            background.spawn(watch.run(Arc::clone(&site)));
            tls
        });
        let mut acceptor = Acceptor::new(self.listener, tls, Arc::clone(&site), self.connections);
        tokio::select! {
            () = shutdown => {}
            () = acceptor.accept() => {}
        }
        acceptor.shutdown(self.linger, DRAIN_TIMEOUT).await;
        background.shutdown().await;
        site.service.meter.sync()?;
        Ok(())
    }
}

/// Reads every source; blocking.
fn load(config: ServeConfig, address: SocketAddr) -> Result<(Site, HotReload), ServeError> {
    let metrics = Metrics::new(config.log_lines_dropped);
    let (reload, index, accounts) =
        HotReload::open(config.index, config.accounts, config.plan_override, &metrics)?;
    let mut meter = Meter::open(config.usage_file)?;
    meter.resets = metrics.usage_resets.clone();
    let host_guard = HostGuard::new(address, config.public_url.as_deref()).letting_in(config.origins);
    let base = config.public_url.unwrap_or_else(|| own_url(address, config.tls.as_ref()));
    let service = Service::new(index, accounts, meter, config.clock, config.today);
    let site = Site::new(service, base.trim_end_matches('/'), host_guard, metrics, config.random);
    Ok((site, reload))
}

/// The address of a server without a public one.
fn own_url(address: SocketAddr, tls: Option<&TlsFiles>) -> String {
    let scheme = if tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", reachable(address))
}

/// The address to connect to: loopback for a server that listens on all interfaces.
fn reachable(mut address: SocketAddr) -> SocketAddr {
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
    use crate::serve::config::{AccountsSource, IndexSource};
    use crate::serve::{Accounts, LimitOverride, Origins, fixture};
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
            usage_file: Some(usage_file.clone()),
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
        let server = tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        let request = format!(
            "GET /v1/fl/businesses?q=SUN HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            fixture::KEY
        );
        let answer = exchange(address, request).await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.contains("\"total\":3"), "{answer}");
        let refused =
            exchange(address, "GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".to_owned()).await;
        assert!(refused.contains(&format!("http://{address}/docs")), "{refused}");
        stop.send(()).expect("still running");
        server.await.expect("a task").expect("a good end");
        let counts = std::fs::read_to_string(usage_file).expect("counts");
        assert!(counts.contains("\"acme\""), "{counts}");
    }
}
