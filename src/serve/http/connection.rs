//! Connections: accepted up to a limit, timed out, and shut down without losing a request.

use super::app::RETRY_SECS;
use super::app::Site;
use super::socket::Socket;
use super::tls::{Stream, Tls};
use crate::serve::metrics::{CONTENT_TYPE, Counted, Metrics};
use futures::FutureExt;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// A request head must arrive within this time; on an open connection, so must the next one.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(8);
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Pause after a failed accept, for example when file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Most connections that are answered 503 at the same time; a further one is closed without an answer.
const MAX_REJECTED: usize = 256;
const MAX_SCRAPERS: usize = 16;

/// The listener, and the connections accepted from it.
pub(crate) struct Acceptor {
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    site: Arc<Site>,
    permits: Arc<Semaphore>,
    reject_permits: Arc<Semaphore>,
    graceful: GracefulShutdown,
    connections: JoinSet<()>,
}

impl Acceptor {
    /// An acceptor with at most `max_connections` open connections; without `tls` it speaks plain HTTP.
    pub(crate) fn new(
        listener: TcpListener,
        tls: Option<Arc<Tls>>,
        site: Arc<Site>,
        max_connections: usize,
    ) -> Self {
        Self {
            listener,
            tls,
            site,
            permits: Arc::new(Semaphore::new(max_connections.min(Semaphore::MAX_PERMITS))),
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
            return self.reject_overload(stream);
        };
        let (watcher, tls) = (self.graceful.watcher(), self.tls.clone());
        self.connections.spawn(async move {
            let open = Counted::new(&site.metrics.connections);
            let app = Arc::clone(&site);
            let respond = move |request| {
                let app = Arc::clone(&app);
                async move { app.exchange(request, peer).await }
            };
            match secured(tls.as_deref(), stream).await {
                Ok(stream) => {
                    let connection = connection(stream, Arc::clone(&site.docs_url), respond);
                    note_end(&site.metrics, watcher.watch(connection).await);
                }
                Err(error) => {
                    site.metrics.malformed.inc();
                    tracing::debug!(%error, "a TLS handshake failed");
                }
            }
            drop(open);
            drop(permit);
        });
    }

    fn reject_overload(&mut self, stream: TcpStream) {
        self.site.metrics.shed("connections");
        let Ok(permit) = Arc::clone(&self.reject_permits).try_acquire_owned() else { return };
        let message = "the server has as many connections as it takes; try again shortly".to_owned();
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
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
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
        None => Ok(Stream::Plain(stream)),
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

fn connection<F>(
    stream: Stream,
    docs_url: Arc<str>,
    respond: impl Fn(Request<Incoming>) -> F,
) -> impl GracefulConnection<Error = hyper::Error>
where
    F: Future<Output = Response<Full<Bytes>>>,
{
    let socket = Socket::new(stream, docs_url);
    let respond = service_fn(move |request| respond(request).map(Ok::<_, Infallible>));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(socket), respond)
}

/// Serves the metrics page forever, on a listener of its own.
pub(crate) async fn serve_metrics(listener: TcpListener, site: Arc<Site>) {
    let permits = Arc::new(Semaphore::new(MAX_SCRAPERS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let (stream, _) = accept(&listener).await;
        let page = Arc::clone(&site);
        let respond =
            move |request: Request<_>| std::future::ready(metrics_page(&page, request.uri().path()));
        let connection = connection(Stream::Plain(stream), Arc::clone(&site.docs_url), respond);
        connections.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the metrics ended early");
            }
            drop(permit);
        });
        while connections.try_join_next().is_some() {}
    }
}

fn metrics_page(site: &Site, path: &str) -> Response<Full<Bytes>> {
    if path == "/metrics" {
        let mut page = Response::new(Full::new(Bytes::from(site.metrics.page())));
        page.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(CONTENT_TYPE));
        return page;
    }
    let mut missing = Response::new(Full::new(Bytes::from_static(b"the metrics are at /metrics\n")));
    *missing.status_mut() = StatusCode::NOT_FOUND;
    missing
}
