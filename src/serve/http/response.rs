//! Answers in memory, and their entity tags: a client that has an answer already gets a 304 without a body.
//!
//! A tag is a hash of what the answer depends on, not of its body.

use crate::contract::account::Remaining;
use crate::serve::auth::Caller;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH};
use hyper::{Response, StatusCode};

pub(crate) type HttpResponse = Response<Bytes>;

/// The header of every answer to a valid key: the number of the snapshot that it is from.
pub(super) const SNAPSHOT: HeaderName = HeaderName::from_static("sunlake-snapshot");

/// The header of a 404 that says what was not found: a business without its detail in this lake is another thing than no
/// business.
pub(super) const NOT_FOUND_OF: HeaderName = HeaderName::from_static("x-not-found");

/// An answer, and what the log and the metrics say about it.
pub(crate) struct Reply {
    pub(crate) response: HttpResponse,
    /// The route as the API document writes it; never what the client sent.
    pub(crate) route: &'static str,
    /// The caller, once its key is checked.
    pub(crate) caller: Option<Caller>,
    /// Requests that its account has left, where that is known.
    pub(crate) left: Option<Remaining>,
}

impl Reply {
    pub(crate) const fn open(response: HttpResponse, route: &'static str) -> Self {
        Self { response, route, caller: None, left: None }
    }
}

/// An answer without headers.
pub(crate) fn bare(status: StatusCode, body: impl Into<Bytes>) -> HttpResponse {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response
}

/// An answer that must not be cached.
pub(crate) fn response(status: StatusCode, content_type: &'static str, body: Vec<u8>) -> HttpResponse {
    let mut response = bare(status, body);
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

/// An answer that names the snapshot that it is from, if that has a number.
pub(crate) fn of_snapshot(response: HttpResponse, snapshot: Option<u64>) -> HttpResponse {
    match snapshot {
        Some(number) => with_header(response, SNAPSHOT, HeaderValue::from(number)),
        None => response,
    }
}

/// A weak tag: the same answer is sent with and without compression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag(String);

impl Tag {
    /// The tag of an answer that depends only on these parts.
    pub(super) fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            // With its length, so that other parts with the same bytes have another tag.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(format!("W/\"{}\"", &hasher.finalize().to_hex()[..32]))
    }

    /// Whether `If-None-Match` has this tag or `*`. Only for a 200: an error has no tag.
    pub(super) fn matches(&self, headers: &HeaderMap) -> bool {
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let own = opaque(&self.0);
        headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|tag| tag.trim() == "*" || opaque(tag) == own)
    }

    pub(super) fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).unwrap_or(HeaderValue::from_static("W/\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_matches_in_any_list_and_strength() {
        let tag = Tag::of(&[b"a", b"b"]);
        assert_ne!(tag, Tag::of(&[b"ab", b""]));
        let strong = tag.0.trim_start_matches("W/").to_owned();
        let listed = format!("\"x\", {}", tag.0);
        for (sent, matches) in [
            (tag.0.as_str(), true),
            (&strong, true),
            (&listed, true),
            ("*", true),
            ("\"x\"", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, sent.parse().expect("a header"));
            assert_eq!(tag.matches(&headers), matches, "{sent}");
        }
        assert!(!tag.matches(&HeaderMap::new()));
    }
}
