//! The index: look-ups by id and by document number, and what is stored by business id.

use super::column::{TextsByNumber, by_group};
use super::columns::{Columns, pack_document};
use super::counts::{CountyName, Tally};
use super::lookup_text::{detail_text, officers_text};
use super::month_files::MonthFiles;
use super::name_order::NameOrder;
use crate::contract::business::Officer;
use crate::contract::count::{County, Stats};
use crate::contract::id::DocumentNumber;
use crate::contract::reference::Industries;
use crate::table::{OfficerRow, ShownDetail, ShownOfficer, TableError};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use jiff::Timestamp;
use jiff::civil::Date;
use std::borrow::Cow;

/// The row number of each id or document number. The table stores row numbers only; the keys stay in their column.
#[derive(Debug, Default)]
pub(crate) struct RowTable(HashTable<u32>);

impl RowTable {
    /// Rows that are added together, by their places in the table: one after another is near it in memory.
    const ADDED_AT_ONCE: usize = 1 << 20;
    /// Bits of the number of a part of the table: a part fits in the processor's cache.
    const PART_BITS: u32 = 10;

    /// The table of some rows, at most `count`. Of rows with one key the first is in it; the other result is one of the rest, if any.
    pub(crate) fn of(
        rows: impl Iterator<Item = u32>,
        count: usize,
        key_of: impl Fn(u32) -> u64,
    ) -> (Self, Option<u32>) {
        let mut table = Self(HashTable::with_capacity(count));
        let place_bits = table.0.capacity().next_power_of_two().trailing_zeros();
        let part = |(key, _): (u64, u32)| {
            let place = hash(key) >> place_bits.saturating_sub(Self::PART_BITS);
            place as usize & ((1 << Self::PART_BITS) - 1)
        };
        let (mut rows, mut twice) = (rows.peekable(), None);
        while rows.peek().is_some() {
            let added: Vec<u32> = rows.by_ref().take(Self::ADDED_AT_ONCE).collect();
            let keyed = added.iter().map(|row| (key_of(*row), *row));
            for (key, row) in by_group(keyed, 1 << Self::PART_BITS, part).0 {
                let known = |other: &u32| key_of(*other) == key;
                match table.0.entry(hash(key), known, |other| hash(key_of(*other))) {
                    Entry::Occupied(_) => twice = Some(row),
                    Entry::Vacant(free) => {
                        free.insert(row);
                    }
                }
            }
        }
        (table, twice)
    }

    fn find(&self, key: u64, key_of: impl Fn(u32) -> u64) -> Option<u32> {
        self.0.find(hash(key), |row| key_of(*row) == key).copied()
    }
}

/// Mixes all bits of a key: both halves of a 128-bit product.
fn hash(key: u64) -> u64 {
    let product = u128::from(key ^ 0x9E37_79B9_7F4A_7C15) * u128::from(0xBF58_476D_1CE4_E5B9_u64);
    product as u64 ^ (product >> u64::BITS) as u64
}

/// JSON texts by business id.
pub(crate) type JsonById = TextsByNumber<i64>;

/// The rows of one snapshot, ready to be queried.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) columns: Columns,
    pub(crate) by_id: RowTable,
    pub(crate) by_document: RowTable,
    pub(crate) by_name: NameOrder,
    pub(crate) details: JsonById,
    pub(crate) officers: JsonById,
    pub(crate) stored_details: MonthFiles,
    pub(crate) stored_officers: MonthFiles,
    /// Sorted ids of the businesses that were looked up and have no officer.
    pub(crate) without_officers: Vec<i64>,
    /// Each begins with the instant when it was seen.
    pub(crate) changes: JsonById,
    pub(crate) county_names: Vec<CountyName>,
    pub(crate) industries: Industries,
    pub(crate) updated_at: Timestamp,
    /// The Eastern day that the rows are of: of the snapshot, if it has a commit, else of the newest observation.
    pub(crate) day: Date,
    /// Digest of the snapshot: the same in every process that serves these rows.
    pub(crate) identity: [u8; 32],
    /// Whether the rows are a sample.
    pub(crate) is_invented: bool,
    /// The number of the snapshot, if it has one.
    pub(crate) snapshot: Option<u64>,
    pub(crate) tally: Tally,
}

impl Index {
    /// Number of businesses, those no longer listed included.
    pub(crate) fn rows(&self) -> usize {
        self.by_id.0.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.columns.bytes()
            + self.by_id.0.allocation_size()
            + self.by_document.0.allocation_size()
            + self.by_name.bytes()
            + self.details.bytes()
            + self.officers.bytes()
            + self.changes.bytes()
            + size_of::<i64>() * self.without_officers.capacity()
    }

    /// Number of rows in the default listing of a day: active ones, without fictitious names.
    pub(crate) fn listed_on(&self, day: Date) -> u32 {
        self.tally.listed_on(day)
    }

    pub(crate) fn stats(&self, today: Date) -> Stats {
        self.tally.stats(&self.columns, self.updated_at, today)
    }

    pub(crate) fn county_counts(&self, today: Date) -> Vec<County> {
        self.tally.county_counts(&self.columns, &self.county_names, today)
    }

    pub(crate) fn row_of_id(&self, id: i64) -> Option<u32> {
        self.by_id.find(id.cast_unsigned(), |row| self.columns.uncoded.id_key(row))
    }

    /// The row of a document number; the newest one when several rows have it.
    pub(crate) fn row_of_document(&self, number: &DocumentNumber) -> Option<u32> {
        let wanted = pack_document(number.as_str())?;
        self.by_document.find(wanted, |row| self.columns.uncoded.documents[row as usize])
    }

    /// What a look-up adds to the summary of a row, as a JSON object; `None` when the business was never looked up.
    pub(crate) fn detail_of(&self, row: u32) -> Result<Option<Cow<'_, str>>, TableError> {
        let (id, filed) = self.id_and_day(row);
        if let Some(text) = self.details.get(id) {
            return Ok(Some(text.into()));
        }
        let stored = self.stored_details.rows::<ShownDetail>(filed, id)?;
        Ok(stored.first().map(|row| detail_text(row).into()))
    }

    /// The officers of a row as a JSON array; `None` when the business was never looked up.
    pub(crate) fn officers_of(&self, row: u32) -> Result<Option<Cow<'_, str>>, TableError> {
        let (id, filed) = self.id_and_day(row);
        if let Some(text) = self.officers.get(id) {
            return Ok(Some(text.into()));
        }
        let stored = self.stored_officers.rows::<ShownOfficer>(filed, id)?;
        let mut stored: Vec<Officer> = stored.into_iter().map(OfficerRow::into_officer).collect();
        stored.sort();
        // A snapshot with details by month has one of every business.
        let has_list = !stored.is_empty()
            || !self.stored_details.is_empty()
            || self.without_officers.binary_search(&id).is_ok();
        Ok(has_list.then(|| officers_text(stored.iter()).into()))
    }

    fn id_and_day(&self, row: u32) -> (i64, i32) {
        let cells = &self.columns.uncoded;
        (cells.ids[row as usize], cells.filed[row as usize])
    }

    /// The changes of a row as a JSON array, newest first.
    pub(crate) fn changes_of(&self, row: u32) -> String {
        let mut changes: Vec<&str> = self.changes.all(self.columns.uncoded.ids[row as usize]).collect();
        changes.sort_unstable_by(|a, b| b.cmp(a));
        format!("[{}]", changes.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_and_no_other() {
        let keys: Vec<u64> = (0..10_000).map(|n| n * 3).collect();
        let key_of = |row: u32| keys[row as usize];
        let (table, twice) = RowTable::of(0..10_000, keys.len(), key_of);
        assert_eq!(twice, None);
        let (of_one_key, twice) = RowTable::of(3..10, 7, |_| 9);
        assert_eq!(
            (of_one_key.find(9, |_| 9), twice.is_some()),
            (Some(3), true),
            "the first of several rows"
        );
        for key in 0..30_000_u64 {
            let expected = key.is_multiple_of(3).then_some((key / 3) as u32);
            assert_eq!(table.find(key, key_of), expected, "{key}");
        }
        assert_eq!(RowTable::default().find(1, key_of), None);
    }
}
