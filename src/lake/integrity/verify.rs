//! The files of a snapshot against its commit: nothing missing, nothing torn, nothing more.

use super::problem::VerifyReport;
use crate::lake::backend::disk;
use crate::lake::backend::disk::FileState;
use crate::lake::data_file::{check_schema, filed_dates, read_part, read_schema, sorted};
use crate::lake::error::LakeError;
use crate::lake::format::layout::month_in;
use crate::lake::format::manifest::{Commit, FileEntry, TableManifest};
use crate::lake::handle::Lake;
use crate::lake::merge::row_key::{Digest, digests};
use crate::lake::merge::spill::months;
use crate::table::Table;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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
        let mut report = VerifyReport::default();
        let commit = self.present_or_held(snapshot)?;
        self.verify_tables(&commit, &mut report)?;
        self.lead_home(&commit, 0, &mut report);
        Ok(report)
    }

    pub(crate) fn verify_tables(&self, commit: &Commit, report: &mut VerifyReport) -> Result<(), LakeError> {
        let dir = self.snapshot_dir(commit.snapshot);
        if !self.is_remote() && !dir.is_dir() {
            report.note(&dir, "the snapshot's folder is missing");
            return Ok(());
        }
        for (table, manifest) in &commit.tables {
            let look = TableLook { lake: self, commit, table: Table::from_name(table) };
            look.verify(&dir.join(table), manifest, &dir, report)?;
        }
        self.note_strangers(commit, report)
    }

    /// Whether a file lies at home with its size and digest; only then it is worth opening, in its local folder.
    pub(crate) fn is_as_committed(
        &self,
        commit: &Commit,
        entry: &FileEntry,
        report: &mut VerifyReport,
    ) -> Result<bool, LakeError> {
        let what = match self.backend.file_state(commit, entry) {
            Ok(FileState::Intact) => return Ok(true),
            Ok(FileState::Missing) => "the file is missing".to_owned(),
            Ok(FileState::Altered(bytes, _)) if bytes != entry.bytes => {
                format!("it has {bytes} bytes, the commit says {}", entry.bytes)
            }
            Ok(FileState::Altered(_, blake3)) => {
                format!("its digest is {blake3}, the commit says {}", entry.blake3)
            }
            // A disk that does not give one file may give the others.
            Err(error @ LakeError::Storage { .. }) if !self.is_remote() => error.to_string(),
            Err(error) => return Err(error),
        };
        report.note(&self.snapshot_dir(commit.snapshot).join(&entry.path), what);
        Ok(false)
    }

    /// Leads the problems noted from the `first` on to where a person finds the files.
    pub(crate) fn lead_home(&self, commit: &Commit, first: usize, report: &mut VerifyReport) {
        for problem in report.problems.iter_mut().skip(first) {
            problem.path = self.at_home(commit, &problem.path);
        }
    }

    /// Where a person finds a file of a snapshot, given in its local folder: in an object store, not in the working copy.
    pub fn at_home(&self, commit: &Commit, path: &Path) -> PathBuf {
        let mut entries = commit.tables.values().flat_map(|table| &table.files);
        let inside = path.strip_prefix(self.snapshot_dir(commit.snapshot)).ok();
        let entry = entries.find(|entry| inside == Some(Path::new(&entry.path)));
        match entry.and_then(|entry| Some((entry.origin_snapshot?, &entry.path))) {
            Some((snapshot, name)) => self.path_for_user(&self.snapshot_dir(snapshot).join(name)),
            None => self.path_for_user(path),
        }
    }
}

/// A look at one table of a snapshot.
struct TableLook<'a> {
    lake: &'a Lake,
    commit: &'a Commit,
    /// None for an aggregate.
    table: Option<Table>,
}

impl TableLook<'_> {
    fn verify(
        &self,
        folder: &Path,
        manifest: &TableManifest,
        dir: &Path,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let mut seen = SeenKeys::default();
        let mut schema: Option<SchemaRef> = None;
        for entry in &manifest.files {
            let path = dir.join(&entry.path);
            report.files += 1;
            if !self.lake.is_as_committed(self.commit, entry, report)? {
                continue;
            }
            report.rows += entry.rows;
            if let Err(error) = self.verify_rows(&path, entry, &mut schema, &mut seen, report) {
                report.note(&path, error.to_string());
            }
        }
        if manifest.rows != manifest.files.iter().map(|file| file.rows).sum::<u64>() {
            report.note(folder, "the commit's row count is not the sum of its files");
        }
        let twice = seen.count_repeated();
        if twice > 0 {
            report.note(folder, format!("{twice} rows share their key with another row"));
        }
        Ok(())
    }

    fn verify_rows(
        &self,
        path: &Path,
        entry: &FileEntry,
        schema: &mut Option<SchemaRef>,
        seen: &mut SeenKeys,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let found = read_schema(path)?;
        if schema.get_or_insert_with(|| found.clone()).fields() != found.fields() {
            report.note(path, "its columns are not those of the table's other files");
        }
        let rows = read_part(path, None)?;
        if rows.num_rows() as u64 != entry.rows {
            report.note(path, format!("it has {} rows, the commit says {}", rows.num_rows(), entry.rows));
        }
        let Some(table) = self.table else { return Ok(()) };
        if filed_dates(&rows) != (entry.min_filed_date, entry.max_filed_date) {
            report.note(path, "its oldest or newest filing date is not the commit's");
        }
        check_schema(table, &rows.schema())?;
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
pub(crate) struct SeenKeys(Vec<Digest>);

impl SeenKeys {
    pub(crate) fn add(&mut self, table: Table, rows: &RecordBatch) -> Result<(), LakeError> {
        self.0.extend(digests(rows, table.key())?);
        Ok(())
    }

    pub(crate) fn count_repeated(mut self) -> usize {
        self.0.sort_unstable();
        self.0.windows(2).filter(|pair| pair[0] == pair[1]).count()
    }
}

impl Lake {
    /// Notes every file in a snapshot's folder that its commit does not name.
    pub(crate) fn note_strangers(&self, commit: &Commit, report: &mut VerifyReport) -> Result<(), LakeError> {
        let dir = self.snapshot_dir(commit.snapshot);
        let named = commit.tables.values().flat_map(|table| &table.files);
        let known: BTreeSet<PathBuf> = named.map(|file| dir.join(&file.path)).collect();
        let mut folders = vec![dir];
        while let Some(folder) = folders.pop() {
            for name in disk::names(&folder)? {
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
}
