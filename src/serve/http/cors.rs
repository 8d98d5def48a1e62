//! CORS: which web pages may call the API from a browser. None, unless the operator names their origins.

use super::app::Site;
use super::response::{HttpResponse, bare};
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderMap, HeaderValue, VARY,
};
use hyper::{Method, Request, StatusCode};

/// How long a browser keeps the answer to its question, in seconds.
const MAX_AGE: &str = "600";
/// The headers of an answer that a page may read.
const EXPOSED: &str =
    "etag, link, ratelimit-policy, ratelimit, retry-after, x-not-found, sunlake-snapshot, x-request-id";

impl Site {
    /// The answer to a browser's question whether a page may send a request; `None` for any other request.
    pub(super) fn preflight(&self, request: &Request<Bytes>) -> Option<HttpResponse> {
        let headers = request.headers();
        let is_question =
            *request.method() == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        self.host_guard.origins.of(headers).filter(|_| is_question)?;
        let mut allowed = bare(StatusCode::NO_CONTENT, "");
        let answer = allowed.headers_mut();
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, POST"));
        answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        if let Some(requested) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
        }
        Some(allowed)
    }

    /// Lets a page of a known origin read an answer, and its headers.
    pub(super) fn let_pages_read(&self, sent: &HeaderMap, answer: &mut HeaderMap) {
        let origins = &self.host_guard.origins;
        if origins.are_none() {
            return;
        }
        // A cache must not give the answer for one origin to another.
        answer.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = origins.of(sent) {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        }
    }
}
