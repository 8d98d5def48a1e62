//! Identifiers of a path or a filter, each with one parser.
//!
//! Source: API document, path rules of the look-ups, and the `zip` parameter.

use std::fmt;

/// A state document number: 6 to 12 ASCII letters or digits, stored in upper case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentNumber(String);

impl DocumentNumber {
    /// Reads a number in any case; `None` unless it is 6 to 12 letters or digits.
    pub fn parse(text: &str) -> Option<Self> {
        let shaped = (6..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        shaped.then(|| Self(text.to_ascii_uppercase()))
    }

    /// The number in upper case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The `{id}` path parameter: a positive integer, leading zeros allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BusinessIdParam(Option<i64>);

impl BusinessIdParam {
    /// Reads ASCII digits that form a positive integer of any size.
    pub fn parse(text: &str) -> Option<Self> {
        let digits_only = text.bytes().all(|byte| byte.is_ascii_digit());
        let positive = text.bytes().any(|byte| byte != b'0');
        (digits_only && positive).then(|| Self(text.parse().ok()))
    }

    /// The integer, or `None` when it is larger than any id a business can have.
    pub const fn value(self) -> Option<i64> {
        self.0
    }
}

/// A county key: a letter, then letters, spaces, `.`, `'` or `-`, at most 40, stored in upper case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CountyKey(String);

impl CountyKey {
    /// Longest key, in characters.
    pub const MAX_CHARS: usize = 40;

    /// Reads a key in any case.
    pub fn parse(text: &str) -> Option<Self> {
        let inner = |byte: u8| byte.is_ascii_alphabetic() || b" .'-".contains(&byte);
        let shaped = text.len() <= Self::MAX_CHARS
            && text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.bytes().all(inner);
        shaped.then(|| Self(text.to_ascii_uppercase()))
    }

    /// The key in upper case.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A ZIP filter: five digits, or the first three or four of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ZipPrefix(String);

impl ZipPrefix {
    /// Reads 3 to 5 ASCII digits.
    pub fn parse(text: &str) -> Option<Self> {
        let shaped = (3..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        shaped.then(|| Self(text.to_owned()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a ZIP code passes the filter: five digits match exactly, fewer match as a prefix.
    pub fn matches(&self, zip: &str) -> bool {
        if self.0.len() == 5 { zip == self.0 } else { zip.starts_with(&self.0) }
    }
}

impl fmt::Display for DocumentNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Display for CountyKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_number_is_6_to_12_letters_or_digits_in_any_case() {
        assert_eq!(DocumentNumber::parse("l24000123456").map(|n| n.to_string()), Some("L24000123456".into()));
        assert!(DocumentNumber::parse("P12345").is_some());
        for wrong in ["P1234", "L240001234567", "L24-00012", "L2400012é", ""] {
            assert_eq!(DocumentNumber::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_id_is_a_positive_integer_and_a_huge_one_has_no_business() {
        assert_eq!(BusinessIdParam::parse("5000001").and_then(BusinessIdParam::value), Some(5_000_001));
        assert_eq!(BusinessIdParam::parse("007").and_then(BusinessIdParam::value), Some(7));
        assert_eq!(BusinessIdParam::parse(&"9".repeat(40)).map(BusinessIdParam::value), Some(None));
        for wrong in ["0", "000", "-1", "+1", "1.0", "abc", "", "١"] {
            assert_eq!(BusinessIdParam::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_county_key_is_read_in_any_case_and_stored_in_capitals() {
        assert_eq!(CountyKey::parse("st. johns").map(|key| key.to_string()), Some("ST. JOHNS".into()));
        for wrong in ["", " DUVAL", "DUVAL1", "MIAMI_DADE", &"A".repeat(41)] {
            assert_eq!(CountyKey::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn five_zip_digits_are_exact_and_fewer_are_a_prefix() {
        let matches = |filter: &str, zip: &str| ZipPrefix::parse(filter).is_some_and(|it| it.matches(zip));
        assert!(matches("337", "33702"));
        assert!(matches("33702", "33702"));
        assert!(!matches("33702", "33702-1234"));
        for wrong in ["33", "337021", "33a", "-337", ""] {
            assert_eq!(ZipPrefix::parse(wrong), None, "{wrong}");
        }
    }
}
