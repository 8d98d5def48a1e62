//! Looks up the businesses of a watch list by their document numbers: one request or two for each.
//!
//! A number is due when it was never looked up, or longer ago than the pipeline allows. A number that the API does not know is reported
//! by name.

use super::enrich::{Enriching, LookedUp};
use super::landing::Landing;
use crate::client::RawRecord;
use crate::contract::business::business_id;
use crate::contract::id::DocumentNumber;
use crate::extract::detail::{ask_document, expect_documents, expect_officers};
use crate::extract::fetch::PageFetcher;
use crate::lake::{Commit, Lake};
use crate::pipeline::config::spec::EnrichSpec;
use crate::pipeline::context::Run;
use crate::pipeline::error::Result;
use crate::pipeline::plan::due::Known;
use crate::pipeline::plan::watch_due::{DueNumbers, due_numbers};
use crate::pipeline::publish::summary::EnrichSummary;
use crate::table::{Table, read_table, typed_column};
use arrow::array::{Int64Array, StringArray};
use serde::Deserialize;
use std::collections::BTreeSet;

impl Run<'_> {
    /// Looks up the due numbers of the list, in its order. Results are kept when a later request fails.
    pub(crate) async fn read_watch_list(
        &mut self,
        spec: &EnrichSpec,
        asker: &mut PageFetcher<'_>,
        landing: &mut Landing,
    ) -> Result<()> {
        let DueNumbers { due, looked_up } =
            due_numbers(&self.pipeline.watch_list, spec, &self.state.enrich, self.record.started_at);
        let left = due.len() as u64;
        let summary = EnrichSummary { chosen: looked_up + left, looked_up, left, ..EnrichSummary::default() };
        self.progress.plan(asker.answered + left * (1 + u64::from(spec.officers)));
        if !due.is_empty() {
            self.state.enrich.runs.insert(self.record.run_id.clone());
        }
        let commit = self.context.lake.current()?;
        let ids = ids_of(&self.context.lake, commit.as_ref(), &due)?;
        let known = Known::of(&self.context.lake, commit.as_ref(), &ids, &self.state.enrich)?;
        let mut work = Enriching { run: self, spec, known, landing, batch: LookedUp::default(), summary };
        let result = work.look_up_numbers(asker, &due).await;
        let Enriching { batch, summary, .. } = work;
        batch.land(landing)?;
        self.enrich = Some(summary);
        result
    }
}

impl Enriching<'_, '_> {
    async fn look_up_numbers(&mut self, asker: &mut PageFetcher<'_>, due: &[DocumentNumber]) -> Result<()> {
        for (at, number) in due.iter().enumerate() {
            expect_documents(asker, &due[at..]);
            let before = self.summary.quarantined;
            self.look_up_number(asker, number).await?;
            if self.summary.quarantined == before {
                self.summary.looked_up += 1;
                self.summary.left -= 1;
                self.run.state.enrich.watched.insert(number.to_string(), (self.run.context.now)());
            }
        }
        Ok(())
    }

    async fn look_up_number(&mut self, asker: &mut PageFetcher<'_>, number: &DocumentNumber) -> Result<()> {
        let Some((record, page)) = ask_document(asker, number).await? else {
            tracing::warn!(document_number = %number, "the API knows no business with this document number");
            self.summary.unknown += 1;
            self.summary.unknown_documents.push(number.to_string());
            return Ok(());
        };
        // A record without a readable id goes to quarantine, like one of another business.
        let id = id_of(&record).unwrap_or(0);
        if !self.take_details(id, Some(page))? || !self.spec.officers {
            return Ok(());
        }
        expect_officers(asker, id);
        self.look_up_officers(asker, id).await
    }
}

fn id_of(record: &RawRecord) -> Option<i64> {
    #[derive(Deserialize)]
    struct Id {
        id: String,
    }
    business_id(&serde_json::from_str::<Id>(record.get()).ok()?.id)
}

/// Ids of the businesses that the lake has with these numbers.
fn ids_of(lake: &Lake, commit: Option<&Commit>, numbers: &[DocumentNumber]) -> Result<Vec<i64>> {
    let wanted: BTreeSet<&str> = numbers.iter().map(DocumentNumber::as_str).collect();
    let mut found = Vec::new();
    let Some(commit) = commit.filter(|_| !wanted.is_empty()) else { return Ok(found) };
    for file in lake.open_snapshot(commit).files(Table::Filings.name())? {
        for batch in read_table(Table::Filings, &file, Some(&["business_id", "document_number"]))? {
            let batch = batch?;
            let ids: &Int64Array = typed_column(&batch, Table::Filings, "business_id")?;
            let of_rows: &StringArray = typed_column(&batch, Table::Filings, "document_number")?;
            let rows = (0..batch.num_rows()).filter(|row| wanted.contains(of_rows.value(*row)));
            found.extend(rows.map(|row| ids.value(row)));
        }
    }
    Ok(found)
}
