//! Which businesses must be looked up.
//!
//! A business is due when the pipeline's condition selects it and its details are missing, older than a change of its filing, or older
//! than the pipeline allows.

use crate::aggregate::choose_businesses;
use crate::lake::{Commit, Lake};
use crate::pipeline::config::spec::EnrichSpec;
use crate::pipeline::error::Result;
use crate::pipeline::state::run_state::EnrichState;
use crate::table::{Table, TableError, read_table, typed_column};
use arrow::array::{Array, Int32Array, Int64Array, StringArray, TimestampMicrosecondArray};
use arrow::record_batch::RecordBatch;
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Most businesses of one run; the rest waits for the next.
const MOST_AT_ONCE: usize = 100_000;

/// What a run looks up, stored in its record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LookUps {
    /// Businesses, newest filing first.
    pub(crate) ids: Vec<i64>,
    /// Number of businesses that are due, but more than one run looks up.
    pub(crate) beyond: u64,
}

impl LookUps {
    /// The look-ups of a run, of all businesses that are due.
    pub(crate) fn of(due: Vec<i64>, limit: Option<u64>) -> Self {
        let most = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let wanted = due.len().min(most);
        let ids: Vec<i64> = due.into_iter().take(wanted.min(MOST_AT_ONCE)).collect();
        Self { beyond: (wanted - ids.len()) as u64, ids }
    }
}

/// Selected businesses whose look-up is due, newest first.
pub(crate) fn due(
    lake: &Lake,
    commit: Option<&Commit>,
    spec: &EnrichSpec,
    state: &EnrichState,
    now: Timestamp,
) -> Result<Vec<i64>> {
    let Some(commit) = commit else { return Ok(Vec::new()) };
    let chosen = choose_businesses(&spec.condition, &lake.open_snapshot(commit).tables()?)?;
    let known = Known::of(lake, Some(commit), &chosen, state)?;
    let oldest = spec
        .max_age_days
        .and_then(|days| now.checked_sub(Span::new().try_hours(i64::from(days) * 24).ok()?).ok());
    Ok(chosen.into_iter().filter(|id| known.is_due(*id, oldest, spec.officers)).collect())
}

/// What the lake knows about the look-ups of some businesses.
#[derive(Default)]
pub(crate) struct Known {
    fetched: HashMap<i64, Timestamp>,
    without: HashMap<i64, Timestamp>,
    /// When its filing last changed, other than by a look-up.
    changed: HashMap<i64, Timestamp>,
    counts_officers: HashSet<i64>,
    /// Businesses whose officers were requested, with or without a result.
    has_officers: HashSet<i64>,
    /// Fields of the listing that the schema does not know.
    pub(crate) extra: HashMap<i64, String>,
}

impl Known {
    pub(crate) fn of(lake: &Lake, commit: Option<&Commit>, ids: &[i64], state: &EnrichState) -> Result<Self> {
        let mut known = Self::default();
        let Some(commit) = commit else { return Ok(known) };
        let wanted: HashSet<i64> = ids.iter().copied().collect();
        let without = state.without.iter().filter(|(id, _)| wanted.contains(id));
        known.without = without.map(|(id, asked_at)| (*id, *asked_at)).collect();
        known.has_officers =
            state.without_officers.iter().copied().filter(|id| wanted.contains(id)).collect();
        let tables: [(Table, &[&str]); 4] = [
            (Table::Details, &["business_id", "fetched_at", "officer_count"]),
            (Table::Officers, &["business_id"]),
            (Table::Changes, &["business_id", "observed_at", "run_id"]),
            (Table::Filings, &["business_id", "extra"]),
        ];
        for (table, columns) in tables {
            for file in lake.open_snapshot(commit).files(table.name())? {
                for batch in read_table(table, &file, Some(columns))? {
                    known.add(table, &batch?, &wanted, state)?;
                }
            }
        }
        Ok(known)
    }

    /// Adds the rows of wanted businesses in a batch of a table.
    fn add(
        &mut self,
        table: Table,
        batch: &RecordBatch,
        wanted: &HashSet<i64>,
        state: &EnrichState,
    ) -> Result<(), TableError> {
        let ids: &Int64Array = typed_column(batch, table, "business_id")?;
        let rows = ids.values().iter().copied().enumerate().filter(|(_, id)| wanted.contains(id));
        match table {
            Table::Details => {
                let fetched: &TimestampMicrosecondArray = typed_column(batch, table, "fetched_at")?;
                let counts: &Int32Array = typed_column(batch, table, "officer_count")?;
                for (row, id) in rows {
                    self.fetched.extend(instant(fetched, row).map(|at| (id, at)));
                    if counts.value(row) != 0 {
                        self.counts_officers.insert(id);
                    }
                }
            }
            Table::Officers => self.has_officers.extend(rows.map(|(_, id)| id)),
            Table::Changes => {
                let observed: &TimestampMicrosecondArray = typed_column(batch, table, "observed_at")?;
                let runs: &StringArray = typed_column(batch, table, "run_id")?;
                for (row, id) in rows.filter(|(row, _)| !state.runs.contains(runs.value(*row))) {
                    if let Some(at) = instant(observed, row) {
                        let last = self.changed.entry(id).or_insert(at);
                        *last = at.max(*last);
                    }
                }
            }
            _ => {
                let extras: &StringArray = typed_column(batch, table, "extra")?;
                let rows = rows.filter(|(row, _)| extras.is_valid(*row));
                self.extra.extend(rows.map(|(row, id)| (id, extras.value(row).to_owned())));
            }
        }
        Ok(())
    }

    /// When a business was last looked up, with or without a result.
    pub(crate) fn asked_at(&self, id: i64) -> Option<Timestamp> {
        self.fetched.get(&id).max(self.without.get(&id)).copied()
    }

    pub(crate) fn is_without(&self, id: i64) -> bool {
        self.without.contains_key(&id)
    }

    fn is_due(&self, id: i64, oldest: Option<Timestamp>, with_officers: bool) -> bool {
        let Some(asked_at) = self.asked_at(id) else { return true };
        let lacks_officers =
            with_officers && self.counts_officers.contains(&id) && !self.has_officers.contains(&id);
        let has_changed = self.changed.get(&id).is_some_and(|changed| *changed > asked_at);
        has_changed || lacks_officers || oldest.is_some_and(|oldest| asked_at < oldest)
    }
}

fn instant(column: &TimestampMicrosecondArray, row: usize) -> Option<Timestamp> {
    Timestamp::from_microsecond(column.value(row)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::load::recount::tests::at;

    #[test]
    fn a_look_up_is_due_once_and_again_only_for_a_reason() {
        let mut known = Known::default();
        assert!(known.is_due(1, None, true), "never looked up");
        known.fetched.insert(1, at(100));
        assert!(!known.is_due(1, None, true));
        assert!(known.is_due(1, Some(at(101)), true) && !known.is_due(1, Some(at(100)), true), "too old");
        known.changed.insert(1, at(100));
        assert!(!known.is_due(1, None, true), "changed before it was looked up");
        known.changed.insert(1, at(101));
        assert!(known.is_due(1, None, true), "changed since");
        known.without.insert(1, at(102));
        assert!(!known.is_due(1, None, true), "looked up without success since");
        known.fetched.insert(2, at(100));
        known.counts_officers.insert(2);
        assert!(
            known.is_due(2, None, true) && !known.is_due(2, None, false),
            "officers were never requested"
        );
        known.has_officers.insert(2);
        assert!(!known.is_due(2, None, true));
    }
}
