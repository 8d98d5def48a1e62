//! Which businesses must be looked up, and what is requested of them.
//!
//! A business is due when the pipeline's condition selects it and its details are missing, older than a change of its filing, or older
//! than the pipeline allows. If only its officers are, they are requested without the details. After an answer that went to
//! quarantine, a business is due again in the next run, and then in longer and longer intervals.

use crate::aggregate::choose_businesses;
use crate::contract::eastern::{day_start, eastern_day, minus_days, plus_days};
use crate::extract::detail::LookUp;
use crate::lake::{Commit, Lake};
use crate::pipeline::config::spec::{EnrichSpec, PipelineSpec};
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::state::run_state::EnrichState;
use crate::table::{Table, TableError, read_table, typed_column};
use arrow_array::{Int32Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use jiff::Timestamp;
use jiff::civil::Date;
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
    /// Number of businesses with an answer in quarantine that are not due yet.
    #[serde(default)]
    pub(crate) waiting: u64,
}

impl LookUps {
    /// The look-ups of a run, of all businesses that are due.
    pub(crate) fn of(due: Due, limit: Option<u64>) -> Self {
        let most = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let wanted = due.look_ups.len().min(most);
        let ids = due.look_ups.into_iter().map(|(id, _)| id);
        let ids: Vec<i64> = ids.take(wanted.min(MOST_AT_ONCE)).collect();
        Self { beyond: (wanted - ids.len()) as u64, ids, waiting: due.waiting }
    }
}

/// When a look-up is due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DueTerms {
    /// Older look-ups are repeated.
    oldest: Option<Timestamp>,
    /// Whether officers are wanted.
    officers: bool,
    today: Date,
}

impl DueTerms {
    pub(crate) fn of(spec: &EnrichSpec, now: Timestamp, today: Date) -> Self {
        let oldest = spec.max_age_days.map(|days| repeated_before(now, days));
        Self { oldest, officers: spec.officers, today }
    }
}

/// Look-ups before this are repeated after some days by a run that began at a time: those of the Eastern day that is so long ago, at any
/// hour, and of earlier ones. Those of the run are not.
pub(super) fn repeated_before(began: Timestamp, days: u32) -> Timestamp {
    let last = minus_days(eastern_day(began), days);
    day_start(plus_days(last, 1)).min(began)
}

/// The selected businesses that are not up to date.
#[derive(Debug, Default)]
pub(crate) struct Due {
    /// Businesses whose look-up is due, newest filing first, with the first request of each.
    pub(crate) look_ups: Vec<(i64, LookUp)>,
    /// Number of businesses with an answer in quarantine that are not due yet.
    pub(crate) waiting: u64,
}

/// Fails if a pipeline selects businesses in a lake without filings.
pub(crate) fn check_has_filings(spec: &PipelineSpec, lake: &Lake) -> Result<()> {
    if spec.enrich.as_ref().is_none_or(|enrich| enrich.documents.is_some()) {
        return Ok(());
    }
    let commit = lake.current()?;
    let filings = commit.as_ref().and_then(|commit| commit.tables.get(Table::Filings.name()));
    if filings.is_some_and(|filings| filings.rows > 0) {
        Ok(())
    } else {
        let first = if spec.source.embedded { "sample" } else { "backfill" };
        Err(PipelineError::NoFilings { lake: lake.to_string(), first })
    }
}

/// The selected businesses that are not up to date in the lake.
pub(crate) fn due(
    lake: &Lake,
    commit: Option<&Commit>,
    condition: &str,
    terms: DueTerms,
    state: &EnrichState,
) -> Result<Due> {
    let mut due = Due::default();
    let Some(commit) = commit else { return Ok(due) };
    let chosen = choose_businesses(condition, &lake.open_snapshot(commit).tables()?)?;
    let known = Known::of(lake, Some(commit), &chosen, state)?;
    for id in chosen {
        match known.standing(id, terms, state) {
            Standing::UpToDate => {}
            Standing::Due(look_up) => due.look_ups.push((id, look_up)),
            Standing::Waiting => due.waiting += 1,
        }
    }
    Ok(due)
}

/// Whether a business must be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    UpToDate,
    /// With this request first.
    Due(LookUp),
    /// Its last answer went to quarantine; it is due on a later day.
    Waiting,
}

/// What the lake knows about the look-ups of some businesses.
#[derive(Default)]
pub(crate) struct Known {
    fetched: HashMap<i64, Timestamp>,
    /// When its filing last changed, other than by a look-up.
    changed: HashMap<i64, Timestamp>,
    counts_officers: HashSet<i64>,
    /// When officers were found.
    officers: HashMap<i64, Timestamp>,
}

impl Known {
    pub(crate) fn of(lake: &Lake, commit: Option<&Commit>, ids: &[i64], state: &EnrichState) -> Result<Self> {
        let mut known = Self::default();
        let Some(commit) = commit else { return Ok(known) };
        let wanted: HashSet<i64> = ids.iter().copied().collect();
        let tables: [(Table, &[&str]); 3] = [
            (Table::Details, &["business_id", "fetched_at", "officer_count"]),
            (Table::Officers, &["business_id", "fetched_at"]),
            (Table::Changes, &["business_id", "observed_at", "run_id"]),
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
            Table::Officers => {
                let fetched: &TimestampMicrosecondArray = typed_column(batch, table, "fetched_at")?;
                self.officers.extend(rows.filter_map(|(row, id)| Some((id, instant(fetched, row)?))));
            }
            _ => {
                let observed: &TimestampMicrosecondArray = typed_column(batch, table, "observed_at")?;
                let runs: &StringArray = typed_column(batch, table, "run_id")?;
                for (row, id) in rows.filter(|(row, _)| !state.runs.contains(runs.value(*row))) {
                    if let Some(at) = instant(observed, row) {
                        let last = self.changed.entry(id).or_insert(at);
                        *last = at.max(*last);
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a business must be looked up, and what is requested first.
    pub(crate) fn standing(&self, id: i64, terms: DueTerms, state: &EnrichState) -> Standing {
        let is_out_of_date = |looked_up: Option<&Timestamp>| {
            let changed = self.changed.get(&id);
            looked_up.is_none_or(|at| {
                changed.is_some_and(|changed| changed > at) || terms.oldest.is_some_and(|oldest| *at < oldest)
            })
        };
        let without = state.without.get(&id);
        let lacks_officers = || {
            let is_quarantined = state.quarantined_officers.contains_key(&id);
            // When officers were requested, with or without a result.
            let officers = self.officers.get(&id).or(state.without_officers.get(&id));
            self.counts_officers.contains(&id)
                && without.is_none()
                && (is_quarantined || is_out_of_date(officers))
        };
        let look_up = if is_out_of_date(self.fetched.get(&id).max(without)) {
            LookUp::Details
        } else if terms.officers && lacks_officers() {
            LookUp::Officers
        } else {
            return Standing::UpToDate;
        };
        match state.quarantined(look_up).get(&id) {
            Some(last) if last.backoff.is_backing_off(terms.today) => Standing::Waiting,
            _ => Standing::Due(look_up),
        }
    }
}

fn instant(column: &TimestampMicrosecondArray, row: usize) -> Option<Timestamp> {
    Timestamp::from_microsecond(column.value(row)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::load::recount::tests::at;
    use crate::pipeline::state::run_state::{QuarantinedLookUp, ReadBackoff};
    use jiff::civil::date;

    const TODAY: Date = date(2026, 11, 20);

    fn terms(oldest: Option<i64>, officers: bool) -> DueTerms {
        DueTerms { oldest: oldest.map(at), officers, today: TODAY }
    }

    #[test]
    fn a_look_up_is_due_once_and_again_only_for_a_reason() {
        let (mut known, mut state) = (Known::default(), EnrichState::default());
        let standing =
            |known: &Known, oldest| known.standing(1, terms(oldest, true), &EnrichState::default());
        assert_eq!(standing(&known, None), Standing::Due(LookUp::Details), "never looked up");
        known.fetched.insert(1, at(100));
        assert_eq!(standing(&known, None), Standing::UpToDate);
        assert_eq!(standing(&known, Some(101)), Standing::Due(LookUp::Details), "too old");
        assert_eq!(standing(&known, Some(100)), Standing::UpToDate);
        known.changed.insert(1, at(100));
        assert_eq!(standing(&known, None), Standing::UpToDate, "changed before it was looked up");
        known.changed.insert(1, at(101));
        assert_eq!(standing(&known, None), Standing::Due(LookUp::Details), "changed since");
        state.without.insert(1, at(102));
        let standing = |known: &Known| known.standing(1, terms(None, true), &state);
        assert_eq!(standing(&known), Standing::UpToDate, "looked up without success since");
        known.counts_officers.insert(1);
        assert_eq!(standing(&known), Standing::UpToDate, "the API does not know it any more");
    }

    #[test]
    fn officers_alone_are_due_when_only_the_details_are_up_to_date() {
        let (mut known, state) = (Known::default(), EnrichState::default());
        known.fetched.insert(2, at(100));
        let standing = |known: &Known, oldest, officers| known.standing(2, terms(oldest, officers), &state);
        assert_eq!(standing(&known, None, true), Standing::UpToDate, "it has none");
        known.counts_officers.insert(2);
        assert_eq!(standing(&known, None, true), Standing::Due(LookUp::Officers));
        assert_eq!(standing(&known, None, false), Standing::UpToDate);
        assert_eq!(
            standing(&known, Some(101), true),
            Standing::Due(LookUp::Details),
            "its details are too old"
        );
        known.officers.insert(2, at(90));
        assert_eq!(standing(&known, None, true), Standing::UpToDate);
        assert_eq!(
            standing(&known, Some(95), true),
            Standing::Due(LookUp::Officers),
            "its officers are too old"
        );
        known.changed.insert(2, at(95));
        assert_eq!(
            standing(&known, None, true),
            Standing::Due(LookUp::Officers),
            "changed before its details came"
        );
    }

    #[test]
    fn after_quarantine_a_look_up_waits_longer_each_time() {
        let (mut known, mut state) = (Known::default(), EnrichState::default());
        let last = |times| QuarantinedLookUp { backoff: ReadBackoff { times, on: TODAY }, at: at(100) };
        state.quarantined_details.insert(3, last(1));
        let standing = |known: &Known, state: &EnrichState| known.standing(3, terms(None, true), state);
        assert_eq!(standing(&known, &state), Standing::Due(LookUp::Details), "the next run asks again");
        state.quarantined_details.insert(3, last(2));
        assert_eq!(standing(&known, &state), Standing::Waiting);
        known.fetched.insert(3, at(110));
        assert_eq!(standing(&known, &state), Standing::UpToDate);
        known.counts_officers.insert(3);
        known.officers.insert(3, at(110));
        state.quarantined_officers.insert(3, last(1));
        assert_eq!(standing(&known, &state), Standing::Due(LookUp::Officers), "part of the list is missing");
        state.quarantined_officers.insert(3, last(2));
        assert_eq!(standing(&known, &state), Standing::Waiting);
    }
}
