//! The listener of the metrics: the page of Prometheus, and whether the server runs, for those that look after it.

use super::app::Site;
use super::connection::{accept, connection};
use super::response::{HttpResponse, bare, with_header};
use super::wire::waiting::{HEAD_TIMEOUT, Signs, within_deadlines};
use crate::serve::metrics::CONTENT_TYPE;
use http_body_util::Full;
use hyper::header::{ALLOW, HeaderValue};
use hyper::{Method, Request, StatusCode, header};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Most connections at once. One without a request is closed after [`HEAD_TIMEOUT`].
const MAX_SCRAPERS: usize = 256;

/// Serves forever.
pub(crate) async fn serve_metrics(listener: TcpListener, site: Arc<Site>) {
    let permits = Arc::new(Semaphore::new(MAX_SCRAPERS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let (stream, _) = accept(&listener).await;
        let page = Arc::clone(&site);
        let respond = move |request: Request<_>| {
            std::future::ready(answer(&page, request.method(), request.uri().path()).map(Full::new))
        };
        let (docs_url, signs) = (Arc::clone(&site.docs_url), Signs::default());
        let connection = connection(Box::new(stream), docs_url, signs.clone(), respond);
        connections.spawn(async move {
            if let Err(error) = within_deadlines(connection, signs, HEAD_TIMEOUT).await {
                tracing::debug!(%error, "a connection to the metrics ended early");
            }
            drop(permit);
        });
        while connections.try_join_next().is_some() {}
    }
}

fn answer(site: &Site, method: &Method, path: &str) -> HttpResponse {
    match path {
        "/metrics" | "/healthz" | "/readyz" if *method != Method::GET => {
            let refused = bare(StatusCode::METHOD_NOT_ALLOWED, "this path answers GET\n");
            with_header(refused, ALLOW, HeaderValue::from_static("GET"))
        }
        "/metrics" => {
            let page = bare(StatusCode::OK, site.metrics.page());
            with_header(page, header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE))
        }
        "/healthz" | "/readyz" => site.open_page(path).map_or_else(missing, |(page, _)| page),
        _ => missing(),
    }
}

fn missing() -> HttpResponse {
    bare(StatusCode::NOT_FOUND, "the metrics are at /metrics\n")
}
