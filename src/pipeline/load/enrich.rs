//! Looks up what is due: one request or two for each business, and the rows they give.
//!
//! What is due is written down when the run begins. A run that resumes the same day requests only the rest.

use super::landing::Landing;
use crate::contract::business::ACTIVE;
use crate::extract::detail::{LookUp, look_up};
use crate::extract::fetch::{PageFetcher, PageKey};
use crate::lake::{Commit, TableDelta};
use crate::normalize::{normalize_detail, normalize_officers};
use crate::pipeline::config::spec::EnrichSpec;
use crate::pipeline::context::Run;
use crate::pipeline::error::{PipelineError, Result};
use crate::pipeline::plan::due::{Known, LookUps, due};
use crate::pipeline::publish::summary::EnrichSummary;
use crate::table::{DetailRow, FilingRow, OfficerRow, Row, Table};
use std::collections::BTreeSet;

/// Look-ups that are merged together.
const BATCH: usize = 4_096;

/// Rows of look-ups on their way to their tables.
#[derive(Default)]
struct LookedUp {
    filings: Vec<FilingRow>,
    details: Vec<DetailRow>,
    officers: Vec<OfficerRow>,
    /// Businesses whose officers were requested, with or without a result.
    with_officers: BTreeSet<i64>,
    count: usize,
}

impl Run<'_> {
    /// Looks up what is due, newest first. Results are kept when a later request fails.
    pub(crate) async fn read_enrich(
        &mut self,
        spec: &EnrichSpec,
        asker: &mut PageFetcher<'_>,
        landing: &mut Landing,
    ) -> Result<()> {
        let commit = self.lake.current()?;
        let plan = self.enrich_plan(spec, commit.as_ref())?;
        let known = Known::of(self.lake, commit.as_ref(), &plan.ids, &self.state.enrich)?;
        // Look-ups of an earlier part of this run are in the lake.
        let is_done = |id: &i64| known.asked_at(*id).is_some_and(|at| at >= self.record.started_at);
        let (done, due): (Vec<i64>, Vec<i64>) = plan.ids.iter().copied().partition(is_done);
        let mut summary = EnrichSummary {
            chosen: plan.ids.len() as u64 + plan.beyond,
            looked_up: done.len() as u64,
            unknown: done.iter().filter(|id| known.is_without(**id)).count() as u64,
            left: due.len() as u64 + plan.beyond,
        };
        self.needed = Some(asker.answered + due.len() as u64 * if spec.officers { 2 } else { 1 });
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
                Ok(found) => self.take(id, spec, &found, &known, landing, &mut looked_up, &mut summary),
                Err(error) => Err(error),
            };
            if result.is_err() {
                break;
            }
            if looked_up.count >= BATCH {
                let batch = std::mem::take(&mut looked_up);
                asker.alongside(|| batch.land(landing))??;
            }
        }
        looked_up.land(landing)?;
        self.enrich = Some(summary);
        result
    }

    /// What this run looks up: as in its record. On a later day it is selected anew, because newer businesses come first.
    fn enrich_plan(&mut self, spec: &EnrichSpec, commit: Option<&Commit>) -> Result<LookUps> {
        let mut planned = self.planned();
        if let Some(look_ups) = planned.look_ups.filter(|_| self.record.today == self.real_today) {
            return Ok(look_ups);
        }
        let due = due(self.lake, commit, spec, &self.state.enrich, (self.now)())?;
        let look_ups = LookUps::of(due, spec.limit);
        planned.look_ups = Some(look_ups.clone());
        self.write_plan(&planned)?;
        Ok(look_ups)
    }

    #[expect(clippy::too_many_arguments, reason = "one look-up, and every place that records it")]
    fn take(
        &mut self,
        id: i64,
        spec: &EnrichSpec,
        found: &LookUp,
        known: &Known,
        landing: &mut Landing,
        looked_up: &mut LookedUp,
        summary: &mut EnrichSummary,
    ) -> Result<()> {
        summary.looked_up += 1;
        summary.left -= 1;
        looked_up.count += 1;
        let detail = match &found.detail {
            Some(key) => self.take_detail(id, key, known, landing, looked_up)?,
            None => {
                summary.unknown += 1;
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

    /// Adds a detail record; returns its number of officers, or nothing where it could not be normalized.
    fn take_detail(
        &mut self,
        id: i64,
        key: &PageKey,
        known: &Known,
        landing: &mut Landing,
        looked_up: &mut LookedUp,
    ) -> Result<Option<i32>> {
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
fn officers_of(id: i64, key: &PageKey, landing: &mut Landing) -> Result<Vec<OfficerRow>> {
    let (page, place) = landing.page(key)?;
    let rows = normalize_officers(&page.body, id, page.received_at, &place);
    landing.note_unknown(rows.unknown_fields);
    rows.rejects.iter().try_for_each(|reject| landing.quarantine(reject))?;
    Ok(rows.rows)
}

impl LookedUp {
    fn land(self, landing: &mut Landing) -> Result<()> {
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

/// Adds the counts of a later merge of the same run.
fn add(all: &mut TableDelta, delta: &TableDelta) {
    all.read += delta.read;
    all.added += delta.added;
    all.changed += delta.changed;
    all.vanished += delta.vanished;
    all.total = delta.total;
}
