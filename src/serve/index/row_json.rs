//! Rows → JSON, straight from the columns.

use super::Index;
use super::document_number;
use super::packed_row::Field;
use crate::contract::eastern::day_of_epoch;
use crate::contract::page::Pagination;

impl Index {
    /// A page of summary records.
    pub(crate) fn page_json(&self, rows: &[u32], pagination: &Pagination) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + rows.len() * 420);
        out.extend_from_slice(b"{\"data\":[");
        for (place, row) in rows.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            self.write_summary(*row, &mut out);
            out.push(b'}');
        }
        out.extend_from_slice(b"],\"pagination\":");
        write_value(&mut out, pagination);
        out.push(b'}');
        out
    }

    /// A detail record; `None` when the business was never looked up.
    pub(crate) fn detail_json(&self, row: u32) -> Option<Vec<u8>> {
        let tail = self.detail_of(row)?;
        let fields = tail.strip_prefix('{').unwrap_or(tail);
        let mut out = b"{\"data\":".to_vec();
        self.write_summary(row, &mut out);
        out.push(b',');
        out.extend_from_slice(fields.as_bytes());
        out.push(b'}');
        Some(out)
    }

    /// The fields of a summary record, without the closing brace.
    fn write_summary(&self, row: u32, out: &mut Vec<u8>) {
        let (columns, at) = (&self.columns, row as usize);
        let packed = document_number::unpack(columns.documents[at]);
        let document_number = columns.odd_documents.get(&row).map_or(packed.as_str(), |text| text);
        let (id, industry) = (columns.id(row), columns.code(Field::Industry, row));
        let code = |field| columns.code(field, row);
        write_text(out, "{\"id\":", &id);
        write_text(out, ",\"document_number\":", document_number);
        write_text(out, ",\"name\":", columns.names.get(row));
        write_json(out, ",\"entity_type\":", columns.kinds.json(code(Field::Kind)));
        write_json(out, ",\"company_type\":", columns.company_types.json(row));
        write_json(out, ",\"status\":", columns.statuses.json(row));
        write_day(out, ",\"filed_date\":", columns.filed[at]);
        write_day(out, ",\"dissolved_date\":", columns.dissolved[at]);
        write_json(out, ",\"city\":", columns.cities.json(code(Field::City)));
        write_json(out, ",\"zip\":", columns.zips.json(code(Field::Zip)));
        write_json(out, ",\"county\":", columns.counties.json(code(Field::County)));
        write_json(out, ",\"industry\":{\"sector\":", columns.sectors.json(industry));
        write_json(out, ",\"type\":", columns.industry_types.json(industry));
        write_text(out, "},\"url\":", &columns.url(row, document_number, &id));
    }
}

/// A field whose text is JSON already.
fn write_json(out: &mut Vec<u8>, name: &str, json: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(json);
}

fn write_text(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(name.as_bytes());
    let is_plain = |byte: &u8| *byte >= b' ' && *byte != b'"' && *byte != b'\\';
    if text.as_bytes().iter().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        write_value(out, text);
    }
}

/// A number that is no day of the calendar is null.
fn write_day(out: &mut Vec<u8>, name: &str, day: i32) {
    out.extend_from_slice(name.as_bytes());
    match day_of_epoch(day) {
        Some(day) => out.extend_from_slice(format!("\"{day}\"").as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
}

/// Writing to memory does not fail, and none of our records has a key that is not text.
fn write_value(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    let before = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(before);
        out.extend_from_slice(b"null");
    }
}
