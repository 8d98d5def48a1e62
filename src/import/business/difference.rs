//! What differs between two states of a business.

use super::rows::Business;
use jiff::civil::Date;

/// Columns of a filing that are compared. Others follow from these, or never change.
const FILING_FIELDS: [&str; 12] = [
    "name",
    "entity_type",
    "company_type",
    "status",
    "filed_date",
    "dissolved_date",
    "city",
    "zip",
    "county",
    "industry_sector",
    "industry_type",
    "extra",
];

/// The rows that a column is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Part {
    Filing = 0,
    Detail = 1,
    Officers = 2,
}

/// The rows that a compared column is in.
pub(in crate::import) fn part_of(field: &str) -> Part {
    match field {
        "officers" => Part::Officers,
        _ if FILING_FIELDS.contains(&field) => Part::Filing,
        _ => Part::Detail,
    }
}

/// A column, and its old and new value.
pub(in crate::import) type Difference = (&'static str, Option<String>, Option<String>);

/// The columns in which two states of a business differ, with both values.
pub(in crate::import) fn differences(old: &Business, new: &Business) -> Vec<Difference> {
    let (of, nf) = (&old.filing, &new.filing);
    let text = |value: &String| Some(value.clone());
    let day = |value: Option<Date>| value.map(|day| day.to_string());
    let flag = |value: &Option<String>| value.as_ref().map(|_| "true".to_owned());
    let (od, nd) = (&old.detail, &new.detail);
    let pairs: [Difference; 29] = [
        ("name", text(&of.name), text(&nf.name)),
        ("entity_type", text(&of.entity_type), text(&nf.entity_type)),
        ("company_type", text(&of.company_type), text(&nf.company_type)),
        ("status", text(&of.status), text(&nf.status)),
        ("filed_date", day(Some(of.filed_date)), day(Some(nf.filed_date))),
        ("dissolved_date", day(of.dissolved_date), day(nf.dissolved_date)),
        ("city", text(&of.city), text(&nf.city)),
        ("zip", text(&of.zip), text(&nf.zip)),
        ("county", of.county.clone(), nf.county.clone()),
        ("industry_sector", text(&of.industry_sector), text(&nf.industry_sector)),
        ("industry_type", text(&of.industry_type), text(&nf.industry_type)),
        ("extra", of.extra.clone(), nf.extra.clone()),
        ("principal_street", text(&od.principal_street), text(&nd.principal_street)),
        ("principal_street2", text(&od.principal_street2), text(&nd.principal_street2)),
        ("principal_city", text(&od.principal_city), text(&nd.principal_city)),
        ("principal_state", text(&od.principal_state), text(&nd.principal_state)),
        ("principal_zip", text(&od.principal_zip), text(&nd.principal_zip)),
        ("principal_country", text(&od.principal_country), text(&nd.principal_country)),
        ("mailing_street", od.mailing_street.clone(), nd.mailing_street.clone()),
        ("mailing_street2", od.mailing_street2.clone(), nd.mailing_street2.clone()),
        ("mailing_city", od.mailing_city.clone(), nd.mailing_city.clone()),
        ("mailing_state", od.mailing_state.clone(), nd.mailing_state.clone()),
        ("mailing_zip", od.mailing_zip.clone(), nd.mailing_zip.clone()),
        ("mailing_country", od.mailing_country.clone(), nd.mailing_country.clone()),
        ("registered_agent_name", text(&od.registered_agent_name), text(&nd.registered_agent_name)),
        ("formation_state", text(&od.formation_state), text(&nd.formation_state)),
        (
            "last_annual_report_year",
            Some(od.last_annual_report_year.to_string()),
            Some(nd.last_annual_report_year.to_string()),
        ),
        ("officers", officer_list(old), officer_list(new)),
        ("more_officers", flag(&od.extra), flag(&nd.extra)),
    ];
    pairs.into_iter().filter(|(_, old, new)| old != new).collect()
}

/// The officers as one text: names with their titles.
fn officer_list(business: &Business) -> Option<String> {
    let named = business.officers.iter().map(|officer| match officer.title.as_str() {
        "" => officer.name.clone(),
        title => format!("{} ({title})", officer.name),
    });
    Some(named.collect::<Vec<_>>().join("; "))
}
