//! Which businesses of a watch list are looked up, by their document numbers.
//!
//! A number is due when it was never looked up, or longer ago than the pipeline allows. A number that the API does not know is reported
//! by name.

use super::enrich::Left;
use crate::contract::id::DocumentNumber;
use crate::extract::detail::Wanted;
use crate::lake::{Commit, Lake};
use crate::pipeline::config::spec::EnrichSpec;
use crate::pipeline::context::Run;
use crate::pipeline::error::Result;
use crate::pipeline::plan::due::Known;
use crate::pipeline::plan::watch_due::{DueNumbers, due_numbers};
use crate::pipeline::publish::summary::EnrichSummary;
use crate::table::{Table, read_table, typed_column};
use arrow::array::{Int64Array, StringArray};
use std::collections::BTreeSet;

impl Run<'_> {
    /// The due numbers of the list, in its order.
    pub(super) fn numbers_left(&self, spec: &EnrichSpec, commit: Option<&Commit>) -> Result<Left> {
        let DueNumbers { due, looked_up } =
            due_numbers(&self.pipeline.watch_list, spec, &self.state.enrich, self.record.started_at);
        let left = due.len() as u64;
        let summary = EnrichSummary { chosen: looked_up + left, looked_up, left, ..EnrichSummary::default() };
        let lake = &self.context.lake;
        let known = Known::of(lake, commit, &ids_of(lake, commit, &due)?, &self.state.enrich)?;
        Ok(Left { due: due.into_iter().map(Wanted::Document).collect(), known, summary })
    }
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
