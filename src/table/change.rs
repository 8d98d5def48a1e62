//! Rows of `changes`: businesses that appeared, changed, vanished or returned. Rows of the state's events, records and files.

use super::column::{BUSINESS_ID, ColumnKind, SOURCE_DATE, SOURCE_RANK};
use super::row::{Cell, table_row};
use arrow_array::StringArray;
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
    const KIND: ColumnKind = ColumnKind::Text;

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
        observed_at: Timestamp = "when the run saw it",
        observed_on: Date = "Eastern day of the run: that of --today where it is given",
        business_id: i64 = BUSINESS_ID,
        change: Change = "appeared (not when its day is read completely for the first time, unless the day has come since the last run), changed, vanished from its listing, or returned to it",
        field: String = "column that changed, such as status when it was dissolved, or more_officers of the details' extra; empty unless change is changed",
        old: Option<String> = "value before",
        new: Option<String> = "value after",
        run_id: String = "run that saw it",
    }
}

table_row! {
    /// One event of a business.
    EventRow of Events {
        business_id: i64 = BUSINESS_ID,
        position: i32 = "place among the events of the business, from 0, by filing date and sequence",
        document_number: String = "state document number, upper case",
        sequence: i32 = "the state's own number of the event",
        code: String = "the state's code",
        description: String = "the state's description",
        meaning: String = "what it does to the business: inactive and why, active, name, or none",
        filed_date: Option<Date> = "day on which it was filed",
        effective_date: Option<Date> = "day on which it takes effect, where that is another",
        name: String = "the new name, in older records the old one",
        renames: bool = "whether the state marks it as a change of name",
        note_1: String = "free text",
        note_2: String = "free text; of a merged business the other's number",
        note_3: String = "free text",
        street: String = "new principal address; all fields are empty where it stays",
        street2: String = "new principal address, second line",
        city: String = "new principal address, city",
        state: String = "new principal address, state",
        zip: String = "new principal address, ZIP code",
        country: String = "new principal address, country",
        county: String = "new county as filed, of fictitious names",
        source_date: Date = SOURCE_DATE,
        source_rank: i32 = SOURCE_RANK,
        repeats: Option<String> = "newer files with the same event: JSON list of their date and rank",
    }
}

table_row! {
    /// One event of a business without a record.
    UnmatchedEventRow of UnmatchedEvents {
        business_id: i64 = BUSINESS_ID,
        position: i32 = "place among the events of the business, from 0",
        document_number: String = "state document number, upper case",
        source_date: Date = SOURCE_DATE,
        source_rank: i32 = SOURCE_RANK,
        event: String = "JSON object of the event",
    }
}

table_row! {
    /// One record of a business.
    RecordRow of Records {
        business_id: i64 = BUSINESS_ID,
        source_date: Date = SOURCE_DATE,
        source_rank: i32 = SOURCE_RANK,
        kind: String = "corporate, fictitious or partnership",
        filing_type: String = "the state's filing type; empty where the kind has none",
        status: String = "the state's status letter",
        last_transaction_date: Option<Date> = "last transaction, of corporate records",
        ended_date: Option<Date> = "cancellation or expiration, of fictitious names and partnerships",
        record: Option<String> = "JSON object of the record, where newer events or a newer record changed the business since",
    }
}

table_row! {
    /// One file that was read.
    ImportRow of Imports {
        digest: String = "blake3 digest of the text, hex",
        file: String = "path in the folder of the import; of an archive's member: archive/member",
        kind: String = "what its records are",
        source_date: Date = SOURCE_DATE,
        quarterly: bool = "whether it is part of a quarterly set; its date then is that of the set's content",
        bytes: i64 = "size of the text",
        records: i64 = "records of its text, those in quarantine included",
        quarantined: i64 = "records in quarantine",
        fault: Option<String> = "why the file of a day does not count, such as an error page; null for one that counts",
        stamp: String = "size and checksum or time of change, by which a later run skips the file unread",
        imported_at: Timestamp = "when a run read it",
        run_id: String = "run that read it",
    }
}

impl ImportRow {
    /// Whether its records count.
    pub fn is_sound(&self) -> bool {
        self.fault.is_none()
    }

    /// What names the row: its text, by digest, and its file.
    pub fn key(&self) -> (&str, &str) {
        (&self.digest, &self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::error::TableError;
    use crate::table::row::{Row, tests::assert_round_trip};
    use arrow_array::RecordBatch;
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
