//! What all runs do at their end: aggregates, the verdict of the checks, the commit or the review, and closing.

use super::check_input::evidence;
use super::checks::{Verdict, findings, findings_that, verdict};
use super::merge::add_up;
use super::report::write_newest;
use super::summary::{Outcome, RunSummary};
use crate::aggregate::{TABLE_PREFIX, digest};
use crate::contract::count::DailyCount;
use crate::export::catalog::leave_out;
use crate::lake::{CommitInfo, LakeError, LakeLock, PruneRules, RunDir, RunRecord, Staging};
use crate::pipeline::config::file::Pipeline;
use crate::pipeline::config::spec::OnFailure;
use crate::pipeline::context::RunContext;
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::progress::{Done, Event, Work};
use crate::pipeline::state::provenance::Journal;
use crate::pipeline::state::run_state::RunState;
use crate::table::Table;
use std::time::Instant;

/// What the end of a run needs.
pub(in crate::pipeline) struct Ending<'a> {
    pub(in crate::pipeline) pipeline: &'a Pipeline,
    pub(in crate::pipeline) context: &'a RunContext,
    pub(in crate::pipeline) lock: &'a LakeLock,
    pub(in crate::pipeline) dir: &'a RunDir,
}

impl Ending<'_> {
    /// Computes the aggregates of a journal.
    fn aggregate(&self, journal: &Journal, staging: &mut Staging) -> Result<()> {
        let Some(aggregates) = &journal.aggregates else { return Ok(()) };
        let by = RunState::of(staging.parent()).aggregates;
        let (begun, number) = (Instant::now(), aggregates.len() as u64);
        self.context.events.report(Event::Working(Work::AddingUp(number)));
        add_up(aggregates, &by, staging, &self.dir.path().join("aggregates"))?;
        self.context.events.report(Event::Done(Done::AddedUp(number, begun.elapsed())));
        Ok(())
    }

    /// Whether the newest snapshot has other aggregates than the journal, because one was added, edited, removed or lost.
    pub(in crate::pipeline) fn has_other_aggregates(&self, journal: &Journal, staging: &Staging) -> bool {
        let (Some(parent), Some(aggregates)) = (staging.parent(), &journal.aggregates) else { return false };
        let made = RunState::of(Some(parent)).aggregates;
        let is_made = |(name, sql): &(String, String)| {
            made.get(name) == Some(&digest(sql))
                && parent.tables.contains_key(&format!("{TABLE_PREFIX}{name}"))
        };
        let has_filings = parent.tables.contains_key(Table::Filings.name());
        has_filings && (made.len() != aggregates.len() || !aggregates.iter().all(is_made))
    }

    /// Computes the aggregates, notes and logs what the checks find, and returns what follows. `counted` are the API's counts of the days that
    /// the run read completely, `before` is the state of the newest snapshot. An error if a check ends the run.
    pub(in crate::pipeline) fn audit(
        &self,
        staging: &mut Staging,
        journal: &Journal,
        counted: &[DailyCount],
        before: &RunState,
        summary: &mut RunSummary,
    ) -> Result<Verdict> {
        self.aggregate(journal, staging)?;
        self.context.events.report(Event::Working(Work::Publishing));
        let evidence = evidence(staging, journal, counted, summary)?;
        let mut found = findings(&self.pipeline.spec.checks, &evidence);
        let verdict = verdict(&mut found, before);
        for finding in &found {
            tracing::warn!(then = ?finding.then, "{}", finding.what);
        }
        summary.checks = found.iter().map(|finding| finding.what.clone()).collect();
        match verdict.then {
            OnFailure::Fail => {
                Err(PipelineError::CheckFailed { failures: findings_that(&found, OnFailure::Fail) })
            }
            _ => Ok(verdict),
        }
    }

    /// Writes the journal, and publishes the snapshot with `state` in its commit, or leaves it for review: then readers still see the one
    /// before.
    pub(in crate::pipeline) fn commit(
        &self,
        staging: Staging,
        journal: &Journal,
        mut state: RunState,
        verdict: Verdict,
        summary: &mut RunSummary,
    ) -> Result<()> {
        state.accepted = verdict.accepted;
        state.sums_may_differ &= journal.aggregates.is_none();
        self.dir.write_journal(staging.snapshot, journal)?;
        let info = self.commit_info(journal, state, summary);
        if verdict.then == OnFailure::Tell {
            let snapshot = staging.commit(info)?.snapshot;
            self.context.events.report(Event::Done(Done::Published(snapshot)));
            (summary.snapshot, summary.outcome) = (Some(snapshot), Outcome::Complete);
        } else {
            let number = staging.commit_pending(info)?.snapshot;
            tracing::warn!(
                "snapshot {number} is `held` for review, not published; look: sunlake snapshot show {number}; publish: sunlake snapshot accept {number}"
            );
            self.context.events.report(Event::Done(Done::Held(number)));
            (summary.held, summary.outcome) = (Some(number), Outcome::Failed);
        }
        Ok(())
    }

    fn commit_info(&self, journal: &Journal, mut state: RunState, summary: &RunSummary) -> CommitInfo {
        state.as_of = state.as_of.max(Some(journal.today));
        let aggregates = journal.aggregates.iter().flatten();
        state.aggregates = aggregates.map(|(name, sql)| (name.clone(), digest(sql))).collect();
        CommitInfo {
            committed_at: (self.context.now)(),
            today: journal.today,
            pipeline: summary.pipeline.clone(),
            requests_sent: summary.requests.sent,
            state: serde_json::to_value(&state).unwrap_or_default(),
            checks: serde_json::json!({ "findings": summary.checks }),
        }
    }

    /// Sets the outcome, prunes old snapshots, writes the catalogue, the report and the summary, and closes the run: for good, unless it
    /// paused. Incomplete days and a review do not keep it open.
    pub(in crate::pipeline) fn close(
        &self,
        mut record: RunRecord,
        summary: &mut RunSummary,
        started: Instant,
    ) -> Result<()> {
        summary.end();
        if summary.stopped.is_none() {
            let ended = if summary.held.is_some() { RunRecord::HELD } else { summary.outcome.name() };
            record.finished = Some(ended.to_owned());
        }
        let lake = &self.context.lake;
        let spec = &self.pipeline.spec.retention;
        let rules = PruneRules { keep: spec.retention(), raw_days: spec.raw_days, today: record.today };
        leave_out(lake, &lake.would_prune(&rules)?.snapshots)?;
        summary.pruned = match lake.prune(self.lock, &rules, (self.context.now)()) {
            Ok(pruning) => pruning.snapshots,
            // The snapshot is published, and the next run prunes again.
            Err(error @ (LakeError::Storage { .. } | LakeError::Remote { .. })) => {
                tracing::warn!("old snapshots are not pruned, or not completely: {error}");
                Vec::new()
            }
            Err(error) => return Err(error.into()),
        };
        summary.elapsed_secs = started.elapsed().as_secs_f64();
        write_newest(lake, self.pipeline.spec.report.enabled, Some(summary))?;
        self.dir.write_summary(summary)?;
        Ok(self.dir.close(&mut record)?)
    }
}
