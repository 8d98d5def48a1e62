//! Numbers of many rows cut across: one line of bits for each bit of the numbers, so that a filter looks at its own bits alone,
//! five hundred rows at a time.

use std::ops::Range;

/// Rows of a block.
const BLOCK_ROWS: usize = 512;
/// Rows of a group: as many as a machine word has bits.
const GROUP_ROWS: usize = 64;
const GROUPS: usize = BLOCK_ROWS / GROUP_ROWS;

/// One bit of each row of a block; a line of the processor's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
struct Line([u64; GROUPS]);

impl Line {
    const NONE: Self = Self([0; GROUPS]);
    const ALL: Self = Self([u64::MAX; GROUPS]);

    fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, group| all | group) == 0
    }

    fn and(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(group, other)| *group &= other);
        self
    }

    fn or(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(group, other)| *group |= other);
        self
    }

    fn and_not(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(group, other)| *group &= !other);
        self
    }
}

/// Some neighbouring bits of a number, and the values wanted of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The lowest of the bits.
    pub(crate) shift: u32,
    /// How many they are.
    pub(crate) bits: u32,
    /// The values; a row passes with a value of any range.
    pub(crate) ranges: Vec<Range<u32>>,
}

impl Wanted {
    /// Whether a word has a value of the first range.
    pub(crate) fn held_by_word(&self) -> impl Fn(u64) -> bool {
        let (shift, mask) = (self.shift, (1_u64 << self.bits) - 1);
        let range = self.ranges.first().cloned().unwrap_or_default();
        let (start, length) = (u64::from(range.start), range.len() as u64);
        move |word| (word >> shift & mask).wrapping_sub(start) < length
    }

    fn passes(&self, word: u64) -> bool {
        let value = word >> self.shift & ((1 << self.bits) - 1);
        self.ranges.iter().any(|range| (u64::from(range.start)..range.end.into()).contains(&value))
    }

    fn of(&self, block: &[Line]) -> Line {
        let field = &block[self.shift as usize..(self.shift + self.bits) as usize];
        let held = |range: &Range<u32>| at_least(field, range.start).and_not(&at_least(field, range.end));
        self.ranges.iter().fold(Line::NONE, |all, range| all.or(&held(range)))
    }
}

/// The rows whose value is so large or larger: from the lowest bit on, a bit that is higher outweighs those below.
fn at_least(field: &[Line], value: u32) -> Line {
    if value.checked_shr(field.len() as u32).is_some_and(|beyond| beyond > 0) {
        return Line::NONE;
    }
    let zeros = (value.trailing_zeros() as usize).min(field.len());
    let mut rows = Line::ALL;
    for (bit, line) in field.iter().enumerate().skip(zeros) {
        rows = if value >> bit & 1 == 1 { rows.and(line) } else { rows.or(line) };
    }
    rows
}

/// What a number must be to pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Test {
    /// Bits that must be as in `want`.
    pub(crate) mask: u64,
    /// Those bits.
    pub(crate) want: u64,
    /// And the fields that must have a value of some.
    pub(crate) fields: Vec<Wanted>,
}

impl Test {
    /// Whether one word passes.
    pub(crate) fn passes(&self, word: u64) -> bool {
        word & self.mask == self.want && self.fields.iter().all(|field| field.passes(word))
    }

    /// The rows of a block that pass.
    fn of(&self, block: &[Line]) -> Line {
        let mut rows = Line::ALL;
        let mut left = self.mask;
        while left != 0 {
            let bit = left.trailing_zeros();
            let line = &block[bit as usize];
            rows = if self.want >> bit & 1 == 1 { rows.and(line) } else { rows.and_not(line) };
            left &= left - 1;
        }
        for field in &self.fields {
            if rows.is_empty() {
                break;
            }
            rows = rows.and(&field.of(block));
        }
        rows
    }
}

/// The numbers of all rows.
#[derive(Debug, Default)]
pub(crate) struct Slices {
    /// Block by block, in each the lowest bit first.
    lines: Vec<Line>,
    /// Lines of a block.
    bits: usize,
}

impl Slices {
    /// Cuts the lowest `bits` of so many numbers.
    pub(crate) fn cut(rows: usize, bits: u32, number: impl Fn(usize) -> u128 + Sync) -> Self {
        let bits = bits as usize;
        let blocks = rows.div_ceil(BLOCK_ROWS);
        let mut lines = vec![Line::NONE; blocks * bits];
        if bits > 0 {
            let (one, other) = lines.split_at_mut(blocks / 2 * bits);
            let fill = |lines: &mut [Line], first: usize| {
                for (block, lines) in (first..).zip(lines.chunks_mut(bits)) {
                    fill(lines, |row| if row < rows { number(row) } else { 0 }, block * BLOCK_ROWS);
                }
            };
            std::thread::scope(|scope| {
                scope.spawn(|| fill(one, 0));
                fill(other, blocks / 2);
            });
        }
        Self { lines, bits }
    }

    /// Gives the rows of a range that pass, 64 at a time: the first of them, and a bit for each.
    pub(crate) fn passing(&self, range: Range<usize>, test: &Test, mut take: impl FnMut(usize, u64)) {
        if range.is_empty() || self.bits == 0 {
            return;
        }
        let (first, end) = (range.start / BLOCK_ROWS, range.end.div_ceil(BLOCK_ROWS));
        let blocks = self.lines[first * self.bits..end * self.bits].chunks(self.bits);
        for (number, block) in (first..).zip(blocks) {
            let rows = test.of(block);
            if rows.is_empty() {
                continue;
            }
            for (group, bits) in rows.0.iter().enumerate() {
                let row = number * BLOCK_ROWS + group * GROUP_ROWS;
                let bits = bits & below(range.end, row) & !below(range.start, row);
                if bits != 0 {
                    take(row, bits);
                }
            }
        }
    }

    /// Memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Line>() * self.lines.capacity()
    }
}

/// Of the 64 rows from one on, a bit for each that lies before another.
fn below(end: usize, first: usize) -> u64 {
    match end.saturating_sub(first) {
        all if all >= GROUP_ROWS => u64::MAX,
        some => (1 << some) - 1,
    }
}

/// Cuts the numbers of a block.
fn fill(lines: &mut [Line], number: impl Fn(usize) -> u128, first: usize) {
    for group in 0..GROUPS {
        let (mut low, mut high) = ([0; GROUP_ROWS], [0; GROUP_ROWS]);
        for (place, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
            let number = number(first + group * GROUP_ROWS + place);
            (*low, *high) = (number as u64, (number >> GROUP_ROWS) as u64);
        }
        turn(&mut low);
        turn(&mut high);
        for (line, turned) in lines.iter_mut().zip(low.iter().chain(&high)) {
            line.0[group] = *turned;
        }
    }
}

/// Makes rows of columns, by swapping ever smaller squares across the diagonal.
fn turn(square: &mut [u64; GROUP_ROWS]) {
    let (mut side, mut mask) = (GROUP_ROWS / 2, u64::from(u32::MAX));
    while side > 0 {
        let mut row = 0;
        while row < GROUP_ROWS {
            let swapped = (square[row] >> side ^ square[row + side]) & mask;
            square[row] ^= swapped << side;
            square[row + side] ^= swapped;
            row = (row + side + 1) & !side;
        }
        side /= 2;
        mask ^= mask << side;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of 80 bits that looks drawn.
    fn number(row: usize) -> u128 {
        let mixed = (row as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_0C2F_4B1D_2E85);
        mixed >> 48
    }

    fn passes(test: &Test, number: u128) -> bool {
        let value = |field: &Wanted| (number >> field.shift) as u32 & ((1_u64 << field.bits) - 1) as u32;
        number as u64 & test.mask == test.want
            && test.fields.iter().all(|field| field.ranges.iter().any(|range| range.contains(&value(field))))
    }

    #[test]
    fn what_passes_is_what_a_look_at_each_number_gives() {
        let wanted = |shift, bits, ranges: &[(u32, u32)]| {
            let ranges = ranges.iter().map(|(start, end)| *start..*end).collect();
            Wanted { shift, bits, ranges }
        };
        let fields = [
            vec![],
            vec![wanted(3, 4, &[(2, 3)])],
            vec![wanted(3, 4, &[(0, 16)])],
            vec![wanted(3, 4, &[(5, 5)])],
            vec![wanted(3, 4, &[(1, 2), (4, 9), (15, 16)])],
            vec![wanted(60, 20, &[(77_777, 900_000)]), wanted(9, 7, &[(0, 64)])],
            vec![wanted(64, 16, &[(0, 65_536)])],
            vec![wanted(40, 32, &[(0, 1 << 31), (1 << 31, u32::MAX)])],
            vec![wanted(7, 0, &[(0, 1)])],
        ];
        for rows in [0_usize, 1, 64, 511, 512, 513, 3_000] {
            let slices = Slices::cut(rows, 80, number);
            for fields in &fields {
                for (mask, want) in [(0, 0), (0b101, 0b100), (0b11, 0b11)] {
                    let test = Test { mask, want, fields: fields.clone() };
                    for range in [0..rows, rows / 3..rows / 2, rows.min(1)..rows, rows..rows] {
                        let mut found = Vec::new();
                        slices.passing(range.clone(), &test, |first, bits| {
                            found.extend((0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| first + bit));
                        });
                        let expected: Vec<usize> = range.filter(|row| passes(&test, number(*row))).collect();
                        assert_eq!(found, expected, "{rows} {test:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_square_is_turned_over_its_diagonal() {
        let mut square: [u64; GROUP_ROWS] = std::array::from_fn(|row| number(row) as u64);
        let before = square;
        turn(&mut square);
        for (row, line) in before.iter().enumerate() {
            for (column, turned) in square.iter().enumerate() {
                assert_eq!(line >> column & 1, turned >> row & 1, "{row} {column}");
            }
        }
    }
}
