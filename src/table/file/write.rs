//! Writes the lake's Parquet files, always in the same way.
//!
//! The same rows and key values give the same bytes, whatever the sizes of their batches.

use super::properties::{ROW_GROUP_ROWS, properties};
use super::row_group::RowGroups;
use crate::contract::eastern::day_of_epoch;
use crate::table::error::TableError;
use crate::table::layout::{FileLayout, check_schema, with_field_ids};
use crate::table::order::first_unsorted;
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::{BatchCoalescer, max, min};
use arrow::datatypes::Date32Type;
use jiff::civil::Date;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Key of an aggregate's description: the question it answers, and its columns.
pub const ABOUT_KEY: &str = "sunlake.about";
/// Rows of one batch, in and out. Divides [`ROW_GROUP_ROWS`].
pub(super) const BATCH_ROWS: usize = 8 * 1024;
const FILED_DATE: &str = "filed_date";

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenFile {
    /// Rows of the file.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// Oldest `filed_date`; `None` without such a column or without rows.
    pub min_filed_date: Option<Date>,
    /// Newest `filed_date`; `None` without such a column or without rows.
    pub max_filed_date: Option<Date>,
}

/// A file being written. Rows come in the layout's order. Its bytes are not durable until the disk is asked for that.
///
/// Holds at most one row group in memory. A file dropped before `finish` has no footer; no reader accepts it.
pub struct ParquetFile<S: Write + Send> {
    path: PathBuf,
    layout: FileLayout,
    groups: RowGroups<S>,
    coalescer: BatchCoalescer,
    last: Option<RecordBatch>,
    rows: u64,
    filed_days: Option<(i32, i32)>,
}

impl<S: Write + Send> ParquetFile<S> {
    /// Writes the file to `sink`; `path` names it in errors. `key_values` follow the schema version in its metadata.
    pub fn on(
        sink: S,
        layout: impl Into<FileLayout>,
        path: &Path,
        key_values: &[(&str, String)],
    ) -> Result<Self, TableError> {
        let layout = layout.into();
        let parquet = |source| TableError::parquet("write", path, source);
        let options = ArrowWriterOptions::new()
            .with_properties(properties(&layout, key_values).map_err(parquet)?)
            .with_skip_arrow_metadata(true);
        let schema = with_field_ids(&layout.schema);
        let groups = RowGroups::new(sink, schema, ROW_GROUP_ROWS, options).map_err(parquet)?;
        let coalescer = BatchCoalescer::new(layout.schema.clone(), BATCH_ROWS);
        Ok(Self { path: path.to_owned(), layout, groups, coalescer, last: None, rows: 0, filed_days: None })
    }

    /// Adds the rows of a batch.
    ///
    /// # Errors
    ///
    /// [`TableError::Unsorted`], a batch of another schema, and the disk's errors.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), TableError> {
        check_schema(
            batch.schema_ref(),
            &self.layout.schema,
            &format!("a batch for {}", self.path.display()),
        )?;
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.check_order(batch)?;
        self.widen_filed_days(batch);
        self.rows += batch.num_rows() as u64;
        self.last = Some(batch.slice(batch.num_rows() - 1, 1));
        for at in (0..batch.num_rows()).step_by(BATCH_ROWS) {
            let piece = batch.slice(at, BATCH_ROWS.min(batch.num_rows() - at));
            self.coalescer.push_batch(piece).map_err(|source| self.joined(source))?;
            self.write_completed()?;
        }
        Ok(())
    }

    /// Writes the footer.
    pub fn finish(mut self) -> Result<WrittenFile, TableError> {
        self.coalescer.finish_buffered_batch().map_err(|source| self.joined(source))?;
        self.write_completed()?;
        let bytes =
            self.groups.finish().map_err(|source| TableError::parquet("write", &self.path, source))? as u64;
        let day = |pick: fn((i32, i32)) -> i32| self.filed_days.map(pick).and_then(day_of_epoch);
        Ok(WrittenFile {
            rows: self.rows,
            bytes,
            min_filed_date: day(|(oldest, _)| oldest),
            max_filed_date: day(|(_, newest)| newest),
        })
    }

    fn write_completed(&mut self) -> Result<(), TableError> {
        while let Some(batch) = self.coalescer.next_completed_batch() {
            self.groups.write(&batch).map_err(|source| TableError::parquet("write", &self.path, source))?;
        }
        Ok(())
    }

    fn check_order(&self, batch: &RecordBatch) -> Result<(), TableError> {
        let unsorted = first_unsorted(&self.layout, self.last.as_ref(), batch)
            .map_err(|source| TableError::arrow("compare", self.path.display().to_string(), source))?;
        unsorted.map_or(Ok(()), |row| {
            let words = self.layout.sort.iter().map(|(name, descends)| {
                if *descends { format!("{name} descending") } else { (*name).to_owned() }
            });
            Err(TableError::Unsorted {
                path: self.path.clone(),
                row: self.rows + row as u64,
                order: words.collect::<Vec<_>>().join(", "),
            })
        })
    }

    fn widen_filed_days(&mut self, batch: &RecordBatch) {
        let column = batch.column_by_name(FILED_DATE);
        let Some(days) = column.and_then(|column| column.as_primitive_opt::<Date32Type>()) else { return };
        let (Some(oldest), Some(newest)) = (min(days), max(days)) else { return };
        let (known_oldest, known_newest) = self.filed_days.unwrap_or((oldest, newest));
        self.filed_days = Some((known_oldest.min(oldest), known_newest.max(newest)));
    }

    fn joined(&self, source: arrow::error::ArrowError) -> TableError {
        TableError::arrow("join", self.path.display().to_string(), source)
    }
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
    use crate::table::tables::Table;
    use jiff::Timestamp;
    use jiff::civil::date;
    use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
    use std::fs::File;

    /// Writes batches, already in the layout's order, as one file.
    pub(crate) fn write_parquet(
        layout: impl Into<FileLayout>,
        batches: impl IntoIterator<Item = RecordBatch>,
        path: &Path,
        key_values: &[(&str, String)],
    ) -> Result<WrittenFile, TableError> {
        let mut file = ParquetFile::on(File::create(path).expect("a file"), layout, path, key_values)?;
        for batch in batches {
            file.write(&batch)?;
        }
        file.finish()
    }

    /// Writes rows, in any order, as one file of their table, sorted.
    pub(crate) fn write_rows<R: Row>(
        rows: &[R],
        path: &Path,
        key_values: &[(&str, String)],
    ) -> Result<WrittenFile, TableError> {
        let batch = sort_batch(R::TABLE, &R::batch(rows)?)?;
        write_parquet(R::TABLE, [batch], path, key_values)
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
    fn a_file_returns_its_rows_and_its_figures() {
        let (_folder, path) = part();
        let rows = filings(20_000);
        let written = write_parquet(Table::Filings, [batch(&rows)], &path, &[]).expect("written");
        assert_eq!(read_rows::<FilingRow>(&path).expect("rows"), rows);
        assert_eq!(written.rows, 20_000);
        assert_eq!(written.bytes, std::fs::metadata(&path).expect("a file").len());
        assert_eq!(written.min_filed_date, Some(date(2026, 11, 1)));
        assert_eq!(written.max_filed_date, rows.iter().map(|row| row.filed_date).max());
    }

    #[test]
    fn the_same_rows_give_the_same_bytes_in_batches_of_any_size() {
        let (folder, _) = part();
        let rows = filings(20_000);
        let bytes = |name: &str, cut: usize| {
            let path = folder.path().join(name);
            let pairs = [("sunlake.snapshot", "000042".to_owned())];
            write_parquet(Table::Filings, rows.chunks(cut).map(batch), &path, &pairs).expect("written");
            blake3::hash(&std::fs::read(&path).expect("a file"))
        };
        let expected = bytes("one batch", 20_000);
        assert_eq!(bytes("again", 20_000), expected);
        assert_eq!(bytes("cut", 777), expected);
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
        let rows: Vec<DetailRow> = (1..=10_000).rev().map(detail).collect();
        let bytes = |name: &str, cut: usize| {
            let path = folder.path().join(name);
            let batches = rows.chunks(cut).map(|rows| DetailRow::batch(rows).expect("a batch"));
            write_parquet(Table::Details, batches, &path, &[]).expect("written");
            assert_eq!(read_rows::<DetailRow>(&path).expect("rows"), rows);
            blake3::hash(&std::fs::read(&path).expect("a file"))
        };
        assert_eq!(bytes("one batch", 10_000), bytes("cut", 777));
    }

    #[test]
    fn a_file_has_version_order_indexes_and_bloom_filters() {
        let (_folder, path) = part();
        let rows = filings(300);
        let pairs = [("sunlake.snapshot", "000042".to_owned())];
        write_parquet(Table::Filings, [batch(&rows)], &path, &pairs).expect("written");
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
        write_parquet(Table::DailyCounts, [batch], &path, &[]).expect("written");
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
        let written = write_parquet(Table::Filings, [batch(&[])], &path, &[]).expect("written");
        assert_eq!((written.rows, written.min_filed_date, written.max_filed_date), (0, None, None));
        assert_eq!(read_rows::<FilingRow>(&path).expect("rows"), []);
    }

    #[test]
    fn every_table_keeps_its_schema_on_disk() {
        let (folder, _) = part();
        for table in Table::ALL {
            let path = folder.path().join(table.name());
            write_parquet(table, [RecordBatch::new_empty(table.schema())], &path, &[]).expect("written");
            let rows = read_table(table, &path, None).expect("its own schema");
            assert_eq!(rows.schema().fields(), table.schema().fields(), "{}", table.name());
        }
    }

    #[test]
    fn rows_out_of_order_are_refused_with_their_position() {
        let (_folder, path) = part();
        let rows = filings(3);
        let batches = [batch(&rows[1..]), batch(&rows[..1])];
        let error = write_parquet(Table::Filings, batches, &path, &[]).expect_err("out of order");
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
