//! Summary records → rows of `filings`.

use super::answer::{Answer, Place, Reject};
use super::city::city_clean;
use super::field::{Fields, UnknownFields, extra_text};
use super::open_values::OpenValues;
use crate::contract::business::{business_id, dissolved_day};
use crate::contract::county::{county_key, florida_county};
use crate::contract::eastern::parse_date;
use crate::contract::id::DocumentNumber;
use crate::contract::query::quoted;
use crate::table::{FROM_API, FilingRow, disk_instant, unheld_fields};
use jiff::Timestamp;
use jiff::civil::Date;

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

/// Rows and rejects of a page of summary records.
///
/// Rows and rejects together are the page's records; a body that is not a page is one reject.
pub fn normalize_page(body: &[u8], seen_at: Timestamp, place: &Place) -> NormalizedPage {
    let answer = Answer::new(body, place, seen_at);
    let mut page = NormalizedPage::default();
    (page.unknown_fields, page.rejects) = answer.read_page(
        |fields| {
            let row = filing_fields(fields, seen_at);
            (Some(row.business_id), row)
        },
        |_, mut row, unknown| {
            row.extra = joined(row.extra, extra_text(unknown));
            page.open_values.note(&row);
            page.rows.push(row);
        },
    );
    page
}

/// Two JSON objects as one.
fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{},{}", one.strip_suffix('}')?, other.strip_prefix('{')?)),
        (one, other) => one.or(other),
    }
}

/// The row of the summary fields; problems are noted in `fields`.
pub(super) fn filing_fields(fields: &mut Fields<'_>, seen_at: Timestamp) -> FilingRow {
    let (business_id, id) = service_id(fields);
    let sent_county = fields.text("county");
    let (city, zip, county) = (fields.text("city"), fields.text("zip"), florida_county(&sent_county));
    let industry = fields.object("industry", |industry| (industry.text("sector"), industry.text("type")));
    let (industry_sector, industry_type) = industry.unwrap_or_default();
    let seen_at = disk_instant(seen_at);
    FilingRow {
        business_id,
        document_number: document_number(fields),
        name: fields.text("name"),
        entity_type: fields.text("entity_type"),
        company_type: fields.text("company_type"),
        status: fields.text("status"),
        filed_date: filed_date(fields),
        dissolved_date: dissolved_date(fields),
        city_clean: city_clean(&city, &zip, county.is_some()),
        city,
        zip,
        county: county.map(str::to_owned),
        county_key: county.map(county_key),
        industry_sector,
        industry_type,
        url: fields.text("url"),
        source: FROM_API.to_owned(),
        listed: true,
        first_seen_at: seen_at,
        changed_at: seen_at,
        extra: unheld_fields(business_id, &id, &sent_county),
    }
}

/// What `text`, the value of a field, means; a problem where `parse` does not understand it.
fn parsed<T>(
    fields: &mut Fields<'_>,
    name: &str,
    text: Option<String>,
    parse: impl FnOnce(&str) -> Option<T>,
    rule: &str,
) -> Option<T> {
    let text = text?;
    let value = parse(&text);
    if value.is_none() {
        fields.problem(name, format!("is {}, {rule}", quoted(&text)));
    }
    value
}

/// The id's integer and the id; 0 for the integer after a problem.
fn service_id(fields: &mut Fields<'_>) -> (i64, String) {
    let text = fields.checked_text("id");
    let parse = |id: &str| Some((business_id(id)?, id.to_owned()));
    parsed(fields, "id", text, parse, "whose digits form no positive integer of 64 bits").unwrap_or_default()
}

/// The document number in upper case; empty after a problem.
fn document_number(fields: &mut Fields<'_>) -> String {
    let text = fields.checked_text("document_number");
    let rule = "must be 6 to 12 letters or digits";
    let number = parsed(fields, "document_number", text, DocumentNumber::parse, rule);
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// The filing date; day zero of the calendar after a problem.
fn filed_date(fields: &mut Fields<'_>) -> Date {
    let text = fields.checked_text("filed_date");
    let rule = "must be a day of the form YYYY-MM-DD";
    parsed(fields, "filed_date", text, parse_date, rule).unwrap_or(Date::ZERO)
}

fn dissolved_date(fields: &mut Fields<'_>) -> Option<Date> {
    let text = fields.text_or_null("dissolved_date");
    let rule = "must be null or start with a day YYYY-MM-DD";
    parsed(fields, "dissolved_date", text, dissolved_day, rule)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use jiff::civil::date;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    pub(crate) fn place() -> Place {
        Place { target: "filed:2026-11-20".to_owned(), offset: 100 }
    }

    pub(crate) fn instant() -> Timestamp {
        "2026-11-20T12:00:00.123456Z".parse().expect("an instant")
    }

    pub(crate) fn record(id: u32) -> Value {
        json!({
            "id": format!("fl_{id}"), "document_number": "l26000000001", "name": " ÑANDÚ  LLC ",
            "entity_type": "llc", "company_type": "LLC", "status": "active", "filed_date": "2026-11-20",
            "dissolved_date": null, "city": "Miami", "zip": "33101", "county": "Miami-Dade",
            "industry": {"sector": "retail", "type": "retail.food"}, "url": "https://example.com/1",
        })
    }

    pub(crate) fn with(mut record: Value, pointer: &str, value: Value) -> Value {
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
        record.pointer_mut(parent).expect("its parent")[name] = value;
        record
    }

    pub(crate) fn without(mut record: Value, name: &str) -> Value {
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
        assert_eq!(
            (row.business_id, row.county.as_deref(), row.county_key.as_deref()),
            (41, Some("Miami-Dade"), Some("MIAMI-DADE"))
        );
        assert_eq!((row.document_number.as_str(), row.name.as_str()), ("L26000000001", " ÑANDÚ  LLC "));
        assert_eq!((row.filed_date, row.dissolved_date), (date(2026, 11, 20), None));
        assert_eq!((row.industry_sector.as_str(), row.industry_type.as_str()), ("retail", "retail.food"));
        assert_eq!((row.listed, row.first_seen_at, row.changed_at), (true, instant(), instant()));
        assert_eq!(row.extra.as_deref(), Some(r#"{"id":"fl_41"}"#));
        assert!(page.open_values.contains("county", "Miami-Dade"));
        assert!(page.unknown_fields.is_empty());
        let summary = serde_json::from_value(record(41)).expect("a summary");
        assert_eq!(row.city_clean, "MIAMI");
        assert_eq!(FilingRow::from_summary(&summary, instant()).as_ref(), Some(row));
    }

    #[test]
    fn unknown_fields_are_kept_as_sent_and_counted() {
        let odd = r#"{"deep":[1.0,1e999,"\ud800"]}"#;
        let text = with(record(1), "/industry/naics", json!(44)).to_string();
        let text = format!(r#"{{"zz":{odd},"aa":null,{}"#, &text[1..]);
        let page = page(&[text.clone(), text, record(2).to_string()]);
        assert_eq!(page.rejects, []);
        let extra = format!(r#"{{"id":"fl_1","zz":{odd},"aa":null,"industry.naics":44}}"#);
        assert_eq!(page.rows[1].extra, Some(extra));
        let counted = [("aa".to_owned(), 2), ("industry.naics".to_owned(), 2), ("zz".to_owned(), 2)];
        assert_eq!(page.unknown_fields, counted.into());
    }

    #[test]
    fn a_bad_field_is_named_with_its_value_and_its_rule() {
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
    fn every_problem_of_a_record_is_listed_with_its_id() {
        let text = with(without(record(9), "zip"), "/city", json!(1)).to_string();
        let reject = page(&[record(8).to_string(), text]).rejects.remove(0);
        assert_eq!(reject.reasons, ["city is 1, must be text", "zip is missing"]);
        assert_eq!((reject.business_id, reject.position), (Some(9), Some(101)));
        assert_eq!((reject.slice.as_str(), reject.seen_at), ("filed:2026-11-20", instant()));
    }

    #[test]
    fn a_record_that_breaks_json_readers_is_rejected_alone() {
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
            let problem = &text[..text.len().min(80)];
            assert_eq!((page.rows.len(), page.rejects.len()), (2, 1), "{problem}");
            assert_eq!(&page.rejects[0].record, text, "{problem}");
        }
        assert!(reasons(&bad[0])[0].contains("field id is sent twice"));
        let deep_unknown = format!(r#"{{"deep":{deep},{}"#, &good[1..]);
        assert_eq!(page(&[deep_unknown]).rows.len(), 1);
    }

    #[test]
    fn bytes_that_are_not_text_reject_only_their_record() {
        let bad = record(2).to_string().replace("Miami-Dade", "Miami!Dade");
        let body = format!(r#"{{"data":[{},{bad}]}}"#, record(1));
        let bytes: Vec<u8> = body.bytes().map(|byte| if byte == b'!' { 0xff } else { byte }).collect();
        let page = normalize_page(&bytes, instant(), &place());
        assert_eq!((page.rows.len(), page.rejects.len()), (1, 1));
        assert_eq!(page.rejects[0].reasons, ["the record has bytes that are no UTF-8"]);
    }

    #[test]
    fn a_body_that_is_not_a_page_is_one_reject_with_all_of_the_body() {
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
    fn new_values_are_kept_and_can_be_listed() {
        let known = page(&[record(1).to_string()]).open_values;
        let page = page(&[record(1).to_string(), with(record(2), "/status", json!("asleep")).to_string()]);
        let new = page.open_values.unseen_in(&known);
        let problem: Vec<_> = new.iter().map(|(column, values)| (column, values.len())).collect();
        assert_eq!((problem, new.contains("status", "asleep")), (vec![("status", 1)], true));
        assert_eq!(known.unseen_in(&page.open_values), OpenValues::default());
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
            let _ = crate::normalize::detail::normalize_detail(&page, 7, instant(), &place());
        }
    }
}
