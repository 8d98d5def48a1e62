//! Looking businesses up: which are due, one request or two for each, and the rows they give.
//!
//! A business is due when a condition over the lake chooses it and its details are missing, older than a change of its
//! filing, or older than the pipeline allows. What is due is written down when the run begins, so that a run that goes
//! on that day asks for the rest and nothing else.

use super::landing::Landing;
use crate::aggregate::choose_businesses;
use crate::contract::business::ACTIVE;
use crate::extract::detail::{LookUp, look_up};
use crate::extract::fetch::{Asker, PageKey};
use crate::lake::{Commit, Lake, TableDelta};
use crate::normalize::{normalize_detail, normalize_officers};
use crate::pipeline::PipelineError;
use crate::pipeline::config::spec::EnrichSpec;
use crate::pipeline::plan::jobs::RunPlan;
use crate::pipeline::publish::summary::EnrichSummary;
use crate::pipeline::run::Run;
use crate::pipeline::state::enrich::EnrichState;
use crate::table::{DetailRow, FilingRow, OfficerRow, Row, Table, read_table};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int32Type, Int64Type, TimestampMicrosecondType};
use arrow::record_batch::RecordBatch;
use jiff::civil::Date;
use jiff::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Businesses of one run at most: what is chosen beyond waits for the next.
const MOST_AT_ONCE: usize = 100_000;

/// Look-ups whose rows wait in memory.
const BATCH: usize = 4_096;

/// What a run means to look up, kept in its record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LookUps {
    /// Businesses, newest filing first.
    ids: Vec<i64>,
    /// Chosen and due, but more than one run takes.
    beyond: u64,
}

/// Rows of look-ups on their way to their tables.
#[derive(Default)]
struct LookedUp {
    filings: Vec<FilingRow>,
    details: Vec<DetailRow>,
    officers: Vec<OfficerRow>,
    /// Businesses whose officers are now known, none included.
    with_officers: BTreeSet<i64>,
    count: usize,
}

impl Run<'_> {
    /// Looks up what is due, newest first; what came is kept when a request fails.
    pub(crate) async fn read_enrich(
        &mut self,
        spec: &EnrichSpec,
        asker: &mut Asker<'_>,
        real_today: Date,
        landing: &mut Landing,
    ) -> Result<(), PipelineError> {
        let commit = self.lake.current()?;
        let plan = self.enrich_plan(spec, commit.as_ref(), real_today)?;
        let known = Known::of(self.lake, commit.as_ref(), &plan.ids, &self.state.enrich)?;
        // Of an earlier part of this run: its rows are in the lake.
        let is_done = |id: &i64| known.asked_at(*id).is_some_and(|at| at >= self.record.started_at);
        let (done, due): (Vec<i64>, Vec<i64>) = plan.ids.iter().copied().partition(is_done);
        let mut told = EnrichSummary {
            chosen: plan.ids.len() as u64 + plan.beyond,
            looked_up: done.len() as u64,
            unknown: done.iter().filter(|id| known.is_without(**id)).count() as u64,
            left: due.len() as u64 + plan.beyond,
        };
        self.needed = Some(asker.answered() + due.len() as u64 * if spec.officers { 2 } else { 1 });
        if !due.is_empty() {
            self.state.enrich.runs.insert(self.record.run_id.clone());
        }
        let mut looked_up = LookedUp::default();
        let mut result = Ok(());
        let mut rest = &due[..];
        while let Some((&id, next)) = rest.split_first() {
            rest = next;
            let found = look_up(asker, id, next, spec.officers).await.map_err(PipelineError::from);
            result = match found {
                Ok(found) => self.take(id, spec, &found, &known, landing, &mut looked_up, &mut told),
                Err(error) => Err(error),
            };
            if result.is_err() {
                break;
            }
            if looked_up.count >= BATCH {
                std::mem::take(&mut looked_up).land(landing)?;
            }
        }
        looked_up.land(landing)?;
        self.enrich = Some(told);
        result
    }

    /// What this run looks up: as its record says, or chosen now. On a later day than the run's own the lake may hold newer businesses,
    /// which come first: what is left is chosen anew.
    fn enrich_plan(
        &mut self,
        spec: &EnrichSpec,
        commit: Option<&Commit>,
        real_today: Date,
    ) -> Result<LookUps, PipelineError> {
        let mut planned: RunPlan = serde_json::from_value(self.record.plan.clone()).unwrap_or_default();
        if let Some(look_ups) = planned.look_ups.filter(|_| self.record.today == real_today) {
            return Ok(look_ups);
        }
        let due = due(self.lake, commit, spec, &self.state.enrich, (self.now)())?;
        let most = spec.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let wanted = due.len().min(most);
        let ids: Vec<i64> = due.into_iter().take(wanted.min(MOST_AT_ONCE)).collect();
        let look_ups = LookUps { beyond: (wanted - ids.len()) as u64, ids };
        planned.look_ups = Some(look_ups.clone());
        self.record.plan = serde_json::to_value(&planned).unwrap_or_default();
        self.dir.write_record(&self.record)?;
        Ok(look_ups)
    }

    #[expect(clippy::too_many_arguments, reason = "one look-up, and everywhere it is noted")]
    fn take(
        &mut self,
        id: i64,
        spec: &EnrichSpec,
        found: &LookUp,
        known: &Known,
        landing: &mut Landing,
        looked_up: &mut LookedUp,
        told: &mut EnrichSummary,
    ) -> Result<(), PipelineError> {
        told.looked_up += 1;
        told.left -= 1;
        looked_up.count += 1;
        let detail = match &found.detail {
            Some(key) => self.take_detail(id, key, known, landing, looked_up)?,
            None => {
                told.unknown += 1;
                None
            }
        };
        match detail {
            Some(_) => drop(self.state.enrich.without.remove(&id)),
            None => drop(self.state.enrich.without.insert(id, (self.now)())),
        }
        let officers = found.officers.as_ref().map(|key| officers_of(id, key, landing)).transpose()?;
        let officers = officers.unwrap_or_default();
        if let Some(officer_count) = detail.filter(|_| spec.officers) {
            looked_up.with_officers.insert(id);
            match officer_count != 0 && officers.is_empty() {
                true => self.state.enrich.without_officers.insert(id),
                false => self.state.enrich.without_officers.remove(&id),
            };
        }
        looked_up.officers.extend(officers);
        Ok(())
    }

    /// Takes a detail record in; how many officers it tells of, or nothing where it is no row.
    fn take_detail(
        &mut self,
        id: i64,
        key: &PageKey,
        known: &Known,
        landing: &mut Landing,
        looked_up: &mut LookedUp,
    ) -> Result<Option<i32>, PipelineError> {
        let (page, place) = landing.page(key)?;
        match normalize_detail(&page.body, page.received_at, &place) {
            Ok(rows) => {
                landing.note_unknown(rows.unknown_fields);
                landing.open_values.absorb(rows.open_values);
                let listed = rows.filing.status == ACTIVE;
                let extra = known.extra.get(&id).cloned();
                looked_up.filings.push(FilingRow { listed, extra, ..rows.filing });
                let officer_count = rows.detail.officer_count;
                looked_up.details.push(rows.detail);
                Ok(Some(officer_count))
            }
            Err(reject) => {
                landing.quarantine(&reject)?;
                Ok(None)
            }
        }
    }
}

/// The rows of a page of officers.
fn officers_of(id: i64, key: &PageKey, landing: &mut Landing) -> Result<Vec<OfficerRow>, PipelineError> {
    let (page, place) = landing.page(key)?;
    let rows = normalize_officers(&page.body, id, page.received_at, &place);
    landing.note_unknown(rows.unknown_fields);
    rows.rejects.iter().try_for_each(|reject| landing.quarantine(reject))?;
    Ok(rows.rows)
}

impl LookedUp {
    fn land(self, landing: &mut Landing) -> Result<(), PipelineError> {
        if self.count == 0 {
            return Ok(());
        }
        landing.staging.spill_filings(FilingRow::batch(&self.filings)?)?;
        let details = landing.staging.merge(Table::Details, &DetailRow::batch(&self.details)?)?;
        let officers = OfficerRow::batch(&self.officers)?;
        let officers = landing.staging.merge_replacing(Table::Officers, &officers, &self.with_officers)?;
        for (table, delta) in [(Table::Details, details), (Table::Officers, officers)] {
            add(landing.looked_up.entry(table.name().to_owned()).or_default(), &delta);
        }
        Ok(())
    }
}

/// A later merge of the same run on top of an earlier one.
fn add(all: &mut TableDelta, delta: &TableDelta) {
    all.read += delta.read;
    all.added += delta.added;
    all.changed += delta.changed;
    all.vanished += delta.vanished;
    all.total = delta.total;
}

/// Businesses chosen whose look-up is due, newest first.
pub(crate) fn due(
    lake: &Lake,
    commit: Option<&Commit>,
    spec: &EnrichSpec,
    state: &EnrichState,
    now: Timestamp,
) -> Result<Vec<i64>, PipelineError> {
    let Some(commit) = commit else { return Ok(Vec::new()) };
    let chosen = choose_businesses(&spec.condition, &lake.open_snapshot(commit).tables()?)?;
    let known = Known::of(lake, Some(commit), &chosen, state)?;
    let oldest = spec
        .max_age_days
        .and_then(|days| now.checked_sub(Span::new().try_hours(i64::from(days) * 24).ok()?).ok());
    Ok(chosen.into_iter().filter(|id| known.is_due(*id, oldest, spec.officers)).collect())
}

/// What the lake knows of the look-ups of some businesses.
#[derive(Default)]
struct Known {
    fetched: HashMap<i64, Timestamp>,
    without: HashMap<i64, Timestamp>,
    /// When its filing last changed, by another run than a look-up's.
    changed: HashMap<i64, Timestamp>,
    /// Businesses that have officers by their details.
    officered: HashSet<i64>,
    /// Businesses whose officers were asked for: they are there, or there are none.
    asked_for_officers: HashSet<i64>,
    /// Fields of the listing that the schema does not know.
    extra: HashMap<i64, String>,
}

impl Known {
    fn of(
        lake: &Lake,
        commit: Option<&Commit>,
        ids: &[i64],
        state: &EnrichState,
    ) -> Result<Self, PipelineError> {
        let mut known = Self::default();
        let Some(commit) = commit else { return Ok(known) };
        let wanted: HashSet<i64> = ids.iter().copied().collect();
        known.without = state
            .without
            .iter()
            .filter(|(id, _)| wanted.contains(id))
            .map(|(id, asked_at)| (*id, *asked_at))
            .collect();
        let each = |table: Table, columns: &[&str], take: &mut dyn FnMut(&RecordBatch) -> Option<()>| {
            for file in lake.open_snapshot(commit).files(table.name())? {
                for batch in read_table(table, &file, Some(columns))? {
                    take(&batch?);
                }
            }
            Ok::<(), PipelineError>(())
        };
        each(Table::Details, &["business_id", "fetched_at", "officer_count"], &mut |batch| {
            let counts = batch.column_by_name("officer_count")?.as_primitive::<Int32Type>();
            for (row, id) in wanted_rows(batch, &wanted)? {
                known.fetched.extend(instant(batch, "fetched_at", row).map(|at| (id, at)));
                if counts.value(row) != 0 {
                    known.officered.insert(id);
                }
            }
            Some(())
        })?;
        known.asked_for_officers =
            state.without_officers.iter().copied().filter(|id| wanted.contains(id)).collect();
        each(Table::Officers, &["business_id"], &mut |batch| {
            known.asked_for_officers.extend(wanted_rows(batch, &wanted)?.into_iter().map(|(_, id)| id));
            Some(())
        })?;
        each(Table::Changes, &["business_id", "observed_at", "run_id"], &mut |batch| {
            let runs = batch.column_by_name("run_id")?.as_string::<i32>();
            for (row, id) in wanted_rows(batch, &wanted)? {
                if state.runs.contains(runs.value(row)) {
                    continue;
                }
                if let Some(at) = instant(batch, "observed_at", row) {
                    let last = known.changed.entry(id).or_insert(at);
                    *last = at.max(*last);
                }
            }
            Some(())
        })?;
        each(Table::Filings, &["business_id", "extra"], &mut |batch| {
            let extras = batch.column_by_name("extra")?.as_string::<i32>();
            let rows = wanted_rows(batch, &wanted)?.into_iter().filter(|(row, _)| extras.is_valid(*row));
            known.extra.extend(rows.map(|(row, id)| (id, extras.value(row).to_owned())));
            Some(())
        })?;
        Ok(known)
    }

    fn asked_at(&self, id: i64) -> Option<Timestamp> {
        self.fetched.get(&id).max(self.without.get(&id)).copied()
    }

    fn is_without(&self, id: i64) -> bool {
        self.without.contains_key(&id)
    }

    fn is_due(&self, id: i64, oldest: Option<Timestamp>, with_officers: bool) -> bool {
        let Some(asked_at) = self.asked_at(id) else { return true };
        let lacks_officers =
            with_officers && self.officered.contains(&id) && !self.asked_for_officers.contains(&id);
        let has_changed = self.changed.get(&id).is_some_and(|changed| *changed > asked_at);
        has_changed || lacks_officers || oldest.is_some_and(|oldest| asked_at < oldest)
    }
}

/// Rows of a batch that belong to wanted businesses.
fn wanted_rows(batch: &RecordBatch, wanted: &HashSet<i64>) -> Option<Vec<(usize, i64)>> {
    let ids = batch.column_by_name("business_id")?.as_primitive::<Int64Type>();
    Some(ids.values().iter().copied().enumerate().filter(|(_, id)| wanted.contains(id)).collect())
}

fn instant(batch: &RecordBatch, name: &str, row: usize) -> Option<Timestamp> {
    let column = batch.column_by_name(name)?.as_primitive::<TimestampMicrosecondType>();
    Timestamp::from_microsecond(column.value(row)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("an instant")
    }

    #[test]
    fn a_look_up_is_due_once_and_again_only_for_a_reason() {
        let mut known = Known::default();
        assert!(known.is_due(1, None, true), "never asked");
        known.fetched.insert(1, at(100));
        assert!(!known.is_due(1, None, true));
        assert!(known.is_due(1, Some(at(101)), true) && !known.is_due(1, Some(at(100)), true), "too old");
        known.changed.insert(1, at(100));
        assert!(!known.is_due(1, None, true), "changed before it was looked up");
        known.changed.insert(1, at(101));
        assert!(known.is_due(1, None, true), "changed since");
        known.without.insert(1, at(102));
        assert!(!known.is_due(1, None, true), "asked in vain since");
        known.fetched.insert(2, at(100));
        known.officered.insert(2);
        assert!(
            known.is_due(2, None, true) && !known.is_due(2, None, false),
            "officers were never asked for"
        );
        known.asked_for_officers.insert(2);
        assert!(!known.is_due(2, None, true));
    }
}
