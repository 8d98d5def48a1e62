//! The immutable index in memory: look-ups by id and document number, selections, pages, counts of days.
//!
//! Row number order is the order of every listing (newest filing first, then the largest id), so a listing is a
//! list of row numbers and a page is a slice of it.

use super::column::{CodedColumn, TextColumn, epoch_day};
use super::selection::{RecentSelections, Selection};
use super::tally::DayTally;
use crate::contract::id::{BusinessIdParam, DocumentNumber};
use crate::contract::reference::Industries;
use jiff::Timestamp;
use jiff::civil::Date;
use std::collections::HashMap;
use std::sync::Arc;

/// Marks a business that is not dissolved.
pub(super) const NO_DAY: i32 = i32::MIN;

/// What a listing asks of a row first, one bit each.
pub(super) mod flag {
    /// Shown in listings and counts.
    pub(in crate::serve) const LISTED: u8 = 1;
    /// Its status is `active`.
    pub(in crate::serve) const ACTIVE: u8 = 2;
    /// A fictitious name.
    pub(in crate::serve) const FICTITIOUS: u8 = 4;
}

/// Key and display name of a county.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountyName {
    /// Key in capitals.
    pub key: String,
    /// Display name.
    pub name: String,
}

/// The rows, column by column, newest first.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) filed: Vec<i32>,
    pub(super) ids: Vec<i64>,
    /// Ids that are sent in another form than their digits.
    pub(super) odd_ids: HashMap<u32, Box<str>>,
    pub(super) dissolved: Vec<i32>,
    pub(super) flags: Vec<u8>,
    pub(super) document_numbers: TextColumn,
    pub(super) names: TextColumn,
    pub(super) urls: TextColumn,
    pub(super) entity_types: CodedColumn,
    pub(super) company_types: CodedColumn,
    pub(super) statuses: CodedColumn,
    pub(super) cities: CodedColumn,
    pub(super) zips: CodedColumn,
    pub(super) counties: CodedColumn,
    pub(super) sectors: CodedColumn,
    pub(super) industry_types: CodedColumn,
}

impl Columns {
    /// Memory they hold.
    fn bytes(&self) -> usize {
        let texts = [&self.document_numbers, &self.names, &self.urls];
        let coded = [
            &self.entity_types,
            &self.company_types,
            &self.statuses,
            &self.cities,
            &self.zips,
            &self.counties,
            &self.sectors,
            &self.industry_types,
        ];
        size_of::<i32>() * (self.filed.capacity() + self.dissolved.capacity())
            + size_of::<i64>() * self.ids.capacity()
            + self.flags.capacity()
            + texts.into_iter().map(TextColumn::bytes).sum::<usize>()
            + coded.into_iter().map(CodedColumn::bytes).sum::<usize>()
    }

    /// The rows filed from one day to another, both included.
    pub(super) fn filed_between(&self, first: Option<i32>, last: i32) -> std::ops::Range<u32> {
        let start = self.filed.partition_point(|day| *day > last);
        let end = first.map_or(self.filed.len(), |first| self.filed.partition_point(|day| *day >= first));
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        number(start)..number(end.max(start))
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
    pub(super) fn sorted(self) -> Self {
        let mut order: Vec<u32> = (0_u32..).take(self.ids.len()).collect();
        order.sort_by_key(|place| self.ids[*place as usize]);
        let ids = order.iter().map(|place| self.ids[*place as usize]).collect();
        Self { ids, texts: self.texts.permuted(&order) }
    }

    fn bytes(&self) -> usize {
        size_of::<i64>() * self.ids.capacity() + self.texts.bytes()
    }

    pub(super) fn get(&self, business_id: i64) -> Option<&str> {
        let after = self.ids.partition_point(|id| *id <= business_id);
        let place = after.checked_sub(1).filter(|place| self.ids[*place] == business_id)?;
        u32::try_from(place).ok().map(|place| self.texts.get(place))
    }
}

/// A snapshot, ready to be asked.
#[derive(Debug)]
pub struct Index {
    pub(super) columns: Columns,
    pub(super) by_id: Vec<u32>,
    pub(super) by_document: Vec<u32>,
    pub(super) by_name: Vec<u32>,
    pub(super) details: Attached,
    pub(super) officers: Attached,
    pub(super) without_officers: Vec<i64>,
    pub(super) counties: Vec<CountyName>,
    pub(super) industries: Industries,
    pub(super) updated_at: Timestamp,
    pub(super) identity: [u8; 32],
    pub(super) days: Vec<DayTally>,
    pub(super) recent: RecentSelections,
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

    /// Memory it holds, without the listings asked for last.
    pub fn bytes(&self) -> usize {
        let orders = [&self.by_id, &self.by_document, &self.by_name];
        self.columns.bytes()
            + orders.into_iter().map(|order| size_of::<u32>() * order.capacity()).sum::<usize>()
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
        let wanted = epoch_day(day);
        let found = self.days.binary_search_by(|tally| wanted.cmp(&tally.day));
        found.map_or(0, |place| self.days[place].listed)
    }

    /// The row of an id.
    pub(super) fn row_of_id(&self, id: BusinessIdParam) -> Option<u32> {
        let wanted = id.value()?;
        let place = self.by_id.binary_search_by_key(&wanted, |row| self.columns.ids[*row as usize]).ok()?;
        Some(self.by_id[place])
    }

    /// The row of a document number; the newest one, should several have it.
    pub(super) fn row_of_document(&self, number: &DocumentNumber) -> Option<u32> {
        let text = |row: u32| self.columns.document_numbers.get(row);
        let place = self.by_document.partition_point(|row| text(*row) < number.as_str());
        self.by_document.get(place).copied().filter(|row| text(*row) == number.as_str())
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

    /// Every row of a listing; recent ones are kept, because a client pages through them.
    pub(super) fn select(&self, wanted: &Selection) -> Arc<[u32]> {
        self.recent.get_or_compute(wanted, || wanted.rows_of(self))
    }
}
