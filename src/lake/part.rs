//! One Parquet file: written sorted and checked, read back by column.

use super::error::LakeError;
use super::path::day_of;
use super::storage::{self, Storage};
use crate::table::Table;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::{self, SortColumn, SortOptions, concat_batches, lexsort_to_indices, take_record_batch};
use arrow::datatypes::{DataType, Date32Type, Int64Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use jiff::civil::Date;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows of a row group: large enough to compress, small enough to skip.
const ROW_GROUP_ROWS: usize = 128 * 1024;

/// What is known of a file once it is written and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartInfo {
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) blake3: String,
    pub(super) min_filed_date: Option<Date>,
    pub(super) max_filed_date: Option<Date>,
}

/// Writes sorted rows to `path`, makes them durable, re-opens the file and checks it.
///
/// The same rows and key values give the same bytes. `table` is none for an aggregate.
pub(super) fn write_part(
    storage: &Storage,
    table: Option<Table>,
    rows: &RecordBatch,
    path: &Path,
    key_values: &[(&str, String)],
) -> Result<PartInfo, LakeError> {
    let failed = || LakeError::parquet("write", path);
    let mut file = storage.create(path)?;
    let properties = properties(table, rows, key_values, path)?;
    let mut writer = ArrowWriter::try_new(&mut file, rows.schema(), Some(properties)).map_err(failed())?;
    writer.write(rows).map_err(failed())?;
    writer.close().map_err(failed())?;
    file.sync()?;
    drop(file);
    let info = inspect_part(path)?;
    if info.rows != rows.num_rows() as u64 {
        return Err(LakeError::damaged(
            path,
            format!("{} rows written, {} found", rows.num_rows(), info.rows),
        ));
    }
    Ok(PartInfo { ..with_dates(info, rows) })
}

/// Rows, size and digest of a file that lies on the disk; its footer must open.
pub(super) fn inspect_part(path: &Path) -> Result<PartInfo, LakeError> {
    let (bytes, blake3) = storage::digest(path)?;
    let rows = open(path)?.metadata().file_metadata().num_rows();
    let rows = u64::try_from(rows).map_err(|_| LakeError::damaged(path, "negative row count"))?;
    Ok(PartInfo { rows, bytes, blake3, min_filed_date: None, max_filed_date: None })
}

/// The info with the span of filing dates that `rows` show.
pub(super) fn with_dates(info: PartInfo, rows: &RecordBatch) -> PartInfo {
    let dates = rows.column_by_name("filed_date").and_then(|column| column.as_primitive_opt::<Date32Type>());
    PartInfo {
        min_filed_date: dates.and_then(compute::min).and_then(day_of),
        max_filed_date: dates.and_then(compute::max).and_then(day_of),
        ..info
    }
}

fn properties(
    table: Option<Table>,
    rows: &RecordBatch,
    key_values: &[(&str, String)],
    path: &Path,
) -> Result<WriterProperties, LakeError> {
    let zstd = ZstdLevel::try_new(3).map_err(LakeError::parquet("write", path))?;
    let key_values = key_values.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone()));
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(zstd))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_key_value_metadata(Some(key_values.collect()));
    let Some(table) = table else { return Ok(properties.build()) };
    let distinct = rows.num_rows().clamp(1, ROW_GROUP_ROWS) as u64;
    for name in table.bloom() {
        let column = ColumnPath::from(*name);
        properties = properties
            .set_column_bloom_filter_enabled(column.clone(), true)
            .set_column_bloom_filter_max_ndv(column.clone(), distinct)
            .set_column_dictionary_enabled(column, false);
    }
    Ok(properties.set_sorting_columns(Some(sorting_columns(table))).build())
}

fn sorting_columns(table: Table) -> Vec<SortingColumn> {
    let schema = table.schema();
    let place = |name: &str| schema.index_of(name).ok().and_then(|index| i32::try_from(index).ok());
    table
        .sort()
        .iter()
        .filter_map(|(name, descending)| {
            Some(SortingColumn { column_idx: place(name)?, descending: *descending, nulls_first: true })
        })
        .collect()
}

/// Rows in the order of their table; equal ones by key, so that the same rows always come in the same order.
pub(super) fn sorted(table: Table, rows: &RecordBatch) -> Result<RecordBatch, LakeError> {
    let by_sort = table.sort().iter().copied();
    let by_key = table.key().iter().map(|name| (*name, false));
    let columns: Vec<SortColumn> = by_sort
        .chain(by_key)
        .filter_map(|(name, descending)| {
            let values = rows.column_by_name(name)?.clone();
            Some(SortColumn { values, options: Some(SortOptions { descending, nulls_first: true }) })
        })
        .collect();
    let order = lexsort_to_indices(&columns, None).map_err(LakeError::arrow("sort rows"))?;
    take_record_batch(rows, &order).map_err(LakeError::arrow("sort rows"))
}

fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, LakeError> {
    let file = File::open(path).map_err(LakeError::storage("open", path))?;
    ParquetRecordBatchReaderBuilder::try_new(file).map_err(LakeError::parquet("read", path))
}

/// The columns of a file as its footer says, without file metadata.
pub(super) fn read_schema(path: &Path) -> Result<SchemaRef, LakeError> {
    Ok(Arc::new(Schema::new(open(path)?.schema().fields().clone())))
}

/// All rows of a file, all columns or those named.
pub(super) fn read_part(path: &Path, projection: Option<&[&str]>) -> Result<RecordBatch, LakeError> {
    let failed = || LakeError::parquet("read", path);
    let mut builder = open(path)?.with_batch_size(ROW_GROUP_ROWS);
    if let Some(names) = projection {
        let mask = ProjectionMask::columns(builder.parquet_schema(), names.iter().copied());
        builder = builder.with_projection(mask);
    }
    let reader = builder.build().map_err(failed())?;
    let schema: SchemaRef = arrow::record_batch::RecordBatchReader::schema(&reader);
    let batches = reader.collect::<Result<Vec<_>, _>>().map_err(LakeError::arrow("read rows"))?;
    let whole = concat_batches(&schema, &batches).map_err(LakeError::arrow("join rows"))?;
    let plain = Arc::new(Schema::new(schema.fields().clone()));
    RecordBatch::try_new(plain, whole.columns().to_vec()).map_err(LakeError::arrow("join rows"))
}

/// Which of `ids` (sorted) may be in the file: by its row groups' smallest and largest id and, for a few ids, by
/// their bloom filters; then surely, by reading the id column.
pub(super) fn ids_in_part(path: &Path, ids: &[i64]) -> Result<Vec<i64>, LakeError> {
    if !may_hold_any(path, ids)? {
        return Ok(Vec::new());
    }
    let column = read_part(path, Some(&["business_id"]))?;
    let there = int64(&column, "business_id")?;
    let mut found: Vec<i64> =
        there.values().iter().copied().filter(|id| ids.binary_search(id).is_ok()).collect();
    found.sort_unstable();
    Ok(found)
}

/// Up to how many ids a look at the bloom filters is worth it: each errs about once in a hundred times.
const BLOOM_IDS: usize = 32;

fn may_hold_any(path: &Path, ids: &[i64]) -> Result<bool, LakeError> {
    let builder = open(path)?;
    let Some(column) =
        builder.parquet_schema().columns().iter().position(|leaf| leaf.name() == "business_id")
    else {
        return Ok(true);
    };
    for group in 0..builder.metadata().num_row_groups() {
        let within = match builder.metadata().row_group(group).column(column).statistics() {
            Some(Statistics::Int64(span)) => between(ids, span.min_opt(), span.max_opt()),
            _ => ids,
        };
        if within.is_empty() {
            continue;
        }
        if within.len() > BLOOM_IDS {
            return Ok(true);
        }
        let bloom = builder
            .get_row_group_column_bloom_filter(group, column)
            .map_err(LakeError::parquet("read", path))?;
        if bloom.is_none_or(|bloom| within.iter().any(|id| bloom.check(id))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a text column may hold a value, by its row groups' smallest and largest.
pub(super) fn may_hold_text(path: &Path, name: &str, value: &str) -> Result<bool, LakeError> {
    let builder = open(path)?;
    let leaves = builder.parquet_schema().columns();
    let Some(column) = leaves.iter().position(|leaf| leaf.name() == name) else { return Ok(false) };
    let value = value.as_bytes();
    let may_hold = |statistics: Option<&Statistics>| match statistics {
        Some(Statistics::ByteArray(span)) => {
            span.min_opt().is_none_or(|min| min.data() <= value)
                && span.max_opt().is_none_or(|max| max.data() >= value)
        }
        _ => true,
    };
    Ok(builder.metadata().row_groups().iter().any(|group| may_hold(group.column(column).statistics())))
}

fn between<'a>(ids: &'a [i64], min: Option<&i64>, max: Option<&i64>) -> &'a [i64] {
    let from = min.map_or(0, |min| ids.partition_point(|id| id < min));
    let to = max.map_or(ids.len(), |max| ids.partition_point(|id| id <= max));
    ids.get(from..to).unwrap_or(&[])
}

/// A 64-bit column by name.
pub(super) fn int64<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a Int64Array, LakeError> {
    let array: &ArrayRef = column(rows, name)?;
    array.as_primitive_opt::<Int64Type>().ok_or_else(|| wrong_type(name, array.data_type()))
}

/// A column by name.
pub(super) fn column<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, LakeError> {
    rows.column_by_name(name).ok_or_else(|| LakeError::Schema {
        table: "of the lake".to_owned(),
        what: format!("column {name} is missing"),
    })
}

/// The error for a column of an unexpected type.
pub(super) fn wrong_type(name: &str, found: &DataType) -> LakeError {
    LakeError::Schema { table: "of the lake".to_owned(), what: format!("column {name} is {found}") }
}

/// Whether rows have exactly the columns of their table.
pub(super) fn check_schema(table: Table, found: &Schema) -> Result<(), LakeError> {
    let wanted = table.schema();
    if wanted.fields() == found.fields() {
        return Ok(());
    }
    let different =
        wanted.fields().iter().find(|field| found.field_with_name(field.name()).ok() != Some(field));
    let what = match different {
        Some(field) => {
            format!("column {} ({}) is missing or of another type", field.name(), field.data_type())
        }
        None => "columns are more, or in another order".to_owned(),
    };
    Err(LakeError::Schema { table: table.name().to_owned(), what })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lake::rows_for_tests::{filing, filings};

    #[test]
    fn the_same_rows_give_the_same_bytes() -> Result<(), LakeError> {
        let dir = tempfile::tempdir().expect("a folder");
        let rows = filings(&[filing(7, "2026-11-03"), filing(9, "2026-11-02")]);
        let write = |name: &str, snapshot: &str| {
            let path = dir.path().join(name);
            let key_values = [("sunlake.snapshot", snapshot.to_owned())];
            write_part(&Storage::default(), Some(Table::Filings), &rows, &path, &key_values)
        };
        let (one, two, three) = (write("a", "1")?, write("b", "1")?, write("c", "2")?);
        assert_eq!(one, two);
        assert_ne!(one.blake3, three.blake3);
        assert_eq!(one.min_filed_date, Some(jiff::civil::date(2026, 11, 2)));
        assert_eq!(read_part(&dir.path().join("a"), None)?, rows);
        Ok(())
    }

    #[test]
    fn ids_are_found_by_few_and_by_many() -> Result<(), LakeError> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("part");
        let rows: Vec<_> = (0..200).map(|at| filing(1000 + at * 2, "2026-11-03")).collect();
        write_part(&Storage::default(), Some(Table::Filings), &filings(&rows), &path, &[])?;
        assert_eq!(ids_in_part(&path, &[1, 1001, 1004, 5000])?, [1004]);
        assert_eq!(ids_in_part(&path, &[1, 999, 5000])?, Vec::<i64>::new());
        let many: Vec<i64> = (900..1100).collect();
        assert_eq!(ids_in_part(&path, &many)?.len(), 50);
        Ok(())
    }
}
