//! The API, served from a snapshot of the lake or from records in memory.
//!
//! | file | knows |
//! | --- | --- |
//! | `rest.rs` | HTTP: routes, headers, statuses |
//! | `service.rs` | the twelve operations; neither HTTP nor MCP |
//! | `access.rs`, `keys.rs` | who may ask; the key file |
//! | `meter.rs` | requests of every account |
//! | `index.rs`, `selection.rs`, `tally.rs`, `row_json.rs` | the rows: look-ups, listings, counts, JSON |
//! | `builder.rs`, `load.rs` | rows or snapshot folder → index |
//! | `reload.rs` | what changes under a running server |
//! | `docs.rs` | the reference page |
//!
//! Order of checks: route (404, not counted) → method (405) → key (401) → plan and scope (403) → limits (429) →
//! parameters (400) → the plan's window (403) → existence (404).

mod access;
mod builder;
mod column;
mod docs;
#[cfg(test)]
mod fixture;
mod fold;
mod index;
mod keys;
mod load;
mod meter;
mod reload;
mod rest;
mod row_json;
mod selection;
mod service;
mod tally;

pub use access::{AccountEntry, Accounts, Caller};
pub use builder::{FilingRow, IndexBuilder, IndexError, MAX_OFFICERS};
pub use index::{CountyName, Index};
pub use keys::{AccountRecord, KeyFile, KeyRecord, KeyRequest, KeysError, NewKey};
pub use load::{LoadError, load_snapshot};
pub use meter::{Meter, MeterError};
pub use service::{ApiError, Clock, Service};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use jiff::civil::Date;
use rest::Site;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// A client that has not sent its whole request head by then is let go.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// Requests under way at shutdown have this long to end.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request head at most.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Connections at once; a further one waits in the listener's queue.
const MAX_CONNECTIONS: usize = 4_096;
/// Pause after a connection could not be accepted, as when file handles have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Where the rows come from.
#[derive(Debug, Clone)]
pub enum IndexSource {
    /// An index made in memory.
    Fixed(Arc<Index>),
    /// One snapshot folder, for ever.
    Snapshot(PathBuf),
    /// The root of a lake; its `current` snapshot is followed when it moves.
    Lake(PathBuf),
}

/// Where accounts and keys come from.
#[derive(Debug)]
pub enum AccountsSource {
    /// Accounts made in memory.
    Fixed(Accounts),
    /// A key file; it is read again when it changes.
    File(PathBuf),
}

/// Everything a server is told.
pub struct ServeConfig {
    /// The rows.
    pub index: IndexSource,
    /// Accounts and keys.
    pub accounts: AccountsSource,
    /// Where counts of requests survive a restart; `None` keeps them in memory.
    pub usage_file: Option<PathBuf>,
    /// The clock of the request windows, and of the day unless `today` is set.
    pub clock: Clock,
    /// The Eastern day to believe in; `None` follows the clock.
    pub today: Option<Date>,
    /// Address under which clients know this server, without a final slash; `None` takes the listener's.
    pub public_url: Option<String>,
}

/// Why a server could not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The lake has no snapshot yet.
    #[error("the lake {lake} has no current snapshot: {source}; `sunlake run` makes one")]
    NoSnapshot {
        /// Root of the lake.
        lake: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The snapshot cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The counts of requests cannot be kept.
    #[error(transparent)]
    Meter(#[from] MeterError),
    /// The listener has no address.
    #[error("the listener has no address: {0}")]
    Listener(std::io::Error),
    /// Loading was broken off.
    #[error("loading the snapshot was broken off: {0}")]
    Interrupted(#[from] tokio::task::JoinError),
}

/// Serves until `shutdown` ends; then accepts no more, lets requests under way end within 10 s, and writes the counts
/// down. The index is loaded before the first connection is accepted.
///
/// # Errors
/// [`ServeError`] when it cannot start, or when the last counts cannot be written.
pub async fn serve(
    listener: TcpListener,
    config: ServeConfig,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Listener)?;
    let (site, seen, source, key_file) = tokio::task::spawn_blocking(move || open(config, address)).await??;
    let site = Arc::new(site);
    let mut background = JoinSet::new();
    background.spawn(reload::keep_current(Arc::clone(&site), source, key_file, seen));

    let (graceful, mut connections) = (GracefulShutdown::new(), JoinSet::new());
    tokio::select! {
        () = shutdown => {}
        () = accept(&listener, &site, &graceful, &mut connections) => {}
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_TIMEOUT, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections did not end in time and were cut");
    }
    background.shutdown().await;
    site.service.meter().write_if_changed()?;
    Ok(())
}

/// Reads every source; blocks while it does.
fn open(
    config: ServeConfig,
    address: SocketAddr,
) -> Result<(Site, reload::Seen, IndexSource, Option<PathBuf>), ServeError> {
    let (index, snapshot) = reload::read_index(&config.index)?;
    let seen = reload::Seen::at_start(snapshot, &config.accounts);
    let (accounts, key_file) = match config.accounts {
        AccountsSource::Fixed(accounts) => (accounts, None),
        AccountsSource::File(path) => (reload::read_accounts(&path)?, Some(path)),
    };
    let meter = Meter::open(config.usage_file)?;
    let base = config.public_url.unwrap_or_else(|| format!("http://{}", reachable(address)));
    let site = Site {
        service: Service::new(index, accounts, meter, config.clock, config.today),
        docs_url: format!("{}/docs", base.trim_end_matches('/')),
        docs_page: docs::page(),
    };
    Ok((site, seen, config.index, key_file))
}

/// An address that stands for all interfaces is reached over loopback.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

/// Accepts connections for ever; each is a task of its own.
async fn accept(
    listener: &TcpListener,
    site: &Arc<Site>,
    graceful: &GracefulShutdown,
    connections: &mut JoinSet<()>,
) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let connection = graceful.watch(connection(stream, Arc::clone(site)));
                connections.spawn(async move {
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "a connection ended early");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

fn connection(
    stream: TcpStream,
    site: Arc<Site>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    // Without this a small answer may wait for the acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "answers of a connection may be slow");
    }
    let respond = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let response = site.respond(request.method(), request.uri(), request.headers());
        std::future::ready(Ok::<_, std::convert::Infallible>(response))
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), respond)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    /// Sends one request on a connection of its own and reads to its end.
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
    async fn a_server_answers_over_http_until_it_is_told_to_stop_and_then_writes_its_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let usage_file = folder.path().join("usage.json");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let config = ServeConfig {
            index: IndexSource::Fixed(Arc::new(fixture::index())),
            accounts: AccountsSource::Fixed(Accounts::single(
                fixture::KEY,
                "acme",
                fixture::generous(),
                &["data"],
            )),
            usage_file: Some(usage_file.clone()),
            clock: fixture::clock(),
            today: Some(fixture::TODAY),
            public_url: None,
        };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let server = tokio::spawn(serve(listener, config, async {
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

    #[test]
    fn a_lake_without_a_snapshot_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let error =
            reload::read_index(&IndexSource::Lake(folder.path().to_owned())).expect_err("no snapshot");
        assert!(error.to_string().contains("no current snapshot"), "{error}");
    }
}
