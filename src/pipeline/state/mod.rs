//! What a run learns and the next one uses: kept in the commit, so that data and state move together.

pub mod enrich;
pub(super) mod learn;
pub(super) mod provenance;
pub mod registry;

use super::plan::stale_days::Vain;
use crate::contract::plan::PlanLimits;
use crate::extract::plan::change_rate::Pace;
use crate::extract::query::histogram::Shares;
use crate::normalize::OpenValues;
use crate::table::Table;
use enrich::EnrichState;
use jiff::Timestamp;
use jiff::civil::Date;
use registry::RegisterState;
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
    /// Newest day that a run was as of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<Date>,
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
    /// By listing, days that were read and not proven.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vain: BTreeMap<String, BTreeMap<Date, Vain>>,
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
    /// When the lists and counts came that the tables hold.
    #[serde(default, skip_serializing_if = "NewestLists::is_empty")]
    pub lists: NewestLists,
}

impl RunState {
    /// The state in a commit; what does not read as one is as good as none, for it only saves requests.
    pub fn from_commit(state: &serde_json::Value) -> Self {
        serde_json::from_value(state.clone()).unwrap_or_default()
    }
}

/// Days whose lists and counts are remembered.
const REMEMBERED_DAYS: usize = 7;

/// When the newest answers came that tables of lists and counts hold, by the day they are of and the table. Of the newest days alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NewestLists(BTreeMap<Date, BTreeMap<String, Timestamp>>);

impl NewestLists {
    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a table may hold a newer answer of a day than one that came at this instant. Of a day before those that are
    /// remembered it may.
    pub(super) fn may_outdo(&self, day: Date, table: Table, came: Option<Timestamp>) -> bool {
        match self.0.get(&day) {
            Some(of_day) => {
                of_day.get(table.name()).is_some_and(|newest| came.is_none_or(|came| came < *newest))
            }
            None => self.0.len() >= REMEMBERED_DAYS && self.0.keys().next().is_some_and(|first| day < *first),
        }
    }

    /// Remembers when answers came that were merged as those of a day.
    pub(super) fn note(&mut self, day: Date, came: &BTreeMap<Table, Timestamp>) {
        let of_day = self.0.entry(day).or_default();
        for (table, came) in came {
            let newest = of_day.entry(table.name().to_owned()).or_insert(*came);
            *newest = (*came).max(*newest);
        }
        while self.0.len() > REMEMBERED_DAYS {
            self.0.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("an instant")
    }

    #[test]
    fn an_answer_is_outdone_by_a_newer_one_of_its_day_and_table_alone() {
        let (day, other) = (date(2026, 11, 20), date(2026, 11, 19));
        let mut newest = NewestLists::default();
        assert!(!newest.may_outdo(day, Table::Statewide, None), "nothing is held yet");
        newest.note(day, &BTreeMap::from([(Table::Statewide, at(9))]));
        newest.note(day, &BTreeMap::from([(Table::Statewide, at(5))]));
        assert!(newest.may_outdo(day, Table::Statewide, Some(at(8))));
        assert!(newest.may_outdo(day, Table::Statewide, None));
        assert!(!newest.may_outdo(day, Table::Statewide, Some(at(9))), "an answer does not outdo itself");
        assert!(!newest.may_outdo(day, Table::Counties, Some(at(8))));
        assert!(!newest.may_outdo(other, Table::Statewide, Some(at(8))));
    }

    #[test]
    fn days_further_back_than_is_remembered_are_left_as_they_are() {
        let mut newest = NewestLists::default();
        for day in 10..20 {
            newest.note(date(2026, 11, day), &BTreeMap::from([(Table::Statewide, at(i64::from(day)))]));
        }
        assert!(newest.may_outdo(date(2026, 11, 12), Table::Statewide, Some(at(99))));
        assert!(!newest.may_outdo(date(2026, 11, 13), Table::Statewide, Some(at(99))));
        assert!(!newest.may_outdo(date(2026, 11, 20), Table::Statewide, Some(at(99))));
        let state = RunState { lists: newest, ..RunState::default() };
        let written = serde_json::to_value(&state).expect("a state");
        assert_eq!(RunState::from_commit(&written), state);
    }
}
