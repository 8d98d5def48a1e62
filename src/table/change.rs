//! Rows of `changes`: businesses that appeared, changed, vanished or returned. Rows of the state's events, records and files.

use super::row::{Cell, table_row};
use arrow::array::StringArray;
use jiff::Timestamp;
use jiff::civil::Date;

/// What happened to a business between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// Its first reading.
    Appeared,
    /// A column has another value.
    Changed,
    /// A complete reading of its day no longer shows it.
    Vanished,
    /// It is shown again after it had vanished.
    Returned,
}

impl Change {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Appeared, Self::Changed, Self::Vanished, Self::Returned];

    /// The word on disk.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Appeared => "appeared",
            Self::Changed => "changed",
            Self::Vanished => "vanished",
            Self::Returned => "returned",
        }
    }
}

impl Cell for Change {
    type Column = StringArray;

    fn column<'a>(cells: impl Iterator<Item = Option<&'a Self>>) -> Self::Column {
        cells.map(|change| change.map(|change| change.name())).collect()
    }

    fn read(column: &Self::Column, row: usize) -> Result<Self, (String, &'static str)> {
        let word = column.value(row);
        Self::ALL
            .into_iter()
            .find(|change| change.name() == word)
            .ok_or_else(|| (format!("{word:?}"), "no kind of change"))
    }
}

table_row! {
    /// One change of one business.
    ChangeRow of Changes {
        observed_at: Timestamp,
        observed_on: Date,
        business_id: i64,
        change: Change,
        field: String,
        old: Option<String>,
        new: Option<String>,
        run_id: String,
    }
}

table_row! {
    /// One event of a business.
    EventRow of Events {
        business_id: i64,
        position: i32,
        document_number: String,
        sequence: i32,
        code: String,
        description: String,
        meaning: String,
        filed_date: Option<Date>,
        effective_date: Option<Date>,
        name: String,
        renames: bool,
        note_1: String,
        note_2: String,
        note_3: String,
        street: String,
        street2: String,
        city: String,
        state: String,
        zip: String,
        country: String,
        county: String,
        source_date: Date,
        source_rank: i32,
        repeats: Option<String>,
    }
}

table_row! {
    /// One event of a business without a record.
    UnmatchedEventRow of UnmatchedEvents {
        business_id: i64,
        position: i32,
        document_number: String,
        source_date: Date,
        source_rank: i32,
        event: String,
    }
}

table_row! {
    /// One record of a business.
    RecordRow of Records {
        business_id: i64,
        source_date: Date,
        source_rank: i32,
        kind: String,
        filing_type: String,
        status: String,
        last_transaction_date: Option<Date>,
        ended_date: Option<Date>,
        record: Option<String>,
    }
}

table_row! {
    /// One file that was read.
    ImportRow of Imports {
        digest: String,
        file: String,
        kind: String,
        source_date: Date,
        quarterly: bool,
        bytes: i64,
        records: i64,
        quarantined: i64,
        fault: Option<String>,
        stamp: String,
        imported_at: Timestamp,
        run_id: String,
    }
}

impl ImportRow {
    /// Whether its records count.
    pub fn is_sound(&self) -> bool {
        self.fault.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::error::TableError;
    use crate::table::row::{Row, tests::assert_round_trip};
    use arrow::array::RecordBatch;
    use std::sync::Arc;

    fn rows() -> Vec<ChangeRow> {
        let row = |change, old: Option<&str>, new: Option<&str>| ChangeRow {
            observed_on: jiff::civil::date(2026, 11, 20),
            observed_at: Timestamp::UNIX_EPOCH,
            business_id: 7,
            change,
            field: "city".to_owned(),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
            run_id: "r1".to_owned(),
        };
        let (some, empty) = (Some("Miami"), Some(""));
        vec![
            row(Change::Changed, some, empty),
            row(Change::Changed, None, some),
            row(Change::Appeared, None, None),
            row(Change::Vanished, None, None),
            row(Change::Returned, None, None),
        ]
    }

    #[test]
    fn changes_round_trip_and_null_is_not_empty() {
        assert_round_trip(&rows());
    }

    #[test]
    fn an_unknown_kind_of_change_is_named() {
        let batch = ChangeRow::batch(&rows()[..1]).expect("a batch");
        let mut arrays = batch.columns().to_vec();
        arrays[3] = Arc::new(StringArray::from(vec!["melted"]));
        let batch = RecordBatch::try_new(batch.schema(), arrays).expect("a batch");
        let error = ChangeRow::rows(&batch).expect_err("no such change");
        assert!(matches!(error, TableError::Value { .. }));
        assert_eq!(error.to_string(), "column change, row 0: \"melted\" is no kind of change");
    }
}
