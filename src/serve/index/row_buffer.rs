//! Rows while they are gathered, in any order, column by column.

use super::column::{CodedColumn, TextColumn, permuted};
use super::document_number;
use super::url_column::{Parts, UrlColumn};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Stands for the day of a business that is not dissolved; the calendar does not have it.
const NO_DAY: i32 = i32::MIN;
/// Stands for a document number that cannot be packed; no packed one is so large.
pub(crate) const ODD_DOCUMENT: u64 = u64::MAX;

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

/// Columns whose texts repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coded {
    EntityType,
    CompanyType,
    Status,
    City,
    Zip,
    County,
    Sector,
    IndustryType,
}

/// How many columns of codes there are.
pub(crate) const CODED: usize = 8;

/// What stands in a row that no column of codes holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnCells<'a> {
    pub(crate) business_id: i64,
    pub(crate) id: &'a str,
    pub(crate) document_number: &'a str,
    pub(crate) name: &'a str,
    pub(crate) filed_day: i32,
    pub(crate) dissolved_day: Option<i32>,
    pub(crate) url: &'a str,
    pub(crate) listed: bool,
}

/// The rows, column by column.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) filed: Vec<i32>,
    pub(crate) ids: Vec<i64>,
    /// Ids that are sent in another form than their digits.
    pub(crate) odd_ids: HashMap<u32, Box<str>>,
    pub(crate) dissolved: Vec<i32>,
    pub(crate) listed: Vec<bool>,
    pub(crate) documents: Vec<u64>,
    /// Document numbers that are no such number.
    pub(crate) odd_documents: HashMap<u32, Box<str>>,
    pub(crate) names: TextColumn,
    pub(crate) urls: UrlColumn,
    pub(crate) coded: [CodedColumn; CODED],
}

impl Gathered {
    pub(crate) fn rows(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn coded(&self, column: Coded) -> &CodedColumn {
        &self.coded[column as usize]
    }

    pub(crate) fn coded_mut(&mut self, column: Coded) -> &mut CodedColumn {
        &mut self.coded[column as usize]
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: FilingRow<'_>) {
        self.push_own(OwnCells {
            business_id: row.business_id,
            id: row.id,
            document_number: row.document_number,
            name: row.name,
            filed_day: row.filed_day,
            dissolved_day: row.dissolved_day,
            url: row.url,
            listed: row.listed,
        });
        for (column, text) in [
            (Coded::EntityType, row.entity_type),
            (Coded::CompanyType, row.company_type),
            (Coded::Status, row.status),
            (Coded::City, row.city),
            (Coded::Zip, row.zip),
            (Coded::County, row.county),
            (Coded::Sector, row.industry_sector),
            (Coded::IndustryType, row.industry_type),
        ] {
            self.coded_mut(column).push(text);
        }
    }

    /// Adds a row but for its codes, which the caller adds to each of those columns.
    pub(crate) fn push_own(&mut self, row: OwnCells<'_>) {
        let at = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        if row.id.parse() != Ok(row.business_id) || row.id.starts_with(['0', '+']) {
            self.odd_ids.insert(at, row.id.into());
        }
        let document = document_number::pack(row.document_number).unwrap_or_else(|| {
            self.odd_documents.insert(at, row.document_number.into());
            ODD_DOCUMENT
        });
        self.documents.push(document);
        self.urls.push(row.url, Parts { document_number: row.document_number, id: row.id });
        self.names.push(row.name);
        self.listed.push(row.listed);
        self.ids.push(row.business_id);
        self.filed.push(row.filed_day);
        self.dissolved.push(row.dissolved_day.unwrap_or(NO_DAY));
    }

    /// Adds the rows of another after its own.
    pub(crate) fn append(&mut self, other: Self) {
        let before = u32::try_from(self.rows()).unwrap_or(u32::MAX);
        self.urls.append(&other.urls, |row| other.url(row));
        self.names.append(&other.names);
        for (column, added) in self.coded.iter_mut().zip(&other.coded) {
            column.append(added);
        }
        self.filed.extend(other.filed);
        self.ids.extend(other.ids);
        self.dissolved.extend(other.dissolved);
        self.listed.extend(other.listed);
        self.documents.extend(other.documents);
        self.odd_ids.extend(other.odd_ids.into_iter().map(|(row, text)| (before + row, text)));
        self.odd_documents.extend(other.odd_documents.into_iter().map(|(row, text)| (before + row, text)));
    }

    fn url(&self, row: u32) -> String {
        let packed = document_number::unpack(self.documents[row as usize]);
        let document_number = self.odd_documents.get(&row).map_or(packed.as_str(), |text| text);
        let digits = self.ids[row as usize].to_string();
        let id = self.odd_ids.get(&row).map_or(digits.as_str(), |text| text);
        self.urls.get(row, Parts { document_number, id })
    }

    /// The order of listings, newest first, then the largest id; `None` when the rows have it already.
    pub(crate) fn newest_first(&self) -> Option<Vec<u32>> {
        let key = |row: u32| Reverse((self.filed[row as usize], self.ids[row as usize]));
        let rows = u32::try_from(self.rows()).unwrap_or(u32::MAX);
        if (1..rows).all(|row| key(row - 1) <= key(row)) {
            return None;
        }
        let mut order: Vec<u32> = (0..rows).collect();
        order.sort_unstable_by_key(|row| key(*row));
        Some(order)
    }

    /// The same rows in another order.
    pub(crate) fn permuted(self, order: &[u32]) -> Self {
        let moved = |old: &HashMap<u32, Box<str>>| match old.is_empty() {
            true => HashMap::new(),
            false => {
                order.iter().zip(0..).filter_map(|(from, to)| Some((to, old.get(from)?.clone()))).collect()
            }
        };
        Self {
            filed: permuted(&self.filed, order),
            ids: permuted(&self.ids, order),
            odd_ids: moved(&self.odd_ids),
            dissolved: permuted(&self.dissolved, order),
            listed: permuted(&self.listed, order),
            documents: permuted(&self.documents, order),
            odd_documents: moved(&self.odd_documents),
            names: self.names.permuted(order),
            urls: self.urls.permuted(order),
            coded: self.coded.map(|column| column.permuted(order)),
        }
    }
}
