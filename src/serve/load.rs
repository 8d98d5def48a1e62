//! A snapshot folder of the lake → an index.

use super::builder::{DetailTail, IndexBuilder, IndexError};
use super::gathered::{CODED, Coded, Gathered, OwnCells};
use super::index::{CountyName, Index};
use crate::contract::business::{Address, Officer};
use crate::contract::reference::{Industries, Sector, Segment};
use crate::lake::LakeError;
use crate::table::Table;
use arrow::array::{
    Array, AsArray, BooleanArray, Date32Array, DictionaryArray, Int32Array, Int64Array, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Fields, Int32Type, Schema};
use arrow::record_batch::RecordBatch;
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
use std::time::UNIX_EPOCH;

/// Rows read from a file at a time.
const BATCH_ROWS: usize = 32 * 1024;
/// Threads that read at most; putting their work together is one thread's.
const MAX_THREADS: usize = 4;

/// Why a snapshot could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A folder or file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not Parquet, or damaged.
    #[error("{path} is not a sound Parquet file: {source}; `sunlake verify` tells which files are damaged")]
    Damaged {
        /// Where.
        path: PathBuf,
        /// Why.
        source: parquet::errors::ParquetError,
    },
    /// A file is not what was committed.
    #[error(transparent)]
    Unsound(#[from] LakeError),
    /// A column is missing or has another type.
    #[error("{path} has no column {column:?} of type {wanted}; it was written with another schema")]
    Column {
        /// Where.
        path: PathBuf,
        /// Name on disk.
        column: &'static str,
        /// The type asked for.
        wanted: &'static str,
    },
    /// The folder has no filings.
    #[error("{0} has no filings folder; is it a snapshot of a lake?")]
    NoFilings(PathBuf),
    /// The rows contradict each other.
    #[error("the filings of {path} make no index: {source}")]
    Rows {
        /// The snapshot.
        path: PathBuf,
        /// Why.
        source: IndexError,
    },
}

/// Loads a snapshot: its filings, and whatever it has of details, officers, counties and industries.
///
/// # Errors
/// [`LoadError`], naming the file.
pub fn load_snapshot(snapshot: &Path) -> Result<Index, LoadError> {
    let mut builder = IndexBuilder::default();
    if !folder(snapshot, Table::Filings).is_dir() {
        return Err(LoadError::NoFilings(snapshot.to_owned()));
    }
    builder.set_identity(identity(snapshot)?);
    load_filings(snapshot, &mut builder)?;
    load_details(snapshot, &mut builder)?;
    load_officers(snapshot, &mut builder)?;
    builder.set_counties(load_counties(snapshot)?);
    let industries = load_industries(snapshot)?;
    if !industries.sectors.is_empty() {
        builder.set_industries(industries);
    }
    builder.finish().map_err(|source| LoadError::Rows { path: snapshot.to_owned(), source })
}

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

/// Row groups are read side by side, and put together in their order.
fn load_filings(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
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
    let damaged = |source| LoadError::Damaged { path: path.to_owned(), source };
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
    let [id, number, name, url] = batch.texts(["id", "document_number", "name", "url"])?;
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
    let damaged = |source| LoadError::Damaged { path: path.to_owned(), source };
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
    let metadata = ArrowReaderMetadata::try_new(Arc::clone(plain.metadata()), options).map_err(damaged)?;
    let file = File::open(path).map_err(|source| LoadError::Unreadable { path: path.to_owned(), source })?;
    Ok(ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata))
}

fn open(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, LoadError> {
    let file = File::open(path).map_err(|source| LoadError::Unreadable { path: path.to_owned(), source })?;
    ParquetRecordBatchReaderBuilder::try_new(file)
        .map_err(|source| LoadError::Damaged { path: path.to_owned(), source })
}

fn load_details(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    let columns = [
        "business_id",
        "principal_street",
        "principal_street2",
        "principal_city",
        "principal_state",
        "principal_zip",
        "principal_country",
        "mailing_street",
        "mailing_street2",
        "mailing_city",
        "mailing_state",
        "mailing_zip",
        "mailing_country",
        "registered_agent_name",
        "formation_state",
        "last_annual_report_year",
        "officer_count",
        "license_count",
    ];
    each_batch(snapshot, Table::Details, &columns, |batch| {
        let ids = batch.int64("business_id")?;
        let principal = batch.texts([
            "principal_street",
            "principal_street2",
            "principal_city",
            "principal_state",
            "principal_zip",
            "principal_country",
        ])?;
        let mailing = batch.texts([
            "mailing_street",
            "mailing_street2",
            "mailing_city",
            "mailing_state",
            "mailing_zip",
            "mailing_country",
        ])?;
        let [agent, state] = batch.texts(["registered_agent_name", "formation_state"])?;
        let (year, officers) = (batch.int32("last_annual_report_year")?, batch.int32("officer_count")?);
        let licenses = batch.int32("license_count")?;
        for row in 0..batch.rows() {
            let has_mailing = mailing.iter().any(|column| column.is_valid(row));
            let mailing_address = has_mailing.then(|| address(&mailing, row));
            builder.push_tail(
                ids.value(row),
                &DetailTail {
                    principal_address: &address(&principal, row),
                    mailing_address: mailing_address.as_ref(),
                    registered_agent_name: agent.value(row),
                    formation_state: state.value(row),
                    last_annual_report_year: year.value(row),
                    officer_count: officers.value(row),
                    license_count: licenses.value(row),
                },
            );
        }
        Ok(())
    })
}

fn address(columns: &[&StringArray; 6], row: usize) -> Address {
    let [street, street2, city, state, zip, country] =
        columns.map(|column| if column.is_valid(row) { column.value(row).to_owned() } else { String::new() });
    Address { street, street2, city, state, zip, country }
}

fn load_officers(snapshot: &Path, builder: &mut IndexBuilder) -> Result<(), LoadError> {
    let mut officers: Vec<(i64, Officer)> = Vec::new();
    each_batch(snapshot, Table::Officers, &["business_id", "name", "title"], |batch| {
        let ids = batch.int64("business_id")?;
        let [name, title] = batch.texts(["name", "title"])?;
        officers.extend((0..batch.rows()).map(|row| {
            let officer = Officer { name: name.value(row).to_owned(), title: title.value(row).to_owned() };
            (ids.value(row), officer)
        }));
        Ok(())
    })?;
    officers.sort();
    for group in officers.chunk_by(|a, b| a.0 == b.0) {
        let of_business: Vec<Officer> = group.iter().map(|(_, officer)| officer.clone()).collect();
        builder.push_officers(group[0].0, &of_business);
    }
    Ok(())
}

fn load_counties(snapshot: &Path) -> Result<Vec<CountyName>, LoadError> {
    let rows = newest_rows(snapshot, Table::Counties, ["key", "name"])?;
    Ok(rows.into_iter().map(|[key, name]| CountyName { key: key.to_uppercase(), name }).collect())
}

fn load_industries(snapshot: &Path) -> Result<Industries, LoadError> {
    let mut lists = Industries::default();
    for [sector, kind] in newest_rows(snapshot, Table::IndustryTypes, ["sector", "type"])? {
        if lists.sectors.last().is_none_or(|last| last.sector != sector) {
            lists.sectors.push(Sector { sector, types: Vec::new() });
        }
        if let (Some(last), false) = (lists.sectors.last_mut(), kind.is_empty()) {
            last.types.push(kind);
        }
    }
    for [key, kind, member] in newest_rows(snapshot, Table::IndustrySegments, ["segment", "kind", "member"])?
    {
        if lists.segments.last().is_none_or(|last| last.key != key) {
            lists.segments.push(Segment { key, sectors: Vec::new(), types: Vec::new() });
        }
        if let Some(last) = lists.segments.last_mut() {
            if kind == "sector" { last.sectors.push(member) } else { last.types.push(member) }
        }
    }
    Ok(lists)
}

/// The rows of a reference table as it was last observed, sorted.
fn newest_rows<const N: usize>(
    snapshot: &Path,
    table: Table,
    columns: [&'static str; N],
) -> Result<Vec<[String; N]>, LoadError> {
    let mut all: Vec<(i32, [String; N])> = Vec::new();
    let read: Vec<&'static str> = std::iter::once("observed_on").chain(columns).collect();
    each_batch(snapshot, table, &read, |batch| {
        let (observed, texts) = (batch.date("observed_on")?, batch.texts(columns)?);
        all.extend(
            (0..batch.rows()).map(|row| (observed.value(row), texts.map(|text| text.value(row).to_owned()))),
        );
        Ok(())
    })?;
    let newest = all.iter().map(|(day, _)| *day).max();
    let mut rows: Vec<[String; N]> =
        all.into_iter().filter(|(day, _)| Some(*day) == newest).map(|(_, row)| row).collect();
    rows.sort();
    Ok(rows)
}

fn folder(snapshot: &Path, table: Table) -> PathBuf {
    snapshot.join(table.name())
}

/// Reads the columns of every file of a table; a table without a folder has no rows.
fn each_batch(
    snapshot: &Path,
    table: Table,
    columns: &[&'static str],
    mut take: impl FnMut(&NamedBatch<'_>) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    for path in files_of(snapshot, table)? {
        let damaged = |source| LoadError::Damaged { path: path.clone(), source };
        let reader = open(&path)?;
        let mask = ProjectionMask::columns(reader.parquet_schema(), columns.iter().copied());
        let reader = reader.with_projection(mask).with_batch_size(BATCH_ROWS).build().map_err(damaged)?;
        for batch in reader {
            let batch = batch.map_err(|error| damaged(error.into()))?;
            take(&NamedBatch { batch: &batch, path: &path })?;
        }
    }
    Ok(())
}

/// The files of a table, newest month first: partitions are named by month, and this order spares the index its sort.
fn files_of(snapshot: &Path, table: Table) -> Result<Vec<PathBuf>, LoadError> {
    let mut files = Vec::new();
    if folder(snapshot, table).is_dir() {
        find_files(&folder(snapshot, table), &mut files)?;
    }
    files.sort_unstable_by(|a, b| b.cmp(a));
    Ok(files)
}

/// A digest of names, sizes and times of all files: names of a lake's files are digests of their content.
fn identity(snapshot: &Path) -> Result<[u8; 32], LoadError> {
    let mut files = Vec::new();
    find_files(snapshot, &mut files)?;
    files.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for path in files {
        let metadata =
            path.metadata().map_err(|source| LoadError::Unreadable { path: path.clone(), source })?;
        let written = metadata.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        hasher.update(path.strip_prefix(snapshot).unwrap_or(&path).as_os_str().as_encoded_bytes());
        hasher.update(&metadata.len().to_le_bytes());
        hasher.update(&written.unwrap_or_default().as_nanos().to_le_bytes());
    }
    Ok(*hasher.finalize().as_bytes())
}

fn find_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), LoadError> {
    let unreadable = |source| LoadError::Unreadable { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            find_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "parquet") {
            files.push(path);
        }
    }
    Ok(())
}

/// A batch whose columns are asked for by name and type.
struct NamedBatch<'a> {
    batch: &'a RecordBatch,
    path: &'a Path,
}

impl NamedBatch<'_> {
    fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn column<T: 'static>(&self, column: &'static str, wanted: &'static str) -> Result<&T, LoadError> {
        let found = self.batch.column_by_name(column).and_then(|array| array.as_any().downcast_ref());
        found.ok_or_else(|| self.no_column(column, wanted))
    }

    fn no_column(&self, column: &'static str, wanted: &'static str) -> LoadError {
        LoadError::Column { path: self.path.to_owned(), column, wanted }
    }

    fn dictionary(&self, name: &'static str) -> Result<&DictionaryArray<Int32Type>, LoadError> {
        self.column(name, "Utf8")
    }

    fn texts<const N: usize>(&self, names: [&'static str; N]) -> Result<[&StringArray; N], LoadError> {
        let found: Vec<&StringArray> =
            names.iter().map(|name| self.column(name, "Utf8")).collect::<Result<_, _>>()?;
        found.try_into().map_err(|_| self.no_column("", "Utf8"))
    }

    fn int64(&self, name: &'static str) -> Result<&Int64Array, LoadError> {
        self.column(name, "Int64")
    }

    fn int32(&self, name: &'static str) -> Result<&Int32Array, LoadError> {
        self.column(name, "Int32")
    }

    fn date(&self, name: &'static str) -> Result<&Date32Array, LoadError> {
        self.column(name, "Date32")
    }

    fn boolean(&self, name: &'static str) -> Result<&BooleanArray, LoadError> {
        self.column(name, "Boolean")
    }

    fn timestamp(&self, name: &'static str) -> Result<&TimestampMicrosecondArray, LoadError> {
        self.column(name, "Timestamp(µs)")
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Row, filing, write_table as write};
    use super::*;
    use crate::contract::id::BusinessIdParam;
    use jiff::civil::date;

    #[test]
    fn a_snapshot_is_read_with_its_newest_lists_and_vanished_rows_are_found_by_id_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let snapshot = folder.path();
        let july = [filing("2", "2026-07-31", "true"), filing("3", "2026-07-31", "false")];
        write(snapshot, Table::Filings, "filed_month=2026-07/part-a.parquet", &july);
        let june = [filing("1", "2026-06-30", "true")];
        write(snapshot, Table::Filings, "filed_month=2026-06/part-b.parquet", &june);
        write(
            snapshot,
            Table::Details,
            "d.parquet",
            &[Row::from([("business_id", "1"), ("officer_count", "1")])],
        );
        let officer = Row::from([("business_id", "1"), ("name", "A"), ("title", "MGR")]);
        write(snapshot, Table::Officers, "o.parquet", &[officer]);
        let county = |day, key| Row::from([("observed_on", day), ("key", key), ("name", key)]);
        write(
            snapshot,
            Table::Counties,
            "c.parquet",
            &[county("2026-07-30", "OLD"), county("2026-07-31", "BAY")],
        );
        let kind = |kind| Row::from([("observed_on", "2026-07-31"), ("sector", "food"), ("type", kind)]);
        write(snapshot, Table::IndustryTypes, "i.parquet", &[kind("food.cafe"), kind("food.bar")]);

        let index = load_snapshot(snapshot).expect("an index");
        assert_eq!((index.rows(), index.listed_on(date(2026, 7, 31))), (3, 1));
        assert_eq!(index.listed_on(date(2026, 6, 30)), 1);
        let row = |id| index.row_of_id(BusinessIdParam::parse(id).expect("an id"));
        assert_eq!(row("3").map(|row| index.columns.ids[row as usize]), Some(3));
        assert_eq!(index.officers_of(row("1").expect("a row")), Some("[{\"name\":\"A\",\"title\":\"MGR\"}]"));
        assert!(index.detail_json(row("1").expect("a row")).is_some());
        assert!(index.detail_json(row("2").expect("a row")).is_none());
        assert_eq!(index.county_names, [CountyName { key: "BAY".to_owned(), name: "BAY".to_owned() }]);
        assert_eq!(index.industries().sectors[0].types, ["food.bar", "food.cafe"]);
        assert_eq!(index.stats(date(2026, 7, 31)).updated_at, "2026-07-31T16:00:00Z");
        assert_eq!(index.stats(date(2026, 7, 31)).businesses_total, 2);
    }

    #[test]
    fn what_is_no_snapshot_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(load_snapshot(folder.path()), Err(LoadError::NoFilings(_))));
        let twice = [filing("2", "2026-07-31", "true"), filing("2", "2026-07-30", "true")];
        write(folder.path(), Table::Filings, "f.parquet", &twice);
        let error = load_snapshot(folder.path()).expect_err("a duplicate");
        assert!(error.to_string().contains("business 2 occurs twice"), "{error}");
        std::fs::write(folder.path().join("filings/f.parquet"), "no parquet").expect("written");
        assert!(matches!(load_snapshot(folder.path()), Err(LoadError::Damaged { .. })));
    }
}
