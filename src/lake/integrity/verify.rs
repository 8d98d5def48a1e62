//! The files of one snapshot compared with its commit: none is missing, altered or unexpected.

use super::problem::{ProblemKind, VerifyReport};
use crate::lake::backend::disk::{FileState, files_below};
use crate::lake::data_file::filed_dates;
use crate::lake::error::LakeError;
use crate::lake::format::layout::month_in;
use crate::lake::format::manifest::{Commit, FileEntry, TableManifest};
use crate::lake::handle::Lake;
use crate::lake::merge::row_key::SeenKeys;
use crate::lake::merge::spill::months;
use crate::lake::snapshot::verified_read::Snapshot;
use crate::table::{Footer, Table, check_schema, read_batch, sort_batch};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl Lake {
    /// Checks every file of a snapshot: it exists, has the size and digest of the commit, opens, has the commit's number
    /// of rows and the table's columns, is sorted, and is in the folder of its month. No key is in two rows. The snapshot has
    /// no other file.
    ///
    /// Memory: one file's rows, and 16 bytes a row of the largest table.
    ///
    /// # Errors
    ///
    /// A commit that cannot be read, or a disk that fails. Damaged files are no error: they are in the report.
    pub fn verify(&self, snapshot: u64) -> Result<VerifyReport, LakeError> {
        let mut report = VerifyReport::default();
        self.verify_tables(&self.present_or_pending(snapshot)?, &mut report)?;
        Ok(report)
    }

    pub(super) fn verify_tables(&self, commit: &Commit, report: &mut VerifyReport) -> Result<(), LakeError> {
        let Some(dir) = self.present_folder(commit, report) else { return Ok(()) };
        let snapshot = self.open_snapshot(commit);
        for (name, manifest) in &commit.tables {
            let table = Table::from_name(name);
            let check = TableCheck { table, schema: None, seen: SeenKeys::default(), report };
            check.run(self, &snapshot, &dir.join(name), manifest)?;
        }
        self.report_orphan_files(commit, report)
    }

    /// The folder of a snapshot; none, and a problem, where it is missing. That of a store is made when it is needed.
    pub(super) fn present_folder(&self, commit: &Commit, report: &mut VerifyReport) -> Option<PathBuf> {
        let dir = self.layout.snapshot(commit.snapshot);
        let is_present = self.is_remote() || dir.is_dir();
        if !is_present {
            report.note(&dir, "the snapshot's folder is missing", ProblemKind::Tables);
        }
        is_present.then_some(dir)
    }

    /// Whether a file is stored with its size and digest; only then its local copy is worth opening.
    pub(super) fn is_as_committed(
        &self,
        snapshot: &Snapshot<'_>,
        entry: &FileEntry,
        report: &mut VerifyReport,
    ) -> Result<bool, LakeError> {
        let what = match self.backend.file_state(snapshot.commit(), entry) {
            Ok(FileState::Intact) => return Ok(true),
            Ok(FileState::Missing) => "the file is missing".to_owned(),
            Ok(FileState::Altered(found)) if found.bytes != entry.bytes => {
                format!("it has {} bytes, the commit says {}", found.bytes, entry.bytes)
            }
            Ok(FileState::Altered(found)) => {
                format!("its digest is {}, the commit says {}", found.blake3, entry.blake3)
            }
            // A disk that fails for one file may work for the others.
            Err(error @ LakeError::Storage { .. }) if !self.is_remote() => error.to_string(),
            Err(error) => return Err(error),
        };
        report.note(&snapshot.path_for_user(entry), what, ProblemKind::Tables);
        Ok(false)
    }

    /// Reports every file in a snapshot's folder that its commit does not name.
    pub(super) fn report_orphan_files(
        &self,
        commit: &Commit,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let dir = self.layout.snapshot(commit.snapshot);
        let known: BTreeSet<PathBuf> = commit.files(None).map(|file| dir.join(&file.path)).collect();
        for path in files_below(&dir)?.iter().filter(|path| !known.contains(*path)) {
            let what = "the commit does not name this file";
            report.note(&self.path_for_user(path), what, ProblemKind::Orphan);
        }
        Ok(())
    }
}

struct TableCheck<'a> {
    /// None for an aggregate.
    table: Option<Table>,
    /// Columns of the table's first file.
    schema: Option<SchemaRef>,
    seen: SeenKeys,
    report: &'a mut VerifyReport,
}

impl TableCheck<'_> {
    fn run(
        mut self,
        lake: &Lake,
        snapshot: &Snapshot<'_>,
        folder: &Path,
        manifest: &TableManifest,
    ) -> Result<(), LakeError> {
        for entry in &manifest.files {
            self.report.files += 1;
            if !lake.is_as_committed(snapshot, entry, self.report)? {
                continue;
            }
            self.report.rows += entry.rows;
            let mut problems = Vec::new();
            let path = lake.layout.snapshot(snapshot.commit().snapshot).join(&entry.path);
            if let Err(error) = self.check_rows(&path, entry, &mut problems) {
                problems.push(error.to_string());
            }
            self.note_all(&snapshot.path_for_user(entry), problems);
        }
        let mut problems = Vec::new();
        if manifest.rows != manifest.files.iter().map(|file| file.rows).sum::<u64>() {
            problems.push("the commit's row count is not the sum of its files".to_owned());
        }
        let twice = std::mem::take(&mut self.seen).count_repeated();
        if twice > 0 {
            problems.push(format!("{twice} rows share their key with another row"));
        }
        self.note_all(&lake.path_for_user(folder), problems);
        Ok(())
    }

    fn note_all(&mut self, path: &Path, problems: Vec<String>) {
        problems.into_iter().for_each(|what| self.report.note(path, what, ProblemKind::Tables));
    }

    fn check_rows(
        &mut self,
        path: &Path,
        entry: &FileEntry,
        problems: &mut Vec<String>,
    ) -> Result<(), LakeError> {
        let mut expect = |is_right: bool, what: &str| {
            if !is_right {
                problems.push(what.to_owned());
            }
        };
        let found = Footer::open(path)?.schema().clone();
        let first = self.schema.get_or_insert_with(|| found.clone());
        expect(first.fields() == found.fields(), "its columns are not those of the table's other files");
        let rows = read_batch(path, None)?;
        let count = rows.num_rows();
        expect(count as u64 == entry.rows, &format!("it has {count} rows, the commit says {}", entry.rows));
        let Some(table) = self.table else { return Ok(()) };
        expect(
            filed_dates(&rows) == (entry.min_filed_date, entry.max_filed_date),
            "its oldest or newest filing date is not the commit's",
        );
        check_schema(&rows.schema(), &table.schema(), table.name())?;
        expect(sort_batch(table, &rows)? == rows, "its rows are not in the table's order");
        if table.is_partitioned() {
            problems.extend(month_problem(entry, &rows)?);
        }
        self.seen.add(table, &rows)
    }
}

fn month_problem(entry: &FileEntry, rows: &RecordBatch) -> Result<Option<String>, LakeError> {
    let Some(month) = month_in(&entry.path) else {
        return Ok(Some("it is in no month's folder".to_owned()));
    };
    let others = months(rows)?.into_iter().filter(|found| *found != month).count();
    Ok((others > 0).then(|| format!("{others} rows are not of {month}")))
}
