//! The API, served from a snapshot of the lake or from records in memory.
//!
//! | file | knows |
//! | --- | --- |
//! | `connection.rs`, `socket.rs` | connections: how many, how long, and their end |
//! | `exchange.rs`, `body.rs`, `coding.rs`, `request_id.rs` | what holds for every request, whatever it asks |
//! | `rest.rs`, `response.rs`, `refusal.rs`, `etag.rs` | HTTP: routes; answers; refusals; what a client has already |
//! | `mcp/` | the same operations as tools over MCP (rmcp, nowhere else) |
//! | `openapi.rs`, `schema.rs` | the `OpenAPI` document; schemas of parameters and records |
//! | `site.rs`, `docs.rs` | what stands behind every route; the pages that need no key |
//! | `service.rs` | the twelve operations; neither HTTP nor MCP |
//! | `access.rs`, `keys.rs`, `limit_override.rs` | who may ask; the key file; limits of a test instance |
//! | `meter.rs` | requests of every account |
//! | `index.rs` | all rows in memory, newest first, and look-ups |
//! | `selection.rs`, `filter.rs` | listings: pages of them; what is asked of a row |
//! | `word.rs`, `slices.rs`, `names.rs` | what can be asked in eight bytes a row; the same bit by bit; rows by name |
//! | `column.rs`, `dictionary.rs`, `document.rs`, `url.rs`, `row_table.rs` | how little memory a cell takes, and how it is found |
//! | `tally.rs`, `row_json.rs` | counts; JSON |
//! | `gathered.rs`, `builder.rs`, `load/` | rows or snapshot folder → index |
//! | `reload.rs` | what changes under a running server |
//! | `metrics.rs` | what the server counts about itself |
//!
//! Order of checks: route (404, not counted) → method (405) → key (401) → plan and scope (403) → limits (429) →
//! parameters (400) → the plan's window (403) → existence (404).

mod auth;
#[cfg(test)]
mod fixture;
mod hot_reload;
mod http;
mod index;
mod load;
mod mcp;
mod metrics;
mod reference;
mod service;

pub use auth::access::{AccountEntry, Accounts, Caller};
pub use auth::key_file::{AccountRecord, KeyFile, KeyRecord, KeyRequest, KeysError, NewKey};
pub use auth::limit_override::LimitOverride;
pub use auth::usage_meter::{Meter, MeterError};
pub use index::builder::MAX_OFFICERS;
pub use index::{CountyName, Index, IndexBuilder, IndexError};
pub use load::{LoadError, load_snapshot};
pub use service::{ApiError, Clock, Service};

use crate::lake::Lake;
use hot_reload::KeySource;
use http::app::Site;
use http::connection::Reception;
use jiff::civil::Date;
use metrics::Metrics;
use prometheus_client::registry::Registry;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Requests under way at shutdown have this long to end.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the rows come from.
#[derive(Debug, Clone)]
pub enum IndexSource {
    /// An index made in memory.
    Fixed(Arc<Index>),
    /// One snapshot folder, for ever.
    Snapshot(PathBuf),
    /// The root of a lake; its `current` snapshot is followed when it moves.
    Lake(PathBuf),
    /// A lake in an object store; its newest snapshot is copied to this machine and followed when there is another.
    Store(Lake),
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
    /// Limits in place of those in the key file.
    pub plan_override: LimitOverride,
    /// Where counts of requests survive a restart; `None` keeps them in memory.
    pub usage_file: Option<PathBuf>,
    /// The clock of the request windows, and of the day unless `today` is set.
    pub clock: Clock,
    /// The Eastern day to believe in; `None` follows the clock.
    pub today: Option<Date>,
    /// Address under which clients know this server; `None` takes the listener's.
    pub public_url: Option<String>,
    /// 256 random bits, for the ids of requests.
    pub random: [u8; 32],
    /// Connections at once; a further one is answered 503 and closed.
    pub max_connections: usize,
    /// At the end, clients have this long to hear from an answer that it is the last of its connection.
    pub linger: Duration,
    /// Where the page of metrics is served; `None` serves none.
    pub metrics: Option<TcpListener>,
}

/// Connections at once, unless told otherwise.
pub const DEFAULT_MAX_CONNECTIONS: usize = 4_096;
/// [`ServeConfig::linger`] of a server with clients that it does not know.
pub const DEFAULT_LINGER: Duration = Duration::from_millis(500);

/// Why a server could not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The lake has no snapshot yet.
    #[error("the lake {lake} has no current snapshot: {source}")]
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

/// A server that has read all it serves from, and accepts no connection yet.
pub struct Server {
    opened: Opened,
    listener: TcpListener,
    metrics: Option<TcpListener>,
    linger: Duration,
    max_connections: usize,
}

impl Server {
    /// Loads the index, the keys and the counts.
    ///
    /// # Errors
    /// [`ServeError`] when one of them cannot be used.
    pub async fn open(listener: TcpListener, mut config: ServeConfig) -> Result<Self, ServeError> {
        let address = listener.local_addr().map_err(ServeError::Listener)?;
        let (metrics, linger, max_connections) =
            (config.metrics.take(), config.linger, config.max_connections);
        let opened = tokio::task::spawn_blocking(move || open(config, address)).await??;
        Ok(Self { opened, listener, metrics, linger, max_connections })
    }

    /// Serves until `shutdown` ends; then accepts no more, lets requests under way end within 10 s, and writes the counts down.
    ///
    /// # Errors
    /// [`ServeError`] when the last counts cannot be written.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) -> Result<(), ServeError> {
        let Opened { site, seen, index, keys } = self.opened;
        let site = Arc::new(site);
        let mut background = JoinSet::new();
        background.spawn(hot_reload::keep_current(Arc::clone(&site), index, keys, seen));
        if let Some(listener) = self.metrics {
            background.spawn(http::connection::serve_metrics(listener, Arc::clone(&site)));
        }
        let mut reception = Reception::new(self.listener, Arc::clone(&site), self.max_connections);
        tokio::select! {
            () = shutdown => {}
            () = reception.accept() => {}
        }
        reception.end(self.linger, DRAIN_TIMEOUT).await;
        background.shutdown().await;
        site.service.meter().keep()?;
        Ok(())
    }
}

/// What a server serves from.
struct Opened {
    site: Site,
    seen: hot_reload::Seen,
    index: IndexSource,
    keys: Option<KeySource>,
}

/// Reads every source; blocks while it does.
fn open(config: ServeConfig, address: SocketAddr) -> Result<Opened, ServeError> {
    let metrics = Metrics::new(Registry::default());
    let (index, snapshot) = hot_reload::read_index(&config.index, &metrics)?;
    let seen = hot_reload::Seen::at_start(snapshot, &config.accounts);
    let (accounts, keys) = match config.accounts {
        AccountsSource::Fixed(accounts) => (accounts, None),
        AccountsSource::File(path) => {
            let keys = KeySource { path, instead: config.plan_override };
            (hot_reload::read_accounts(&keys)?, Some(keys))
        }
    };
    let meter = Meter::open(config.usage_file)?;
    let doors = mcp::Doors::new(address, config.public_url.as_deref());
    let base = config.public_url.unwrap_or_else(|| format!("http://{}", reachable(address)));
    let service = Service::new(index, accounts, meter, config.clock, config.today);
    let site = Site::new(service, base.trim_end_matches('/'), doors, metrics, config.random);
    Ok(Opened { site, seen, index: config.index, keys })
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
        let usage_file = folder.path().join("usage.jsonl");
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
            plan_override: LimitOverride::default(),
            usage_file: Some(usage_file.clone()),
            clock: fixture::clock(),
            today: Some(fixture::TODAY),
            public_url: None,
            random: [1; 32],
            max_connections: DEFAULT_MAX_CONNECTIONS,
            linger: Duration::ZERO,
            metrics: None,
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

    #[test]
    fn a_lake_without_a_snapshot_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = hot_reload::read_index(
            &IndexSource::Lake(folder.path().to_owned()),
            &Metrics::new(Registry::default()),
        )
        .expect_err("no snapshot");
        assert!(error.to_string().contains("no current snapshot"), "{error}");
    }
}
