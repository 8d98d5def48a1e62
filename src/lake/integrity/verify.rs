//! What a verification or an audit found; and the files of one snapshot compared with its commit: none is missing,
//! altered or unexpected.

use crate::lake::backend::disk::{self, FileState};
use crate::lake::data_file::{check_schema, filed_dates, read_part, sorted};
use crate::lake::error::LakeError;
use crate::lake::format::layout::{Mark, month_in};
use crate::lake::format::manifest::{Commit, FileEntry, TableManifest};
use crate::lake::handle::Lake;
use crate::lake::merge::row_key::SeenKeys;
use crate::lake::merge::spill::months;
use crate::lake::snapshot::verified_read::Snapshot;
use crate::table::{Footer, Table};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Number of files that were checked.
    pub files: u64,
    /// Rows in them.
    pub rows: u64,
    /// What is wrong; empty when everything is intact.
    pub problems: Vec<Problem>,
}

/// A damaged or unexpected file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where a user finds the file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
    /// What the file is, which decides how it is repaired.
    #[serde(skip)]
    pub(crate) kind: ProblemKind,
}

/// What a damaged file is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum ProblemKind {
    /// A file of a snapshot, or one that is repaired together with those.
    #[default]
    Tables,
    Commit(u64),
    /// The commit of a snapshot that is pending review.
    Pending(u64),
    Mark(Mark, u64),
    Record(String),
    /// A file of a finished run: its run id and its path in the run's folder.
    RunFile(String, String),
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn note(&mut self, path: &Path, what: impl Into<String>) {
        self.note_kind(path, what, ProblemKind::Tables);
    }

    pub(super) fn note_kind(&mut self, path: &Path, what: impl Into<String>, kind: ProblemKind) {
        self.problems.push(Problem { path: path.to_path_buf(), what: what.into(), kind });
    }

    /// What was read; none, and a problem, when its file is damaged.
    pub(super) fn intact<T>(
        &mut self,
        read: Result<T, LakeError>,
        kind: ProblemKind,
    ) -> Result<Option<T>, LakeError> {
        match read {
            Err(LakeError::Damaged { path, what }) => {
                self.note_kind(&path, what, kind);
                Ok(None)
            }
            other => other.map(Some),
        }
    }
}

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
        let dir = self.layout.snapshot(commit.snapshot);
        if !self.is_remote() && !dir.is_dir() {
            report.note(&dir, "the snapshot's folder is missing");
            return Ok(());
        }
        let snapshot = self.open_snapshot(commit);
        for (name, manifest) in &commit.tables {
            let table = Table::from_name(name);
            let check = TableCheck { table, schema: None, seen: SeenKeys::default(), report };
            check.run(self, &snapshot, &dir.join(name), manifest)?;
        }
        self.report_orphan_files(commit, report)
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
            Ok(FileState::Altered(bytes, _)) if bytes != entry.bytes => {
                format!("it has {bytes} bytes, the commit says {}", entry.bytes)
            }
            Ok(FileState::Altered(_, blake3)) => {
                format!("its digest is {blake3}, the commit says {}", entry.blake3)
            }
            // A disk that fails for one file may work for the others.
            Err(error @ LakeError::Storage { .. }) if !self.is_remote() => error.to_string(),
            Err(error) => return Err(error),
        };
        report.note(&snapshot.path_for_user(entry), what);
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
        let mut folders = vec![dir];
        while let Some(folder) = folders.pop() {
            for name in disk::names(&folder)? {
                let path = folder.join(name);
                let found = fs::symlink_metadata(&path).map_err(LakeError::storage("look at", &path))?;
                if found.is_dir() {
                    folders.push(path);
                } else if !known.contains(&path) {
                    report.note(&self.path_for_user(&path), "the commit does not name this file");
                }
            }
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
            problems.into_iter().for_each(|what| self.report.note(&snapshot.path_for_user(entry), what));
        }
        let folder = lake.path_for_user(folder);
        if manifest.rows != manifest.files.iter().map(|file| file.rows).sum::<u64>() {
            self.report.note(&folder, "the commit's row count is not the sum of its files");
        }
        let twice = self.seen.count_repeated();
        if twice > 0 {
            self.report.note(&folder, format!("{twice} rows share their key with another row"));
        }
        Ok(())
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
        let rows = read_part(path, None)?;
        let count = rows.num_rows();
        expect(count as u64 == entry.rows, &format!("it has {count} rows, the commit says {}", entry.rows));
        let Some(table) = self.table else { return Ok(()) };
        expect(
            filed_dates(&rows) == (entry.min_filed_date, entry.max_filed_date),
            "its oldest or newest filing date is not the commit's",
        );
        check_schema(table, &rows.schema())?;
        expect(sorted(table, &rows)? == rows, "its rows are not in the table's order");
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
