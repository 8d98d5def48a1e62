//! From a number to the row that has it: open addressing over row numbers, six bytes a row.

/// A place without a row.
const EMPTY: u32 = u32::MAX;

/// Finds rows by a number that each has; the numbers themselves stay where they are.
#[derive(Debug, Default)]
pub(crate) struct RowTable {
    places: Vec<u32>,
}

impl RowTable {
    /// A table with room for so many rows.
    pub(crate) fn with_rows(rows: usize) -> Self {
        Self { places: vec![EMPTY; rows + rows / 2 + 1] }
    }

    /// Adds a row, unless one with the same number is there already; that one is then given back.
    pub(crate) fn insert(&mut self, row: u32, number_of: impl Fn(u32) -> u64) -> Option<u32> {
        let number = number_of(row);
        let mut place = self.first_place(number);
        loop {
            match self.places[place] {
                EMPTY => {
                    self.places[place] = row;
                    return None;
                }
                other if number_of(other) == number => return Some(other),
                _ => place = self.next_place(place),
            }
        }
    }

    /// The row that has a number.
    pub(crate) fn find(&self, number: u64, number_of: impl Fn(u32) -> u64) -> Option<u32> {
        let mut place = self.first_place(number);
        loop {
            match *self.places.get(place)? {
                EMPTY => return None,
                row if number_of(row) == number => return Some(row),
                _ => place = self.next_place(place),
            }
        }
    }

    /// Memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<u32>() * self.places.capacity()
    }

    /// Neighbouring numbers are spread over the whole table.
    fn first_place(&self, number: u64) -> usize {
        let mixed = (number ^ number >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = mixed ^ mixed >> 29;
        let spread = u128::from(mixed.wrapping_mul(0xBF58_476D_1CE4_E5B9));
        ((spread * self.places.len() as u128) >> 64) as usize
    }

    fn next_place(&self, place: usize) -> usize {
        if place + 1 == self.places.len() { 0 } else { place + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_found_and_no_other() {
        let numbers: Vec<u64> = (0..10_000).map(|n| n * 3).collect();
        let number_of = |row: u32| numbers[row as usize];
        let mut table = RowTable::with_rows(numbers.len());
        for row in 0..10_000 {
            assert_eq!(table.insert(row, number_of), None);
        }
        assert_eq!(table.insert(7, number_of), Some(7));
        for number in 0..30_000_u64 {
            let expected = number.is_multiple_of(3).then_some((number / 3) as u32);
            assert_eq!(table.find(number, number_of), expected, "{number}");
        }
        assert_eq!(RowTable::with_rows(0).find(1, number_of), None);
        assert_eq!(RowTable::default().find(1, number_of), None);
    }
}
