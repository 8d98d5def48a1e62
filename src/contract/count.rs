//! Counts: per day, per county, statewide.
//!
//! Source: API document, "Daily filing count record", "County record", "Stats record".

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A number as people read it: with a comma every three digits.
pub(crate) fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Businesses filed on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct DailyCount {
    pub date: Date,
    pub count: i64,
}

/// Counts of one county.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct County {
    /// Key in capitals, for the county path.
    pub key: String,
    pub name: String,
    pub filings_last_7_days: i64,
    pub filings_last_30_days: i64,
    /// Filings of the 30 days before the last 30.
    pub filings_previous_30_days: i64,
    pub active_businesses: i64,
}

/// Statewide filing counts of four windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct StatsFilings {
    pub last_7_days: i64,
    pub last_30_days: i64,
    /// The 30 days before the last 30.
    pub previous_30_days: i64,
    pub last_365_days: i64,
}

/// Counts of one month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonthlyCount {
    /// `YYYY-MM`.
    pub month: String,
    /// All types.
    pub total: i64,
    /// True for the current month while it lasts.
    pub partial: bool,
    /// By the six types and `other`.
    pub by_type: BTreeMap<String, i64>,
}

/// Count of one business type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct TypeCount {
    #[serde(rename = "type")]
    pub kind: String,
    pub n: i64,
}

/// `data` of the stats endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the API document")]
pub struct Stats {
    /// All businesses of the register.
    pub businesses_total: i64,
    pub latest_filing_date: Date,
    /// ISO 8601 timestamp in UTC.
    pub updated_at: String,
    pub filings: StatsFilings,
    pub monthly: Vec<MonthlyCount>,
    pub type_split_30d: Vec<TypeCount>,
}
