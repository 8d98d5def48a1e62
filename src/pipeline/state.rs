//! What a run learns and the next one uses: kept in the commit, so that data and state move together.

use super::enrich_state::EnrichState;
use super::register_state::RegisterState;
use crate::contract::plan::PlanLimits;
use crate::extract::pace::Pace;
use crate::extract::shares::Shares;
use crate::normalize::OpenValues;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What kind of API filled a lake; a lake never holds both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// The sample that the program serves itself.
    Embedded,
    /// An account's API.
    Account,
}

impl std::fmt::Display for SourceKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Embedded => "the embedded sample",
            Self::Account => "an account's API",
        })
    }
}

/// State of a lake after a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunState {
    /// What filled the lake.
    #[serde(default)]
    pub source: Option<SourceKind>,
    /// The plan's numbers as found.
    #[serde(default)]
    pub plan: Option<PlanLimits>,
    /// Values seen so far in the columns whose sets are open.
    #[serde(default)]
    pub open_values: OpenValues,
    /// How often each value occurs, by listing.
    #[serde(default)]
    pub shares: BTreeMap<String, Shares>,
    /// How days known whole go on to change, by listing.
    #[serde(default)]
    pub pace: BTreeMap<String, Pace>,
    /// The API's own count of each day when the day was last proven. A day whose count is another now has moved, whatever
    /// exactly the API counts.
    #[serde(default)]
    pub counts: BTreeMap<Date, i64>,
    /// By listing, days that were read while rows moved: what came to them and went meanwhile, no count tells.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stirred: BTreeMap<String, BTreeSet<Date>>,
    /// The run that ended with this commit; none where it stopped early and goes on.
    #[serde(default)]
    pub ended: Option<String>,
    /// How far the register has been read.
    #[serde(default, skip_serializing_if = "RegisterState::is_empty")]
    pub register: RegisterState,
    /// What look-ups have found out beside rows.
    #[serde(default, skip_serializing_if = "EnrichState::is_empty")]
    pub enrich: EnrichState,
    /// By listing, the day on which each day was last read whole.
    #[serde(default)]
    pub read_whole: BTreeMap<String, BTreeMap<Date, Date>>,
}

impl RunState {
    /// The state in a commit; what does not read as one is as good as none, for it only saves requests.
    pub fn from_commit(state: &serde_json::Value) -> Self {
        serde_json::from_value(state.clone()).unwrap_or_default()
    }
}
