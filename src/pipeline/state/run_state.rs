//! The state of a lake after a run, stored in its commit: data and state change together.

use super::newest_lists::NewestLists;
use super::registry::RegisterState;
use crate::contract::eastern::span_days;
use crate::contract::plan::PlanLimits;
use crate::extract::detail::LookUp;
use crate::extract::listing::DailyListing;
use crate::extract::plan::change_rate::Pace;
use crate::extract::query::histogram::Shares;
use crate::lake::{Commit, Losses};
use crate::normalize::OpenValues;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunState {
    /// What filled the lake.
    pub(crate) source: Option<SourceKind>,
    /// Newest day of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) as_of: Option<Date>,
    /// The days that the newest run of days wanted; none before one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wanted: Option<WantedDays>,
    /// Whether a repair left rows of the state's files out, and not all of these files were read again.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) has_losses: bool,
    /// Digests of the files that the lake had read then, and not yet again.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) lost_files: BTreeSet<String>,
    /// Whether a run has read all that it wanted. Before that, most values are new.
    pub(crate) read_once: bool,
    /// The plan's numbers as measured.
    pub(crate) plan: Option<PlanLimits>,
    /// Values seen so far in columns without a fixed set of values.
    pub(crate) open_values: OpenValues,
    /// Number of rows with each value, by listing.
    pub(crate) shares: BTreeMap<String, Shares>,
    /// How often complete days change, by listing.
    pub(crate) pace: BTreeMap<String, Pace>,
    /// Whether a check found most of the API's counts equal to the totals of their listings.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) counts_are_totals: bool,
    /// Whether the daily endpoint lists the rows of a search.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) daily_listing: DailyListing,
    /// Days whose count by the API is not the total of their listing, although nothing changed between the two.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) miscounted: BTreeSet<Date>,
    /// By listing, days that drifted while they were read. No count shows rows that came and went during the reading.
    #[serde(rename = "stirred", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) drifted: BTreeMap<String, BTreeSet<Date>>,
    /// By listing, days whose last reading was incomplete.
    #[serde(rename = "vain", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) backoffs: BTreeMap<String, BTreeMap<Date, ReadBackoff>>,
    /// The run that ended with this commit; none where it stopped early and can resume.
    pub(crate) ended: Option<String>,
    #[serde(skip_serializing_if = "RegisterState::is_empty")]
    pub(crate) register: RegisterState,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) enrich: EnrichState,
    /// By listing, the day on which each day was last read from its first row to its last.
    pub(crate) read_whole: BTreeMap<String, BTreeMap<Date, Date>>,
    /// By aggregate of the snapshot, the digest of what computed it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) aggregates: BTreeMap<String, String>,
    /// Months that a repair left out and that were not read again.
    #[serde(skip_serializing_if = "Losses::is_empty")]
    pub(crate) losses: Losses,
    /// What checks found in this snapshot. It is no reason to stop a later run: the snapshot is published, perhaps by a person.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) accepted: Accepted,
    /// Whether a repair left rows out, and no run has added up since: then changes may be of businesses that are gone.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) sums_may_differ: bool,
    /// When the merged lists and counts arrived.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) lists: NewestLists,
}

/// By check, the size of each part of what it found.
pub(crate) type Accepted = BTreeMap<String, BTreeMap<String, u64>>;

/// Days that a run wants complete: those of its window, in each listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WantedDays {
    pub(crate) from: Date,
    pub(crate) to: Date,
    /// Labels of the listings.
    pub(crate) listings: BTreeSet<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl RunState {
    /// The state of a commit, or of an empty lake. An unreadable one counts as empty, for it only saves requests.
    pub(crate) fn of(commit: Option<&Commit>) -> Self {
        let state = commit.map(|commit| commit.state.clone()).unwrap_or_default();
        serde_json::from_value(state).unwrap_or_default()
    }
}

/// What kind of API filled a lake; a lake never holds rows of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// The sample that the program serves itself.
    Embedded,
    /// An account's API.
    Account,
    /// The state's bulk files.
    State,
}

impl std::fmt::Display for SourceKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Embedded => "the embedded sample",
            Self::Account => "an account's API",
            Self::State => "the state's files",
        })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct EnrichState {
    /// Businesses without a detail record, and when they were looked up.
    pub(crate) without: BTreeMap<i64, Timestamp>,
    /// Businesses whose detail record counts officers, but whose list of officers is empty, and when it was looked up.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) without_officers: BTreeMap<i64, Timestamp>,
    /// Businesses whose last detail record went to quarantine.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) quarantined_details: BTreeMap<i64, QuarantinedLookUp>,
    /// Businesses of whose last list of officers a record went to quarantine.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) quarantined_officers: BTreeMap<i64, QuarantinedLookUp>,
    /// Document numbers of watch lists, and when each was last looked up.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) watched: BTreeMap<String, Timestamp>,
    /// Runs that looked businesses up. Their changes do not make a look-up due.
    pub(crate) runs: BTreeSet<String>,
}

impl EnrichState {
    pub(crate) fn quarantined(&self, look_up: LookUp) -> &BTreeMap<i64, QuarantinedLookUp> {
        match look_up {
            LookUp::Details => &self.quarantined_details,
            LookUp::Officers => &self.quarantined_officers,
        }
    }
}

/// Look-ups of a business, one after another, with answers that went to quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QuarantinedLookUp {
    #[serde(flatten)]
    pub(crate) backoff: ReadBackoff,
    /// When the last one was looked up.
    pub(crate) at: Timestamp,
}

/// Most days between two attempts.
const LONGEST_PAUSE: u32 = 14;

/// Unsuccessful attempts, one after another: incomplete readings of a day, or look-ups of a business whose answers went to
/// quarantine. A row that nothing finds is likely to stay out of reach, and a bad record to stay bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadBackoff {
    pub(crate) times: u32,
    pub(crate) on: Date,
}

impl ReadBackoff {
    /// The backoff after one more unsuccessful attempt.
    pub(crate) fn after(before: Option<Self>, on: Date) -> Self {
        Self { times: before.map_or(0, |backoff| backoff.times) + 1, on }
    }

    /// The backoff of a day after a run. None if the day is complete. A day that was not read, but only found to differ, keeps the one
    /// that it had.
    pub(crate) fn of_day(before: Option<Self>, was_read: bool, complete: bool, on: Date) -> Option<Self> {
        match (complete, was_read) {
            (true, _) => None,
            (false, true) => Some(Self::after(before, on)),
            (false, false) => before,
        }
    }

    /// Whether today is skipped. After the first attempt the next one is made at once, for rows may only have changed during a
    /// reading; then after 2, 4, 8 and 14 days.
    pub(crate) fn is_backing_off(self, today: Date) -> bool {
        let pause = 1 << self.times.saturating_sub(1).min(4);
        self.times > 1 && span_days(self.on, today) <= LONGEST_PAUSE.min(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::eastern::plus_days;
    use jiff::civil::date;

    #[test]
    fn keys_on_disk_are_those_of_earlier_versions() {
        let day = date(2026, 11, 20);
        let mut state = RunState::default();
        state.drifted.entry("*".to_owned()).or_default().insert(day);
        state.backoffs.entry("*".to_owned()).or_default().insert(day, ReadBackoff::after(None, day));
        let written = serde_json::to_value(&state).expect("JSON");
        assert_eq!(written["stirred"], serde_json::json!({ "*": ["2026-11-20"] }));
        assert_eq!(
            written["vain"],
            serde_json::json!({ "*": { "2026-11-20": { "times": 1, "on": "2026-11-20" } } })
        );
        assert_eq!(serde_json::from_value::<RunState>(written).expect("a state"), state);
    }

    #[test]
    fn pauses_grow_with_each_unsuccessful_attempt() {
        let on = date(2026, 7, 1);
        let mut backoff = ReadBackoff::after(None, on);
        let mut pauses = Vec::new();
        for _ in 0..6 {
            pauses.push((0..40).find(|nights| !backoff.is_backing_off(plus_days(on, *nights))));
            backoff = ReadBackoff::after(Some(backoff), on);
        }
        assert_eq!(pauses, [Some(0), Some(2), Some(4), Some(8), Some(14), Some(14)]);
    }

    #[test]
    fn only_an_unsuccessful_reading_makes_a_day_wait() {
        let (on, before) = (date(2026, 7, 9), ReadBackoff { times: 2, on: date(2026, 7, 1) });
        let of_day = |before, was_read, complete| ReadBackoff::of_day(before, was_read, complete, on);
        assert_eq!(of_day(Some(before), true, false), Some(ReadBackoff { times: 3, on }));
        assert_eq!(of_day(None, true, false), Some(ReadBackoff { times: 1, on }));
        assert_eq!(of_day(Some(before), false, false), Some(before), "it was only found to differ");
        assert_eq!(of_day(None, false, false), None);
        assert_eq!(of_day(Some(before), true, true), None);
    }
}
