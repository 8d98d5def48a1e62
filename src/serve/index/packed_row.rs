//! The flags and filter codes of a row in one 64-bit number: the packed row.

use super::column::NarrowCodes;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

/// Flags, in the lowest bits of a packed row.
pub(crate) mod flag {
    /// Shown in listings and counts.
    pub(crate) const LISTED: u64 = 1;
    pub(crate) const ACTIVE: u64 = 2;
    /// Listed only where its type is asked for: a fictitious name, or a row that is not served. Nobody can ask for the type of
    /// the latter.
    pub(crate) const ONLY_BY_TYPE: u64 = 4;
}

const FLAG_BITS: u32 = 3;

/// A column of codes: those that listings filter by come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Kind,
    County,
    /// Sector and industry type.
    Industry,
    Zip,
    City,
    CompanyType,
    Status,
}

pub(crate) const FIELDS: usize = 7;

#[derive(Debug)]
pub(crate) enum Place {
    /// In the packed row.
    Packed {
        shift: u32,
        /// The bits of the field, shifted to the low end.
        mask: u64,
    },
    /// In a column of its own: the codes of a lake with very many different texts do not fit in the packed row.
    Spilled(NarrowCodes),
}

/// Where the codes of every field are stored.
#[derive(Debug)]
pub(crate) struct Layout {
    places: [Place; FIELDS],
    /// Number of bits in use in a packed row.
    pub(crate) bits: u32,
}

impl Layout {
    /// The layout and the packed rows. `packed` has the flags of each row; `fields`, in the order of [`Field`], the code of
    /// each row and the number of codes.
    pub(crate) fn pack(mut packed: Vec<u64>, fields: [(Vec<u32>, usize); FIELDS]) -> (Self, Vec<u64>) {
        let mut used = FLAG_BITS;
        let places = fields.map(|(codes, count)| {
            let bits = usize::BITS - count.saturating_sub(1).leading_zeros();
            if used + bits > u64::BITS {
                return Place::Spilled(NarrowCodes::new(codes.into_iter(), count));
            }
            let shift = used;
            used += bits;
            // A field with one text has no bits.
            if bits > 0 {
                packed.par_iter_mut().zip(codes).for_each(|(row, code)| *row |= u64::from(code) << shift);
            }
            Place::Packed { shift: shift.min(u64::BITS - 1), mask: (1_u64 << bits) - 1 }
        });
        (Self { places, bits: used }, packed)
    }

    pub(crate) const fn place(&self, field: Field) -> &Place {
        &self.places[field as usize]
    }

    /// The code of a row, whose packed row this is.
    pub(crate) fn code(&self, field: Field, row: u32, packed: u64) -> u32 {
        match self.place(field) {
            Place::Packed { shift, mask } => (packed >> shift & mask) as u32,
            Place::Spilled(codes) => codes.get(row),
        }
    }

    /// Memory of the spilled fields in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let spilled = |place: &Place| if let Place::Spilled(codes) = place { codes.bytes() } else { 0 };
        self.places.iter().map(spilled).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back_from_the_packed_row_or_the_spilled_field() {
        const ALL: [Field; FIELDS] = [
            Field::Kind,
            Field::County,
            Field::Industry,
            Field::Zip,
            Field::City,
            Field::CompanyType,
            Field::Status,
        ];
        for counts in [[1, 2, 3, 4, 5, 6, 7], [7, 80, 500, 60_000, 200_000, 9, 2], [1 << 20; FIELDS]] {
            let codes = counts.map(|count| vec![0, u32::try_from(count - 1).expect("small"), 0]);
            let mut fields = codes.clone().into_iter().zip(counts);
            let fields = std::array::from_fn(|_| fields.next().expect("seven"));
            let flags = [flag::LISTED, flag::ACTIVE | flag::ONLY_BY_TYPE, 0];
            let (layout, packed) = Layout::pack(flags.to_vec(), fields);
            for row in 0..3 {
                assert_eq!(packed[row] & 7, flags[row]);
                for field in ALL {
                    let found = layout.code(field, row as u32, packed[row]);
                    assert_eq!(found, codes[field as usize][row], "{counts:?} {field:?} {row}");
                }
            }
            let spilled =
                ALL.iter().filter(|field| matches!(layout.place(**field), Place::Spilled(_))).count();
            assert_eq!(spilled, if counts[0] > 1_000 { 4 } else { 0 });
        }
    }
}
