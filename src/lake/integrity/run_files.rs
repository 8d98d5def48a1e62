//! The audit of the folders of runs: records, archived pages, journals, quarantine and summaries.

use super::chain::Readable;
use super::problem::{ProblemKind, VerifyReport};
use crate::lake::backend::disk;
use crate::lake::error::LakeError;
use crate::lake::format::layout::{COPIES, DAMAGED, JOURNAL, QUARANTINE, RAW, RECORD, SUMMARY, check_run_id};
use crate::lake::format::run_record::RunRecord;
use crate::lake::format::sealed_json::is_sealed;
use crate::lake::handle::Lake;
use crate::lake::run::run_dir::{NEWEST_RUNS, RunDir};
use std::collections::BTreeSet;

impl Lake {
    /// The records of runs that can be read. Reports the damaged and the missing ones. In an object store: of the newest 20
    /// runs, and of those that this machine knows.
    pub(super) fn audit_records(
        &self,
        readable: &Readable,
        report: &mut VerifyReport,
    ) -> Result<Vec<RunRecord>, LakeError> {
        self.backend.download_run_records(NEWEST_RUNS)?;
        let committed: BTreeSet<&str> = readable.all().map(|commit| commit.run_id.as_str()).collect();
        let mut run_ids: BTreeSet<String> = disk::names(&self.layout.runs())?.into_iter().collect();
        run_ids.extend(committed.iter().rev().take(NEWEST_RUNS).map(|run_id| (*run_id).to_owned()));
        run_ids.retain(|run_id| check_run_id(run_id).is_ok());
        let mut records = Vec::new();
        for run_id in run_ids {
            let run = self.existing_run(&run_id)?;
            report.files += 1;
            let what = match run.stored_record() {
                Ok(Some(record)) => {
                    records.push(record);
                    continue;
                }
                Ok(None) if committed.contains(run_id.as_str()) || run.has_files() => {
                    "the file is missing".to_owned()
                }
                Err(LakeError::Damaged { what, .. }) => what,
                // A run that began and archived nothing, or a record that the disk does not return: no snapshot needs it.
                Ok(None) | Err(LakeError::Storage { .. }) => continue,
                Err(other) => return Err(other),
            };
            // Before the record: the repair makes it of the files that are left.
            self.audit_without_record(&run_id, readable, report)?;
            let path = self.path_for_user(&run.path().join(RECORD));
            report.note(&path, what, ProblemKind::Record(run_id));
        }
        Ok(records)
    }

    /// Compares the files of a closed run with its record. Of a run that was killed, reports the pages that are damaged in
    /// the middle and the damaged journals; a truncated end is what a kill leaves, and is requested again.
    pub(super) fn audit_run(&self, record: &RunRecord, report: &mut VerifyReport) -> Result<(), LakeError> {
        if record.is_open() {
            return self.audit_open_run(&self.existing_run(&record.run_id)?, report);
        }
        for file in &record.files {
            report.files += 1;
            let name = self.backend.run_file_name(&record.run_id, file);
            let what = match self.backend.digest(&name)? {
                Some(found) if found.matches(file.bytes, &file.blake3) => continue,
                Some(_) => "it is not what the run left",
                None => "the file is missing",
            };
            let kind = ProblemKind::RunFile(record.run_id.clone(), file.path.clone());
            report.note(&self.path_for_user(&self.root().join(name)), what, kind);
        }
        self.note_known(&record.run_id, false, report)
    }

    /// Notes the files of a run that a repair could not bring back, and those that only a lost record could prove: `is_lost` now, or
    /// made again by a repair.
    pub(super) fn note_known(
        &self,
        run_id: &str,
        mut is_lost: bool,
        report: &mut VerifyReport,
    ) -> Result<(), LakeError> {
        let of_run = format!("runs/{run_id}");
        let [quarantine, others @ ..] =
            [QUARANTINE, RAW, COPIES, JOURNAL].map(|folder| format!("{of_run}/{folder}"));
        let mut unproven = Vec::new();
        for folder in [&of_run, &quarantine].into_iter().chain(&others) {
            for name in self.backend.names(folder)? {
                let is_own = *folder == quarantine || (*folder == of_run && name == SUMMARY);
                match name.strip_suffix(DAMAGED) {
                    Some(RECORD) => is_lost = true,
                    Some(file) => {
                        let path = self.path_for_user(&self.root().join(folder).join(file));
                        report.note(&path, "a repair found it damaged or missing", ProblemKind::KnownLoss);
                    }
                    None if is_own && !name.starts_with(disk::TEMPORARY) => {
                        unproven.push(self.path_for_user(&self.root().join(folder).join(&name)));
                    }
                    None => {}
                }
            }
        }
        unproven.retain(|path| is_lost && report.problems.iter().all(|problem| problem.path != *path));
        for path in unproven {
            report.note(&path, "only the lost `run.json` had its digest", ProblemKind::Unproven);
        }
        Ok(())
    }

    fn audit_open_run(&self, run: &RunDir, report: &mut VerifyReport) -> Result<(), LakeError> {
        for (path, bytes) in run.raw_read_only()?.damaged() {
            report.note(path, format!("{bytes} bytes in it are no page"), ProblemKind::OpenRun);
        }
        let folder = run.path().join(JOURNAL);
        for name in disk::names(&folder)?.iter().filter(|name| !name.starts_with(disk::TEMPORARY)) {
            let path = folder.join(name);
            if !disk::read(&path)?.is_some_and(|bytes| is_sealed(&bytes)) {
                report.note(&path, "it is not what was written", ProblemKind::OpenRun);
            }
        }
        Ok(())
    }
}
