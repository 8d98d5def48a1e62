//! The filings: files are read on several threads, column by column; repeated texts are read as codes.

use super::files::{LoadError, files_of};
use crate::serve::index::IndexBuilder;
use crate::serve::index::columns::{CODED_FIELDS, CodedField, RowBuffer, UncodedCells};
use crate::table::{Table, check_places, decoded};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, BooleanArray, Date32Array, DictionaryArray, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, Fields, Schema};
use bytes::Bytes;
use jiff::Timestamp;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// Rows read from a file at once.
const BATCH_ROWS: usize = 8 * 1024;
/// Bytes of names for which room is made before they are read: a damaged footer may say any number.
const MOST_NAME_BYTES: usize = 1 << 30;
/// Threads that read at most; one thread puts their results together.
const MAX_THREADS: usize = 4;

/// The columns whose texts repeat.
const CODED_COLUMNS: [(&str, CodedField); CODED_FIELDS] = [
    ("entity_type", CodedField::EntityType),
    ("company_type", CodedField::CompanyType),
    ("status", CodedField::Status),
    ("city", CodedField::City),
    ("zip", CodedField::Zip),
    ("county", CodedField::County),
    ("industry_sector", CodedField::Sector),
    ("industry_type", CodedField::IndustryType),
];

/// The other columns.
const UNCODED_COLUMNS: [&str; 9] = [
    "business_id",
    "document_number",
    "name",
    "filed_date",
    "dissolved_date",
    "url",
    "listed",
    "changed_at",
    "extra",
];

/// A file of filings.
struct FilingsFile {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
}

impl FilingsFile {
    fn rows(&self) -> usize {
        usize::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Bytes of the names, and of their lengths.
    fn name_bytes(&self) -> usize {
        let columns = self.metadata.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
        let names = columns.filter(|column| column.column_path().string() == "name");
        names
            .map(|names| usize::try_from(names.uncompressed_size()).unwrap_or(0))
            .fold(0, usize::saturating_add)
    }
}

/// The rows of a file.
#[derive(Default)]
struct ReadRows {
    rows: RowBuffer,
    /// The newest of them, in microseconds.
    changed_at: Option<i64>,
}

/// Adds the filings in the order of their files. Each thread reads every n-th file.
pub(super) fn load_filings(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    let files = files_of(snapshot, Table::Filings)?.into_iter().map(metadata_with_dictionaries);
    let files = files.collect::<Result<Vec<FilingsFile>, _>>()?;
    // Columns that grow are copied again and again.
    builder.rows.reserve(
        files.iter().map(FilingsFile::rows).fold(0, usize::saturating_add),
        files.iter().map(FilingsFile::name_bytes).fold(0, usize::saturating_add).min(MOST_NAME_BYTES),
    );
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
    std::thread::scope(|scope| {
        let start = |first| {
            let (done, results) = sync_channel(1);
            let mut own = files.iter().skip(first).step_by(threads);
            // Sending fails when another file could not be read: the receivers are gone.
            scope.spawn(move || own.all(|file| done.send(read_file(file)).is_ok()));
            results
        };
        let results: Vec<_> = (0..threads).map(start).collect();
        for read in files.iter().zip(results.iter().cycle()).map_while(|(_, results)| results.recv().ok()) {
            let ReadRows { rows, changed_at } = read?;
            builder.rows.append(rows);
            let seen = changed_at.and_then(|micros| Timestamp::from_microsecond(micros).ok());
            builder.updated_at = builder.updated_at.max(seen);
        }
        Ok(())
    })
}

/// The footer of a file, with a schema that reads columns of repeated texts as codes.
fn metadata_with_dictionaries(path: PathBuf) -> Result<FilingsFile, LoadError> {
    let damaged = |source| LoadError::damaged(&path, source);
    let options = ArrowReaderOptions::new();
    let file = File::open(&path).map_err(|source| LoadError::unreadable(&path, source))?;
    let plain = ArrowReaderMetadata::load(&file, options.clone()).map_err(damaged)?;
    check_places(plain.metadata()).map_err(damaged)?;
    let with_dictionary = |field: &Arc<Field>| {
        let is_coded = CODED_COLUMNS.iter().any(|(name, _)| name == field.name());
        if !is_coded || *field.data_type() != DataType::Utf8 {
            return Arc::clone(field);
        }
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        Arc::new(field.as_ref().clone().with_data_type(kind))
    };
    let schema = Schema::new(plain.schema().fields().iter().map(with_dictionary).collect::<Fields>());
    let options = options.with_schema(Arc::new(schema));
    let metadata = ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options).map_err(damaged)?;
    Ok(FilingsFile { path, metadata })
}

/// The rows of a file, which is read at once: the library would seek in it for each page.
fn read_file(file: &FilingsFile) -> Result<ReadRows, LoadError> {
    let path = file.path.as_path();
    let bytes = std::fs::read(path).map_err(|source| LoadError::unreadable(path, source))?;
    let (bytes, damaged) = (Bytes::from(bytes), |source| LoadError::damaged(path, source));
    let rows = || {
        let mut read = ReadRows::default();
        // One by one: a batch of two row groups has texts of two dictionaries, which are read text by text.
        for group in 0..file.metadata.metadata().num_row_groups() {
            let metadata = file.metadata.clone();
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata);
            let names = CODED_COLUMNS.iter().map(|(name, _)| *name).chain(UNCODED_COLUMNS);
            let mask = ProjectionMask::columns(reader.parquet_schema(), names);
            let reader =
                reader.with_projection(mask).with_row_groups(vec![group]).with_batch_size(BATCH_ROWS);
            for batch in reader.build().map_err(damaged)? {
                let batch = batch.map_err(|error| damaged(error.into()))?;
                read.push(&NamedBatch { batch: &batch, path })?;
            }
        }
        Ok(read)
    };
    decoded(rows, damaged)
}

impl ReadRows {
    /// Adds the rows of a batch.
    fn push(&mut self, batch: &NamedBatch<'_>) -> Result<(), LoadError> {
        let ids: &Int64Array = batch.column("business_id")?;
        let [filed, dissolved]: [&Date32Array; 2] =
            [batch.column("filed_date")?, batch.column("dissolved_date")?];
        let [document_number, name]: [&StringArray; 2] =
            [batch.column("document_number")?, batch.column("name")?];
        let url: &StringArray = batch.column("url")?;
        let unheld = batch.unheld_fields()?;
        let listed: &BooleanArray = batch.column("listed")?;
        for row in 0..batch.batch.num_rows() {
            self.rows.listed.push(listed.value(row));
            self.rows.uncoded.push(UncodedCells {
                business_id: ids.value(row),
                id: unheld.get(&row).and_then(|fields| fields.id.as_deref()),
                document_number: document_number.value(row),
                name: name.value(row),
                filed_day: filed.value(row),
                dissolved_day: dissolved.is_valid(row).then(|| dissolved.value(row)),
                url: url.value(row),
            });
        }
        for (name, field) in CODED_COLUMNS {
            let cells: &DictionaryArray<Int32Type> = batch.column(name)?;
            let texts = cells.values().as_string_opt::<i32>().ok_or_else(|| batch.no_column(name))?;
            let mut texts: Vec<&str> = (0..texts.len()).map(|place| texts.value(place)).collect();
            let place = |key: &i32| usize::try_from(*key).unwrap_or(usize::MAX);
            let mut places: Vec<usize> = cells.keys().values().iter().map(place).collect();
            if cells.null_count() > 0 && field == CodedField::County {
                // A county outside Florida is null, and in `extra` as it was sent.
                for row in (0..cells.len()).filter(|row| cells.is_null(*row)) {
                    places[row] = texts.len();
                    texts.push(unheld.get(&row).and_then(|fields| fields.county.as_deref()).unwrap_or(""));
                }
            }
            self.rows.coded_mut(field).extend(texts, places);
        }
        let seen: &TimestampMicrosecondArray = batch.column("changed_at")?;
        self.changed_at = self.changed_at.max(seen.iter().flatten().max());
        Ok(())
    }
}

/// What `extra` has of the fields that the API documents: those that their columns cannot hold.
#[derive(Deserialize)]
struct UnheldFields {
    id: Option<String>,
    county: Option<String>,
}

/// A batch, and the file that errors name.
struct NamedBatch<'a> {
    batch: &'a RecordBatch,
    path: &'a Path,
}

impl<'a> NamedBatch<'a> {
    /// The column of a name, if it has this type.
    fn column<T: 'static>(&self, name: &'static str) -> Result<&'a T, LoadError> {
        let found = self.batch.column_by_name(name).and_then(|array| array.as_any().downcast_ref());
        found.ok_or_else(|| self.no_column(name))
    }

    /// The fields of each row that its columns cannot hold.
    fn unheld_fields(&self) -> Result<HashMap<usize, UnheldFields>, LoadError> {
        let extra: &StringArray = self.column("extra")?;
        // Most texts are about something else.
        let has_one = |text: &&str| text.contains("\"id\"") || text.contains("\"county\"");
        let texts = extra.iter().enumerate().filter_map(|(row, text)| Some((row, text.filter(has_one)?)));
        Ok(texts.filter_map(|(row, text)| Some((row, serde_json::from_str(text).ok()?))).collect())
    }

    fn no_column(&self, column: &'static str) -> LoadError {
        LoadError::Column(self.path.to_owned(), column)
    }
}
