//! HTTP → service → HTTP, and nothing in between: which route, which key, which status and headers.

use super::service::{ApiError, Service};
use crate::contract::endpoint::Endpoint;
use crate::contract::error::{ErrorBody, Message};
use crate::contract::param::Arguments;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Response, StatusCode, Uri};

/// A response whose body is in memory.
pub(super) type HttpResponse = Response<Full<Bytes>>;

/// What answers requests: the service, and the pages that need no key.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) service: Service,
    pub(super) docs_url: String,
    pub(super) docs_page: String,
}

impl Site {
    /// Answers one request: route, method, key, plan and scope, limits, then the operation.
    pub(super) fn respond(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> HttpResponse {
        if let Some(page) = self.open_page(uri.path()) {
            let allowed = *method == Method::GET || *method == Method::HEAD;
            return if allowed { page } else { self.wrong_method(method, "GET, HEAD") };
        }
        let Some((endpoint, argument)) = Endpoint::match_path(uri.path()) else {
            return self.problem(404, format!("no route {method} {}", uri.path()));
        };
        if *method != Method::GET {
            return self.wrong_method(method, "GET");
        }
        match self.answer(endpoint, argument, uri.query().unwrap_or_default(), headers) {
            Ok(body) => response(StatusCode::OK, "application/json", body),
            Err(error) => self.refusal(&error),
        }
    }

    /// Every request with a valid key is counted, one without the right plan or scope too.
    fn answer(
        &self,
        endpoint: Endpoint,
        argument: Option<&str>,
        query: &str,
        headers: &HeaderMap,
    ) -> Result<Vec<u8>, ApiError> {
        let caller = self.service.authenticate(bearer(headers))?;
        let authorized = self.service.authorize(&caller, endpoint);
        let counted = self.service.count(&caller);
        authorized.and(counted)?;
        self.service.answer(&caller, Arguments::from_request(endpoint, argument, query))
    }

    /// The pages that need no key and are not counted.
    fn open_page(&self, path: &str) -> Option<HttpResponse> {
        match path {
            // The index is loaded before the first connection is accepted: who answers is ready.
            "/healthz" | "/readyz" => {
                Some(response(StatusCode::OK, "application/json", b"{\"status\":\"ok\"}".to_vec()))
            }
            "/docs" => {
                let page = self.docs_page.clone().into_bytes();
                Some(response(StatusCode::OK, "text/markdown; charset=utf-8", page))
            }
            _ => None,
        }
    }

    fn wrong_method(&self, method: &Method, allowed: &'static str) -> HttpResponse {
        let refused = self.problem(405, format!("{method} is not allowed here; this path answers {allowed}"));
        with_header(refused, ALLOW, HeaderValue::from_static(allowed))
    }

    fn problem(&self, status_code: u16, message: String) -> HttpResponse {
        let docs_url = self.docs_url.clone();
        error_response(&ErrorBody { status_code, message: Message::One(message), docs_url })
    }

    fn refusal(&self, error: &ApiError) -> HttpResponse {
        let refused = error_response(&error.body(&self.docs_url));
        match error {
            ApiError::Unauthorized { key_sent } => {
                let challenge = if *key_sent { "Bearer error=\"invalid_token\"" } else { "Bearer" };
                with_header(refused, WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
            }
            ApiError::OverLimit { retry_after_secs } => {
                with_header(refused, RETRY_AFTER, HeaderValue::from(*retry_after_secs))
            }
            _ => refused,
        }
    }
}

/// The key of the one Authorization header there is; two of them are as good as none.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let only = sent.next().filter(|_| sent.next().is_none())?;
    let (scheme, key) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim_matches(' '))
}

fn error_response(body: &ErrorBody) -> HttpResponse {
    let status = StatusCode::from_u16(body.status_code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response(status, "application/json", serde_json::to_vec(body).unwrap_or_default())
}

fn response(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> HttpResponse {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn with_header(mut response: HttpResponse, name: HeaderName, value: HeaderValue) -> HttpResponse {
    response.headers_mut().insert(name, value);
    response
}
