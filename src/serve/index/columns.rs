//! The columns of rows: while they are collected, in any order, and of a snapshot, newest row first.

use super::column::{CodedColumn, OverflowTexts, TextColumn, permuted};
use super::dictionary::Dictionary;
use super::packed_row::{Field, Layout};
use std::cmp::Reverse;
use std::ops::Range;

/// The dissolution day of a business that is not dissolved; the calendar does not have it.
const NO_DAY: i32 = i32::MIN;
/// The packed form of a document number that cannot be packed; every other one is smaller.
pub(crate) const UNPACKABLE_DOCUMENT: u64 = u64::MAX;

/// The cells of a row that are stored without a dictionary; days are counted from 1970-01-01.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UncodedCells<'a> {
    pub(crate) business_id: i64,
    /// The id as sent, where it is more than its number.
    pub(crate) id: Option<&'a str>,
    pub(crate) document_number: &'a str,
    pub(crate) name: &'a str,
    pub(crate) filed_day: i32,
    pub(crate) dissolved_day: Option<i32>,
    pub(crate) url: &'a str,
}

/// The columns without a dictionary. Ids, document numbers and links are stored in a short form: as numbers, and as one
/// prefix before the document number. Values that do not have this form are in the overflow lists.
#[derive(Debug, Default)]
pub(crate) struct UncodedColumns {
    pub(crate) filed: Vec<i32>,
    pub(crate) ids: Vec<i64>,
    overflow_ids: OverflowTexts,
    pub(crate) dissolved: Vec<i32>,
    pub(crate) documents: Vec<u64>,
    overflow_documents: OverflowTexts,
    pub(crate) names: TextColumn,
    /// What precedes the document number in a link; the first link decides.
    url_prefix: Option<Box<str>>,
    overflow_urls: OverflowTexts,
}

impl UncodedColumns {
    pub(crate) fn rows(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn push(&mut self, row: UncodedCells<'_>) {
        let at = u32::try_from(self.rows()).unwrap_or(u32::MAX);
        if let Some(id) = row.id {
            self.overflow_ids.push(at, id);
        }
        let document = pack_document(row.document_number).unwrap_or_else(|| {
            self.overflow_documents.push(at, row.document_number);
            UNPACKABLE_DOCUMENT
        });
        self.push_url(at, row.url, row.document_number);
        self.documents.push(document);
        self.names.push(row.name);
        self.ids.push(row.business_id);
        self.filed.push(row.filed_day);
        self.dissolved.push(row.dissolved_day.unwrap_or(NO_DAY));
    }

    fn push_url(&mut self, row: u32, url: &str, document_number: &str) {
        let Some(prefix) = url.strip_suffix(document_number) else {
            return self.overflow_urls.push(row, url);
        };
        if &**self.url_prefix.get_or_insert_with(|| prefix.into()) != prefix {
            self.overflow_urls.push(row, url);
        }
    }

    fn reserve(&mut self, rows: usize, name_bytes: usize) {
        self.filed.reserve(rows);
        self.ids.reserve(rows);
        self.dissolved.reserve(rows);
        self.documents.reserve(rows);
        self.names.reserve(rows, name_bytes);
    }

    pub(crate) fn append(&mut self, other: Self) {
        let before = u32::try_from(self.rows()).unwrap_or(u32::MAX);
        if self.rows() == 0 {
            self.url_prefix.clone_from(&other.url_prefix);
        }
        if self.url_prefix == other.url_prefix {
            self.overflow_urls.append(before, &other.overflow_urls);
        } else {
            let mut buffer = Unpacked::default();
            for row in (0_u32..).take(other.rows()) {
                let document_number = other.document_number(row, &mut buffer);
                self.push_url(before + row, &other.url(row, document_number).concat(), document_number);
            }
        }
        self.names.append(&other.names);
        self.filed.extend(other.filed);
        self.ids.extend(other.ids);
        self.dissolved.extend(other.dissolved);
        self.documents.extend(other.documents);
        self.overflow_ids.append(before, &other.overflow_ids);
        self.overflow_documents.append(before, &other.overflow_documents);
    }

    /// The order of listings, newest first, then the largest id; `None` when the rows already have it.
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

    pub(crate) fn permuted(self, order: &[u32]) -> Self {
        Self {
            filed: permuted(&self.filed, order),
            ids: permuted(&self.ids, order),
            overflow_ids: self.overflow_ids.permuted(order),
            dissolved: permuted(&self.dissolved, order),
            documents: permuted(&self.documents, order),
            overflow_documents: self.overflow_documents.permuted(order),
            names: self.names.permuted(order),
            url_prefix: self.url_prefix,
            overflow_urls: self.overflow_urls.permuted(order),
        }
    }

    /// The id of a row as a hash key.
    pub(crate) fn id_key(&self, row: u32) -> u64 {
        self.ids[row as usize].cast_unsigned()
    }

    /// The id of a row as it was sent, where that is not its number.
    pub(crate) fn id_text(&self, row: u32) -> Option<&str> {
        self.overflow_ids.get(row)
    }

    /// The document number of a row; a packed one is written to `buffer`.
    pub(crate) fn document_number<'a>(&'a self, row: u32, buffer: &'a mut Unpacked) -> &'a str {
        match self.documents[row as usize] {
            UNPACKABLE_DOCUMENT => self.overflow_documents.get(row).unwrap_or_default(),
            packed => unpack_document(packed, buffer),
        }
    }

    /// The link of a row, which has this document number, to its public page, in two parts.
    pub(crate) fn url<'a>(&'a self, row: u32, document_number: &'a str) -> [&'a str; 2] {
        let prefix = self.url_prefix.as_deref().unwrap_or_default();
        self.overflow_urls.get(row).map_or([prefix, document_number], |url| [url, ""])
    }

    /// The rows filed from `first` to `last`, both included.
    pub(crate) fn filed_between(&self, first: Option<i32>, last: i32) -> Range<u32> {
        let start = self.filed.partition_point(|day| *day > last);
        let end = first.map_or(self.filed.len(), |first| self.filed.partition_point(|day| *day >= first));
        let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        number(start)..number(end.max(start))
    }

    fn bytes(&self) -> usize {
        let overflow = [&self.overflow_ids, &self.overflow_documents, &self.overflow_urls];
        size_of::<i32>() * (self.filed.capacity() + self.dissolved.capacity())
            + size_of::<u64>() * (self.ids.capacity() + self.documents.capacity())
            + self.names.bytes()
            + overflow.map(OverflowTexts::bytes).iter().sum::<usize>()
    }
}

/// The columns that are stored as codes, because their texts repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodedField {
    EntityType,
    CompanyType,
    Status,
    City,
    Zip,
    County,
    Sector,
    IndustryType,
}

pub(crate) const CODED_FIELDS: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct RowBuffer {
    pub(crate) uncoded: UncodedColumns,
    /// Whether listings and counts show each row; look-ups find it anyway.
    pub(crate) listed: Vec<bool>,
    coded: [CodedColumn; CODED_FIELDS],
}

impl RowBuffer {
    pub(crate) fn coded(&self, field: CodedField) -> &CodedColumn {
        &self.coded[field as usize]
    }

    pub(crate) fn coded_mut(&mut self, field: CodedField) -> &mut CodedColumn {
        &mut self.coded[field as usize]
    }

    /// Makes room for more rows: columns that grow are copied again and again.
    pub(crate) fn reserve(&mut self, rows: usize, name_bytes: usize) {
        self.uncoded.reserve(rows, name_bytes);
        self.listed.reserve(rows);
        self.coded.iter_mut().for_each(|column| column.codes.reserve(rows));
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.uncoded.append(other.uncoded);
        self.listed.extend(other.listed);
        for (column, added) in self.coded.iter_mut().zip(&other.coded) {
            column.append(added);
        }
    }

    pub(crate) fn permuted(self, order: &[u32]) -> Self {
        Self {
            uncoded: self.uncoded.permuted(order),
            listed: permuted(&self.listed, order),
            coded: self.coded.map(|column| column.permuted(order)),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) uncoded: UncodedColumns,
    /// Flags and codes of each row.
    pub(crate) packed_rows: Vec<u64>,
    pub(crate) layout: Layout,
    /// The texts of each coded field; a code of [`Field::Industry`] has a sector and an industry type.
    pub(crate) dictionaries: [Dictionary; CODED_FIELDS],
    /// The code of the type whose rows are not served as businesses, if there is one: only the statistics count them.
    pub(crate) unserved: Option<u32>,
}

impl Columns {
    pub(crate) fn texts(&self, field: CodedField) -> &Dictionary {
        &self.dictionaries[field as usize]
    }

    pub(crate) fn code(&self, field: Field, row: u32) -> u32 {
        self.layout.code(field, row, self.packed_rows[row as usize])
    }

    /// Whether a row is served as a business.
    pub(crate) fn is_served(&self, row: u32) -> bool {
        self.unserved.is_none_or(|kind| self.code(Field::Kind, row) != kind)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.uncoded.bytes()
            + size_of::<u64>() * self.packed_rows.capacity()
            + self.layout.bytes()
            + self.dictionaries.iter().map(Dictionary::bytes).sum::<usize>()
    }
}

/// Characters of a packed number at most.
const MAX_PACKED: usize = 12;
/// The digits, the letters, and the end of the text.
const SYMBOLS: u64 = 37;

/// Room for the characters of an unpacked number.
pub(super) type Unpacked = [u8; MAX_PACKED];

/// The symbol of each byte; 0 of one that has none.
const SYMBOL_OF: [u8; 256] = {
    let mut symbols = [0; 256];
    let mut symbol = 1;
    while symbol < SYMBOLS as u8 {
        symbols[if symbol <= 10 { b'0' + symbol - 1 } else { b'A' + symbol - 11 } as usize] = symbol;
        symbol += 1;
    }
    symbols
};

/// A text of 1 to 12 digits and capital letters as a number of its own that keeps the order of the texts; `None` for any
/// other text.
pub(super) fn pack_document(text: &str) -> Option<u64> {
    if text.is_empty() || text.len() > MAX_PACKED {
        return None;
    }
    let symbols = || text.bytes().map(|byte| SYMBOL_OF[usize::from(byte)]);
    let number = symbols().fold(0, |number, symbol| number * SYMBOLS + u64::from(symbol));
    let padding = SYMBOLS.pow((MAX_PACKED - text.len()) as u32);
    symbols().all(|symbol| symbol != 0).then_some(number * padding)
}

/// The text of a packed number, written to `bytes`.
pub(super) fn unpack_document(mut number: u64, bytes: &mut Unpacked) -> &str {
    let mut length = 0;
    for place in (0..MAX_PACKED).rev() {
        let symbol = (number % SYMBOLS) as u8;
        number /= SYMBOLS;
        bytes[place] = match symbol {
            0 => 0,
            1..=10 => b'0' + symbol - 1,
            _ => b'A' + symbol - 11,
        };
        length = if symbol != 0 && length == 0 { place + 1 } else { length };
    }
    std::str::from_utf8(&bytes[..length]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Id, document number, link.
    const ROWS: [[&str; 3]; 6] = [
        ["5000001", "L26000000001", "https://a.example/fl/L26000000001"],
        ["5000002", "L26000000002", "https://a.example/fl/L26000000002"],
        ["fl-5000003", "L26000000003", "https://b.example/L26000000003"],
        ["05000004", "L-4", "https://a.example/fl/L-4"],
        ["5000005", "L26000000005", ""],
        ["5000006", "L26000000006", "https://a.example/fl/L26000000006.html"],
    ];

    fn columns(rows: impl IntoIterator<Item = usize>) -> UncodedColumns {
        let mut columns = UncodedColumns::default();
        for row in rows {
            let [id, document_number, url] = ROWS[row];
            let business_id = 5_000_001 + row as i64;
            let (name, filed_day, dissolved_day) = ("", 0, None);
            columns.push(UncodedCells {
                business_id,
                id: (id != business_id.to_string()).then_some(id),
                document_number,
                name,
                filed_day,
                dissolved_day,
                url,
            });
        }
        columns
    }

    fn texts(columns: &UncodedColumns) -> Vec<[String; 3]> {
        let texts = |row| {
            let mut buffer = Unpacked::default();
            let document_number = columns.document_number(row, &mut buffer);
            let id =
                columns.id_text(row).map_or_else(|| columns.ids[row as usize].to_string(), str::to_owned);
            [id, document_number.to_owned(), columns.url(row, document_number).concat()]
        };
        (0_u32..).take(columns.rows()).map(texts).collect()
    }

    #[test]
    fn ids_document_numbers_and_links_are_read_back_in_any_order_and_appended() {
        assert_eq!(texts(&columns(0..6)), ROWS);
        let order = [5, 2, 4, 3, 1, 0];
        let turned = order.map(|row| ROWS[row as usize]);
        assert_eq!(texts(&columns(0..6).permuted(&order)), turned);
        // The two halves have different prefixes.
        let mut both = columns([2, 5]);
        both.append(columns(0..6));
        both.append(columns([1]));
        let expected: Vec<_> = [2, 5, 0, 1, 2, 3, 4, 5, 1].map(|row| ROWS[row]).to_vec();
        assert_eq!(texts(&both), expected);
        let mut empty = UncodedColumns::default();
        empty.append(columns(0..6));
        assert_eq!(texts(&empty), ROWS);
    }

    #[test]
    fn links_of_one_form_take_no_memory() {
        let mut both = columns(0..2);
        both.append(columns([3]));
        assert_eq!(both.overflow_urls, OverflowTexts::default());
    }

    #[test]
    fn packed_numbers_are_unpacked_and_keep_their_order() {
        let mut texts = ["L24000123456", "0", "00", "Z", "ZZZZZZZZZZZZ", "P12345", "P1234", "A0", "9"];
        texts.sort_unstable();
        let numbers = texts.map(|text| pack_document(text).expect(text));
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        for (text, number) in texts.iter().zip(numbers) {
            assert_eq!(unpack_document(number, &mut Unpacked::default()), *text);
        }
        for other in ["", "l24000123456", "L-1", "L240001234567", "É"] {
            assert_eq!(pack_document(other), None, "{other}");
        }
    }
}
