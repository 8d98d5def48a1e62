//! What a listing asks of a row beside its day and its name, in the codes of a snapshot.

use super::bit_slices::{Test, Wanted};
use super::dictionary::Dictionary;
use super::packed_row::{Field, Place, flag};
use super::{Columns, Index};
use crate::contract::id::ZipPrefix;
use crate::contract::reference::{EntityType, Industries};
use std::ops::Range;

/// What is asked for; texts are folded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    pub(crate) city: Option<String>,
    pub(crate) zip: Option<ZipPrefix>,
    pub(crate) county: Option<String>,
    pub(crate) kind: Option<EntityType>,
    pub(crate) industry: Option<String>,
    pub(crate) with_dissolved: bool,
}

/// The same in codes: what the word must be, and what has no room in the word.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    pub(crate) test: Test,
    beside: Vec<(Field, Vec<Range<u32>>)>,
}

impl Filter {
    /// `None` when no row can pass.
    pub(crate) fn of(asked: &Asked, index: &Index) -> Option<Self> {
        let columns = &index.columns;
        let mut filter = Self::default();
        filter.flags(flag::LISTED, flag::LISTED);
        if !asked.with_dissolved {
            filter.flags(flag::ACTIVE, flag::ACTIVE);
        }
        match asked.kind {
            // Fictitious names are shown only when asked for by type.
            None => filter.flags(flag::FICTITIOUS, 0),
            Some(kind) => {
                let code = columns.kinds.exactly(kind.key())?;
                let codes = code..code + 1;
                filter.add(columns, Field::Kind, vec![codes])?;
            }
        }
        if let Some(county) = &asked.county {
            filter.add(columns, Field::County, vec![columns.counties.equal_to(county)])?;
        }
        if let Some(zip) = &asked.zip {
            filter.add(columns, Field::Zip, vec![codes_of_zip(&columns.zips, zip)])?;
        }
        if let Some(city) = &asked.city {
            filter.add(columns, Field::City, vec![columns.cities.equal_to(city)])?;
        }
        if let Some(key) = &asked.industry {
            let meaning = IndustryMeaning::of(key, &index.industries).unwrap_or_default();
            filter.add(columns, Field::Industry, meaning.codes(columns))?;
        }
        Some(filter)
    }

    fn flags(&mut self, mask: u64, want: u64) {
        self.test.mask |= mask;
        self.test.want |= want;
    }

    /// Asks for some codes of a field; `None` when there are none.
    fn add(&mut self, columns: &Columns, field: Field, mut ranges: Vec<Range<u32>>) -> Option<()> {
        ranges.retain(|range| !range.is_empty());
        match (columns.layout.place(field), ranges.as_slice()) {
            (_, []) => return None,
            (Place::Word { shift, mask }, [range]) if range.len() == 1 => {
                self.flags(mask << shift, u64::from(range.start) << shift);
            }
            (Place::Word { shift, mask }, _) => {
                self.test.fields.push(Wanted { shift: *shift, bits: mask.count_ones(), ranges });
            }
            (Place::Beside(_), _) => self.beside.push((field, ranges)),
        }
        Some(())
    }

    /// Whether the word alone says who passes.
    pub(crate) const fn is_of_the_word(&self) -> bool {
        self.beside.is_empty()
    }

    /// Whether a row passes in what its word does not hold.
    pub(crate) fn passes_beside(&self, row: u32, columns: &Columns) -> bool {
        self.beside.iter().all(|(field, ranges)| {
            let code = columns.code(*field, row);
            ranges.iter().any(|range| range.contains(&code))
        })
    }
}

/// Five digits are exact, fewer a prefix; digits have no case.
fn codes_of_zip(zips: &Dictionary, zip: &ZipPrefix) -> Range<u32> {
    let beginning = zips.beginning_with(zip.as_str());
    match beginning.clone().find(|code| zips.text(*code) == zip.as_str()) {
        Some(code) if zip.as_str().len() == 5 => code..code + 1,
        None if zip.as_str().len() == 5 => 0..0,
        _ => beginning,
    }
}

/// The sectors and types an industry key stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IndustryMeaning {
    pub(crate) sectors: Vec<String>,
    pub(crate) types: Vec<String>,
}

impl IndustryMeaning {
    /// Reads a key: a sector, else a type, else a segment; `None` when the lists have none of them.
    pub(crate) fn of(key: &str, lists: &Industries) -> Option<Self> {
        if lists.sectors.iter().any(|entry| entry.sector == key) {
            return Some(Self { sectors: vec![key.to_owned()], types: Vec::new() });
        }
        if lists.sectors.iter().any(|entry| entry.types.iter().any(|kind| kind == key)) {
            return Some(Self { sectors: Vec::new(), types: vec![key.to_owned()] });
        }
        let segment = lists.segments.iter().find(|segment| segment.key == key)?;
        Some(Self { sectors: segment.sectors.clone(), types: segment.types.clone() })
    }

    /// The industry codes it stands for; those of a sector lie next to each other.
    fn codes(&self, columns: &Columns) -> Vec<Range<u32>> {
        let texts = columns.sectors.texts().zip(columns.industry_types.texts());
        let holds = |list: &[String], text: &str| list.iter().any(|wanted| wanted == text);
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for (code, (sector, kind)) in (0..).zip(texts) {
            if !holds(&self.sectors, sector) && !holds(&self.types, kind) {
                continue;
            }
            match ranges.last_mut().filter(|last| last.end == code) {
                Some(last) => last.end = code + 1,
                None => ranges.push(code..code + 1),
            }
        }
        ranges
    }
}
