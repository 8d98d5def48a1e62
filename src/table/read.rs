//! Parquet files read back as batches, their schema checked.

use super::file::{BATCH_ROWS, SCHEMA_VERSION_KEY};
use super::layout::check_schema;
use super::{Row, SCHEMA_VERSION, Table, TableError};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Batches of one file, in its order, read as they are asked for.
pub struct ParquetRows {
    path: PathBuf,
    schema: SchemaRef,
    rows: u64,
    reader: ParquetRecordBatchReader,
}

impl ParquetRows {
    /// The schema of the batches: the file's columns, in file order, those not asked for left out.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Rows of the file, by its footer.
    pub fn row_count(&self) -> u64 {
        self.rows
    }
}

impl Iterator for ParquetRows {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.reader.next()?;
        Some(batch.map_err(|source| TableError::arrow("read", self.path.display().to_string(), source)))
    }
}

/// Reads a file of a table: all its columns, or those named.
///
/// # Errors
///
/// A schema other than the table's, naming file and column; [`TableError::NewerSchema`]; [`TableError::Io`];
/// [`TableError::Parquet`] for a file that is not whole.
pub fn read_table(table: Table, path: &Path, projection: Option<&[&str]>) -> Result<ParquetRows, TableError> {
    let builder = open(path)?;
    check_version(&builder, path)?;
    check_schema(builder.schema(), &table.schema(), &path.display().to_string())?;
    stream(builder, path, projection)
}

/// All rows of a file of a table, in its order.
///
/// # Errors
///
/// As [`read_table`] and [`Row::rows`].
pub fn read_rows<R: Row>(path: &Path) -> Result<Vec<R>, TableError> {
    let mut rows = Vec::new();
    for batch in read_table(R::TABLE, path, None)? {
        rows.extend(R::rows(&batch?)?);
    }
    Ok(rows)
}

/// Reads any Parquet file, of whatever schema: all its columns, or those named.
///
/// # Errors
///
/// [`TableError::Io`], [`TableError::Parquet`], and [`TableError::MissingColumn`] for a name it does not have.
pub fn read_parquet(path: &Path, projection: Option<&[&str]>) -> Result<ParquetRows, TableError> {
    stream(open(path)?, path, projection)
}

type Builder = ParquetRecordBatchReaderBuilder<File>;

fn open(path: &Path) -> Result<Builder, TableError> {
    let file = File::open(path).map_err(|source| TableError::io("open", path, source))?;
    // What the Parquet schema says is what other tools see; an embedded Arrow schema may say otherwise.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    Builder::try_new_with_options(file, options).map_err(|source| TableError::parquet("read", path, source))
}

fn check_version(builder: &Builder, path: &Path) -> Result<(), TableError> {
    let key_values = builder.metadata().file_metadata().key_value_metadata();
    let found = key_values
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == SCHEMA_VERSION_KEY))
        .and_then(|pair| pair.value.clone());
    match found {
        Some(found) if !found.parse::<u32>().is_ok_and(|version| version <= SCHEMA_VERSION) => {
            Err(TableError::NewerSchema { path: path.to_owned(), found, known: SCHEMA_VERSION })
        }
        _ => Ok(()),
    }
}

fn stream(builder: Builder, path: &Path, projection: Option<&[&str]>) -> Result<ParquetRows, TableError> {
    let mut roots = Vec::new();
    for name in projection.unwrap_or_default() {
        roots.push(builder.schema().index_of(name).map_err(|_| TableError::MissingColumn {
            place: path.display().to_string(),
            column: (*name).to_owned(),
        })?);
    }
    let mask = match projection {
        Some(_) => ProjectionMask::roots(builder.parquet_schema(), roots),
        None => ProjectionMask::all(),
    };
    let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
    let reader = builder
        .with_projection(mask)
        .with_batch_size(BATCH_ROWS)
        .build()
        .map_err(|source| TableError::parquet("read", path, source))?;
    let schema = arrow::array::RecordBatchReader::schema(&reader);
    Ok(ParquetRows { path: path.to_owned(), schema, rows, reader })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::file::tests::filings;
    use crate::table::{FileLayout, write_parquet, write_rows};
    use arrow::datatypes::{DataType, Field, Schema};
    use std::sync::Arc;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn a_projection_reads_the_named_columns_alone() {
        let folder = folder();
        let path = folder.path().join("part.parquet");
        write_rows(&filings(10), &path, &[]).expect("written");
        let mut rows = read_table(Table::Filings, &path, Some(&["filed_date", "id"])).expect("a file");
        assert_eq!(rows.row_count(), 10);
        let names: Vec<_> = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["id", "filed_date"]);
        assert_eq!(rows.next().expect("a batch").expect("readable").num_columns(), 2);
        let error = read_table(Table::Filings, &path, Some(&["nope"])).err().expect("no such column");
        assert!(error.to_string().ends_with("part.parquet has no column nope"), "{error}");
    }

    #[test]
    fn another_schema_is_refused_by_file_and_column() {
        let folder = folder();
        let path = folder.path().join("part.parquet");
        let refused = |fields: &[(&str, DataType, bool)]| {
            let fields: Vec<_> =
                fields.iter().map(|(name, kind, null)| Field::new(*name, kind.clone(), *null)).collect();
            let schema = Arc::new(Schema::new(fields));
            let layout = FileLayout::new(schema.clone(), &[], &[]).expect("stored types");
            write_parquet(layout, [RecordBatch::new_empty(schema)], &path, &[]).expect("written");
            let error = read_table(Table::DailyCounts, &path, None).err().expect("another schema");
            error.to_string().replace(&path.display().to_string(), "FILE")
        };
        let (day, number) = (|| DataType::Date32, || DataType::Int64);
        let missing = refused(&[("observed_on", day(), false), ("date", day(), false)]);
        assert_eq!(missing, "FILE has no column count");
        let typed = refused(&[
            ("observed_on", day(), false),
            ("date", day(), false),
            ("count", DataType::Int32, false),
        ]);
        assert_eq!(typed, "column count of FILE is Int32, never null, and must be Int64, never null");
        let null =
            refused(&[("observed_on", day(), false), ("date", day(), true), ("count", number(), false)]);
        assert_eq!(null, "column date of FILE is Date32, nullable, and must be Date32, never null");
        let turned =
            refused(&[("date", day(), false), ("observed_on", day(), false), ("count", number(), false)]);
        assert_eq!(turned, "FILE has column date where its table has observed_on");
    }

    #[test]
    fn a_newer_or_broken_or_absent_file_is_refused() {
        let folder = folder();
        let path = folder.path().join("part.parquet");
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
