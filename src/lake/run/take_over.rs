//! The resumption of a run that another machine began.
//!
//! Nobody knows whether that machine died or is only slow. So the run gets a folder of its own here, with the pages that are archived: two
//! machines never write into one folder, and whichever publishes first wins.

use crate::lake::backend::disk;
use crate::lake::error::LakeError;
use crate::lake::format::layout::RAW;
use crate::lake::format::run_record::RunRecord;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use std::fs;

impl Lake {
    /// The record of an unfinished run to resume: the same one, or that of a new run `run_id` with its pages, if another machine began it.
    pub(crate) fn take_over(
        &self,
        record: RunRecord,
        run_id: &str,
        now: Timestamp,
    ) -> Result<RunRecord, LakeError> {
        let old = self.existing_run(&record.run_id)?;
        if !self.is_remote() || old.began_here() {
            return Ok(record);
        }
        old.raw_read_only()?;
        let new = self.run(run_id)?;
        let (from, to) = (old.path().join(RAW), new.path().join(RAW));
        self.storage.create_durable_dir_all(&to)?;
        for name in disk::names(&from)?.iter().filter(|name| !name.starts_with(disk::TEMPORARY)) {
            fs::copy(from.join(name), to.join(name)).map_err(LakeError::storage("copy", &to.join(name)))?;
        }
        self.storage.sync_dir(&to)?;
        let taken = RunRecord { run_id: run_id.to_owned(), started_at: now, files: Vec::new(), ..record };
        new.begin(&taken)?;
        Ok(taken)
    }
}
