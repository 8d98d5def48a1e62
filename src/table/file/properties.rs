//! How the files of a table or an aggregate are written: row groups, pages, encodings, compression, key values.

use crate::table::tables::{SCHEMA_VERSION, Table};
use arrow_schema::{DataType, Field, Schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{
    DEFAULT_WRITE_BATCH_SIZE, EnabledStatistics, WriterProperties, WriterPropertiesBuilder,
};
use parquet::schema::types::ColumnPath;

/// Rows of a row group; the last one of a file may have fewer. Half a month: the newest rows of a month are found without the others.
pub const ROW_GROUP_ROWS: usize = 40 * 1024;
/// Key of the schema version in a file's metadata.
pub const SCHEMA_VERSION_KEY: &str = "sunlake.schema_version";
/// Fixed, so that a release without a change of layout writes the same bytes. Spark ignores the statistics of
/// files whose writer does not read as `<name> version <number>`.
pub(super) const CREATED_BY: &str = "sunlake version 1";
const BLOOM_FALSE_POSITIVES: f64 = 0.01;
/// Bytes of a dictionary at most where single businesses are read: all of it is read for one row.
const LOOKED_UP_DICTIONARY_BYTES: usize = 64 * 1024;
const ZSTD_LEVEL: i32 = 3;

/// What is written in a file of this number of rows, and how. An aggregate is of no table.
pub(super) fn properties(
    table: Option<Table>,
    schema: &Schema,
    rows: usize,
    key_values: &[(&str, String)],
) -> Result<WriterProperties, ParquetError> {
    let version = KeyValue::new(SCHEMA_VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string());
    let given = key_values.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
    let sorting = table.into_iter().flat_map(Table::sort).filter_map(|(name, descending)| {
        let column_idx = i32::try_from(schema.index_of(name).ok()?).ok()?;
        Some(SortingColumn { column_idx, descending: *descending, nulls_first: false })
    });
    let mut builder = WriterProperties::builder()
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_sorting_columns(Some(sorting.collect()))
        .set_key_value_metadata(Some(std::iter::once(version).chain(given).collect()));
    if let Some(table) = table {
        builder = with_columns_of(builder, table, schema, rows);
    }
    Ok(builder.build())
}

fn with_columns_of(
    mut builder: WriterPropertiesBuilder,
    table: Table,
    schema: &Schema,
    rows: usize,
) -> WriterPropertiesBuilder {
    for name in table.bloom() {
        // Sized for twice the rows of a file, or a full row group, then folded to the values it got.
        let (column, most) = (ColumnPath::from(*name), (2 * rows).clamp(1, ROW_GROUP_ROWS));
        builder = builder.set_column_bloom_filter_fpp(column.clone(), BLOOM_FALSE_POSITIVES);
        builder = builder.set_column_bloom_filter_max_ndv(column, most as u64);
    }
    for name in table.distinct() {
        let column = ColumnPath::from(*name);
        let encoding = schema.field_with_name(name).map_or(Encoding::PLAIN, encoding);
        builder = builder.set_column_dictionary_enabled(column.clone(), false);
        builder = builder.set_column_encoding(column, encoding);
    }
    if let Some(rows) = table.page_rows() {
        builder = with_small_pages(builder, table, schema, rows);
    }
    for field in schema.fields().iter().filter(|field| table.is_repeated(field.name())) {
        // The numbers of a small dictionary hardly shrink.
        let column = ColumnPath::from(field.name().as_str());
        builder = builder.set_column_compression(column, Compression::UNCOMPRESSED);
    }
    builder
}

/// The encoding of a column without a dictionary.
fn encoding(field: &Field) -> Encoding {
    match field.data_type() {
        // Links begin alike.
        _ if field.name() == "url" => Encoding::DELTA_BYTE_ARRAY,
        // Neighbouring rows of a sorted file have close numbers.
        DataType::Int64 => Encoding::DELTA_BINARY_PACKED,
        // Texts without their lengths between them are smaller, and are found faster.
        _ => Encoding::DELTA_LENGTH_BYTE_ARRAY,
    }
}

/// Pages of a few rows, and little to read besides: the page of a business is found by its id, so that no other column has bounds
/// of its pages.
fn with_small_pages(
    mut builder: WriterPropertiesBuilder,
    table: Table,
    schema: &Schema,
    rows: usize,
) -> WriterPropertiesBuilder {
    builder = builder
        .set_data_page_row_count_limit(rows)
        // A page ends where a batch of its writer ends.
        .set_write_batch_size(rows.min(DEFAULT_WRITE_BATCH_SIZE))
        .set_dictionary_page_size_limit(LOOKED_UP_DICTIONARY_BYTES)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for name in table.bloom() {
        builder = builder.set_column_statistics_enabled(ColumnPath::from(*name), EnabledStatistics::Page);
    }
    // Of the pages after a dictionary that became too large.
    let texts = schema.fields().iter().filter(|field| *field.data_type() == DataType::Utf8);
    texts.fold(builder, |builder, field| {
        builder.set_column_encoding(ColumnPath::from(field.name().as_str()), encoding(field))
    })
}
