//! Answers in memory.

use super::etag::Tag;
use crate::serve::auth::access::Caller;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

pub(crate) type HttpResponse = Response<Bytes>;

/// An answer, and what the log and the metrics say about it.
pub(crate) struct Reply {
    pub(crate) response: HttpResponse,
    /// The route as the API document writes it; never what the client sent.
    pub(crate) route: &'static str,
    /// The caller, once its key is checked.
    pub(crate) caller: Option<Caller>,
}

impl Reply {
    pub(crate) const fn open(response: HttpResponse, route: &'static str) -> Self {
        Self { response, route, caller: None }
    }
}

/// An answer that must not be cached.
pub(crate) fn response(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> HttpResponse {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}

/// An answer that its client may cache and revalidate by its tag.
pub(super) fn tagged(response: HttpResponse, tag: &Tag) -> HttpResponse {
    let cacheable = with_header(response, CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    with_header(cacheable, ETAG, tag.header())
}

pub(super) fn with_header(mut response: HttpResponse, name: HeaderName, value: HeaderValue) -> HttpResponse {
    response.headers_mut().insert(name, value);
    response
}
