//! Which answers of lists and counts are newer than others of the same day.

use crate::table::Table;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of days that are remembered.
const REMEMBERED_DAYS: usize = 7;

/// When the newest merged answers arrived, by day and table. Only the newest days are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct NewestLists(BTreeMap<Date, BTreeMap<String, Timestamp>>);

impl NewestLists {
    /// Whether a table may hold a newer answer of `day` than one that arrived at `came`. Days older than those remembered may.
    pub(crate) fn may_be_newer(&self, day: Date, table: Table, came: Option<Timestamp>) -> bool {
        match self.0.get(&day) {
            Some(of_day) => {
                of_day.get(table.name()).is_some_and(|newest| came.is_none_or(|came| came < *newest))
            }
            None => self.0.len() >= REMEMBERED_DAYS && self.0.keys().next().is_some_and(|first| day < *first),
        }
    }

    /// Remembers when the merged answers of a day arrived.
    pub(crate) fn note(&mut self, day: Date, came: &BTreeMap<Table, Timestamp>) {
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
    use crate::pipeline::load::recount::tests::at;
    use jiff::civil::date;

    #[test]
    fn only_a_newer_answer_of_the_same_day_and_table_is_newer() {
        let (day, other) = (date(2026, 11, 20), date(2026, 11, 19));
        let mut newest = NewestLists::default();
        assert!(!newest.may_be_newer(day, Table::Statewide, None), "no answer is remembered yet");
        newest.note(day, &BTreeMap::from([(Table::Statewide, at(9))]));
        newest.note(day, &BTreeMap::from([(Table::Statewide, at(5))]));
        assert!(newest.may_be_newer(day, Table::Statewide, Some(at(8))));
        assert!(newest.may_be_newer(day, Table::Statewide, None));
        assert!(
            !newest.may_be_newer(day, Table::Statewide, Some(at(9))),
            "an answer is not newer than itself"
        );
        assert!(!newest.may_be_newer(day, Table::Counties, Some(at(8))));
        assert!(!newest.may_be_newer(other, Table::Statewide, Some(at(8))));
    }

    #[test]
    fn days_older_than_those_remembered_may_have_newer_answers() {
        let mut newest = NewestLists::default();
        for day in 10..20 {
            newest.note(date(2026, 11, day), &BTreeMap::from([(Table::Statewide, at(i64::from(day)))]));
        }
        assert!(newest.may_be_newer(date(2026, 11, 12), Table::Statewide, Some(at(99))));
        assert!(!newest.may_be_newer(date(2026, 11, 13), Table::Statewide, Some(at(99))));
        assert!(!newest.may_be_newer(date(2026, 11, 20), Table::Statewide, Some(at(99))));
        let written = serde_json::to_value(&newest).expect("JSON");
        assert_eq!(serde_json::from_value::<NewestLists>(written).expect("answers"), newest);
    }
}
