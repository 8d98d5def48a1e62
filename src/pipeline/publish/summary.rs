//! What a run did, for people and schedulers.

use crate::contract::listing::Listing;
use crate::import::files::source::Unread;
use crate::lake::{RunRecord, TableDelta};
use crate::normalize::OpenValues;
use crate::pipeline::state::registry::{Counted, RegisterStatus, UnprovenPrefix};
use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All requested days are in the lake.
    Complete,
    /// Part of them is; run it again to resume.
    Partial,
    /// Nothing differed from the newest snapshot.
    Unchanged,
    /// Nothing was published.
    #[default]
    Failed,
}

impl Outcome {
    /// The word in the summary.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Unchanged => "unchanged",
            Self::Failed => "failed",
        }
    }
}

/// Exit code of a run that paused: run it again to resume.
pub(crate) const EXIT_RUN_AGAIN: u8 = 5;

/// Exit code of a run whose snapshot is not published because a check failed.
pub(crate) const EXIT_CHECK_FAILED: u8 = 7;

/// Requests of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Requests {
    /// Sent by this process, retries included.
    pub sent: u64,
    /// Attempts beyond the first.
    pub retried: u64,
    /// Answers taken from the run's archive instead.
    pub replayed: u64,
    /// Sent, by stage.
    pub by_stage: BTreeMap<String, u64>,
}

/// What a run changed in a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableRows {
    /// Rows merged into it.
    pub read: u64,
    /// New rows.
    pub added: u64,
    /// Rows that differ from before.
    pub changed: u64,
    /// Filings no longer listed.
    pub vanished: u64,
    /// Rows now.
    pub total: u64,
}

impl From<&TableDelta> for TableRows {
    fn from(delta: &TableDelta) -> Self {
        Self {
            read: delta.read,
            added: delta.added,
            changed: delta.changed + delta.returned,
            vanished: delta.vanished,
            total: delta.total,
        }
    }
}

/// A day that is not complete in the lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IncompleteDay {
    /// The day.
    pub day: Date,
    /// Listing: `*` or a type.
    pub entity_type: String,
    /// Rows the API reports; none if it was never read.
    pub expected: Option<u64>,
    /// Rows of it in the lake.
    pub landed: u64,
}

/// How much of the window is complete. A day counts once for each listing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoverageSummary {
    /// Days requested.
    pub days: u64,
    /// Complete days.
    pub complete: u64,
    /// Incomplete days.
    pub incomplete: Vec<IncompleteDay>,
    /// Listings of each day: `*` or a type.
    pub listings: Vec<String>,
}

impl CoverageSummary {
    /// Days of the calendar that are complete in every listing, of those requested.
    pub(crate) fn calendar_days(&self) -> (u64, u64) {
        let requested = self.days / (self.listings.len() as u64).max(1);
        let incomplete: BTreeSet<Date> = self.incomplete.iter().map(|day| day.day).collect();
        (requested.saturating_sub(incomplete.len() as u64), requested)
    }

    /// Complete days of each listing, and the days requested.
    pub(crate) fn days_by_listing(&self) -> Vec<(&str, u64)> {
        let (_, requested) = self.calendar_days();
        let incomplete = |label: &str| self.incomplete.iter().filter(|day| day.entity_type == label).count();
        self.listings
            .iter()
            .map(|label| (label.as_str(), requested.saturating_sub(incomplete(label) as u64)))
            .collect()
    }

    /// What was not read of a day, in words; an empty text where nothing was read. Only of such days.
    pub(crate) fn unread(&self) -> BTreeMap<Date, String> {
        let mut labels: BTreeMap<Date, Vec<&str>> = BTreeMap::new();
        for day in self.incomplete.iter().filter(|day| day.expected.is_none()) {
            labels.entry(day.day).or_default().push(Listing::name_of(&day.entity_type));
        }
        let is_all = |labels: &[&str]| labels.len() == self.listings.len();
        let words = |labels: Vec<&str>| if is_all(&labels) { String::new() } else { labels.join(" and ") };
        labels.into_iter().map(|(day, labels)| (day, words(labels))).collect()
    }
}

/// How far the register has been read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RegisterSummary {
    /// Which businesses were requested.
    pub status: RegisterStatus,
    /// Complete prefixes, by this run and earlier ones.
    pub starts: u64,
    /// Those of them that no name has.
    pub empty: u64,
    /// Prefixes that the API refuses to search.
    pub refused: Vec<String>,
    /// Prefixes that are likely left to search.
    pub left: u64,
    /// Rows of the complete prefixes.
    pub rows: u64,
    /// Businesses there are, by the API's count.
    pub businesses_total: u64,
    /// What that counts, once a complete reading has shown it.
    pub counted: Option<Counted>,
    /// Businesses counted that the lake does not have: filed since their prefix was read, or under a name that no prefix gives. Below 0
    /// if the lake has more: some are no longer listed. None where the count cannot be compared with what was read.
    pub missing: Option<i64>,
    /// Incomplete prefixes.
    pub unproven: Vec<UnprovenPrefix>,
}

/// Progress of the look-ups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EnrichSummary {
    /// Selected businesses whose details or officers were due.
    pub chosen: u64,
    /// Of these, looked up so far.
    pub looked_up: u64,
    /// Of those, unknown to the API.
    pub unknown: u64,
    /// Document numbers of the watch list that the API did not know in this run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_documents: Vec<String>,
    /// Of the chosen, those whose last answer went to quarantine. Later runs look them up again.
    pub quarantined: u64,
    /// Of the chosen, those not looked up yet, and those in quarantine.
    pub left: u64,
}

/// What an import of the state's files read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportSummary {
    /// Files read.
    pub files: u64,
    /// Their records, those in quarantine included.
    pub records: u64,
    /// Date of the lake's newest file.
    pub newest: Option<Date>,
    /// Days since the newest quarterly set without a daily file of corporations that counts, weekends left out if there is no file: their filings are unknown until the next set.
    pub missing_days: Vec<Date>,
    /// The same for fictitious names, in a lake that has a file of them.
    pub missing_days_of_names: Vec<Date>,
    /// Quarterly files that wait for the corporations of their set.
    pub waiting: Vec<String>,
    /// Files that the newest quarterly set lacks.
    pub missing_files: Vec<String>,
    /// Files that resemble those of the state and do not count, and why.
    pub unread: Vec<Unread>,
}

impl ImportSummary {
    /// Whether a file that comes later can complete what was read.
    pub(crate) fn is_partial(&self) -> bool {
        !(self.waiting.is_empty() && self.missing_files.is_empty() && self.unread.is_empty())
    }
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Summary of a run of sunlake")]
pub struct RunSummary {
    /// The run.
    pub run_id: String,
    /// Its pipeline.
    pub pipeline: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Exit code of the process.
    pub exit_code: u8,
    /// Eastern day of the run.
    pub today: Date,
    /// Newest snapshot now; none in a lake without one.
    pub snapshot: Option<u64>,
    /// Requests.
    pub requests: Requests,
    /// Tables, by name.
    pub rows: BTreeMap<String, TableRows>,
    /// Days.
    pub coverage: CoverageSummary,
    /// How far the register has been read; none where the pipeline does not read it.
    pub register: Option<RegisterSummary>,
    /// Progress of look-ups; none where the pipeline makes none.
    pub enrich: Option<EnrichSummary>,
    /// What was read of the state's files; none where the pipeline imports none.
    pub import: Option<ImportSummary>,
    /// Records in quarantine.
    pub quarantined: u64,
    /// Fields the schema does not know, with their number of values.
    pub unknown_fields: BTreeMap<String, u64>,
    /// New values in columns without a fixed set of values; none before a run has read all that it wants.
    pub new_values: OpenValues,
    /// What failed checks found.
    pub checks: Vec<String>,
    /// The snapshot that is pending review instead of published, if any.
    pub held: Option<u64>,
    /// Old snapshots that the pipeline's `[retention]` pruned.
    pub pruned: Vec<u64>,
    /// Why the run stopped early, if it did.
    pub stopped: Option<String>,
    /// Earliest time to retry: a window of the account opens again, or a pause that the API asked for ends.
    pub go_on_after: Option<Timestamp>,
    /// Eastern day on which a run that stopped early will be complete, if it resumes every day.
    pub complete_on: Option<Date>,
    /// The run of an earlier day that the same command finished first, if any.
    pub finished_first: Option<Box<RunSummary>>,
    /// Wall-clock seconds.
    pub elapsed_secs: f64,
    /// Peak memory of the process in bytes; 0 where the system does not report it.
    pub peak_rss_bytes: u64,
}

impl RunSummary {
    /// The summary of a run that has done nothing yet.
    pub(crate) fn of(record: &RunRecord) -> Self {
        let (run_id, pipeline) = (record.run_id.clone(), record.pipeline.clone());
        Self { run_id, pipeline, today: record.today, ..Self::default() }
    }

    /// Whether there is more to read than the run has read.
    pub(crate) fn is_behind(&self) -> bool {
        let is_register_behind =
            |register: &RegisterSummary| register.left > 0 || !register.unproven.is_empty();
        self.coverage.complete < self.coverage.days
            || self.register.as_ref().is_some_and(is_register_behind)
            || self.enrich.as_ref().is_some_and(|enrich| enrich.left > 0)
            || self.import.as_ref().is_some_and(ImportSummary::is_partial)
    }

    /// Makes the outcome partial where more is to be read, and sets the exit code that follows from it: the only place that decides the exit
    /// code of a run without an error.
    pub(crate) fn end(&mut self) {
        if self.held.is_none() && (self.stopped.is_some() || self.is_behind()) {
            self.outcome = Outcome::Partial;
        }
        self.exit_code = match self.outcome {
            _ if self.held.is_some() => EXIT_CHECK_FAILED,
            Outcome::Partial => EXIT_RUN_AGAIN,
            Outcome::Complete | Outcome::Unchanged | Outcome::Failed => 0,
        };
    }
}

impl RegisterSummary {
    /// Number and description of the businesses that are missing or too many, where there are any.
    pub(crate) fn missing_businesses(&self) -> Option<(u64, String)> {
        let missing = self.missing.filter(|missing| *missing != 0)?;
        let (total, found) = (self.businesses_total, self.businesses_total as i64 - missing);
        let what =
            format!("the API counts {total} businesses, the lake holds {found} of those that this counts");
        Some((missing.unsigned_abs(), what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn the_exit_code_follows_from_the_outcome_and_a_snapshot_pending_review() {
        let mut summary = RunSummary { today: date(2026, 11, 20), ..RunSummary::default() };
        let mut code = |outcome, held| {
            (summary.held, summary.outcome) = (held, outcome);
            summary.end();
            summary.exit_code
        };
        assert_eq!([Outcome::Complete, Outcome::Unchanged].map(|outcome| code(outcome, None)), [0, 0]);
        assert_eq!(code(Outcome::Partial, None), EXIT_RUN_AGAIN);
        assert_eq!(code(Outcome::Failed, Some(3)), EXIT_CHECK_FAILED);
    }
}
