//! Rows in any order → an index, sorted newest first.

use super::column::CodedColumn;
use super::columns::{CODED_FIELDS, CodedField, Columns, RowBuffer, UNPACKABLE_DOCUMENT};
use super::counts::{CountyName, OTHER, Tally};
use super::dictionary::{Dictionary, json_text};
use super::lookup::{Index, JsonById, RowTable};
use super::lookup_text::{detail_text, officers_text};
use super::month_files::MonthFiles;
use super::name_order::NameOrder;
use super::packed_row::{Layout, flag};
use crate::contract::business::{ACTIVE, Officer};
use crate::contract::county::{FLORIDA_COUNTIES, county_key};
use crate::contract::eastern::eastern_day;
use crate::contract::reference::{EntityType, Industries, Sector};
use crate::table::DetailRow;
use hashbrown::HashMap;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

/// Why rows do not make an index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Two rows of one business.
    #[error("business {0} occurs twice; the filings table must have one row a business")]
    Duplicate(i64),
    /// More rows than 32-bit row numbers.
    #[error("{0} rows are too many for one index; at most 4,294,967,295 fit")]
    TooMany(usize),
}

/// A change of a business, as the page at `/` is sent it.
#[derive(Debug, Serialize)]
pub(crate) struct SeenChange<'a> {
    /// First, because changes are sorted by their texts.
    pub(crate) observed_at: Timestamp,
    pub(crate) observed_on: Date,
    pub(crate) change: &'static str,
    pub(crate) field: &'a str,
    pub(crate) old: Option<&'a str>,
    pub(crate) new: Option<&'a str>,
}

/// Collects rows, details, officers, changes and lists; [`IndexBuilder::finish`] returns the index.
#[derive(Debug, Default)]
pub(crate) struct IndexBuilder {
    pub(crate) rows: RowBuffer,
    /// Whether the rows are of the state's files. There a filing type that the API does not have is `other`: it is counted, and
    /// is not served as a business. In other lakes `other` is what the API listed.
    pub(crate) is_of_state: bool,
    details: JsonById,
    officers: JsonById,
    without_officers: Vec<i64>,
    changes: JsonById,
    /// Details and officers that are read when they are asked for.
    pub(crate) stored_details: MonthFiles,
    pub(crate) stored_officers: MonthFiles,
    /// Without them the 67 of the state are shown.
    pub(crate) counties: Vec<CountyName>,
    /// Without them the sectors and types of the rows are shown.
    pub(crate) industries: Option<Industries>,
    /// The newest instant at which data was observed.
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) identity: [u8; 32],
}

impl IndexBuilder {
    /// Adds what a look-up of a business returned in addition to its summary.
    pub(crate) fn push_detail(&mut self, row: &DetailRow) {
        if row.officer_count == 0 {
            self.without_officers.push(row.business_id);
        }
        self.details.push(row.business_id, &detail_text(row));
    }

    /// Adds the officers of a business, sorted by name.
    pub(crate) fn push_officers<'a>(&mut self, business_id: i64, sorted: impl Iterator<Item = &'a Officer>) {
        self.officers.push(business_id, &officers_text(sorted));
    }

    pub(crate) fn push_change(&mut self, business_id: i64, change: &SeenChange<'_>) {
        self.changes.push(business_id, &json_text(change));
    }

    pub(crate) fn finish(mut self) -> Result<Index, IndexError> {
        let rows = self.rows.uncoded.rows();
        let rows = u32::try_from(rows).map_err(|_| IndexError::TooMany(rows))?;
        if let Some(order) = self.rows.uncoded.newest_first() {
            self.rows = self.rows.permuted(&order);
        }
        if self.counties.is_empty() {
            self.counties = FLORIDA_COUNTIES
                .map(|name| CountyName { key: county_key(name), name: name.to_owned() })
                .to_vec();
        }
        self.without_officers.sort_unstable();
        let columns = columns_of(self.rows, self.is_of_state.then_some(OTHER));
        let industries = self.industries.unwrap_or_else(|| industries_of(&columns));
        // Sorting the names takes as long as everything else.
        let (by_name, (by_id, by_document, tally)) = rayon::join(
            || NameOrder::sorted(&columns.uncoded.names, &columns.packed_rows, columns.layout.bits),
            || (by_id(&columns, rows), by_document(&columns, rows), Tally::of(&columns)),
        );
        let updated_at = self.updated_at.unwrap_or(Timestamp::UNIX_EPOCH);
        Ok(Index {
            by_id: by_id?,
            by_document,
            by_name,
            details: self.details.sorted(),
            officers: self.officers.sorted(),
            stored_details: self.stored_details,
            stored_officers: self.stored_officers,
            without_officers: self.without_officers,
            changes: self.changes.sorted(),
            county_names: self.counties,
            industries,
            updated_at,
            day: eastern_day(updated_at),
            identity: self.identity,
            is_invented: false,
            snapshot: None,
            tally,
            columns,
        })
    }
}

/// Sorted rows → columns of codes in sorted dictionaries, and packed rows. Rows of the type `unserved` are no businesses.
fn columns_of(mut rows: RowBuffer, unserved: Option<&str>) -> Columns {
    let flags = flags_of(&rows, unserved);
    let mut take = |field| std::mem::take(rows.coded_mut(field));
    let (sectors, types) = (take(CodedField::Sector), take(CodedField::IndustryType));
    let single = [
        CodedField::EntityType,
        CodedField::County,
        CodedField::Zip,
        CodedField::City,
        CodedField::CompanyType,
        CodedField::Status,
    ];
    let mut dictionaries = <[Dictionary; CODED_FIELDS]>::default();
    let fields = std::thread::scope(|scope| {
        let running = single
            .map(|field| (field, take(field)))
            .map(|(field, column)| (field, scope.spawn(|| recoded(column))));
        let (sectors, types, codes) = paired(&sectors, &types);
        let industry = (codes, sectors.len());
        dictionaries[CodedField::Sector as usize] = sectors;
        dictionaries[CodedField::IndustryType as usize] = types;
        let [kind, county, zip, city, company_type, status] = running.map(|(field, running)| {
            let (dictionary, codes) = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let count = dictionary.len();
            dictionaries[field as usize] = dictionary;
            (codes, count)
        });
        [kind, county, industry, zip, city, company_type, status]
    });
    let (layout, packed_rows) = Layout::pack(flags, fields);
    let mut uncoded = rows.uncoded;
    uncoded.names.shrink();
    let unserved = unserved.and_then(|kind| dictionaries[CodedField::EntityType as usize].exactly(kind));
    Columns { uncoded, packed_rows, layout, dictionaries, unserved }
}

/// The sorted texts of a column, and the code of each row.
fn recoded(column: CodedColumn) -> (Dictionary, Vec<u32>) {
    let (dictionary, code_of) = Dictionary::sorted(&column);
    let mut codes = column.codes;
    codes.iter_mut().for_each(|code| *code = code_of[*code as usize]);
    (dictionary, codes)
}

fn flags_of(rows: &RowBuffer, unserved: Option<&str>) -> Vec<u64> {
    let (statuses, kinds) = (rows.coded(CodedField::Status), rows.coded(CodedField::EntityType));
    let is = |column: &CodedColumn, texts: &[Option<&str>]| -> Vec<bool> {
        column.values.iter().map(|value| texts.contains(&Some(&**value))).collect()
    };
    let active = is(statuses, &[Some(ACTIVE)]);
    let only_by_type = is(kinds, &[Some(EntityType::Fictitious.key()), unserved]);
    let flag = |holds: bool, flag: u64| if holds { flag } else { 0 };
    rows.listed
        .iter()
        .zip(statuses.codes.iter().zip(&kinds.codes))
        .map(|(listed, (status, kind))| {
            // A dissolved row is in no default listing, but always in those of `status=all`.
            flag(*listed || !active[*status as usize], flag::LISTED)
                | flag(active[*status as usize], flag::ACTIVE)
                | flag(only_by_type[*kind as usize], flag::ONLY_BY_TYPE)
        })
        .collect()
}

/// The distinct pairs of two columns, sorted, and the pair of each row.
fn paired(one: &CodedColumn, other: &CodedColumn) -> (Dictionary, Dictionary, Vec<u32>) {
    let (mut place_of, mut pairs) = (HashMap::new(), Vec::new());
    let mut place = |a: u32, b: u32| {
        *place_of.entry((a, b)).or_insert_with(|| {
            pairs.push((&*one.values[a as usize], &*other.values[b as usize]));
            pairs.len() as u32 - 1
        })
    };
    let mut codes: Vec<u32> = one.codes.iter().zip(&other.codes).map(|(a, b)| place(*a, *b)).collect();
    let mut sorted: Vec<usize> = (0..pairs.len()).collect();
    sorted.sort_unstable_by_key(|place| pairs[*place]);
    let mut code_of = vec![0; pairs.len()];
    (0..).zip(&sorted).for_each(|(code, place)| code_of[*place] = code);
    let dictionary = |pick: fn((&str, &str)) -> Box<str>| {
        Dictionary::of(sorted.iter().map(|place| pick(pairs[*place])).collect())
    };
    codes.iter_mut().for_each(|code| *code = code_of[*code as usize]);
    (dictionary(|(a, _)| a.into()), dictionary(|(_, b)| b.into()), codes)
}

/// The sectors and types of the rows, sorted.
fn industries_of(columns: &Columns) -> Industries {
    let mut sectors: Vec<Sector> = Vec::new();
    for (sector, kind) in
        columns.texts(CodedField::Sector).texts().zip(columns.texts(CodedField::IndustryType).texts())
    {
        match sectors.last_mut() {
            Some(last) if last.sector == sector => last.types.push(kind.to_owned()),
            _ => sectors.push(Sector { sector: sector.to_owned(), types: vec![kind.to_owned()] }),
        }
    }
    Industries { sectors, segments: Vec::new() }
}

fn by_id(columns: &Columns, rows: u32) -> Result<RowTable, IndexError> {
    let served = (0..rows).filter(|row| columns.is_served(*row));
    match RowTable::of(served, rows as usize, |row| columns.uncoded.id_key(row)) {
        (_, Some(twice)) => Err(IndexError::Duplicate(columns.uncoded.ids[twice as usize])),
        (table, None) => Ok(table),
    }
}

/// The row of each document number. Newer rows come first, so the newest of several rows is stored.
fn by_document(columns: &Columns, rows: u32) -> RowTable {
    let documents = &columns.uncoded.documents;
    let packed =
        (0..rows).filter(|row| documents[*row as usize] != UNPACKABLE_DOCUMENT && columns.is_served(*row));
    RowTable::of(packed, rows as usize, |row| documents[row as usize]).0
}
