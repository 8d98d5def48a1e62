//! Connections: accepted up to a limit, timed out, and shut down without losing a request.

use super::app::{RETRY_SECS, Site};
use super::wire::peers::Peers;
use super::wire::socket::Socket;
use super::wire::tls::{Stream, Tls};
use super::wire::waiting::{Signs, within_deadlines};
use crate::serve::metrics::{Counted, Metrics};
use futures::FutureExt;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Pause after a failed accept, for example when file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Most connections that are answered 503 at the same time; a further one is closed without an answer.
const MAX_REJECTED: usize = 256;

/// How many connections there may be, and how long they stay without a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// Most open connections; a further one is answered 503 and closed.
    pub(crate) all: usize,
    /// Most of one address.
    pub(crate) of_address: usize,
    /// How long a connection may be silent between two requests.
    pub(crate) keep_alive: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self { all: 4_096, of_address: 1_024, keep_alive: Duration::from_secs(75) }
    }
}

/// The listener, and the connections accepted from it.
pub(crate) struct Acceptor {
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    site: Arc<Site>,
    permits: Arc<Semaphore>,
    peers: Peers,
    keep_alive: Duration,
    reject_permits: Arc<Semaphore>,
    graceful: GracefulShutdown,
    connections: JoinSet<()>,
}

impl Acceptor {
    /// An acceptor of connections within limits; without `tls` it speaks plain HTTP.
    pub(crate) fn new(
        listener: TcpListener,
        tls: Option<Arc<Tls>>,
        site: Arc<Site>,
        limits: ConnectionLimits,
    ) -> Self {
        Self {
            listener,
            tls,
            site,
            permits: Arc::new(Semaphore::new(limits.all.min(Semaphore::MAX_PERMITS))),
            peers: Peers::new(limits.of_address),
            keep_alive: limits.keep_alive,
            reject_permits: Arc::new(Semaphore::new(MAX_REJECTED)),
            graceful: GracefulShutdown::new(),
            connections: JoinSet::new(),
        }
    }

    /// Accepts connections forever; each is a task of its own.
    pub(crate) async fn accept(&mut self) {
        loop {
            let (stream, peer) = accept(&self.listener).await;
            self.admit(stream, peer);
            while self.connections.try_join_next().is_some() {}
        }
    }

    /// Shuts down: accepts the connections in the backlog, closes the listener, and makes every further answer the last
    /// of its connection. After `linger` idle connections are closed, and by `deadline` all of them.
    ///
    /// A client that sends request after request learns from its next answer that it must connect anew. To close its
    /// connection at once could lose a request on its way.
    pub(crate) async fn shutdown(mut self, linger: Duration, deadline: Duration) {
        self.site.drain();
        while let Some(Ok((stream, peer))) = self.listener.accept().now_or_never() {
            self.admit(stream, peer);
        }
        drop(self.listener);
        let all = async { while self.connections.join_next().await.is_some() {} };
        if tokio::time::timeout(linger, all).await.is_ok() {
            return;
        }
        let rest = deadline.saturating_sub(linger);
        if tokio::time::timeout(rest, self.graceful.shutdown()).await.is_err() {
            tracing::warn!("connections did not end in time and were cut");
        }
    }

    fn admit(&mut self, stream: TcpStream, peer: SocketAddr) {
        let site = Arc::clone(&self.site);
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            return self.reject(stream, "connections", "the server has");
        };
        let Some(place) = self.peers.admit(peer.ip()) else {
            return self.reject(stream, "address", "this address has");
        };
        let (watcher, tls, keep_alive) = (self.graceful.watcher(), self.tls.clone(), self.keep_alive);
        self.connections.spawn(async move {
            let open = Counted::new(&site.metrics.connections);
            let app = Arc::clone(&site);
            let respond = move |request| {
                let app = Arc::clone(&app);
                async move { app.exchange(request, peer).await }
            };
            match secured(tls.as_deref(), stream).await {
                Ok(stream) => {
                    let signs = Signs::default();
                    let connection = connection(stream, Arc::clone(&site.docs_url), signs.clone(), respond);
                    let ended = within_deadlines(watcher.watch(connection), signs, keep_alive).await;
                    note_end(&site.metrics, ended);
                }
                Err(error) => {
                    site.metrics.malformed.inc();
                    tracing::debug!(%error, "a TLS handshake failed");
                }
            }
            drop((open, place, permit));
        });
    }

    /// Answers 503: somebody, `who`, has as many connections as the server takes.
    fn reject(&mut self, stream: TcpStream, reason: &'static str, who: &str) {
        self.site.metrics.shed(reason);
        let Ok(permit) = Arc::clone(&self.reject_permits).try_acquire_owned() else { return };
        let message = format!("{who} as many connections as the server takes; try again shortly");
        let response = self.site.problem(503, message);
        let head = format!(
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
             retry-after: {RETRY_SECS}\r\ncache-control: private, no-store\r\nconnection: close\r\n\r\n",
            response.body().len()
        );
        let answer = [head.as_bytes(), response.body()].concat();
        let tls = self.tls.clone();
        self.connections.spawn(async move {
            if let Ok(stream) = secured(tls.as_deref(), stream).await {
                // A client that does not read its answer loses it.
                let _ = Socket::answer_and_close(stream, answer).await;
            }
            drop(permit);
        });
    }
}

/// The next connection. A failed accept is logged and retried after a pause.
pub(super) async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// A connection on which requests may come: with TLS, one whose handshake is done.
async fn secured(tls: Option<&Tls>, stream: TcpStream) -> io::Result<Stream> {
    // With Nagle's algorithm, a small answer may wait for the acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "answers of a connection may be slow");
    }
    match tls {
        Some(tls) => tls.accept(stream).await,
        None => Ok(Box::new(stream)),
    }
}

fn note_end(metrics: &Metrics, ended: Result<(), hyper::Error>) {
    if let Err(error) = ended {
        if error.is_parse() {
            metrics.malformed.inc();
        }
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The connection of a client. What happens on it is in `signs`, for its deadlines.
pub(super) fn connection<F>(
    stream: Stream,
    docs_url: Arc<str>,
    signs: Signs,
    respond: impl Fn(Request<Incoming>) -> F,
) -> impl GracefulConnection<Error = hyper::Error>
where
    F: Future<Output = Response<Full<Bytes>>>,
{
    let socket = Socket::new(stream, docs_url, signs.clone());
    let respond = service_fn(move |request| {
        signs.turn();
        let signs = signs.clone();
        respond(request).map(move |answer| {
            signs.turn();
            Ok::<_, Infallible>(answer)
        })
    });
    http1::Builder::new().max_buf_size(MAX_HEAD_BYTES).serve_connection(TokioIo::new(socket), respond)
}
