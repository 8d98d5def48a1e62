//! Officer records → rows of `officers`.

use super::answer::{Answer, Bad, close, count, cut_page};
use super::field::Fields;
use super::field::UnknownFields;
use super::reject::{Place, Reject};
use crate::contract::business::Officer;
use crate::table::OfficerRow;
use jiff::Timestamp;
use serde_json::value::RawValue;

/// The officers of one business.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NormalizedOfficers {
    /// Good records, in the order of the list; `position` is their index in it.
    pub rows: Vec<OfficerRow>,
    /// The other records, in the order of the list.
    pub rejects: Vec<Reject>,
    /// Unknown fields of the good records. The table has no column for them; the raw answer keeps them.
    pub unknown_fields: UnknownFields,
}

/// Rows and rejects of the officers of a business.
///
/// Rows and rejects together are the list's records; a body that is not a list is one reject.
pub fn normalize_officers(
    body: &[u8],
    business_id: i64,
    fetched_at: Timestamp,
    place: &Place,
) -> NormalizedOfficers {
    let answer = Answer::new(body, place, fetched_at);
    let mut officers = NormalizedOfficers::default();
    let records = match cut_page(answer.text()) {
        Ok(records) => records,
        Err(reason) => {
            let reject = answer.reject_all(answer.text(), reason);
            officers.rejects.push(Reject { business_id: Some(business_id), ..reject });
            return officers;
        }
    };
    for (index, raw) in records.into_iter().enumerate() {
        match read_officer(&answer, raw) {
            Ok((officer, unknown)) => {
                let position = i32::try_from(index).unwrap_or(i32::MAX);
                count(&mut officers.unknown_fields, unknown);
                officers.rows.push(OfficerRow::new(business_id, position, &officer, fetched_at));
            }
            Err(bad) => {
                officers.rejects.push(answer.reject(index, raw.get(), Some(business_id), bad.reasons));
            }
        }
    }
    officers
}

fn read_officer(answer: &Answer<'_>, raw: &RawValue) -> Result<(Officer, Vec<String>), Bad> {
    let mut fields = Fields::new(raw).map_err(Bad::unread)?;
    let officer = Officer { name: fields.text("name"), title: fields.text("title") };
    let unknown = close(answer, raw, fields, None)?;
    Ok((officer, unknown.names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn officers_keep_their_position_when_another_record_is_bad() {
        let body = br#"{"data":[{"name":"A","title":"P"},{"name":"B"},{"name":"C","title":"","x":1}]}"#;
        let place = Place { slice: "/v1/fl/businesses/7/officers".to_owned(), offset: 0 };
        let officers = normalize_officers(body, 7, Timestamp::UNIX_EPOCH, &place);
        let rows: Vec<_> = officers.rows.iter().map(|row| (row.position, row.name.as_str())).collect();
        assert_eq!(rows, [(0, "A"), (2, "C")]);
        assert_eq!(officers.rejects[0].reasons, ["title is missing"]);
        assert_eq!((officers.rejects[0].business_id, officers.rejects[0].position), (Some(7), Some(1)));
        assert_eq!(officers.unknown_fields, [("x".to_owned(), 1)].into());
        let broken = normalize_officers(b"", 7, Timestamp::UNIX_EPOCH, &place);
        assert_eq!((broken.rows.len(), broken.rejects.len()), (0, 1));
    }
}
