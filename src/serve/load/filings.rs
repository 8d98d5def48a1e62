//! The filings: row groups of columns, read side by side; repeated texts come as codes.

use super::LoadError;
use super::batch::NamedBatch;
use super::files::{files_of, open};
use crate::serve::index::builder::IndexBuilder;
use crate::serve::index::row_buffer::{CODED, Coded, Gathered, OwnCells};
use crate::table::Table;
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use jiff::Timestamp;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

/// Rows read from a file at a time.
const BATCH_ROWS: usize = 32 * 1024;
/// Threads that read at most; putting their work together is one thread's.
const MAX_THREADS: usize = 4;

/// Columns whose texts repeat, and where they are gathered.
const CODED_COLUMNS: [(&str, Coded); CODED] = [
    ("entity_type", Coded::EntityType),
    ("company_type", Coded::CompanyType),
    ("status", Coded::Status),
    ("city", Coded::City),
    ("zip", Coded::Zip),
    ("county", Coded::County),
    ("industry_sector", Coded::Sector),
    ("industry_type", Coded::IndustryType),
];

/// Columns of their own.
const OWN_COLUMNS: [&str; 9] = [
    "business_id",
    "id",
    "document_number",
    "name",
    "filed_date",
    "dissolved_date",
    "url",
    "listed",
    "last_seen_at",
];

/// A row group of a file, to be read by itself.
struct Piece {
    path: Arc<PathBuf>,
    group: usize,
}

/// What came of a piece.
#[derive(Default)]
struct Read {
    rows: Gathered,
    /// In microseconds.
    last_seen_at: Option<i64>,
}

/// Adds the filings: row groups are read side by side, and put together in their order.
pub(super) fn load_filings(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    let pieces = pieces_of(snapshot)?;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    let (next, (done, parts)) = (AtomicUsize::new(0), sync_channel(threads));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (next, pieces, done) = (&next, &pieces, done.clone());
            scope.spawn(move || {
                while let Some((place, piece)) = take_next(next, pieces) {
                    // Nobody waits any more when another piece is damaged.
                    if done.send((place, read_piece(piece))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        let (mut early, mut wanted) = (BTreeMap::new(), 0);
        for (place, part) in parts {
            early.insert(place, part?);
            while let Some(part) = early.remove(&wanted) {
                add(builder, part);
                wanted += 1;
            }
        }
        Ok(())
    })
}

fn take_next<'a>(next: &AtomicUsize, pieces: &'a [Piece]) -> Option<(usize, &'a Piece)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    pieces.get(place).map(|piece| (place, piece))
}

fn add(builder: &mut IndexBuilder, part: Read) {
    builder.rows.append(part.rows);
    if let Some(instant) = part.last_seen_at.and_then(|micros| Timestamp::from_microsecond(micros).ok()) {
        builder.note_updated_at(instant);
    }
}

/// Every row group of the filings, in the order of listings as far as files and names have it.
fn pieces_of(snapshot: &Path) -> Result<Vec<Piece>, LoadError> {
    let mut pieces = Vec::new();
    for path in files_of(snapshot, Table::Filings)? {
        let groups = open(&path)?.metadata().num_row_groups();
        let path = Arc::new(path);
        pieces.extend((0..groups).map(|group| Piece { path: Arc::clone(&path), group }));
    }
    Ok(pieces)
}

fn read_piece(piece: &Piece) -> Result<Read, LoadError> {
    let path = piece.path.as_path();
    let damaged = |source| LoadError::damaged(path, source);
    let reader = open_with_dictionaries(path)?;
    let names = CODED_COLUMNS.iter().map(|(name, _)| *name).chain(OWN_COLUMNS);
    let mask = ProjectionMask::columns(reader.parquet_schema(), names);
    let reader = reader.with_projection(mask).with_row_groups(vec![piece.group]).with_batch_size(BATCH_ROWS);
    let mut read = Read::default();
    for batch in reader.build().map_err(damaged)? {
        let batch = batch.map_err(|error| damaged(error.into()))?;
        gather(&NamedBatch { batch: &batch, path }, &mut read)?;
    }
    Ok(read)
}

fn gather(batch: &NamedBatch<'_>, read: &mut Read) -> Result<(), LoadError> {
    let (ids, filed) = (batch.int64("business_id")?, batch.date("filed_date")?);
    let (dissolved, listed) = (batch.date("dissolved_date")?, batch.boolean("listed")?);
    let (id, number) = (batch.text("id")?, batch.text("document_number")?);
    let (name, url) = (batch.text("name")?, batch.text("url")?);
    for row in 0..batch.rows() {
        read.rows.push_own(OwnCells {
            business_id: ids.value(row),
            id: id.value(row),
            document_number: number.value(row),
            name: name.value(row),
            filed_day: filed.value(row),
            dissolved_day: dissolved.is_valid(row).then(|| dissolved.value(row)),
            url: url.value(row),
            listed: listed.value(row),
        });
    }
    for (name, column) in CODED_COLUMNS {
        let cells = batch.dictionary(name)?;
        let texts = cells.values().as_string_opt::<i32>().ok_or_else(|| batch.no_column(name, "Utf8"))?;
        let places = cells.keys().values().iter().map(|key| usize::try_from(*key).unwrap_or_default());
        read.rows.coded_mut(column).extend((0..texts.len()).map(|place| texts.value(place)), places);
    }
    let newest = batch.timestamp("last_seen_at")?.iter().flatten().max();
    read.last_seen_at = read.last_seen_at.max(newest);
    Ok(())
}

/// Opens a file so that columns of repeated texts come as codes.
fn open_with_dictionaries(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, LoadError> {
    let plain = open(path)?;
    let coded = |field: &Arc<Field>| {
        let is_coded = CODED_COLUMNS.iter().any(|(name, _)| name == field.name());
        match is_coded && *field.data_type() == DataType::Utf8 {
            true => {
                let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
                Arc::new(field.as_ref().clone().with_data_type(kind))
            }
            false => Arc::clone(field),
        }
    };
    let schema = Schema::new(plain.schema().fields().iter().map(coded).collect::<Fields>());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    let metadata = ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options)
        .map_err(|source| LoadError::damaged(path, source))?;
    let file = File::open(path).map_err(|source| LoadError::unreadable(path, source))?;
    Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata))
}
