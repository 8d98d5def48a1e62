//! Rows of a month: as the lake has them, and as they become.

use crate::import::business::merge::Merged;
use crate::import::business::rows::Business;
use crate::import::business::stored::Existing;
use crate::lake::{Month, MonthPart, PartWriter};
use crate::pipeline::error::{PipelineError, Result};
use crate::table::{
    DetailRow, EventRow, FilingRow, OfficerRow, RecordRow, Row, Table, read_batch, sort_batch, typed_column,
};
use arrow_array::{BooleanArray, Int64Array, RecordBatch};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use std::collections::HashMap;
use std::path::PathBuf;

/// The tables by month of a lake of the state's files.
pub(super) const TABLES: [Table; 5] =
    [Table::Filings, Table::Details, Table::Officers, Table::Events, Table::Records];

/// Businesses whose rows are values before they become columns.
const CHUNK: usize = 4096;

/// The files of a month in the lake, by the order of [`TABLES`].
pub(super) type MonthPaths = [Option<PathBuf>; 5];

fn arrow(what: &'static str) -> impl FnOnce(arrow_schema::ArrowError) -> PipelineError {
    move |source| PipelineError::Bug(format!("{what}: {source}"))
}

/// The rows of a month in the lake: those of touched businesses, and all others.
pub(super) struct Before {
    pub(super) touched: [RecordBatch; 5],
    others: [RecordBatch; 5],
}

impl Before {
    /// Reads a month. `is_touched` picks businesses.
    pub(super) fn read(paths: &MonthPaths, is_touched: &dyn Fn(i64) -> bool) -> Result<Self> {
        let empty = || TABLES.map(|table| RecordBatch::new_empty(table.schema()));
        let (mut touched, mut others) = (empty(), empty());
        for (at, path) in paths.iter().enumerate() {
            let Some(path) = path else { continue };
            let rows = read_batch(path, None)?;
            let ids: &Int64Array = typed_column(&rows, TABLES[at], "business_id")?;
            let picked: BooleanArray = ids.values().iter().map(|id| Some(is_touched(*id))).collect();
            let rest = BooleanArray::new(!picked.values(), None);
            touched[at] = filter_record_batch(&rows, &picked).map_err(arrow("pick rows"))?;
            others[at] = filter_record_batch(&rows, &rest).map_err(arrow("pick rows"))?;
        }
        Ok(Self { touched, others })
    }

    /// The touched businesses.
    pub(super) fn businesses(&self) -> Result<HashMap<i64, Existing>> {
        let [filings, details, officers, events, records] = &self.touched;
        let mut details = by_id(DetailRow::rows(details)?, |row| row.business_id);
        let mut officers = by_id(OfficerRow::rows(officers)?, |row| row.business_id);
        let mut events = by_id(EventRow::rows(events)?, |row| row.business_id);
        let mut records = by_id(RecordRow::rows(records)?, |row| row.business_id);
        let mut found = HashMap::new();
        for filing in FilingRow::rows(filings)? {
            let id = filing.business_id;
            let detail = details.remove(&id).and_then(|mut rows| rows.pop());
            let detail = detail.unwrap_or_else(|| lost_detail(&filing));
            let business = Business { filing, detail, officers: officers.remove(&id).unwrap_or_default() };
            let (events, records) =
                (events.remove(&id).unwrap_or_default(), records.remove(&id).unwrap_or_default());
            found.insert(id, Existing { business, records, events });
        }
        Ok(found)
    }
}

/// What is left of a business whose detail was lost.
fn lost_detail(filing: &FilingRow) -> DetailRow {
    DetailRow {
        business_id: filing.business_id,
        principal_city: filing.city.clone(),
        principal_zip: filing.zip.clone(),
        ..DetailRow::default()
    }
}

fn by_id<R>(rows: Vec<R>, id: impl Fn(&R) -> i64) -> HashMap<i64, Vec<R>> {
    let mut found: HashMap<i64, Vec<R>> = HashMap::new();
    for row in rows {
        found.entry(id(&row)).or_default().push(row);
    }
    found
}

/// The rows that merged businesses have.
#[derive(Default)]
pub(super) struct After {
    filings: Vec<FilingRow>,
    details: Vec<DetailRow>,
    officers: Vec<OfficerRow>,
    events: Vec<EventRow>,
    records: Vec<RecordRow>,
    batches: [Vec<RecordBatch>; 5],
}

impl After {
    /// Adds a business.
    pub(super) fn push(&mut self, merged: Merged) -> Result<()> {
        self.filings.push(merged.business.filing);
        self.details.push(merged.business.detail);
        self.officers.extend(merged.business.officers);
        self.events.extend(merged.events);
        self.records.extend(merged.records);
        if self.filings.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let [filings, details, officers, events, records] = &mut self.batches;
        filings.push(FilingRow::batch(&std::mem::take(&mut self.filings))?);
        details.push(DetailRow::batch(&std::mem::take(&mut self.details))?);
        officers.push(OfficerRow::batch(&std::mem::take(&mut self.officers))?);
        events.push(EventRow::batch(&std::mem::take(&mut self.events))?);
        records.push(RecordRow::batch(&std::mem::take(&mut self.records))?);
        Ok(())
    }

    /// Writes the tables that differ from what the lake has. None in place of a part leaves the table without rows of the month.
    pub(super) fn write(
        mut self,
        before: Before,
        month: Month,
        writer: &PartWriter,
    ) -> Result<Vec<(Table, Option<MonthPart>)>> {
        self.flush()?;
        let mut parts = Vec::new();
        let sides = self.batches.into_iter().zip(before.touched).zip(before.others);
        for (table, ((after, touched), others)) in TABLES.into_iter().zip(sides) {
            let joined = concat_batches(&table.schema(), &after).map_err(arrow("join rows"))?;
            drop(after);
            let after = sort_batch(table, &joined)?;
            drop(joined);
            if after == touched {
                continue;
            }
            let rows = match others.num_rows() {
                0 => after,
                _ => concat_batches(&table.schema(), [&others, &after]).map_err(arrow("join rows"))?,
            };
            drop((others, touched));
            let part = match rows.num_rows() {
                0 => None,
                _ => Some(writer.write_month(table, month, &rows)?),
            };
            parts.push((table, part));
        }
        Ok(parts)
    }
}
