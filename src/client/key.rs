//! The API key: read once, sent as a header, shown nowhere.

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

/// An API key. Its `Debug` prints nothing of it; the memory is wiped when it goes.
#[derive(Debug, Clone)]
pub struct ApiKey(SecretString);

/// The text cannot be an API key.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum KeyError {
    /// Nothing but white space.
    #[error("the API key is empty")]
    Empty,
    /// A character that cannot stand in a header.
    #[error("the API key holds a character that no header can carry; was a whole file pasted?")]
    NotAHeader,
}

impl ApiKey {
    /// The one door: surrounding white space goes, as files end with a line break.
    ///
    /// # Errors
    /// Empty text, or characters that a header cannot carry.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::NotAHeader);
        }
        Ok(Self(SecretString::from(text.to_owned())))
    }

    /// The Authorization header, marked sensitive so that no log prints it.
    pub(super) fn header(&self) -> Result<HeaderValue, KeyError> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.0.expose_secret()))
            .map_err(|_| KeyError::NotAHeader)?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// A text of others, the key in it blotted out: an error may give back what was sent.
    pub(super) fn blot(&self, text: &str) -> String {
        text.replace(self.0.expose_secret(), "[key]")
    }

    /// A short digest that tells accounts' ledgers apart without telling the key.
    pub fn fingerprint(&self) -> String {
        blake3::hash(self.0.expose_secret().as_bytes()).to_hex()[..16].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_nothing_of_itself() {
        let key = ApiKey::parse(" flb_secret\n").expect("a key");
        assert!(!format!("{key:?}").contains("secret"));
        assert!(!format!("{:?}", key.header().expect("a header")).contains("secret"));
        assert!(!key.fingerprint().contains("secret"));
    }

    #[test]
    fn a_text_that_holds_the_key_is_told_without_it() {
        let key = ApiKey::parse("flb_secret").expect("a key");
        assert_eq!(key.blot("Bearer flb_secret: flb_secret is gone"), "Bearer [key]: [key] is gone");
    }

    #[test]
    fn what_no_header_carries_is_no_key() {
        assert_eq!(ApiKey::parse(" \n").unwrap_err(), KeyError::Empty);
        assert_eq!(ApiKey::parse("two\nlines").unwrap_err(), KeyError::NotAHeader);
    }
}
