//! One answer as received: text, cut into records, each closed as good or bad.

use super::field::UnknownFields;
use super::field::{Fields, extra_text};
use super::reject::{Place, Reject};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

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
        Reject { position, business_id, reasons, ..self.reject_all(record, String::new()) }
    }

    /// The reject of an answer that could not be cut into records.
    pub(super) fn reject_all(&self, record: &str, reason: String) -> Reject {
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

#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawAnswer<'a> {
    #[serde(borrow)]
    data: &'a RawValue,
}

/// The records of a page or list, as raw text.
pub(super) fn cut_page(text: &str) -> Result<Vec<&RawValue>, String> {
    serde_json::from_str::<RawPage<'_>>(text).map(|page| page.data).map_err(|error| not_an_answer(&error))
}

/// The one record of an answer, as raw text.
pub(super) fn cut_record(text: &str) -> Result<&RawValue, String> {
    serde_json::from_str::<RawAnswer<'_>>(text)
        .map(|answer| answer.data)
        .map_err(|error| not_an_answer(&error))
}

fn not_an_answer(error: &serde_json::Error) -> String {
    format!("the body is no answer with data: {error}")
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

/// The unknown fields of a good record.
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

/// Counts unknown fields by name.
pub(super) fn count(counts: &mut UnknownFields, names: Vec<String>) {
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
}
