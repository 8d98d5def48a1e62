//! What listings ask of a row, packed in one number: flags, and codes of type, county, industry, ZIP and city.

use super::column::NarrowCodes;

/// Flags, at the low end of a word.
pub(crate) mod flag {
    /// Shown in listings and counts.
    pub(crate) const LISTED: u64 = 1;
    /// Its status is `active`.
    pub(crate) const ACTIVE: u64 = 2;
    /// A fictitious name.
    pub(crate) const FICTITIOUS: u64 = 4;
}

const FLAG_BITS: u32 = 3;

/// A column whose codes are in the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// Business type.
    Kind,
    /// County.
    County,
    /// Sector and industry type.
    Industry,
    /// ZIP code.
    Zip,
    /// City.
    City,
}

/// How many fields there are.
pub(crate) const FIELDS: usize = 5;

/// Where the codes of a field are.
#[derive(Debug)]
pub(crate) enum Place {
    /// In the word.
    Word {
        /// Bits below it.
        shift: u32,
        /// Its bits, moved to the low end.
        mask: u64,
    },
    /// Beside it: a lake with so many different texts has no room for them in the word.
    Beside(NarrowCodes),
}

/// Where the codes of every field are.
#[derive(Debug)]
pub(crate) struct Layout {
    places: [Place; FIELDS],
    bits: u32,
}

impl Layout {
    /// Packs rows: `flags` a row, and for each field, in the order of [`Field`], its codes and how many there are.
    pub(crate) fn pack(flags: &[u64], fields: [(Vec<u32>, usize); FIELDS]) -> (Self, Vec<u64>) {
        let (mut words, mut used) = (flags.to_vec(), FLAG_BITS);
        let places = fields.map(|(codes, count)| {
            let bits = usize::BITS - count.saturating_sub(1).leading_zeros();
            if used + bits > u64::BITS {
                return Place::Beside(NarrowCodes::new(codes.into_iter(), count));
            }
            let shift = used;
            used += bits;
            // A field of one text has no bits.
            if bits > 0 {
                words.iter_mut().zip(codes).for_each(|(word, code)| *word |= u64::from(code) << shift);
            }
            Place::Word { shift: shift.min(u64::BITS - 1), mask: (1_u64 << bits) - 1 }
        });
        (Self { places, bits: used }, words)
    }

    /// How many bits of a word are in use.
    pub(crate) const fn bits(&self) -> u32 {
        self.bits
    }

    /// Where the codes of a field are.
    pub(crate) const fn place(&self, field: Field) -> &Place {
        &self.places[field as usize]
    }

    /// The code of a row, whose word this is.
    pub(crate) fn code(&self, field: Field, row: u32, word: u64) -> u32 {
        match self.place(field) {
            Place::Word { shift, mask } => (word >> shift & mask) as u32,
            Place::Beside(codes) => codes.get(row),
        }
    }

    /// Memory it holds beside the words.
    pub(crate) fn bytes(&self) -> usize {
        let beside = |place: &Place| if let Place::Beside(codes) = place { codes.bytes() } else { 0 };
        self.places.iter().map(beside).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back_from_the_word_or_from_beside_it() {
        const ALL: [Field; FIELDS] = [Field::Kind, Field::County, Field::Industry, Field::Zip, Field::City];
        for counts in [[1, 2, 3, 4, 5], [7, 80, 500, 60_000, 200_000], [1 << 20; FIELDS]] {
            let codes = counts.map(|count| vec![0, u32::try_from(count - 1).expect("small"), 0]);
            let mut fields = codes.clone().into_iter().zip(counts);
            let fields = std::array::from_fn(|_| fields.next().expect("five"));
            let flags = [flag::LISTED, flag::ACTIVE | flag::FICTITIOUS, 0];
            let (layout, words) = Layout::pack(&flags, fields);
            for row in 0..3 {
                assert_eq!(words[row] & 7, flags[row]);
                for field in ALL {
                    let found = layout.code(field, row as u32, words[row]);
                    assert_eq!(found, codes[field as usize][row], "{counts:?} {field:?} {row}");
                }
            }
            let beside = ALL.iter().filter(|field| matches!(layout.place(**field), Place::Beside(_))).count();
            assert_eq!(beside, if counts[0] > 1_000 { 2 } else { 0 });
        }
    }
}
