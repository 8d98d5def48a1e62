//! Query strings: split, decoded strictly, and encoded in one way.
//!
//! A lenient decoder turns a damaged request into a different one. Here a pair that cannot be decoded is a broken rule.

use super::super::error::Violation;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Most characters of the sender's text in a message.
const SHOWN_CHARS: usize = 60;

/// A text, encoded for a path segment or a query value; a space is `%20`.
fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Name and value pairs as `name=value&name=value`, encoded, in the order given.
pub fn join<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let parts: Vec<String> =
        pairs.into_iter().map(|(name, value)| format!("{}={}", encode(name), encode(&value))).collect();
    parts.join("&")
}

/// The pairs of a query string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// The decoded pairs, in order.
    pub pairs: Vec<(String, String)>,
    /// Names of the parameters whose value cannot be decoded.
    pub damaged: Vec<String>,
    /// A broken rule for each pair that cannot be decoded.
    pub violations: Vec<Violation>,
}

/// Splits and decodes a query string.
///
/// `+` is a space. Empty pieces are ignored. A name without `=` has an empty value.
pub fn split(query: &str) -> Split {
    let mut split = Split::default();
    for piece in query.split('&').filter(|piece| !piece.is_empty()) {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        match (decode(name, true), decode(value, true)) {
            (Ok(name), Ok(value)) => split.pairs.push((name, value)),
            (Ok(name), Err(fault)) => {
                split
                    .violations
                    .push(Violation::invalid("", format!("the value of {} {fault}", quoted(&name))));
                split.damaged.push(name);
            }
            (Err(fault), _) => {
                split.violations.push(Violation::invalid("", format!("a parameter name {fault}")));
            }
        }
    }
    split
}

/// Decodes a path segment; `+` is a plus.
///
/// # Errors
/// The reason, as the end of a sentence.
pub fn decode_segment(segment: &str) -> Result<String, &'static str> {
    decode(segment, false)
}

fn decode(text: &str, plus_is_space: bool) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next(), rest.next()).ok_or("has broken percent-encoding")?,
            b'+' if plus_is_space => b' ',
            plain => plain,
        });
    }
    String::from_utf8(bytes).map_err(|_| "is not valid UTF-8")
}

fn hex(high: Option<u8>, low: Option<u8>) -> Option<u8> {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// A text of the sender for a message: quoted, control characters escaped, cut after 60 characters.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Another value of the sender for a message, cut after 60 characters.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;
    use proptest::prelude::*;

    #[test]
    fn a_pair_that_cannot_be_decoded_breaks_a_rule_and_the_rest_is_read() {
        for (query, says) in [
            ("q=%zz&limit=5", "the value of \"q\" has broken percent-encoding"),
            ("q=%2&limit=5", "the value of \"q\" has broken percent-encoding"),
            ("q=%&limit=5", "the value of \"q\" has broken percent-encoding"),
            ("q=%ff&limit=5", "the value of \"q\" is not valid UTF-8"),
            ("%ff=1&limit=5", "a parameter name is not valid UTF-8"),
        ] {
            let Split { pairs, violations, .. } = split(query);
            assert_eq!(pairs, [("limit".to_owned(), "5".to_owned())], "{query}");
            assert_eq!(violations.len(), 1, "{query}");
            assert_eq!(violations[0].message, says, "{query}");
        }
    }

    #[test]
    fn plus_is_a_space_in_a_query_and_a_plus_in_a_path() {
        assert_eq!(split("q=a+b%2B").pairs, [("q".to_owned(), "a b+".to_owned())]);
        assert_eq!(decode_segment("a+b%20c").as_deref(), Ok("a+b c"));
    }

    #[test]
    fn empty_pieces_are_ignored_and_the_first_equals_sign_divides() {
        let pairs = split("&a=1&&b&c=x=y&").pairs;
        let as_text: Vec<_> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(as_text, [("a", "1"), ("b", ""), ("c", "x=y")]);
    }

    proptest! {
        #[test]
        fn split_reverses_join(value in any::<String>()) {
            let Split { pairs, violations, .. } = split(&join([("q", value.clone())]));
            prop_assert_eq!(pairs, [("q".to_owned(), value)]);
            prop_assert!(violations.is_empty());
        }
    }

    #[test]
    fn fuzz_of_query_strings() {
        let examples = [
            "q=a%20b&county=Miami-Dade&limit=5",
            "filed_after=2026-11-20&type=llc&offset=100",
            "+&=&a=%C3%91",
        ];
        try_changed(&examples, |input| {
            let text = String::from_utf8_lossy(input);
            let read = split(&text);
            let pairs = read.pairs.iter().map(|(name, value)| (name.as_str(), value.clone()));
            assert_eq!(split(&join(pairs)).pairs, read.pairs, "what was read is written and read again");
            let _ = decode_segment(&text);
        });
    }
}
