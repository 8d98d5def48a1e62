//! What a look-up adds to a summary, as JSON.

use super::dictionary::json_text;
use crate::contract::business::{Address, Officer};
use crate::table::DetailRow;
use serde::Serialize;

/// Officers of a business that are shown at most.
///
/// Source: API document, "GET /v1/fl/businesses/{id}/officers".
pub(super) const MAX_OFFICERS: usize = 25;

/// What a look-up adds to a summary, in the order of the API document.
#[derive(Debug, Serialize)]
struct DetailTail<'a> {
    principal_address: Address,
    mailing_address: Option<Address>,
    registered_agent_name: &'a str,
    formation_state: &'a str,
    last_annual_report_year: i32,
    officer_count: i32,
    license_count: i32,
}

/// What a look-up adds to a summary, as a JSON object.
pub(super) fn detail_text(row: &DetailRow) -> String {
    json_text(&DetailTail {
        principal_address: row.principal_address(),
        mailing_address: row.mailing_address(),
        registered_agent_name: &row.registered_agent_name,
        formation_state: &row.formation_state,
        last_annual_report_year: row.last_annual_report_year,
        officer_count: row.officer_count,
        license_count: row.license_count,
    })
}

/// Officers, sorted by name, as a JSON array; the first 25 are shown.
pub(super) fn officers_text<'a>(sorted: impl Iterator<Item = &'a Officer>) -> String {
    json_text(&sorted.take(MAX_OFFICERS).collect::<Vec<_>>())
}
