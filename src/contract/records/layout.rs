//! Records of a page that differ in their texts alone: what is around the texts is learned from the first, and only compared in the others.

use super::record_text::{RecordText, SENT};
use std::borrow::Cow;

pub(super) fn without_space(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

/// The first record of a page that begins with its data, where it begins, and where it ends.
pub(super) fn first_record(text: &str) -> Option<(usize, RecordText<'_>, usize)> {
    let mut rest = text;
    for token in ["{", "\"data\"", ":", "["] {
        rest = without_space(rest).strip_prefix(token)?;
    }
    let start = text.len() - without_space(rest).len();
    let mut records = serde_json::Deserializer::from_str(&text[start..]).into_iter();
    let record = records.next()?.ok()?;
    Some((start, record, start + records.byte_offset()))
}

/// What is around the texts of a record.
pub(super) struct Layout<'a> {
    /// What is before each text, in the order sent, and which of [`RecordText::texts`] it is.
    before: [(&'a str, usize); SENT],
    end: &'a str,
}

impl<'a> Layout<'a> {
    /// The layout of a record; none where a text has escapes, or an optional field a value.
    pub(super) fn of(sent: &'a str, record: &RecordText<'a>) -> Option<Self> {
        let mut places = [(0, 0, 0); SENT];
        for (at, text) in record.texts().into_iter().enumerate() {
            let Cow::Borrowed(text) = text else { return None };
            let start = text.as_ptr().addr().checked_sub(sent.as_ptr().addr())?;
            places[at] = (start, start + text.len(), at);
        }
        places.sort_unstable();
        let (mut before, mut last) = ([("", 0); SENT], 0);
        for (place, (start, end, at)) in before.iter_mut().zip(places) {
            let text = sent.get(last..start).filter(|text| text.ends_with('"'))?;
            (*place, last) = ((text, at), end);
        }
        let end = sent.get(last..)?;
        (record.dissolved_date.is_none() && end.starts_with('"')).then_some(Self { before, end })
    }

    /// The texts of a record with this layout, and what is behind it.
    pub(super) fn read<'t>(&self, mut rest: &'t str) -> Option<([&'t str; SENT], &'t str)> {
        let mut texts = [""; SENT];
        for (before, at) in self.before {
            rest = rest.strip_prefix(before)?;
            let is_special = |byte: &u8| matches!(*byte, b'"' | b'\\' | ..0x20);
            let end = rest.as_bytes().iter().position(is_special)?;
            // A text with escapes, or without an end, leaves no quote here.
            (texts[at], rest) = rest.split_at_checked(end)?;
        }
        Some((texts, rest.strip_prefix(self.end)?))
    }
}
