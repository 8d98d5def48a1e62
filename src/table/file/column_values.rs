//! The values of some rows of a column: its pages are found by their places, unpacked, and read.
//!
//! The library's reader makes a pair of zstd's contexts for each column, and decodes all values of its dictionary: for one row that takes
//! almost as long as all the rest of an answer.

use super::page_values::{MOST_VALUES, Stored, values_of};
use super::placed::PlacedFile;
use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::{Arc, Mutex, PoisonError};
use zstd::bulk::Decompressor;
use zstd::zstd_safe::get_frame_content_size;

/// Bytes of a page at most, against memory for what a damaged page says.
const MOST_BYTES: usize = 64 << 20;

/// One column of a row group.
pub(super) struct ColumnValues<'a> {
    pub(super) file: &'a Arc<PlacedFile>,
    pub(super) footer: &'a ArrowReaderMetadata,
    pub(super) unpacker: &'a Unpacker,
    pub(super) group: usize,
    pub(super) column: usize,
}

impl ColumnValues<'_> {
    /// The values of rows in ascending order, counted from the first of the row group, as a column of the file's type.
    pub(super) fn array(&self, rows: &[usize]) -> Result<ArrayRef, ParquetError> {
        let kind = self.footer.schema().field(self.column).data_type();
        Ok(match kind {
            DataType::Utf8 => {
                let texts = self.values::<Bytes>(rows.iter().copied())?;
                let texts = texts.iter().map(|text| text.as_deref().map(str::from_utf8).transpose());
                Arc::new(texts.collect::<Result<StringArray, _>>()?)
            }
            DataType::Int32 => Arc::new(Int32Array::from(self.values(rows.iter().copied())?)),
            DataType::Int64 => Arc::new(Int64Array::from(self.values(rows.iter().copied())?)),
            other => return Err(ParquetError::NYI(format!("look-ups of {other}"))),
        })
    }

    /// The values of rows in ascending order; none for null.
    pub(super) fn values<T: Stored>(
        &self,
        rows: impl Iterator<Item = usize>,
    ) -> Result<Vec<Option<T>>, ParquetError> {
        let is_nullable = self.footer.parquet_schema().column(self.column).max_def_level() > 0;
        let (mut rows, mut values) = (rows.peekable(), Vec::new());
        if rows.peek().is_none() {
            return Ok(values);
        }
        let (mut pages, mut dictionary, mut start) = (self.pages()?, None, 0);
        let lacks = || ParquetError::General("pages have not the rows that their index says".to_owned());
        while let Some(row) = rows.peek() {
            let next = pages.peek_next_page()?.ok_or_else(lacks)?;
            let end = next.num_rows.or(next.num_levels).unwrap_or(0).saturating_add(start);
            if *row >= end {
                pages.skip_next_page()?;
                start = end;
                continue;
            }
            let page = self.unpacked(pages.get_next_page()?.ok_or_else(lacks)?)?;
            if usize::try_from(page.num_values())? != end - start || end > MOST_VALUES {
                return Err(lacks());
            }
            let dictionary = || {
                if dictionary.is_none() {
                    let packed = pages.take_deferred_dictionary()?;
                    dictionary = packed.map(|page| self.unpacked(page)).transpose()?;
                }
                Ok(dictionary.clone())
            };
            let here = std::iter::from_fn(|| rows.next_if(|row| *row < end).map(|row| row - start));
            let here: Vec<usize> = here.collect();
            values.extend(values_of(&page, dictionary, is_nullable, &here)?);
            start = end;
        }
        Ok(values)
    }

    /// The pages, not unpacked.
    fn pages(&self) -> Result<SerializedPageReader<PlacedFile>, ParquetError> {
        let metadata = self.footer.metadata();
        let rows = usize::try_from(metadata.row_group(self.group).num_rows())?;
        let places = metadata.page_index_for_row_group(self.group).page_locations(self.column).cloned();
        let as_it_is =
            self.chunk().clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        SerializedPageReader::new(Arc::clone(self.file), &as_it_is, rows, places)
    }

    fn chunk(&self) -> &ColumnChunkMetaData {
        self.footer.metadata().row_group(self.group).column(self.column)
    }

    fn unpacked(&self, mut page: Page) -> Result<Page, ParquetError> {
        match (&mut page, self.chunk().compression()) {
            (_, Compression::UNCOMPRESSED) | (Page::DataPageV2 { .. }, _) => {}
            (Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. }, Compression::ZSTD(_)) => {
                let most = usize::try_from(self.chunk().uncompressed_size())?;
                *buf = self.unpacker.unpacked(buf, most)?;
            }
            (_, other) => return Err(ParquetError::NYI(format!("look-ups of pages by {other}"))),
        }
        Ok(page)
    }
}

/// Unpacks what zstd packed, by contexts that are made once: where processors are shared, making one takes 5 to 20 µs.
#[derive(Default)]
pub(super) struct Unpacker {
    idle: Mutex<Vec<Decompressor<'static>>>,
}

impl Unpacker {
    /// The bytes of one frame, which says how many they are; an error for more than `most` or [`MOST_BYTES`].
    fn unpacked(&self, frame: &[u8], most: usize) -> Result<Bytes, ParquetError> {
        let length =
            get_frame_content_size(frame).ok().flatten().and_then(|length| usize::try_from(length).ok());
        let length = length.filter(|length| *length <= most.min(MOST_BYTES));
        let length =
            length.ok_or_else(|| ParquetError::General("a page of no possible length".to_owned()))?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut context = idle.map_or_else(Decompressor::new, Ok)?;
        let bytes = context.decompress(frame, length)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(context);
        Ok(bytes.into())
    }
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Unpacker")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{RecordBatch, UInt64Array};
    use arrow_select::take::take;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ArrowReaderOptions;
    use parquet::basic::{Encoding, ZstdLevel};
    use parquet::file::metadata::PageIndexPolicy;
    use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
    use std::fs::File;

    const ROWS: usize = 3_000;

    /// Texts and numbers, repeated and distinct, with and without nulls.
    fn batch() -> RecordBatch {
        let rows = || (0..ROWS as i64).map(|row| row * 7_919 % 3_001);
        let is_null = |row: i64| row % 5 == 0 || (100..400).contains(&row);
        let text = |row: i64| format!("Ñ {}", "x".repeat(row as usize % 40));
        let some = |row: i64| Some(row).filter(|row| !is_null(*row));
        let columns: [(&str, ArrayRef); 9] = [
            ("one text", Arc::new(rows().map(|_| Some("MGR")).collect::<StringArray>())),
            ("few texts", Arc::new(rows().map(|row| Some(text(row % 9))).collect::<StringArray>())),
            (
                "many texts",
                Arc::new(rows().map(|row| Some(text(row) + &row.to_string())).collect::<StringArray>()),
            ),
            (
                "texts or null",
                Arc::new(rows().map(|row| some(row).map(|row| text(row % 700))).collect::<StringArray>()),
            ),
            ("null", Arc::new(rows().map(|_| None::<String>).collect::<StringArray>())),
            ("numbers", Arc::new(rows().map(|row| (row - 1_500) << (row % 50)).collect::<Int64Array>())),
            ("numbers or null", Arc::new(rows().map(some).collect::<Int64Array>())),
            (
                "numbers of 32 bits",
                Arc::new(
                    rows()
                        .map(|row| [i32::MIN, i32::MAX][row as usize % 2])
                        .map(Some)
                        .collect::<Int32Array>(),
                ),
            ),
            (
                "descending",
                Arc::new((0..ROWS as i64).map(|row| i64::MAX - row * row).collect::<Int64Array>()),
            ),
        ];
        let is_nullable = |name: &str| name.contains("null");
        RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, is_nullable(name))),
        )
        .expect("a batch")
    }

    fn read(path: &std::path::Path, policy: PageIndexPolicy) -> (Arc<PlacedFile>, ArrowReaderMetadata) {
        let (file, _) = PlacedFile::open(path).expect("a file");
        let options = ArrowReaderOptions::new().with_page_index_policy(policy);
        let footer = ArrowReaderMetadata::load(&file, options).expect("a footer");
        (Arc::new(file), footer)
    }

    fn assert_same(properties: WriterPropertiesBuilder, what: &str) {
        let (folder, batch) = (tempfile::tempdir().expect("a folder"), batch());
        let path = folder.path().join("part.parquet");
        let file = File::create(&path).expect("a file");
        let properties = properties.set_max_row_group_row_count(Some(ROWS)).set_write_batch_size(64).build();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("written");
        writer.close().expect("written");
        let unpacker = Unpacker::default();
        for policy in [PageIndexPolicy::Optional, PageIndexPolicy::Skip] {
            let (file, footer) = read(&path, policy);
            for (column, expected) in batch.columns().iter().enumerate() {
                let values =
                    ColumnValues { file: &file, footer: &footer, unpacker: &unpacker, group: 0, column };
                let picks = (0..40).map(|pick| vec![pick * 73 % ROWS]);
                let steps = [1, 2, 5, 64, 999].map(|step| (0..ROWS).step_by(step).collect());
                let ends = [vec![], vec![0, 1, 2], (ROWS - 70..ROWS).collect()];
                for rows in picks.chain(steps).chain(ends) {
                    let places = rows.iter().map(|row| *row as u64).collect::<UInt64Array>();
                    let expected = take(expected, &places, None).expect("rows");
                    let found =
                        values.array(&rows).unwrap_or_else(|error| panic!("{what}, {column}: {error}"));
                    assert_eq!(&found, &expected, "{what}, column {column}, {rows:?}");
                }
                assert!(values.array(&[ROWS]).is_err(), "{what}: there is no such row");
            }
        }
        assert!(unpacker.idle.lock().expect("contexts").len() <= 1, "one at a time");
    }

    /// Columns without a dictionary, or after it, as differences.
    fn with_differences(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
        batch().schema().fields().iter().fold(properties, |properties, field| {
            let differences = match field.data_type() {
                DataType::Utf8 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
                _ => Encoding::DELTA_BINARY_PACKED,
            };
            properties.set_column_encoding(field.name().as_str().into(), differences)
        })
    }

    #[test]
    fn values_are_those_that_were_written_in_each_encoding() {
        let zstd = || Compression::ZSTD(ZstdLevel::default());
        let pages = |rows| WriterProperties::builder().set_data_page_row_count_limit(rows);
        for rows in [64, 512, 20_000] {
            assert_same(pages(rows), "dictionaries");
            assert_same(pages(rows).set_compression(zstd()), "packed dictionaries");
            let small = pages(rows).set_dictionary_page_size_limit(256);
            assert_same(small.clone().set_compression(zstd()), "dictionaries that end");
            assert_same(with_differences(small), "dictionaries before differences");
            assert_same(pages(rows).set_dictionary_enabled(false), "plain values");
        }
        let other = pages(512).set_dictionary_enabled(false).set_compression(zstd());
        assert_same(with_differences(other), "differences");
    }

    #[test]
    fn what_is_not_read_here_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("part.parquet");
        let properties = WriterProperties::builder()
            .set_writer_version(parquet::file::properties::WriterVersion::PARQUET_2_0);
        let batch = batch();
        let file = File::create(&path).expect("a file");
        let mut writer =
            ArrowWriter::try_new(file, batch.schema(), Some(properties.build())).expect("a writer");
        writer.write(&batch).expect("written");
        writer.close().expect("written");
        let (file, footer) = read(&path, PageIndexPolicy::Optional);
        let values = ColumnValues {
            file: &file,
            footer: &footer,
            unpacker: &Unpacker::default(),
            group: 0,
            column: 0,
        };
        let error = values.array(&[1]).expect_err("another version");
        assert_eq!(error.to_string(), "NYI: a page of another version");
    }
}
