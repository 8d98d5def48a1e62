//! Reads Parquet files as batches and checks their schema.

use super::footer::Footer;
use crate::table::error::TableError;
use crate::table::row::Row;
use crate::table::schema::without_field_ids;
use crate::table::tables::Table;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::errors::ParquetError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Rows of one batch, in and out. Divides the rows of a row group.
pub(super) const BATCH_ROWS: usize = 8 * 1024;

/// Batches of one file, in file order, read on demand.
pub struct ParquetRows {
    path: PathBuf,
    schema: SchemaRef,
    reader: ParquetRecordBatchReader,
}

impl ParquetRows {
    /// The schema of the batches: the requested columns, in file order.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }
}

/// What decoding the pages of a file returns. The Parquet library panics on some damaged pages, as where it divides by a count of none:
/// that is an error of the file too.
pub fn decoded<T, E>(
    decode: impl FnOnce() -> Result<T, E>,
    damaged: impl FnOnce(ParquetError) -> E,
) -> Result<T, E> {
    let of_pages = || ParquetError::General("its pages cannot be decoded".to_owned());
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| Err(damaged(of_pages())))
}

impl Iterator for ParquetRows {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        let damaged = |source| TableError::parquet("read", &self.path, source);
        let batch = decoded(|| Ok(self.reader.next()), damaged).transpose()?;
        let plain = |batch: RecordBatch| RecordBatch::try_new(self.schema.clone(), batch.columns().to_vec());
        let failed = |source| TableError::arrow("read", self.path.display().to_string(), source);
        Some(batch.and_then(|batch| batch.and_then(plain).map_err(failed)))
    }
}

/// Reads a file of a table: all its columns, or those named.
///
/// # Errors
///
/// A schema other than the table's, naming file and column; [`TableError::NewerSchema`]; [`TableError::Io`];
/// [`TableError::Parquet`] for a file that is not complete.
pub fn read_table(table: Table, path: &Path, projection: Option<&[&str]>) -> Result<ParquetRows, TableError> {
    stream(Footer::of_table(table, path)?, projection)
}

/// As [`read_table`], texts as dictionaries of `Int32`: those that many rows have are decoded once.
pub(crate) fn read_dictionaries(
    table: Table,
    path: &Path,
    projection: &[&str],
) -> Result<ParquetRows, TableError> {
    stream(Footer::of_table(table, path)?.with_dictionaries()?, Some(projection))
}

/// All rows of a file of a table, in its order.
pub fn read_rows<R: Row>(path: &Path) -> Result<Vec<R>, TableError> {
    let mut rows = Vec::new();
    for batch in read_table(R::TABLE, path, None)? {
        rows.extend(R::rows(&batch?)?);
    }
    Ok(rows)
}

/// Reads any Parquet file, of whatever schema: all its columns, or those named.
pub fn read_parquet(path: &Path, projection: Option<&[&str]>) -> Result<ParquetRows, TableError> {
    stream(Footer::open(path)?, projection)
}

/// All rows of any Parquet file in one batch: all its columns, or those named.
pub fn read_batch(path: &Path, projection: Option<&[&str]>) -> Result<RecordBatch, TableError> {
    let rows = read_parquet(path, projection)?;
    let schema = rows.schema().clone();
    let batches = rows.collect::<Result<Vec<_>, _>>()?;
    arrow_select::concat::concat_batches(&schema, &batches)
        .map_err(|source| TableError::arrow("join", path.display().to_string(), source))
}

fn stream(footer: Footer, projection: Option<&[&str]>) -> Result<ParquetRows, TableError> {
    let path = footer.path.clone();
    let mask = match projection {
        Some(names) => {
            let root = |name: &&str| {
                let place = footer.schema().index_of(name);
                place.map_err(|_| TableError::no_column(path.display().to_string(), name))
            };
            let roots = names.iter().map(root).collect::<Result<Vec<_>, _>>()?;
            ProjectionMask::roots(footer.builder.parquet_schema(), roots)
        }
        None => ProjectionMask::all(),
    };
    let reader = footer
        .builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|source| TableError::parquet("read", &path, source))?;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let schema = without_field_ids(schema.fields());
    Ok(ParquetRows { path, schema, reader })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::file::properties::SCHEMA_VERSION_KEY;
    use crate::table::file::write::tests::{filings, part, write_batch, write_rows};
    use crate::table::tables::SCHEMA_VERSION;
    use arrow_schema::{DataType, Field, Schema};
    use std::sync::Arc;

    #[test]
    fn a_projection_reads_only_the_named_columns() {
        let (_folder, path) = part();
        write_rows(&filings(10), &path, &[]).expect("written");
        let mut rows = read_table(Table::Filings, &path, Some(&["filed_date", "name"])).expect("a file");
        let names: Vec<_> = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["name", "filed_date"]);
        let batch = rows.next().expect("a batch").expect("readable");
        assert_eq!((batch.num_rows(), batch.num_columns()), (10, 2));
        let error = read_table(Table::Filings, &path, Some(&["nope"])).err().expect("no such column");
        assert!(error.to_string().ends_with("part.parquet has no column nope"), "{error}");
    }

    #[test]
    fn another_schema_is_refused_by_file_and_column() {
        let (_folder, path) = part();
        let refused = |fields: &[(&str, DataType, bool)]| {
            let fields: Vec<_> =
                fields.iter().map(|(name, kind, null)| Field::new(*name, kind.clone(), *null)).collect();
            let schema = Arc::new(Schema::new(fields));
            write_batch(None, &RecordBatch::new_empty(schema), &path, &[]).expect("written");
            let error = read_table(Table::DailyCounts, &path, None).err().expect("another schema");
            error.to_string().replace(&path.display().to_string(), "FILE")
        };
        let (day, number) = (|| DataType::Date32, || DataType::Int64);
        let missing = refused(&[("observed_on", day(), false), ("filed_date", day(), false)]);
        assert_eq!(missing, "FILE has no column filings");
        let typed = refused(&[
            ("observed_on", day(), false),
            ("filed_date", day(), false),
            ("filings", DataType::Int32, false),
        ]);
        assert_eq!(typed, "column filings of FILE is Int32, never null, and must be Int64, never null");
        let null = refused(&[
            ("observed_on", day(), false),
            ("filed_date", day(), true),
            ("filings", number(), false),
        ]);
        assert_eq!(null, "column filed_date of FILE is Date32, nullable, and must be Date32, never null");
        let turned = refused(&[
            ("filed_date", day(), false),
            ("observed_on", day(), false),
            ("filings", number(), false),
        ]);
        assert_eq!(turned, "FILE has column filed_date where its table has observed_on");
    }

    #[test]
    fn newer_damaged_and_missing_files_are_refused() {
        let (_folder, path) = part();
        assert!(matches!(read_parquet(&path, None), Err(TableError::Io { .. })));
        write_rows(&filings(10), &path, &[]).expect("written");
        let bytes = std::fs::read(&path).expect("a file");
        std::fs::write(&path, &bytes[..bytes.len() - 1]).expect("cut");
        assert!(matches!(read_parquet(&path, None), Err(TableError::Parquet { .. })));
        let key = SCHEMA_VERSION_KEY.as_bytes();
        let at = bytes.windows(key.len()).position(|window| window == key).expect("the key");
        let mut newer = bytes;
        let version = at + key.len() + 2;
        assert_eq!(newer[version], b'1');
        newer[version] = b'9';
        std::fs::write(&path, &newer).expect("changed");
        let error = read_table(Table::Filings, &path, None).err().expect("a newer file");
        assert!(matches!(error, TableError::NewerSchema { known: SCHEMA_VERSION, .. }), "{error}");
    }
}
