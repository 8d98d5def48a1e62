//! Plain counts of filings by a few columns, several times as fast as by polars.
//!
//! Threads take a file each; a text is looked up once for all rows of its dictionary, and rows are counted by numbers.

use super::tables::of_table_error;
use crate::contract::eastern::{day_of_epoch, month_of};
use crate::table::{ColumnKind, FilingColumns, Table, TableError, columns, read_dictionaries};
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int32Type;
use arrow_array::{Array as _, RecordBatch, StringArray};
use polars::error::PolarsResult;
use polars::frame::DataFrame;
use polars::prelude::{Column, DataType, NamedFrom as _, PlSmallStr, Series};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// More threads would take more memory, and hardly less time.
const MOST_THREADS: usize = 8;
const LISTED: &str = "listed";
pub(super) const FILED_DATE: &str = "filed_date";

/// More columns are left to polars.
pub(super) const MOST_KEYS: usize = 4;

/// By what filings are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// The day.
    Day,
    /// The month of the day, as `YYYY-MM`.
    Month,
    /// A column of text.
    Text(&'static str),
}

impl Key {
    /// The key of a column of text.
    pub(super) fn of_text(name: &str) -> Option<Self> {
        if name == "filed_month" {
            return Some(Self::Month);
        }
        let found = columns(Table::Filings).iter().find(|column| column.name == name);
        found.filter(|column| column.kind == ColumnKind::Text).map(|column| Self::Text(column.name))
    }
}

/// Rows by key, the numbers of its parts in 32 bits each.
type Counts = HashMap<u128, i64, BuildHasherDefault<Folded>>;

/// The rows of each key.
struct Counter<'k> {
    keys: &'k [Key],
    texts: Vec<Texts>,
    counts: Counts,
    /// The keys of a batch's rows. Kept, because the system clears the pages of a new one for each batch.
    rows: Vec<u128>,
}

/// Counts the rows of files, on every core.
fn count_rows<'k>(files: &[PathBuf], keys: &'k [Key]) -> Result<Counter<'k>, TableError> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let count = || {
        let mut counter = Counter::new(keys);
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            counter.add_file(file)?;
        }
        Ok(counter)
    };
    let counters = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..cores.min(MOST_THREADS).min(files.len())).map(|_| scope.spawn(count)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|counter| counter.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    let counters: Result<Vec<Counter<'k>>, TableError> = counters;
    Ok(counters?.into_iter().reduce(Counter::merged).unwrap_or_else(|| Counter::new(keys)))
}

impl<'k> Counter<'k> {
    fn new(keys: &'k [Key]) -> Self {
        debug_assert!(keys.len() <= MOST_KEYS, "a key has 32 bits in 128");
        let texts = keys.iter().map(|_| Texts::default()).collect();
        Self { keys, texts, counts: Counts::default(), rows: Vec::new() }
    }

    fn add_file(&mut self, file: &Path) -> Result<(), TableError> {
        let mut named = vec![LISTED, FILED_DATE];
        named.extend(self.keys.iter().filter_map(|key| match key {
            Key::Text(name) => Some(*name),
            Key::Day | Key::Month => None,
        }));
        for batch in read_dictionaries(Table::Filings, file, &named)? {
            self.add(&batch?)?;
        }
        Ok(())
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        let columns = FilingColumns::new(batch);
        let (listed, days) = (columns.listed()?, columns.filed_date()?.values());
        let rows = &mut self.rows;
        rows.clear();
        rows.resize(batch.num_rows(), 0);
        for (key, texts) in self.keys.iter().zip(&mut self.texts) {
            match key {
                Key::Day => add_part(rows, days.iter().map(|day| day.cast_unsigned())),
                Key::Month => add_part(rows, days.iter().map(|day| texts.month(*day))),
                Key::Text(name) => texts.add_column(batch, name, rows),
            }
        }
        let (mut last, mut times) = (0, 0);
        for (_, key) in rows.iter().copied().enumerate().filter(|(row, _)| listed.value(*row)) {
            if key != last && times > 0 {
                *self.counts.entry(last).or_default() += times;
                times = 0;
            }
            (last, times) = (key, times + 1);
        }
        if times > 0 {
            *self.counts.entry(last).or_default() += times;
        }
        Ok(())
    }

    /// The counts of both. Each numbered its texts in its own order.
    fn merged(mut self, other: Self) -> Self {
        let known: Vec<Vec<u32>> =
            self.texts.iter_mut().zip(&other.texts).map(|(to, from)| to.numbers_of(from)).collect();
        for (key, rows) in other.counts {
            let parts = parts(key, self.keys.len()).zip(self.keys.iter().zip(&known));
            let key = parts.map(|(part, (key, known))| match key {
                Key::Day => part,
                Key::Month | Key::Text(_) => known[part as usize],
            });
            *self.counts.entry(key.fold(0, with_part)).or_default() += rows;
        }
        self
    }

    /// A part of each key, in the order of the counts.
    fn parts(&self, at: usize) -> impl Iterator<Item = u32> {
        let shift = 32 * (self.keys.len() - 1 - at);
        self.counts.keys().map(move |key| (key >> shift) as u32)
    }
}

fn with_part(key: u128, part: u32) -> u128 {
    key << 32 | u128::from(part)
}

fn add_part(rows: &mut [u128], parts: impl Iterator<Item = u32>) {
    rows.iter_mut().zip(parts).for_each(|(row, part)| *row = with_part(*row, part));
}

/// The parts of a key, first to last.
fn parts(key: u128, keys: usize) -> impl Iterator<Item = u32> {
    (0..keys).rev().map(move |at| (key >> (32 * at)) as u32)
}

/// The texts of one part of the key, by number. Number 0 is null.
#[derive(Default)]
struct Texts {
    numbers: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    /// The dictionary of the last batch, and the numbers of its texts.
    known: Option<(StringArray, Vec<u32>)>,
    /// The last day, and the number of its month.
    last_day: Option<(i32, u32)>,
}

impl Texts {
    fn text(&self, number: u32) -> Option<&str> {
        self.texts.get((number as usize).checked_sub(1)?).map(AsRef::as_ref)
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.texts.push(text.into());
        let number = self.texts.len() as u32;
        self.numbers.insert(text.into(), number);
        number
    }

    /// The numbers here of the texts there, null first.
    fn numbers_of(&mut self, other: &Self) -> Vec<u32> {
        std::iter::once(0).chain(other.texts.iter().map(|text| self.number(text))).collect()
    }

    /// Rows are in the order of their days.
    fn month(&mut self, day: i32) -> u32 {
        match self.last_day {
            Some((last, number)) if last == day => number,
            _ => {
                let number = day_of_epoch(day).map_or(0, |date| self.number(&month_of(date)));
                self.last_day = Some((day, number));
                number
            }
        }
    }

    fn add_column(&mut self, batch: &RecordBatch, name: &str, rows: &mut [u128]) {
        let column = batch.column_by_name(name).map(|column| column.as_dictionary::<Int32Type>());
        let Some(column) = column else { return };
        let values: &StringArray = column.values().as_string();
        let is_known = |(known, _): &(StringArray, Vec<u32>)| {
            known.values().as_ptr() == values.values().as_ptr() && known.len() == values.len()
        };
        if !self.known.as_ref().is_some_and(is_known) {
            let numbers = values.iter().map(|text| text.map_or(0, |text| self.number(text))).collect();
            self.known = Some((values.clone(), numbers));
        }
        let Some((_, numbers)) = &self.known else { return };
        match column.keys().null_count() {
            0 => add_part(rows, column.keys().values().iter().map(|at| numbers[*at as usize])),
            _ => add_part(rows, column.keys().iter().map(|at| at.map_or(0, |at| numbers[at as usize]))),
        }
    }
}

/// A hash of one number: a product, its halves folded together. The numbers are the lake's own.
#[derive(Default)]
struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u128(u128::from(*byte)));
    }

    fn write_u128(&mut self, number: u128) {
        let mixed = |half: u64, by: u64| {
            let product = u128::from(half ^ by).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
            (product >> 64) as u64 ^ product as u64
        };
        self.0 = mixed((number >> 64) as u64, mixed(number as u64, self.0));
    }
}

/// The listed filings of files, counted by keys: a column for each key, then one with the counts. And the names of the columns.
pub(super) fn counted(files: &[PathBuf], keys: &[Key]) -> PolarsResult<(DataFrame, Vec<PlSmallStr>)> {
    let counted = count_rows(files, keys).map_err(of_table_error)?;
    let names: Vec<PlSmallStr> = (0..=keys.len()).map(|at| format!("counted_{at}").into()).collect();
    let key = |(at, key): (usize, &Key)| key_column(names[at].clone(), *key, at, &counted);
    let mut columns: Vec<Column> = keys.iter().enumerate().map(key).collect::<PolarsResult<_>>()?;
    columns.push(
        Series::new(names[keys.len()].clone(), counted.counts.values().copied().collect::<Vec<_>>()).into(),
    );
    Ok((DataFrame::new_infer_height(columns)?, names))
}

fn key_column(name: PlSmallStr, key: Key, at: usize, counted: &Counter<'_>) -> PolarsResult<Column> {
    let parts = counted.parts(at);
    let series = match key {
        Key::Day => {
            Series::new(name, parts.map(u32::cast_signed).collect::<Vec<_>>()).cast(&DataType::Date)?
        }
        Key::Month | Key::Text(_) => {
            let texts = &counted.texts[at];
            Series::new(name, parts.map(|part| texts.text(part)).collect::<Vec<_>>())
        }
    };
    Ok(series.into())
}
