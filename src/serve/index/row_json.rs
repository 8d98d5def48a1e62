//! Rows as JSON, written from the columns.

use super::columns::{CodedField, Unpacked};
use super::dictionary::json_text;
use super::lookup::Index;
use super::packed_row::Field;
use crate::contract::eastern::day_of_epoch;
use crate::contract::page::Pagination;
use crate::table::TableError;
use std::io::Write as _;

impl Index {
    pub(crate) fn page_json(&self, rows: &[u32], pagination: &Pagination) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + rows.len() * 420);
        out.extend_from_slice(b"{\"data\":[");
        let mut days = Default::default();
        for (place, row) in rows.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            self.write_summary(*row, &mut days, &mut out);
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
        self.write_summary(row, &mut Default::default(), &mut out);
        out.push(b',');
        out.extend_from_slice(fields.as_bytes());
        out.push(b'}');
        Ok(Some(out))
    }

    /// The fields of a summary record, without the closing brace.
    fn write_summary(&self, row: u32, [filed, dissolved]: &mut [LastDay; 2], out: &mut Vec<u8>) {
        let (columns, cells, mut buffer) = (&self.columns, &self.columns.uncoded, Unpacked::default());
        let document_number = cells.document_number(row, &mut buffer);
        let text = |coded, field| columns.texts(coded).json(columns.code(field, row));
        match cells.id_text(row) {
            Some(id) => write_text(out, "{\"id\":", [id, ""]),
            // Writing to a Vec cannot fail.
            None => drop(write!(out, "{{\"id\":\"{}\"", cells.ids[row as usize])),
        }
        write_text(out, ",\"document_number\":", [document_number, ""]);
        write_text(out, ",\"name\":", [cells.names.get(row), ""]);
        write_json(out, ",\"entity_type\":", text(CodedField::EntityType, Field::Kind));
        write_json(out, ",\"company_type\":", text(CodedField::CompanyType, Field::CompanyType));
        write_json(out, ",\"status\":", text(CodedField::Status, Field::Status));
        write_json(out, ",\"filed_date\":", filed.json(cells.filed[row as usize]));
        write_json(out, ",\"dissolved_date\":", dissolved.json(cells.dissolved[row as usize]));
        write_json(out, ",\"city\":", text(CodedField::City, Field::City));
        write_json(out, ",\"zip\":", text(CodedField::Zip, Field::Zip));
        write_json(out, ",\"county\":", text(CodedField::County, Field::County));
        write_json(out, ",\"industry\":{\"sector\":", text(CodedField::Sector, Field::Industry));
        write_json(out, ",\"type\":", text(CodedField::IndustryType, Field::Industry));
        write_text(out, "},\"url\":", cells.url(row, document_number));
    }
}

/// The day that was written last, which most neighbours on a page have too.
#[derive(Default)]
struct LastDay {
    day: Option<i32>,
    json: String,
}

impl LastDay {
    /// A day as JSON; null for a number outside the calendar.
    fn json(&mut self, day: i32) -> &[u8] {
        if self.day.replace(day) != Some(day) {
            self.json = day_of_epoch(day).map_or_else(|| "null".to_owned(), |day| format!("\"{day}\""));
        }
        self.json.as_bytes()
    }
}

/// Writes a field whose value is already JSON.
fn write_json(out: &mut Vec<u8>, name: &str, json: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(json);
}

/// Writes a field whose value is a text in two parts.
fn write_text(out: &mut Vec<u8>, name: &str, parts: [&str; 2]) {
    out.extend_from_slice(name.as_bytes());
    // All bytes at once: a search that ends early is one byte after another.
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    let has_special = |part: &&str| part.bytes().fold(false, |found, byte| found | is_special(byte));
    if parts.iter().any(has_special) {
        out.extend_from_slice(json_text(&parts.concat()).as_bytes());
        return;
    }
    out.push(b'"');
    parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    out.push(b'"');
}
