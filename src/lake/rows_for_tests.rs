//! Rows for the tests of the lake.

use crate::table::{FilingRow, Row, Table};
use arrow::array::{ArrayRef, Date32Array, StringArray};
use arrow::record_batch::RecordBatch;
use jiff::Timestamp;
use std::sync::Arc;

/// The fields of a filing that tests set.
#[derive(Debug, Clone)]
pub(super) struct Filing {
    pub(super) business_id: i64,
    pub(super) filed_date: String,
    pub(super) name: String,
    pub(super) entity_type: &'static str,
    /// `last_seen_at`, seconds.
    pub(super) seen: i64,
}

pub(super) fn filing(business_id: i64, filed_date: &str) -> Filing {
    let name = format!("BUSINESS {business_id}");
    Filing { business_id, filed_date: filed_date.to_owned(), name, entity_type: "llc", seen: 100 }
}

impl Filing {
    pub(super) fn seen(self, seen: i64) -> Self {
        Self { seen, ..self }
    }

    pub(super) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    pub(super) fn typed(self, entity_type: &'static str) -> Self {
        Self { entity_type, ..self }
    }
}

pub(super) fn filings(filings: &[Filing]) -> RecordBatch {
    let row = |filing: &Filing| {
        let seen = Timestamp::from_second(filing.seen).expect("an instant");
        FilingRow {
            business_id: filing.business_id,
            id: String::new(),
            document_number: format!("L{:011}", filing.business_id),
            name: filing.name.clone(),
            entity_type: filing.entity_type.to_owned(),
            company_type: String::new(),
            status: String::new(),
            filed_date: filing.filed_date.parse().expect("a date"),
            dissolved_date: None,
            city: String::new(),
            zip: String::new(),
            county: String::new(),
            industry_sector: String::new(),
            industry_type: String::new(),
            url: String::new(),
            listed: true,
            first_seen_at: seen,
            last_seen_at: seen,
            extra: None,
        }
    };
    FilingRow::batch(&filings.iter().map(row).collect::<Vec<_>>()).expect("filings")
}

/// Rows of `entity_types`: key and label.
pub(super) fn labels(labels: &[(&str, &str)]) -> RecordBatch {
    let columns: [ArrayRef; 3] = [
        Arc::new(Date32Array::from(vec![20_000; labels.len()])),
        Arc::new(StringArray::from_iter_values(labels.iter().map(|(key, _)| key))),
        Arc::new(StringArray::from_iter_values(labels.iter().map(|(_, label)| label))),
    ];
    RecordBatch::try_new(Table::EntityTypes.schema(), columns.to_vec()).expect("rows")
}
