//! The rows of a business: its record as its events changed it, by the rules of the API's records.

use super::event::StateEvent;
use super::record::Record;
use crate::contract::county::county_key;
use crate::import::files::layout::Kind;
use crate::import::rules::effect::entity_type;
use crate::import::rules::industry::Industries;
use crate::import::rules::place::{self, Address, completed};
use crate::import::rules::text::business_id;
use crate::table::{DetailRow, FilingRow, OfficerRow, RecordRow};
use jiff::Timestamp;
use jiff::civil::Date;
use std::cell::RefCell;
use std::collections::HashMap;

/// The `source` of a record from the state's files.
pub const FROM_STATE: &str = "state";
const CORPORATE_PAGE: &str = "https://search.sunbiz.org/Inquiry/CorporationSearch/SearchResultDetail?inquirytype=DocumentNumber&directionType=Initial&searchNameOrder=&aggregateId=&searchTerm=";
const FICTITIOUS_PAGE: &str = "https://dos.sunbiz.org/scripts/ficidet.exe?action=DETREG&docnum=";
const PARTNERSHIP_PAGE: &str = "https://dos.sunbiz.org/scripts/gendet.exe?action=DETREG&docnum=";
/// Cities that are remembered.
const REMEMBERED: usize = 1 << 16;

/// Makes one spelling of a city: from the city, its ZIP code, and whether it is in Florida.
pub type CleanCity = fn(&str, &str, bool) -> String;

/// The rules that a user can replace, and the cities found so far.
pub struct Mapping<'a> {
    industries: &'a Industries,
    clean_city: CleanCity,
    remembered: RefCell<Remembered>,
}

impl<'a> Mapping<'a> {
    /// A mapping that has found no city yet.
    pub fn new(industries: &'a Industries, clean_city: CleanCity) -> Self {
        Self { industries, clean_city, remembered: RefCell::default() }
    }

    /// The name of a city as filed, and its clean spelling.
    fn city(&self, filed: &str, state: &str, zip: &str) -> (String, String) {
        let remembered = &mut *self.remembered.borrow_mut();
        let Remembered { key, cities } = remembered;
        key.clear();
        key.extend([filed, "\n", state, "\n", zip]);
        if let Some(known) = cities.get(key.as_str()) {
            return known.clone();
        }
        if cities.len() >= REMEMBERED {
            cities.clear();
        }
        let city = place::city(filed, state);
        let clean = (self.clean_city)(&city, zip, state == "FL");
        cities.insert(key.clone(), (city.clone(), clean.clone()));
        (city, clean)
    }
}

/// Cities by what is filed, and the key that is looked up.
#[derive(Default)]
struct Remembered {
    key: String,
    cities: HashMap<String, (String, String)>,
}

/// When a business was first seen, and when its rows became as they are.
#[derive(Debug, Clone, Copy)]
pub(in crate::import) struct Seen {
    pub(in crate::import) first: Timestamp,
    pub(in crate::import) filing: Timestamp,
    pub(in crate::import) detail: Timestamp,
    pub(in crate::import) officers: Timestamp,
}

/// The rows of one business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Business {
    /// Its filing.
    pub filing: FilingRow,
    /// Its detail.
    pub detail: DetailRow,
    /// Its officers, sorted by name and title.
    pub officers: Vec<OfficerRow>,
}

/// What events make of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::import) struct Current<'r> {
    pub(in crate::import) name: &'r str,
    pub(in crate::import) principal: &'r Address,
    pub(in crate::import) county: &'r str,
    pub(in crate::import) is_active: bool,
    pub(in crate::import) ended: Option<Date>,
    pub(in crate::import) reason: &'r str,
}

impl<'r> Current<'r> {
    /// A record without events.
    pub(in crate::import) fn of(record: &'r Record) -> Self {
        Self {
            name: &record.name,
            principal: &record.principal,
            county: &record.county,
            is_active: record.status == 'A',
            ended: None,
            reason: "",
        }
    }

    /// Notes when and why the business ended. Only an event newer than the record ends it.
    pub(in crate::import) fn end_by(&mut self, day: Option<Date>, reason: &'static str, is_newer: bool) {
        (self.ended, self.reason) = (day, reason);
        self.is_active = self.is_active && !is_newer;
    }

    /// Notes that the business did not end. Only an event newer than the record makes it active again.
    pub(in crate::import) fn revive(&mut self, is_newer: bool) {
        (self.ended, self.reason) = (None, "");
        self.is_active = self.is_active || is_newer;
    }

    /// Notes the name and the address of an event that is newer than the record.
    pub(in crate::import) fn take_values(&mut self, event: &'r StateEvent) {
        if let Some(name) = event.new_name() {
            self.name = name;
        }
        if let Some(address) = event.new_address() {
            (self.principal, self.county) = (address, &event.county);
        }
    }

    /// When and why the business ended; none of an active one.
    fn end(&self, record: &Record) -> Option<(Option<Date>, &'r str)> {
        if self.is_active {
            return None;
        }
        Some(match (record.kind, self.reason) {
            (Kind::Corporate, "") => (record.last_transaction, "unknown"),
            (Kind::Corporate, reason) => (self.ended, reason),
            (_, "") if record.status == 'E' => (self.ended.or(record.ended), "expired"),
            (_, "") => (self.ended.or(record.ended), "cancelled"),
            (_, reason) => (self.ended.or(record.ended), reason),
        })
    }
}

impl Business {
    /// The same rows, seen at these times.
    pub(in crate::import) fn seen_as(mut self, seen: Seen) -> Self {
        (self.filing.first_seen_at, self.filing.changed_at) = (seen.first, seen.filing);
        self.detail.fetched_at = seen.detail;
        for officer in &mut self.officers {
            officer.fetched_at = seen.officers;
        }
        self
    }
}

impl Mapping<'_> {
    /// The rows of a record, seen at no time.
    pub(in crate::import) fn rows(&self, record: &Record, current: &Current<'_>) -> Business {
        // Those of a record are complete.
        let is_of_record = std::ptr::eq(current.principal, &record.principal);
        let principal = if is_of_record { record.principal.clone() } else { completed(current.principal) };
        let id = business_id(&record.number);
        let filing = self.filing(record, current, &principal, id);
        let officer = |(position, (name, title)): (i32, &(String, String))| OfficerRow {
            business_id: id,
            position,
            name: name.clone(),
            title: title.clone(),
            fetched_at: Timestamp::UNIX_EPOCH,
        };
        let officers: Vec<OfficerRow> = (0..).zip(&record.officers).map(officer).collect();
        Business { detail: detail(record, principal, id, officers.len()), filing, officers }
    }

    fn filing(&self, record: &Record, current: &Current<'_>, principal: &Address, id: i64) -> FilingRow {
        let (entity, company, page) = match record.kind {
            Kind::Fictitious => ("fictitious", "Fictitious name", FICTITIOUS_PAGE),
            Kind::Partnership => ("partnership", "GP", PARTNERSHIP_PAGE),
            _ => {
                let (entity, company) = entity_type(&record.filing_type);
                (entity, company, CORPORATE_PAGE)
            }
        };
        let [_, _, city_filed, state, zip, _] = principal;
        let (city, city_clean) = self.city(city_filed, state, place::zip5(zip));
        let county = place::county_named(current.county).or_else(|| place::county(state, zip, &city));
        let industry = self.industries.of(current.name, entity);
        let end = current.end(record);
        let zip = place::zip5(zip);
        FilingRow {
            business_id: id,
            document_number: record.number.clone(),
            name: current.name.to_owned(),
            entity_type: entity.to_owned(),
            company_type: company.to_owned(),
            status: if end.is_none() { "active" } else { "dissolved" }.to_owned(),
            filed_date: record.filed,
            dissolved_date: end.and_then(|(day, _)| day),
            city_clean,
            city,
            zip: zip.to_owned(),
            county: county.map(str::to_owned),
            county_key: county.map(county_key),
            industry_sector: industry.split('.').next().unwrap_or("").to_owned(),
            industry_type: industry.to_owned(),
            url: format!("{page}{}", record.number),
            source: FROM_STATE.to_owned(),
            listed: end.is_none(),
            first_seen_at: Timestamp::UNIX_EPOCH,
            changed_at: Timestamp::UNIX_EPOCH,
            extra: end.map(|(_, reason)| format!(r#"{{"inactive_reason":"{reason}"}}"#)),
        }
    }
}

fn detail(record: &Record, principal: Address, id: i64, officers: usize) -> DetailRow {
    let [street, street2, city, state, zip, country] = principal;
    let has_mailing = record.mailing.iter().any(|part| !part.is_empty());
    let mailing = if has_mailing { record.mailing.clone().map(Some) } else { Default::default() };
    let [mailing_street, mailing_street2, mailing_city, mailing_state, mailing_zip, mailing_country] =
        mailing;
    DetailRow {
        business_id: id,
        principal_street: street,
        principal_street2: street2,
        principal_city: city,
        principal_state: state,
        principal_zip: zip,
        principal_country: country,
        mailing_street,
        mailing_street2,
        mailing_city,
        mailing_state,
        mailing_zip,
        mailing_country,
        registered_agent_name: record.agent.clone(),
        formation_state: record.formation.clone(),
        last_annual_report_year: record.report_year,
        officer_count: i32::try_from(officers).unwrap_or(i32::MAX),
        license_count: 0,
        fetched_at: Timestamp::UNIX_EPOCH,
        extra: record.more_officers.then(|| r#"{"more_officers":true}"#.to_owned()),
    }
}

/// The record that gives these rows again, of a business without newer events. `row` has what they do not show.
pub(in crate::import) fn record_of(business: &Business, row: &RecordRow) -> Record {
    let kind = Kind::from_name(&row.kind).unwrap_or(Kind::Corporate);
    let (filing, detail) = (&business.filing, &business.detail);
    let principal = detail.principal_address();
    let mailing = detail.mailing_address();
    let parts = |address: crate::contract::business::Address| {
        [address.street, address.street2, address.city, address.state, address.zip, address.country]
    };
    Record {
        kind,
        number: filing.document_number.clone(),
        name: filing.name.clone(),
        filing_type: row.filing_type.clone(),
        status: row.status.chars().next().unwrap_or(' '),
        principal: parts(principal),
        mailing: mailing.map(parts).unwrap_or_default(),
        filed: filing.filed_date,
        last_transaction: row.last_transaction_date,
        formation: detail.formation_state.clone(),
        report_year: detail.last_annual_report_year,
        agent: detail.registered_agent_name.clone(),
        officers: business
            .officers
            .iter()
            .map(|officer| (officer.name.clone(), officer.title.clone()))
            .collect(),
        more_officers: detail.extra.is_some(),
        county: match kind {
            Kind::Fictitious => filing.county.clone().unwrap_or_default(),
            _ => String::new(),
        },
        ended: row.ended_date,
    }
}
