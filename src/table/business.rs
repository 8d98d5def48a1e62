//! Rows of `filings` and `details`, and the way back to summary and detail records.

use super::Table;
use super::row::{disk_instant, row_columns};
use crate::contract::business::{Address, Detail, Industry, Summary};
use crate::contract::eastern::parse_date;
use jiff::Timestamp;
use jiff::civil::Date;

/// One business, as last observed. The column dictionary says what each field means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the column dictionary has the meaning of each column")]
pub struct FilingRow {
    pub business_id: i64,
    pub id: String,
    pub document_number: String,
    pub name: String,
    pub entity_type: String,
    pub company_type: String,
    pub status: String,
    pub filed_date: Date,
    pub dissolved_date: Option<Date>,
    pub city: String,
    pub zip: String,
    pub county: String,
    pub industry_sector: String,
    pub industry_type: String,
    pub url: String,
    pub listed: bool,
    pub first_seen_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub extra: Option<String>,
}

row_columns!(FilingRow, Table::Filings, {
    business_id, id, document_number, name, entity_type, company_type, status, filed_date, dissolved_date,
    city, zip, county, industry_sector, industry_type, url, listed, first_seen_at, last_seen_at, extra,
});

impl FilingRow {
    /// The row of a record seen at an instant: listed, with nothing extra.
    ///
    /// `None` when the id has no positive integer in its digits, or the dissolution day cannot be read.
    pub fn from_summary(summary: &Summary, seen_at: Timestamp) -> Option<Self> {
        let dissolved_date = match &summary.dissolved_date {
            None => None,
            Some(text) => Some(dissolved_day(text)?),
        };
        let seen_at = disk_instant(seen_at);
        Some(Self {
            business_id: summary.business_id()?,
            id: summary.id.clone(),
            document_number: summary.document_number.to_ascii_uppercase(),
            name: summary.name.clone(),
            entity_type: summary.entity_type.clone(),
            company_type: summary.company_type.clone(),
            status: summary.status.clone(),
            filed_date: summary.filed_date,
            dissolved_date,
            city: summary.city.clone(),
            zip: summary.zip.clone(),
            county: summary.county.clone(),
            industry_sector: summary.industry.sector.clone(),
            industry_type: summary.industry.kind.clone(),
            url: summary.url.clone(),
            listed: true,
            first_seen_at: seen_at,
            last_seen_at: seen_at,
            extra: None,
        })
    }

    /// The summary record of the row; `dissolved_date` in the form `YYYY-MM-DD`.
    pub fn summary(&self) -> Summary {
        Summary {
            id: self.id.clone(),
            document_number: self.document_number.clone(),
            name: self.name.clone(),
            entity_type: self.entity_type.clone(),
            company_type: self.company_type.clone(),
            status: self.status.clone(),
            filed_date: self.filed_date,
            dissolved_date: self.dissolved_date.map(|day| day.to_string()),
            city: self.city.clone(),
            zip: self.zip.clone(),
            county: self.county.clone(),
            industry: Industry { sector: self.industry_sector.clone(), kind: self.industry_type.clone() },
            url: self.url.clone(),
        }
    }
}

/// The day of a set `dissolved_date`: `YYYY-MM-DD`, alone or followed by a time of day after `T` or a space.
///
/// The API document does not show the form; anything else is `None`.
pub fn dissolved_day(text: &str) -> Option<Date> {
    let (day, rest) = text.split_at_checked(10)?;
    match rest.as_bytes() {
        [] | [b'T' | b't' | b' ', b'0'..=b'9', ..] => parse_date(day),
        _ => None,
    }
}

/// What a look-up of one business adds to its filing. The column dictionary says what each field means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the column dictionary has the meaning of each column")]
pub struct DetailRow {
    pub business_id: i64,
    pub principal_street: String,
    pub principal_street2: String,
    pub principal_city: String,
    pub principal_state: String,
    pub principal_zip: String,
    pub principal_country: String,
    pub mailing_street: Option<String>,
    pub mailing_street2: Option<String>,
    pub mailing_city: Option<String>,
    pub mailing_state: Option<String>,
    pub mailing_zip: Option<String>,
    pub mailing_country: Option<String>,
    pub registered_agent_name: String,
    pub formation_state: String,
    pub last_annual_report_year: i32,
    pub officer_count: i32,
    pub license_count: i32,
    pub fetched_at: Timestamp,
    pub extra: Option<String>,
}

row_columns!(DetailRow, Table::Details, {
    business_id, principal_street, principal_street2, principal_city, principal_state, principal_zip,
    principal_country, mailing_street, mailing_street2, mailing_city, mailing_state, mailing_zip,
    mailing_country, registered_agent_name, formation_state, last_annual_report_year, officer_count,
    license_count, fetched_at, extra,
});

impl DetailRow {
    /// The row of a detail record, with nothing extra; `None` when its id has no positive integer.
    pub fn from_detail(detail: &Detail, fetched_at: Timestamp) -> Option<Self> {
        let principal = detail.principal_address.clone();
        let mailing = |part: fn(&Address) -> &String| detail.mailing_address.as_ref().map(part).cloned();
        Some(Self {
            business_id: detail.summary.business_id()?,
            principal_street: principal.street,
            principal_street2: principal.street2,
            principal_city: principal.city,
            principal_state: principal.state,
            principal_zip: principal.zip,
            principal_country: principal.country,
            mailing_street: mailing(|address| &address.street),
            mailing_street2: mailing(|address| &address.street2),
            mailing_city: mailing(|address| &address.city),
            mailing_state: mailing(|address| &address.state),
            mailing_zip: mailing(|address| &address.zip),
            mailing_country: mailing(|address| &address.country),
            registered_agent_name: detail.registered_agent_name.clone(),
            formation_state: detail.formation_state.clone(),
            last_annual_report_year: detail.last_annual_report_year,
            officer_count: detail.officer_count,
            license_count: detail.license_count,
            fetched_at: disk_instant(fetched_at),
            extra: None,
        })
    }

    /// The detail record: the row with the summary of the same business.
    pub fn detail(&self, summary: Summary) -> Detail {
        Detail {
            summary,
            principal_address: self.principal_address(),
            mailing_address: self.mailing_address(),
            registered_agent_name: self.registered_agent_name.clone(),
            formation_state: self.formation_state.clone(),
            last_annual_report_year: self.last_annual_report_year,
            officer_count: self.officer_count,
            license_count: self.license_count,
        }
    }

    /// The principal address.
    pub fn principal_address(&self) -> Address {
        Address {
            street: self.principal_street.clone(),
            street2: self.principal_street2.clone(),
            city: self.principal_city.clone(),
            state: self.principal_state.clone(),
            zip: self.principal_zip.clone(),
            country: self.principal_country.clone(),
        }
    }

    /// The mailing address: `None` when every part is null; a part that is null alone is empty.
    pub fn mailing_address(&self) -> Option<Address> {
        let parts = [
            &self.mailing_street,
            &self.mailing_street2,
            &self.mailing_city,
            &self.mailing_state,
            &self.mailing_zip,
            &self.mailing_country,
        ];
        if parts.iter().all(|part| part.is_none()) {
            return None;
        }
        let [street, street2, city, state, zip, country] = parts.map(|part| part.clone().unwrap_or_default());
        Some(Address { street, street2, city, state, zip, country })
    }
}
