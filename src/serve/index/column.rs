//! Columns in memory: texts in one string, repeated texts as codes, and short lists of values that other columns cannot store.

use hashbrown::HashMap;
use std::hint::black_box;

/// Rows whose ends are counted from one base; their texts are far below 4 GiB.
const BLOCK_ROWS: usize = 1 << 16;

/// Texts that mostly differ, in one string; 4 bytes a row are added to them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TextColumn {
    texts: String,
    /// Where each text ends, from the base of its block.
    ends: Vec<u32>,
    /// Where each block begins.
    bases: Vec<usize>,
}

impl TextColumn {
    pub(crate) fn push(&mut self, text: &str) {
        if self.ends.len().is_multiple_of(BLOCK_ROWS) {
            self.bases.push(self.texts.len());
        }
        let base = self.bases.last().copied().unwrap_or_default();
        self.texts.push_str(text);
        self.ends.push(u32::try_from(self.texts.len() - base).unwrap_or(u32::MAX));
    }

    pub(crate) fn get(&self, row: u32) -> &str {
        let row = row as usize;
        let base = self.bases[row / BLOCK_ROWS];
        &self.texts[base + self.start(row)..base + self.ends[row] as usize]
    }

    /// Fetches some texts into the processor's cache, all at once.
    pub(crate) fn fetch(&self, rows: &[u32]) {
        let texts = rows.iter().map(|row| self.get(*row).as_bytes());
        let outer = texts.filter_map(|text| Some(text.first()? ^ text.last()?));
        black_box(outer.fold(0, |all, byte| all ^ byte));
    }

    /// Where the text of a row begins, from the base of its block.
    fn start(&self, row: usize) -> usize {
        if row.is_multiple_of(BLOCK_ROWS) { 0 } else { self.ends[row - 1] as usize }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Makes room for more rows, whose texts have this number of bytes.
    pub(crate) fn reserve(&mut self, rows: usize, bytes: usize) {
        self.ends.reserve(rows);
        self.texts.reserve(bytes);
    }

    /// Adds the texts of another column, as many at once as are in one block of both.
    pub(crate) fn append(&mut self, other: &Self) {
        let mut row = 0;
        while row < other.len() {
            let place = self.ends.len() % BLOCK_ROWS;
            if place == 0 {
                self.bases.push(self.texts.len());
            }
            let rows = (other.len() - row).min(BLOCK_ROWS - place).min(BLOCK_ROWS - row % BLOCK_ROWS);
            let (from, ends) = (other.start(row), &other.ends[row..row + rows]);
            let base = other.bases[row / BLOCK_ROWS];
            let to = ends.last().map_or(from, |end| *end as usize);
            let start = self.texts.len() - self.bases.last().copied().unwrap_or_default();
            self.texts.push_str(&other.texts[base + from..base + to]);
            let moved = |end: &u32| u32::try_from(*end as usize - from + start).unwrap_or(u32::MAX);
            self.ends.extend(ends.iter().map(moved));
            row += rows;
        }
    }

    pub(crate) fn permuted(&self, order: &[u32]) -> Self {
        let (texts, ends) = (String::with_capacity(self.texts.len()), Vec::with_capacity(order.len()));
        let mut sorted = Self { texts, ends, bases: Vec::new() };
        for row in order {
            sorted.push(self.get(*row));
        }
        sorted
    }

    pub(crate) fn shrink(&mut self) {
        self.texts.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.texts.capacity()
            + size_of::<u32>() * self.ends.capacity()
            + size_of::<usize>() * self.bases.len()
    }
}

/// Texts of the rows or businesses that have one, found by their number.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TextsByNumber<N> {
    numbers: Vec<N>,
    texts: TextColumn,
}

impl<N: Copy + Ord> TextsByNumber<N> {
    pub(crate) fn push(&mut self, number: N, text: &str) {
        self.numbers.push(number);
        self.texts.push(text);
    }

    /// The same texts, ready for [`TextsByNumber::get`].
    pub(crate) fn sorted(mut self) -> Self {
        if self.numbers.is_sorted() {
            self.numbers.shrink_to_fit();
            self.texts.shrink();
            return self;
        }
        let mut order: Vec<u32> = (0_u32..).take(self.numbers.len()).collect();
        order.sort_by_key(|place| self.numbers[*place as usize]);
        Self { numbers: permuted(&self.numbers, &order), texts: self.texts.permuted(&order) }
    }

    /// The text of a number; of several the one that came last.
    pub(crate) fn get(&self, number: N) -> Option<&str> {
        let after = self.numbers.partition_point(|other| *other <= number);
        let place = after.checked_sub(1).filter(|place| self.numbers[*place] == number)?;
        u32::try_from(place).ok().map(|place| self.texts.get(place))
    }

    /// All texts of a number, in the order in which they came.
    pub(crate) fn all(&self, number: N) -> impl Iterator<Item = &str> {
        let first = self.numbers.partition_point(|other| *other < number);
        let places = (first..self.numbers.len()).take_while(move |place| self.numbers[*place] == number);
        places.filter_map(|place| u32::try_from(place).ok()).map(|place| self.texts.get(place))
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of::<N>() * self.numbers.capacity() + self.texts.bytes()
    }
}

/// Texts by row: the few values of a column that its short form cannot store. Each is added after those of all rows before.
pub(crate) type OverflowTexts = TextsByNumber<u32>;

impl OverflowTexts {
    /// Adds the texts of another list, whose row 0 is row `first` here.
    pub(crate) fn append(&mut self, first: u32, other: &Self) {
        self.numbers.extend(other.numbers.iter().map(|row| first + row));
        self.texts.append(&other.texts);
    }

    /// The same texts after the rows changed their order.
    pub(crate) fn permuted(&self, order: &[u32]) -> Self {
        let mut sorted = Self::default();
        if !self.numbers.is_empty() {
            let texts = (0..).zip(order).filter_map(|(to, from)| Some((to, self.get(*from)?)));
            texts.for_each(|(row, text)| sorted.push(row, text));
        }
        sorted
    }
}

/// Texts that repeat, while rows are collected: a code a row, each text once, codes in the order of appearance.
#[derive(Debug, Default)]
pub(crate) struct CodedColumn {
    pub(crate) codes: Vec<u32>,
    /// Every text, at the place of its code.
    pub(crate) values: Vec<Box<str>>,
    code_of: HashMap<Box<str>, u32>,
}

impl CodedColumn {
    /// Adds rows by their place in a list of texts; a place outside the list is an empty text.
    pub(crate) fn extend<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
        places: impl IntoIterator<Item = usize>,
    ) {
        let codes: Vec<u32> = texts.into_iter().map(|text| self.code_of(text)).collect();
        for place in places {
            let code = codes.get(place).copied().unwrap_or_else(|| self.code_of(""));
            self.codes.push(code);
        }
    }

    pub(crate) fn append(&mut self, other: &Self) {
        self.extend(other.values.iter().map(|text| &**text), other.codes.iter().map(|code| *code as usize));
    }

    pub(crate) fn permuted(self, order: &[u32]) -> Self {
        Self { codes: permuted(&self.codes, order), ..self }
    }

    /// The code of a text; a new text gets a new code.
    fn code_of(&mut self, text: &str) -> u32 {
        if let Some(code) = self.code_of.get(text) {
            return *code;
        }
        let code = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.values.push(text.into());
        self.code_of.insert(text.into(), code);
        code
    }
}

/// A code a row, in the narrowest integer that fits the largest.
#[derive(Debug)]
pub(crate) enum NarrowCodes {
    Byte(Vec<u8>),
    Short(Vec<u16>),
    Word(Vec<u32>),
}

impl NarrowCodes {
    /// Codes below `count`.
    pub(crate) fn new(codes: impl Iterator<Item = u32>, count: usize) -> Self {
        match count {
            0..=0x100 => Self::Byte(codes.map(|code| u8::try_from(code).unwrap_or(u8::MAX)).collect()),
            0x101..=0x1_0000 => {
                Self::Short(codes.map(|code| u16::try_from(code).unwrap_or(u16::MAX)).collect())
            }
            _ => Self::Word(codes.collect()),
        }
    }

    pub(crate) fn get(&self, row: u32) -> u32 {
        match self {
            Self::Byte(codes) => codes[row as usize].into(),
            Self::Short(codes) => codes[row as usize].into(),
            Self::Word(codes) => codes[row as usize],
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Byte(codes) => codes.capacity(),
            Self::Short(codes) => 2 * codes.capacity(),
            Self::Word(codes) => 4 * codes.capacity(),
        }
    }
}

pub(crate) fn permuted<T: Copy>(values: &[T], order: &[u32]) -> Vec<T> {
    order.iter().map(|row| values[*row as usize]).collect()
}

/// Items by their groups, which are below `count`, and where each group begins; the items of a group keep their order.
pub(super) fn by_group<T: Copy + Default>(
    items: impl Iterator<Item = T> + Clone,
    count: usize,
    group: impl Fn(T) -> usize,
) -> (Vec<T>, Vec<usize>) {
    let mut starts = vec![0; count + 1];
    items.clone().for_each(|item| starts[group(item) + 1] += 1);
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let (mut sorted, mut next) = (vec![T::default(); starts[count]], starts.clone());
    for item in items {
        let free = &mut next[group(item)];
        sorted[*free] = item;
        *free += 1;
    }
    (sorted, starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back_in_any_order_across_blocks_and_appended() {
        let text = |row: u32| if row.is_multiple_of(5) { String::new() } else { row.to_string() };
        let column = |rows: &[u32]| {
            let mut column = TextColumn::default();
            rows.iter().for_each(|row| column.push(&text(*row)));
            column
        };
        let rows: Vec<u32> = (0..BLOCK_ROWS as u32 + 3).collect();
        let order: Vec<u32> = rows.iter().rev().copied().collect();
        let (texts, turned) = (column(&rows), column(&order));
        assert!(texts.permuted(&order) == turned);
        assert!(rows.iter().all(|row| texts.get(*row) == text(*row)));
        let mut all = TextColumn::default();
        for part in [&turned, &TextColumn::default(), &column(&[7]), &texts, &texts] {
            all.append(part);
        }
        assert!(all == column(&[&order[..], &[7], &rows, &rows].concat()));
    }

    #[test]
    fn appended_columns_share_their_codes() {
        let (mut one, mut other) = (CodedColumn::default(), CodedColumn::default());
        one.extend(["b", ""], [0, 1, 0]);
        other.extend(["a", "b"], [0, 1]);
        one.append(&other);
        let read: Vec<_> = one.codes.iter().map(|code| &*one.values[*code as usize]).collect();
        assert_eq!(read, ["b", "", "b", "a", "b"]);
        assert_eq!(one.values.len(), 3);
    }

    #[test]
    fn narrow_codes_store_every_code_of_their_count() {
        for count in [1_usize, 256, 257, 65_536, 65_537] {
            let last = u32::try_from(count - 1).expect("small");
            let codes = NarrowCodes::new([0, last].into_iter(), count);
            assert_eq!((codes.get(0), codes.get(1)), (0, last), "{count}");
        }
    }
}
