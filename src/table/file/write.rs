//! Writes the lake's Parquet files, always in the same way.
//!
//! The same rows and key values give the same bytes.

use super::properties::{ROW_GROUP_ROWS, properties};
use super::read::BATCH_ROWS;
use crate::table::error::TableError;
use crate::table::order::first_unsorted;
use crate::table::schema::{check_schema, with_field_ids};
use crate::table::tables::Table;
use arrow_array::{Array, ArrayRef, RecordBatch, make_array};
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowWriter, ArrowWriterOptions, compute_leaves};
use parquet::errors::ParquetError;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Key of an aggregate's description: the question it answers, and its columns.
pub const ABOUT_KEY: &str = "sunlake.about";
/// Fewer rows are encoded sooner than another thread wakes.
const ROWS_FOR_THREADS: usize = 2 * 1024;

/// Writes a file to `sink`: of a table, or of an aggregate, which has any columns in any order. Returns its size.
///
/// `path` names the file in errors. `key_values` follow the schema version in its metadata. Its bytes are not durable until the disk is
/// asked for that.
///
/// # Errors
///
/// [`TableError::Unsorted`] for rows that are not in the table's order; rows of another schema; and the disk's errors.
pub fn write_parquet(
    sink: impl Write + Send,
    table: Option<Table>,
    rows: &RecordBatch,
    path: &Path,
    key_values: &[(&str, String)],
) -> Result<u64, TableError> {
    if let Some(table) = table {
        check_schema(rows.schema_ref(), &table.schema(), &format!("a batch for {}", path.display()))?;
        check_order(table, rows, path)?;
    }
    let failed = |source| TableError::parquet("write", path, source);
    let options = ArrowWriterOptions::new()
        .with_properties(properties(table, rows.schema_ref(), rows.num_rows(), key_values).map_err(failed)?)
        .with_skip_arrow_metadata(true);
    let bytes = write_groups(sink, &with_field_ids(rows.schema_ref()), rows, options).map_err(failed)?;
    Ok(bytes as u64)
}

fn check_order(table: Table, rows: &RecordBatch, path: &Path) -> Result<(), TableError> {
    let unsorted = first_unsorted(table, rows)
        .map_err(|source| TableError::arrow("compare", path.display().to_string(), source))?;
    unsorted.map_or(Ok(()), |row| {
        let words = table.sort().iter().map(|(name, descends)| {
            if *descends { format!("{name} descending") } else { (*name).to_owned() }
        });
        let order = words.collect::<Vec<_>>().join(", ");
        Err(TableError::Unsorted { path: path.to_owned(), row, order })
    })
}

/// Writes rows in row groups, whose columns are encoded and compressed on all cores, and the footer. Returns the bytes of the file. Holds at most one encoded row group in memory.
fn write_groups(
    sink: impl Write + Send,
    schema: &SchemaRef,
    rows: &RecordBatch,
    options: ArrowWriterOptions,
) -> Result<usize, ParquetError> {
    let writer = ArrowWriter::try_new_with_options(sink, schema.clone(), options)?;
    let (mut file, factory) = writer.into_serialized_writer()?;
    for (number, rows) in pieces(rows, ROW_GROUP_ROWS).enumerate() {
        let mut columns = factory.create_column_writers(number)?;
        for batch in pieces(&rows, BATCH_ROWS) {
            let mut leaves = Vec::with_capacity(columns.len());
            for (field, column) in schema.fields().iter().zip(batch.columns()) {
                leaves.extend(compute_leaves(field, &without_empty_nulls(column))?);
            }
            let work = columns.iter_mut().zip(leaves).collect();
            shared(work, batch.num_rows(), |(column, leaf)| column.write(&leaf))?;
        }
        let chunks = shared(columns, rows.num_rows(), ArrowColumnWriter::close)?;
        let mut group = file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close()?;
    }
    file.finish()?;
    Ok(file.bytes_written())
}

/// The rows in pieces of at most this number.
fn pieces(rows: &RecordBatch, most: usize) -> impl Iterator<Item = RecordBatch> + '_ {
    let starts = (0..rows.num_rows()).step_by(most);
    starts.map(move |start| rows.slice(start, most.min(rows.num_rows() - start)))
}

/// A column of numbers, days or times without a list of nulls where none is one: a part of a column may have such a list, and its pages
/// would then end at other rows than those of the same values in a column of their own.
fn without_empty_nulls(column: &ArrayRef) -> ArrayRef {
    if column.data_type().is_primitive() { make_array(column.to_data()) } else { Arc::clone(column) }
}

/// Does the work of some rows, on all cores where there are many. The results are in the order of the work.
fn shared<T: Send, R: Send>(
    work: Vec<T>,
    rows: usize,
    act: impl Fn(T) -> Result<R, ParquetError> + Sync + Send,
) -> Result<Vec<R>, ParquetError> {
    if rows < ROWS_FOR_THREADS {
        return work.into_iter().map(act).collect();
    }
    work.into_par_iter().with_max_len(1).map(act).collect()
}

#[cfg(test)]
pub(in crate::table) mod tests {
    use super::*;
    use crate::table::business::tests::filing;
    use crate::table::business::{DetailRow, FilingRow};
    use crate::table::count::DailyCountRow;
    use crate::table::file::properties::CREATED_BY;
    use crate::table::file::read::{read_rows, read_table};
    use crate::table::order::sort_batch;
    use crate::table::row::Row;
    use jiff::Timestamp;
    use jiff::civil::date;
    use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
    use std::fs::File;
    use std::path::PathBuf;

    /// Writes a batch, already in the table's order, as a file.
    pub(crate) fn write_batch(
        table: impl Into<Option<Table>>,
        batch: &RecordBatch,
        path: &Path,
        key_values: &[(&str, String)],
    ) -> Result<u64, TableError> {
        write_parquet(File::create(path).expect("a file"), table.into(), batch, path, key_values)
    }

    /// Writes rows, in any order, as one file of their table, sorted.
    pub(crate) fn write_rows<R: Row>(
        rows: &[R],
        path: &Path,
        key_values: &[(&str, String)],
    ) -> Result<u64, TableError> {
        let batch = sort_batch(R::TABLE, &R::batch(rows)?)?;
        write_batch(R::TABLE, &batch, path, key_values)
    }

    /// Filings in the table's order, a few a day, each with nulls in it.
    pub(crate) fn filings(rows: i64) -> Vec<FilingRow> {
        let row = |id: i64| FilingRow {
            dissolved_date: (id % 3 == 0).then_some(date(2026, 11, 21)),
            extra: (id % 5 == 0).then(|| format!(r#"{{"n":{id}}}"#)),
            ..filing(
                id,
                date(2026, 11, 1 + i8::try_from(id * 20 / (rows + 1)).unwrap_or(0)),
                Timestamp::UNIX_EPOCH,
            )
        };
        (1..=rows).rev().map(row).collect()
    }

    fn batch(rows: &[FilingRow]) -> RecordBatch {
        FilingRow::batch(rows).expect("a batch")
    }

    /// A new folder, and the path of a file for it.
    pub(crate) fn part() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("part.parquet");
        (folder, path)
    }

    #[test]
    fn a_file_returns_its_rows_and_its_size() {
        let (_folder, path) = part();
        let rows = filings(20_000);
        let written = write_batch(Table::Filings, &batch(&rows), &path, &[]).expect("written");
        assert_eq!(read_rows::<FilingRow>(&path).expect("rows"), rows);
        assert_eq!(written, std::fs::metadata(&path).expect("a file").len());
    }

    #[test]
    fn the_same_rows_give_the_same_bytes_also_as_a_part_of_a_batch() {
        let (folder, _) = part();
        let rows = filings(20_777);
        let bytes = |name: &str, batch: RecordBatch| {
            let path = folder.path().join(name);
            let pairs = [("sunlake.snapshot", "000042".to_owned())];
            write_batch(Table::Filings, &batch, &path, &pairs).expect("written");
            blake3::hash(&std::fs::read(&path).expect("a file"))
        };
        let expected = bytes("a batch", batch(&rows[777..]));
        assert_eq!(bytes("again", batch(&rows[777..])), expected);
        assert_eq!(bytes("a part", batch(&rows).slice(777, 20_000)), expected);
        // No null is in the part, but there is one in the batch.
        let dissolved = |(at, row): (usize, FilingRow)| FilingRow {
            dissolved_date: (at >= 777).then_some(row.filed_date),
            ..row
        };
        let rows: Vec<FilingRow> = filings(25_777).into_iter().enumerate().map(dissolved).collect();
        let part = batch(&rows).slice(777, 25_000);
        assert_eq!(bytes("dissolved", part), bytes("dissolved again", batch(&rows[777..])));
    }

    #[test]
    fn files_of_small_pages_have_the_same_bytes_for_the_same_rows() {
        let (folder, _) = part();
        let detail = |id: i64| DetailRow {
            business_id: id,
            principal_street: format!("{id} Oak Street"),
            // More texts than a dictionary may have.
            registered_agent_name: format!("agent {}", id * 7_919 % 5_003),
            ..DetailRow::default()
        };
        let rows: Vec<DetailRow> = (1..=10_777).rev().map(detail).collect();
        let bytes = |name: &str, batch: RecordBatch| {
            let path = folder.path().join(name);
            write_batch(Table::Details, &batch, &path, &[]).expect("written");
            assert_eq!(read_rows::<DetailRow>(&path).expect("rows"), rows[777..]);
            blake3::hash(&std::fs::read(&path).expect("a file"))
        };
        let batch = |rows: &[DetailRow]| DetailRow::batch(rows).expect("a batch");
        assert_eq!(bytes("a batch", batch(&rows[777..])), bytes("a part", batch(&rows).slice(777, 10_000)));
    }

    #[test]
    fn a_file_has_version_order_indexes_and_bloom_filters() {
        let (_folder, path) = part();
        let rows = filings(300);
        let pairs = [("sunlake.snapshot", "000042".to_owned())];
        write_batch(Table::Filings, &batch(&rows), &path, &pairs).expect("written");
        let options = ArrowReaderOptions::new()
            .with_page_index_policy(parquet::file::metadata::PageIndexPolicy::Required);
        let file = File::open(&path).expect("a file");
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)
            .expect("a Parquet file with page index");
        let metadata = builder.metadata().clone();
        let footer = metadata.file_metadata();
        let pairs = footer.key_value_metadata().expect("key values");
        let pairs: Vec<_> = pairs.iter().map(|pair| (pair.key.as_str(), pair.value.as_deref())).collect();
        assert_eq!(pairs, [("sunlake.schema_version", Some("1")), ("sunlake.snapshot", Some("000042"))]);
        assert_eq!(footer.created_by(), Some(CREATED_BY));
        let ids =
            footer.schema_descr().root_schema().get_fields().iter().map(|field| field.get_basic_info().id());
        assert!(ids.eq(1..=crate::table::columns(Table::Filings).len() as i32), "field ids count from 1");
        let order = metadata.row_group(0).sorting_columns().expect("an order");
        assert_eq!(
            order.iter().map(|by| (by.column_idx, by.descending)).collect::<Vec<_>>(),
            [(6, true), (0, true)]
        );
        let bloom = |column: usize| builder.get_row_group_column_bloom_filter(0, column).expect("readable");
        let ids = bloom(0).expect("a filter on business_id");
        assert!(rows.iter().all(|row| ids.check(&row.business_id)));
        let wrong = (10_000..20_000_i64).filter(|id| ids.check(id)).count();
        assert!(wrong < 300, "{wrong} of 10,000 wrong");
        assert!(bloom(1).is_some_and(|documents| documents.check(&rows[0].document_number.as_str())));
        assert!(bloom(2).is_none());
        let has_dictionary = |at: usize| metadata.row_group(0).column(at).dictionary_page_offset().is_some();
        assert!(!has_dictionary(0) && !has_dictionary(2), "ids and names hardly repeat");
        assert!(has_dictionary(3) && has_dictionary(11), "types and counties do");
    }

    #[test]
    fn rows_beyond_a_row_group_begin_the_next() {
        let (_folder, path) = part();
        let row = |at: i64| DailyCountRow {
            observed_on: date(2026, 1, 1),
            filed_date: date(2025, 1, 1),
            filings: at,
        };
        let rows: Vec<_> = (0..ROW_GROUP_ROWS as i64 + 1).map(row).collect();
        let batch = DailyCountRow::batch(&rows).expect("a batch");
        write_batch(Table::DailyCounts, &batch, &path, &[]).expect("written");
        let groups = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).expect("a file"))
            .expect("a Parquet file")
            .metadata()
            .row_groups()
            .to_vec();
        assert_eq!(
            groups.iter().map(|group| group.num_rows()).collect::<Vec<_>>(),
            [ROW_GROUP_ROWS as i64, 1]
        );
    }

    #[test]
    fn a_file_without_rows_is_readable() {
        let (_folder, path) = part();
        write_batch(Table::Filings, &batch(&[]), &path, &[]).expect("written");
        assert_eq!(read_rows::<FilingRow>(&path).expect("rows"), []);
    }

    #[test]
    fn every_table_keeps_its_schema_on_disk() {
        let (folder, _) = part();
        for table in Table::ALL {
            let path = folder.path().join(table.name());
            write_batch(table, &RecordBatch::new_empty(table.schema()), &path, &[]).expect("written");
            let rows = read_table(table, &path, None).expect("its own schema");
            assert_eq!(rows.schema().fields(), table.schema().fields(), "{}", table.name());
        }
    }

    #[test]
    fn rows_out_of_order_are_refused_with_their_position() {
        let (_folder, path) = part();
        let rows = filings(3);
        let turned = [rows[1].clone(), rows[2].clone(), rows[0].clone()];
        let error = write_batch(Table::Filings, &batch(&turned), &path, &[]).expect_err("out of order");
        assert!(matches!(error, TableError::Unsorted { row: 2, .. }), "{error}");
    }

    #[test]
    fn rows_in_any_order_are_written_sorted() {
        let (_folder, path) = part();
        let rows = filings(50);
        let turned: Vec<_> = rows.iter().rev().cloned().collect();
        write_rows(&turned, &path, &[]).expect("written");
        assert_eq!(read_rows::<FilingRow>(&path).expect("rows"), rows);
    }
}
