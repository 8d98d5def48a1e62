//! Details and officers of the businesses that were looked up.

use super::error::LoadError;
use super::files::each_row;
use crate::contract::business::Officer;
use crate::serve::index::IndexBuilder;
use crate::serve::index::builder::DetailTail;
use crate::table::{DetailRow, OfficerRow};
use std::path::Path;

/// Adds the details of each business that was looked up.
pub(super) fn load_details(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    each_row(snapshot, |row: DetailRow| {
        let (principal, mailing) = (row.principal_address(), row.mailing_address());
        let tail = DetailTail {
            principal_address: &principal,
            mailing_address: mailing.as_ref(),
            registered_agent_name: &row.registered_agent_name,
            formation_state: &row.formation_state,
            last_annual_report_year: row.last_annual_report_year,
            officer_count: row.officer_count,
            license_count: row.license_count,
        };
        builder.push_tail(row.business_id, &tail);
    })
}

/// Adds the officers of each business that has any.
pub(super) fn load_officers(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    let mut officers: Vec<(i64, Officer)> = Vec::new();
    each_row(snapshot, |row: OfficerRow| officers.push((row.business_id, row.into_officer())))?;
    officers.sort();
    for group in officers.chunk_by(|a, b| a.0 == b.0) {
        let of_business: Vec<Officer> = group.iter().map(|(_, officer)| officer.clone()).collect();
        builder.push_officers(group[0].0, &of_business);
    }
    Ok(())
}
