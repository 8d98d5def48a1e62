//! The state of a lake after a run, stored in its commit: data and state change together.

use super::enrich::EnrichState;
use super::newest_lists::NewestLists;
use super::read_backoff::ReadBackoff;
use super::registry::RegisterState;
use super::source_kind::SourceKind;
use crate::contract::plan::PlanLimits;
use crate::extract::plan::change_rate::Pace;
use crate::extract::query::histogram::Shares;
use crate::lake::Commit;
use crate::normalize::OpenValues;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunState {
    /// What filled the lake.
    #[serde(default)]
    pub(crate) source: Option<SourceKind>,
    /// Newest day of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) as_of: Option<Date>,
    /// The plan's numbers as measured.
    #[serde(default)]
    pub(crate) plan: Option<PlanLimits>,
    /// Values seen so far in columns without a fixed set of values.
    #[serde(default)]
    pub(crate) open_values: OpenValues,
    /// Number of rows with each value, by listing.
    #[serde(default)]
    pub(crate) shares: BTreeMap<String, Shares>,
    /// How often complete days change, by listing.
    #[serde(default)]
    pub(crate) pace: BTreeMap<String, Pace>,
    /// The API's count of each day when it was last read completely. A different count means that the day has changed, whatever
    /// the API counts.
    #[serde(default)]
    pub(crate) counts: BTreeMap<Date, i64>,
    /// By listing, days that drifted while they were read. No count shows rows that came and went during the reading.
    #[serde(default, rename = "stirred", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) drifted: BTreeMap<String, BTreeSet<Date>>,
    /// By listing, days whose last reading was incomplete.
    #[serde(default, rename = "vain", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) backoffs: BTreeMap<String, BTreeMap<Date, ReadBackoff>>,
    /// The run that ended with this commit; none where it stopped early and can resume.
    #[serde(default)]
    pub(crate) ended: Option<String>,
    #[serde(default, skip_serializing_if = "RegisterState::is_empty")]
    pub(crate) register: RegisterState,
    #[serde(default, skip_serializing_if = "EnrichState::is_empty")]
    pub(crate) enrich: EnrichState,
    /// By listing, the day on which each day was last read from its first row to its last.
    #[serde(default)]
    pub(crate) read_whole: BTreeMap<String, BTreeMap<Date, Date>>,
    /// When the merged lists and counts arrived.
    #[serde(default, skip_serializing_if = "NewestLists::is_empty")]
    pub(crate) lists: NewestLists,
}

impl RunState {
    /// The state in a commit. An unreadable one counts as empty, for it only saves requests.
    pub(crate) fn from_commit(state: &serde_json::Value) -> Self {
        serde_json::from_value(state.clone()).unwrap_or_default()
    }

    /// The state of a commit, or of an empty lake.
    pub(crate) fn of(commit: Option<&Commit>) -> Self {
        commit.map(|commit| Self::from_commit(&commit.state)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(RunState::from_commit(&written), state);
    }
}
