//! The state behind every route: the pages that need no key, errors as answers, the key of a request.

use super::host_guard::HostGuard;
use super::request_id::RequestIds;
use super::response::{HttpResponse, response, with_header};
use crate::contract::error::{ErrorBody, Message};
use crate::contract::query::cut;
use crate::lake::INVENTED;
use crate::serve::metrics::Metrics;
use crate::serve::pages::home::{self, Served};
use crate::serve::pages::manual;
use crate::serve::pages::shell::Page;
use crate::serve::rarely::Rarely;
use crate::serve::reference::{markdown, openapi};
use crate::serve::service::{ApiError, Service};
use arc_swap::ArcSwapOption;
use hyper::header::{
    ALLOW, AUTHORIZATION, CONTENT_SECURITY_POLICY, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use hyper::{Method, StatusCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Semaphore;

/// Most requests that are answered at the same time; a further one is answered 503. A request counts once its body is
/// read.
pub(super) const MAX_AT_WORK: usize = 256;

/// The pages that describe the API.
struct Reference {
    markdown: String,
    manual: Page,
    openapi: Vec<u8>,
}

impl Reference {
    /// With a notice at the top, unless it is empty.
    fn new(base_url: &str, notice: &str) -> Self {
        let markdown = markdown::page(notice);
        Self { manual: manual::page(&markdown), markdown, openapi: openapi::document(base_url, notice) }
    }
}

/// The service, the pages that need no key, and what the middleware shares.
pub(crate) struct Site {
    pub(crate) service: Arc<Service>,
    pub(crate) host_guard: HostGuard,
    pub(crate) metrics: Metrics,
    pub(super) ids: RequestIds,
    /// Lines about requests without a valid key.
    pub(super) refused_keys: Rarely,
    /// Permits of [`MAX_AT_WORK`].
    pub(super) at_work: Semaphore,
    /// The reference in Markdown, of every error body.
    pub(crate) docs_url: Arc<str>,
    base_url: String,
    /// The reference of a lake of filings, and that of a sample; made when someone reads it.
    references: [OnceLock<Reference>; 2],
    /// The report of the snapshot that is served, if its lake has one.
    report: ArcSwapOption<Vec<u8>>,
    is_draining: AtomicBool,
}

impl Site {
    /// A site at `base_url`, without a final slash; `random` are 256 random bits for request ids.
    pub(crate) fn new(
        service: Service,
        base_url: &str,
        host_guard: HostGuard,
        metrics: Metrics,
        random: [u8; 32],
    ) -> Self {
        Self {
            service: Arc::new(service),
            host_guard,
            metrics,
            ids: RequestIds::new(random),
            refused_keys: Rarely::once_in(Duration::from_secs(1)),
            at_work: Semaphore::new(MAX_AT_WORK),
            docs_url: format!("{base_url}/docs.md").into(),
            base_url: base_url.to_owned(),
            references: Default::default(),
            report: ArcSwapOption::empty(),
            is_draining: AtomicBool::new(false),
        }
    }

    /// Starts the shutdown: from now on every answer closes its connection, and `/readyz` is 503.
    pub(super) fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    pub(super) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Replaces the report.
    pub(crate) fn set_report(&self, report: Option<Vec<u8>>) {
        self.report.store(report.map(Arc::new));
    }

    fn home(&self) -> Page {
        let served = self.service.index().map(|index| Served {
            rows: index.rows(),
            day: index.day,
            is_sample: index.is_invented,
            has_report: self.report.load().is_some(),
        });
        home::page(served.as_ref())
    }

    fn reference(&self) -> &Reference {
        let is_sample = self.service.is_sample();
        let notice = if is_sample { INVENTED } else { "" };
        self.references[usize::from(is_sample)].get_or_init(|| Reference::new(&self.base_url, notice))
    }

    /// The answer and the route of a page that needs no key and is not counted; `None` for any other path.
    pub(super) fn open_page(&self, path: &str) -> Option<(HttpResponse, &'static str)> {
        let json = |status, body: &[u8]| response(status, "application/json", body.to_vec());
        let route = *OPEN_PAGES.iter().find(|route| **route == path)?;
        let page = match route {
            "/readyz" if self.is_draining() => {
                json(StatusCode::SERVICE_UNAVAILABLE, b"{\"status\":\"ending\"}")
            }
            "/readyz" if let Some(reason) = self.service.unready() => {
                let body = serde_json::json!({ "status": reason });
                json(StatusCode::SERVICE_UNAVAILABLE, body.to_string().as_bytes())
            }
            "/healthz" | "/readyz" => json(StatusCode::OK, b"{\"status\":\"ok\"}"),
            "/openapi.json" => json(StatusCode::OK, &self.reference().openapi),
            "/docs.md" => {
                let page = self.reference().markdown.clone();
                response(StatusCode::OK, "text/markdown; charset=utf-8", page.into_bytes())
            }
            "/docs" => html(&self.reference().manual),
            "/report" => match self.report.load_full() {
                // The page has its own policy.
                Some(report) => {
                    with_policy(response(StatusCode::OK, HTML, report.to_vec()), "frame-ancestors 'none'")
                }
                None => self.problem(404, "this lake has no report".to_owned()),
            },
            _ => html(&self.home()),
        };
        Some((page, route))
    }
}

/// Paths that need no key.
const OPEN_PAGES: [&str; 7] = ["/", "/healthz", "/readyz", "/openapi.json", "/docs", "/docs.md", "/report"];

const HTML: &str = "text/html; charset=utf-8";

fn html(page: &Page) -> HttpResponse {
    with_policy(response(StatusCode::OK, HTML, page.html.clone().into_bytes()), &page.policy)
}

/// An answer with a policy of its own, in place of the one of every answer, which allows nothing.
fn with_policy(answer: HttpResponse, policy: &str) -> HttpResponse {
    match HeaderValue::from_str(policy) {
        Ok(policy) => with_header(answer, CONTENT_SECURITY_POLICY, policy),
        Err(_) => answer,
    }
}

/// `Retry-After` of every 503, in seconds.
pub(super) const RETRY_SECS: u64 = 1;

impl Site {
    /// Status 405, with the allowed methods.
    pub(crate) fn wrong_method(&self, method: &Method, allowed: &'static str) -> HttpResponse {
        let method = cut(method.as_str());
        let refused = self.problem(405, format!("{method} is not allowed here; this path answers {allowed}"));
        with_header(refused, ALLOW, HeaderValue::from_static(allowed))
    }

    pub(crate) fn problem(&self, status_code: u16, message: String) -> HttpResponse {
        let docs_url = self.docs_url.to_string();
        error_response(&ErrorBody { status_code, message: Message::One(message), docs_url })
    }

    pub(crate) fn refusal(&self, error: &ApiError) -> HttpResponse {
        let refused = error_response(&error.body(&self.docs_url));
        match error {
            ApiError::Unauthorized { key_sent } => {
                let challenge = if *key_sent { "Bearer error=\"invalid_token\"" } else { "Bearer" };
                with_header(refused, WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
            }
            ApiError::OverLimit { retry_after_secs } => {
                self.metrics.over_limit.inc();
                with_header(refused, RETRY_AFTER, HeaderValue::from(*retry_after_secs))
            }
            _ => refused,
        }
    }
}

fn error_response(body: &ErrorBody) -> HttpResponse {
    let status = StatusCode::from_u16(body.status_code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let answer = response(status, "application/json", serde_json::to_vec(body).unwrap_or_default());
    match status {
        StatusCode::SERVICE_UNAVAILABLE => with_header(answer, RETRY_AFTER, HeaderValue::from(RETRY_SECS)),
        _ => answer,
    }
}

/// The key of the only `Authorization` header; `None` for another scheme, no header, or two.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let only = sent.next().filter(|_| sent.next().is_none())?;
    let (scheme, key) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim_matches(' '))
}
