//! The API key of a request.

use hyper::header::{AUTHORIZATION, HeaderMap};

/// The key of the only `Authorization` header; `None` for another scheme, no header, or two.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let only = sent.next().filter(|_| sent.next().is_none())?;
    let (scheme, key) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim_matches(' '))
}
