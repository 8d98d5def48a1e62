//! Rows sorted by name, and prefix search by binary search.
//!
//! Names with one prefix are neighbours in this order. All of them are in one run: the names with the same first two
//! characters. Each run is also stored newest first, the order of listings, with a bit-sliced index of its packed rows.
//! There, the place of a name in its run is one more number to filter by.

use super::bit_slices::{BitSlices, FieldTest, RowTest};
use super::case_fold::{compare_folded, compare_prefix, first_folded};
use super::column::{TextColumn, by_group};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::cmp::Ordering;
use std::ops::Range;

/// Rows by name, in runs whose names have the same first two characters.
#[derive(Debug, Default)]
pub(crate) struct NameOrder {
    by_name: Vec<u32>,
    /// The same runs, each newest first.
    newest_first: Vec<u32>,
    /// Where each run begins.
    runs: Vec<u32>,
    /// For each row of `newest_first`: its packed row, and in the bits above it its place by name in the run.
    slices: BitSlices,
    packed_bits: u32,
    place_bits: u32,
}

impl NameOrder {
    /// All rows, sorted without regard to case; of equal names the newest comes first.
    pub(crate) fn sorted(names: &TextColumn, packed_rows: &[u64], packed_bits: u32) -> Self {
        let (newest_first, starts) = by_two_bytes(names);
        let rows = newest_first.len();
        let mut order = Self { by_name: vec![0; rows], newest_first, packed_bits, ..Self::default() };
        let mut places = vec![0; rows];
        let groups = Group::all(&starts, &mut order.by_name, &mut order.newest_first, &mut places);
        let sorted = groups.into_par_iter().with_max_len(1).flat_map_iter(|group| sort_group(names, group));
        order.runs = sorted.collect();
        let ends = order.runs.iter().skip(1).copied().chain([to_u32(rows)]);
        let longest = order.runs.iter().zip(ends).map(|(start, end)| end - start).max().unwrap_or(0);
        order.place_bits = u32::BITS - longest.leading_zeros();
        order.slices = BitSlices::cut(rows, packed_bits + order.place_bits, |at| {
            let row = order.newest_first[at] as usize;
            u128::from(packed_rows[row]) | u128::from(places[at]) << packed_bits
        });
        order
    }

    /// The places of the names that begin with a folded prefix.
    pub(crate) fn with_prefix(&self, names: &TextColumn, folded: &str) -> Range<usize> {
        let order = |row: &u32| compare_prefix(names.get(*row), folded);
        let start = self.by_name.partition_point(|row| order(row) == Ordering::Less);
        let end = self.by_name.partition_point(|row| order(row) != Ordering::Greater);
        start..end
    }

    /// The rows at some places, in the order of names.
    pub(crate) fn rows(&self, named: Range<usize>) -> &[u32] {
        &self.by_name[named]
    }

    /// The run that has all of these places; `None` when there is none, or when reading the rows one by one is faster.
    pub(crate) fn run_worth_filtering(&self, named: &Range<usize>) -> Option<Range<usize>> {
        /// Rows of a run that are filtered in the time of reading 1 row alone.
        const FILTERED_FOR_ONE: usize = 64;
        let after = self.runs.partition_point(|start| *start as usize <= named.start);
        let start = *self.runs.get(after.checked_sub(1)?)? as usize;
        let end = self.runs.get(after).map_or(self.by_name.len(), |end| *end as usize);
        (named.end <= end && named.len() * FILTERED_FOR_ONE > end - start).then_some(start..end)
    }

    /// Calls `take`, newest first, with the rows at some places of a run that are in a period, a range of rows, and pass a test: with
    /// up to 64 neighbours, and a bit a row that is set if it passes.
    pub(crate) fn passing(
        &self,
        run: Range<usize>,
        named: &Range<usize>,
        period: &Range<u32>,
        mut test: RowTest,
        mut take: impl FnMut(&[u32], u64),
    ) {
        if named.len() < run.len() {
            let place = |at: usize| to_u32(at - run.start);
            let places = place(named.start)..place(named.end);
            test.fields.push(FieldTest {
                shift: self.packed_bits,
                bits: self.place_bits,
                ranges: vec![places],
            });
        }
        let rows = &self.newest_first[run.clone()];
        let first = run.start + rows.partition_point(|row| *row < period.start);
        let end = run.start + rows.partition_point(|row| *row < period.end);
        self.slices.passing(first..end, &test, |at, bits| {
            let neighbours = at..self.newest_first.len().min(at + u64::BITS as usize);
            take(&self.newest_first[neighbours], bits);
        });
    }

    pub(crate) fn bytes(&self) -> usize {
        let rows = self.by_name.capacity() + self.newest_first.capacity() + self.runs.capacity();
        size_of::<u32>() * rows + self.slices.bytes()
    }
}

fn to_u32(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// The rows whose names have the same first two bytes: one run, or several.
struct Group<'a> {
    /// Its place among all rows.
    from: u32,
    /// Whether the two bytes are two characters: then it is one run.
    is_ascii: bool,
    by_name: &'a mut [u32],
    newest_first: &'a mut [u32],
    /// The place by name in its run of each row of `newest_first`.
    places: &'a mut [u32],
}

impl<'a> Group<'a> {
    /// The groups that have rows; each begins at one of `starts`.
    fn all(
        starts: &[usize],
        mut by_name: &'a mut [u32],
        mut newest_first: &'a mut [u32],
        mut places: &'a mut [u32],
    ) -> Vec<Self> {
        let mut groups = Vec::new();
        let ranges = starts.iter().zip(&starts[1..]).enumerate();
        for (two, (from, to)) in ranges.filter(|(_, (from, to))| from < to) {
            let part = |rest: &mut &'a mut [u32]| rest.split_off_mut(..to - from).unwrap_or_default();
            groups.push(Self {
                from: to_u32(*from),
                is_ascii: two & 0x8080 == 0,
                by_name: part(&mut by_name),
                newest_first: part(&mut newest_first),
                places: part(&mut places),
            });
        }
        groups
    }
}

/// All rows by the first two bytes of their folded names, newest first, and where those of each two bytes begin.
fn by_two_bytes(names: &TextColumn) -> (Vec<u32>, Vec<usize>) {
    let two = |row| u16::from_be_bytes(first_folded(names.get(row)));
    let groups: Vec<u16> = (0..to_u32(names.len())).map(two).collect();
    by_group(0..to_u32(names.len()), 1 << u16::BITS, |row| groups[row as usize].into())
}

/// Sorts a group, whose rows are newest first, by name; of equal names the newest comes first. Returns where each of its runs begins
/// among all rows.
fn sort_group(names: &TextColumn, group: Group<'_>) -> Vec<u32> {
    let Group { from, is_ascii, by_name, newest_first, places } = group;
    let sorted = ByName::of(names, newest_first).sorted();
    for ((place, row), at) in (0..).zip(&mut *by_name).zip(sorted) {
        *row = newest_first[at as usize];
        places[at as usize] = place;
    }
    let starts = if is_ascii { vec![0] } else { run_starts(names, by_name) };
    if starts.len() > 1 {
        let ends = starts.iter().skip(1).copied().chain([to_u32(by_name.len())]);
        for run in starts.iter().zip(ends).map(|(start, end)| *start as usize..end as usize) {
            let mut placed: Vec<(u32, u32)> = by_name[run.clone()].iter().copied().zip(0..).collect();
            placed.sort_unstable();
            let own = newest_first[run.clone()].iter_mut().zip(&mut places[run]);
            own.zip(placed).for_each(|((row, place), placed)| (*row, *place) = placed);
        }
    }
    starts.into_iter().map(|start| from + start).collect()
}

/// Where each run begins in a group that is sorted by name.
fn run_starts(names: &TextColumn, by_name: &[u32]) -> Vec<u32> {
    let two = |row| first_two(u128::from_be_bytes(first_folded(names.get(row))));
    let begins = |pair: &[u32]| two(pair[0]) != two(pair[1]);
    let later = (1..).zip(by_name.windows(2)).filter(|(_, pair)| begins(pair)).map(|(at, _)| at);
    std::iter::once(0).chain(later).collect()
}

/// The rows of a group, which are sorted by twelve bytes of their names at once: those and the index of a row in the group are one number.
struct ByName<'a> {
    names: &'a TextColumn,
    rows: &'a [u32],
    keys: Vec<NameKey>,
}

impl<'a> ByName<'a> {
    fn of(names: &'a TextColumn, rows: &'a [u32]) -> Self {
        /// Names that are fetched into the processor's cache at once: it waits for all of them, not for one after another.
        const FETCHED_NAMES: usize = 128;
        let mut keys = Vec::with_capacity(rows.len());
        for fetched in rows.chunks(FETCHED_NAMES) {
            names.fetch(fetched);
            keys.extend(fetched.iter().map(|row| NameKey::of(names.get(*row))));
        }
        Self { names, rows, keys }
    }

    /// The indexes of the rows by name; those of equal names keep their order.
    fn sorted(&self) -> Vec<u32> {
        let mut numbers: Vec<u128> = (0..self.rows.len() as u128).collect();
        self.sort(&mut numbers, 0);
        numbers.into_iter().map(index).collect()
    }

    /// Sorts rows whose names have the same bytes before this part.
    fn sort(&self, numbers: &mut [u128], part: usize) {
        /// Fewer rows are compared name by name.
        const FEW: usize = 24;
        if numbers.len() < FEW || part == KEY_PARTS {
            numbers.sort_unstable_by(|one, other| self.compare(index(*one), index(*other), part));
            return;
        }
        numbers.iter_mut().for_each(|number| *number = self.number(index(*number), part));
        numbers.sort_unstable();
        let same = numbers.chunk_by_mut(|one, other| one >> u32::BITS == other >> u32::BITS);
        same.filter(|same| same.len() > 1).for_each(|same| self.sort(same, part + 1));
    }

    /// A part of a name above the index of its row.
    fn number(&self, index: u32, part: usize) -> u128 {
        let mut bytes = [0; 16];
        bytes[..PART_BYTES].copy_from_slice(&self.keys[index as usize].parts[part]);
        bytes[PART_BYTES..].copy_from_slice(&index.to_be_bytes());
        u128::from_be_bytes(bytes)
    }

    /// The order of two names from this part on, then of their indexes.
    fn compare(&self, one: u32, other: u32, part: usize) -> Ordering {
        let key = |index: u32| &self.keys[index as usize];
        let name = |index: u32| self.names.get(self.rows[index as usize]);
        let are_whole = || key(one).is_whole && key(other).is_whole;
        let rest = || if are_whole() { Ordering::Equal } else { compare_folded(name(one), name(other)) };
        key(one).parts[part..].cmp(&key(other).parts[part..]).then_with(rest).then(one.cmp(&other))
    }
}

/// The index of a row in its group: the lowest bits of a number.
fn index(number: u128) -> u32 {
    number as u32
}

const PART_BYTES: usize = 12;
const KEY_PARTS: usize = 3;

/// What most names are compared by, without a look at them.
struct NameKey {
    /// The bytes of the folded name after the two of its group, which sort as it does; zeros follow a shorter one.
    parts: [[u8; PART_BYTES]; KEY_PARTS],
    /// Whether there is no more of the name.
    is_whole: bool,
}

impl NameKey {
    fn of(name: &str) -> Self {
        let bytes: [u8; 48] = first_folded(name);
        let twelves = bytes[2..].as_chunks().0;
        let parts = std::array::from_fn(|part| twelves[part]);
        Self { parts, is_whole: parts[KEY_PARTS - 1][PART_BYTES - 1] == 0 && !name.contains('\0') }
    }
}

/// The first two characters of a text whose first sixteen bytes these are; two characters have at most eight bytes.
fn first_two(sixteen: u128) -> u128 {
    let length = |first: u8| match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    };
    let bytes = sixteen.to_be_bytes();
    let one = length(bytes[0]);
    let two = one + length(bytes[one]);
    sixteen & !(u128::MAX >> (8 * two))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: &str = "Sunset|SUN|the sun|sunshine bakery|SUNSHINE ACRES|sun|Ñandú||SU|S|ÑA 1|ñu|ÑA 2";

    fn order() -> (TextColumn, NameOrder) {
        let mut names = TextColumn::default();
        TEXTS.split('|').for_each(|text| names.push(text));
        // Every third row has the lowest bit.
        let packed_rows: Vec<u64> = (0..names.len() as u64).map(|row| u64::from(row % 3 == 0)).collect();
        let order = NameOrder::sorted(&names, &packed_rows, 1);
        (names, order)
    }

    #[test]
    fn names_are_sorted_and_found_by_prefix() {
        let (names, order) = order();
        let found = |prefix: &str| order.rows(order.with_prefix(&names, prefix)).to_vec();
        assert_eq!(found("su"), [8, 1, 5, 0, 4, 3]);
        assert_eq!(found("sun"), [1, 5, 0, 4, 3]);
        assert_eq!(found("sunshine b"), [3]);
        assert_eq!(found("ñ"), [10, 12, 6, 11]);
        assert_eq!(found("x"), [0; 0]);
        assert_eq!(found("").len(), names.len());
    }

    #[test]
    fn names_of_a_run_are_filtered_newest_first() {
        let (names, order) = order();
        let found = |prefix: &str, period: Range<u32>, mask: u64| {
            let named = order.with_prefix(&names, prefix);
            let run = order.run_worth_filtering(&named).expect("a run");
            let mut found = Vec::new();
            let test = RowTest { mask, want: mask, fields: Vec::new() };
            order.passing(run, &named, &period, test, |rows, bits| {
                found.extend(
                    rows.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, row)| *row),
                );
            });
            found
        };
        assert_eq!(found("su", 0..11, 0), [0, 1, 3, 4, 5, 8]);
        assert_eq!(found("sun", 0..11, 0), [0, 1, 3, 4, 5]);
        assert_eq!(found("sunshine", 0..11, 0), [3, 4]);
        assert_eq!(found("su", 1..5, 0), [1, 3, 4]);
        assert_eq!(found("sun", 0..11, 1), [0, 3]);
        assert_eq!(found("ña", 0..13, 0), [6, 10, 12]);
        assert_eq!(found("ñu", 0..13, 0), [11]);
        assert_eq!(found("su", 0..0, 0), [0; 0]);
    }

    #[test]
    fn places_of_several_runs_have_no_run() {
        let (names, order) = order();
        let run = |prefix: &str| order.run_worth_filtering(&order.with_prefix(&names, prefix));
        assert_eq!(run(""), None);
        assert_eq!(run("s"), None, "the name of one letter has a run of its own");
        assert_eq!(run("x"), None);
        assert!(run("th").is_some());
        assert_eq!(order.run_worth_filtering(&(0..0)), None);
    }

    #[test]
    fn names_of_any_length_are_in_order() {
        let starts = ["", "b", "B\0", "bÑ", "ñ"];
        let lengths = [42, 40, 39, 38, 37, 36, 38, 37, 27, 26, 15, 14, 13, 2];
        let texts = lengths.iter().flat_map(|length| starts.map(|start| "a".repeat(*length) + start));
        let texts: Vec<String> = texts.collect();
        let mut names = TextColumn::default();
        texts.iter().for_each(|text| names.push(text));
        let mut expected: Vec<u32> = (0..to_u32(texts.len())).collect();
        expected.sort_by_key(|row| (super::super::case_fold::folded(&texts[*row as usize]), *row));
        assert_eq!(NameOrder::sorted(&names, &vec![0; texts.len()], 1).by_name, expected);
    }

    #[test]
    fn the_first_two_characters_are_cut_at_any_byte_length() {
        for (text, two) in [
            ("", ""),
            ("a", "a"),
            ("abc", "ab"),
            ("ñandú", "ña"),
            ("aéc", "aé"),
            ("𝒳𝒴z", "𝒳𝒴"),
            ("…-x", "…-"),
        ] {
            let sixteen = |text| u128::from_be_bytes(first_folded(text));
            assert_eq!(first_two(sixteen(text)), sixteen(two), "{text}");
        }
    }
}
