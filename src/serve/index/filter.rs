//! The filters of a listing other than day and name, translated into the codes of a snapshot.

use super::bit_slices::{FieldTest, RowTest};
use super::columns::{CodedField, Columns};
use super::dictionary::Dictionary;
use super::packed_row::{Field, Place, flag};
use crate::contract::reference::{EntityType, Industries};
use std::ops::Range;

/// The filters as they were sent; texts are folded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FilterTexts {
    pub(crate) city: Option<String>,
    pub(crate) zip: Option<String>,
    pub(crate) county: Option<String>,
    pub(crate) kind: Option<EntityType>,
    pub(crate) industry: Option<String>,
    pub(crate) with_dissolved: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Filter {
    pub(crate) test: RowTest,
    /// The wanted codes of the fields that are not in the packed row.
    spilled_fields: Vec<(Field, Vec<Range<u32>>)>,
}

impl Filter {
    /// The codes of filters; `None` when no row can pass.
    pub(crate) fn of(asked: &FilterTexts, columns: &Columns, industries: &Industries) -> Option<Self> {
        let mut filter = Self::default();
        filter.flags(flag::LISTED, flag::LISTED);
        if !asked.with_dissolved {
            filter.flags(flag::ACTIVE, flag::ACTIVE);
        }
        match asked.kind {
            // Fictitious names are listed only with `type=fictitious`.
            None => filter.flags(flag::ONLY_BY_TYPE, 0),
            Some(kind) => {
                let code = columns.texts(CodedField::EntityType).exactly(kind.key())?;
                let codes = code..code + 1;
                filter.add(columns, Field::Kind, vec![codes])?;
            }
        }
        if let Some(county) = &asked.county {
            filter.add(columns, Field::County, vec![columns.texts(CodedField::County).equal_to(county)])?;
        }
        if let Some(zip) = &asked.zip {
            filter.add(columns, Field::Zip, vec![codes_of_zip(columns.texts(CodedField::Zip), zip)])?;
        }
        if let Some(city) = &asked.city {
            filter.add(columns, Field::City, vec![columns.texts(CodedField::City).equal_to(city)])?;
        }
        if let Some(key) = &asked.industry {
            filter.add(columns, Field::Industry, IndustryMeaning::of(key, industries)?.codes(columns))?;
        }
        Some(filter)
    }

    fn flags(&mut self, mask: u64, want: u64) {
        self.test.mask |= mask;
        self.test.want |= want;
    }

    /// Adds the wanted codes of a field; `None` when there are none.
    fn add(&mut self, columns: &Columns, field: Field, mut ranges: Vec<Range<u32>>) -> Option<()> {
        ranges.retain(|range| !range.is_empty());
        match (columns.layout.place(field), ranges.as_slice()) {
            (_, []) => return None,
            (Place::Packed { shift, mask }, [range]) if range.len() == 1 => {
                self.flags(mask << shift, u64::from(range.start) << shift);
            }
            (Place::Packed { shift, mask }, _) => {
                self.test.fields.push(FieldTest { shift: *shift, bits: mask.count_ones(), ranges });
            }
            (Place::Spilled(_), _) => self.spilled_fields.push((field, ranges)),
        }
        Some(())
    }

    /// Whether the packed row decides alone.
    pub(crate) const fn is_packed(&self) -> bool {
        self.spilled_fields.is_empty()
    }

    /// Whether the spilled fields of a row pass.
    pub(crate) fn passes_spilled_fields(&self, row: u32, columns: &Columns) -> bool {
        self.spilled_fields.iter().all(|(field, ranges)| {
            let code = columns.code(*field, row);
            ranges.iter().any(|range| range.contains(&code))
        })
    }
}

/// The codes of a ZIP filter: five digits are exact, fewer are a prefix.
fn codes_of_zip(zips: &Dictionary, zip: &str) -> Range<u32> {
    match zip {
        exact if exact.len() == 5 => zips.equal_to(exact),
        prefix => zips.with_prefix(prefix),
    }
}

/// The sectors and types of an industry key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndustryMeaning {
    pub(crate) sectors: Vec<String>,
    pub(crate) types: Vec<String>,
}

impl IndustryMeaning {
    /// The meaning of a key: a sector, else a type, else a segment; `None` when the lists do not have it.
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

    /// The industry codes of the key; those of a sector are neighbours.
    fn codes(&self, columns: &Columns) -> Vec<Range<u32>> {
        let texts =
            columns.texts(CodedField::Sector).texts().zip(columns.texts(CodedField::IndustryType).texts());
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
