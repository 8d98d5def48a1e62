//! Rows in any order → an index, sorted newest first.

use super::column::{CodedColumn, TextColumn, epoch_day, permuted};
use super::fold::folded;
use super::index::{Attached, Columns, CountyName, Index, NO_DAY, flag};
use super::selection::RecentSelections;
use super::tally::tally_days;
use crate::contract::business::{Address, Detail, Officer, Summary};
use crate::contract::county::{FLORIDA_COUNTIES, county_key};
use crate::contract::eastern::parse_date;
use crate::contract::reference::{Industries, Sector};
use jiff::Timestamp;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

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

/// One business as a listing shows it, borrowed from wherever it lies.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields are the columns of the filings table")]
pub struct FilingRow<'a> {
    pub business_id: i64,
    pub id: &'a str,
    pub document_number: &'a str,
    pub name: &'a str,
    pub entity_type: &'a str,
    pub company_type: &'a str,
    pub status: &'a str,
    /// Days since 1970-01-01.
    pub filed_day: i32,
    /// Days since 1970-01-01.
    pub dissolved_day: Option<i32>,
    pub city: &'a str,
    pub zip: &'a str,
    pub county: &'a str,
    pub industry_sector: &'a str,
    pub industry_type: &'a str,
    pub url: &'a str,
    /// Whether listings and counts show it; look-ups find it anyway.
    pub listed: bool,
}

/// What a look-up adds to a summary, ready for the wire.
#[derive(Debug, Serialize)]
pub(super) struct DetailTail<'a> {
    pub(super) principal_address: &'a Address,
    pub(super) mailing_address: Option<&'a Address>,
    pub(super) registered_agent_name: &'a str,
    pub(super) formation_state: &'a str,
    pub(super) last_annual_report_year: i32,
    pub(super) officer_count: i32,
    pub(super) license_count: i32,
}

/// Collects rows, details, officers and lists; [`IndexBuilder::finish`] makes the index.
#[derive(Debug, Default)]
pub struct IndexBuilder {
    columns: Columns,
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
        let columns = &mut self.columns;
        let at = u32::try_from(columns.ids.len()).unwrap_or(u32::MAX);
        if row.id.parse() != Ok(row.business_id) || row.id.starts_with(['0', '+']) {
            columns.odd_ids.insert(at, row.id.into());
        }
        // A row that was read as dissolved is in no default listing, and in those of `status=all` all the same.
        let mut flags = if row.listed || row.status != "active" { flag::LISTED } else { 0 };
        flags |= if row.status == "active" { flag::ACTIVE } else { 0 };
        flags |= if row.entity_type == "fictitious" { flag::FICTITIOUS } else { 0 };
        columns.flags.push(flags);
        columns.ids.push(row.business_id);
        columns.filed.push(row.filed_day);
        columns.dissolved.push(row.dissolved_day.unwrap_or(NO_DAY));
        for (column, text) in columns.texts_mut().into_iter().zip([row.document_number, row.name, row.url]) {
            column.push(text);
        }
        let repeated = [
            row.entity_type,
            row.company_type,
            row.status,
            row.city,
            row.zip,
            row.county,
            row.industry_sector,
            row.industry_type,
        ];
        for (column, text) in columns.coded_mut().into_iter().zip(repeated) {
            column.push(text);
        }
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
            filed_day: epoch_day(summary.filed_date),
            dissolved_day: dissolved.map(epoch_day),
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
    pub(super) fn push_tail(&mut self, business_id: i64, tail: &DetailTail<'_>) {
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
        self.columns.ids.len()
    }

    /// Sorts everything and makes the index.
    ///
    /// # Errors
    /// [`IndexError::Duplicate`] when a business was added twice.
    pub fn finish(mut self) -> Result<Index, IndexError> {
        let rows = u32::try_from(self.rows()).map_err(|_| IndexError::TooMany(self.rows()))?;
        sort_newest_first(&mut self.columns, rows);
        let by_id = order_by_id(&self.columns, rows)?;
        self.without_officers.sort_unstable();
        if self.counties.is_empty() {
            self.counties = FLORIDA_COUNTIES
                .map(|name| CountyName { key: county_key(name), name: name.to_owned() })
                .to_vec();
        }
        let by_document = order_by_text(&self.columns.document_numbers, rows, str::to_owned);
        let by_name = order_by_text(&self.columns.names, rows, folded);
        let days = tally_days(&self.columns);
        let industries = self.industries.unwrap_or_else(|| industries_of(&self.columns));
        Ok(Index {
            columns: self.columns,
            by_id,
            by_document,
            by_name,
            details: self.details.sorted(),
            officers: self.officers.sorted(),
            without_officers: self.without_officers,
            counties: self.counties,
            industries,
            updated_at: self.updated_at.unwrap_or(Timestamp::UNIX_EPOCH),
            identity: self.identity,
            days,
            recent: RecentSelections::default(),
        })
    }
}

/// The sectors and types that occur, sorted.
fn industries_of(columns: &Columns) -> Industries {
    let pairs: BTreeSet<(u32, u32)> =
        columns.sectors.codes().iter().copied().zip(columns.industry_types.codes().iter().copied()).collect();
    let text = |column: &CodedColumn, code: u32| column.values()[code as usize].to_string();
    let named: BTreeSet<(String, String)> = pairs
        .into_iter()
        .map(|(sector, kind)| (text(&columns.sectors, sector), text(&columns.industry_types, kind)))
        .collect();
    let mut sectors: Vec<Sector> = Vec::new();
    for (sector, kind) in named {
        match sectors.last_mut() {
            Some(last) if last.sector == sector => last.types.push(kind),
            _ => sectors.push(Sector { sector, types: vec![kind] }),
        }
    }
    Industries { sectors, segments: Vec::new() }
}

fn json_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn sort_newest_first(columns: &mut Columns, rows: u32) {
    let key = |columns: &Columns, row: u32| Reverse((columns.filed[row as usize], columns.ids[row as usize]));
    if (1..rows).all(|row| key(columns, row - 1) <= key(columns, row)) {
        return;
    }
    let mut order: Vec<u32> = (0..rows).collect();
    order.sort_unstable_by_key(|row| key(columns, *row));
    columns.filed = permuted(&columns.filed, &order);
    columns.ids = permuted(&columns.ids, &order);
    columns.dissolved = permuted(&columns.dissolved, &order);
    columns.flags = permuted(&columns.flags, &order);
    for column in columns.texts_mut() {
        *column = column.permuted(&order);
    }
    for column in columns.coded_mut() {
        column.permute(&order);
    }
    if !columns.odd_ids.is_empty() {
        let old = std::mem::take(&mut columns.odd_ids);
        let moved = order.iter().zip(0_u32..).filter_map(|(from, to)| Some((to, old.get(from)?.clone())));
        columns.odd_ids = moved.collect();
    }
}

fn order_by_id(columns: &Columns, rows: u32) -> Result<Vec<u32>, IndexError> {
    let id = |row: u32| columns.ids[row as usize];
    let mut order: Vec<u32> = (0..rows).collect();
    order.sort_unstable_by_key(|row| id(*row));
    match order.windows(2).find(|pair| id(pair[0]) == id(pair[1])) {
        Some(pair) => Err(IndexError::Duplicate(id(pair[0]))),
        None => Ok(order),
    }
}

/// Row numbers in the order of a text column; `key` is applied once a row.
fn order_by_text(column: &TextColumn, rows: u32, key: impl Fn(&str) -> String) -> Vec<u32> {
    let mut keys = TextColumn::default();
    let mut starts: Vec<(u64, u32)> = Vec::with_capacity(rows as usize);
    for row in 0..rows {
        let text = key(column.get(row));
        starts.push((first_eight(&text), row));
        keys.push(&text);
    }
    starts.sort_unstable_by(|(a, row_a), (b, row_b)| {
        a.cmp(b).then_with(|| keys.get(*row_a).cmp(keys.get(*row_b))).then(row_a.cmp(row_b))
    });
    starts.into_iter().map(|(_, row)| row).collect()
}

/// The first eight bytes as a number that sorts like the text.
fn first_eight(text: &str) -> u64 {
    let bytes = text.bytes().chain(std::iter::repeat(0)).take(8);
    bytes.fold(0, |number, byte| number << 8 | u64::from(byte))
}

impl Columns {
    fn texts_mut(&mut self) -> [&mut TextColumn; 3] {
        [&mut self.document_numbers, &mut self.names, &mut self.urls]
    }

    fn coded_mut(&mut self) -> [&mut CodedColumn; 8] {
        [
            &mut self.entity_types,
            &mut self.company_types,
            &mut self.statuses,
            &mut self.cities,
            &mut self.zips,
            &mut self.counties,
            &mut self.sectors,
            &mut self.industry_types,
        ]
    }
}
