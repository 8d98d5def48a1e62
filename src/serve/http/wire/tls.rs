//! TLS: a certificate and its key from two files, read again when they change.

use crate::serve::http::app::Site;
use crate::serve::metrics::Metrics;
use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// A client that has not completed its handshake by then is dropped.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(8);
/// How often the files are read again.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

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

/// The certificate of a server.
pub(crate) struct Tls {
    files: TlsFiles,
    config: ArcSwap<ServerConfig>,
}

impl Tls {
    /// Reads the files for the first time.
    pub(crate) fn open(files: TlsFiles) -> Result<(Arc<Self>, TlsWatch), TlsError> {
        let pair = files.read()?;
        let config = ArcSwap::new(files.config(&pair)?);
        let seen = seen(&Ok(pair));
        let tls = Arc::new(Self { files, config });
        Ok((Arc::clone(&tls), TlsWatch { tls, last: seen.clone(), settled: seen }))
    }

    /// The connection of a client, once its handshake is done.
    pub(in crate::serve::http) async fn accept(&self, stream: TcpStream) -> io::Result<Stream> {
        let handshake = TlsAcceptor::from(self.config.load_full()).accept(stream);
        match tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await {
            Ok(accepted) => accepted.map(|stream| Stream::Tls(Box::new(stream))),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the TLS handshake took too long")),
        }
    }
}

/// Follows the files of a certificate.
pub(crate) struct TlsWatch {
    tls: Arc<Tls>,
    /// What was in the files at the last look.
    last: Seen,
    /// What was decided upon.
    settled: Seen,
}

impl TlsWatch {
    /// Reads the files every second, and uses a new pair for connections from then on.
    pub(crate) async fn run(mut self, site: Arc<Site>) {
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            let site = Arc::clone(&site);
            let poll = tokio::task::spawn_blocking(move || {
                self.poll(&site.metrics);
                self
            });
            match poll.await {
                Ok(after) => self = after,
                Err(error) => {
                    tracing::error!(%error, "watching the certificate failed; restart to use a new one");
                    return;
                }
            }
        }
    }

    /// A change counts once two looks see the same: the files of a new pair are not written at the same instant.
    fn poll(&mut self, metrics: &Metrics) {
        let pair = self.tls.files.read();
        let now = seen(&pair);
        let is_settling = self.last != now;
        self.last = now.clone();
        if is_settling || now == self.settled {
            return;
        }
        self.settled = now;
        match pair.and_then(|pair| self.tls.files.config(&pair)) {
            Ok(config) => {
                self.tls.config.store(config);
                metrics.certificate_refused.set(0);
                tracing::info!("the certificate has changed");
            }
            Err(error) => {
                metrics.certificate_refused.set(1);
                metrics.failed_reloads.inc();
                tracing::warn!(%error, "the certificate has changed and cannot be used; the old one is still sent");
            }
        }
    }
}

/// The connection of a client.
pub(in crate::serve::http) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, into),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, pieces),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
