//! Answers in memory: a status, headers, a body, and what is told of them.

use super::access::Caller;
use super::etag::Tag;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

/// A response whose body is in memory.
pub(super) type HttpResponse = Response<Bytes>;

/// An answer, and what is told of it.
pub(super) struct Reply {
    pub(super) response: HttpResponse,
    /// The route as the API document writes it; never what the client sent.
    pub(super) route: &'static str,
    /// Who asked, once it is known.
    pub(super) caller: Option<Caller>,
}

impl Reply {
    /// An answer to nobody in particular.
    pub(super) const fn open(response: HttpResponse, route: &'static str) -> Self {
        Self { response, route, caller: None }
    }
}

/// An answer that no one may keep.
pub(super) fn response(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> HttpResponse {
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    response
}

/// An answer that its client may keep, and asks about by its tag.
pub(super) fn tagged(response: HttpResponse, tag: &Tag) -> HttpResponse {
    let kept = with_header(response, CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    with_header(kept, ETAG, tag.header())
}

/// An answer with one more header.
pub(super) fn with_header(mut response: HttpResponse, name: HeaderName, value: HeaderValue) -> HttpResponse {
    response.headers_mut().insert(name, value);
    response
}
