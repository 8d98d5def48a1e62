//! What answers requests, and the pages of it that need no key.

use super::middleware::MAX_AT_WORK;
use super::request_id::RequestIds;
use super::response::{HttpResponse, response};
use crate::serve::mcp::Doors;
use crate::serve::metrics::Metrics;
use crate::serve::reference::openapi;
use crate::serve::service::Service;
use hyper::StatusCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;

/// What answers requests: the service, and the pages that need no key.
pub(crate) struct Site {
    pub(crate) service: Arc<Service>,
    pub(crate) doors: Doors,
    pub(crate) metrics: Metrics,
    pub(crate) ids: RequestIds,
    pub(crate) at_work: Semaphore,
    docs_url: Arc<str>,
    docs_page: String,
    openapi: Vec<u8>,
    is_draining: AtomicBool,
}

impl Site {
    /// A site known under an address without a final slash; `random` are 256 random bits for the ids of requests.
    pub(crate) fn new(
        service: Service,
        base_url: &str,
        doors: Doors,
        metrics: Metrics,
        random: [u8; 32],
    ) -> Self {
        Self {
            service: Arc::new(service),
            doors,
            metrics,
            ids: RequestIds::new(random),
            at_work: Semaphore::new(MAX_AT_WORK),
            docs_url: format!("{base_url}/docs").into(),
            docs_page: crate::serve::reference::markdown::page(),
            openapi: openapi::document(base_url),
            is_draining: AtomicBool::new(false),
        }
    }

    /// Where errors point at.
    pub(crate) fn docs_url(&self) -> &Arc<str> {
        &self.docs_url
    }

    /// From now on every answer is the last one of its connection, and the server is not ready for more.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    /// Whether the server is about to end.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// The pages that need no key and are not counted.
    pub(crate) fn open_page(&self, path: &str) -> Option<(HttpResponse, &'static str)> {
        let status = |code, text: &str| {
            response(code, "application/json", format!("{{\"status\":\"{text}\"}}").into_bytes())
        };
        match path {
            "/healthz" => Some((status(StatusCode::OK, "ok"), "/healthz")),
            "/readyz" if self.is_draining() => {
                Some((status(StatusCode::SERVICE_UNAVAILABLE, "ending"), "/readyz"))
            }
            // The index is loaded before the first connection is accepted: who answers is ready.
            "/readyz" => Some((status(StatusCode::OK, "ok"), "/readyz")),
            "/openapi.json" => {
                let document = response(StatusCode::OK, "application/json", self.openapi.clone());
                Some((document, "/openapi.json"))
            }
            "/docs" => {
                let page = self.docs_page.clone().into_bytes();
                Some((response(StatusCode::OK, "text/markdown; charset=utf-8", page), "/docs"))
            }
            _ => None,
        }
    }
}
