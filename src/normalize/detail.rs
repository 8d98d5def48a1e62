//! Look-ups of a business → rows of `filings`, `details` and `officers`.

use super::answer::{Answer, Place, Reject, count};
use super::business::filing_fields;
use super::field::{Fields, UnknownFields, extra_text};
use super::open_values::OpenValues;
use crate::contract::business::Officer;
use crate::table::{DetailRow, FilingRow, OfficerRow, disk_instant};
use jiff::Timestamp;
use serde_json::value::RawValue;

/// One look-up of a business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalizedDetail {
    /// Its summary fields. Unknown fields of a detail are in the detail's row, and a merge keeps those of the listing.
    pub filing: FilingRow,
    /// The fields that only a look-up returns.
    pub detail: DetailRow,
    /// Unknown fields of the record.
    pub unknown_fields: UnknownFields,
    /// Values of the record in columns whose sets are open.
    pub open_values: OpenValues,
}

/// The rows of a look-up of one business.
///
/// # Errors
///
/// The record as a reject, also when the body has no `data`, or when it is the record of another business.
pub fn normalize_detail(
    body: &[u8],
    business_id: i64,
    fetched_at: Timestamp,
    place: &Place,
) -> Result<NormalizedDetail, Box<Reject>> {
    let answer = Answer::new(body, place, fetched_at);
    let raw: &RawValue = answer.data()?;
    let ((filing, mut detail), unknown) = answer.read_record(0, raw, |fields| {
        let filing = filing_fields(fields, fetched_at);
        let detail = detail_fields(fields, filing.business_id, fetched_at);
        (Some(filing.business_id), (filing, detail))
    })?;
    if filing.business_id != business_id {
        let reason = format!("id is {}, must be {business_id}", filing.business_id);
        return Err(Box::new(answer.reject(0, raw.get(), Some(filing.business_id), vec![reason])));
    }
    detail.extra = extra_text(&unknown);
    let (mut unknown_fields, mut open_values) = (UnknownFields::new(), OpenValues::default());
    count(&mut unknown_fields, &unknown);
    open_values.note(&filing);
    Ok(NormalizedDetail { filing, detail, unknown_fields, open_values })
}

const PARTS: [&str; 6] = ["street", "street2", "city", "state", "zip", "country"];

fn detail_fields(fields: &mut Fields<'_>, business_id: i64, fetched_at: Timestamp) -> DetailRow {
    let principal = fields.object("principal_address", |address| PARTS.map(|part| address.text(part)));
    let [
        principal_street,
        principal_street2,
        principal_city,
        principal_state,
        principal_zip,
        principal_country,
    ] = principal.unwrap_or_default();
    // Its fields are not documented: text in the fields of an address is kept there, everything else goes to `extra`.
    let mailing =
        fields.object_or_null("mailing_address", |address| PARTS.map(|part| address.text_if_any(part)));
    let [mailing_street, mailing_street2, mailing_city, mailing_state, mailing_zip, mailing_country] =
        mailing.unwrap_or_default();
    DetailRow {
        business_id,
        principal_street,
        principal_street2,
        principal_city,
        principal_state,
        principal_zip,
        principal_country,
        mailing_street,
        mailing_street2,
        mailing_city,
        mailing_state,
        mailing_zip,
        mailing_country,
        registered_agent_name: fields.text("registered_agent_name"),
        formation_state: fields.text("formation_state"),
        last_annual_report_year: fields.whole_number("last_annual_report_year"),
        officer_count: fields.whole_number("officer_count"),
        license_count: fields.whole_number("license_count"),
        fetched_at: disk_instant(fetched_at),
        extra: None,
    }
}

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
    let mut rows = Vec::new();
    let (unknown_fields, mut rejects) = answer.read_page(
        |fields| (None, Officer { name: fields.text("name"), title: fields.text("title") }),
        |index, officer, _| {
            let position = i32::try_from(index).unwrap_or(i32::MAX);
            rows.push(OfficerRow::new(business_id, position, &officer, fetched_at));
        },
    );
    rejects.iter_mut().for_each(|reject| reject.business_id = Some(business_id));
    NormalizedOfficers { rows, rejects, unknown_fields }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::business::tests::{instant, place, record, with, without};
    use serde_json::{Value, json};

    fn detail_record() -> Value {
        let address = json!({
            "street": "1 Main St", "street2": "", "city": "Miami", "state": "FL", "zip": "33101", "country": "US",
        });
        let mut record = record(7);
        for (name, value) in [
            ("principal_address", address),
            ("mailing_address", Value::Null),
            ("registered_agent_name", json!("Ann Agent")),
            ("formation_state", json!("FL")),
            ("last_annual_report_year", json!(2026)),
            ("officer_count", json!(2)),
            ("license_count", json!(0)),
        ] {
            record[name] = value;
        }
        record
    }

    fn detail(record: &Value) -> Result<NormalizedDetail, Box<Reject>> {
        normalize_detail(json!({ "data": record }).to_string().as_bytes(), 7, instant(), &place())
    }

    #[test]
    fn a_look_up_becomes_a_filing_and_a_detail() {
        let found = detail(&with(detail_record(), "/seal", json!(true))).expect("a detail");
        assert_eq!((found.filing.business_id, found.detail.business_id), (7, 7));
        assert_eq!(found.detail.extra, Some(r#"{"seal":true}"#.to_owned()));
        assert_eq!(found.detail.principal_street, "1 Main St");
        assert_eq!(found.detail.mailing_street, None);
        let sent = serde_json::from_value(detail_record()).expect("a detail record");
        let row = DetailRow::from_detail(&sent, instant()).expect("a row");
        assert_eq!(detail(&detail_record()).expect("a detail").detail, row);
    }

    #[test]
    fn a_mailing_address_with_any_fields_is_kept() {
        let mailing = json!({"street": "2 Oak St", "zip": 33101, "city": null, "line1": "x"});
        let row = detail(&with(detail_record(), "/mailing_address", mailing)).expect("a detail").detail;
        assert_eq!(
            (row.mailing_street.as_deref(), row.mailing_zip, row.mailing_city),
            (Some("2 Oak St"), None, None)
        );
        let extra = r#"{"mailing_address.zip":33101,"mailing_address.line1":"x"}"#;
        assert_eq!(row.extra.as_deref(), Some(extra));
        let reject =
            detail(&with(detail_record(), "/mailing_address", json!("2 Oak St"))).expect_err("no address");
        assert_eq!(reject.reasons, ["mailing_address is text, must be an object"]);
    }

    #[test]
    fn a_bad_look_up_is_a_reject() {
        let text = |pointer: &str, value: Value| {
            detail(&with(detail_record(), pointer, value)).expect_err("a reject").reasons.concat()
        };
        assert_eq!(
            text("/officer_count", json!(2.5)),
            "officer_count is 2.5, must be a whole number of 32 bits"
        );
        assert_eq!(
            text("/license_count", Value::Null),
            "license_count is null, must be a whole number of 32 bits"
        );
        assert_eq!(text("/principal_address/zip", json!(1)), "principal_address.zip is 1, must be text");
        let missing = detail(&without(detail_record(), "mailing_address")).expect_err("a reject");
        assert_eq!(
            (missing.business_id, missing.reasons),
            (Some(7), vec!["mailing_address is missing".to_owned()])
        );
        assert_eq!(text("/id", json!("8")), "id is 8, must be 7", "the record of another business");
        assert_eq!(normalize_detail(b"[]", 7, instant(), &place()).expect_err("no answer").position, None);
    }

    #[test]
    fn officers_keep_their_position_when_another_record_is_bad() {
        let body = br#"{"data":[{"name":"A","title":"P"},{"name":"B"},{"name":"C","title":"","x":1}]}"#;
        let place = Place { target: "/v1/fl/businesses/7/officers".to_owned(), offset: 0 };
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
