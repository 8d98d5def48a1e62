//! Connections: accepted, bounded in number and in time, and brought to an end without losing a request.

use super::app::Site;
use super::middleware::RETRY_SECS;
use super::socket::Socket;
use crate::serve::metrics::{CONTENT_TYPE, Counted, Shed};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, header};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// A client that has not sent its whole request head by then is let go; so is one that sends no next request.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(8);
/// Bytes of a request head at most.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Pause after a connection could not be accepted, as when file handles have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Clients that are told at once that there is no room for them; a further one just finds its connection closed.
const MAX_TURNED_AWAY: usize = 256;
/// A client that was turned away has so long to read why.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(1);
/// Connections at once to the page of metrics.
const MAX_SCRAPERS: usize = 16;

/// The listener, and every connection that came from it.
pub(crate) struct Reception {
    listener: TcpListener,
    site: Arc<Site>,
    places: Arc<Semaphore>,
    places_to_turn_away: Arc<Semaphore>,
    graceful: GracefulShutdown,
    connections: JoinSet<()>,
}

impl Reception {
    /// Nobody is let in yet; at most so many will be at once.
    pub(crate) fn new(listener: TcpListener, site: Arc<Site>, max_connections: usize) -> Self {
        Self {
            listener,
            site,
            places: Arc::new(Semaphore::new(max_connections.min(Semaphore::MAX_PERMITS))),
            places_to_turn_away: Arc::new(Semaphore::new(MAX_TURNED_AWAY)),
            graceful: GracefulShutdown::new(),
            connections: JoinSet::new(),
        }
    }

    /// Accepts connections for ever; each is a task of its own.
    pub(crate) async fn accept(&mut self) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => self.admit(stream, peer),
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
            while self.connections.try_join_next().is_some() {}
        }
    }

    /// Ends in good order: those who wait at the door are let in, the door is shut, every answer from now on is the last
    /// of its connection; after `linger` the silent ones are closed, and by `deadline` all of them.
    ///
    /// A client that asks again and again learns from its next answer that it must connect anew; to close its
    /// connection at once could cut off a request that is on its way.
    pub(crate) async fn end(mut self, linger: Duration, deadline: Duration) {
        self.site.drain();
        while let Some(Ok((stream, peer))) = futures::FutureExt::now_or_never(self.listener.accept()) {
            self.admit(stream, peer);
        }
        drop(self.listener);
        let all = async { while self.connections.join_next().await.is_some() {} };
        if tokio::time::timeout(linger, all).await.is_ok() {
            return;
        }
        let rest = deadline.saturating_sub(linger);
        if tokio::time::timeout(rest, self.graceful.shutdown()).await.is_err() {
            tracing::warn!("some connections did not end in time and were cut");
        }
    }

    fn admit(&mut self, stream: TcpStream, peer: SocketAddr) {
        let site = Arc::clone(&self.site);
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            site.metrics.shed(Shed::Connection);
            if let Ok(place) = Arc::clone(&self.places_to_turn_away).try_acquire_owned() {
                self.connections.spawn(async move {
                    // Who does not listen is not waited for.
                    let _ = tokio::time::timeout(FAREWELL_TIMEOUT, turn_away(stream, &site)).await;
                    drop(place);
                });
            }
            return;
        };
        let connection = self.graceful.watch(connection(stream, peer, Arc::clone(&site)));
        self.connections.spawn(async move {
            let open = Counted::new(&site.metrics.connections);
            if let Err(error) = connection.await {
                if error.is_parse() {
                    site.metrics.malformed.inc();
                }
                tracing::debug!(%error, "a connection ended early");
            }
            drop(open);
            drop(place);
        });
    }
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    site: Arc<Site>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    // Without this a small answer may wait for the acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "answers of a connection may be slow");
    }
    let socket = Socket::new(stream, site.docs_url());
    let respond = service_fn(move |request: Request<Incoming>| {
        let site = Arc::clone(&site);
        async move { Ok::<_, Infallible>(site.exchange(request, peer).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(socket), respond)
}

/// Says that there is no room, then waits until the client has gone: to close on what it sent would take the answer away.
async fn turn_away(mut stream: TcpStream, site: &Site) -> std::io::Result<()> {
    let message = "the server has as many connections as it takes; try again shortly".to_owned();
    let response = site.problem(503, message);
    let body = String::from_utf8_lossy(response.body()).into_owned();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: {RETRY_SECS}\r\ncache-control: private, no-store\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

/// Serves the page of metrics for ever, on a listener of its own.
pub(crate) async fn serve_metrics(listener: TcpListener, site: Arc<Site>) {
    let places = Arc::new(Semaphore::new(MAX_SCRAPERS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let (socket, site) = (Socket::new(stream, site.docs_url()), Arc::clone(&site));
                connections.spawn(async move {
                    let respond = service_fn(move |request: Request<Incoming>| {
                        std::future::ready(Ok::<_, Infallible>(metrics_page(&site, request.uri().path())))
                    });
                    let connection = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(HEADER_READ_TIMEOUT)
                        .serve_connection(TokioIo::new(socket), respond);
                    if let Err(error) = connection.await {
                        tracing::debug!(%error, "a connection to the metrics ended early");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection to the metrics could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

fn metrics_page(site: &Site, path: &str) -> Response<Full<Bytes>> {
    if path == "/metrics" {
        let mut page = Response::new(Full::new(Bytes::from(site.metrics.page())));
        page.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(CONTENT_TYPE));
        return page;
    }
    let mut nothing = Response::new(Full::new(Bytes::from_static(b"the metrics are at /metrics\n")));
    *nothing.status_mut() = StatusCode::NOT_FOUND;
    nothing
}
