//! Tags of answers: one for what an answer depends on, so that a client that has it need not be sent it again.

use hyper::header::{HeaderMap, HeaderValue, IF_NONE_MATCH};

/// A tag, weak since a body goes out in several codings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag(String);

impl Tag {
    /// The tag of an answer that depends on these parts and on nothing else.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            // With its length, so that two parts do not run into each other.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(format!("W/\"{}\"", &hasher.finalize().to_hex()[..32]))
    }

    /// Whether the client says that it has what this tag stands for, by its name or as anything there is (`*`). To be asked of a
    /// good answer alone: there is nothing to hold of another.
    pub(crate) fn is_held(&self, headers: &HeaderMap) -> bool {
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let own = opaque(&self.0);
        headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|tag| tag.trim() == "*" || opaque(tag) == own)
    }

    /// It as a header value.
    pub(crate) fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).unwrap_or(HeaderValue::from_static("W/\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_again_in_any_list_and_strength() {
        let tag = Tag::of(&[b"a", b"b"]);
        assert_ne!(tag, Tag::of(&[b"ab", b""]));
        let strong = tag.0.trim_start_matches("W/").to_owned();
        let listed = format!("\"x\", {}", tag.0);
        for (sent, held) in [
            (tag.0.as_str(), true),
            (&strong, true),
            (&listed, true),
            ("*", true),
            ("\"x\"", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, sent.parse().expect("a header"));
            assert_eq!(tag.is_held(&headers), held, "{sent}");
        }
        assert!(!tag.is_held(&HeaderMap::new()));
    }
}
