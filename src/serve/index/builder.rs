//! Rows in any order → an index, sorted newest first.

use super::column::{CodedColumn, NarrowCodes};
use super::counts::Tally;
use super::dictionary::Dictionary;
use super::name_order::NameOrder;
use super::packed_row::{Layout, flag};
use super::row_buffer::{Coded, FilingRow, Gathered, ODD_DOCUMENT};
use super::row_hash::RowTable;
use super::{Attached, Columns, CountyName, Index, ShownColumn};
use crate::contract::business::{Address, Detail, Officer, Summary};
use crate::contract::county::{FLORIDA_COUNTIES, county_key};
use crate::contract::eastern::{epoch_days, parse_date};
use crate::contract::reference::{Industries, Sector};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// Officers a listing shows at most.
///
/// Source: API document, "GET /v1/fl/businesses/{id}/officers".
pub const MAX_OFFICERS: usize = 25;

/// Why rows do not make an index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A service id without a positive integer in it.
    #[error("the service id {0:?} holds no positive integer")]
    NoBusinessId(String),
    /// Two rows of one business.
    #[error("business {0} occurs twice; the filings table must have one row a business")]
    Duplicate(i64),
    /// More rows than the index can number.
    #[error("{0} rows are more than an index can hold")]
    TooMany(usize),
}

/// What a look-up adds to a summary, ready for the wire.
#[derive(Debug, Serialize)]
pub(crate) struct DetailTail<'a> {
    pub(crate) principal_address: &'a Address,
    pub(crate) mailing_address: Option<&'a Address>,
    pub(crate) registered_agent_name: &'a str,
    pub(crate) formation_state: &'a str,
    pub(crate) last_annual_report_year: i32,
    pub(crate) officer_count: i32,
    pub(crate) license_count: i32,
}

/// Collects rows, details, officers and lists; [`IndexBuilder::finish`] makes the index.
#[derive(Debug, Default)]
pub struct IndexBuilder {
    pub(crate) rows: Gathered,
    details: Attached,
    officers: Attached,
    without_officers: Vec<i64>,
    counties: Vec<CountyName>,
    industries: Option<Industries>,
    updated_at: Option<Timestamp>,
    identity: [u8; 32],
}

impl IndexBuilder {
    /// Adds a business of a listing.
    pub fn push(&mut self, row: FilingRow<'_>) {
        self.rows.push(row);
    }

    /// Adds a summary record as the API gives it.
    ///
    /// # Errors
    /// [`IndexError::NoBusinessId`] when its id holds no number.
    pub fn push_summary(&mut self, summary: &Summary) -> Result<(), IndexError> {
        let business_id =
            summary.business_id().ok_or_else(|| IndexError::NoBusinessId(summary.id.clone()))?;
        let dissolved = summary.dissolved_date.as_deref().and_then(parse_date);
        self.push(FilingRow {
            business_id,
            id: &summary.id,
            document_number: &summary.document_number.to_uppercase(),
            name: &summary.name,
            entity_type: &summary.entity_type,
            company_type: &summary.company_type,
            status: &summary.status,
            filed_day: epoch_days(summary.filed_date),
            dissolved_day: dissolved.map(epoch_days),
            city: &summary.city,
            zip: &summary.zip,
            county: &summary.county,
            industry_sector: &summary.industry.sector,
            industry_type: &summary.industry.kind,
            url: &summary.url,
            listed: true,
        });
        Ok(())
    }

    /// Adds a detail record: its summary and what a look-up adds.
    ///
    /// # Errors
    /// [`IndexError::NoBusinessId`] when its id holds no number.
    pub fn push_detail(&mut self, detail: &Detail) -> Result<(), IndexError> {
        self.push_summary(&detail.summary)?;
        let tail = DetailTail {
            principal_address: &detail.principal_address,
            mailing_address: detail.mailing_address.as_ref(),
            registered_agent_name: &detail.registered_agent_name,
            formation_state: &detail.formation_state,
            last_annual_report_year: detail.last_annual_report_year,
            officer_count: detail.officer_count,
            license_count: detail.license_count,
        };
        self.push_tail(detail.summary.business_id().unwrap_or_default(), &tail);
        Ok(())
    }

    /// Adds what a look-up of a business gave beyond its summary.
    pub(crate) fn push_tail(&mut self, business_id: i64, tail: &DetailTail<'_>) {
        if tail.officer_count == 0 {
            self.without_officers.push(business_id);
        }
        self.details.push(business_id, &json_text(tail));
    }

    /// Adds the officers of a business; they are shown sorted by name, 25 at most.
    pub fn push_officers(&mut self, business_id: i64, officers: &[Officer]) {
        let mut sorted: Vec<&Officer> = officers.iter().collect();
        sorted.sort();
        sorted.truncate(MAX_OFFICERS);
        self.officers.push(business_id, &json_text(&sorted));
    }

    /// Sets the counties by key and display name; without them the 67 of the state are shown.
    pub fn set_counties(&mut self, counties: Vec<CountyName>) {
        self.counties = counties;
    }

    /// Sets the industry lists; without them they are gathered from the rows.
    pub fn set_industries(&mut self, industries: Industries) {
        self.industries = Some(industries);
    }

    /// Notes that data is as new as this; the newest note is shown in the stats.
    pub fn note_updated_at(&mut self, instant: Timestamp) {
        self.updated_at = self.updated_at.max(Some(instant));
    }

    /// Says what tells these rows from others; rows without it are taken for the same.
    pub fn set_identity(&mut self, identity: [u8; 32]) {
        self.identity = identity;
    }

    /// Rows added so far.
    pub fn rows(&self) -> usize {
        self.rows.rows()
    }

    /// Sorts everything and makes the index.
    ///
    /// # Errors
    /// [`IndexError::Duplicate`] when a business was added twice.
    pub fn finish(mut self) -> Result<Index, IndexError> {
        let rows = u32::try_from(self.rows()).map_err(|_| IndexError::TooMany(self.rows()))?;
        if let Some(order) = self.rows.newest_first() {
            self.rows = self.rows.permuted(&order);
        }
        if self.counties.is_empty() {
            self.counties = FLORIDA_COUNTIES
                .map(|name| CountyName { key: county_key(name), name: name.to_owned() })
                .to_vec();
        }
        self.without_officers.sort_unstable();
        let columns = columns_of(self.rows);
        let industries = self.industries.unwrap_or_else(|| industries_of(&columns));
        // The order of names takes as long as all the rest.
        let (by_name, by_number) = std::thread::scope(|scope| {
            let by_name =
                scope.spawn(|| NameOrder::sorted(&columns.names, &columns.words, columns.layout.bits()));
            let by_number = (by_id(&columns, rows), by_document(&columns, rows), Tally::of(&columns));
            (by_name.join(), by_number)
        });
        let (by_id, by_document, tally) = by_number;
        Ok(Index {
            by_id: by_id?,
            by_document,
            by_name: by_name.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            details: self.details.sorted(),
            officers: self.officers.sorted(),
            without_officers: self.without_officers,
            county_names: self.counties,
            industries,
            updated_at: self.updated_at.unwrap_or(Timestamp::UNIX_EPOCH),
            identity: self.identity,
            days: tally.days,
            listed: tally.listed,
            active_by_county: tally.active_by_county,
            columns,
        })
    }
}

/// Rows in their order → columns of codes in sorted dictionaries, and the words of the filters.
fn columns_of(mut rows: Gathered) -> Columns {
    let flags = flags_of(&rows);
    let mut sorted = |column: Coded| {
        let column = std::mem::take(rows.coded_mut(column));
        let (dictionary, code_of) = Dictionary::sorted(&column);
        let codes: Vec<u32> = column.codes().iter().map(|code| code_of[*code as usize]).collect();
        (dictionary, codes)
    };
    let (kinds, kind_codes) = sorted(Coded::EntityType);
    let (counties, county_codes) = sorted(Coded::County);
    let (zips, zip_codes) = sorted(Coded::Zip);
    let (cities, city_codes) = sorted(Coded::City);
    let mut shown = |column| {
        let (dictionary, codes) = sorted(column);
        let codes = NarrowCodes::new(codes.into_iter(), dictionary.len());
        ShownColumn { dictionary, codes }
    };
    let (company_types, statuses) = (shown(Coded::CompanyType), shown(Coded::Status));
    let (sector_column, type_column) =
        (std::mem::take(rows.coded_mut(Coded::Sector)), std::mem::take(rows.coded_mut(Coded::IndustryType)));
    let (sectors, industry_types, industry_codes) = paired(&sector_column, &type_column);
    let (layout, words) = Layout::pack(
        &flags,
        [
            (kind_codes, kinds.len()),
            (county_codes, counties.len()),
            (industry_codes, sectors.len()),
            (zip_codes, zips.len()),
            (city_codes, cities.len()),
        ],
    );
    rows.names.shrink();
    Columns {
        filed: rows.filed,
        ids: rows.ids,
        odd_ids: rows.odd_ids,
        dissolved: rows.dissolved,
        documents: rows.documents,
        odd_documents: rows.odd_documents,
        names: rows.names,
        urls: rows.urls,
        company_types,
        statuses,
        words,
        layout,
        kinds,
        counties,
        sectors,
        industry_types,
        zips,
        cities,
    }
}

fn flags_of(rows: &Gathered) -> Vec<u64> {
    let is = |column: Coded, text: &str| -> Vec<bool> {
        rows.coded(column).values().iter().map(|value| &**value == text).collect()
    };
    let (active, fictitious) = (is(Coded::Status, "active"), is(Coded::EntityType, "fictitious"));
    let codes = rows.coded(Coded::Status).codes().iter().zip(rows.coded(Coded::EntityType).codes());
    let flag = |holds: bool, flag: u64| if holds { flag } else { 0 };
    rows.listed
        .iter()
        .zip(codes)
        .map(|(listed, (status, kind))| {
            // A row that was read as dissolved is in no default listing, and in those of `status=all` all the same.
            flag(*listed || !active[*status as usize], flag::LISTED)
                | flag(active[*status as usize], flag::ACTIVE)
                | flag(fictitious[*kind as usize], flag::FICTITIOUS)
        })
        .collect()
}

/// The pairs of two columns that occur, sorted, and for each row its pair.
fn paired(one: &CodedColumn, other: &CodedColumn) -> (Dictionary, Dictionary, Vec<u32>) {
    let pairs = || one.codes().iter().copied().zip(other.codes().iter().copied());
    let mut code_of = BTreeMap::new();
    let mut last = None;
    for pair in pairs().filter(|pair| last.replace(*pair) != Some(*pair)) {
        code_of.entry(pair).or_insert(0);
    }
    let texts = |(a, b): (u32, u32)| (&*one.values()[a as usize], &*other.values()[b as usize]);
    let mut sorted: Vec<(u32, u32)> = code_of.keys().copied().collect();
    sorted.sort_unstable_by_key(|pair| texts(*pair));
    for (code, pair) in (0..).zip(&sorted) {
        code_of.insert(*pair, code);
    }
    let dictionary = |pick: fn((&str, &str)) -> Box<str>| {
        Dictionary::of(sorted.iter().map(|pair| pick(texts(*pair))).collect())
    };
    let codes = pairs().map(|pair| code_of.get(&pair).copied().unwrap_or_default()).collect();
    (dictionary(|(a, _)| a.into()), dictionary(|(_, b)| b.into()), codes)
}

/// The sectors and types that occur, sorted.
fn industries_of(columns: &Columns) -> Industries {
    let mut sectors: Vec<Sector> = Vec::new();
    for (sector, kind) in columns.sectors.texts().zip(columns.industry_types.texts()) {
        match sectors.last_mut() {
            Some(last) if last.sector == sector => last.types.push(kind.to_owned()),
            _ => sectors.push(Sector { sector: sector.to_owned(), types: vec![kind.to_owned()] }),
        }
    }
    Industries { sectors, segments: Vec::new() }
}

fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn by_id(columns: &Columns, rows: u32) -> Result<RowTable, IndexError> {
    let mut table = RowTable::with_rows(rows as usize);
    for row in 0..rows {
        if table.insert(row, |row| columns.ids[row as usize].cast_unsigned()).is_some() {
            return Err(IndexError::Duplicate(columns.ids[row as usize]));
        }
    }
    Ok(table)
}

/// Of several rows with one number the newest is found, which comes first.
fn by_document(columns: &Columns, rows: u32) -> RowTable {
    let mut table = RowTable::with_rows(rows as usize);
    for row in (0..rows).filter(|row| columns.documents[*row as usize] != ODD_DOCUMENT) {
        table.insert(row, |row| columns.documents[row as usize]);
    }
    table
}
