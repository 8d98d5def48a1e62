//! Rows of `filings`, `details` and `officers` from API records, and back.

use super::column::{BUSINESS_ID, EXTRA, FETCHED_AT};
use super::row::{disk_instant, part_of, table_row};
use crate::contract::business::{Address, Detail, Officer, Summary, dissolved_day};
use crate::contract::county::{county_key, florida_county};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Value;

table_row! {
    /// One business, as last read.
    FilingRow of Filings {
        business_id: i64 = BUSINESS_ID,
        document_number: String = "state document number, upper case",
        name: String = "business name as sent",
        entity_type: String = "llc, corporation, partnership, nonprofit, fictitious, trust",
        company_type: String = "short company type label; open set",
        status: String = "business status; open set",
        filed_date: Date = "filing date",
        dissolved_date: Option<Date> = "day of dissolution; null while active",
        city: String = "city as filed; spellings vary",
        city_clean: String = "city in one spelling: in capitals, without punctuation, state and ZIP code; a misspelt Florida city is the one of its ZIP code; empty where the record has none",
        zip: String = "ZIP code as sent",
        county: Option<String> = "county name, such as Miami-Dade; null outside Florida and where it is unknown",
        county_key: Option<String> = "county key in capitals, as in counties; null with county",
        industry_sector: String = "industry sector key",
        industry_type: String = "industry type key, <sector>.<type_name>",
        url: String = "public page of the business",
        source: String = "where the record comes from: api or state",
        listed: bool = "false once a complete reading of its day no longer shows it, or it was read as dissolved",
        first_seen_at: Timestamp = "when a run first saw the business",
        changed_at: Timestamp = "when a run first saw the record as it is now",
        extra: Option<String> = EXTRA,
    }
}

impl FilingRow {
    /// The row of a record seen at an instant: listed, with nothing extra but what [`unheld_fields`] adds, its city in capitals.
    ///
    /// `None` when the id has no positive integer in its digits, or the dissolution day cannot be read.
    pub fn from_summary(summary: &Summary, seen_at: Timestamp) -> Option<Self> {
        let dissolved_date = match &summary.dissolved_date {
            None => None,
            Some(text) => Some(dissolved_day(text)?),
        };
        let (business_id, county) = (summary.business_id()?, florida_county(&summary.county));
        let seen_at = disk_instant(seen_at);
        Some(Self {
            business_id,
            document_number: summary.document_number.to_ascii_uppercase(),
            name: summary.name.clone(),
            entity_type: summary.entity_type.clone(),
            company_type: summary.company_type.clone(),
            status: summary.status.clone(),
            filed_date: summary.filed_date,
            dissolved_date,
            city: summary.city.clone(),
            city_clean: summary.city.to_uppercase(),
            zip: summary.zip.clone(),
            county: county.map(str::to_owned),
            county_key: county.map(county_key),
            industry_sector: summary.industry.sector.clone(),
            industry_type: summary.industry.kind.clone(),
            url: summary.url.clone(),
            source: FROM_API.to_owned(),
            listed: true,
            first_seen_at: seen_at,
            changed_at: seen_at,
            extra: unheld_fields(business_id, &summary.id, &summary.county),
        })
    }
}

/// The `source` of a record that the API sent.
pub const FROM_API: &str = "api";

/// The fields of a record that their columns cannot hold, as a JSON object: an id that is more than its number, and a county that is
/// none of Florida's.
pub fn unheld_fields(business_id: i64, id: &str, county: &str) -> Option<String> {
    let is_unheld = !county.is_empty() && florida_county(county).is_none();
    let id = (id != business_id.to_string()).then_some(("id", id));
    let fields = id.into_iter().chain(is_unheld.then_some(("county", county)));
    let fields: Vec<String> =
        fields.map(|(name, text)| format!("\"{name}\":{}", Value::from(text))).collect();
    (!fields.is_empty()).then(|| format!("{{{}}}", fields.join(",")))
}

table_row! {
    /// What a look-up adds to one filing.
    #[derive(Default)]
    DetailRow of Details {
        business_id: i64 = BUSINESS_ID,
        principal_street: String = "principal address",
        principal_street2: String = "principal address, second line",
        principal_city: String = "principal address, city",
        principal_state: String = "principal address, state",
        principal_zip: String = "principal address, ZIP code",
        principal_country: String = "principal address, country",
        mailing_street: Option<String> = "mailing address; null when there is none",
        mailing_street2: Option<String> = "mailing address, second line",
        mailing_city: Option<String> = "mailing address, city",
        mailing_state: Option<String> = "mailing address, state",
        mailing_zip: Option<String> = "mailing address, ZIP code",
        mailing_country: Option<String> = "mailing address, country",
        registered_agent_name: String = "name of the registered agent",
        formation_state: String = "two-letter code of the state of formation",
        last_annual_report_year: i32 = "year of the last annual report",
        officer_count: i32 = "number of officers",
        license_count: i32 = "number of licenses",
        fetched_at: Timestamp = FETCHED_AT,
        extra: Option<String> = EXTRA,
    }
}

part_of! {
    /// What an answer shows of a detail.
    ShownDetail of DetailRow {
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
        registered_agent_name,
        formation_state,
        last_annual_report_year,
        officer_count,
        license_count,
    }
}

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

table_row! {
    /// One officer of one business.
    #[derive(Default)]
    OfficerRow of Officers {
        business_id: i64 = BUSINESS_ID,
        position: i32 = "place in the API's list, from 0; the list is sorted by name and ends at 25",
        name: String = "name of the officer",
        title: String = "title of the officer",
        fetched_at: Timestamp = FETCHED_AT,
    }
}

part_of! {
    /// What an answer shows of an officer.
    ShownOfficer of OfficerRow {
        name,
        title,
    }
}

impl OfficerRow {
    /// The row of the officer at a position of the API's list, counted from 0.
    pub fn new(business_id: i64, position: i32, officer: &Officer, fetched_at: Timestamp) -> Self {
        let Officer { name, title } = officer.clone();
        Self { business_id, position, name, title, fetched_at: disk_instant(fetched_at) }
    }

    /// The officer record of the row.
    pub fn into_officer(self) -> Officer {
        Officer { name: self.name, title: self.title }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::contract::business::Industry;
    use crate::table::row::tests::assert_round_trip;
    use jiff::civil::date;

    fn summary(business_id: i64, filed_date: Date) -> Summary {
        Summary {
            id: business_id.to_string(),
            document_number: format!("L{business_id:011}"),
            name: format!("ÑANDÚ {business_id} LLC"),
            entity_type: "llc".to_owned(),
            company_type: "LLC".to_owned(),
            status: "active".to_owned(),
            filed_date,
            dissolved_date: None,
            city: "Miami".to_owned(),
            zip: "33101".to_owned(),
            county: "Miami-Dade".to_owned(),
            industry: Industry { sector: "retail".to_owned(), kind: "retail.food".to_owned() },
            url: format!("https://example.com/{business_id}"),
        }
    }

    pub(crate) fn filing(business_id: i64, filed_date: Date, seen_at: Timestamp) -> FilingRow {
        FilingRow::from_summary(&summary(business_id, filed_date), seen_at).expect("a filing")
    }

    fn instant() -> Timestamp {
        "2026-11-20T12:00:00.123456Z".parse().expect("an instant")
    }

    #[test]
    fn filings_round_trip_with_and_without_nulls() {
        let plain = filing(1, date(2026, 11, 20), instant());
        let full = FilingRow {
            business_id: i64::MAX,
            name: String::new(),
            dissolved_date: Some(date(1899, 12, 31)),
            listed: false,
            first_seen_at: Timestamp::UNIX_EPOCH,
            extra: Some(r#"{"a":1}"#.to_owned()),
            ..plain.clone()
        };
        assert_round_trip(&[plain, full]);
    }

    #[test]
    fn a_filing_has_its_number_in_capitals_and_its_dissolution_as_a_day() {
        let dissolved = Summary {
            document_number: "l26000000007".to_owned(),
            dissolved_date: Some("2026-01-02T03:04:05Z".to_owned()),
            ..summary(7, date(2026, 11, 20))
        };
        let row = FilingRow::from_summary(&dissolved, instant()).expect("a filing");
        assert_eq!((row.business_id, row.document_number.as_str()), (7, "L26000000007"));
        assert_eq!(row.dissolved_date, Some(date(2026, 1, 2)));
        let nameless = Summary { id: "fl_".to_owned(), ..dissolved };
        assert_eq!(FilingRow::from_summary(&nameless, instant()), None);
    }

    #[test]
    fn an_id_that_is_more_than_its_number_and_a_county_of_another_state_are_kept_as_sent() {
        let day = date(2026, 11, 20);
        let row = |id: &str, county: &str| {
            let sent = Summary { id: id.to_owned(), county: county.to_owned(), ..summary(7, day) };
            FilingRow::from_summary(&sent, instant()).expect("a filing")
        };
        let plain = row("7", "Miami-Dade");
        assert_eq!(
            (plain.county.as_deref(), plain.county_key.as_deref()),
            (Some("Miami-Dade"), Some("MIAMI-DADE"))
        );
        assert_eq!((plain.extra, row("7", "").county, row("7", "").extra), (None, None, None));
        let odd = row("fl_7", "Ful\"ton");
        assert_eq!((odd.county, odd.county_key), (None, None));
        assert_eq!(odd.extra.as_deref(), Some(r#"{"id":"fl_7","county":"Ful\"ton"}"#));
    }

    #[test]
    fn a_dissolution_day_may_carry_a_time_and_nothing_else() {
        for text in ["2026-02-28", "2026-02-28T00:00:00Z", "2026-02-28 13:00:00"] {
            assert_eq!(dissolved_day(text), Some(date(2026, 2, 28)), "{text}");
        }
        for text in ["", "2026-02-30", "2026-02-28x", "2026-02-28T", "02/28/2026", "2026-02-2é"] {
            assert_eq!(dissolved_day(text), None, "{text}");
        }
    }

    #[test]
    fn details_round_trip_and_return_their_addresses() {
        let part = |word: &str| format!("{word} street");
        let principal = Address {
            street: part("principal"),
            street2: String::new(),
            city: "Miami".to_owned(),
            state: "FL".to_owned(),
            zip: "33101".to_owned(),
            country: "US".to_owned(),
        };
        let detail = Detail {
            summary: summary(7, date(2026, 11, 20)),
            mailing_address: Some(Address { street: part("mailing"), ..principal.clone() }),
            principal_address: principal,
            registered_agent_name: "Ann Agent".to_owned(),
            formation_state: "DE".to_owned(),
            last_annual_report_year: 2026,
            officer_count: 2,
            license_count: 0,
        };
        let with = DetailRow::from_detail(&detail, instant()).expect("a detail");
        assert_eq!(with.principal_address(), detail.principal_address);
        assert_eq!(with.mailing_address(), detail.mailing_address);
        let detail = Detail { mailing_address: None, ..detail };
        let without = DetailRow::from_detail(&detail, instant()).expect("a detail");
        assert_eq!(without.mailing_address(), None);
        let part = DetailRow { mailing_zip: Some("33101".to_owned()), ..without.clone() };
        assert_eq!(part.mailing_address().map(|address| address.zip).as_deref(), Some("33101"));
        assert_round_trip(&[with, without, part]);
    }

    #[test]
    fn officers_round_trip_and_return_their_record() {
        let officer = Officer { name: "DOE, JANE".to_owned(), title: String::new() };
        let row = OfficerRow::new(7, 24, &officer, Timestamp::UNIX_EPOCH);
        assert_round_trip(std::slice::from_ref(&row));
        assert_eq!(row.into_officer(), officer);
    }
}
