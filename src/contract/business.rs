//! Records of one business: summary, detail, officer.
//!
//! Source: API document, "Resources and their fields".

use super::eastern::parse_date;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Status of a record that listings return by default (Business summary record).
pub const ACTIVE: &str = "active";

/// Sector and type of a business.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct Industry {
    pub sector: String,
    /// `<sector>.<type_name>`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Summary record of a listing. Every field is required; texts are kept as sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct Summary {
    /// Service id; its digits form a positive integer.
    pub id: String,
    /// State document number, 6 to 12 letters or digits.
    pub document_number: String,
    pub name: String,
    /// One of the six types; kept as text.
    pub entity_type: String,
    /// Short label of the company type; an open set.
    pub company_type: String,
    /// Business status; an open set.
    pub status: String,
    pub filed_date: Date,
    /// Null for an active business; its form is not documented, so it is kept as text.
    pub dissolved_date: Option<String>,
    pub city: String,
    pub zip: String,
    /// County name; may be empty for an address outside Florida.
    pub county: String,
    pub industry: Industry,
    /// Public page of the business.
    pub url: String,
}

impl Summary {
    /// The digits of `id` as an integer, or `None` when they form none.
    pub fn business_id(&self) -> Option<i64> {
        business_id(&self.id)
    }
}

/// The positive integer that the digits of a service id form.
///
/// Source: API document, field `id` of the summary record.
pub fn business_id(id: &str) -> Option<i64> {
    let mut digits = id.bytes().filter(u8::is_ascii_digit).map(|digit| i64::from(digit - b'0'));
    let number = digits.try_fold(0_i64, |number, digit| number.checked_mul(10)?.checked_add(digit));
    number.filter(|number| *number > 0)
}

/// The day of a set `dissolved_date`: `YYYY-MM-DD`, alone or before a time of day that begins with `T` or a space.
///
/// The API document does not show the form; anything else is `None`.
pub fn dissolved_day(text: &str) -> Option<Date> {
    let (day, rest) = text.split_at_checked(10)?;
    match rest.as_bytes() {
        [] | [b'T' | b't' | b' ', b'0'..=b'9', ..] => parse_date(day),
        _ => None,
    }
}

/// A postal address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names are the postal words")]
pub struct Address {
    pub street: String,
    pub street2: String,
    pub city: String,
    pub state: String,
    pub zip: String,
    pub country: String,
}

/// Detail record: a summary, and fields that only a look-up returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct Detail {
    #[serde(flatten)]
    pub summary: Summary,
    pub principal_address: Address,
    /// Mailing address; its fields are not documented, so those of an address are expected.
    pub mailing_address: Option<Address>,
    pub registered_agent_name: String,
    /// Two-letter code of the state of formation.
    pub formation_state: String,
    pub last_annual_report_year: i32,
    pub officer_count: i32,
    pub license_count: i32,
}

/// An officer: name and title, never contact data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct Officer {
    pub name: String,
    /// Title code or words.
    pub title: String,
}
