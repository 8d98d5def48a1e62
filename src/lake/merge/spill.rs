//! Observed filings on disk, waiting for the merge of their month, so that memory stays proportional to one month.
//!
//! Rows collect in memory until there are [`FLUSH_ROWS`]. Then they are written to one file, with one zstd frame a month.
//! About 12 bytes a row and 24 bytes a frame stay in memory.

use super::latest::{Observation, Observed};
use crate::contract::eastern::day_of_epoch;
use crate::lake::backend::disk::Storage;
use crate::lake::data_file::check_schema;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Month;
use crate::table::{FilingColumns, Table};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use arrow::row::{RowConverter, RowParser, SortField};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Rows that are kept in memory before they are written.
const FLUSH_ROWS: usize = 16 * 1024;

/// Where the rows of one month are in a file of the spill.
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
    files: Vec<PathBuf>,
    frames: BTreeMap<Month, Vec<Frame>>,
    observed: Observed,
    /// Observed rows that are in files.
    flushed: u32,
}

impl Spill {
    pub(super) fn new(storage: Storage, dir: PathBuf) -> Result<Self, LakeError> {
        let schema = Table::Filings.schema();
        let fields = schema.fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
        let converter = RowConverter::new(fields).map_err(LakeError::arrow("spill rows"))?;
        let parser = converter.parser();
        Ok(Self {
            storage,
            dir,
            schema,
            converter,
            parser,
            waiting: Vec::new(),
            files: Vec::new(),
            frames: BTreeMap::new(),
            observed: Observed::default(),
            flushed: 0,
        })
    }

    /// Adds observed rows; `changed_at` says when they were observed.
    pub(super) fn push(&mut self, rows: RecordBatch) -> Result<(), LakeError> {
        check_schema(Table::Filings, &rows.schema())?;
        let filings = FilingColumns::new(&rows);
        let (ids, seen) = (filings.business_id()?.values(), filings.changed_at()?.values());
        for ((business_id, seen), month) in ids.iter().zip(seen).zip(months(&rows)?) {
            if !self.observed.push(*business_id, *seen, month) {
                return Err(LakeError::Schema {
                    table: Table::Filings.name().to_owned(),
                    what: "more than 4,294,967,295 rows in one merge".to_owned(),
                });
            }
        }
        self.waiting.push(rows);
        let waiting_rows = (self.observed.len() - self.flushed) as usize;
        if waiting_rows >= FLUSH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes the rows in memory to one file: length, row number and packed values of each row.
    fn flush(&mut self) -> Result<(), LakeError> {
        let failed = || LakeError::arrow("spill rows");
        let rows = concat_batches(&self.schema, &self.waiting).map_err(failed())?;
        self.waiting.clear();
        let packed = self.converter.convert_columns(rows.columns()).map_err(failed())?;
        let mut by_month: BTreeMap<Month, Vec<u8>> = BTreeMap::new();
        for (row, packed) in (self.flushed..).zip(packed.iter()) {
            let Some(month) = self.observed.month(row) else { continue };
            let bytes = by_month.entry(month).or_default();
            bytes.extend_from_slice(&(packed.data().len() as u64).to_le_bytes());
            bytes.extend_from_slice(&row.to_le_bytes());
            bytes.extend_from_slice(packed.data());
        }
        self.flushed = self.observed.len();
        if by_month.is_empty() { Ok(()) } else { self.write_frames(by_month) }
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

    /// Writes what is still in memory and finds the newest observation of each business.
    pub(super) fn finish(mut self) -> Result<SpilledFilings, LakeError> {
        self.flush()?;
        self.observed.dedupe();
        Ok(SpilledFilings(self))
    }

    fn read_frame(&self, frame: &Frame) -> Result<Vec<u8>, LakeError> {
        let path = &self.files[frame.file];
        let failed = || LakeError::storage("read", path);
        let mut packed = vec![0; frame.length];
        let file = File::open(path).map_err(failed())?;
        file.read_exact_at(&mut packed, frame.offset).map_err(failed())?;
        zstd::bulk::decompress(&packed, frame.unpacked).map_err(failed())
    }

    /// The newest observations among the rows of a frame.
    fn unpack(&self, frame: &[u8]) -> Result<RecordBatch, LakeError> {
        let mut newest = Vec::new();
        let mut rest = frame;
        while let Some((length, tail)) = rest.split_first_chunk::<8>() {
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            let Some((row, tail)) = tail.split_first_chunk::<4>() else { break };
            let Some((packed, tail)) = tail.split_at_checked(length) else { break };
            if self.observed.is_newest(u32::from_le_bytes(*row)) {
                newest.push(self.parser.parse(packed));
            }
            rest = tail;
        }
        let columns = self.converter.convert_rows(newest);
        let rows = columns.and_then(|columns| RecordBatch::try_new(self.schema.clone(), columns));
        rows.map_err(LakeError::arrow("read spilled rows"))
    }
}

/// All observed rows, each business once.
pub(super) struct SpilledFilings(Spill);

impl SpilledFilings {
    pub(super) fn read(&self) -> u64 {
        self.0.observed.len().into()
    }

    pub(super) fn months(&self) -> BTreeSet<Month> {
        self.0.frames.keys().copied().collect()
    }

    pub(super) fn newest(&self) -> impl Iterator<Item = Observation> + '_ {
        self.0.observed.newest()
    }

    /// Drops the observations of businesses of which the lake has newer ones.
    pub(super) fn forget(&mut self, ids: &BTreeSet<i64>) {
        self.0.observed.forget(ids);
    }

    /// The observed rows of a month, each business once.
    pub(super) fn month(&self, month: Month) -> Result<RecordBatch, LakeError> {
        let frames = self.0.frames.get(&month).into_iter().flatten();
        let batches = frames.map(|frame| self.0.unpack(&self.0.read_frame(frame)?));
        let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>()?;
        concat_batches(&self.0.schema, &batches).map_err(LakeError::arrow("join spilled rows"))
    }
}

pub(crate) fn months(rows: &RecordBatch) -> Result<Vec<Month>, LakeError> {
    let month = |day: i32| {
        Month::of_epoch_day(day).ok_or_else(|| LakeError::Name {
            what: "filing month (YYYY-MM)",
            name: day_of_epoch(day).map_or_else(|| format!("day {day}"), |day| day.to_string()),
        })
    };
    FilingColumns::new(rows).filed_date()?.values().iter().map(|day| month(*day)).collect()
}
