//! One answer as received: text, cut into records, each closed as good or bad. A bad one is kept as sent, with reason and
//! source.

use super::field::{Fields, UnknownField, UnknownFields};
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

/// One answer on its way to rows: its source, its time, and whether its bytes were text.
pub(super) struct Answer<'a> {
    place: &'a Place,
    seen_at: Timestamp,
    /// Bytes that are not UTF-8 became U+FFFD.
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct RawAnswer<T> {
    data: T,
}

impl<'a> Answer<'a> {
    pub(super) fn new(body: &'a [u8], place: &'a Place, seen_at: Timestamp) -> Self {
        Self { place, seen_at, text: String::from_utf8_lossy(body) }
    }

    /// What the answer has as `data`: its records, or its one record, as raw text. A body without it is one reject.
    pub(super) fn data<'t, T: Deserialize<'t>>(&'t self) -> Result<T, Box<Reject>> {
        let answer = serde_json::from_str::<RawAnswer<T>>(&self.text);
        answer.map(|answer| answer.data).map_err(|error| {
            let reason = format!("the body is no answer with data: {error}");
            Box::new(self.reject_all(&self.text, vec![reason]))
        })
    }

    /// Reads each record of a page or list, and gives the good ones with their index and unknown fields to `keep`. Returns the unknown
    /// fields of those, and the other records as rejects; a body that is no page or list is one reject.
    pub(super) fn read_page<T>(
        &self,
        read: impl Fn(&mut Fields<'_>) -> (Option<i64>, T),
        mut keep: impl FnMut(usize, T, &[UnknownField<'_>]),
    ) -> (UnknownFields, Vec<Reject>) {
        let (mut unknown_fields, mut rejects) = (UnknownFields::new(), Vec::new());
        let records: Vec<&RawValue> = match self.data() {
            Ok(records) => records,
            Err(reject) => return (unknown_fields, vec![*reject]),
        };
        for (index, raw) in records.into_iter().enumerate() {
            match self.read_record(index, raw, &read) {
                Ok((row, unknown)) => {
                    count(&mut unknown_fields, &unknown);
                    keep(index, row, &unknown);
                }
                Err(reject) => rejects.push(*reject),
            }
        }
        (unknown_fields, rejects)
    }

    /// Reads one record by `read`, which also returns the id of the business where the record has one. Returns the unknown fields too.
    pub(super) fn read_record<'r, T>(
        &self,
        index: usize,
        raw: &'r RawValue,
        read: impl FnOnce(&mut Fields<'r>) -> (Option<i64>, T),
    ) -> Result<(T, Vec<UnknownField<'r>>), Box<Reject>> {
        let rejected = |id, reasons| Box::new(self.reject(index, raw.get(), id, reasons));
        let mut fields = Fields::new(raw).map_err(|reason| rejected(None, vec![reason]))?;
        let (business_id, row) = read(&mut fields);
        let (unknown, mut reasons) = fields.finish();
        reasons.extend(self.damage(raw.get()));
        if reasons.is_empty() {
            Ok((row, unknown))
        } else {
            Err(rejected(business_id.filter(|id| *id > 0), reasons))
        }
    }

    /// Why a record of this answer may differ from what was sent, if so.
    fn damage(&self, record: &str) -> Option<String> {
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
        Reject { position, business_id, ..self.reject_all(record, reasons) }
    }

    /// The reject of an answer that could not be cut into records.
    fn reject_all(&self, record: &str, reasons: Vec<String>) -> Reject {
        Reject {
            slice: self.place.target.clone(),
            position: None,
            business_id: None,
            reasons,
            seen_at: self.seen_at,
            record: record.to_owned(),
        }
    }
}

pub(super) fn count(counts: &mut UnknownFields, unknown: &[UnknownField<'_>]) {
    for (name, _) in unknown {
        *counts.entry(name.clone()).or_default() += 1;
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
        let line = serde_json::to_string(&reject).expect("a line");
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Reject>(&line).expect("a reject"), reject);
        assert_eq!(reject.position, Some(53));
    }
}
