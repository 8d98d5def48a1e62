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
