//! Records that cannot be normalized: kept whole, with the reason and the place.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Where in the API's answers a record stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Key of the slice, or path of the look-up.
    pub slice: String,
    /// Rows of the listing before the page.
    pub offset: u32,
}

/// One record that is no row; a line of `runs/<run_id>/quarantine/*.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Key of the slice, or path of the look-up.
    pub slice: String,
    /// Records of the listing before this one; `None` when the answer as a whole could not be cut into records.
    pub position: Option<u64>,
    /// The digits of the service id, when they could be read.
    pub business_id: Option<i64>,
    /// Every problem, each naming its field.
    pub reasons: Vec<String>,
    /// When the API gave the record.
    pub seen_at: Timestamp,
    /// The record's JSON text, whole, as sent; bytes that are no UTF-8 stand as U+FFFD.
    pub record: String,
}

impl Reject {
    /// The reject as one line of JSON, its line end included.
    ///
    /// # Errors
    ///
    /// None that its fields can cause; the serializer's signature has one.
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(format!("{}\n", serde_json::to_string(self)?))
    }
}

/// One answer on its way into rows: its place, its time, and whether its bytes were text.
pub(super) struct Answer<'a> {
    pub(super) place: &'a Place,
    pub(super) seen_at: Timestamp,
    text: Cow<'a, str>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(body: &'a [u8], place: &'a Place, seen_at: Timestamp) -> Self {
        Self { place, seen_at, text: String::from_utf8_lossy(body) }
    }

    /// The answer's text; what was no UTF-8 is U+FFFD.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Why a record of this answer may not be what was sent, if so.
    pub(super) fn damage(&self, record: &str) -> Option<String> {
        let replaced = matches!(self.text, Cow::Owned(_)) && record.contains(char::REPLACEMENT_CHARACTER);
        replaced.then(|| "the record has bytes that are no UTF-8".to_owned())
    }

    /// The reject of one record, counted from the start of the answer.
    pub(super) fn reject(
        &self,
        index: usize,
        record: &str,
        business_id: Option<i64>,
        reasons: Vec<String>,
    ) -> Reject {
        let position = Some(u64::from(self.place.offset) + index as u64);
        Reject { position, business_id, reasons, ..self.reject_whole(record, String::new()) }
    }

    /// The reject of an answer that could not be cut into records.
    pub(super) fn reject_whole(&self, record: &str, reason: String) -> Reject {
        Reject {
            slice: self.place.slice.clone(),
            position: None,
            business_id: None,
            reasons: vec![reason],
            seen_at: self.seen_at,
            record: record.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reject_is_one_line_that_gives_it_back_whole() {
        let record = "{\"name\":\n\"\\ud800\", \"x\":1e999}";
        let place = Place { slice: "filed:2026-11-20".to_owned(), offset: 50 };
        let answer = Answer::new(b"", &place, Timestamp::UNIX_EPOCH);
        let reject = answer.reject(3, record, Some(7), vec!["name cannot be read".to_owned()]);
        let line = reject.line().expect("a line");
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with('\n'));
        assert_eq!(serde_json::from_str::<Reject>(&line).expect("a reject"), reject);
        assert_eq!(reject.position, Some(53));
    }
}
