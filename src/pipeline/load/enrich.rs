//! Looks up what is due: one request or two for each business, and the rows they give.
//!
//! What a condition selects is written down for the day, and a run that resumes on it requests only the rest; of a watch list each number
//! has the time of its look-up. A business whose answer went to quarantine is left for a later run.

use super::landing::Landing;
use crate::client::RawRecord;
use crate::contract::business::{ACTIVE, business_id};
use crate::contract::id::DocumentNumber;
use crate::extract::detail::{DETAILS, LookUp, Wanted};
use crate::extract::fetch::{PageFetcher, PageKey};
use crate::lake::Commit;
use crate::normalize::{NormalizedDetail, OpenValues, normalize_detail, normalize_officers};
use crate::pipeline::config::spec::EnrichSpec;
use crate::pipeline::context::Run;
use crate::pipeline::error::Result;
use crate::pipeline::plan::due::{DueTerms, Known, LookUps, Standing, due};
use crate::pipeline::plan::watch_due::{DueNumbers, due_numbers};
use crate::pipeline::publish::summary::EnrichSummary;
use crate::pipeline::state::run_state::{QuarantinedLookUp, ReadBackoff};
use crate::table::{DetailRow, FilingColumns, FilingRow, OfficerRow, Row, Table, read_table};
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Look-ups that are merged together.
const BATCH: usize = 4_096;

/// Rows of look-ups on their way to their tables.
#[derive(Default)]
struct LookedUp {
    filings: Vec<FilingRow>,
    details: Vec<DetailRow>,
    officers: Vec<OfficerRow>,
    /// Businesses whose rows of officers are replaced.
    officers_replaced: BTreeSet<i64>,
}

/// What earlier parts of a run have left to look up, and the progress so far.
struct Left {
    due: Vec<Wanted>,
    /// Fields of their listing that the schema does not know, by business.
    extra: HashMap<i64, String>,
    summary: EnrichSummary,
}

impl Run<'_> {
    /// Looks up what is due: selected businesses, newest first, or those of the watch list, in its order. Results are kept when a later
    /// request fails.
    pub(crate) async fn read_enrich(
        &mut self,
        spec: &EnrichSpec,
        fetcher: &mut PageFetcher<'_>,
        landing: &mut Landing,
    ) -> Result<()> {
        let commit = self.context.lake.current()?;
        let Left { due, extra, summary } = match &spec.condition {
            Some(condition) => {
                let plan = self.enrich_plan(spec, condition, commit.as_ref())?;
                self.look_ups_left(spec, &plan, commit.as_ref())?
            }
            None => self.numbers_left(spec, commit.as_ref())?,
        };
        let requests = |wanted: &Wanted| match wanted {
            Wanted::Business(_, LookUp::Officers) => 1,
            _ => 1 + u64::from(spec.officers),
        };
        self.progress.plan(fetcher.answered + due.iter().map(requests).sum::<u64>(), 0);
        if !due.is_empty() {
            self.state.enrich.runs.insert(self.record.run_id.clone());
        }
        let mut work = Enriching { run: self, spec, extra, landing, batch: LookedUp::default(), summary };
        let result = work.look_up_all(fetcher, &due).await;
        let Enriching { batch, summary, .. } = work;
        batch.land(landing)?;
        self.enrich = Some(summary);
        result
    }

    /// What this run looks up: as in its record. On a later day it is selected anew, because newer businesses come first.
    fn enrich_plan(
        &mut self,
        spec: &EnrichSpec,
        condition: &str,
        commit: Option<&Commit>,
    ) -> Result<LookUps> {
        let mut planned = self.planned();
        if let Some(look_ups) = planned.look_ups.filter(|_| self.record.today == self.context.today) {
            return Ok(look_ups);
        }
        let terms = DueTerms::of(spec, (self.context.now)(), self.context.today);
        let due = due(&self.context.lake, commit, condition, terms, &self.state.enrich)?;
        let look_ups = LookUps::of(due, spec.limit);
        planned.look_ups = Some(look_ups.clone());
        self.write_plan(&planned)?;
        Ok(look_ups)
    }

    /// The look-ups that earlier parts of this run have left, and the progress so far.
    fn look_ups_left(&self, spec: &EnrichSpec, plan: &LookUps, commit: Option<&Commit>) -> Result<Left> {
        let known = Known::of(&self.context.lake, commit, &plan.ids, &self.state.enrich)?;
        // As of the start of the run: nothing that it looked up is too old.
        let terms = DueTerms::of(spec, self.record.started_at, self.context.today);
        let (mut due, mut summary) = (Vec::new(), EnrichSummary::default());
        for id in plan.ids.iter().copied() {
            match known.standing(id, terms, &self.state.enrich) {
                Standing::Waiting => summary.quarantined += 1,
                Standing::Due(look_up) if self.is_quarantined_now(id, look_up) => summary.quarantined += 1,
                Standing::Due(look_up) => due.push(Wanted::Business(id, look_up)),
                Standing::UpToDate => {
                    summary.looked_up += 1;
                    summary.unknown += u64::from(self.state.enrich.without.contains_key(&id));
                }
            }
        }
        summary.quarantined += plan.waiting;
        summary.left = due.len() as u64 + plan.beyond + summary.quarantined;
        summary.chosen = summary.looked_up + summary.left;
        let ids: HashSet<i64> = plan.ids.iter().copied().collect();
        let extra = self.extra_of(commit.filter(|_| !due.is_empty()), |id, _| ids.contains(&id))?;
        Ok(Left { due, extra, summary })
    }

    /// The due numbers of the watch list, in its order.
    fn numbers_left(&self, spec: &EnrichSpec, commit: Option<&Commit>) -> Result<Left> {
        let DueNumbers { due, looked_up } =
            due_numbers(&self.pipeline.watch_list, spec, &self.state.enrich, self.record.started_at);
        let numbers: HashSet<&str> = due.iter().map(DocumentNumber::as_str).collect();
        let extra =
            self.extra_of(commit.filter(|_| !due.is_empty()), |_, number| numbers.contains(number))?;
        let left = due.len() as u64;
        let summary = EnrichSummary { chosen: looked_up + left, looked_up, left, ..EnrichSummary::default() };
        Ok(Left { due: due.into_iter().map(Wanted::Document).collect(), extra, summary })
    }

    /// Fields that the schema does not know, of the listing of businesses; they are chosen by id and document number.
    fn extra_of(
        &self,
        commit: Option<&Commit>,
        is_wanted: impl Fn(i64, &str) -> bool,
    ) -> Result<HashMap<i64, String>> {
        let mut found = HashMap::new();
        let Some(commit) = commit else { return Ok(found) };
        for file in self.context.lake.open_snapshot(commit).files(Table::Filings.name())? {
            for batch in
                read_table(Table::Filings, &file, Some(&["business_id", "document_number", "extra"]))?
            {
                let batch = batch?;
                let columns = FilingColumns::new(&batch);
                let (ids, numbers) = (columns.business_id()?, columns.document_number()?);
                let rows = ids.values().iter().zip(numbers.iter().flatten()).zip(columns.extra()?);
                let rows = rows.filter(|((id, number), _)| is_wanted(**id, number));
                found.extend(rows.filter_map(|((id, _), extra)| Some((*id, extra?.to_owned()))));
            }
        }
        Ok(found)
    }

    /// Whether an earlier part of this run sent the answer to quarantine.
    fn is_quarantined_now(&self, id: i64, look_up: LookUp) -> bool {
        let last = self.state.enrich.quarantined(look_up).get(&id);
        last.is_some_and(|last| last.at >= self.record.started_at)
    }
}

/// Look-ups under way, and where their results go.
struct Enriching<'e, 'r> {
    run: &'e mut Run<'r>,
    spec: &'e EnrichSpec,
    extra: HashMap<i64, String>,
    landing: &'e mut Landing,
    batch: LookedUp,
    summary: EnrichSummary,
}

impl Enriching<'_, '_> {
    async fn look_up_all(&mut self, fetcher: &mut PageFetcher<'_>, due: &[Wanted]) -> Result<()> {
        for (at, wanted) in due.iter().enumerate() {
            fetcher.expect(due[at..].iter().map(Wanted::call), false);
            let before = self.summary.quarantined;
            self.look_up(fetcher, wanted).await?;
            if self.summary.quarantined == before {
                self.summary.looked_up += 1;
                self.summary.left -= 1;
                if let Wanted::Document(number) = wanted {
                    self.run.state.enrich.watched.insert(number.to_string(), (self.run.context.now)());
                }
            }
            if (at + 1).is_multiple_of(BATCH) {
                let batch = std::mem::take(&mut self.batch);
                fetcher.alongside(|| batch.land(self.landing)).await??;
            }
        }
        Ok(())
    }

    async fn look_up(&mut self, fetcher: &mut PageFetcher<'_>, wanted: &Wanted) -> Result<()> {
        let (id, details) = match wanted {
            Wanted::Business(id, LookUp::Officers) => return self.look_up_officers(fetcher, *id).await,
            Wanted::Business(id, LookUp::Details) => (*id, LookUp::Details.ask(fetcher, *id).await?),
            Wanted::Document(number) => match fetcher.ask_unless_refused(DETAILS, &wanted.call(), 404).await?
            {
                // A record without a readable id goes to quarantine, like one of another business.
                Some(answer) => (id_of(&answer.value.data).unwrap_or(0), Some(answer.key)),
                None => {
                    tracing::warn!(document_number = %number, "the API knows no business with this document number");
                    self.summary.unknown += 1;
                    self.summary.unknown_documents.push(number.to_string());
                    return Ok(());
                }
            },
        };
        if self.take_details(id, details)? && self.spec.officers {
            fetcher.expect_first(&LookUp::Officers.call(id));
            self.look_up_officers(fetcher, id).await?;
        }
        Ok(())
    }

    async fn look_up_officers(&mut self, fetcher: &mut PageFetcher<'_>, id: i64) -> Result<()> {
        // Without its officers, a business keeps what the lake has of it: new details next to old officers are half of it.
        let officers = LookUp::Officers.ask(fetcher, id).await.inspect_err(|_| self.batch.forget(id))?;
        self.take_officers(id, officers)
    }

    /// Adds a detail record; returns whether it counts officers.
    fn take_details(&mut self, id: i64, page: Option<PageKey>) -> Result<bool> {
        let Some(page) = page else {
            self.summary.unknown += 1;
            self.run.state.enrich.without.insert(id, (self.run.context.now)());
            self.run.state.enrich.quarantined_details.remove(&id);
            return Ok(false);
        };
        let (page, place) = self.landing.page(&page)?;
        match normalize_detail(&page.body, id, page.received_at, &place) {
            Ok(rows) => Ok(self.add_details(id, rows)),
            Err(reject) => {
                self.landing.findings.reject(&reject)?;
                self.note_quarantined(id, LookUp::Details);
                Ok(false)
            }
        }
    }

    fn add_details(&mut self, id: i64, rows: NormalizedDetail) -> bool {
        let state = &mut self.run.state.enrich;
        state.without.remove(&id);
        state.quarantined_details.remove(&id);
        let has_officers = rows.detail.officer_count != 0;
        if self.spec.officers && !has_officers {
            // The lake's officers are removed. `without_officers` is for records that count some.
            self.batch.officers_replaced.insert(id);
            state.without_officers.remove(&id);
            state.quarantined_officers.remove(&id);
        }
        self.landing.findings.note(rows.unknown_fields, rows.open_values);
        let listed = rows.filing.status == ACTIVE;
        let extra = self.extra.get(&id).cloned();
        self.batch.filings.push(FilingRow { listed, extra, ..rows.filing });
        self.batch.details.push(rows.detail);
        has_officers
    }

    /// Adds a list of officers. The rows of the lake stay where every record of the list went to quarantine.
    fn take_officers(&mut self, id: i64, page: Option<PageKey>) -> Result<()> {
        let (mut rows, mut is_sound) = (Vec::new(), true);
        if let Some(page) = page {
            let (page, place) = self.landing.page(&page)?;
            let officers = normalize_officers(&page.body, id, page.received_at, &place);
            self.landing.findings.note(officers.unknown_fields, OpenValues::default());
            officers.rejects.iter().try_for_each(|reject| self.landing.findings.reject(reject))?;
            (rows, is_sound) = (officers.rows, officers.rejects.is_empty());
        }
        let state = &mut self.run.state.enrich;
        if rows.is_empty() && is_sound {
            state.without_officers.insert(id, (self.run.context.now)());
        } else {
            state.without_officers.remove(&id);
        }
        if is_sound {
            state.quarantined_officers.remove(&id);
        } else {
            self.note_quarantined(id, LookUp::Officers);
        }
        if is_sound || !rows.is_empty() {
            self.batch.officers_replaced.insert(id);
        }
        self.batch.officers.extend(rows);
        Ok(())
    }

    fn note_quarantined(&mut self, id: i64, look_up: LookUp) {
        self.summary.quarantined += 1;
        let state = &mut self.run.state.enrich;
        let all = match look_up {
            LookUp::Details => &mut state.quarantined_details,
            LookUp::Officers => &mut state.quarantined_officers,
        };
        let backoff = ReadBackoff::after(all.get(&id).map(|last| last.backoff), self.run.context.today);
        all.insert(id, QuarantinedLookUp { backoff, at: (self.run.context.now)() });
    }
}

fn id_of(record: &RawRecord) -> Option<i64> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    business_id(&serde_json::from_str::<Id>(record.get()).ok()?.id)
}

impl LookedUp {
    /// Leaves a business for a later look-up.
    fn forget(&mut self, id: i64) {
        self.filings.retain(|row| row.business_id != id);
        self.details.retain(|row| row.business_id != id);
        self.officers_replaced.remove(&id);
    }

    fn land(self, landing: &mut Landing) -> Result<()> {
        if self.filings.is_empty() && self.officers_replaced.is_empty() {
            return Ok(());
        }
        landing.staging.spill_filings(FilingRow::batch(&self.filings)?)?;
        let details = landing.staging.merge(Table::Details, &DetailRow::batch(&self.details)?)?;
        let officers = OfficerRow::batch(&self.officers)?;
        let officers =
            landing.staging.merge_replacing(Table::Officers, &officers, &self.officers_replaced)?;
        for (table, delta) in [(Table::Details, details), (Table::Officers, officers)] {
            landing.looked_up.entry(table.name().to_owned()).or_default().add(&delta);
        }
        Ok(())
    }
}
