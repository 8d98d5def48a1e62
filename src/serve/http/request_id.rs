//! `X-Request-Id`: connects an answer with its log line.

use crate::serve::auth::KEY_PREFIX;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Most bytes of an id that a client sends; a longer one is replaced.
const MAX_LENGTH: usize = 128;
/// Hexadecimal digits of an id made here.
const MADE_LENGTH: usize = 32;

/// Makes ids that cannot be guessed from each other: the keyed hash of a counter.
#[derive(Debug)]
pub(super) struct RequestIds {
    key: [u8; 32],
    next: AtomicU64,
}

impl RequestIds {
    pub(super) fn new(random: [u8; 32]) -> Self {
        Self { key: random, next: AtomicU64::new(0) }
    }

    /// The id that the client sent, if it is plain; else a new one.
    pub(super) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(REQUEST_ID) {
            Some(sent) if sent.to_str().is_ok_and(is_plain) => sent.clone(),
            _ => self.make(),
        }
    }

    fn make(&self) -> HeaderValue {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let digest = blake3::keyed_hash(&self.key, &number.to_le_bytes()).to_hex();
        HeaderValue::from_str(&digest[..MADE_LENGTH]).unwrap_or(HeaderValue::from_static("none"))
    }
}

/// Whether an id has only letters, digits and `-_.:`, and no part that looks like a key: the id is logged.
fn is_plain(id: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(is_sign) && !id.contains(KEY_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sent: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, sent.parse().expect("a header"));
        RequestIds::new([1; 32]).of(&headers).to_str().expect("text").to_owned()
    }

    #[test]
    fn plain_id_is_used_and_any_other_replaced() {
        assert_eq!(of("a1B-2_3.4:5"), "a1B-2_3.4:5");
        for strange in ["", "two words", "a;b", "x-flb_0123", &"a".repeat(129)] {
            let made = of(strange);
            assert!(made.len() == MADE_LENGTH && made != strange, "{strange}: {made}");
        }
    }

    #[test]
    fn made_ids_differ() {
        let (ids, others) = (RequestIds::new([1; 32]), RequestIds::new([2; 32]));
        let none = HeaderMap::new();
        let made = [ids.of(&none), ids.of(&none), others.of(&none)];
        assert!(made[0] != made[1] && made[0] != made[2], "{made:?}");
    }
}
