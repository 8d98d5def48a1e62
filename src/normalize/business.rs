//! Summary and detail records → rows of `filings` and `details`.

use super::field::{Fields, extra_text, shown_text};
use super::reject::Answer;
use super::{OpenValues, Place, Reject, UnknownFields};
use crate::contract::business::business_id;
use crate::contract::eastern::parse_date;
use crate::table::{DetailRow, FilingRow, disk_instant, dissolved_day};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The records of one page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NormalizedPage {
    /// Good records, in the order of the page.
    pub rows: Vec<FilingRow>,
    /// The other records, in the order of the page.
    pub rejects: Vec<Reject>,
    /// Unknown fields of the good records.
    pub unknown_fields: UnknownFields,
    /// Values of the good records in columns whose sets are open.
    pub open_values: OpenValues,
}

/// One look-up of a business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalizedDetail {
    /// Its summary fields. `extra` is null: unknown fields of a detail stand in the detail's row, and a merge keeps
    /// those of the listing.
    pub filing: FilingRow,
    /// What only a look-up gives.
    pub detail: DetailRow,
    /// Unknown fields of the record.
    pub unknown_fields: UnknownFields,
    /// Values of the record in columns whose sets are open.
    pub open_values: OpenValues,
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

/// Rows and rejects of a page of summary records.
///
/// As many rows and rejects together as the page has records; a body that is no page is one reject.
pub fn normalize_page(body: &[u8], seen_at: Timestamp, place: &Place) -> NormalizedPage {
    let answer = Answer::new(body, place, seen_at);
    let mut page = NormalizedPage::default();
    let records = match cut_page(answer.text()) {
        Ok(records) => records,
        Err(reason) => {
            page.rejects.push(answer.reject_whole(answer.text(), reason));
            return page;
        }
    };
    for (index, raw) in records.into_iter().enumerate() {
        match read_filing(&answer, raw) {
            Ok((row, unknown)) => {
                page.open_values.note(&row);
                count(&mut page.unknown_fields, unknown);
                page.rows.push(row);
            }
            Err(bad) => page.rejects.push(answer.reject(index, raw.get(), bad.business_id, bad.reasons)),
        }
    }
    page
}

/// The rows of a look-up of one business.
///
/// # Errors
///
/// The record as a reject, also when the body is no answer with `data`.
pub fn normalize_detail(
    body: &[u8],
    fetched_at: Timestamp,
    place: &Place,
) -> Result<NormalizedDetail, Box<Reject>> {
    let answer = Answer::new(body, place, fetched_at);
    let raw = serde_json::from_str::<RawAnswer<'_>>(answer.text())
        .map_err(|error| Box::new(answer.reject_whole(answer.text(), not_an_answer(&error))))?
        .data;
    read_detail(&answer, raw)
        .map_err(|bad| Box::new(answer.reject(0, raw.get(), bad.business_id, bad.reasons)))
}

/// The records of a page or list, as raw text.
pub(super) fn cut_page(text: &str) -> Result<Vec<&RawValue>, String> {
    serde_json::from_str::<RawPage<'_>>(text).map(|page| page.data).map_err(|error| not_an_answer(&error))
}

/// Counts unknown fields by name.
pub(super) fn count(counts: &mut UnknownFields, names: Vec<String>) {
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
}

fn not_an_answer(error: &serde_json::Error) -> String {
    format!("the body is no answer with data: {error}")
}

struct Bad {
    business_id: Option<i64>,
    reasons: Vec<String>,
}

impl Bad {
    fn unread(reason: String) -> Self {
        Self { business_id: None, reasons: vec![reason] }
    }
}

fn read_filing(answer: &Answer<'_>, raw: &RawValue) -> Result<(FilingRow, Vec<String>), Bad> {
    let mut fields = Fields::new(raw).map_err(Bad::unread)?;
    let mut row = filing_fields(&mut fields, answer.seen_at);
    let unknown = close(answer, raw, fields, row.business_id)?;
    row.extra = unknown.extra;
    Ok((row, unknown.names))
}

fn read_detail(answer: &Answer<'_>, raw: &RawValue) -> Result<NormalizedDetail, Bad> {
    let mut fields = Fields::new(raw).map_err(Bad::unread)?;
    let filing = filing_fields(&mut fields, answer.seen_at);
    let mut detail = detail_fields(&mut fields, filing.business_id, answer.seen_at);
    let unknown = close(answer, raw, fields, filing.business_id)?;
    detail.extra = unknown.extra;
    let (mut unknown_fields, mut open_values) = (UnknownFields::new(), OpenValues::default());
    count(&mut unknown_fields, unknown.names);
    open_values.note(&filing);
    Ok(NormalizedDetail { filing, detail, unknown_fields, open_values })
}

struct Unknown {
    names: Vec<String>,
    extra: Option<String>,
}

/// The unknown fields of a record without problems.
fn close(answer: &Answer<'_>, raw: &RawValue, fields: Fields<'_>, business_id: i64) -> Result<Unknown, Bad> {
    let read = fields.finish();
    let mut reasons = read.problems;
    reasons.extend(answer.damage(raw.get()));
    if !reasons.is_empty() {
        return Err(Bad { business_id: Some(business_id).filter(|id| *id > 0), reasons });
    }
    let extra = extra_text(&read.unknown);
    Ok(Unknown { names: read.unknown.into_iter().map(|(name, _)| name).collect(), extra })
}

fn filing_fields(fields: &mut Fields<'_>, seen_at: Timestamp) -> FilingRow {
    let (business_id, id) = service_id(fields);
    let industry = fields.object("industry", |industry| (industry.text("sector"), industry.text("type")));
    let (industry_sector, industry_type) = industry.unwrap_or_default();
    let seen_at = disk_instant(seen_at);
    FilingRow {
        business_id,
        id,
        document_number: document_number(fields),
        name: fields.text("name"),
        entity_type: fields.text("entity_type"),
        company_type: fields.text("company_type"),
        status: fields.text("status"),
        filed_date: filed_date(fields),
        dissolved_date: dissolved_date(fields),
        city: fields.text("city"),
        zip: fields.text("zip"),
        county: fields.text("county"),
        industry_sector,
        industry_type,
        url: fields.text("url"),
        listed: true,
        first_seen_at: seen_at,
        last_seen_at: seen_at,
        extra: None,
    }
}

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
    // Its fields are not documented: those of an address are taken where they are text, the rest goes to `extra`.
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

/// The fields of an address.
const PARTS: [&str; 6] = ["street", "street2", "city", "state", "zip", "country"];

/// The id's integer and the id; 0 for the integer after a problem.
fn service_id(fields: &mut Fields<'_>) -> (i64, String) {
    let Some(id) = fields.checked_text("id") else { return (0, String::new()) };
    let number = business_id(&id).unwrap_or_else(|| {
        let problem = format!("is {:?}, whose digits form no positive integer of 64 bits", shown_text(&id));
        fields.problem("id", problem);
        0
    });
    (number, id)
}

fn document_number(fields: &mut Fields<'_>) -> String {
    let Some(number) = fields.checked_text("document_number") else { return String::new() };
    let fits = (6..=12).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !fits {
        let problem = format!("is {:?}, must be 6 to 12 letters or digits", shown_text(&number));
        fields.problem("document_number", problem);
    }
    number.to_ascii_uppercase()
}

/// The filing date; the calendar's day zero after a problem.
fn filed_date(fields: &mut Fields<'_>) -> Date {
    let text = fields.checked_text("filed_date");
    let day = text.as_deref().and_then(parse_date);
    if let (Some(text), None) = (&text, day) {
        let problem = format!("is {:?}, must be a day of the form YYYY-MM-DD", shown_text(text));
        fields.problem("filed_date", problem);
    }
    day.unwrap_or(Date::ZERO)
}

fn dissolved_date(fields: &mut Fields<'_>) -> Option<Date> {
    let text = fields.text_or_null("dissolved_date")?;
    let day = dissolved_day(&text);
    if day.is_none() {
        let problem = format!("is {:?}, must be null or start with a day YYYY-MM-DD", shown_text(&text));
        fields.problem("dissolved_date", problem);
    }
    day
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn place() -> Place {
        Place { slice: "filed:2026-11-20".to_owned(), offset: 100 }
    }

    fn instant() -> Timestamp {
        "2026-11-20T12:00:00.123456Z".parse().expect("an instant")
    }

    fn record(id: u32) -> Value {
        json!({
            "id": format!("fl_{id}"), "document_number": "l26000000001", "name": " ÑANDÚ  LLC ",
            "entity_type": "llc", "company_type": "LLC", "status": "active", "filed_date": "2026-11-20",
            "dissolved_date": null, "city": "Miami", "zip": "33101", "county": "Miami-Dade",
            "industry": {"sector": "retail", "type": "retail.food"}, "url": "https://example.com/1",
        })
    }

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

    fn with(mut record: Value, pointer: &str, value: Value) -> Value {
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        record.pointer_mut(parent).expect("its parent")[name] = value;
        record
    }

    fn without(mut record: Value, name: &str) -> Value {
        record.as_object_mut().expect("an object").remove(name);
        record
    }

    fn page(records: &[String]) -> NormalizedPage {
        let body = format!(r#"{{"data":[{}],"pagination":{{"limit":50}}}}"#, records.join(","));
        normalize_page(body.as_bytes(), instant(), &place())
    }

    fn reasons(record: &str) -> Vec<String> {
        let page = page(&[record.to_owned()]);
        assert_eq!((page.rows.len(), page.rejects.len()), (0, 1), "{record}");
        assert_eq!(page.rejects[0].record, record);
        page.rejects[0].reasons.clone()
    }

    #[test]
    fn a_good_record_becomes_a_row_with_its_texts_as_sent() {
        let page = page(&[record(41).to_string()]);
        assert_eq!(page.rejects, []);
        let row = &page.rows[0];
        assert_eq!((row.business_id, row.id.as_str()), (41, "fl_41"));
        assert_eq!((row.document_number.as_str(), row.name.as_str()), ("L26000000001", " ÑANDÚ  LLC "));
        assert_eq!((row.filed_date, row.dissolved_date), (date(2026, 11, 20), None));
        assert_eq!((row.industry_sector.as_str(), row.industry_type.as_str()), ("retail", "retail.food"));
        assert_eq!((row.listed, row.first_seen_at, row.last_seen_at), (true, instant(), instant()));
        assert_eq!(row.extra, None);
        assert!(page.open_values.contains("county", "Miami-Dade"));
        assert!(page.unknown_fields.is_empty());
        let summary = serde_json::from_value(record(41)).expect("a summary");
        assert_eq!(FilingRow::from_summary(&summary, instant()).as_ref(), Some(row));
    }

    #[test]
    fn unknown_fields_are_kept_as_sent_and_counted() {
        let odd = r#"{"deep":[1.0,1e999,"\ud800"]}"#;
        let text = with(record(1), "/industry/naics", json!(44)).to_string();
        let text = format!(r#"{{"zz":{odd},"aa":null,{}"#, &text[1..]);
        let page = page(&[text.clone(), text, record(2).to_string()]);
        assert_eq!(page.rejects, []);
        let extra = format!(r#"{{"zz":{odd},"aa":null,"industry.naics":44}}"#);
        assert_eq!(page.rows[1].extra, Some(extra));
        let counted = [("aa".to_owned(), 2), ("industry.naics".to_owned(), 2), ("zz".to_owned(), 2)];
        assert_eq!(page.unknown_fields, counted.into());
    }

    #[test]
    fn a_bad_field_is_named_with_what_it_is_and_what_it_must_be() {
        let bad = |pointer: &str, value: Value| {
            let found = reasons(&with(record(1), pointer, value).to_string());
            assert_eq!(found.len(), 1, "{found:?}");
            found.concat()
        };
        assert_eq!(bad("/zip", json!(33101)), "zip is 33101, must be text");
        assert_eq!(bad("/name", Value::Null), "name is null, must be text");
        assert_eq!(
            bad("/filed_date", json!("2026-02-30")),
            r#"filed_date is "2026-02-30", must be a day of the form YYYY-MM-DD"#
        );
        assert!(bad("/filed_date", json!("2026-11-20T00:00:00Z")).starts_with("filed_date is"));
        assert!(bad("/dissolved_date", json!("long ago")).starts_with("dissolved_date is \"long ago\""));
        assert!(bad("/dissolved_date", json!(0)).starts_with("dissolved_date is 0, must be text"));
        for number in ["", "L2600", "L260000000001", "L26-000000", "L2600000é"] {
            assert!(bad("/document_number", json!(number)).ends_with("must be 6 to 12 letters or digits"));
        }
        for id in ["", "fl_", "0", "99999999999999999999"] {
            assert!(bad("/id", json!(id)).ends_with("digits form no positive integer of 64 bits"));
        }
        assert_eq!(bad("/id", json!(41)), "id is 41, must be text");
        assert_eq!(bad("/industry", json!("retail")), "industry is text, must be an object");
        assert_eq!(bad("/industry/type", json!([])), "industry.type is [], must be text");
        assert!(bad("/name", json!(["x".repeat(500)])).len() < 300);
        for field in record(1).as_object().expect("an object").keys() {
            let found = reasons(&without(record(1), field).to_string());
            assert_eq!(found, [format!("{field} is missing")]);
        }
    }

    #[test]
    fn every_problem_of_a_record_is_told_and_its_id_with_them() {
        let text = with(without(record(9), "zip"), "/city", json!(1)).to_string();
        let reject = page(&[record(8).to_string(), text]).rejects.remove(0);
        assert_eq!(reject.reasons, ["city is 1, must be text", "zip is missing"]);
        assert_eq!((reject.business_id, reject.position), (Some(9), Some(101)));
        assert_eq!((reject.slice.as_str(), reject.seen_at), ("filed:2026-11-20", instant()));
    }

    #[test]
    fn records_that_json_readers_trip_over_are_rejected_alone() {
        let good = record(1).to_string();
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let bad = [
            good.replacen("{", r#"{"id":"fl_2","#, 1),
            good.replace(r#""sector":"#, r#""sector":"x","sector":"#),
            good.replace("Miami-Dade", r"\ud800"),
            good.replace(r#""33101""#, "1e999"),
            good.replace(r#""33101""#, &"9".repeat(400)),
            good.replace(r#""33101""#, &deep),
            deep.clone(),
            r#"{"\ud800":1}"#.to_owned(),
            "null".to_owned(),
            r#""text""#.to_owned(),
            "-0".to_owned(),
            "{}".to_owned(),
        ];
        for text in &bad {
            let page = page(&[good.clone(), text.clone(), good.clone()]);
            let told = &text[..text.len().min(80)];
            assert_eq!((page.rows.len(), page.rejects.len()), (2, 1), "{told}");
            assert_eq!(&page.rejects[0].record, text, "{told}");
        }
        assert!(reasons(&bad[0])[0].contains("field id is sent twice"));
        let deep_unknown = format!(r#"{{"deep":{deep},{}"#, &good[1..]);
        assert_eq!(page(&[deep_unknown]).rows.len(), 1);
    }

    #[test]
    fn bytes_that_are_no_text_cost_their_record_alone() {
        let bad = record(2).to_string().replace("Miami-Dade", "Miami!Dade");
        let body = format!(r#"{{"data":[{},{bad}]}}"#, record(1));
        let bytes: Vec<u8> = body.bytes().map(|byte| if byte == b'!' { 0xff } else { byte }).collect();
        let page = normalize_page(&bytes, instant(), &place());
        assert_eq!((page.rows.len(), page.rejects.len()), (1, 1));
        assert_eq!(page.rejects[0].reasons, ["the record has bytes that are no UTF-8"]);
    }

    #[test]
    fn a_body_that_is_no_page_is_one_reject_with_the_whole_body() {
        for body in
            ["", "<html>", r#"{"data":{}}"#, r#"{"dat":[]}"#, r#"{"data":[{}"#, r#"{"data":[],"data":[]}"#]
        {
            let page = normalize_page(body.as_bytes(), instant(), &place());
            assert_eq!((page.rows.len(), page.rejects.len()), (0, 1), "{body}");
            assert_eq!((page.rejects[0].record.as_str(), page.rejects[0].position), (body, None));
        }
        assert_eq!(page(&[]), NormalizedPage::default());
    }

    #[test]
    fn values_never_seen_are_kept_and_can_be_told() {
        let known = page(&[record(1).to_string()]).open_values;
        let page = page(&[record(1).to_string(), with(record(2), "/status", json!("asleep")).to_string()]);
        let new = page.open_values.unseen_in(&known);
        let told: Vec<_> = new.iter().map(|(column, values)| (column, values.len())).collect();
        assert_eq!((told, new.contains("status", "asleep")), (vec![("status", 1)], true));
        assert!(known.unseen_in(&page.open_values).is_empty());
    }

    fn detail(record: &Value) -> Result<NormalizedDetail, Box<Reject>> {
        normalize_detail(json!({ "data": record }).to_string().as_bytes(), instant(), &place())
    }

    #[test]
    fn a_look_up_becomes_a_filing_and_a_detail() {
        let found = detail(&with(detail_record(), "/seal", json!(true))).expect("a detail");
        assert_eq!((found.filing.business_id, found.detail.business_id), (7, 7));
        assert_eq!((found.filing.extra, found.detail.extra), (None, Some(r#"{"seal":true}"#.to_owned())));
        assert_eq!(found.detail.principal_street, "1 Main St");
        assert_eq!(found.detail.mailing_street, None);
        let sent = serde_json::from_value(detail_record()).expect("a detail record");
        let row = DetailRow::from_detail(&sent, instant()).expect("a row");
        assert_eq!(detail(&detail_record()).expect("a detail").detail, row);
    }

    #[test]
    fn a_mailing_address_of_any_fields_is_kept() {
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
        assert_eq!(normalize_detail(b"[]", instant(), &place()).expect_err("no answer").position, None);
    }

    /// Any JSON, and records with one part of them replaced by any JSON.
    fn any_record() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,14}".prop_map(Value::from),
            "[0-9]{4}-[0-9]{2}-[0-9]{2}".prop_map(Value::from),
        ];
        let value = leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".{0,6}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        let names: Vec<String> = record(1).as_object().expect("an object").keys().cloned().collect();
        let changed = (prop::sample::select(names), value.clone())
            .prop_map(|(name, value)| with(record(1), &format!("/{name}"), value));
        prop_oneof![2 => value, 4 => changed, 1 => Just(record(1))]
    }

    proptest! {
        #[test]
        fn every_record_is_a_row_or_a_reject(records in prop::collection::vec(any_record(), 0..12)) {
            let texts: Vec<String> = records.iter().map(Value::to_string).collect();
            let page = page(&texts);
            prop_assert_eq!(page.rows.len() + page.rejects.len(), records.len());
            for reject in &page.rejects {
                prop_assert!(texts.contains(&reject.record));
                prop_assert!(!reject.reasons.is_empty());
            }
            for row in &page.rows {
                prop_assert!(row.business_id > 0);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..200), cut in 0..600_usize) {
            let _ = normalize_page(&body, instant(), &place());
            let mut page = json!({"data": [record(1), record(2)]}).to_string().into_bytes();
            page.truncate(cut);
            page.extend(&body);
            let _ = normalize_page(&page, instant(), &place());
            let _ = normalize_detail(&page, instant(), &place());
        }
    }
}
