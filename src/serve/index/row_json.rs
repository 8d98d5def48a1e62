//! Rows as JSON, written from the columns.

use super::columns::{CodedField, Unpacked};
use super::dictionary::json_text;
use super::lookup::Index;
use super::packed_row::Field;
use crate::contract::eastern::day_of_epoch;
use crate::contract::page::Pagination;
use crate::table::TableError;

impl Index {
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
        out.extend_from_slice(json_text(pagination).as_bytes());
        out.push(b'}');
        out
    }

    /// A detail record; `None` when the business was never looked up.
    pub(crate) fn detail_json(&self, row: u32) -> Result<Option<Vec<u8>>, TableError> {
        let Some(tail) = self.detail_of(row)? else { return Ok(None) };
        let fields = tail.strip_prefix('{').unwrap_or(&tail);
        let mut out = b"{\"data\":".to_vec();
        self.write_summary(row, &mut out);
        out.push(b',');
        out.extend_from_slice(fields.as_bytes());
        out.push(b'}');
        Ok(Some(out))
    }

    /// The fields of a summary record, without the closing brace.
    fn write_summary(&self, row: u32, out: &mut Vec<u8>) {
        let (columns, cells, mut buffer) = (&self.columns, &self.columns.uncoded, Unpacked::default());
        let (id, document_number) = (cells.id(row), cells.document_number(row, &mut buffer));
        let text = |coded, field| columns.texts(coded).json(columns.code(field, row));
        write_text(out, "{\"id\":", &id);
        write_text(out, ",\"document_number\":", document_number);
        write_text(out, ",\"name\":", cells.names.get(row));
        write_json(out, ",\"entity_type\":", text(CodedField::EntityType, Field::Kind));
        write_json(out, ",\"company_type\":", text(CodedField::CompanyType, Field::CompanyType));
        write_json(out, ",\"status\":", text(CodedField::Status, Field::Status));
        write_day(out, ",\"filed_date\":", cells.filed[row as usize]);
        write_day(out, ",\"dissolved_date\":", cells.dissolved[row as usize]);
        write_json(out, ",\"city\":", text(CodedField::City, Field::City));
        write_json(out, ",\"zip\":", text(CodedField::Zip, Field::Zip));
        write_json(out, ",\"county\":", text(CodedField::County, Field::County));
        write_json(out, ",\"industry\":{\"sector\":", text(CodedField::Sector, Field::Industry));
        write_json(out, ",\"type\":", text(CodedField::IndustryType, Field::Industry));
        write_text(out, "},\"url\":", &cells.url(row, document_number));
    }
}

/// Writes a field whose value is already JSON.
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
        out.extend_from_slice(json_text(text).as_bytes());
    }
}

/// Writes a day; a number outside the calendar is null.
fn write_day(out: &mut Vec<u8>, name: &str, day: i32) {
    out.extend_from_slice(name.as_bytes());
    match day_of_epoch(day) {
        Some(day) => out.extend_from_slice(format!("\"{day}\"").as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
}
