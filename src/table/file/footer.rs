//! What a file's footer says: columns, row count, key values, which values there may be. Reads no rows.

use super::properties::SCHEMA_VERSION_KEY;
use crate::table::error::TableError;
use crate::table::schema::{check_schema, without_field_ids};
use crate::table::tables::{SCHEMA_VERSION, Table};
use arrow_schema::{DataType, Fields, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::statistics::Statistics;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Up to this many values, bloom filters are worth reading: each is wrong about once in 100 times.
const BLOOM_VALUES: usize = 32;

pub(super) type Builder = ParquetRecordBatchReaderBuilder<File>;

/// The footer of one file.
pub struct Footer {
    pub(super) path: PathBuf,
    pub(super) builder: Builder,
    schema: SchemaRef,
}

impl Footer {
    /// Reads the footer of any Parquet file.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let file = File::open(path).map_err(|source| TableError::io("open", path, source))?;
        // Other tools read the Parquet schema; an embedded Arrow schema may differ from it.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let damaged = |source| TableError::parquet("read", path, source);
        let builder = Builder::try_new_with_options(file, options).map_err(damaged)?;
        check_places(builder.metadata()).map_err(damaged)?;
        let schema = without_field_ids(builder.schema().fields());
        Ok(Self { path: path.to_owned(), builder, schema })
    }

    /// Reads the footer of a file of a table.
    pub fn of_table(table: Table, path: &Path) -> Result<Self, TableError> {
        let footer = Self::open(path)?;
        check_table(table, path, footer.builder.metadata(), footer.schema())?;
        Ok(footer)
    }

    /// The same file, its texts as dictionaries: a text that many rows have is decoded once.
    pub(super) fn with_dictionaries(self) -> Result<Self, TableError> {
        let file = File::open(&self.path).map_err(|source| TableError::io("open", &self.path, source))?;
        let texts = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let fields = self.builder.schema().fields().iter().map(|field| match field.data_type() {
            DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(texts.clone())),
            _ => field.clone(),
        });
        let schema = Arc::new(Schema::new(fields.collect::<Fields>()));
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true).with_schema(schema);
        let metadata = ArrowReaderMetadata::try_new(self.builder.metadata().clone(), options)
            .map_err(|source| TableError::parquet("read", &self.path, source))?;
        Ok(Self { builder: Builder::new_with_metadata(file, metadata), ..self })
    }

    /// The file's columns, in its order.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Rows of the file.
    pub fn rows(&self) -> u64 {
        u64::try_from(self.builder.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// The value that the writer stored under a key.
    pub fn key_value(&self, key: &str) -> Option<&str> {
        key_value(self.builder.metadata(), key)
    }

    /// Whether an integer column may hold one of `values`, which are sorted: by the bounds of its row groups and,
    /// for a few values, by their bloom filters. True where the footer does not say.
    pub fn may_hold_any(&self, column: &str, values: &[i64]) -> Result<bool, TableError> {
        let Some(leaf) = self.leaf(column) else { return Ok(true) };
        for (at, group) in self.builder.metadata().row_groups().iter().enumerate() {
            let within = match group.column(leaf).statistics() {
                Some(Statistics::Int64(span)) => between(values, span.min_opt(), span.max_opt()),
                _ => values,
            };
            if within.is_empty() {
                continue;
            }
            if within.len() > BLOOM_VALUES {
                return Ok(true);
            }
            let bloom = self
                .builder
                .get_row_group_column_bloom_filter(at, leaf)
                .map_err(|source| TableError::parquet("read", &self.path, source))?;
            if bloom.is_none_or(|bloom| within.iter().any(|value| bloom.check(value))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a text column may hold a value, by the bounds of its row groups; a column that is not there holds none.
    pub fn may_hold_text(&self, column: &str, value: &str) -> bool {
        let Some(leaf) = self.leaf(column) else { return false };
        let value = value.as_bytes();
        let may_hold = |statistics: Option<&Statistics>| match statistics {
            Some(Statistics::ByteArray(span)) => {
                span.min_opt().is_none_or(|min| min.data() <= value)
                    && span.max_opt().is_none_or(|max| max.data() >= value)
            }
            _ => true,
        };
        self.builder.metadata().row_groups().iter().any(|group| may_hold(group.column(leaf).statistics()))
    }

    fn leaf(&self, column: &str) -> Option<usize> {
        self.builder.parquet_schema().columns().iter().position(|leaf| leaf.name() == column)
    }
}

/// Checks that no column begins before the file does or has fewer than no bytes: readers panic there.
pub fn check_places(footer: &ParquetMetaData) -> Result<(), ParquetError> {
    let mut columns = footer.row_groups().iter().flat_map(|group| group.columns());
    let is_before = |column: &ColumnChunkMetaData| {
        let begins = [column.data_page_offset(), column.dictionary_page_offset().unwrap_or_default()];
        begins.into_iter().chain([column.compressed_size()]).any(|number| number < 0)
    };
    columns.find(|column| is_before(column)).map_or(Ok(()), |column| {
        let name = column.column_path().string();
        Err(ParquetError::General(format!("the place of {name} in the file is none")))
    })
}

/// Checks that a footer is one of a table: its version, and its columns.
pub(super) fn check_table(
    table: Table,
    path: &Path,
    footer: &ParquetMetaData,
    schema: &Schema,
) -> Result<(), TableError> {
    match key_value(footer, SCHEMA_VERSION_KEY) {
        Some(found) if !found.parse::<u32>().is_ok_and(|version| version <= SCHEMA_VERSION) => {
            let (path, found) = (path.to_owned(), found.to_owned());
            Err(TableError::NewerSchema { path, found, known: SCHEMA_VERSION })
        }
        _ => check_schema(schema, &table.schema(), &path.display().to_string()),
    }
}

fn key_value<'a>(footer: &'a ParquetMetaData, key: &str) -> Option<&'a str> {
    let pairs = footer.file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
}

fn between<'a>(values: &'a [i64], min: Option<&i64>, max: Option<&i64>) -> &'a [i64] {
    let from = min.map_or(0, |min| values.partition_point(|value| value < min));
    let to = max.map_or(values.len(), |max| values.partition_point(|value| value <= max));
    values.get(from..to).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::try_changed;
    use crate::table::business::FilingRow;
    use crate::table::file::read::read_rows;
    use crate::table::file::write::tests::{filings, part, write_rows};

    fn written(rows: &[FilingRow]) -> (tempfile::TempDir, Footer) {
        let (folder, path) = part();
        write_rows(rows, &path, &[("sunlake.snapshot", "7".to_owned())]).expect("written");
        let footer = Footer::of_table(Table::Filings, &path).expect("a footer");
        (folder, footer)
    }

    #[test]
    fn a_footer_returns_rows_and_key_values() {
        let rows = filings(150_000);
        let (_folder, footer) = written(&rows);
        assert_eq!(footer.builder.metadata().num_row_groups(), 4);
        assert_eq!((footer.rows(), footer.key_value("sunlake.snapshot")), (150_000, Some("7")));
    }

    #[test]
    fn bounds_and_bloom_filters_rule_values_out() {
        let rows: Vec<_> = filings(400).into_iter().filter(|row| row.business_id % 2 == 0).collect();
        let (_folder, footer) = written(&rows);
        let may = |values: &[i64]| footer.may_hold_any("business_id", values).expect("filters");
        assert!(may(&[1, 4]) && may(&(1..100).collect::<Vec<_>>()));
        assert!(!may(&[401, 5_000]) && !may(&[]));
        assert!(!may(&[1]) || !may(&[3]) || !may(&[5]), "bloom filters rule odd ids out, mostly");
        assert!(footer.may_hold_text("city", &rows[0].city));
        assert!(!footer.may_hold_text("city", "\u{10ffff}") && !footer.may_hold_text("nope", "x"));
    }

    #[test]
    fn fuzz_of_parquet_footers() {
        let (folder, path) = part();
        write_rows(&filings(3), &path, &[]).expect("written");
        let whole = std::fs::read(&path).expect("a file");
        // The footer alone, with its length and its end: the rows are not read.
        let footer =
            u32::from_le_bytes(whole[whole.len() - 8..whole.len() - 4].try_into().expect("a length"));
        let (rows, footer) = whole.split_at(whole.len() - 8 - footer as usize);
        let changed = folder.path().join("changed.parquet");
        try_changed(&[footer], |input| {
            std::fs::write(&changed, [rows, input].concat()).expect("written");
            let _ = Footer::of_table(Table::Filings, &changed);
            let _ = read_rows::<FilingRow>(&changed);
        });
    }
}
