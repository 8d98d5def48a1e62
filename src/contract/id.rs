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

impl fmt::Display for DocumentNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Longest county key, in characters.
pub const COUNTY_KEY_CHARS: usize = 40;

/// Whether a text is a county key in any case: a letter, then letters, spaces, `.`, `'` or `-`.
pub fn is_county_key(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphabetic() || b" .'-".contains(&byte);
    text.len() <= COUNTY_KEY_CHARS
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(inner)
}

/// Whether a text is a positive integer of any size; it may begin with zeros.
pub fn is_positive_integer(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte != b'0')
}

/// Whether a text is a ZIP filter: five digits, or the first three or four of them.
pub fn is_zip_prefix(text: &str) -> bool {
    (3..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
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
    fn an_id_is_a_positive_integer_of_any_size() {
        for right in ["5000001", "007", &"9".repeat(40)] {
            assert!(is_positive_integer(right), "{right}");
        }
        for wrong in ["0", "000", "-1", "+1", "1.0", "abc", "", "١"] {
            assert!(!is_positive_integer(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_county_key_is_one_in_any_case() {
        assert!(is_county_key("st. johns") && is_county_key("MIAMI-DADE"));
        for wrong in ["", " DUVAL", "DUVAL1", "MIAMI_DADE", &"A".repeat(41)] {
            assert!(!is_county_key(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_zip_filter_has_3_to_5_digits() {
        assert!(is_zip_prefix("337") && is_zip_prefix("33702"));
        for wrong in ["33", "337021", "33a", "-337", ""] {
            assert!(!is_zip_prefix(wrong), "{wrong}");
        }
    }
}
