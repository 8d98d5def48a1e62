//! One answer as received: text, cut into records, each closed as good or bad. A bad one is kept as sent, with reason and
//! source.

use super::field::{Fields, UnknownFields, extra_text};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Where a record was in the API's answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Target of the request.
    pub target: String,
    /// Rows of the listing before the page.
    pub offset: u32,
}

/// One record that gives no row; a line of `runs/<run_id>/quarantine/*.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Key of the slice, or path of the look-up.
    pub slice: String,
    /// Records of the listing before this one; `None` when the answer could not be cut into records.
    pub position: Option<u64>,
    /// The digits of the service id, when readable.
    pub business_id: Option<i64>,
    /// Every problem, each naming its field.
    pub reasons: Vec<String>,
    /// When the API returned the record.
    pub seen_at: Timestamp,
    /// The record's JSON text as sent; bytes that are not UTF-8 become U+FFFD.
    pub record: String,
}

impl Reject {
    /// The reject as one line of JSON, with its line end.
    pub fn line(&self) -> serde_json::Result<String> {
        Ok(format!("{}\n", serde_json::to_string(self)?))
    }
}

/// One answer on its way to rows: its source, its time, and whether its bytes were text.
pub(super) struct Answer<'a> {
    pub(super) place: &'a Place,
    pub(super) seen_at: Timestamp,
    text: Cow<'a, str>,
}

impl<'a> Answer<'a> {
    pub(super) fn new(body: &'a [u8], place: &'a Place, seen_at: Timestamp) -> Self {
        Self { place, seen_at, text: String::from_utf8_lossy(body) }
    }

    /// The answer's text; bytes that are not UTF-8 become U+FFFD.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Why a record of this answer may differ from what was sent, if so.
    fn damage(&self, record: &str) -> Option<String> {
        let replaced = matches!(self.text, Cow::Owned(_)) && record.contains(char::REPLACEMENT_CHARACTER);
        replaced.then(|| "the record has bytes that are no UTF-8".to_owned())
    }

    /// Reads each record of a page or list, and gives the good ones with their index to `keep`. Returns the unknown fields of
    /// those, and the other records as rejects; a body that is no page or list is one reject.
    pub(super) fn read_page<T>(
        &self,
        read: impl Fn(&RawValue) -> Result<(T, Vec<String>), Bad>,
        mut keep: impl FnMut(usize, T),
    ) -> (UnknownFields, Vec<Reject>) {
        let mut unknown_fields = UnknownFields::new();
        let records: Vec<&RawValue> = match cut(&self.text) {
            Ok(records) => records,
            Err(reason) => return (unknown_fields, vec![self.reject_all(&self.text, reason)]),
        };
        let mut rejects = Vec::new();
        for (index, raw) in records.into_iter().enumerate() {
            match read(raw) {
                Ok((row, unknown)) => {
                    count(&mut unknown_fields, unknown);
                    keep(index, row);
                }
                Err(bad) => rejects.push(self.reject(index, raw.get(), bad.business_id, bad.reasons)),
            }
        }
        (unknown_fields, rejects)
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
        Reject { position, business_id, reasons, ..self.reject_all(record, String::new()) }
    }

    /// The reject of an answer that could not be cut into records.
    pub(super) fn reject_all(&self, record: &str, reason: String) -> Reject {
        Reject {
            slice: self.place.target.clone(),
            position: None,
            business_id: None,
            reasons: vec![reason],
            seen_at: self.seen_at,
            record: record.to_owned(),
        }
    }
}

#[derive(Deserialize)]
struct RawAnswer<T> {
    data: T,
}

/// What an answer has as `data`: its records, or its one record, as raw text.
pub(super) fn cut<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    let answer = serde_json::from_str::<RawAnswer<T>>(text);
    answer.map(|answer| answer.data).map_err(|error| format!("the body is no answer with data: {error}"))
}

/// Why a record gives no row.
pub(super) struct Bad {
    pub(super) business_id: Option<i64>,
    pub(super) reasons: Vec<String>,
}

impl Bad {
    /// A record without a readable field.
    pub(super) fn unread(reason: String) -> Self {
        Self { business_id: None, reasons: vec![reason] }
    }
}

pub(super) struct Unknown {
    pub(super) names: Vec<String>,
    pub(super) extra: Option<String>,
}

/// Ends a record: returns its unknown fields, or why it is bad.
pub(super) fn close(
    answer: &Answer<'_>,
    raw: &RawValue,
    fields: Fields<'_>,
    business_id: Option<i64>,
) -> Result<Unknown, Bad> {
    let read = fields.finish();
    let mut reasons = read.problems;
    reasons.extend(answer.damage(raw.get()));
    if !reasons.is_empty() {
        return Err(Bad { business_id: business_id.filter(|id| *id > 0), reasons });
    }
    let extra = extra_text(&read.unknown);
    Ok(Unknown { names: read.unknown.into_iter().map(|(name, _)| name).collect(), extra })
}

pub(super) fn count(counts: &mut UnknownFields, names: Vec<String>) {
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reject_is_one_line_that_keeps_the_record() {
        let record = "{\"name\":\n\"\\ud800\", \"x\":1e999}";
        let place = Place { target: "filed:2026-11-20".to_owned(), offset: 50 };
        let answer = Answer::new(b"", &place, Timestamp::UNIX_EPOCH);
        let reject = answer.reject(3, record, Some(7), vec!["name cannot be read".to_owned()]);
        let line = reject.line().expect("a line");
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with('\n'));
        assert_eq!(serde_json::from_str::<Reject>(&line).expect("a reject"), reject);
        assert_eq!(reject.position, Some(53));
    }
}
