//! Records of the documented form → rows of `filings`, without a copy of their texts.

use super::city::city_clean;
use super::open_values::OpenValues;
use crate::contract::county::{county_key, florida_county};
use crate::contract::records::SummaryText;
use crate::table::{FROM_API, FilingBatch, FilingText, disk_instant, unheld_fields};
use hashbrown::{HashMap, HashSet};
use jiff::Timestamp;

/// Spellings of cities that are remembered, at most.
const MOST_CITIES: usize = 100_000;

/// Reads records, and remembers what was made of values that many share.
#[derive(Debug, Default)]
pub(crate) struct SummaryReader {
    /// The clean name of each city, by ZIP code, whether in Florida, and spelling.
    cities: HashMap<String, String>,
    /// The key of the last city.
    city: String,
    /// Values seen, by their place in [`OpenValues::COLUMNS`].
    values: [HashSet<String>; OpenValues::COLUMNS.len()],
}

impl SummaryReader {
    /// Notes the values of a record whose sets are open.
    pub(crate) fn note(&mut self, summary: &SummaryText<'_>) {
        let county = florida_county(summary.county).unwrap_or("");
        let SummaryText { entity_type, company_type, status, sector, industry_type, .. } = *summary;
        let values = [entity_type, company_type, status, county, sector, industry_type];
        for (seen, value) in self.values.iter_mut().zip(values) {
            if !seen.contains(value) {
                seen.insert(value.to_owned());
            }
        }
    }

    /// The values noted since the last call.
    pub(crate) fn take_values(&mut self) -> OpenValues {
        OpenValues::of(std::mem::take(&mut self.values))
    }

    /// Adds the row of a record.
    pub(crate) fn add(&mut self, summary: &SummaryText<'_>, seen_at: Timestamp, rows: &mut FilingBatch) {
        let county = florida_county(summary.county);
        let seen_at = disk_instant(seen_at);
        rows.push(&FilingText {
            business_id: summary.business_id,
            document_number: summary.document_number,
            name: summary.name,
            entity_type: summary.entity_type,
            company_type: summary.company_type,
            status: summary.status,
            filed_date: summary.filed_date,
            dissolved_date: summary.dissolved_date,
            city: summary.city,
            city_clean: self.clean_city(summary.city, summary.zip, county.is_some()),
            zip: summary.zip,
            county,
            county_key: county.map(county_key).as_deref(),
            industry_sector: summary.sector,
            industry_type: summary.industry_type,
            url: summary.url,
            source: FROM_API,
            listed: true,
            first_seen_at: seen_at,
            changed_at: seen_at,
            extra: unheld_fields(summary.business_id, summary.id, summary.county).as_deref(),
        });
    }

    fn clean_city(&mut self, city: &str, zip: &str, in_florida: bool) -> &str {
        self.city.clear();
        self.city.push_str(zip);
        self.city.push(if in_florida { '\n' } else { '\r' });
        self.city.push_str(city);
        if self.cities.len() >= MOST_CITIES {
            self.cities.clear();
        }
        self.cities.entry_ref(self.city.as_str()).or_insert_with(|| city_clean(city, zip, in_florida))
    }
}
