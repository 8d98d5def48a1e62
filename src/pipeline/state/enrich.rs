//! What look-ups have found out that is no row: businesses and officers the API does not know, and runs whose changes they made.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What look-ups have found out beside rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrichState {
    /// Businesses of which no detail came, and when they were asked for.
    #[serde(default)]
    pub without: BTreeMap<i64, Timestamp>,
    /// Businesses that have officers by their details, and none by the list of them that was asked for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without_officers: BTreeSet<i64>,
    /// Runs that looked businesses up: what they changed is no news to a look-up.
    #[serde(default)]
    pub runs: BTreeSet<String>,
}

impl EnrichState {
    /// Whether nothing was ever looked up.
    pub fn is_empty(&self) -> bool {
        self.without.is_empty() && self.without_officers.is_empty() && self.runs.is_empty()
    }
}
