//! Rows for the tests of the lake.

use crate::table::{self, EntityTypeRow, FilingRow, Row};
use arrow_array::RecordBatch;
use jiff::Timestamp;
use jiff::civil::date;

/// The day of a run.
pub(super) const DAY: jiff::civil::Date = jiff::civil::date(2026, 11, 20);

/// The fields of a filing that tests set.
#[derive(Debug, Clone)]
pub(super) struct Filing {
    pub(super) business_id: i64,
    pub(super) filed_date: String,
    pub(super) name: String,
    pub(super) entity_type: &'static str,
    /// A row with another status than `active` is read as not listed.
    pub(super) status: &'static str,
    /// `changed_at`, seconds.
    pub(super) seen: i64,
}

pub(super) fn filing(business_id: i64, filed_date: &str) -> Filing {
    let name = format!("BUSINESS {business_id}");
    Filing {
        business_id,
        filed_date: filed_date.to_owned(),
        name,
        entity_type: "llc",
        status: "active",
        seen: 100,
    }
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
        let day = filing.filed_date.parse().expect("a date");
        let seen = Timestamp::from_second(filing.seen).expect("an instant");
        FilingRow {
            business_id: filing.business_id,
            document_number: format!("L{:011}", filing.business_id),
            name: filing.name.clone(),
            entity_type: filing.entity_type.to_owned(),
            status: filing.status.to_owned(),
            listed: filing.status == "active",
            // A derived column, which `changes` leaves out.
            city_clean: filing.status.to_uppercase(),
            ..table::filing(1, day, seen)
        }
    };
    FilingRow::batch(&filings.iter().map(row).collect::<Vec<_>>()).expect("filings")
}

/// Rows of `entity_types`: key and label.
pub(super) fn labels(labels: &[(&str, &str)]) -> RecordBatch {
    let row = |(key, label): &(&str, &str)| EntityTypeRow {
        observed_on: date(2026, 11, 20),
        entity_type: (*key).to_owned(),
        label: (*label).to_owned(),
    };
    EntityTypeRow::batch(&labels.iter().map(row).collect::<Vec<_>>()).expect("rows")
}
