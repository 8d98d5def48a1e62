//! Observed filings on their way to their month: on disk, so that memory stays proportional to one month.
//!
//! Rows collect in memory until there are [`FLUSH_ROWS`]; then they are written to one file, one zstd frame a
//! month. In memory stay some twelve bytes an observed row and 24 a frame.

use super::latest::{Observation, Observed};
use crate::contract::eastern::day_of_epoch;
use crate::lake::backend::disk::Storage;
use crate::lake::data_file::{check_schema, column, int64, wrong_type};
use crate::lake::error::LakeError;
use crate::lake::format::layout::Month;
use crate::table::Table;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Date32Type, SchemaRef, TimestampMicrosecondType};
use arrow::record_batch::RecordBatch;
use arrow::row::{RowConverter, RowParser, SortField};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

/// Rows that are kept in memory before they go to disk.
const FLUSH_ROWS: usize = 16 * 1024;

struct Frame {
    file: usize,
    offset: u64,
    length: usize,
    unpacked: usize,
}

/// Observed rows, waiting to be merged.
pub(crate) struct Spill {
    storage: Storage,
    dir: PathBuf,
    schema: SchemaRef,
    converter: RowConverter,
    parser: RowParser,
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    files: Vec<PathBuf>,
    frames: BTreeMap<Month, Vec<Frame>>,
    observed: Observed,
    flushed: usize,
}

impl Spill {
    pub(crate) fn new(storage: Storage, dir: PathBuf) -> Result<Self, LakeError> {
        let schema = Table::Filings.schema();
        let data = schema.fields().iter().map(|field| SortField::new(field.data_type().clone()));
        let fields = data.chain([SortField::new(DataType::Int64)]).collect();
        let converter = RowConverter::new(fields).map_err(LakeError::arrow("spill rows"))?;
        let parser = converter.parser();
        Ok(Self {
            storage,
            dir,
            schema,
            converter,
            parser,
            waiting: Vec::new(),
            waiting_rows: 0,
            files: Vec::new(),
            frames: BTreeMap::new(),
            observed: Observed::new(),
            flushed: 0,
        })
    }

    /// Takes observed rows; `last_seen_at` says when they were observed.
    pub(crate) fn push(&mut self, rows: RecordBatch) -> Result<(), LakeError> {
        check_schema(Table::Filings, &rows.schema())?;
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let ids = int64(&rows, "business_id")?.clone();
        let seen = micros(&rows, "last_seen_at")?.to_vec();
        let months = months(&rows)?;
        for ((business_id, seen), month) in ids.values().iter().zip(seen).zip(months) {
            if !self.observed.push(*business_id, seen, month) {
                return Err(LakeError::Schema {
                    table: Table::Filings.name().to_owned(),
                    what: "more than 4 thousand million rows in one merge".to_owned(),
                });
            }
        }
        self.waiting_rows += rows.num_rows();
        self.waiting.push(rows);
        if self.waiting_rows >= FLUSH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes what waits in memory to one file.
    fn flush(&mut self) -> Result<(), LakeError> {
        if self.waiting_rows == 0 {
            return Ok(());
        }
        let rows = concat_batches(&self.schema, &self.waiting).map_err(LakeError::arrow("spill rows"))?;
        self.waiting.clear();
        self.waiting_rows = 0;
        let first = self.flushed;
        self.flushed += rows.num_rows();
        let sequence: Int64Array = (first..self.flushed).map(|at| at as i64).collect::<Vec<_>>().into();
        let mut columns = rows.columns().to_vec();
        columns.push(Arc::new(sequence));
        let packed = self.converter.convert_columns(&columns).map_err(LakeError::arrow("spill rows"))?;
        let mut by_month: BTreeMap<Month, Vec<u8>> = BTreeMap::new();
        for at in 0..rows.num_rows() {
            let row = packed.row(at);
            let Some(month) = self.observed.month(first + at) else { continue };
            let bytes = by_month.entry(month).or_default();
            bytes.extend_from_slice(&(row.data().len() as u64).to_le_bytes());
            bytes.extend_from_slice(row.data());
        }
        self.write_frames(by_month)
    }

    fn write_frames(&mut self, by_month: BTreeMap<Month, Vec<u8>>) -> Result<(), LakeError> {
        self.storage.create_dir_all(&self.dir)?;
        let path = self.dir.join(format!("{:06}.rows", self.files.len()));
        let failed = || LakeError::storage("write", &path);
        let mut out = self.storage.create(&path)?;
        let (file, mut offset) = (self.files.len(), 0);
        for (month, bytes) in by_month {
            let packed = zstd::bulk::compress(&bytes, 1).map_err(failed())?;
            out.write_all(&packed).map_err(failed())?;
            let frame = Frame { file, offset, length: packed.len(), unpacked: bytes.len() };
            offset += packed.len() as u64;
            self.frames.entry(month).or_default().push(frame);
        }
        self.files.push(path);
        Ok(())
    }

    /// Ends the taking: the newest observation of each business, by id, and how many rows were observed.
    pub(crate) fn finish(mut self) -> Result<SpilledFilings, LakeError> {
        self.flush()?;
        let read = self.observed.len() as u64;
        self.observed.settle();
        Ok(SpilledFilings { spill: self, read })
    }

    fn read_frame(&self, frame: &Frame) -> Result<Vec<u8>, LakeError> {
        let path = &self.files[frame.file];
        let failed = || LakeError::storage("read", path);
        let mut packed = vec![0; frame.length];
        let file = File::open(path).map_err(failed())?;
        file.read_exact_at(&mut packed, frame.offset).map_err(failed())?;
        zstd::bulk::decompress(&packed, frame.unpacked).map_err(failed())
    }

    fn unpack(&self, bytes: &[u8]) -> Result<Vec<ArrayRef>, LakeError> {
        let mut rows = Vec::new();
        let mut rest = bytes;
        while let Some((length, tail)) = rest.split_first_chunk::<8>() {
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let Some((row, tail)) = tail.split_at_checked(length) else { break };
            rows.push(self.parser.parse(row));
            rest = tail;
        }
        self.converter.convert_rows(rows).map_err(LakeError::arrow("read spilled rows"))
    }
}

/// All observed rows, each business once.
pub(crate) struct SpilledFilings {
    spill: Spill,
    /// Rows observed, repetitions included.
    pub(crate) read: u64,
}

impl SpilledFilings {
    /// The months in which something was observed.
    pub(crate) fn months(&self) -> BTreeSet<Month> {
        self.spill.frames.keys().copied().collect()
    }

    /// The newest observation of each business.
    pub(crate) fn newest(&self) -> impl Iterator<Item = Observation> + '_ {
        self.spill.observed.newest()
    }

    /// Forgets observations: the lake knows newer ones.
    pub(crate) fn forget(&mut self, ids: &BTreeSet<i64>) {
        self.spill.observed.forget(ids);
    }

    /// The observed rows of a month, each business once.
    pub(crate) fn month(&self, month: Month) -> Result<RecordBatch, LakeError> {
        let mut batches = Vec::new();
        for frame in self.spill.frames.get(&month).into_iter().flatten() {
            let columns = self.spill.unpack(&self.spill.read_frame(frame)?)?;
            batches.push(self.keep_newest(columns)?);
        }
        concat_batches(&self.spill.schema, &batches).map_err(LakeError::arrow("join spilled rows"))
    }

    fn keep_newest(&self, mut columns: Vec<ArrayRef>) -> Result<RecordBatch, LakeError> {
        let sequence = columns.pop();
        let rows = RecordBatch::try_new(self.spill.schema.clone(), columns)
            .map_err(LakeError::arrow("read spilled rows"))?;
        let sequence = sequence.as_ref().and_then(|array| array.as_primitive_opt());
        let Some(sequence): Option<&Int64Array> = sequence else {
            return Err(wrong_type("sequence", &DataType::Null));
        };
        let ids = int64(&rows, "business_id")?;
        let keep: Vec<bool> = ids
            .values()
            .iter()
            .zip(sequence.values())
            .map(|(id, at)| self.spill.observed.is_newest(*id, *at))
            .collect();
        arrow::compute::filter_record_batch(&rows, &keep.into())
            .map_err(LakeError::arrow("read spilled rows"))
    }
}

/// A timestamp column as microseconds.
pub(crate) fn micros<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a [i64], LakeError> {
    let array = column(rows, name)?;
    let values = array.as_primitive_opt::<TimestampMicrosecondType>();
    Ok(values.ok_or_else(|| wrong_type(name, array.data_type()))?.values())
}

/// The month of every row.
pub(crate) fn months(rows: &RecordBatch) -> Result<Vec<Month>, LakeError> {
    let array = column(rows, "filed_date")?;
    let days = array.as_primitive_opt::<Date32Type>();
    let days = days.ok_or_else(|| wrong_type("filed_date", array.data_type()))?;
    let month = |day: i32| {
        Month::of_epoch_day(day).ok_or_else(|| LakeError::Name {
            what: "filing month (YYYY-MM)",
            name: day_of_epoch(day).map_or_else(|| format!("day {day}"), |day| day.to_string()),
        })
    };
    days.values().iter().map(|day| month(*day)).collect()
}
