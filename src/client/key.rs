//! The API key: read once, sent as a header, never printed.

use reqwest::RequestBuilder;
use secrecy::{ExposeSecret, SecretString};

/// An API key. `Debug` does not print it; its memory is wiped on drop.
#[derive(Debug, Clone)]
pub struct ApiKey(SecretString);

/// The text cannot be an API key.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the API key {0}")]
pub struct KeyError(&'static str);

impl ApiKey {
    /// The key in a text; surrounding white space is removed, because files end with a line break, and so is a byte order mark.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Err(KeyError("is empty"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError("contains a character that a header cannot; was an entire file pasted?"));
        }
        Ok(Self(SecretString::from(text.to_owned())))
    }

    /// A request with the key in its Authorization header, which is marked as sensitive so that no log prints it.
    pub(super) fn authorize(&self, request: RequestBuilder) -> RequestBuilder {
        request.bearer_auth(self.0.expose_secret())
    }

    /// A text with the key replaced: an error may repeat what was sent.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(self.0.expose_secret(), "[key]")
    }

    /// A short digest that identifies the key without revealing it.
    pub(crate) fn fingerprint(&self) -> String {
        blake3::hash(self.0.expose_secret().as_bytes()).to_hex()[..16].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_never_printed() {
        let key = ApiKey::parse("\u{feff} flb_secret\n").expect("a key");
        assert!(!format!("{key:?}").contains("secret"));
        let http = reqwest::Client::builder().tls_built_in_root_certs(false).build().expect("a client");
        let request = key.authorize(http.get("http://localhost")).build().expect("a request");
        assert_eq!(request.headers()[reqwest::header::AUTHORIZATION], "Bearer flb_secret");
        assert!(!format!("{:?}", request.headers()).contains("secret"));
        assert!(!key.fingerprint().contains("secret"));
    }

    #[test]
    fn key_is_redacted_from_text() {
        let key = ApiKey::parse("flb_secret").expect("a key");
        assert_eq!(key.redact("Bearer flb_secret: flb_secret is gone"), "Bearer [key]: [key] is gone");
    }

    #[test]
    fn text_that_no_header_can_contain_is_rejected() {
        let error = |text: &str| ApiKey::parse(text).expect_err("no key").to_string();
        assert_eq!(error(" \n"), "the API key is empty");
        assert!(error("two\nlines").contains("a character that a header cannot"));
    }
}
