//! What a server is started with: its rows, its keys, its limits; and why it cannot start.

use super::auth::{Accounts, KeysError, LimitOverride, MeterError, StoreAddress};
use super::http::connection::ConnectionLimits;
use super::http::host_guard::Origins;
use super::http::wire::tls::{TlsError, TlsFiles};
use super::load::LoadError;
use super::service::Clock;
use crate::contract::hint::{MAKE_SNAPSHOT, of_io};
use crate::lake::{Lake, LakeError};
use jiff::civil::Date;
use prometheus_client::metrics::counter::Counter;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;

/// [`ServeConfig::linger`] of a server whose clients are other programs.
pub(crate) const DEFAULT_LINGER: Duration = Duration::from_millis(500);

/// Where the rows come from.
#[derive(Debug)]
pub(crate) enum IndexSource {
    /// One snapshot folder, never reloaded.
    Snapshot(PathBuf),
    /// The root of a lake; its `current` snapshot is reloaded when the link changes.
    Lake(PathBuf),
    /// A lake in an object store; its newest snapshot is copied to this machine, and reloaded when there is a newer one.
    Store(Lake),
}

/// Where accounts and keys come from.
#[derive(Debug)]
pub(crate) enum AccountsSource {
    Fixed(Accounts),
    File(PathBuf),
}

/// Where the request counts are kept.
#[derive(Debug)]
pub(crate) enum UsagePlace {
    /// In memory: the server has one client, and ends with it.
    Memory,
    /// In the file that the operator chose.
    File(PathBuf),
    /// In the folder of the lake. Where nothing can be written there, they are in memory, with a warning.
    Lake(PathBuf),
    /// In a store that several servers share.
    Store(StoreAddress),
}

pub(crate) struct ServeConfig {
    pub(crate) index: IndexSource,
    pub(crate) accounts: AccountsSource,
    /// Limits in place of those in the key file.
    pub(crate) plan_override: LimitOverride,
    pub(crate) usage: UsagePlace,
    /// Clock of the request limits, and of the Eastern day unless `today` is set.
    pub(crate) clock: Clock,
    /// The Eastern day to serve as; `None` follows the clock.
    pub(crate) today: Option<Date>,
    /// Certificate of the listener; `None` speaks plain HTTP.
    pub(crate) tls: Option<TlsFiles>,
    /// Address under which clients know this server; `None` uses the listener's.
    pub(crate) public_url: Option<String>,
    /// Web pages that may call the server from a browser.
    pub(crate) origins: Origins,
    /// 256 random bits, for request ids.
    pub(crate) random: [u8; 32],
    pub(crate) connections: ConnectionLimits,
    /// At shutdown, how long connections without a request stay open, so that clients learn to connect anew.
    pub(crate) linger: Duration,
    /// Listener of the metrics page; `None` serves none.
    pub(crate) metrics: Option<TcpListener>,
    /// Log lines that nobody read.
    pub(crate) log_lines_dropped: Counter,
}

/// Error of a server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The lake has no snapshot yet.
    #[error("the lake {0} has no current snapshot")]
    NoSnapshot(PathBuf),
    /// The link to the current snapshot cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// The lake in an object store cannot be read.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// The snapshot cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The key file cannot be used.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The request counts cannot be kept.
    #[error(transparent)]
    Meter(#[from] MeterError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The listener has no address.
    #[error("the listener has no address: {0}")]
    Listener(std::io::Error),
    /// A thread that loads panicked.
    #[error("loading what is to be served ended in a panic")]
    Panicked,
}

impl ServeError {
    /// The way out, where there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoSnapshot(_) => MAKE_SNAPSHOT,
            Self::Unreadable(_, source) => return of_io(source),
            Self::Lake(error) => return error.hint(),
            Self::Load(error) => return error.hint(),
            Self::Keys(error) => return error.hint(),
            Self::Meter(error) => return error.hint(),
            Self::Tls(_) => {
                "give files that this user can read: the certificate chain as --tls-cert, its private key as --tls-key, both in PEM"
            }
            Self::Listener(_) | Self::Panicked => return None,
        };
        Some(hint.to_owned())
    }
}
