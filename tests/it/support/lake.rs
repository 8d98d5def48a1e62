//! Reads lakes with the Parquet and Arrow crates alone.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use jiff::ToSpan as _;
use jiff::civil::date;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Every file below a folder, links not followed, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    assert!(folder.is_dir(), "{} is no folder", folder.display());
    files_below_if_there(folder)
}

/// As [`files_below`], of a folder that others write to: files that vanish during the look are left out.
pub(crate) fn files_below_if_there(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    files.sort();
    files
}

/// Copies every file below a folder; a link stays a link.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    for file in files_below(from) {
        let target = to.join(file.strip_prefix(from).expect("a file below"));
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        match std::fs::read_link(&file) {
            Ok(link) => symlink(link, &target).expect("a link"),
            Err(_) => drop(std::fs::copy(&file, &target).expect("a copy")),
        }
    }
}

/// Makes a link lead to another place, at once.
pub(crate) fn point(link: &Path, at: &Path) {
    let next = link.with_file_name("next");
    symlink(at, &next).expect("a link");
    std::fs::rename(next, link).expect("swapped");
}

/// A file of a table of a snapshot.
pub(crate) fn part(lake: &Path, snapshot: u64, table: &str) -> PathBuf {
    files_below(&lake.join(format!("snapshots/{snapshot:06}")).join(table)).pop().expect("a file")
}

/// Flips a bit in the middle of a file; returns its bytes from before.
pub(crate) fn damage(path: &Path) -> Vec<u8> {
    let whole = std::fs::read(path).expect("a file");
    let mut bytes = whole.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(path, bytes).expect("damage");
    whole
}

/// The newest snapshot's folder.
pub(crate) fn current(lake: &Path) -> PathBuf {
    lake.join("current").canonicalize().expect("a current snapshot")
}

/// The batches of a table of the newest snapshot.
pub(crate) fn batches(lake: &Path, table: &str) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    for path in files_below(&current(lake).join(table)) {
        let file = File::open(&path).expect("a file");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file)
            .and_then(ParquetRecordBatchReaderBuilder::build)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        batches.extend(reader.map(|batch| batch.expect("a batch")));
    }
    batches
}

/// Cells of a row by column, null as none. All rows of a batch share the names.
pub(crate) type Cells = BTreeMap<Arc<str>, Option<String>>;

/// The rows of a table, without the columns named; instants as microseconds.
pub(crate) fn rows(lake: &Path, table: &str, without: &[&str]) -> Vec<Cells> {
    let mut rows = Vec::new();
    for batch in batches(lake, table) {
        let schema = batch.schema();
        let names = schema.fields().iter().map(|field| Arc::<str>::from(field.name().as_str()));
        let mut kept: Vec<(Arc<str>, &ArrayRef)> =
            names.zip(batch.columns()).filter(|(name, _)| !without.contains(&&**name)).collect();
        // Once for all rows: a map is made faster of what is in its order.
        kept.sort_by(|(one, _), (other, _)| one.cmp(other));
        let cells = |row| {
            kept.iter()
                .map(|(name, cells)| (Arc::clone(name), cells.is_valid(row).then(|| text(cells, row))))
                .collect()
        };
        rows.extend((0..batch.num_rows()).map(cells));
    }
    rows
}

fn text(cells: &ArrayRef, row: usize) -> String {
    match cells.data_type() {
        DataType::Utf8 => cells.as_string::<i32>().value(row).to_owned(),
        DataType::Boolean => cells.as_boolean().value(row).to_string(),
        DataType::Int32 => cells.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => cells.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => cells.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Timestamp(..) => cells.as_primitive::<TimestampMicrosecondType>().value(row).to_string(),
        DataType::Date32 => {
            let days = cells.as_primitive::<Date32Type>().value(row);
            (date(1970, 1, 1) + i64::from(days).days()).to_string()
        }
        other => panic!("a cell of type {other}"),
    }
}

/// When a row was seen, which two runs over the same records do not share.
const SEEN: [&str; 2] = ["first_seen_at", "changed_at"];

/// Filings by business; none may stand there twice.
pub(crate) fn filings(lake: &Path) -> BTreeMap<i64, Cells> {
    let mut filings = BTreeMap::new();
    for cells in rows(lake, "filings", &SEEN) {
        let id = cells["business_id"].as_deref().and_then(|text| text.parse().ok()).expect("an id");
        let double = filings.insert(id, cells);
        assert!(double.is_none(), "business {id} is twice in {}", lake.display());
    }
    filings
}

/// What differs between two sets of filings, in words, the first few of each kind.
pub(crate) fn difference(found: &BTreeMap<i64, Cells>, expected: &BTreeMap<i64, Cells>) -> String {
    let missing: Vec<_> = expected.keys().filter(|id| !found.contains_key(id)).collect();
    let strange: Vec<_> = found.keys().filter(|id| !expected.contains_key(id)).collect();
    let other: Vec<_> = expected
        .iter()
        .filter_map(|(id, cells)| found.get(id).filter(|found| *found != cells).map(|found| (found, cells)))
        .collect();
    let first = |ids: &[&i64]| ids.iter().take(5).map(|id| id.to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "{} rows found, {} expected; {} missing ({}), {} strange ({}), {} other than expected ({:?})",
        found.len(),
        expected.len(),
        missing.len(),
        first(&missing),
        strange.len(),
        first(&strange),
        other.len(),
        other.first()
    )
}

/// Claims that two sets of filings are the same, every field of every row.
pub(crate) fn assert_same(found: &BTreeMap<i64, Cells>, expected: &BTreeMap<i64, Cells>, what: &str) {
    assert!(!expected.is_empty(), "{what}: there is nothing to compare with");
    assert!(found == expected, "{what}: {}", difference(found, expected));
}

/// Values of an integer column.
pub(crate) fn integers(lake: &Path, table: &str, column: &str) -> Vec<i64> {
    let mut values = Vec::new();
    for batch in batches(lake, table) {
        let cells = batch.column_by_name(column).unwrap_or_else(|| panic!("{table} has no {column}")).clone();
        values.extend(cells.as_primitive::<Int64Type>().iter().flatten());
    }
    values
}

/// The commit files of a lake.
pub(crate) fn commits(lake: &Path) -> Vec<Value> {
    let folder = lake.join("commits");
    if !folder.exists() {
        return Vec::new();
    }
    let read =
        |path: &PathBuf| serde_json::from_slice(&std::fs::read(path).expect("a commit")).expect("JSON");
    files_below(&folder).iter().map(read).collect()
}

/// Names of the entries of a folder.
pub(crate) fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

/// The records in quarantine, of all runs.
pub(crate) fn quarantined(lake: &Path) -> Vec<Value> {
    let files = files_below(&lake.join("runs")).into_iter();
    let files = files.filter(|path| path.parent().is_some_and(|folder| folder.ends_with("quarantine")));
    let mut records = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a quarantine file");
        records.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON line")));
    }
    records
}
