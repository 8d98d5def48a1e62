//! Observed filings on disk, waiting for the merge of their month, so that memory stays proportional to one month.
//!
//! Rows collect in memory until there are [`FLUSH_ROWS`]. Then they are written to one file, with one zstd frame a month, in which
//! they are columns: an Arrow stream.
//! About 12 bytes a row and 24 bytes a frame stay in memory.

use super::latest::Observed;
use crate::contract::eastern::day_of_epoch;
use crate::lake::backend::disk::Storage;
use crate::lake::error::LakeError;
use crate::lake::format::layout::Month;
use crate::table::{FilingColumns, Table, check_schema};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{BooleanArray, RecordBatch, UInt32Array};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use arrow_select::take::take_record_batch;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zstd::bulk::Compressor;

/// Level of zstd for frames, which live until the merge: a fast one.
const FRAME_LEVEL: i32 = -1;

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
    pub(super) dir: PathBuf,
    schema: SchemaRef,
    /// The schema with the number of each row.
    numbered: SchemaRef,
    waiting: Vec<RecordBatch>,
    files: Vec<PathBuf>,
    frames: BTreeMap<Month, Vec<Frame>>,
    pub(super) observed: Observed,
    /// Observed rows that are in files.
    flushed: u32,
}

impl Spill {
    /// A spill in the folder of a staged snapshot.
    pub(super) fn new(storage: &Storage, staged: &Path) -> Self {
        let schema = Table::Filings.schema();
        let number = Arc::new(Field::new("row", DataType::UInt32, false));
        let numbered = Schema::new(schema.fields().iter().cloned().chain([number]).collect::<Vec<_>>());
        Self {
            storage: storage.clone(),
            dir: staged.join("spill"),
            schema,
            numbered: Arc::new(numbered),
            waiting: Vec::new(),
            files: Vec::new(),
            frames: BTreeMap::new(),
            observed: Observed::default(),
            flushed: 0,
        }
    }

    /// Adds observed rows; `changed_at` says when they were observed.
    pub(super) fn push(&mut self, rows: RecordBatch) -> Result<(), LakeError> {
        check_schema(&rows.schema(), &Table::Filings.schema(), Table::Filings.name())?;
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

    /// Writes the rows in memory to one file.
    fn flush(&mut self) -> Result<(), LakeError> {
        let mut by_month: BTreeMap<Month, Vec<RecordBatch>> = BTreeMap::new();
        for rows in std::mem::take(&mut self.waiting) {
            let first = self.flushed;
            self.flushed += rows.num_rows() as u32;
            for (month, part) in self.by_month(first, &rows).map_err(LakeError::arrow("spill rows"))? {
                by_month.entry(month).or_default().push(part);
            }
        }
        if by_month.is_empty() { Ok(()) } else { self.write_frames(by_month) }
    }

    /// The rows of a batch by month, with their numbers, which begin at `first`.
    fn by_month(&self, first: u32, rows: &RecordBatch) -> Result<BTreeMap<Month, RecordBatch>, ArrowError> {
        let end = first + rows.num_rows() as u32;
        let mut columns = rows.columns().to_vec();
        columns.push(Arc::new(UInt32Array::from_iter_values(first..end)));
        let rows = RecordBatch::try_new(self.numbered.clone(), columns)?;
        let mut picked: BTreeMap<Month, Vec<u32>> = BTreeMap::new();
        for row in first..end {
            if let Some(month) = self.observed.month(row) {
                picked.entry(month).or_default().push(row - first);
            }
        }
        if picked.len() == 1 {
            return Ok(picked.into_keys().map(|month| (month, rows.clone())).collect());
        }
        let take = |picked: Vec<u32>| take_record_batch(&rows, &UInt32Array::from(picked));
        picked.into_iter().map(|(month, picked)| Ok((month, take(picked)?))).collect()
    }

    fn write_frames(&mut self, by_month: BTreeMap<Month, Vec<RecordBatch>>) -> Result<(), LakeError> {
        self.storage.create_dir_all(&self.dir)?;
        let path = self.dir.join(format!("{:06}.rows", self.files.len()));
        let failed = || LakeError::storage("write", &path);
        let mut out = self.storage.create(&path)?;
        let (file, mut offset) = (self.files.len(), 0);
        let mut compressor = Compressor::new(FRAME_LEVEL).map_err(failed())?;
        for (month, rows) in by_month {
            let bytes = stream(&self.numbered, &rows).map_err(LakeError::arrow("spill rows"))?;
            let packed = compressor.compress(&bytes).map_err(failed())?;
            out.write_all(&packed).map_err(failed())?;
            let frame = Frame { file, offset, length: packed.len(), unpacked: bytes.len() };
            offset += packed.len() as u64;
            self.frames.entry(month).or_default().push(frame);
        }
        self.files.push(path);
        Ok(())
    }

    /// Writes what is still in memory and finds the newest observation of each business.
    pub(super) fn finish(&mut self) -> Result<(), LakeError> {
        self.flush()?;
        self.observed.dedupe();
        Ok(())
    }

    /// The months of the observed rows, once all are written.
    pub(super) fn months(&self) -> BTreeSet<Month> {
        self.frames.keys().copied().collect()
    }

    /// The observed rows of a month, each business once.
    pub(super) fn month(&self, month: Month) -> Result<RecordBatch, LakeError> {
        let (mut batches, mut packed) = (Vec::new(), Vec::new());
        for frame in self.frames.get(&month).into_iter().flatten() {
            let frame = self.read_frame(frame, &mut packed)?;
            batches.extend(self.newest(frame).map_err(LakeError::arrow("read spilled rows"))?);
        }
        concat_batches(&self.schema, &batches).map_err(LakeError::arrow("join spilled rows"))
    }

    /// The unpacked bytes of a frame. `packed` is room that the next frame uses again: the system clears the pages of new room.
    fn read_frame(&self, frame: &Frame, packed: &mut Vec<u8>) -> Result<Vec<u8>, LakeError> {
        let path = &self.files[frame.file];
        let failed = || LakeError::storage("read", path);
        packed.resize(frame.length, 0);
        let file = File::open(path).map_err(failed())?;
        file.read_exact_at(packed, frame.offset).map_err(failed())?;
        zstd::bulk::decompress(packed, frame.unpacked).map_err(failed())
    }

    /// The newest observations among the rows of a frame.
    fn newest(&self, frame: Vec<u8>) -> Result<Vec<RecordBatch>, ArrowError> {
        let (mut decoder, mut rest) = (StreamDecoder::new(), Buffer::from_vec(frame));
        let mut newest = Vec::new();
        while let Some(mut rows) = decoder.decode(&mut rest)? {
            let numbers = rows.remove_column(self.schema.fields().len());
            let numbers = numbers.as_primitive::<UInt32Type>().values();
            let is_newest: BooleanArray =
                numbers.iter().map(|row| Some(self.observed.is_newest(*row))).collect();
            newest.push(if is_newest.has_false() { filter_record_batch(&rows, &is_newest)? } else { rows });
        }
        Ok(newest)
    }
}

/// Batches as an Arrow stream.
fn stream(schema: &Schema, rows: &[RecordBatch]) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    rows.iter().try_for_each(|rows| writer.write(rows))?;
    writer.into_inner()
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
