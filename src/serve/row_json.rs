//! Rows → JSON, straight from the columns.

use super::column::from_epoch_day;
use super::index::{Index, NO_DAY};
use crate::contract::page::Pagination;

impl Index {
    /// A page of summary records.
    pub(super) fn page_json(&self, rows: &[u32], pagination: &Pagination) -> Vec<u8> {
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
    pub(super) fn detail_json(&self, row: u32) -> Option<Vec<u8>> {
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
        out.extend_from_slice(b"{\"id\":");
        match columns.odd_ids.get(&row) {
            Some(id) => write_value(out, id),
            None => out.extend_from_slice(format!("\"{}\"", columns.ids[at]).as_bytes()),
        }
        for (name, text) in [
            (",\"document_number\":", columns.document_numbers.get(row)),
            (",\"name\":", columns.names.get(row)),
            (",\"entity_type\":", columns.entity_types.get(row)),
            (",\"company_type\":", columns.company_types.get(row)),
            (",\"status\":", columns.statuses.get(row)),
        ] {
            write_field(out, name, text);
        }
        write_day(out, ",\"filed_date\":", columns.filed[at]);
        write_day(out, ",\"dissolved_date\":", columns.dissolved[at]);
        for (name, text) in [
            (",\"city\":", columns.cities.get(row)),
            (",\"zip\":", columns.zips.get(row)),
            (",\"county\":", columns.counties.get(row)),
            (",\"industry\":{\"sector\":", columns.sectors.get(row)),
            (",\"type\":", columns.industry_types.get(row)),
            ("},\"url\":", columns.urls.get(row)),
        ] {
            write_field(out, name, text);
        }
    }
}

fn write_field(out: &mut Vec<u8>, name: &str, text: &str) {
    out.extend_from_slice(name.as_bytes());
    write_value(out, text);
}

fn write_day(out: &mut Vec<u8>, name: &str, day: i32) {
    out.extend_from_slice(name.as_bytes());
    if day == NO_DAY {
        out.extend_from_slice(b"null");
    } else {
        out.extend_from_slice(format!("\"{}\"", from_epoch_day(day)).as_bytes());
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
