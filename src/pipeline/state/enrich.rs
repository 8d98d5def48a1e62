//! Results of look-ups that are not rows.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EnrichState {
    /// Businesses without a detail record, and when they were looked up.
    #[serde(default)]
    pub(crate) without: BTreeMap<i64, Timestamp>,
    /// Businesses whose detail record counts officers, but whose list of officers is empty.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) without_officers: BTreeSet<i64>,
    /// Runs that looked businesses up. Their changes do not make a look-up due.
    #[serde(default)]
    pub(crate) runs: BTreeSet<String>,
}

impl EnrichState {
    pub(crate) fn is_empty(&self) -> bool {
        self.without.is_empty() && self.without_officers.is_empty() && self.runs.is_empty()
    }
}
