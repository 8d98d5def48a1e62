//! What differs between two states of a business.

use super::rows::Business;
use jiff::civil::Date;

/// The rows that a column is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Part {
    Filing = 0,
    Detail = 1,
    Officers = 2,
}

/// The rows that a column is in, the column, and its old and new value.
pub(in crate::import) type Difference = (Part, &'static str, Option<String>, Option<String>);

/// The columns in which two states of a business differ.
pub(in crate::import) fn differences(old: &Business, new: &Business) -> Vec<Difference> {
    let both = compared(old).into_iter().zip(compared(new));
    let pairs = both.map(|((part, field, old), (.., new))| (part, field, old, new));
    pairs.filter(|(.., old, new)| old != new).collect()
}

/// The columns that are compared, with the rows that they are in. Others follow from these, or never change.
fn compared(business: &Business) -> [(Part, &'static str, Option<String>); 29] {
    use Part::{Detail, Filing, Officers};
    let text = |value: &String| Some(value.clone());
    let day = |value: Option<Date>| value.map(|day| day.to_string());
    let (filing, detail) = (&business.filing, &business.detail);
    [
        (Filing, "name", text(&filing.name)),
        (Filing, "entity_type", text(&filing.entity_type)),
        (Filing, "company_type", text(&filing.company_type)),
        (Filing, "status", text(&filing.status)),
        (Filing, "filed_date", day(Some(filing.filed_date))),
        (Filing, "dissolved_date", day(filing.dissolved_date)),
        (Filing, "city", text(&filing.city)),
        (Filing, "zip", text(&filing.zip)),
        (Filing, "county", filing.county.clone()),
        (Filing, "industry_sector", text(&filing.industry_sector)),
        (Filing, "industry_type", text(&filing.industry_type)),
        (Filing, "extra", filing.extra.clone()),
        (Detail, "principal_street", text(&detail.principal_street)),
        (Detail, "principal_street2", text(&detail.principal_street2)),
        (Detail, "principal_city", text(&detail.principal_city)),
        (Detail, "principal_state", text(&detail.principal_state)),
        (Detail, "principal_zip", text(&detail.principal_zip)),
        (Detail, "principal_country", text(&detail.principal_country)),
        (Detail, "mailing_street", detail.mailing_street.clone()),
        (Detail, "mailing_street2", detail.mailing_street2.clone()),
        (Detail, "mailing_city", detail.mailing_city.clone()),
        (Detail, "mailing_state", detail.mailing_state.clone()),
        (Detail, "mailing_zip", detail.mailing_zip.clone()),
        (Detail, "mailing_country", detail.mailing_country.clone()),
        (Detail, "registered_agent_name", text(&detail.registered_agent_name)),
        (Detail, "formation_state", text(&detail.formation_state)),
        (Detail, "last_annual_report_year", Some(detail.last_annual_report_year.to_string())),
        (Officers, "officers", officer_list(business)),
        (Detail, "more_officers", detail.extra.as_ref().map(|_| "true".to_owned())),
    ]
}

/// The officers as one text: names with their titles.
fn officer_list(business: &Business) -> Option<String> {
    let named = business.officers.iter().map(|officer| match officer.title.as_str() {
        "" => officer.name.clone(),
        title => format!("{} ({title})", officer.name),
    });
    Some(named.collect::<Vec<_>>().join("; "))
}
