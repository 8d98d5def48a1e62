//! The immutable index in memory: look-ups by id and document number, listings, counts of days.
//!
//! Row number order is the order of every listing: newest filing first, then the largest id. A listing without a name is a
//! run of rows (no more than 92 days of them), read from one end to the other, a word of eight bytes a row. One with a name is
//! read as [`name_order`] says.

pub(super) mod bit_slices;
pub(super) mod builder;
pub(super) mod case_fold;
pub(super) mod column;
pub(super) mod counts;
pub(super) mod dictionary;
pub(super) mod document_number;
pub(super) mod filter;
pub(super) mod listing_query;
pub(super) mod name_order;
pub(super) mod packed_row;
pub(super) mod row_buffer;
pub(super) mod row_hash;
pub(super) mod row_json;
pub(super) mod url_column;

use crate::contract::eastern::epoch_days;
use crate::contract::id::{BusinessIdParam, DocumentNumber};
use crate::contract::reference::Industries;
use column::{NarrowCodes, TextColumn};
use counts::DayTally;
use dictionary::Dictionary;
use jiff::Timestamp;
use jiff::civil::Date;
use name_order::NameOrder;
use packed_row::{Field, Layout};
use row_buffer::ODD_DOCUMENT;
use row_hash::RowTable;
use std::collections::HashMap;
use url_column::{Parts, UrlColumn};

/// Key and display name of a county.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountyName {
    /// Key in capitals.
    pub key: String,
    /// Display name.
    pub name: String,
}

/// Texts of a column that is only shown, by code.
#[derive(Debug)]
pub(super) struct ShownColumn {
    pub(super) dictionary: Dictionary,
    pub(super) codes: NarrowCodes,
}

impl ShownColumn {
    pub(super) fn json(&self, row: u32) -> &[u8] {
        self.dictionary.json(self.codes.get(row))
    }

    fn bytes(&self) -> usize {
        self.dictionary.bytes() + self.codes.bytes()
    }
}

/// The rows, column by column, newest first.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) filed: Vec<i32>,
    pub(super) ids: Vec<i64>,
    /// Ids that are sent in another form than their digits.
    pub(super) odd_ids: HashMap<u32, Box<str>>,
    pub(super) dissolved: Vec<i32>,
    pub(super) documents: Vec<u64>,
    pub(super) odd_documents: HashMap<u32, Box<str>>,
    pub(super) names: TextColumn,
    pub(super) urls: UrlColumn,
    pub(super) company_types: ShownColumn,
    pub(super) statuses: ShownColumn,
    /// What a listing asks of a row.
    pub(super) words: Vec<u64>,
    pub(super) layout: Layout,
    pub(super) kinds: Dictionary,
    pub(super) counties: Dictionary,
    /// Sector of each industry code.
    pub(super) sectors: Dictionary,
    /// Industry type of each industry code.
    pub(super) industry_types: Dictionary,
    pub(super) zips: Dictionary,
    pub(super) cities: Dictionary,
}

impl Columns {
    pub(super) fn code(&self, field: Field, row: u32) -> u32 {
        self.layout.code(field, row, self.words[row as usize])
    }

    /// The id of a row as it was sent.
    pub(super) fn id(&self, row: u32) -> String {
        let odd = self.odd_ids.get(&row).map(|id| id.to_string());
        odd.unwrap_or_else(|| self.ids[row as usize].to_string())
    }

    /// The rows filed from one day to another, both included.
    pub(super) fn filed_between(&self, first: Option<i32>, last: i32) -> std::ops::Range<u32> {
        let start = self.filed.partition_point(|day| *day > last);
        let end = first.map_or(self.filed.len(), |first| self.filed.partition_point(|day| *day >= first));
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        number(start)..number(end.max(start))
    }

    /// The link of a row to its public page.
    pub(super) fn url(&self, row: u32, document_number: &str, id: &str) -> String {
        self.urls.get(row, Parts { document_number, id })
    }

    fn bytes(&self) -> usize {
        let dictionaries =
            [&self.kinds, &self.counties, &self.sectors, &self.industry_types, &self.zips, &self.cities];
        let odd = self.odd_ids.values().chain(self.odd_documents.values());
        size_of::<i32>() * (self.filed.capacity() + self.dissolved.capacity())
            + size_of::<u64>() * (self.ids.capacity() + self.documents.capacity() + self.words.capacity())
            + self.names.bytes()
            + self.urls.bytes()
            + self.company_types.bytes()
            + self.statuses.bytes()
            + self.layout.bytes()
            + dictionaries.into_iter().map(Dictionary::bytes).sum::<usize>()
            + odd.map(|text| text.len() + size_of::<(u32, Box<str>)>()).sum::<usize>()
    }
}

/// JSON texts that belong to some businesses, found by id.
#[derive(Debug, Default)]
pub(super) struct Attached {
    ids: Vec<i64>,
    texts: TextColumn,
}

impl Attached {
    pub(super) fn push(&mut self, business_id: i64, text: &str) {
        self.ids.push(business_id);
        self.texts.push(text);
    }

    /// Ready to be searched; of two texts of one business the later one holds.
    pub(super) fn sorted(mut self) -> Self {
        if self.ids.is_sorted() {
            self.ids.shrink_to_fit();
            self.texts.shrink();
            return self;
        }
        let mut order: Vec<u32> = (0_u32..).take(self.ids.len()).collect();
        order.sort_by_key(|place| self.ids[*place as usize]);
        let ids = order.iter().map(|place| self.ids[*place as usize]).collect();
        Self { ids, texts: self.texts.permuted(&order) }
    }

    pub(super) fn get(&self, business_id: i64) -> Option<&str> {
        let after = self.ids.partition_point(|id| *id <= business_id);
        let place = after.checked_sub(1).filter(|place| self.ids[*place] == business_id)?;
        u32::try_from(place).ok().map(|place| self.texts.get(place))
    }

    fn bytes(&self) -> usize {
        size_of::<i64>() * self.ids.capacity() + self.texts.bytes()
    }
}

/// A snapshot, ready to be asked.
#[derive(Debug)]
pub struct Index {
    pub(super) columns: Columns,
    pub(super) by_id: RowTable,
    pub(super) by_document: RowTable,
    pub(super) by_name: NameOrder,
    pub(super) details: Attached,
    pub(super) officers: Attached,
    pub(super) without_officers: Vec<i64>,
    pub(super) county_names: Vec<CountyName>,
    pub(super) industries: Industries,
    pub(super) updated_at: Timestamp,
    pub(super) identity: [u8; 32],
    pub(super) days: Vec<DayTally>,
    /// Rows that are listed.
    pub(super) listed: u64,
    /// Active businesses of each county, by its code.
    pub(super) active_by_county: Vec<u32>,
}

impl Index {
    /// Businesses in it, those no longer listed included.
    pub fn rows(&self) -> usize {
        self.columns.ids.len()
    }

    /// What tells these rows from others: the same snapshot has the same one, in every process.
    pub fn identity(&self) -> [u8; 32] {
        self.identity
    }

    /// Memory it holds.
    pub fn bytes(&self) -> usize {
        self.columns.bytes()
            + self.by_id.bytes()
            + self.by_document.bytes()
            + self.by_name.bytes()
            + self.details.bytes()
            + self.officers.bytes()
            + size_of::<i64>() * self.without_officers.capacity()
    }

    /// The industry lists.
    pub fn industries(&self) -> &Industries {
        &self.industries
    }

    /// How many rows the listing of a day has: active ones, without fictitious names.
    pub fn listed_on(&self, day: Date) -> u32 {
        let wanted = epoch_days(day);
        let found = self.days.binary_search_by(|tally| wanted.cmp(&tally.day));
        found.map_or(0, |place| self.days[place].listed)
    }

    /// The row of an id.
    pub(super) fn row_of_id(&self, id: BusinessIdParam) -> Option<u32> {
        let wanted = id.value()?.cast_unsigned();
        self.by_id.find(wanted, |row| self.columns.ids[row as usize].cast_unsigned())
    }

    /// The row of a document number; the newest one, should several have it.
    pub(super) fn row_of_document(&self, number: &DocumentNumber) -> Option<u32> {
        let wanted = document_number::pack(number.as_str()).filter(|packed| *packed != ODD_DOCUMENT)?;
        self.by_document.find(wanted, |row| self.columns.documents[row as usize])
    }

    /// What a look-up adds to the summary of a row, as a JSON object.
    pub(super) fn detail_of(&self, row: u32) -> Option<&str> {
        self.details.get(self.columns.ids[row as usize])
    }

    /// The officers of a row as a JSON array; `None` when they were never looked up.
    pub(super) fn officers_of(&self, row: u32) -> Option<&str> {
        let id = self.columns.ids[row as usize];
        let none = || self.without_officers.binary_search(&id).ok().map(|_| "[]");
        self.officers.get(id).or_else(none)
    }
}
