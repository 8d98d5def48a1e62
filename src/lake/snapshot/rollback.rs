//! Going back: a new snapshot whose tables and state are those of an older one. History stays; nothing is deleted.

use super::commit::CommitInfo;
use super::write_lock::LakeLock;
use crate::lake::error::LakeError;
use crate::lake::format::manifest::Commit;
use crate::lake::format::run_record::RunRecord;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use jiff::civil::Date;

impl Lake {
    /// Publishes the tables of an older snapshot again, with the run state they were published with, so that the next run
    /// reads what happened since. None when readers see that very snapshot.
    ///
    /// # Errors
    ///
    /// [`LakeError::NoSnapshot`], [`LakeError::Pruned`], [`LakeError::Damaged`]; else as [`crate::lake::Staging::commit`].
    pub fn roll_back(
        &self,
        _lock: &LakeLock,
        snapshot: u64,
        run_id: &str,
        (now, today): (Timestamp, Date),
    ) -> Result<Option<Commit>, LakeError> {
        let base = self.present(snapshot)?;
        if self.current()?.is_some_and(|current| current.snapshot == snapshot) {
            return Ok(None);
        }
        self.sound_tables(&base)?;
        let run = self.run(run_id)?;
        let mut record = RunRecord::begun(run_id, ROLLBACK, (now, today));
        run.write_record(&record)?;
        let commit = self.stage_restored(run_id, snapshot)?.commit(CommitInfo {
            committed_at: now,
            today,
            pipeline: ROLLBACK.to_owned(),
            requests_sent: 0,
            state: base.state,
            checks: base.checks,
        })?;
        record.finished = Some("complete".to_owned());
        run.close(&mut record)?;
        Ok(Some(commit))
    }
}

/// What stands in the place of a pipeline's name.
const ROLLBACK: &str = "rollback";
