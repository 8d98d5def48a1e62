//! The files of a snapshot against its commit: nothing missing, nothing torn, nothing more.

use super::Lake;
use super::error::LakeError;
use super::manifest::{Commit, FileEntry, TableManifest};
use super::part::{check_schema, inspect_part, read_part, read_schema, sorted, with_dates};
use super::path::{month_in, snapshot_name};
use super::spill::months;
use super::storage;
use super::upsert::keys;
use crate::table::Table;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What a verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Files that were looked at.
    pub files: u64,
    /// Rows in them.
    pub rows: u64,
    /// What is wrong; none in a sound snapshot.
    pub problems: Vec<Problem>,
}

/// Something wrong with one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where, in the lake's folder.
    pub path: PathBuf,
    /// What.
    pub what: String,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn note(&mut self, path: &Path, what: impl Into<String>) {
        self.problems.push(Problem { path: path.to_path_buf(), what: what.into() });
    }
}

impl Lake {
    /// Checks every file of a snapshot: it is there, has the size and the digest of the commit, opens, has the
    /// commit's rows and the table's columns, is sorted, lies in the folder of its month; no key twice, none null;
    /// no other file in the snapshot.
    ///
    /// Memory: one file's rows, and 16 bytes a row of the largest table.
    ///
    /// # Errors
    ///
    /// What is wrong with files stands in the report; an error is a commit that cannot be read or a disk that fails.
    pub fn verify(&self, snapshot: u64) -> Result<VerifyReport, LakeError> {
        let commit = self.commit(snapshot)?;
        let dir = self.snapshot_dir(snapshot);
        let mut report = VerifyReport::default();
        if !self.kept_snapshots()?.contains(&snapshot) {
            report.note(&dir, "the snapshot's folder is missing");
            return Ok(report);
        }
        for (table, manifest) in &commit.tables {
            manifest.files.iter().try_for_each(|entry| self.home.bring_anew(&commit, entry))?;
            verify_table(&dir, table, manifest, &mut report)?;
        }
        note_strangers(&dir, &commit, &mut report)?;
        for problem in &mut report.problems {
            problem.path = self.at_home(&commit, &problem.path);
        }
        Ok(report)
    }

    /// Where a person finds a file of a snapshot: in an object store, not in the working copy.
    fn at_home(&self, commit: &Commit, path: &Path) -> PathBuf {
        let (home, dir) = (PathBuf::from(self.to_string()), self.snapshot_dir(commit.snapshot));
        let Ok(inside) = path.strip_prefix(&dir) else { return path.to_path_buf() };
        if home == self.root() {
            return path.to_path_buf();
        }
        let mut entries = commit.tables.values().flat_map(|table| &table.files);
        let entry = entries.find(|entry| Path::new(&entry.path) == inside);
        let lies_in = entry.and_then(|entry| entry.lies_in).unwrap_or(commit.snapshot);
        home.join("snapshots").join(snapshot_name(lies_in)).join(inside)
    }
}

fn verify_table(
    dir: &Path,
    name: &str,
    manifest: &TableManifest,
    report: &mut VerifyReport,
) -> Result<(), LakeError> {
    let table = Table::from_name(name);
    let mut seen = SeenKeys::default();
    let mut schema: Option<SchemaRef> = table.map(Table::schema);
    for entry in &manifest.files {
        let path = dir.join(&entry.path);
        report.files += 1;
        if !is_as_committed(&path, entry, report)? {
            continue;
        }
        report.rows += entry.rows;
        if let Err(error) = verify_rows(&path, entry, table, &mut schema, &mut seen, report) {
            report.note(&path, error.to_string());
        }
    }
    if manifest.rows != manifest.files.iter().map(|file| file.rows).sum::<u64>() {
        report.note(&dir.join(name), "the commit's row count is not the sum of its files");
    }
    let twice = seen.count_repeated();
    if twice > 0 {
        report.note(&dir.join(name), format!("{twice} rows share their key with another row"));
    }
    Ok(())
}

/// Whether a file has its size and digest; only then it is worth opening.
fn is_as_committed(path: &Path, entry: &FileEntry, report: &mut VerifyReport) -> Result<bool, LakeError> {
    if !path.is_file() {
        report.note(path, "the file is missing");
        return Ok(false);
    }
    let (bytes, blake3) = match storage::digest(path) {
        Ok(found) => found,
        Err(error) => {
            report.note(path, error.to_string());
            return Ok(false);
        }
    };
    if bytes != entry.bytes {
        report.note(path, format!("it has {bytes} bytes, the commit says {}", entry.bytes));
    } else if blake3 != entry.blake3 {
        report.note(path, format!("its digest is {blake3}, the commit says {}", entry.blake3));
    }
    Ok(bytes == entry.bytes && blake3 == entry.blake3)
}

fn verify_rows(
    path: &Path,
    entry: &FileEntry,
    table: Option<Table>,
    schema: &mut Option<SchemaRef>,
    seen: &mut SeenKeys,
    report: &mut VerifyReport,
) -> Result<(), LakeError> {
    let found = read_schema(path)?;
    let expected = schema.get_or_insert_with(|| found.clone());
    if let Some(table) = table {
        check_schema(table, &found)?;
    } else if expected.fields() != found.fields() {
        report.note(path, "its columns are not those of the table's other files");
    }
    let rows = read_part(path, None)?;
    if rows.num_rows() as u64 != entry.rows {
        report.note(path, format!("it has {} rows, the commit says {}", rows.num_rows(), entry.rows));
    }
    let Some(table) = table else { return Ok(()) };
    let info = with_dates(inspect_part(path)?, &rows);
    if (info.min_filed_date, info.max_filed_date) != (entry.min_filed_date, entry.max_filed_date) {
        report.note(path, "its oldest or newest filing date is not the commit's");
    }
    if sorted(table, &rows)? != rows {
        report.note(path, "its rows are not in the table's order");
    }
    for name in table.key() {
        let nulls = rows.column_by_name(name).map_or(0, |column| column.null_count());
        if nulls > 0 {
            report.note(path, format!("{nulls} rows have no {name}"));
        }
    }
    if table.is_partitioned() {
        verify_month(path, entry, &rows, report)?;
    }
    seen.add(table, &rows)
}

fn verify_month(
    path: &Path,
    entry: &FileEntry,
    rows: &RecordBatch,
    report: &mut VerifyReport,
) -> Result<(), LakeError> {
    let Some(month) = month_in(&entry.path) else {
        report.note(path, "it lies in no month");
        return Ok(());
    };
    let elsewhere = months(rows)?.into_iter().filter(|found| *found != month).count();
    if elsewhere > 0 {
        report.note(path, format!("{elsewhere} rows are not of {month}"));
    }
    Ok(())
}

/// Keys of a table's rows, as digests.
#[derive(Default)]
struct SeenKeys(Vec<[u8; 16]>);

impl SeenKeys {
    fn add(&mut self, table: Table, rows: &RecordBatch) -> Result<(), LakeError> {
        let keys = keys(table, rows)?;
        self.0.extend(keys.iter().map(|key| {
            let mut digest = [0; 16];
            let whole = blake3::hash(key.data());
            digest.copy_from_slice(&whole.as_bytes()[..16]);
            digest
        }));
        Ok(())
    }

    fn count_repeated(mut self) -> usize {
        self.0.sort_unstable();
        self.0.windows(2).filter(|pair| pair[0] == pair[1]).count()
    }
}

/// Notes every file in the snapshot's folder that its commit does not name.
fn note_strangers(dir: &Path, commit: &Commit, report: &mut VerifyReport) -> Result<(), LakeError> {
    let known: BTreeSet<PathBuf> =
        commit.tables.values().flat_map(|table| &table.files).map(|file| dir.join(&file.path)).collect();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for name in storage::names(&folder)? {
            let path = folder.join(name);
            let found = fs::symlink_metadata(&path).map_err(LakeError::storage("look at", &path))?;
            if found.is_dir() {
                folders.push(path);
            } else if !known.contains(&path) {
                report.note(&path, "the commit does not name this file");
            }
        }
    }
    Ok(())
}
