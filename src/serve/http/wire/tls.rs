//! TLS: a certificate and its key from two files, read again when they change.

use crate::serve::http::app::Site;
use crate::serve::metrics::Metrics;
use crate::serve::watch::Watch;
use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// A client that has not completed its handshake by then is dropped.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(8);

/// The files of a certificate: its chain, and its private key, both in PEM.
#[derive(Debug, Clone)]
pub(crate) struct TlsFiles {
    pub(crate) cert: PathBuf,
    pub(crate) key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {0}: {1}")]
    Unreadable(PathBuf, #[source] io::Error),
    /// A file has no certificate.
    #[error("{0} has no certificate in PEM")]
    NoCertificate(PathBuf),
    /// A file has no private key.
    #[error("{0} has no private key in PEM: {1}")]
    NoKey(PathBuf, #[source] PemError),
    /// The certificate is none that can be used, or has another key.
    #[error("the certificate {0} cannot be used with the key {1}: {2}")]
    Unfit(PathBuf, PathBuf, #[source] rustls::Error),
}

/// The bytes of both files.
struct Pair {
    cert: Vec<u8>,
    key: Vec<u8>,
}

impl TlsFiles {
    fn read(&self) -> Result<Pair, TlsError> {
        let bytes =
            |path: &PathBuf| std::fs::read(path).map_err(|source| TlsError::Unreadable(path.clone(), source));
        Ok(Pair { cert: bytes(&self.cert)?, key: bytes(&self.key)? })
    }

    fn config(&self, pair: &Pair) -> Result<Arc<ServerConfig>, TlsError> {
        let chain: Vec<_> =
            CertificateDer::pem_slice_iter(&pair.cert).filter_map(|found| found.ok()).collect();
        if chain.is_empty() {
            return Err(TlsError::NoCertificate(self.cert.clone()));
        }
        let key = PrivateKeyDer::from_pem_slice(&pair.key);
        let key = key.map_err(|source| TlsError::NoKey(self.key.clone(), source))?;
        let unfit = |source| TlsError::Unfit(self.cert.clone(), self.key.clone(), source);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = versions.map_err(unfit)?.with_no_client_auth();
        let mut config = builder.with_single_cert(chain, key).map_err(unfit)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// What was in the files at a look: a digest of both, or why they cannot be read.
type Seen = Result<[blake3::Hash; 2], String>;

fn seen(pair: &Result<Pair, TlsError>) -> Seen {
    match pair {
        Ok(pair) => Ok([blake3::hash(&pair.cert), blake3::hash(&pair.key)]),
        Err(error) => Err(error.to_string()),
    }
}

/// The certificate of a server. A new pair of files is used for connections from then on.
pub(crate) struct Tls {
    files: TlsFiles,
    config: ArcSwap<ServerConfig>,
    looks: Mutex<Looks>,
}

impl Tls {
    /// Reads the files for the first time.
    pub(crate) fn open(files: TlsFiles) -> Result<Arc<Self>, TlsError> {
        let pair = files.read()?;
        let config = ArcSwap::new(files.config(&pair)?);
        let seen = seen(&Ok(pair));
        let looks = Mutex::new(Looks { last: seen.clone(), settled: seen, is_refused: false });
        Ok(Arc::new(Self { files, config, looks }))
    }

    /// The connection of a client, once its handshake is done.
    pub(in crate::serve::http) async fn accept(&self, stream: TcpStream) -> io::Result<Stream> {
        let handshake = TlsAcceptor::from(self.config.load_full()).accept(stream);
        match tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await {
            Ok(accepted) => Ok(Box::new(accepted?)),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the TLS handshake took too long")),
        }
    }

    /// Uses a new pair, if it can be used.
    fn is_refused(&self, pair: Result<Pair, TlsError>, metrics: &Metrics) -> bool {
        match pair.and_then(|pair| self.files.config(&pair)) {
            Ok(config) => {
                self.config.store(config);
                tracing::info!("the certificate has changed");
                false
            }
            Err(error) => {
                metrics.failed_reloads.inc();
                tracing::warn!(%error, "the certificate has changed and cannot be used; the old one is still sent");
                true
            }
        }
    }
}

struct Looks {
    /// What was in the files at the last look.
    last: Seen,
    /// What was decided upon.
    settled: Seen,
    /// Whether that cannot be used.
    is_refused: bool,
}

impl Watch for Tls {
    const NAME: &'static str = "reading the certificate";
    const DEADLINE: Duration = Duration::from_secs(5);

    fn poll(&self, site: &Site) {
        let pair = self.files.read();
        let mut looks = self.looks.lock().unwrap_or_else(PoisonError::into_inner);
        if looks.has_news(seen(&pair)) {
            looks.is_refused = self.is_refused(pair, &site.metrics);
        }
        site.metrics.certificate_refused.set(looks.is_refused.into());
    }

    fn late(&self, site: &Site) {
        site.metrics.certificate_refused.set(1);
    }
}

impl Looks {
    /// Whether the files have something new. A change counts once two looks see the same: the files of a new pair are not
    /// written at the same instant.
    fn has_news(&mut self, now: Seen) -> bool {
        let is_settling = self.last != now;
        self.last = now.clone();
        !is_settling && std::mem::replace(&mut self.settled, now.clone()) != now
    }
}

/// What can be read and written as the connection of a client.
pub(in crate::serve::http) trait ReadWrite:
    AsyncRead + AsyncWrite + Send + Unpin
{
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ReadWrite for S {}

/// The connection of a client: plain, or with TLS.
pub(in crate::serve::http) type Stream = Box<dyn ReadWrite>;
