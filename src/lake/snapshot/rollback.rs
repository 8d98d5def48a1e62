//! Rollback: a new snapshot with the tables and state of an older one. Nothing is deleted.

use super::commit::CommitInfo;
use super::staging::Base;
use super::write_lock::LakeLock;
use crate::lake::error::LakeError;
use crate::lake::format::manifest::Commit;
use crate::lake::format::run_record::RunRecord;
use crate::lake::handle::Lake;
use jiff::Timestamp;
use jiff::civil::Date;

/// Stored where a commit has the name of its pipeline.
const ROLLBACK: &str = "rollback";

impl Lake {
    /// Publishes the tables of an older snapshot again, with its run state, so that the next run reads what happened since.
    /// None when that snapshot is the newest.
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
        self.open_snapshot(&base).tables()?;
        let run = self.run(run_id)?;
        let mut record = RunRecord::begun(run_id, ROLLBACK, (now, today));
        run.write_record(&record)?;
        let commit = self.stage_on(Base::Restored(snapshot), run_id)?.commit(CommitInfo {
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
